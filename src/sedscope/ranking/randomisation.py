"""The paired randomisation test: what the difference of two systems is if they are swapped in random clips.

If two systems are equally good, it does not matter which of them made the output for a clip. So the clips of
both are swapped at random, many times, and the differences of the swapped systems show how far chance
reaches (Noreen, "Computer-Intensive Methods for Testing Hypotheses", 1989).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.deltas import Deltas
from ..counting.tally import differences
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..errors import SedscopeError
from ..metrics import Metric
from ..metrics.metric import delta_requests
from ..progress import Progress
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
    progress: Progress | None = None,
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
    _, *values = draws.measure(both, metric, engine, progress)  # the first row has all clips twice
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
    found: dict[str, list[DeltasByCriterion]] = {}
    for run in runs:
        deltas = find_deltas(
            run.alignment, requests, engine.for_system(f"{run.system}-{run.number}-swapped")
        )
        found.setdefault(run.system, []).append(deltas)
    swaps = draw_swaps(draws.resampling, runs[0].alignment.clips)

    def swapped(metric: Metric[Any], later: str, earlier: str) -> FloatArray:
        of_runs = [
            swapped_differences(first, second, metric, swaps, engine)
            for first, second in zip(found[earlier], found[later], strict=True)
        ]
        mean: FloatArray = np.mean(of_runs, axis=0)
        return mean

    return swapped


def _named(system: str, deltas: Deltas) -> Deltas:
    """Return the deltas of a system with its number in the names of the clips."""
    clips = tuple(f"{system} {clip}" for clip in deltas.clips)
    variants = {key: replace(part, clips=clips) for key, part in deltas.variants.items()}
    return replace(deltas, clips=clips, variants=variants)
