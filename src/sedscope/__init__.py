"""sedscope: exact evaluation of sound event detection, at every decision threshold at once."""

from . import presets, simulate
from .counts import ClassCounts, Counts
from .criteria import Intersection
from .deltas import Deltas, deltas
from .errors import SedscopeError, SedscopeWarning
from .evaluation import Evaluation, evaluate
from .ground_truth import GroundTruth
from .io import read_ground_truth, read_scores, write_ground_truth, write_scores
from .metrics import PSDS, parse_metric
from .scores import ClipScores, Scores

__version__ = "0.1.0"

__all__ = [
    "PSDS",
    "ClassCounts",
    "ClipScores",
    "Counts",
    "Deltas",
    "Evaluation",
    "GroundTruth",
    "Intersection",
    "Scores",
    "SedscopeError",
    "SedscopeWarning",
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
