"""Metrics for training with PyTorch: torchmetrics whose state is deltas instead of scores.

This package needs torch and torchmetrics (``pip install 'sedscope[torch]'``) and imports both.
"""

from .metric import SEDMetrics as SEDMetrics
from .scalar_metric import SEDMetric as SEDMetric

__all__ = ["SEDMetric", "SEDMetrics"]
