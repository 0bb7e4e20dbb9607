"""sedscope: exact evaluation of sound event detection, at every decision threshold at once."""

from . import presets, simulate
from .collect import deltas
from .counts import ClassCounts, Counts
from .criteria import Collar, Intersection, IoU
from .custom import CustomCriterion
from .deltas import Deltas
from .detection_sets import counts_of_sets
from .errors import SedscopeError, SedscopeWarning
from .evaluation import Evaluation, evaluate, evaluate_sets
from .events import approximate, at_thresholds, detect
from .ground_truth import GroundTruth
from .io import (
    read_events,
    read_ground_truth,
    read_scores,
    write_events,
    write_ground_truth,
    write_scores,
)
from .metrics import (
    AUROC,
    PSDS,
    AveragePrecision,
    BalancedAccuracy,
    BestErrorRate,
    BestFScore,
    DPrime,
    ErrorRate,
    FScore,
    Precision,
    PrecisionAtRecall,
    Recall,
    RecallAtFalseAlarms,
    RecallAtPrecision,
    Specificity,
    parse_metric,
)
from .operating_points import OperatingPoints, choose
from .scores import ClipScores, Scores
from .segments import Clip, Segment

__version__ = "0.1.0"

__all__ = [
    "AUROC",
    "PSDS",
    "AveragePrecision",
    "BalancedAccuracy",
    "BestErrorRate",
    "BestFScore",
    "ClassCounts",
    "Clip",
    "ClipScores",
    "Collar",
    "Counts",
    "CustomCriterion",
    "DPrime",
    "Deltas",
    "ErrorRate",
    "Evaluation",
    "FScore",
    "GroundTruth",
    "Intersection",
    "IoU",
    "OperatingPoints",
    "Precision",
    "PrecisionAtRecall",
    "Recall",
    "RecallAtFalseAlarms",
    "RecallAtPrecision",
    "Scores",
    "SedscopeError",
    "SedscopeWarning",
    "Segment",
    "Specificity",
    "approximate",
    "at_thresholds",
    "choose",
    "counts_of_sets",
    "deltas",
    "detect",
    "evaluate",
    "evaluate_sets",
    "parse_metric",
    "presets",
    "read_events",
    "read_ground_truth",
    "read_scores",
    "simulate",
    "write_events",
    "write_ground_truth",
    "write_scores",
]
