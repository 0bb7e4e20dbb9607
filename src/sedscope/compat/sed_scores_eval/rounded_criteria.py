"""Criteria that compare times with fewer decimals than the six of microseconds, or as floats.

sed_scores_eval rounds overlaps, required overlaps and distances to ``time_decimals``, not the times
themselves. With very many decimals, it compares floats, as sed_eval does.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np

from ... import _native
from ...criteria import Collar, Intersection
from ...criteria.criterion import as_share, optional_share
from ...data.scores import ClipScores
from ...data.times import Ticks, to_ticks
from ...errors import SedscopeError, subject

MICROSECONDS = 6
"""The decimals of microseconds."""
FLOAT_DECIMALS = 10
"""From so many decimals on, rounding does not hide the errors of floats."""
MOST_DECIMALS = 30
"""More make no difference to floats."""


@dataclass(frozen=True, repr=False)
class RoundedIntersection(Intersection):
    """The intersection criterion, with overlaps rounded to some decimals of a second, at most six.

    A required overlap that is rounded to 0 is a microsecond.
    """

    decimals: int = MICROSECONDS

    def native(self) -> _native.OverlapCriterion:
        shares = as_share(self.dtc), as_share(self.gtc), optional_share(self.cttc)
        return _native.Intersection(*shares, decimals=self.decimals)

    def needs_nothing(self, length: int) -> bool:
        """Return whether a required overlap is rounded to 0, for an event of so many microseconds."""
        smallest = min(self.dtc, self.gtc, 1.0 if self.cttc is None else self.cttc)
        return smallest * length <= rounding_step(self.decimals) / 2


@dataclass(frozen=True, repr=False)
class RoundedCollar(Collar):
    """The collar criterion, with excess over the collars rounded to some decimals of a second.

    If there are ten or more, distances are differences of floats.
    """

    decimals: int = MICROSECONDS

    def native(self) -> _native.OverlapCriterion:
        assert self.onset is not None
        assert self.offset is not None
        return _native.Collar(
            int(to_ticks(self.onset)),
            int(to_ticks(self.offset)),
            as_share(self.offset_rate),
            cross_triggers=False,
            errors=False,
            decimals=min(self.decimals, MOST_DECIMALS),
        )


def rounded(criterion: Intersection | Collar, time_decimals: int) -> Intersection | Collar:
    """Return the criterion that compares times with so many decimals.

    Overlaps are never compared as floats: the sums of sed_scores_eval depend on the order of the terms.
    """
    if rounding_step(time_decimals) == 1 and (
        isinstance(criterion, Intersection) or time_decimals < FLOAT_DECIMALS or criterion.errors
    ):
        return criterion
    decimals = int(time_decimals)
    if isinstance(criterion, Intersection):
        return RoundedIntersection(criterion.dtc, criterion.gtc, criterion.cttc, decimals)
    if criterion.errors:
        raise SedscopeError(
            f"return_onset_offset_dist_sum=True needs six decimals, not time_decimals={time_decimals!r}."
        )
    return RoundedCollar(criterion.onset, criterion.offset, criterion.offset_rate, decimals=decimals)


def rounding_step(time_decimals: int) -> int:
    """Return the microseconds that times become multiples of: 1 for six decimals and more.

    >>> rounding_step(30), rounding_step(6), rounding_step(3)
    (1, 1, 1000)
    """
    try:
        decimals = operator.index(time_decimals)
    except TypeError:
        decimals = -1
    if decimals < 0:
        raise SedscopeError(f"time_decimals={time_decimals!r} must be a whole number, at least 0.")
    return 10 ** max(MICROSECONDS - decimals, 0)


def rounded_ticks(ticks: Ticks, step: int) -> Ticks:
    """Round times to multiples of a step; halves go to even multiples.

    >>> rounded_ticks(np.array([1499, 1500, 2500]), 1000).tolist()
    [1000, 2000, 2000]
    """
    multiples: Ticks = np.rint(ticks / step).astype(np.int64)
    return multiples * step


def rounded_clip(clip: ClipScores, step: int, where: str) -> ClipScores:
    """Round the frame boundaries of a clip. Refuse this if frames would have no length."""
    ticks = rounded_ticks(clip.ticks, step)
    lost = int(np.count_nonzero(ticks[1:] == ticks[:-1]))
    if lost:
        raise SedscopeError(
            f"{where}: {subject(lost, 'frame', 'has')} no length with times rounded to {step / 1e6:g} s. "
            "Raise time_decimals."
        )
    return ClipScores.unchecked(clip.values, ticks)
