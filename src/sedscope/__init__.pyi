"""The public names of sedscope: those below, and all criteria and metrics."""

from . import plots as plots
from . import postprocessing as postprocessing
from .checking.findings import Finding as Finding
from .checking.findings import Validation as Validation
from .checking.validate import validate as validate
from .counting.class_counts import ClassCounts as ClassCounts
from .counting.counts import Counts as Counts
from .counting.delta_files import load_deltas as load_deltas
from .counting.delta_files import save_deltas as save_deltas
from .counting.deltas import Deltas as Deltas
from .criteria import *
from .data import simulate as simulate
from .data.detections import approximate as approximate
from .data.detections import at_thresholds as at_thresholds
from .data.detections import detect as detect
from .data.events import Events as Events
from .data.ground_truth import GroundTruth as GroundTruth
from .data.recordings import ClipPieces as ClipPieces
from .data.score_arrays import ClipScores as ClipScores
from .data.scores import Scores as Scores
from .diagnosis import BoundaryErrors as BoundaryErrors
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import boundary_errors as boundary_errors
from .diagnosis import diagnose as diagnose
from .errors import SedscopeError as SedscopeError
from .errors import SedscopeWarning as SedscopeWarning
from .evaluation.comparison import compare as compare
from .evaluation.comparison_result import Comparison as Comparison
from .evaluation.deltas import deltas as deltas
from .evaluation.evaluate import evaluate as evaluate
from .evaluation.evaluate import evaluate_deltas as evaluate_deltas
from .evaluation.evaluate import evaluate_sets as evaluate_sets
from .evaluation.rank import rank as rank
from .evaluation.ranking_result import Ranking as Ranking
from .evaluation.result import Evaluation as Evaluation
from .io.conversion import convert as convert
from .io.detections import read_events as read_events
from .io.detections import write_events as write_events
from .io.ground_truth import read_ground_truth as read_ground_truth
from .io.ground_truth import write_ground_truth as write_ground_truth
from .io.scores.files import read_scores as read_scores
from .io.scores.files import write_scores as write_scores
from .metrics import *
from .metrics import curves as curves
from .plots.plot import plot as plot
from .resampling.bootstrap import bootstrap as bootstrap
from .resampling.intervals import Bootstrap as Bootstrap
from .resampling.intervals import Interval as Interval
from .resampling.resampling import Resampling as Resampling
from .tasks import presets as presets
from .tuning.choose import choose as choose
from .tuning.operating_points import OperatingPoints as OperatingPoints
from .tuning.tune import Tuning as Tuning
from .tuning.tune import tune as tune

__version__: str
__all__: list[str]
