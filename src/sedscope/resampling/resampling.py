"""A resampling: how clips are drawn, and how many times each clip is in each resample."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..alignment.regions import RegionTruth
from ..data.choices import machine_memory, refuse_beyond_memory
from ..data.clips import clip_ids
from ..data.ground_truth import GroundTruth
from ..definitions import optional_number, require_choice, require_flag, require_number
from ..errors import SedscopeError, counted, listing, short_number, subject

Weights: TypeAlias = NDArray[np.int32]
"""(resamples × clips) how many times each clip counts."""


@dataclass(frozen=True, eq=False)
class ClipPart:
    """Some of the clips, which are measured apart from the others."""

    clips: NDArray[np.intp]
    """Their indices, increasing."""
    weights: Weights
    """(resamples × these clips) how many times each of them counts."""


INTERVALS = ("subsampling", "percentile", "bca")
TESTS = ("bootstrap", "randomisation")
MAX_WEIGHT = 2**24
MOST_RESAMPLES = 10**7
LONGEST_BLOCK = 10**7  # seconds
_DRAWN_AT_ONCE = 64  # resamples


@dataclass(frozen=True, eq=False)
class Resampling:
    """How clips are drawn, and which interval is made of the values.

    Parameters
    ----------
    n : int, optional
        The number of resamples. By default 1000.
    confidence : float, default 0.95
        The confidence of the interval, below 1.
    seed : int, default 0
        The seed of the draws. The same seed draws the same clips, whatever their order.
    interval : {"subsampling", "percentile", "bca"}, optional
        ``"subsampling"``, the default, corrects the value for what its metric gains from choosing on few
        clips, and measures its deviation on halves of the clips. ``"percentile"`` lies between two
        quantiles of the resamples; it is the only one of weights that you chose. ``"bca"`` is
        bias-corrected and accelerated (Efron, "Better Bootstrap Confidence Intervals", 1987).
    balanced : bool, default False
        Draw every clip equally often over all resamples.
    groups : mapping of clip to group, optional
        The group of each clip, e.g. its recording site. Groups are drawn as a whole.
    blocks : float, optional
        For few long recordings: cut them into blocks of about this many seconds, at least 1, and draw
        blocks instead of clips. A block ends in a pause between references; a detection that goes on
        across its end is two. The values themselves are those of the whole recordings.
    test : {"bootstrap", "randomisation"}, default "bootstrap"
        Where the p values of :func:`~sedscope.compare` come from: the resamples, or ``n`` random swaps of the
        two systems in half of the clips (paired randomisation test), which needs no assumption but that
        equally good systems can be swapped. It takes a few times longer.

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.Resampling(n=200, interval="bca").about()
    'in brackets 95 % bca intervals from 200 resamples of clips'
    """

    n: int | None = None
    confidence: float = 0.95
    seed: int = 0
    interval: str | None = None
    balanced: bool = False
    groups: Mapping[str, Hashable] | None = None
    blocks: float | None = None
    test: str = "bootstrap"

    def __post_init__(self) -> None:
        _require_whole(self, "seed", 0)
        if self.n is not None:
            _require_whole(self, "n", 1)
        if self.number > MOST_RESAMPLES:
            raise SedscopeError(
                f"n={short_number(self.number)} is more than {MOST_RESAMPLES} resamples. 1000 to 10000 give "
                "stable intervals."
            )
        require_number(self, "confidence", above=0, at_most=1)
        if self.confidence == 1:
            raise SedscopeError("confidence=1 must be below 1: no interval is certain.")
        if self.interval is not None:
            require_choice(self, "interval", INTERVALS)
        require_choice(self, "test", TESTS)
        require_flag(self, "balanced")
        optional_number(self, "blocks", at_least=1, at_most=LONGEST_BLOCK)
        if self.blocks is not None and self.groups is not None:
            raise SedscopeError("Either groups of clips or blocks of time can be drawn, not both.")
        if self.groups is not None and not isinstance(self.groups, Mapping):
            raise SedscopeError("groups must be a mapping from clips to groups.")
        wrong = [
            f"{clip}: {group!r}"
            for clip, group in (self.groups or {}).items()
            if not isinstance(group, Hashable)
        ]
        if wrong:
            raise SedscopeError(
                f"Groups must be numbers, strings or other hashable values: {listing(wrong)}."
            )

    @classmethod
    def _of(cls, resampling: Resampling | int | None) -> Resampling:
        """Return a resampling, or the default one, perhaps with a number of resamples."""
        return resampling if isinstance(resampling, Resampling) else cls(resampling)

    @property
    def number(self) -> int:
        """How many resamples there are."""
        return 1000 if self.n is None else int(self.n)

    def _with_interval(self) -> Resampling:
        """Return the same with the kind of interval that it stands for."""
        return replace(self, interval=self.interval or INTERVALS[0])

    def about(self) -> str:
        """Describe the intervals in one phrase.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Resampling(n=500).about()
        'in brackets 95 % subsampling intervals from 500 resamples of clips'
        """
        kind = self.interval or INTERVALS[0]
        return f"in brackets {self.confidence * 100:g} % {kind} intervals from {self.resamples()}"

    def resamples(self) -> str:
        """Describe what is drawn in one phrase.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Resampling(n=500, balanced=True).resamples()
        '500 balanced resamples of clips'
        """
        units = self.units_name()
        return f"{counted(self.number, 'balanced resample' if self.balanced else 'resample')} of {units}"

    def units_name(self) -> str:
        """Return what is drawn.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Resampling(blocks=60).units_name()
        'blocks of 60 s'
        """
        if self.blocks is not None:
            return f"blocks of {self.blocks:g} s"
        return "clips" if self.groups is None else "groups of clips"

    def advice(self) -> str:
        """Return what to do about few clips, as a sentence; empty if there is nothing to advise.

        Returns
        -------
        str

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Resampling().advice()
        'evaluate can draw blocks of time instead: `resampling=Resampling(blocks=60)`.'
        """
        if self.blocks is not None:
            return "Use shorter blocks."
        if self.groups is not None:
            return ""
        return "evaluate can draw blocks of time instead: `resampling=Resampling(blocks=60)`."

    def units(self, clips: Sequence[str]) -> NDArray[np.intp]:
        """Return the unit that each clip belongs to: its group, or the clip itself.

        Units are numbered in the order of the clips' names.

        Parameters
        ----------
        clips : sequence of str
            The clips.

        Returns
        -------
        array of int, shape (clips,)

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.Resampling(groups={"a": "north", "b": "south", "c": "north"}).units(["a", "b", "c"]).tolist()
        [0, 1, 0]
        """
        if self.groups is None:
            return np.argsort(np.argsort(np.array(clips), kind="stable"), kind="stable")
        of_clip = {clip: self.groups[name] for name, clip in clip_ids(self.groups, "groups").items()}
        without = [clip for clip in clips if clip not in of_clip]
        if without:
            raise SedscopeError(
                f"{subject(len(without), 'clip', 'has')} no group: {listing(without)}. Give each clip one."
            )
        numbers: dict[Hashable, int] = {}
        for clip in sorted(clips):
            numbers.setdefault(of_clip[clip], len(numbers))
        return np.array([numbers[of_clip[clip]] for clip in clips], np.intp)

    def draw(self, clips: Sequence[str]) -> Weights:
        """Draw the resamples, and return how many times each clip is in each of them.

        Parameters
        ----------
        clips : sequence of str
            The clips.

        Returns
        -------
        array of int, shape (resamples, clips)

        Examples
        --------
        >>> import sedscope as sed
        >>> weights = sed.Resampling(n=4).draw(["a", "b", "c"])
        >>> weights.shape, weights.sum(axis=1).tolist()
        ((4, 3), [3, 3, 3, 3])
        """
        units = self.units(clips)
        number = int(units.max(initial=-1)) + 1
        if number < 2:
            raise SedscopeError(
                f"Resampling needs at least 2 {self.units_name()}, not {number}. {self.advice()}".strip()
            )
        size = 4 * self.number * (len(clips) + 2 * self.balanced * number)
        if size > machine_memory():
            raise SedscopeError(
                f"{self.number} resamples of {counted(len(clips), 'clip')} take {size / 1e9:.3g} GB, more "
                "than the memory of this machine. Use fewer; 1000 to 10000 give stable intervals."
            )
        rng = np.random.default_rng(self.seed)
        pool = np.tile(np.arange(number, dtype=np.int32), self.number) if self.balanced else None
        shuffled = None if pool is None else rng.permutation(pool).reshape(self.number, number)
        weights: Weights = np.empty((self.number, len(clips)), np.int32)
        for start in range(0, self.number, _DRAWN_AT_ONCE):
            block = weights[start : start + _DRAWN_AT_ONCE]
            shape = (len(block), number)
            drawn = (
                rng.integers(number, size=shape) if shuffled is None else shuffled[start:][: len(block)]
            )
            places = drawn + number * np.arange(len(block))[:, None]
            times = np.bincount(places.ravel(), minlength=len(block) * number).reshape(shape)
            np.take(times, units, axis=1, out=block, mode="clip")
        return weights


def drawing_recordings(resampling: Resampling, truth: GroundTruth) -> Resampling:
    """Return a resampling that draws recordings where clips are regions, unless it draws blocks."""
    if resampling.blocks is not None or not isinstance(truth, RegionTruth):
        return resampling
    return replace(resampling, groups=truth.resampling_groups(resampling.groups))


def refuse_blocks(resampling: Resampling) -> None:
    """Refuse to resample blocks of time where there are no times any more."""
    if resampling.blocks is not None:
        raise SedscopeError(
            "Deltas and counts do not hold times, so they cannot be cut into blocks. Evaluate the scores: "
            "evaluate(…, resampling=Resampling(blocks=…))."
        )


def as_weights(weights: ArrayLike, clips: int) -> Weights:
    """Check weights that a user chose, as (resamples × clips)."""
    shape = f"(resamples × {clips} clips)"
    try:
        array = np.asarray(weights)
    except ValueError:
        raise SedscopeError(f"weights must be {shape}, but their rows differ in length.") from None
    if array.ndim != 2 or array.shape[1] != clips or not len(array):
        raise SedscopeError(f"weights must be {shape}, not of shape {array.shape}.")
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() > MAX_WEIGHT:
        raise SedscopeError(f"weights must be whole numbers from 0 to {MAX_WEIGHT}.")
    return array.astype(np.int32)


def each_left_out(units: NDArray[np.intp]) -> Weights:
    """Return (units × clips) weights that leave out one unit in each row (jackknife)."""
    number = int(units.max()) + 1
    refuse_beyond_memory(
        9 * number * len(units),  # as booleans, as numbers, and once more beside the resamples
        f"interval='bca' evaluates {len(units)} clips {number} times without some, which needs",
        "Use interval='percentile', or groups of clips.",
    )
    return (np.arange(units.max() + 1)[:, None] != units).astype(np.int32)


def _require_whole(owner: Any, name: str, least: int) -> None:
    value = getattr(owner, name)
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        shown = short_number(value) if isinstance(value, int) else repr(value)
        raise SedscopeError(f"{name}={shown} must be a whole number of at least {least}.")
