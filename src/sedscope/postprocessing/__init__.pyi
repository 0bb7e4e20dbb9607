"""The public names of the package of post-processings, and where they are defined."""

from .combined import Chain as Chain
from .combined import PerClass as PerClass
from .filters import EventBoxes as EventBoxes
from .filters import Hysteresis as Hysteresis
from .filters import MaximumGap as MaximumGap
from .filters import MedianFilter as MedianFilter
from .filters import MinimumDuration as MinimumDuration
from .filters import MovingAverage as MovingAverage
from .filters import Peaks as Peaks
from .postprocessing import POSTPROCESSINGS as POSTPROCESSINGS
from .postprocessing import PostProcessing as PostProcessing
from .postprocessing import parse_postprocessing as parse_postprocessing
from .score_maps import IsotonicMap as IsotonicMap
from .score_maps import LogisticMap as LogisticMap
from .score_maps import ScoreTransform as ScoreTransform
from .sweeps import as_postprocessings as as_postprocessings
from .sweeps import parse_sweep as parse_sweep
