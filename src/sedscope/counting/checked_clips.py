"""Clips as the core takes them: read once, in each variant of their scores, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..criteria.criterion import ClipBatch, ClipTruth, Recording
from ..data.alignment import Alignment
from ..data.scores import ClipScores, ScoreArray, Scores
from ..data.times import Ticks
from ..errors import SedscopeError, counted, listing, raise_together
from ..postprocessing import PostProcessing
from .clip_reader import MANY_FAILURES, LoadedClips, LoadedPieces, load, read_each

_NAMED = 5  # places of a kind of problem

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of clips done and of all clips, each counted once for every variant."""


@dataclass(frozen=True, eq=False)
class CheckedBatch:
    """Some clips with their references, of which nothing is wrong."""

    first: int
    """The number of the first clip."""
    variant: PostProcessing | None
    """How the scores were post-processed."""
    batch: ClipBatch
    durations: Ticks | None
    """Of all clips; None if they are not known yet."""


def checked_batches(
    alignment: Alignment,
    variants: Sequence[PostProcessing | None],
    threads: int,
    progress: Progress | None,
) -> Iterator[CheckedBatch | CheckedPieces]:
    """The clips in order, each read once, in each variant of their scores; those that come in pieces by
    themselves. What is wrong with any of them is raised at the end, all together; after the first
    problem only problems are looked for."""
    durations = alignment.durations.copy()
    problems = _Problems(alignment)
    items = len(alignment.clips) * len(variants)
    if progress:
        progress(0, items)
    for loaded in load(alignment.scores, alignment.clips, threads):
        if isinstance(loaded, LoadedPieces):
            of_clip = slice(loaded.number, loaded.number + 1)
            durations[of_clip] = durations[of_clip] or loaded.clip.ticks[-1]
            known = None if (durations == 0).any() else durations
            yield CheckedPieces(alignment, loaded, durations[of_clip], known, problems, threads)
            if progress:
                progress((loaded.number + 1) * len(variants), items)
            continue
        problems.failures += loaded.failures
        if loaded.failures or (not loaded.scores and loaded.first > 0):
            continue
        first, last = loaded.first, loaded.first + len(loaded.scores)
        unknown = np.flatnonzero(durations[first:last] == 0)
        durations[first + unknown] = [loaded.scores[int(i)].ticks[-1] for i in unknown]
        known = None if (durations == 0).any() else durations
        for done, variant in enumerate(variants, 1):
            processed = loaded if variant is None else process(variant, alignment, loaded, threads)
            problems.failures += processed.failures
            if processed.failures:
                break
            batch = batch_of(alignment, processed, durations[first:last], threads)
            problems.look_at(first, batch)
            for i in np.flatnonzero(np.isnan(batch.maxima).any(axis=1)).tolist():
                problems.look_for_nans(first + i, processed.scores[i].values, batch.maxima[i])
            if problems:
                break
            yield CheckedBatch(first, variant, batch, known)
            if progress:
                progress(first * len(variants) + (last - first) * done, items)
    problems.raise_all()


def whole_clips(alignment: Alignment, threads: int, progress: Progress | None) -> Iterator[CheckedBatch]:
    """The same for what needs whole clips: one that comes in pieces is a problem."""
    for found in checked_batches(alignment, (None,), threads, progress):
        if isinstance(found, CheckedPieces):
            found.refuse("it comes in pieces, but this needs whole clips: give it as one array")
        else:
            yield found


def process(
    variant: PostProcessing, alignment: Alignment, loaded: LoadedClips, threads: int
) -> LoadedClips:
    """The same clips, post-processed."""
    names = alignment.clips[loaded.first : loaded.first + len(loaded.scores)]
    clips = dict(zip(names, loaded.scores, strict=True))
    classes = alignment.scores.classes
    scores = Scores(clips, clips.__getitem__, classes=classes, in_memory=True, thread_safe=True)
    processed = list(read_each(variant(scores), names, threads))
    failures = [clip for clip in processed if isinstance(clip, SedscopeError)]
    done = [clip for clip in processed if isinstance(clip, ClipScores)]
    return LoadedClips(loaded.first, [] if failures else done, failures)


def _truth(alignment: Alignment, first: int, durations: Ticks, maxima: ScoreArray) -> ClipTruth:
    """References of some clips; events that begin after the end of their clip are left out."""
    starts = alignment.starts[first : first + len(durations) + 1]
    events = alignment.events[starts[0] : starts[-1]]
    labels = alignment.labels[starts[0] : starts[-1]]
    event_clips = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    late = events[:, 0] >= durations[event_clips]
    in_time = np.concatenate([[0], np.cumsum(~late)])
    return ClipTruth(
        durations=durations,
        events=events[~late],
        labels=labels[~late],
        event_clips=event_clips[~late],
        starts=in_time[starts - starts[0]],
        maxima=maxima,
        late=np.flatnonzero(late),
    )


def batch_of(alignment: Alignment, loaded: LoadedClips, durations: Ticks, threads: int) -> ClipBatch:
    """Some clips and their references."""
    values: list[Any] = [clip.values for clip in loaded.scores]
    if len({array.dtype for array in values}) > 1:  # float64 holds every float32
        values = [array.astype(np.float64, copy=False) for array in values]
    clips = _native.Clips(values, [clip.ticks for clip in loaded.scores], alignment.columns)
    truth = _truth(alignment, loaded.first, durations, clips.maxima(threads))
    return ClipBatch(**vars(truth), clips=clips)


class CheckedPieces:
    """A clip that comes in pieces, which are still to be read."""

    def __init__(
        self,
        alignment: Alignment,
        loaded: LoadedPieces,
        duration: Ticks,
        durations: Ticks | None,
        problems: _Problems,
        threads: int,
    ) -> None:
        """``durations``: of all clips, None if they are not known yet."""
        self.alignment = alignment
        self.number, self.clip = loaded.number, loaded.clip
        self.durations = durations
        self.problems = problems
        self.threads = threads
        self.maxima: ScoreArray = np.full((1, len(alignment.classes)), -np.inf, np.float32)
        self.truth = _truth(alignment, loaded.number, duration, self.maxima)
        problems.look_at(loaded.number, self.truth)

    def through(self, feed: Callable[[ScoreArray], None]) -> bool:
        """Read all pieces, and feed them on; after a problem, only further ones are looked for. Whether
        there was none."""
        try:
            for frame, piece in self._pieces():
                self._look_at(frame, piece)
                if not self.problems:
                    feed(piece)
                del piece  # before the next one comes
        except SedscopeError as error:
            self.refuse(str(error))
        return not self.problems

    def refuse(self, why: str) -> None:
        """Take note of why the clip cannot be used."""
        name = self.alignment.clips[self.number]
        self.problems.failures.append(SedscopeError(f"clip {name}: {why}"))

    def recording(self, dtype: np.dtype[Any]) -> Recording:
        """The clip as the core takes it."""
        clip = _native.Recording(self.clip.ticks, self.alignment.columns, dtype == np.float64)
        known = {**vars(self.truth), "maxima": self.truth.maxima.astype(dtype)}
        return Recording(**known, clip=clip)

    def _pieces(self) -> Iterator[tuple[int, ScoreArray]]:
        """The pieces with their first frame."""
        frame = 0
        for piece in self.clip.pieces(len(self.alignment.scores.classes)):
            frame, first = frame + len(piece), frame
            yield first, piece
            del piece

    def _look_at(self, frame: int, piece: ScoreArray) -> None:
        ticks = self.clip.ticks[frame : frame + len(piece) + 1]
        maxima = _native.Clips([piece], [ticks], self.alignment.columns).maxima(self.threads)
        self.problems.look_for_nans(self.number, piece, maxima[0], frame)
        self.maxima = np.maximum(self.maxima, maxima)


@dataclass
class _Problems:
    """What is wrong with the scores, gathered over all clips."""

    alignment: Alignment
    failures: list[SedscopeError] = field(default_factory=list)
    """Clips that cannot be read."""
    nans: int = 0
    nan_places: list[str] = field(default_factory=list)
    """The first ones."""
    early: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.failures or self.nans or self.early or self.late)

    def look_at(self, first: int, truth: ClipTruth) -> None:
        """Take note of what is wrong with some clips, from number ``first`` on."""
        self.early += [self.alignment.clips[first + i] for i in np.flatnonzero(truth.durations < 0)]
        if self.alignment.invalid == "error":
            first_event = self.alignment.starts[first]
            for event in first_event + truth.late:
                clip = int(np.searchsorted(self.alignment.starts, event, side="right")) - 1
                label = self.alignment.classes[self.alignment.labels[event]]
                self.late.append(f"clip {self.alignment.clips[clip]}, {label}")

    def look_for_nans(self, clip: int, values: ScoreArray, maxima: ScoreArray, frame: int = 0) -> None:
        """Take note of scores that are not numbers, in frames from ``frame`` on; ``maxima``: NaN for
        classes with any."""
        for c in np.flatnonzero(np.isnan(maxima)):
            frames = np.flatnonzero(np.isnan(values[:, self.alignment.columns[c]]))
            self.nans += len(frames)
            where = f"clip {self.alignment.clips[clip]}, class {self.alignment.classes[c]}"
            unnamed = max(0, _NAMED - len(self.nan_places))
            self.nan_places += [f"{where}, frame {frame + i}" for i in frames[:unnamed]]

    def raise_all(self) -> None:
        """Raise one error for all of it, if there is any."""
        errors = []
        if self.nans:
            places = listing(self.nan_places, _NAMED, total=self.nans)
            said = f"{counted(self.nans, 'score')} not a number (NaN): {places}"
            errors.append(SedscopeError(said))
        if self.early:
            said = f"scores that end before 0 s give no duration: {counted(len(self.early), 'clip')}"
            errors.append(SedscopeError(f"{said}: {listing(self.early)}. Give the clips' durations"))
        if self.late:
            said = (
                f"{counted(len(self.late), 'reference event')} beginning at or after the last boundary"
            )
            errors.append(
                SedscopeError(
                    f"{said} of the scores: {listing(self.late)}. Give the clips' durations, or leave "
                    "such events out with invalid='drop' (--invalid drop)"
                )
            )
        raise_together(errors + self.failures, perhaps_more=len(self.failures) >= MANY_FAILURES)
