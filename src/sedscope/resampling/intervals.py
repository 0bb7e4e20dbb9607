"""How sure a value is: bootstrap over clips, or over groups of clips, from deltas found once."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..counting.checked_clips import Progress
from ..counting.deltas import Deltas
from ..counting.threads import thread_count
from ..data.clip_ids import clip_ids
from ..definitions import require_choice, require_flag, require_number
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric
from .measuring import Weights, measure_resampled

FloatArray = NDArray[np.float64]

INTERVALS = ("percentile", "bca")
_NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class Resampling:
    """How clips are drawn, and what interval is made of the values.

    ``n``: number of resamples; ``confidence``: of the interval; ``seed``: the same one draws the same
    clips, whatever their order. ``interval``: ``"percentile"`` or ``"bca"``, bias-corrected and
    accelerated (Efron, "Better Bootstrap Confidence Intervals", 1987). ``balanced``: every clip is
    drawn equally often over all resamples. ``groups``: the group of each clip, e.g. the site of the
    recording; groups are drawn whole.
    """

    n: int = 1000
    confidence: float = 0.95
    seed: int = 0
    interval: str = "percentile"
    balanced: bool = False
    groups: Mapping[str, Hashable] | None = None

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("seed", 0)):
            _require_whole(self, name, least)
        require_number(self, "confidence", above=0, at_most=1)
        if self.confidence == 1:
            raise SedscopeError("confidence=1 must be below 1: no interval is sure")
        require_choice(self, "interval", INTERVALS)
        require_flag(self, "balanced")
        if self.groups is not None and not isinstance(self.groups, Mapping):
            raise SedscopeError("groups must be a mapping from clips to groups")
        wrong = [
            f"{clip}: {x!r}" for clip, x in (self.groups or {}).items() if not isinstance(x, Hashable)
        ]
        if wrong:
            raise SedscopeError(f"groups must be numbers, texts or the like: {listing(wrong)}")

    def about(self) -> str:
        """In a sentence."""
        drawn = "clips" if self.groups is None else "groups of clips"
        how = f"{counted(self.n, 'balanced resample' if self.balanced else 'resample')} of {drawn}"
        return f"in brackets {self.confidence * 100:g} % {self.interval} intervals from {how}"

    def units(self, clips: Sequence[str]) -> NDArray[np.intp]:
        """What is drawn: per clip the number of its group, or of the clip itself, in order of the
        clips' names."""
        if self.groups is None:
            return np.argsort(np.argsort(np.array(clips), kind="stable"), kind="stable")
        of_clip = {clip: self.groups[name] for name, clip in clip_ids(self.groups, "groups").items()}
        without = [clip for clip in clips if clip not in of_clip]
        if without:
            raise SedscopeError(f"without a group: {counted(len(without), 'clip')}: {listing(without)}")
        number: dict[Hashable, int] = {}
        for clip in sorted(clips):
            number.setdefault(of_clip[clip], len(number))
        return np.array([number[of_clip[clip]] for clip in clips], np.intp)

    def draw(self, clips: Sequence[str]) -> Weights:
        """(resamples × clips) how many times each clip is drawn."""
        units = self.units(clips)
        number = int(units.max(initial=-1)) + 1
        if number < 2:
            what = "clip" if self.groups is None else "group of clips"
            raise SedscopeError(f"{counted(number, what)}: at least 2 are needed to resample them")
        rng = np.random.default_rng(self.seed)
        drawn: Iterable[NDArray[np.integer[Any]]]
        if self.balanced:
            all_times = np.tile(np.arange(number, dtype=np.int32), self.n)
            drawn = rng.permutation(all_times).reshape(self.n, number)
        else:
            drawn = (rng.integers(number, size=number) for _ in range(self.n))
        weights: Weights = np.empty((self.n, len(clips)), np.int32)
        for row, resample in zip(weights, drawn, strict=True):
            row[:] = np.bincount(resample, minlength=number)[units]
        return weights


@dataclass(frozen=True, eq=False)
class Interval:
    """A value with the interval that resampling gives it."""

    value: float
    low: float
    high: float
    values: FloatArray
    """Of each resample; NaN where it is not defined."""

    @property
    def undefined(self) -> int:
        """In how many resamples the value is not defined (or infinite), e.g. because the class has no
        references in them. The interval is of the others."""
        return int(np.count_nonzero(~np.isfinite(self.values)))

    @property
    def deviation(self) -> float:
        """The standard error: the deviation of the values of the resamples."""
        defined = self.values[np.isfinite(self.values)]
        return float(np.std(defined, ddof=1)) if len(defined) > 1 else np.nan

    def __repr__(self) -> str:
        return f"<Interval: {self.value:.4f} ({self.low:.4f}–{self.high:.4f})>"


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Interval):
    """The interval of a metric, and of each class."""

    per_class: Mapping[str, Interval]
    resampling: Resampling


def bootstrap(
    deltas: Deltas,
    metric: Metric,
    n: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    interval: str = "percentile",
    balanced: bool = False,
    groups: Mapping[str, Hashable] | None = None,
    weights: ArrayLike | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Bootstrap:
    """The interval that resampling clips gives a metric, and the same for each class.

    See :class:`Resampling` for the options. ``weights``: (resamples × clips) how many times each clip
    counts, instead of drawing. Values that are not defined in a resample are left out and counted.

    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    >>> deltas = sed.deltas(sed.simulate.scores(truth), truth, psds.criterion)
    >>> bootstrap(deltas, psds, n=200)
    <Interval: 0.5906 (0.5336–0.6740)>
    """
    if not isinstance(metric, Metric):
        raise SedscopeError(f"not a metric: {metric!r}")
    resampling = Resampling(n, confidence, seed, interval, balanced, groups)
    draws = Draws(resampling, deltas.clips, weights)
    return draws.summary(deltas.classes, draws.measure(deltas, metric, threads, progress))


class Draws:
    """Resamples of certain clips: all systems that are measured with the same ones can be compared."""

    def __init__(
        self, resampling: Resampling, clips: Sequence[str], weights: ArrayLike | None = None
    ) -> None:
        """``weights``: instead of drawing."""
        drawn = resampling.draw(clips) if weights is None else _as_weights(weights, len(clips))
        self.resampling = replace(resampling, n=len(drawn))
        self.resamples = slice(1, 1 + len(drawn))
        self.left_out = slice(1 + len(drawn), None)
        rows = [np.ones((1, len(clips)), np.int32), drawn]
        if resampling.interval == "bca":
            rows.append(_each_left_out(resampling.units(clips)))
        self.weights: Weights = np.concatenate(rows)
        """The clips as they are, then the resamples, then each unit left out if that is needed."""

    def measure(
        self,
        deltas: Deltas,
        metric: Metric,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> FloatArray:
        """(weights × (1 + classes)) the metric, and that of each class."""
        workers = thread_count(threads)
        values, of_classes = measure_resampled(deltas, metric, self.weights, workers, progress)
        return np.column_stack([values, of_classes])

    def summary(self, classes: Sequence[str], measured: FloatArray) -> Bootstrap:
        """The intervals of what was measured."""
        overall, *of_classes = [self._interval(column) for column in measured.T]
        return Bootstrap(
            value=overall.value,
            low=overall.low,
            high=overall.high,
            values=overall.values,
            per_class=dict(zip(classes, of_classes, strict=True)),
            resampling=self.resampling,
        )

    def _interval(self, column: FloatArray) -> Interval:
        value, values = float(column[0]), column[self.resamples]
        defined = np.sort(values[np.isfinite(values)])
        if np.isnan(value) or not len(defined):
            return Interval(value, np.nan, np.nan, values)
        tail = (1 - self.resampling.confidence) / 2
        tails = [tail, 1 - tail]
        if self.resampling.interval == "bca":
            tails = [_bca_tail(tail, value, defined, column[self.left_out]) for tail in tails]
        low, high = np.quantile(defined, tails)
        return Interval(value, float(low), float(high), values)


def _bca_tail(tail: float, value: float, values: FloatArray, jackknife: FloatArray) -> float:
    """The quantile that takes the place of ``tail``: corrected for bias and for skewness."""
    below = (np.count_nonzero(values < value) + np.count_nonzero(values <= value)) / 2
    share = np.clip(below / len(values), 0.5 / len(values), 1 - 0.5 / len(values))
    bias = _NORMAL.inv_cdf(float(share))
    known = jackknife[np.isfinite(jackknife)]
    gaps = np.mean(known) - known if len(known) else known
    spread = float(np.sum(gaps**2))
    acceleration = float(np.sum(gaps**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + _NORMAL.inv_cdf(tail)
    left = 1 - acceleration * shifted
    if left <= 0:  # as far out as there is
        return 1.0 if shifted > 0 else 0.0
    return _NORMAL.cdf(bias + shifted / left)


def _each_left_out(units: NDArray[np.intp]) -> Weights:
    """(units × clips) all clips but those of one unit."""
    left_out: Weights = (np.arange(units.max() + 1)[:, None] != units).astype(np.int32)
    return left_out


def _as_weights(weights: ArrayLike, clips: int) -> Weights:
    shape = f"(resamples × {clips} clips)"
    try:
        array = np.asarray(weights)
    except ValueError:
        raise SedscopeError(f"weights must be {shape}: their rows are not equally long") from None
    if array.ndim != 2 or array.shape[1] != clips or not len(array):
        raise SedscopeError(f"weights must be {shape}, not of shape {array.shape}")
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() > 2**24:
        raise SedscopeError(f"weights must be whole numbers from 0 to {2**24}")
    return array.astype(np.int32)


def _require_whole(owner: Any, name: str, least: int) -> None:
    value = getattr(owner, name)
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise SedscopeError(f"{name}={value!r} must be a whole number of at least {least}")
