"""Average precision at several tolerances, as detectors and retrieval systems are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from ..criteria import BestAnswers, Criterion, IoU, Onset, QueryPrecision
from ..data.times import LONGEST_SECONDS
from ..definitions import require_choice, require_whole
from ..errors import SedscopeError
from ..postprocessing.sweeps import expand_sweep
from .classwise import ClasswiseMetric
from .curve_areas import AveragePrecision
from .mean_of_parts import MeanOfParts
from .metric import METRICS
from .queries import Lengths, QueryMean, only_lengths, refuse_lengths

Levels = str | float | tuple[float, ...]


@METRICS.register
@dataclass(frozen=True, repr=False)
class MeanAveragePrecision(MeanOfParts):
    """The mean of the average precisions at several intersections over union (mAP), or at several
    tolerances of the onset.

    At each intersection over union, events take references one after the other
    (``IoU(…, matching="greedy")``). The events must be kept as they are (``overlaps="keep"``). At each
    tolerance, as many pairs as possible are made (:class:`Onset`), of points in time or other events. The
    precision is interpolated (``interpolation="voc"``).

    Parameters
    ----------
    tious : str, float or tuple of float, default "0.5..0.95/0.05"
        The intersections over union: a range with its step, a number, or several. None if there are
        tolerances.
    over : {"class", "clip"}, default "class"
        ``class``: the average precision of a class is that of all clips together, and the mean is over
        classes (ActivityNet, THUMOS). ``clip``: each clip and class with references is a query with an
        average precision of its own, and the mean is over queries (moment retrieval).
    top : int, optional
        How many events of each clip and class count, from the highest score down; all unless given.
    lengths : tuple of float, optional
        Count only references that are longer than the first, and at most as long as the second, in
        seconds.
    tolerances : str, float or tuple of float, optional
        The tolerances of the onset in seconds, instead of ``tious``: a range with its step, a number, or
        several.

    Examples
    --------
    >>> MeanAveragePrecision()
    MeanAveragePrecision(tious='0.5..0.95/0.05', over='class')
    >>> MeanAveragePrecision(0.75, over="clip", top=10)
    MeanAveragePrecision(tious=0.75, over='clip', top=10)
    >>> MeanAveragePrecision(tolerances=(0.02, 0.05, 0.1))
    MeanAveragePrecision(tious=None, over='class', tolerances=(0.02, 0.05, 0.1))
    """

    tious: Levels | None = "0.5..0.95/0.05"
    over: str = "class"
    top: int | None = None
    lengths: Lengths | None = None
    tolerances: Levels | None = None

    def __post_init__(self) -> None:
        if self.tolerances is None:
            written = _as_written(_levels(self.tious, "tious", at_most=1))
            object.__setattr__(self, "tious", written)
        else:
            if self.tious not in (None, type(self).tious):
                raise SedscopeError("MeanAveragePrecision takes either tious= or tolerances=, not both.")
            written = _as_written(_levels(self.tolerances, "tolerances", at_most=LONGEST_SECONDS))
            object.__setattr__(self, "tious", None)
            object.__setattr__(self, "tolerances", written)
        require_choice(self, "over", ("class", "clip"))
        if self.top is not None:
            require_whole(self, "top", at_least=1)
        object.__setattr__(self, "criterion", self.parts[0].criterion)

    def named_parts(self) -> dict[str, ClasswiseMetric[Any]]:
        """Return the average precision at each tolerance."""
        return {name: self._part(criterion) for name, criterion in self._tolerances().items()}

    def _tolerances(self) -> dict[str, Criterion]:
        """Return what counts as found, by a short name: from lenient to strict."""
        if self.tolerances is not None:
            levels = _levels(self.tolerances, "tolerances", at_most=LONGEST_SECONDS)
            return {f"within {level:g} s": Onset(level) for level in reversed(levels)}
        levels = _levels(self.tious, "tious", at_most=1)
        return {f"IoU {level:g}": IoU(level, matching="greedy") for level in levels}

    def _part(self, criterion: Criterion) -> ClasswiseMetric[Any]:
        best = criterion if self.top is None else BestAnswers(criterion, self.top)
        if self.over == "class":
            return AveragePrecision(only_lengths(best, self.lengths), interpolation="voc")
        return QueryMean(only_lengths(QueryPrecision(best, interpolation="voc"), self.lengths))

    def of_lengths(self, shortest: float, longest: float) -> MeanAveragePrecision:
        refuse_lengths(self, self.lengths)
        return replace(self, lengths=(shortest, longest))


def _levels(levels: Levels | None, name: str, *, at_most: float) -> tuple[float, ...]:
    """Return the rising numbers that a text, a number or several numbers stand for.

    ``name``: that of the parameter.
    """
    parts: Any = expand_sweep(levels) if isinstance(levels, str) else levels
    try:
        numbers = [float(part) for part in (parts if isinstance(parts, (list, tuple)) else [parts])]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(0 < number <= at_most for number in numbers):
        raise SedscopeError(
            f"{name}={levels!r} must be numbers above 0 and at most {at_most:g}: 0.5, (0.5, 0.75), or a "
            "range with its step, such as '0.5..0.95/0.05'."
        )
    return tuple(sorted(set(numbers)))


def _as_written(levels: tuple[float, ...]) -> Levels:
    """Return the shortest form of some levels, so that equal metrics have equal definitions."""
    if len(levels) == 1:
        return levels[0]
    step = f"{levels[1] - levels[0]:.10g}"
    text = f"{levels[0]:.10g}..{levels[-1]:.10g}/{step}"
    again = _levels(text, "levels", at_most=math.inf) if len(levels) > 2 else ()
    return text if again == levels else levels
