"""The public names of the package of criteria, and where they are defined."""

from .active_time import Time as Time
from .alarm import Alarm as Alarm
from .alarm import AlarmLatency as AlarmLatency
from .collar import Collar as Collar
from .collar import Onset as Onset
from .criterion import Criterion as Criterion  # contract
from .criterion import parse_criterion as parse_criterion  # contract
from .custom import CustomCriterion as CustomCriterion
from .custom import Detections as Detections  # contract
from .custom import FoundChanges as FoundChanges  # contract
from .custom import Intervals as Intervals  # contract
from .overlap import AnyOverlap as AnyOverlap
from .overlap import Intersection as Intersection
from .overlap import IoU as IoU
from .per_detection import PerDetection as PerDetection
from .per_detection import Window as Window
from .queries import QueryIoU as QueryIoU
from .queries import QueryPrecision as QueryPrecision
from .restricted import BestAnswers as BestAnswers
from .restricted import OfLength as OfLength
from .segments import Clip as Clip
from .segments import Segment as Segment
