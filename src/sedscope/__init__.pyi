"""The public names of sedscope: those below, and all criteria and metrics."""

from . import plots as plots
from . import postprocessing as postprocessing
from . import review as review
from . import simulate as simulate
from . import tasks as tasks
from .alignment.joined_chunks import join_chunks as join_chunks
from .alignment.regions import Regions as Regions
from .alignment.regions import RegionTruth as RegionTruth
from .alignment.regions import cut_to_regions as cut_to_regions
from .checking.validate import validate as validate
from .counting.counts import Counts as Counts
from .counting.delta_files import load_deltas as load_deltas
from .counting.delta_files import save_deltas as save_deltas
from .counting.deltas import Deltas as Deltas
from .criteria import *
from .data.clip_scores import ClipPieces as ClipPieces
from .data.clip_scores import ClipScores as ClipScores
from .data.events import Events as Events
from .data.ground_truth import GroundTruth as GroundTruth
from .data.label_maps import LabelMap as LabelMap
from .data.scored_events import ScoredEvents as ScoredEvents
from .data.scores import Scores as Scores
from .data.thresholds import approximate as approximate
from .data.thresholds import at_thresholds as at_thresholds
from .data.thresholds import detect as detect
from .diagnosis import alarm_latencies as alarm_latencies
from .diagnosis import boundary_errors as boundary_errors
from .diagnosis import diagnose as diagnose
from .engines.run import Run as Run
from .errors import SedscopeError as SedscopeError
from .errors import SedscopeWarning as SedscopeWarning
from .evaluation.evaluate import deltas as deltas
from .evaluation.evaluate import evaluate as evaluate
from .evaluation.evaluate import evaluate_deltas as evaluate_deltas
from .evaluation.evaluate import evaluate_sets as evaluate_sets
from .evaluation.groups import By as By
from .evaluation.groups import Groups as Groups
from .evaluation.result import Evaluation as Evaluation
from .evaluation.verification import verify as verify
from .io.conversion import convert as convert
from .io.event_files import TruthReading as TruthReading
from .io.event_files import read_events as read_events
from .io.event_files import read_ground_truth as read_ground_truth
from .io.event_files import write_events as write_events
from .io.event_files import write_ground_truth as write_ground_truth
from .io.events.format import Boxes as Boxes
from .io.label_maps import read_label_map as read_label_map
from .io.scores.files import read_scores as read_scores
from .io.scores.files import write_scores as write_scores
from .io.side_tables import read_regions as read_regions
from .io.systems import SystemReading as SystemReading
from .metrics import *
from .metrics import curves as curves
from .plots.plot import plot as plot
from .ranking.comparison import compare as compare
from .ranking.comparison_result import Comparison as Comparison
from .ranking.rank import rank as rank
from .ranking.ranking_result import Ranking as Ranking
from .resampling.bootstrap import bootstrap as bootstrap
from .resampling.resampling import Resampling as Resampling
from .tasks import presets as presets
from .tuning.choose import choose as choose
from .tuning.operating_points import OperatingPoints as OperatingPoints
from .tuning.tune import Folds as Folds
from .tuning.tune import tune as tune

__version__: str

def _import_path() -> list[str]: ...

__all__: list[str]
