"""Which differences exceed chance: p values from resamples, or from swapping systems in random clips."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..counting.tally import PRECISION, differences
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..errors import SedscopeError
from ..metrics import Metric
from ..metrics.metric import delta_requests
from ..resampling.draws import Draws
from ..resampling.resampling import Resampling
from .compared_runs import ComparedRun

DeltasByCriterion: TypeAlias = Mapping[Criterion, Deltas]
SwappedDifferences: TypeAlias = Callable[[Metric[Any], str, str], FloatArray]
"""Returns the differences of swapped systems, the first named one minus the second, for a metric."""


def draw_swaps(resampling: Resampling, clips: Sequence[str]) -> NDArray[np.bool_]:
    """Draw in which clips two systems are swapped, as (draws × clips). Groups are swapped as a whole.

    >>> draw_swaps(Resampling(3, groups={"a": 1, "b": 2, "c": 1}), ["a", "b", "c"]).tolist()
    [[False, False, False], [True, True, True], [True, True, True]]
    """
    units = resampling.units(clips)
    rng = np.random.default_rng([resampling.seed, 1])  # not the draws of the resamples
    swapped = rng.integers(2, size=(resampling.number, int(units.max()) + 1), dtype=np.int8)
    return swapped.astype(bool)[:, units]


def swapped_differences(
    first: DeltasByCriterion,
    second: DeltasByCriterion,
    metric: Metric[Any],
    swaps: NDArray[np.bool_],
    engine: Engine,
) -> FloatArray:
    """Return the second system minus the first one with clips swapped, as (draws × (1 + classes)).

    ``first``, ``second``: the deltas of each at every threshold, of the same clips in the same order.
    ``swaps``: the clips that are swapped in each draw.
    """
    both = {
        part.criterion: _named("1", first[part.criterion]).merge(
            _named("2", second[part.criterion]), mixed=True
        )
        for part in metric.parts
    }
    clips = next(iter(both.values())).clips
    weights = np.vstack([np.hstack([~swaps, swaps]), np.hstack([swaps, ~swaps])])
    draws = Draws(Resampling(len(weights)), clips, weights.astype(np.int32))
    _, *values = draws.measure(both, metric, engine, None)  # the first row has all clips twice
    of_first, of_second = np.split(np.array(values), 2)
    return differences(of_second, of_first)


def randomised(
    runs: Sequence[ComparedRun], draws: Draws, engine: Engine, metrics: Sequence[Metric[Any]]
) -> SwappedDifferences:
    """Return what swaps the systems of a comparison. Runs of equal number are swapped with each other.

    It counts all runs once more, at every threshold.
    """
    numbers = {name: sum(run.system == name for run in runs) for name in {run.system for run in runs}}
    if len({*numbers.values()}) > 1:
        raise SedscopeError(
            "The randomisation test swaps runs with each other, so all systems need as many runs. Give "
            "as many of each, or use `test='bootstrap'`."
        )
    requests = {
        criterion: request.at_every_threshold() for criterion, request in delta_requests(metrics).items()
    }
    deltas_of: dict[str, list[DeltasByCriterion]] = {}
    for run in runs:
        deltas = find_deltas(
            run.alignment, requests, engine.for_system(f"{run.system}-{run.number}-swapped")
        )
        deltas_of.setdefault(run.system, []).append(deltas)
    swaps = draw_swaps(draws.resampling, runs[0].alignment.clips)

    def swapped(metric: Metric[Any], later: str, earlier: str) -> FloatArray:
        of_runs = [
            swapped_differences(first, second, metric, swaps, engine)
            for first, second in zip(deltas_of[earlier], deltas_of[later], strict=True)
        ]
        mean: FloatArray = np.mean(of_runs, axis=0)
        return mean

    return swapped


def _named(system: str, deltas: Deltas) -> Deltas:
    """Return the deltas of a system with its number in the names of the clips."""
    clips = tuple(f"{system} {clip}" for clip in deltas.clips)
    variants = {key: replace(part, clips=clips) for key, part in deltas.variants.items()}
    return replace(deltas, clips=clips, variants=variants)


_ROUNDING = 1e-9  # more than rounding errors, as a share of a statistic


class PValue(NamedTuple):
    """The two-sided p value of a difference."""

    alone: float
    corrected: float
    """For the number of differences that are judged together."""
    least: float
    """The smallest p value that so many resamples allow."""


def step_down(values: Sequence[float], noise: Callable[[int], FloatArray]) -> list[PValue]:
    """Return the p values of differences whose noise was measured together.

    The statistic of a difference is its distance from 0 in standard deviations of its noise. Its p value is
    the share of draws in which the noise is at least as large. The corrected p value asks this of the
    largest noise of all differences that are not larger (the step-down procedure for the maximum of
    Westfall and Young, 1993). Because the draws are the same, differences that go together count less than
    if they were independent. The set as it is counts as one draw more, so the result is never 0. Draws in
    which a difference is not defined are left out.

    Parameters
    ----------
    values : sequence of float
        The differences.
    noise : callable
        Returns the noise of a difference, by its place, in each draw: how far it is from the difference in
        resamples, or from 0 where the systems are swapped at random.

    Returns
    -------
    list of PValue
        NaN for a difference that is not defined.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.1, 999)
    >>> step_down([0.25], lambda _: noise)[0].corrected
    0.014
    >>> alike = step_down([0.25, 0.1, 0.05], lambda _: noise)
    >>> [p.corrected for p in alike]  # as if there were one
    [0.014, 0.317, 0.612]
    """
    statistics = np.full(len(values), np.nan)
    p_values = np.full((len(values), 3), np.nan)
    for i, value in enumerate(values):
        standardised = _standardised(value, noise(i))
        if standardised is not None:
            statistics[i], distances = standardised
            p_values[i, 0] = _share_beyond(distances, statistics[i])
            p_values[i, 2] = 1 / (1 + np.count_nonzero(distances >= 0))
    largest: FloatArray | None = None
    order = np.argsort(statistics, kind="stable")[: np.count_nonzero(~np.isnan(statistics))]
    for i in order.tolist():  # the smallest first
        standardised = _standardised(values[i], noise(i))
        assert standardised is not None
        largest = standardised[1] if largest is None else np.maximum(largest, standardised[1])
        p_values[i, 1] = max(p_values[i, 0], _share_beyond(largest, statistics[i]))
    p_values[order, 1] = np.maximum.accumulate(p_values[order[::-1], 1])[::-1]
    return [PValue(*row) for row in p_values.tolist()]


def _standardised(value: float, noise: FloatArray) -> tuple[float, FloatArray] | None:
    """Return a difference and its noise in standard deviations of the noise.

    Draws in which it is not defined are at -inf. None if there is nothing to compare.
    """
    defined = np.isfinite(noise)
    if not np.isfinite(value) or not defined.any():
        return None
    deviation = float(np.sqrt(np.mean(noise[defined] ** 2)))
    distances = np.full(len(noise), -np.inf)
    if deviation <= _ROUNDING * abs(value):  # the same in all draws
        distances[defined] = 0.0
        return (math.inf if value else 0.0), distances
    distances[defined] = np.abs(noise[defined]) / deviation
    return abs(value) / deviation, distances


def _share_beyond(distances: FloatArray, statistic: float) -> float:
    """Return the share of resamples that are as far as the statistic, the set itself being one of them."""
    beyond = np.count_nonzero(distances >= statistic * (1 - _ROUNDING))
    return float((1 + beyond) / (1 + np.count_nonzero(distances >= 0)))


def level_of(confidence: float) -> float:
    """Return the largest p value that is significant.

    >>> level_of(0.95), level_of(0.9)
    (0.05, 0.1)
    """
    return round(1 - confidence, 12) or 1 - confidence


def is_significant(p: float, level: float) -> bool:
    """Return whether a p value is at most the level, as far as the precision of floats goes."""
    return p <= level * (1 + PRECISION)


def resamples_needed(confidence: float) -> int:
    """Return how many resamples allow a p value that is significant.

    >>> resamples_needed(0.95), resamples_needed(0.999)
    (19, 999)
    """
    return math.ceil(1 / level_of(confidence) * (1 - PRECISION)) - 1


def p_text(p: float, level: float, *, at_most: bool) -> str:
    """Return a p value as all tables show it.

    It has three decimals, or as many as show on which side of the level it is. ``at_most``: it is the
    smallest that the resamples allow, so more of them may make it smaller; it is rounded up.

    >>> p_text(1 / 1001, 0.05, at_most=True), p_text(0.0312, 0.05, at_most=False)
    ('≤ 0.001', '0.031')
    >>> p_text(0.0504, 0.05, at_most=False), p_text(0.0004, 0.05, at_most=False)
    ('0.0504', '< 0.001')
    """
    if np.isnan(p):
        return "nan"
    if p < 0.001 and not at_most:
        return "< 0.001"
    for digits in range(3, 18):
        scale = 10**digits
        # rounding up leaves out the error of the floats, e.g. of 2 / 1000
        shown = math.ceil(p * scale * (1 - PRECISION)) / scale if at_most else round(p, digits)
        if is_significant(shown, level) == is_significant(p, level):
            break
    return f"{'≤ ' if at_most else ''}{shown:.{digits}f}"
