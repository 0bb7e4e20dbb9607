"""Average precision at several tolerances, as detectors and retrieval systems are judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..criteria import BestAnswers, Criterion, IoU, QueryPrecision
from ..definitions import require_choice, require_whole
from ..errors import SedscopeError
from ..postprocessing.sweeps import expand_sweep
from .classwise import ClasswiseMetric
from .curve_areas import AveragePrecision
from .mean_of_parts import MeanOfParts
from .queries import Lengths, QueryMean, only_lengths
from .registry import METRICS

Levels = str | float | tuple[float, ...]


@METRICS.register
@dataclass(frozen=True, repr=False)
class MeanAveragePrecision(MeanOfParts):
    """The mean of the average precisions at several intersections over union (mAP).

    At each of them, events take references one after the other (``IoU(…, matching="greedy")``), and the
    precision is interpolated (``interpolation="voc"``). The events must be kept as they are
    (``overlaps="keep"``).

    Parameters
    ----------
    tious : str, float or tuple of float, default "0.5..0.95/0.05"
        The intersections over union: a range with its step, a number, or several.
    over : {"class", "clip"}, default "class"
        ``class``: the average precision of a class is that of all clips together, and the mean is over
        classes (ActivityNet, THUMOS). ``clip``: each clip and class with references is a query with an
        average precision of its own, and the mean is over queries (moment retrieval).
    top : int, optional
        How many events of each clip and class count, from the highest score down; all unless given.
    lengths : tuple of float, optional
        Count only references that are longer than the first, and at most as long as the second, in
        seconds.

    Examples
    --------
    >>> MeanAveragePrecision()
    MeanAveragePrecision(tious='0.5..0.95/0.05', over='class')
    >>> MeanAveragePrecision(0.75, over="clip", top=10)
    MeanAveragePrecision(tious=0.75, over='clip', top=10)
    """

    tious: Levels = "0.5..0.95/0.05"
    over: str = "class"
    top: int | None = None
    lengths: Lengths | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tious", _as_written(_levels(self.tious)))
        require_choice(self, "over", ("class", "clip"))
        if self.top is not None:
            require_whole(self, "top", at_least=1)
        object.__setattr__(self, "criterion", self.parts[0].criterion)

    def named_parts(self) -> dict[str, ClasswiseMetric[Any]]:
        """Return the average precision at each tolerance."""
        return {name: self._part(criterion) for name, criterion in self._tolerances().items()}

    def _tolerances(self) -> dict[str, Criterion]:
        """Return what counts as found, by a short name: from lenient to strict."""
        return {f"IoU {tiou:g}": IoU(tiou, matching="greedy") for tiou in _levels(self.tious)}

    def _part(self, criterion: Criterion) -> ClasswiseMetric[Any]:
        best = criterion if self.top is None else BestAnswers(criterion, self.top)
        if self.over == "class":
            return AveragePrecision(only_lengths(best, self.lengths), interpolation="voc")
        return QueryMean(only_lengths(QueryPrecision(best, interpolation="voc"), self.lengths))

    def of_lengths(self, shortest: float, longest: float) -> MeanAveragePrecision:
        return replace(self, lengths=(shortest, longest))


def _levels(levels: Levels) -> tuple[float, ...]:
    """Return the rising numbers that a text, a number or several numbers stand for."""
    parts = expand_sweep(levels) if isinstance(levels, str) else levels
    try:
        numbers = [float(part) for part in (parts if isinstance(parts, (list, tuple)) else [parts])]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(0 < number <= 1 for number in numbers):
        raise SedscopeError(
            f"tious={levels!r} must be numbers above 0 and at most 1: 0.5, (0.5, 0.75), or a range with its "
            "step, such as '0.5..0.95/0.05'."
        )
    return tuple(sorted(set(numbers)))


def _as_written(levels: tuple[float, ...]) -> Levels:
    """Return the shortest form of some levels, so that equal metrics have equal definitions."""
    if len(levels) == 1:
        return levels[0]
    step = f"{levels[1] - levels[0]:.10g}"
    text = f"{levels[0]:.10g}..{levels[-1]:.10g}/{step}"
    return text if len(levels) > 2 and _levels(text) == levels else levels
