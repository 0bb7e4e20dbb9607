"""Metrics for training with PyTorch: torchmetrics whose state is deltas instead of scores.

This package needs torch and torchmetrics (``pip install 'sedscope[torch]'``) and imports both.
"""

from .metric import SEDMetric as SEDMetric
from .metric import SEDMetrics as SEDMetrics

__all__ = ["SEDMetric", "SEDMetrics"]
