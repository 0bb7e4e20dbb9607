"""The public names of the package of metrics, and where they are defined."""

from ..counting.tally import Tally as Tally  # contract
from .calibration import BrierScore as BrierScore  # contract
from .calibration import CalibrationError as CalibrationError  # contract
from .classwise import ClassValue as ClassValue  # contract
from .classwise import ClasswiseMetric as ClasswiseMetric  # contract
from .classwise import ClasswiseResult as ClasswiseResult  # contract
from .curve_areas import AUROC as AUROC
from .curve_areas import AveragePrecision as AveragePrecision
from .curve_areas import DPrime as DPrime
from .curve_areas import EqualErrorRate as EqualErrorRate
from .false_alarms import FalseAlarmRate as FalseAlarmRate
from .false_alarms import MissRateAtFalseAlarms as MissRateAtFalseAlarms
from .false_alarms import PrecisionAtRecall as PrecisionAtRecall
from .false_alarms import RecallAtFalseAlarms as RecallAtFalseAlarms
from .false_alarms import RecallAtPrecision as RecallAtPrecision
from .mean_average_precision import ClassMean as ClassMean  # contract
from .mean_average_precision import MeanAveragePrecision as MeanAveragePrecision
from .mean_average_precision import MeanResult as MeanResult  # contract
from .metric import ClassResult as ClassResult  # contract
from .metric import Metric as Metric  # contract
from .metric import MetricResult as MetricResult  # contract
from .names import NAMED_METRICS as NAMED_METRICS  # contract
from .names import NamedMetric as NamedMetric  # contract
from .names import parse_metric as parse_metric
from .psds import PSDS as PSDS
from .psds import ClassPSDS as ClassPSDS  # contract
from .psds import PiPSDS as PiPSDS
from .psds import PSDSResult as PSDSResult  # contract
from .queries import FalseAnswerRate as FalseAnswerRate  # contract
from .queries import Latency as Latency
from .queries import MeanIoU as MeanIoU
from .queries import QueryCurve as QueryCurve  # contract
from .queries import QueryMean as QueryMean
from .queries import RecallAt as RecallAt
from .thresholded import Accuracy as Accuracy
from .thresholded import BalancedAccuracy as BalancedAccuracy
from .thresholded import BestDetectionCost as BestDetectionCost
from .thresholded import BestErrorRate as BestErrorRate
from .thresholded import BestFScore as BestFScore
from .thresholded import DetectionCost as DetectionCost
from .thresholded import DetectionPrecision as DetectionPrecision
from .thresholded import ErrorRate as ErrorRate
from .thresholded import FScore as FScore
from .thresholded import MissRate as MissRate
from .thresholded import Precision as Precision
from .thresholded import Recall as Recall
from .thresholded import Specificity as Specificity
