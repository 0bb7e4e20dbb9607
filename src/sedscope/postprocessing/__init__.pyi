"""The public names of the package of post-processings, and where they are defined."""

from .calibration import IsotonicMap as IsotonicMap
from .calibration import LogisticMap as LogisticMap
from .combined import Chain as Chain
from .combined import PerClass as PerClass
from .event_filters import Hysteresis as Hysteresis
from .event_filters import MaximumGap as MaximumGap
from .event_filters import MinimumDuration as MinimumDuration
from .postprocessing import POSTPROCESSINGS as POSTPROCESSINGS
from .postprocessing import PostProcessing as PostProcessing
from .postprocessing import parse_postprocessing as parse_postprocessing
from .score_events import EventBoxes as EventBoxes
from .score_events import Peaks as Peaks
from .score_transform import ScoreTransform as ScoreTransform
from .smoothing import MedianFilter as MedianFilter
from .smoothing import MovingAverage as MovingAverage
from .sweeps import as_postprocessings as as_postprocessings
from .sweeps import parse_sweep as parse_sweep
