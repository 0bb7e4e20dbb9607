"""The public names of sedscope."""

from . import curves as curves
from . import presets as presets
from . import simulate as simulate
from .clip_deltas import Deltas as Deltas
from .collect import deltas as deltas
from .conversion import convert as convert
from .counts import ClassCounts as ClassCounts
from .counts import Counts as Counts
from .criteria import Collar as Collar
from .criteria import Intersection as Intersection
from .criteria import IoU as IoU
from .custom import CustomCriterion as CustomCriterion
from .errors import SedscopeError as SedscopeError
from .errors import SedscopeWarning as SedscopeWarning
from .evaluation import Evaluation as Evaluation
from .evaluation import evaluate as evaluate
from .evaluation import evaluate_sets as evaluate_sets
from .events import approximate as approximate
from .events import at_thresholds as at_thresholds
from .events import detect as detect
from .ground_truth import GroundTruth as GroundTruth
from .io import read_events as read_events
from .io import read_ground_truth as read_ground_truth
from .io import read_scores as read_scores
from .io import write_events as write_events
from .io import write_ground_truth as write_ground_truth
from .io import write_scores as write_scores
from .metrics import AUROC as AUROC
from .metrics import PSDS as PSDS
from .metrics import AveragePrecision as AveragePrecision
from .metrics import BalancedAccuracy as BalancedAccuracy
from .metrics import BestErrorRate as BestErrorRate
from .metrics import BestFScore as BestFScore
from .metrics import DPrime as DPrime
from .metrics import ErrorRate as ErrorRate
from .metrics import FScore as FScore
from .metrics import Precision as Precision
from .metrics import PrecisionAtRecall as PrecisionAtRecall
from .metrics import Recall as Recall
from .metrics import RecallAtFalseAlarms as RecallAtFalseAlarms
from .metrics import RecallAtPrecision as RecallAtPrecision
from .metrics import Specificity as Specificity
from .metrics import parse_metric as parse_metric
from .operating_points import OperatingPoints as OperatingPoints
from .operating_points import choose as choose
from .scores import ClipScores as ClipScores
from .scores import Scores as Scores
from .segments import Clip as Clip
from .segments import Segment as Segment
from .validation import Finding as Finding
from .validation import Validation as Validation
from .validation import validate as validate

__version__: str
__all__: list[str]
