"""The public names of this package."""

from .estimates import estimate as estimate
from .result import ClassEstimate as ClassEstimate
from .result import Estimated as Estimated
from .result import ReviewEstimate as ReviewEstimate
from .sampling import extend as extend
from .sampling import plan as plan
from .table import Review as Review
from .table import read_review as read_review
