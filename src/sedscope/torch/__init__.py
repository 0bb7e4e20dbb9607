"""Metrics for training with PyTorch: torchmetrics whose state is deltas, not scores.

Needs torch and torchmetrics (``pip install sedscope[torch]``), which are loaded with this package.
"""

from .metric import SEDMetric, SEDMetrics

__all__ = ["SEDMetric", "SEDMetrics"]
