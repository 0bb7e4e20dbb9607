"""The public names of the package of criteria, and where they are defined."""

from .active_time import Time as Time
from .any_overlap import AnyOverlap as AnyOverlap
from .best_answers import BestAnswers as BestAnswers
from .collar import Collar as Collar
from .criterion import Criterion as Criterion
from .custom import CustomCriterion as CustomCriterion
from .custom import Detections as Detections
from .custom import FoundChanges as FoundChanges
from .custom import Intervals as Intervals
from .intersection import Intersection as Intersection
from .iou import IoU as IoU
from .of_length import OfLength as OfLength
from .onset import Onset as Onset
from .query_iou import QueryIoU as QueryIoU
from .query_precision import QueryPrecision as QueryPrecision
from .registry import parse_criterion as parse_criterion
from .segments import Clip as Clip
from .segments import Segment as Segment
