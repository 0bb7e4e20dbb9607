"""sedscope: exact evaluation of sound event detection, at every decision threshold at once."""

from . import presets, simulate
from .collect import deltas
from .counts import ClassCounts, Counts
from .criteria import Collar, Intersection, IoU
from .deltas import Deltas
from .errors import SedscopeError, SedscopeWarning
from .evaluation import Evaluation, evaluate
from .ground_truth import GroundTruth
from .io import read_ground_truth, read_scores, write_ground_truth, write_scores
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
    "DPrime",
    "Deltas",
    "ErrorRate",
    "Evaluation",
    "FScore",
    "GroundTruth",
    "Intersection",
    "IoU",
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
    "deltas",
    "evaluate",
    "parse_metric",
    "presets",
    "read_ground_truth",
    "read_scores",
    "simulate",
    "write_ground_truth",
    "write_scores",
]
