"""Criteria: when a reference event counts as found and a detection as false.

A criterion is a value. It knows how to find, for some clips, the changes of its counts as the
threshold falls (`deltas`), and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._native import Clips, Truth
from .definitions import Defined, plain_number, require_number
from .scores import ScoreArray
from .times import Ticks


@dataclass(frozen=True, eq=False)
class ClipBatch:
    """Some clips with their references, as the core takes them."""

    clips: Clips
    events: Ticks
    """(events × 2) onsets and offsets, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event."""
    starts: NDArray[np.int64]
    """The first event of each clip, and the end."""
    maxima: ScoreArray
    """(clips × classes) the largest score."""

    def truth(self, floors: ScoreArray, threads: int) -> Truth:
        """The references as the core takes them, with what bounds the work."""
        return Truth(self.events, self.labels, self.starts, self.maxima, floors, threads)


class Criterion(Protocol):
    """What `deltas` needs of a criterion: to be hashable, and to find its deltas."""

    def find_deltas(self, batch: ClipBatch, floors: ScoreArray, threads: int) -> tuple[Any, ...]:
        """Deltas of the clips at scores above each class's floor, as columns."""


@dataclass(frozen=True, repr=False)
class Intersection(Defined):
    """Intersection criterion (Bilen et al., "A Framework for the Robust Evaluation of Sound Event
    Detection", ICASSP 2020).

    A detection is relevant if at least ``dtc`` of its length lies in references of its class, else it
    is a false positive. A reference is found if at least ``gtc`` of its length lies in relevant
    detections. With ``cttc``, a false positive of which at least that part lies in references of
    another class is a cross-trigger on that class. Needed times are rounded to whole microseconds.

    >>> Intersection(0.7, 0.7)
    Intersection(dtc=0.7, gtc=0.7)
    """

    dtc: float
    gtc: float
    cttc: float | None = None

    def __post_init__(self) -> None:
        for name in ("dtc", "gtc", "cttc"):
            value = getattr(self, name)
            if name != "cttc" or value is not None:
                value = plain_number(value)
                object.__setattr__(self, name, value)
                require_number(name, value, above=0, at_most=1)

    def find_deltas(self, batch: ClipBatch, floors: ScoreArray, threads: int) -> tuple[Any, ...]:
        """See :class:`Criterion`."""
        truth = batch.truth(floors, threads)
        return batch.clips.intersection_deltas(truth, self.dtc, self.gtc, self.cttc)
