"""Whether high scores lie where the references are, or would if times had another unit or origin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..data.clip_events import AnyClip, ClipEvents
from ..data.clip_scores import ClipScores
from ..data.scores import Scores
from ..data.times import Ticks
from ..errors import counted
from .alignment import Alignment

FEWEST_CLIPS = 12
_GOOD = 0.4  # a correlation that leaves no doubt, if no change nearby raises it
_CORRELATION = 0.2  # that another unit or origin must reach
_BETTER = 1.15  # times the correlation of the references as they are
_CERTAINTY = 4.5  # standard errors by which it must be better ...
_CAUTION = 20.0  # ... and more of them the fewer clips there are: this, divided by their number
_STEP = 250_000  # microseconds between shifts
_STEPS = 20  # shifts of equal distance in each direction; beyond, they grow
_LONGEST_SHIFT = 60_000_000
_FACTOR = 2 ** (1 / 8)  # between factors, up to 16 in each direction
_UNEVEN = 0.01  # of a frame by which frames may differ
_BINS = 1000  # into which clips with frames of different lengths are cut
_TIMELINE_ROOM = 2**20  # events times changes that are looked at together

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
class Tracks:
    """Scores over time, one track for each clip and class with references, and these references."""

    ticks: Sequence[Ticks]
    """The frame boundaries of each track, in microseconds."""
    values: Sequence[ScoreArray]
    """The scores of each track, without NaN, in at least one frame."""
    clips: IntArray
    """The number of the clip of each track, increasing."""
    classes: IntArray
    """The number of the class of each track."""
    events: Ticks
    """(events × 2) onsets and offsets in microseconds, in the order of the tracks."""
    starts: IntArray
    """The first event of each track. Each has at least one."""

    @staticmethod
    def of(
        clips: Sequence[ClipScores | None], events: Ticks, event_clips: IntArray, columns: IntArray
    ) -> Tracks:
        """Make tracks of clips and their references; None for clips without scores.

        ``event_clips``: the clip of each event, as an index into ``clips``; ``columns``: the column of its
        class in the scores.
        """
        usable = np.array([clip is not None and len(clip.values) > 0 for clip in clips], bool)
        rows = np.flatnonzero(usable[event_clips])
        rows = rows[np.lexsort((columns[rows], event_clips[rows]))]
        event_clips, columns = event_clips[rows], columns[rows]
        starts = np.flatnonzero(np.diff(event_clips, prepend=-1) | np.diff(columns, prepend=-1))
        of_tracks = [
            (clip.ticks, clip.values[:, column])
            for i, column in zip(event_clips[starts].tolist(), columns[starts].tolist(), strict=True)
            if (clip := clips[i]) is not None
        ]
        return Tracks(
            [ticks for ticks, _ in of_tracks],
            [values for _, values in of_tracks],
            event_clips[starts],
            columns[starts],
            events[rows],
            starts,
        )


def time_fit_note(tracks: Tracks) -> list[str]:
    """Note another unit or origin of times that fits much better."""
    if np.count_nonzero(np.bincount(tracks.clips)) < FEWEST_CLIPS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):  # enormous scores say nothing about time
        return _TimeFit(tracks).note()


def fits_well(tracks: Tracks) -> bool:
    """Return whether the references fit so well that no other unit or origin need be tried."""
    if not len(tracks.starts):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return _TimeFit(tracks).is_good()


class _TimeFit:
    """The tracks with frames of equal length, and scores of mean 0 and deviation 1, added up over time."""

    def __init__(self, tracks: Tracks) -> None:
        self.tracks = tracks
        values = tracks.values
        scores = np.concatenate(values, dtype=np.float64)
        even = _even_grids(tracks.ticks)
        if not all(even.values()) or not np.isfinite(scores).all():
            values = [
                _evenly_spaced(ticks, _finite(track), even[id(ticks)])
                for ticks, track in zip(tracks.ticks, values, strict=True)
            ]
            scores = np.concatenate(values)
        self.frames = np.array([*map(len, values)])
        self.first = np.array([ticks[0] for ticks in tracks.ticks], np.float64)
        last = np.array([ticks[-1] for ticks in tracks.ticks], np.float64)
        self.frame = np.maximum(last - self.first, 1) / self.frames
        self.starts = np.cumsum(self.frames) - self.frames
        means = np.add.reduceat(scores, self.starts) / self.frames
        scores -= np.repeat(means, self.frames)
        deviations = np.sqrt(np.add.reduceat(scores * scores, self.starts) / self.frames)
        varies = (deviations > 1e-6 * abs(means)) & np.isfinite(deviations)
        scores *= np.repeat(1 / np.where(varies, deviations, np.inf), self.frames)
        self.sums = np.concatenate([[0.0], np.cumsum(scores)])
        self.others = _tracks_of_other_clips(tracks)
        self.used = varies & varies[self.others] & (tracks.clips != tracks.clips[self.others])

    def is_good(self) -> bool:
        """Whether the references fit well, and no worse than after a small change."""
        factors = np.array([1.0, 1.0, 1.0, _FACTOR, 1 / _FACTOR])
        shifts = np.array([0.0, _STEP, -_STEP, 0.0, 0.0])
        table = self._table(factors, shifts)
        means = table.sum(axis=0) / max(len(table), 1)
        return bool(means[0] > _GOOD and means[0] == means.max())

    def note(self) -> list[str]:
        """Note the change of all times that fits best, if it fits much better than none."""
        frame = float(np.median(self.frame)) / 1e6
        factors, shifts = _changes(frame, float(np.median(self.frame * self.frames)))
        table = self._table(factors, shifts)
        clips = len(table)
        if clips < FEWEST_CLIPS:
            return []
        means = table.mean(axis=0)
        better = table - table[:, :1]
        errors = np.maximum(better.std(axis=0, ddof=1) / np.sqrt(clips), 1e-12)
        fits = (
            (better.mean(axis=0) > (_CERTAINTY + _CAUTION / clips) * errors)
            & (means > _CORRELATION)
            & (means > _BETTER * max(means[0], 0.0))
        )
        if not fits.any():
            return []
        best = int(np.argmax(np.where(fits, means, -np.inf)))
        change = _description(float(factors[best]), float(shifts[best]), frame)
        return [
            f"{change}: after this correction, the correlation of scores and references is "
            f"{means[best]:.2f} instead of {means[0]:.2f} on average (in {counted(clips, 'clip')}). Check "
            "the times of both."
        ]

    def _table(self, factors: FloatArray, shifts: FloatArray) -> FloatArray:
        """Return (clips × changes) by how much references correlate more with their own clip than with
        another one, with all of their times multiplied and shifted."""
        together = max(1, _TIMELINE_ROOM // len(self.tracks.events))
        same_track = np.arange(len(self.starts))
        parts = []
        for number in range(0, len(factors), together):
            changes = slice(number, number + together)
            times = self.tracks.events[:, :, None] * factors[changes] + shifts[changes]
            own = self._correlations(same_track, times)
            parts.append(own - self._correlations(self.others, times))
        clips = self.tracks.clips[self.used]
        first = np.flatnonzero(np.diff(clips, prepend=-1))
        if not len(first):
            return np.zeros((0, len(factors)))
        sums: FloatArray = np.add.reduceat(np.concatenate(parts, axis=1)[self.used], first)
        return sums / np.diff(first, append=len(clips))[:, None]

    def _correlations(self, laid_over: IntArray, times: FloatArray) -> FloatArray:
        """Return (tracks × changes) how the events of each track correlate with scores.

        ``laid_over``: the track whose scores are taken for each track. ``times``: (events × 2 × changes)
        onsets and offsets. The result is 0 where no event lies inside the clip, or events fill it.
        """
        events = np.diff(self.tracks.starts, append=len(times))
        tracks = np.repeat(laid_over, events)[:, None]
        first, frame, frames = (
            column[tracks][:, :, None] for column in (self.first, self.frame, self.frames)
        )
        places = np.rint(((times - first) / frame).clip(0, frames)).astype(np.intp)
        begin, end = places[:, 0], places[:, 1]
        starts = self.starts[tracks]
        sums = np.add.reduceat(self.sums[starts + end] - self.sums[starts + begin], self.tracks.starts)
        inside = np.add.reduceat(end - begin, self.tracks.starts)
        product = inside * (self.frames[laid_over][:, None] - inside)
        return np.where(product > 0, sums / np.sqrt(np.maximum(product, 1)), 0.0)


def _even_grids(grids: Sequence[Ticks]) -> dict[int, bool]:
    """Return whether the frames of each grid have one length, by its id: many clips share their grid."""
    return {
        number: bool(np.ptp(lengths := np.diff(ticks)) <= _UNEVEN * lengths[0])
        for number, ticks in {id(ticks): ticks for ticks in grids}.items()
    }


def _finite(scores: ScoreArray) -> FloatArray:
    """Return the scores with numbers in place of infinities."""
    finite = scores[np.isfinite(scores)].astype(np.float64)
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    span = max(high - low, 1.0)
    return np.nan_to_num(scores.astype(np.float64), posinf=high + span, neginf=low - span)


def _evenly_spaced(ticks: Ticks, scores: FloatArray, even: bool) -> FloatArray:
    """Return the scores in frames of equal length. ``even``: whether they are already."""
    if even:
        return scores
    sums = np.concatenate([[0.0], np.cumsum(scores * np.diff(ticks))])
    return np.diff(np.interp(np.linspace(ticks[0], ticks[-1], _BINS + 1), ticks, sums))


def _tracks_of_other_clips(tracks: Tracks) -> IntArray:
    """Return for each track the one before with the same class, and for the first one the last."""
    order = np.lexsort((tracks.clips, tracks.classes))
    first = np.flatnonzero(np.diff(tracks.classes[order], prepend=-1))
    before = np.roll(order, 1)
    before[first] = order[np.append(first[1:], len(order)) - 1]
    others = np.empty_like(order)
    others[order] = before
    return others


def _changes(frame: float, duration: float) -> tuple[FloatArray, FloatArray]:
    """Return factors and shifts of times, which go together. The first ones change nothing.

    ``frame``: the typical length of a frame in seconds; ``duration``: that of a clip in microseconds.
    """
    steps = np.arange(1, _STEPS + 1) * float(_STEP)
    positive = np.concatenate([steps, steps[-1] * 1.15 ** np.arange(1, 40)])
    positive = positive[positive <= min(_LONGEST_SHIFT, duration / 2)]
    powers = np.arange(1, 33)
    factors = [*_UNITS, *_FACTOR**powers, *_FACTOR**-powers]
    if frame < 0.9:  # times that are numbers of frames
        factors.append(frame)
    shifts = np.concatenate([-positive[::-1], positive])
    return (
        np.concatenate([[1.0], factors, np.ones(len(shifts))]),
        np.concatenate([[0.0], np.zeros(len(factors)), shifts]),
    )


_BETTER_FIT = "The scores fit the references much better"


def _description(factor: float, shift: float, frame: float) -> str:
    """Describe a change of all times. ``frame``: the typical length of a frame in seconds."""
    if factor in _UNITS:
        times = max(factor, 1 / factor)
        return f"{_BETTER_FIT} if the times differ by a factor of {times:g}, {_UNITS[factor]}"
    if factor == frame:
        return f"{_BETTER_FIT} if the times of the references are numbers of frames"
    if factor != 1:
        return f"{_BETTER_FIT} if the times of the references are multiplied by about {factor:.2g}"
    return f"The scores look about {abs(shift) / 1e6:.3g} s {'late' if shift > 0 else 'early'}"


_CLIPS = 40
_SAMPLE_ROOM = 2**26  # bytes of scores that are kept


class TimeSample:
    """Some of the clips with references, evenly spaced.

    Scores in memory are looked at there. Others are kept while the pass reads them, so that no clip is read
    for this. Clips that the pass does not read in this process are left out: those that a cluster reads, and
    those whose deltas are in a checkpoint.
    """

    def __init__(self, alignment: Alignment) -> None:
        references = alignment.counted()
        with_references = np.flatnonzero(np.diff(references.starts))
        number = min(_CLIPS, len(with_references))
        evenly_spaced = np.linspace(0, len(with_references) - 1, number).astype(np.intp)
        self._sample = references.choose(with_references[evenly_spaced])
        self.alignment = alignment
        """The alignment for the pass."""
        self._watch: _Watch | None = None
        if number >= FEWEST_CLIPS and not alignment.scores.in_memory:
            self._watch = _Watch(alignment.scores, self._sample.clips)
            self.alignment = replace(alignment, scores=self._watch.scores)

    def notes(self) -> list[str]:
        """Note another unit or origin of times that fits much better. Call it after the pass."""
        number = len(self._sample.clips)
        if number < FEWEST_CLIPS:
            return []
        few = self._sample.choose(np.linspace(0, number - 1, FEWEST_CLIPS).astype(np.intp))
        return [] if fits_well(self._tracks(few)) else time_fit_note(self._tracks(self._sample))

    def _tracks(self, sample: Alignment) -> Tracks:
        kept = self.alignment.scores if self._watch is None else self._watch.kept
        clips = [kept.get(clip) for clip in sample.clips]
        columns = sample.columns[sample.labels]
        return Tracks.of(clips, sample.events, sample.event_clips, columns)


class _Watch:
    """Keeps some of the clips when they are read, while there is room for them."""

    def __init__(self, scores: Scores, clips: Iterable[str]) -> None:
        self.kept: dict[str, ClipScores] = {}
        self._read = scores
        self._watched = frozenset(clips)
        self._room = _SAMPLE_ROOM
        self.scores = scores._remade(scores, self.load)
        """The same scores, which are watched."""

    def __reduce__(self) -> tuple[type[_Watch], tuple[Scores, tuple[()]]]:
        """Travel to another process without the clips that are kept here, and keep none there."""
        return _Watch, (self._read, ())

    def load(self, clip: str) -> AnyClip:
        opened = self._read.open(clip)
        if clip in self._watched:
            if isinstance(opened, ClipScores) and self._takes(opened.values.nbytes):
                self.kept[clip] = opened
            elif isinstance(opened, ClipEvents) and self._takes(
                16 * len(opened.times) * len(self.scores.classes)
            ):
                self.kept[clip] = opened.highest(len(self.scores.classes))
        return opened

    def _takes(self, size: int) -> bool:
        """Take some room. Return whether there was enough."""
        self._room -= size
        return self._room >= 0
