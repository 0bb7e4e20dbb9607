"""Clips on their way to the core: read once, in each variant of their scores, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..criteria import Criterion
from ..criteria.clip_batch import ClipBatch, ClipReferences, EventBatch, EventRows, Recording
from ..data.alignment import Alignment
from ..data.arrays import ScoreArray
from ..data.clip_events import FRAMES_ADVICE, ClipEvents, EventList
from ..data.coverage import extents_of
from ..data.event_checks import MANY_LATE
from ..data.progress import Progress
from ..data.scores import CUT_TO_REGIONS, ClipScores, Scores
from ..data.times import Ticks
from ..errors import SedscopeError, counted, listing, raise_together
from ..postprocessing import PostProcessing
from ..postprocessing.clip_group import ClipGroup, ReadLimit
from .clip_reader import MANY_FAILURES, ClipsRead, EventsRead, RecordingOpened, read_clips, read_each

LimitOf: TypeAlias = Callable[[PostProcessing, ClipReferences, Ticks | None], ReadLimit | None]

_NAMED = 5  # locations of each kind of problem


@dataclass(frozen=True, eq=False)
class CheckedBatch:
    """Some clips with their references, free of problems."""

    first: int
    """The number of the first clip."""
    variant: PostProcessing | None
    """How the scores were post-processed."""
    batch: ClipBatch
    durations: Ticks | None
    """Of all clips; None if they are not known yet."""


@dataclass(frozen=True, eq=False)
class CheckedEvents:
    """Clips whose events are kept as they are, with their references, free of problems."""

    first: int
    variant: PostProcessing | None
    """How the scores were post-processed."""
    batch: EventBatch
    first_point: str | None
    """The first event of no length, for messages; None if all events have a length."""
    durations: Ticks | None
    """Of all clips; None if they are not known yet."""

    def refuse_points(self, criterion: Criterion) -> None:
        """Refuse detections of no length, where the criterion cannot judge them."""
        if self.first_point and not criterion.judges_points:
            raise SedscopeError(
                f"Some detections have no length (the first: {self.first_point}), but {criterion} needs "
                f"events with a length. {points_advice(criterion, _DETECTIONS_ADVICE)}"
            )


_DETECTIONS_ADVICE = (
    "Correct them, or judge points in time by a criterion about one boundary, such as Onset(0.05)."
)


def points_advice(criterion: Criterion, otherwise: str) -> str:
    """Say what to do about events of no length, which a criterion cannot judge.

    ``otherwise``: unless it would judge them if it did not count references by their length.
    """
    if criterion.unwrapped.judges_points:
        return (
            "Bins of lengths are not for points in time: leave out by_length= (--by-length) or OfLength."
        )
    return otherwise


def checked_clips(
    alignment: Alignment,
    variants: Sequence[PostProcessing | None],
    threads: int,
    progress: Progress | None,
    limit_of: LimitOf | None = None,
) -> Iterator[CheckedBatch | CheckedEvents | CheckedRecording]:
    """Go through the clips in order, reading each once, and yield them in each variant.

    ``limit_of``: returns down to which score a variant of some clips is read, given the clips in another
    variant and the durations of all clips. Lower scores of the variant may be replaced by others.
    Clips that arrive in pieces are yielded one by one. All problems are raised together at the end;
    after the first one, the clips are only searched for further problems.
    """
    durations = alignment.durations.copy()
    problems = _Problems(alignment)
    total = len(alignment.clips) * len(variants)
    if progress:
        progress(0, total)
    for clips in read_clips(alignment.scores, alignment.clips, threads):
        if isinstance(clips, RecordingOpened):
            number = slice(clips.number, clips.number + 1)
            durations[number] = durations[number] or clips.clip.ticks[-1]
            known = None if (durations == 0).any() else durations
            yield CheckedRecording(alignment, clips, durations[number], known, problems, threads)
            if progress:
                progress((clips.number + 1) * len(variants), total)
            continue
        if isinstance(clips, EventsRead):
            _refuse_postprocessing(variants)
            events = _CheckableEvents(alignment, clips, durations)
            problems.check_references(clips.first, events.batch)
            for variant in () if problems else variants:
                yield events.checked(variant, events.batch.durations)
            if progress:
                progress(total, total)
            continue
        problems.failures += clips.failures
        if clips.failures or (not clips.scores and clips.first > 0):
            continue
        first, last = clips.first, clips.first + len(clips.scores)
        unknown = np.flatnonzero(durations[first:last] == 0)
        durations[first + unknown] = [clips.scores[int(i)].ticks[-1] for i in unknown]
        known = None if (durations == 0).any() else durations
        group = ClipGroup(clips.scores, threads)
        batch: ClipBatch | None = None
        for done, variant in enumerate(variants, 1):
            processed: ClipsRead | EventsRead = clips
            if variant is not None:
                limit = limit_of(variant, batch, known) if limit_of and batch else None
                processed = _process(variant, alignment, clips, group, limit)
            if isinstance(processed, EventsRead):
                events = _CheckableEvents(alignment, processed, durations[first:last])
                problems.check_references(first, events.batch)
                if problems:
                    break
                yield events.checked(variant, known)
                if progress:
                    progress(first * len(variants) + (last - first) * done, total)
                continue
            problems.failures += processed.failures
            if processed.failures:
                break
            batch = _batch(alignment, processed, durations[first:last], threads)
            problems.check_references(first, batch)
            for i in np.flatnonzero(np.isnan(batch.maxima).any(axis=1)).tolist():
                problems.check_numbers(first + i, processed.scores[i].values, batch.maxima[i])
            if problems:
                break
            yield CheckedBatch(first, variant, batch, known)
            if progress:
                progress(first * len(variants) + (last - first) * done, total)
    problems.raise_all()


def _refuse_postprocessing(variants: Sequence[PostProcessing | None]) -> None:
    """Refuse to post-process events that are kept as they are."""
    processed = [repr(variant) for variant in variants if variant is not None and variant.changes_scores]
    if processed:
        raise SedscopeError(
            f"Scored events that are kept as they are cannot be post-processed by {listing(processed)}: that "
            f"needs scores of frames. {FRAMES_ADVICE}"
        )


def whole_clips(
    alignment: Alignment, threads: int, progress: Progress | None
) -> Iterator[CheckedBatch | CheckedEvents]:
    """Go through the clips for work that needs whole clips: one that arrives in pieces is a problem."""
    for clips in checked_clips(alignment, (None,), threads, progress):
        if isinstance(clips, CheckedRecording):
            clips.refuse("it arrives in pieces, but this needs whole clips. Give it as one array.")
            continue
        yield clips


def clips_checked_before(
    alignment: Alignment, clips: _native.Clips, grids: Sequence[Ticks], maxima: ScoreArray
) -> CheckedBatch:
    """Return clips that are known to be valid, with their durations and their largest scores."""
    references = _references(alignment, 0, alignment.durations, extents_of(grids), maxima)
    batch = ClipBatch(**vars(references), clips=clips)
    return CheckedBatch(0, None, batch, alignment.durations)


def _process(
    variant: PostProcessing,
    alignment: Alignment,
    clips: ClipsRead,
    group: ClipGroup,
    limit: ReadLimit | None,
) -> ClipsRead | EventsRead:
    """Return the same clips, post-processed. ``group``: the clips, for all variants."""
    scores = alignment.scores
    variant.require_fit(scores.classes)
    if scores.recut is None and CUT_TO_REGIONS not in scores.processing:
        together = variant._process_group(group, limit)
        if together is not None:
            return ClipsRead(clips.first, together.clips, maxima=together.maxima)
    names = alignment.clips[clips.first : clips.first + len(clips.scores)]
    if scores.recut is None:
        by_name = dict(zip(names, clips.scores, strict=True))
        scores = Scores(
            by_name,
            by_name.__getitem__,
            classes=scores.classes,
            in_memory=True,
            thread_safe=True,
            processing=scores.processing,
        )
    results = list(read_each(variant(scores), names, group.threads))
    failures = [result for result in results if isinstance(result, SedscopeError)]
    events = [result for result in results if isinstance(result, ClipEvents)]
    if events and not failures:
        return EventsRead(clips.first, events)
    processed = [result for result in results if isinstance(result, ClipScores)]
    return ClipsRead(clips.first, [] if failures else processed, failures)


def _references(
    alignment: Alignment, first: int, durations: Ticks, extents: Ticks, maxima: ScoreArray
) -> ClipReferences:
    """Return the references of some clips, without events that begin after their clip ends."""
    starts = alignment.starts[first : first + len(durations) + 1]
    events = alignment.events[starts[0] : starts[-1]]
    labels = alignment.labels[starts[0] : starts[-1]]
    event_clips = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    late = events[:, 0] >= durations[event_clips]
    ignored = alignment.ignored[starts[0] : starts[-1]]
    rows = EventRows(events, labels, event_clips, starts - starts[0])
    return ClipReferences(
        **vars(rows.chosen(~late & ~ignored)),
        ignored=rows.chosen(~late & ignored),
        durations=durations,
        extents=extents,
        maxima=maxima,
        late=np.flatnonzero(late),
        uncut=None
        if alignment.uncut is None
        else alignment.uncut.choose(first + np.arange(len(durations))),
    )


def _batch(alignment: Alignment, clips: ClipsRead, durations: Ticks, threads: int) -> ClipBatch:
    """Return some clips with their references, as the core reads them."""
    values: list[ScoreArray] = [clip.values for clip in clips.scores]
    if len({array.dtype for array in values}) > 1:  # float64 holds every float32
        values = [array.astype(np.float64, copy=False) for array in values]
    grids = [clip.ticks for clip in clips.scores]
    native_clips = _native.Clips(values, grids, alignment.columns)
    if clips.maxima is None:
        maxima = native_clips.maxima(threads)
    else:
        maxima = np.ascontiguousarray(clips.maxima[:, alignment.columns])
    references = _references(alignment, clips.first, durations, extents_of(grids), maxima)
    return ClipBatch(**vars(references), clips=native_clips)


class _CheckableEvents:
    """Clips whose events are kept as they are, as the core reads them."""

    def __init__(self, alignment: Alignment, clips: EventsRead, durations: Ticks) -> None:
        """``durations``: of these clips; 0 if the clip ends with its frames."""
        class_of = np.full(len(alignment.scores.classes), -1, np.int32)
        class_of[alignment.columns] = np.arange(len(alignment.classes), dtype=np.int32)
        events = EventList.joined(clips.clips)
        chosen = events.in_columns(class_of)
        detected = _native.DetectedEvents(
            chosen.times, chosen.columns, chosen.confidences, chosen.starts, len(alignment.classes)
        )
        maxima, extents = chosen.maxima(len(alignment.classes)), events.extents()
        known = np.where(durations == 0, extents[:, 2], durations)
        references = _references(alignment, clips.first, known, extents, maxima)
        self.first = clips.first
        self.batch = EventBatch(**vars(references), detected=detected)
        self.first_point = _first_point(alignment, clips.first, chosen)

    def checked(self, variant: PostProcessing | None, durations: Ticks | None) -> CheckedEvents:
        """Return the clips in a variant. ``durations``: of all clips; None if they are not known yet."""
        return CheckedEvents(self.first, variant, self.batch, self.first_point, durations)


def _first_point(alignment: Alignment, first: int, events: EventList) -> str | None:
    """Describe the first event of no length, if there is one. ``first``: the number of the first clip."""
    points = np.flatnonzero(events.times[:, 0] == events.times[:, 1])
    if not len(points):
        return None
    event = int(points[0])
    clip = alignment.clips[first + int(np.searchsorted(events.starts, event, side="right")) - 1]
    label = alignment.classes[events.columns[event]]
    return f"clip {clip}, {label} at {events.times[event, 0] / 1e6:g} s"


class CheckedRecording:
    """A clip that arrives in pieces. Its pieces are checked as they are read."""

    def __init__(
        self,
        alignment: Alignment,
        opened: RecordingOpened,
        duration: Ticks,
        durations: Ticks | None,
        problems: _Problems,
        threads: int,
    ) -> None:
        """``duration``: of the clip; ``durations``: of all clips, None if they are not known yet."""
        self.number = opened.number
        self.durations = durations
        self.maxima: ScoreArray = np.full((1, len(alignment.classes)), -np.inf, np.float32)
        """The largest scores so far."""
        self._alignment, self._clip = alignment, opened.clip
        self._problems, self._threads = problems, threads
        extents = extents_of([opened.clip.ticks])
        self._references = _references(alignment, opened.number, duration, extents, self.maxima)
        problems.check_references(opened.number, self._references)

    @property
    def has_problems(self) -> bool:
        """Whether this clip, or one before it, has a problem."""
        return bool(self._problems)

    def pieces(self) -> Iterator[ScoreArray]:
        """Read the pieces. After a problem, the rest is only searched for further problems."""
        frame = 0
        try:
            for piece in self._clip.pieces(len(self._alignment.scores.classes)):
                self._check(frame, piece)
                frame += len(piece)
                if not self._problems:
                    yield piece
                del piece  # before the next one is read
        except SedscopeError as error:
            self.refuse(str(error))

    def refuse(self, reason: str) -> None:
        """Record why the clip cannot be used."""
        name = self._alignment.clips[self.number]
        self._problems.failures.append(SedscopeError(f"clip {name}: {reason}"))

    def as_recording(self, dtype: np.dtype[Any]) -> Recording:
        """Return the clip as the core reads it, for scores of a type."""
        clip = _native.Recording(self._clip.ticks, self._alignment.columns, dtype == np.float64)
        maxima = self._references.maxima.astype(dtype)
        return Recording(**{**vars(self._references), "maxima": maxima}, clip=clip)

    def _check(self, frame: int, piece: ScoreArray) -> None:
        """Look for scores that are not numbers in a piece that begins with a frame."""
        ticks = self._clip.ticks[frame : frame + len(piece) + 1]
        clip = _native.Clips([piece], [ticks], self._alignment.columns)
        maxima = clip.maxima(self._threads)
        self._problems.check_numbers(self.number, piece, maxima[0], frame)
        self.maxima = np.maximum(self.maxima, maxima)


@dataclass
class _Problems:
    """What is wrong with the scores, over all clips."""

    alignment: Alignment
    failures: list[SedscopeError] = field(default_factory=list)
    """Clips that cannot be read."""
    nans: int = 0
    nan_locations: list[str] = field(default_factory=list)
    """The first ones."""
    early: list[str] = field(default_factory=list)
    """Clips whose scores end before 0 s."""
    late: list[str] = field(default_factory=list)
    """Events that begin after the scores end."""

    def __bool__(self) -> bool:
        return bool(self.failures or self.nans or self.early or self.late)

    def check_references(self, first: int, references: ClipReferences) -> None:
        """Check the durations and references of the clips from number ``first`` on."""
        early = np.flatnonzero(references.durations < 0)
        self.early += [self.alignment.clips[first + i] for i in early]
        if self.alignment.invalid == "error":
            for event in self.alignment.starts[first] + references.late:
                clip = int(np.searchsorted(self.alignment.starts, event, side="right")) - 1
                label = self.alignment.classes[self.alignment.labels[event]]
                onset = self.alignment.events[event, 0] / 1e6
                self.late.append(f"clip {self.alignment.clips[clip]}, {label} at {onset:g} s")

    def check_numbers(self, clip: int, values: ScoreArray, maxima: ScoreArray, frame: int = 0) -> None:
        """Record scores that are NaN, in frames from ``frame`` on. ``maxima`` is NaN for classes that
        have any."""
        for c in np.flatnonzero(np.isnan(maxima)):
            frames = np.flatnonzero(np.isnan(values[:, self.alignment.columns[c]]))
            self.nans += len(frames)
            where = f"clip {self.alignment.clips[clip]}, class {self.alignment.classes[c]}"
            unnamed = max(0, _NAMED - len(self.nan_locations))
            self.nan_locations += [f"{where}, frame {frame + i}" for i in frames[:unnamed]]

    def _unit_hint(self) -> str:
        """Ask for the unit of times if most reference events begin after the scores of their clips."""
        total = len(self.alignment.labels)
        if len(self.late) < MANY_LATE or 2 * len(self.late) <= total:
            return ""
        return f" These are {len(self.late)} of {counted(total, 'event')}: are all times in seconds?"

    def raise_all(self) -> None:
        """Raise one error for all problems, if there are any."""
        errors: list[SedscopeError] = []
        if self.nans:
            locations = listing(self.nan_locations, _NAMED, total=self.nans)
            verb = "is" if self.nans == 1 else "are"
            text = f"{counted(self.nans, 'score')} {verb} not a number (NaN): {locations}."
            errors.append(SedscopeError(text))
        if self.early:
            advice = "Give the durations of the clips."
            text = (
                f"The scores of {counted(len(self.early), 'clip')} end before 0 s and give no duration: "
            )
            errors.append(SedscopeError(f"{text}{listing(self.early)}. {advice}", advice=advice))
        if self.late:
            verb = "begins" if len(self.late) == 1 else "begin"
            advice = "Give the durations of the clips, or leave such events out with invalid='drop' "
            advice += "(--invalid drop)."
            text = (
                f"{counted(len(self.late), 'reference event')} {verb} at or after the last boundary of "
            )
            text += f"the scores: {listing(self.late)}.{self._unit_hint()} {advice}"
            errors.append(SedscopeError(text, advice=advice))
        raise_together([*errors, *self.failures], perhaps_more=len(self.failures) >= MANY_FAILURES)
