"""Whether high scores lie where the references are, or would if times had another unit or origin.

A reference fits the scores of its clip if they are higher inside it than outside. That is compared for the
references as they are, and with all of their times multiplied by a factor or shifted. As a control, each
reference is also laid over another clip with the same class: what fits there as well comes from the
positions of events in general, not from these events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..data.times import Ticks
from ..errors import counted

_FEWEST_CLIPS = 12
_BETTER = 2.5  # times the difference between inside and outside that the references have as they are
_DIFFERENCE = 0.4  # standard deviations of the scores that another unit or origin must reach
_CERTAINTY = 6.5  # standard errors by which it must be better
_STEP = 250_000  # microseconds between shifts
_STEPS = 20  # shifts of equal distance in each direction; beyond, they grow
_LONGEST_SHIFT = 60_000_000

_UNITS = {
    60.0: "as if those of the references were minutes",
    3600.0: "as if those of the references were hours",
    1 / 1000: "as if those of the references were milliseconds",
    1 / 100: "as if those of the references were hundredths of a second",
    1000.0: "as if those of the scores were milliseconds",
    100.0: "as if those of the scores were hundredths of a second",
    1 / 60: "as if those of the scores were minutes",
}


@dataclass(frozen=True, eq=False)
class _Grid:
    """The scores of a class in a clip, standardised and added up over time."""

    ticks: Ticks
    sums: FloatArray

    @staticmethod
    def of(ticks: Ticks, values: ScoreArray) -> _Grid | None:
        """Return None if the scores say nothing about time."""
        scores = values.astype(np.float64)
        finite = np.isfinite(scores)
        if not finite.any():
            return None
        if not finite.all():
            low, high = scores[finite].min(), scores[finite].max()
            scores = np.where(finite, scores, low - max(high - low, 1.0))
        lengths = np.diff(ticks).astype(np.float64)
        total = lengths.sum()
        if total <= 0:
            return None
        scores = scores - (scores * lengths).sum() / total
        deviation = np.sqrt((scores**2 * lengths).sum() / total)
        if not deviation > 1e-9 * max(1.0, float(abs(scores).max())):
            return None
        return _Grid(ticks, np.concatenate([[0.0], np.cumsum(scores / deviation * lengths)]))

    def differences(self, onsets: FloatArray, offsets: FloatArray) -> FloatArray:
        """Return by how much the mean score inside events exceeds that outside, for each column of
        (events × columns) times; 0 where no event lies inside the clip."""
        first, last = float(self.ticks[0]), float(self.ticks[-1])
        begin, end = np.clip(onsets, first, last), np.clip(offsets, first, last)
        inside = (end - begin).sum(axis=0)
        sums = (np.interp(end, self.ticks, self.sums) - np.interp(begin, self.ticks, self.sums)).sum(
            axis=0
        )
        outside = (last - first) - inside
        defined = (inside > 0) & (outside > 0)
        safe_inside, safe_outside = np.where(defined, inside, 1.0), np.where(defined, outside, 1.0)
        return np.where(defined, sums / safe_inside + sums / safe_outside, 0.0)


@dataclass
class TimeFit:
    """Compares references and scores, clip by clip.

    ``frame``: the typical length of a frame, and ``duration``: that of a clip, in microseconds.
    """

    frame: float
    duration: float
    factors: FloatArray = field(init=False)
    shifts: FloatArray = field(init=False)
    _differences: list[FloatArray] = field(default_factory=list)
    _others: dict[int, _Grid] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = np.arange(1, _STEPS + 1) * float(_STEP)
        longest = min(_LONGEST_SHIFT, self.duration / 2)
        beyond = steps[-1] * 1.15 ** np.arange(1, 40)
        positive = np.concatenate([steps, beyond])
        positive = positive[positive <= longest]
        near = 2.0 ** (np.arange(-16, 17) / 4)
        factors = [*_UNITS, *near[near != 1]]
        if self.frame < 0.9e6:  # times that are numbers of frames
            factors.append(self.frame / 1e6)
        shifts = np.concatenate([-positive[::-1], positive])
        self.factors = np.concatenate([[1.0], factors, np.ones(len(shifts))])
        self.shifts = np.concatenate([[0.0], np.zeros(len(factors)), shifts])

    def add_clip(
        self, ticks: Ticks, values: ScoreArray, onsets: Ticks, offsets: Ticks, columns: IntArray
    ) -> None:
        """Add a clip with its reference events. ``columns``: the column of each event in the scores."""
        differences = []
        for column in np.unique(columns).tolist():
            grid = _Grid.of(ticks, values[:, column])
            if grid is None:
                continue
            rows = columns == column
            begin = onsets[rows, None] * self.factors + self.shifts
            end = offsets[rows, None] * self.factors + self.shifts
            other = self._others.get(column)
            if other is not None:
                own = grid.differences(begin, end)
                differences.append(own - other.differences(begin, end))
            self._others[column] = grid
        if differences:
            self._differences.append(np.mean(differences, axis=0))

    def note(self) -> str | None:
        """Say which other unit or origin fits much better; None if none does."""
        clips = len(self._differences)
        if clips < _FEWEST_CLIPS:
            return None
        table = np.array(self._differences)
        means = table.mean(axis=0)
        better = table - table[:, :1]
        errors = np.maximum(better.std(axis=0, ddof=1) / np.sqrt(clips), 1e-12)
        fits = (
            (better.mean(axis=0) > _CERTAINTY * errors)
            & (means > _DIFFERENCE)
            & (means > _BETTER * max(means[0], 0.0))
        )
        if not fits.any():
            return None
        best = int(np.argmax(np.where(fits, means, -np.inf)))
        return (
            f"High scores do not lie where the references are. They fit much better "
            f"{self._description(best)}: the scores inside references then exceed those outside by "
            f"{means[best]:.2f} standard deviations on average, and by {means[0]:.2f} as they are "
            f"(in {counted(clips, 'clip')}). Check the times of both"
        )

    def _description(self, number: int) -> str:
        factor, shift = float(self.factors[number]), float(self.shifts[number])
        if factor in _UNITS:
            return f"if the times differ by a factor of {max(factor, 1 / factor):g}, {_UNITS[factor]}"
        if factor != 1:
            if factor == self.frame / 1e6:
                return "if the times of the references are numbers of frames"
            return f"if the times of the references are multiplied by about {factor:.2g}"
        direction = "after" if shift > 0 else "before"
        return f"if the scores lie about {abs(shift) / 1e6:.3g} s {direction} the references"
