"""Draws of groups of clips: the resamples of each group are those of its clips alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray
from .draws import Draws, interval_of
from .intervals import Interval
from .resampling import ClipPart, Resampling


class GroupDraws:
    """Resamples of each of several groups of clips."""

    def __init__(
        self, numbers: NDArray[np.intp], groups: int, clips: Sequence[str], resampling: Resampling
    ) -> None:
        """``numbers``: the group of each clip, from 0 to ``groups`` - 1."""
        self.resampling = resampling
        self.numbers = numbers
        members = [np.flatnonzero(numbers == group) for group in range(groups)]
        self.of_groups = [
            _draws([clips[clip] for clip in group.tolist()], resampling) for group in members
        ]
        """None for a group with a single clip, or a single unit: there is nothing to draw."""
        self.parts = [
            ClipPart(group, np.ones((1, len(group)), np.int32) if draws is None else draws.weights)
            for group, draws in zip(members, self.of_groups, strict=True)
        ]

    def measurements(self) -> int:
        """Return for how many weights of clips a metric is measured, over all groups."""
        return sum(len(draws.weights) for draws in self.of_groups if draws is not None)

    def average_interval(
        self, columns: Sequence[FloatArray], average: Callable[[FloatArray], FloatArray]
    ) -> Interval:
        """Return the interval of an average over the groups.

        Each group is resampled by itself. The same seed draws the resamples of every group, so they are
        put in another order for each group before they are combined; otherwise groups of equally many
        clips would be drawn alike. A group that cannot be resampled keeps its value.

        ``columns``: what was measured for the weights of each group. ``average``: of (groups × values).
        """
        number, rng = self.resampling.n, np.random.default_rng(self.resampling.seed)
        values = np.array([column[0] for column in columns])
        resampled = [
            column[1 + rng.permutation(number)] if len(column) > 1 else np.repeat(column, number)
            for column in columns
        ]
        left_out = []
        for group, column in enumerate(columns):
            without = np.repeat(values[:, None], max(0, len(column) - 1 - number), axis=1)
            without[group] = column[1 + number :]
            left_out.append(without)
        together = np.concatenate([values[:, None], np.array(resampled), *left_out], axis=1)
        return interval_of(average(together), self.resampling)


def _draws(clips: Sequence[str], resampling: Resampling) -> Draws | None:
    """Draw resamples of some clips; None if there is only one unit to draw from."""
    return Draws(resampling, clips) if resampling.units(clips).max(initial=0) > 0 else None
