"""Values of systems and their differences, from what was measured in the same resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..counting.tally import differences
from ..data.arrays import FloatArray
from ..metrics import Metric
from ..resampling.draws import Draws
from ..resampling.intervals import Interval
from .differences import Difference, PairDifference, SystemValue
from .p_values import holm, level_of, p_value


def system_value(draws: Draws, classes: Sequence[str], runs: Sequence[FloatArray]) -> SystemValue:
    """Return the mean over the runs of a system, with its interval."""
    mean = draws.summary(classes, _mean(runs))
    return SystemValue(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        values=mean.values,
        per_class=mean.per_class,
        resampling=mean.resampling,
        runs=tuple(float(run[0, 0]) for run in runs),
    )


def paired_differences(
    draws: Draws,
    metric: Metric[Any],
    classes: Sequence[str],
    measured: Mapping[str, Sequence[FloatArray]],
) -> dict[tuple[str, str], PairDifference]:
    """Return the differences of all pairs, the later system minus the earlier one."""
    means = {name: _mean(runs) for name, runs in measured.items()}
    pairs = [(later, earlier) for earlier, later in combinations(means, 2)]
    intervals = [
        draws.summary(classes, differences(means[later], means[earlier])) for later, earlier in pairs
    ]
    corrected = holm([p_value(interval.value, interval.values) for interval in intervals])
    level = level_of(draws.resampling.confidence)

    def fields(interval: Interval) -> dict[str, Any]:
        return {
            "value": interval.value,
            "low": interval.low,
            "high": interval.high,
            "values": interval.values,
            "p": p_value(interval.value, interval.values),
            "higher_is_better": metric.higher_is_better,
            "level": level,
        }

    return {
        pair: PairDifference(
            **fields(interval),
            p_corrected=p,
            per_class={
                label: Difference(**fields(of_class)) for label, of_class in interval.per_class.items()
            },
        )
        for pair, interval, p in zip(pairs, intervals, corrected, strict=True)
    }


def _mean(runs: Sequence[FloatArray]) -> FloatArray:
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        mean: FloatArray = np.mean(runs, axis=0)
    return mean
