"""The public names of the package of post-processings, and where they are defined."""

from .chain import Chain as Chain
from .event_boxes import EventBoxes as EventBoxes
from .hysteresis import Hysteresis as Hysteresis
from .maximum_gap import MaximumGap as MaximumGap
from .median_filter import MedianFilter as MedianFilter
from .minimum_duration import MinimumDuration as MinimumDuration
from .moving_average import MovingAverage as MovingAverage
from .peaks import Peaks as Peaks
from .per_class import PerClass as PerClass
from .postprocessing import PostProcessing as PostProcessing
from .registry import POSTPROCESSINGS as POSTPROCESSINGS
from .registry import parse_postprocessing as parse_postprocessing
from .score_transform import ScoreTransform as ScoreTransform
from .sweeps import as_postprocessings as as_postprocessings
from .sweeps import parse_sweep as parse_sweep
