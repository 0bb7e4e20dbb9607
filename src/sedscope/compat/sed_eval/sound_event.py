"""Sound event detection: event-based and segment-based metrics."""

from . import metric, util
from .event_based import EventBasedMetrics
from .segment_based import SegmentBasedMetrics
from .sound_event_metrics import SoundEventMetrics

__all__ = ["EventBasedMetrics", "SegmentBasedMetrics", "SoundEventMetrics", "metric", "util"]
