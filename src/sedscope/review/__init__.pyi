"""The public names of this package."""

from .sampling import extend as extend
from .sampling import plan as plan
from .table import Review as Review
from .table import read_review as read_review
