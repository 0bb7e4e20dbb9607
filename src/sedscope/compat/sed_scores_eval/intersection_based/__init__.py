"""Detections judged by their overlap with references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....criteria import Intersection
from ..criteria import by_intersection
from ..delta_tables import CROSS
from ..statistic_functions import add_statistics
from . import reference as reference
from .pipsds import *  # noqa: F403
from .psds import *  # noqa: F403

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def _criterion(columns: set[str]) -> Intersection:
    """Return a criterion with cross-triggers or without. The shares do not matter any more."""
    crossed = any(name.startswith(CROSS) for name in columns)
    return Intersection(1.0, 1.0, 1.0 if crossed else None)


add_statistics(__name__, by_intersection, criterion=_criterion)
