"""Curves and numbers read off counts: one module per family of metrics.

A metric registers itself where it is defined. The imports below load all of them, and make them public.
"""

from ..counting.tally import Tally as Tally
from .classwise import ClassValue as ClassValue
from .classwise import ClasswiseMetric as ClasswiseMetric
from .classwise import ClasswiseResult as ClasswiseResult
from .constrained import PrecisionAtRecall as PrecisionAtRecall
from .constrained import RecallAtPrecision as RecallAtPrecision
from .curve_areas import AUROC as AUROC
from .curve_areas import AveragePrecision as AveragePrecision
from .curve_areas import DPrime as DPrime
from .false_alarms import FalseAlarmRate as FalseAlarmRate
from .false_alarms import RecallAtFalseAlarms as RecallAtFalseAlarms
from .metric import ClassResult as ClassResult
from .metric import Metric as Metric
from .metric import MetricResult as MetricResult
from .names import NAMED_METRICS as NAMED_METRICS
from .names import NamedMetric as NamedMetric
from .names import parse_metric as parse_metric
from .psds import PSDS as PSDS
from .psds import ClassPSDS as ClassPSDS
from .psds import PiPSDS as PiPSDS
from .psds import PSDSResult as PSDSResult
from .thresholded import BalancedAccuracy as BalancedAccuracy
from .thresholded import BestErrorRate as BestErrorRate
from .thresholded import BestFScore as BestFScore
from .thresholded import ErrorRate as ErrorRate
from .thresholded import FScore as FScore
from .thresholded import Precision as Precision
from .thresholded import Recall as Recall
from .thresholded import Specificity as Specificity
