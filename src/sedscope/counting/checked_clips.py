"""Clips on their way to the core: read once, in each variant of their scores, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..alignment.alignment import Alignment
from ..alignment.coverage import extents_of
from ..criteria import Criterion
from ..criteria.clip_batch import AnyBatch, ClipBatch, ClipReferences, EventBatch, EventRows, Recording
from ..data.arrays import ScoreArray
from ..data.clip_events import FRAMES_ADVICE, ClipEvents, EventList
from ..data.scores import CUT_TO_REGIONS, ClipScores, Scores, ScoreSource
from ..data.times import Ticks
from ..errors import SedscopeError, listing
from ..postprocessing import PostProcessing
from ..postprocessing.postprocessing import ClipGroup, ReadLimit
from ..progress import ProblemLog, Progress
from .clip_problems import ClipProblems, refuse_point_detections
from .clip_reader import ClipsRead, EventsRead, RecordingOpened, read_clips, read_each

_CELLS_OF_A_BATCH = 2**23  # segments × classes: about 200 MB

LimitOf: TypeAlias = Callable[[PostProcessing, ClipReferences, Ticks | None], ReadLimit | None]


@dataclass(frozen=True, eq=False)
class CheckedBatch:
    """Some clips with their references, free of problems."""

    first: int
    """The number of the first clip."""
    variant: PostProcessing | None
    """How the scores were post-processed."""
    batch: AnyBatch
    durations: Ticks | None
    """Of all clips; None if they are not known yet."""
    first_point: str | None = None
    """The first detected event of no length, for messages; None if there is none."""

    def refuse_points(self, criterion: Criterion) -> None:
        """Refuse detections of no length, where the criterion cannot judge them."""
        if self.first_point is not None:
            refuse_point_detections(self.first_point, criterion)


def checked_clips(
    alignment: Alignment,
    variants: Sequence[PostProcessing | None],
    threads: int,
    progress: Progress | None,
    limit_of: LimitOf | None = None,
    segment_ticks: int | None = None,
) -> Iterator[CheckedBatch | CheckedRecording]:
    """Go through the clips in order, reading each once, and yield them in each variant.

    ``limit_of``: returns down to which score a variant of some clips is read, given the clips in another
    variant and the durations of all clips. Lower scores of the variant may be replaced by others.
    ``segment_ticks``: the length of the shortest segments that are judged. Clips with many of them are
    yielded in smaller batches.
    Clips that arrive in pieces are yielded one by one. All problems are raised together at the end;
    after the first one, the clips are only searched for further problems.
    """
    checker = _ClipChecker(alignment, variants, threads, progress, limit_of)
    checker.report(0)
    for clips in read_clips(alignment.scores, alignment.clips, threads):
        if isinstance(clips, RecordingOpened):
            yield from checker.check_recording(clips)
            continue
        for part in checker.cut(clips, segment_ticks):
            if isinstance(part, EventsRead):
                yield from checker.check_events(part)
            else:
                yield from checker.check_scores(part)
    checker.problems.raise_all()


class _ClipChecker:
    """Makes each variant of clips that were read, and checks them. It knows all problems so far."""

    def __init__(
        self,
        alignment: Alignment,
        variants: Sequence[PostProcessing | None],
        threads: int,
        progress: Progress | None,
        limit_of: LimitOf | None,
    ) -> None:
        self.alignment, self.variants, self.threads = alignment, variants, threads
        self.log = ProblemLog(progress)
        self.problems = ClipProblems(alignment, self.log)
        self.durations = alignment.durations.copy()
        """Per clip; 0 if that is not known yet."""
        self._limit_of = limit_of

    def report(self, done: int) -> None:
        """Report the progress. ``done``: clips so far, each counted once per variant."""
        self.log(done, len(self.alignment.clips) * len(self.variants))

    @property
    def known_durations(self) -> Ticks | None:
        """The durations of all clips; None if some are not known yet."""
        return None if (self.durations == 0).any() else self.durations

    def check_recording(self, opened: RecordingOpened) -> Iterator[CheckedRecording]:
        """Yield a clip that arrives in pieces."""
        if self.durations[opened.number] == 0:
            self.durations[opened.number] = opened.clip.ticks[-1]
        duration = self.durations[opened.number : opened.number + 1]
        yield CheckedRecording(
            self.alignment, opened, duration, self.known_durations, self.problems, self.threads
        )
        self.report((opened.number + 1) * len(self.variants))

    def cut(
        self, clips: ClipsRead | EventsRead, segment_ticks: int | None
    ) -> Iterator[ClipsRead | EventsRead]:
        """Cut a batch of clips into batches of few segments. A clip is never cut."""
        read = clips.clips if isinstance(clips, EventsRead) else clips.scores
        durations = self.durations[clips.first : clips.first + len(read)]
        if isinstance(clips, ClipsRead):
            unknown = np.flatnonzero(durations == 0)
            durations[unknown] = [clips.scores[int(i)].ticks[-1] for i in unknown]
        elif segment_ticks is not None:
            durations = np.where(durations, durations, EventList.joined(clips.clips).extents()[:, 2])
        if segment_ticks is None or len(read) < 2:
            yield clips
            return
        cells = np.cumsum(-(-durations // segment_ticks)) * len(self.alignment.classes)
        bounds = [0, *(np.flatnonzero(np.diff(cells // _CELLS_OF_A_BATCH)) + 1).tolist(), len(read)]
        for first, last in pairwise(bounds):
            if isinstance(clips, EventsRead):
                yield EventsRead(clips.first + first, clips.clips[first:last])
            else:
                yield ClipsRead(clips.first + first, clips.scores[first:last])

    def check_events(self, clips: EventsRead) -> Iterator[CheckedBatch]:
        """Yield clips whose events are kept as they are."""
        _refuse_postprocessing(self.variants)
        checked = self._checked_events(clips, None)
        for variant in () if self.problems else self.variants:
            yield replace(checked, variant=variant)
        self.report((clips.first + len(clips.clips)) * len(self.variants))

    def check_scores(self, clips: ClipsRead) -> Iterator[CheckedBatch]:
        """Yield clips in each variant, until there is a problem."""
        last = clips.first + len(clips.scores) + len(clips.failures)
        self.problems.add_failures(clips.failures)
        if clips.scores or last == 0:
            yield from self._variants_of(clips, last)
        if self.problems:
            self.report(last * len(self.variants))

    def _variants_of(self, clips: ClipsRead, last: int) -> Iterator[CheckedBatch]:
        first = clips.first
        group = ClipGroup(clips.scores, self.threads)
        references: ClipReferences | None = None
        for done, variant in enumerate(self.variants, 1):
            processed: ClipsRead | EventsRead = clips
            if variant is not None:
                processed = self._process(variant, clips, group, references)
            if isinstance(processed, EventsRead):
                checked = self._checked_events(processed, variant)
            elif processed.failures:
                self.problems.add_failures(processed.failures)
                return
            else:
                checked = self._checked_batch(processed, variant)
            if self.problems:
                return
            yield checked
            self.report(first * len(self.variants) + (last - first) * done)
            references = checked.batch

    def _process(
        self,
        variant: PostProcessing,
        clips: ClipsRead,
        group: ClipGroup,
        references: ClipReferences | None,
    ) -> ClipsRead | EventsRead:
        """Return the same clips, post-processed.

        ``group``: the clips, for all variants. ``references``: theirs, if another variant came before.
        """
        scores = self.alignment.scores
        variant.require_fit(scores.classes)
        if scores._source.recut is None and CUT_TO_REGIONS not in scores.processing:
            limit = None
            if self._limit_of and references is not None:
                limit = self._limit_of(variant, references, self.known_durations)
            together = variant._process_group(group, limit)
            if together is not None:
                return ClipsRead(clips.first, together.clips, maxima=together.maxima)
        names = self.alignment.clips[clips.first : clips.first + len(clips.scores)]
        if scores._source.recut is None:
            by_name = dict(zip(names, clips.scores, strict=True))
            source = ScoreSource(
                by_name.__getitem__, scores.classes, True, True, processing=scores.processing
            )
            scores = Scores._of(by_name, source)
        results = list(read_each(variant(scores), names, self.threads))
        failures = [result for result in results if isinstance(result, SedscopeError)]
        events = [result for result in results if isinstance(result, ClipEvents)]
        if events and not failures:
            return EventsRead(clips.first, events)
        processed = [result for result in results if isinstance(result, ClipScores)]
        return ClipsRead(clips.first, [] if failures else processed, failures)

    def _checked_batch(self, clips: ClipsRead, variant: PostProcessing | None) -> CheckedBatch:
        first, rows = clips.first, slice(clips.first, clips.first + len(clips.scores))
        batch = _clip_batch(self.alignment, clips, self.durations[rows], self.threads)
        self.problems.check_references(first, batch)
        for i in np.flatnonzero(np.isnan(batch.maxima).any(axis=1)).tolist():
            self.problems.check_numbers(first + i, clips.scores[i].values, batch.maxima[i])
        return CheckedBatch(first, variant, batch, self.known_durations)

    def _checked_events(self, clips: EventsRead, variant: PostProcessing | None) -> CheckedBatch:
        first, rows = clips.first, slice(clips.first, clips.first + len(clips.clips))
        events = EventList.joined(clips.clips)
        batch, first_point = _event_batch(self.alignment, first, events, self.durations[rows])
        self.durations[rows] = batch.durations
        self.problems.check_references(first, batch)
        return CheckedBatch(first, variant, batch, self.known_durations, first_point)


def _refuse_postprocessing(variants: Sequence[PostProcessing | None]) -> None:
    """Refuse to post-process events that are kept as they are."""
    processed = [repr(variant) for variant in variants if variant is not None and variant.changes_scores]
    if processed:
        raise SedscopeError(
            f"Scored events that are kept as they are cannot be post-processed by {listing(processed)}: that "
            f"needs scores of frames. {FRAMES_ADVICE}"
        )


def whole_clips(alignment: Alignment, threads: int, progress: Progress | None) -> Iterator[CheckedBatch]:
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


def _clip_batch(alignment: Alignment, clips: ClipsRead, durations: Ticks, threads: int) -> ClipBatch:
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


def _event_batch(
    alignment: Alignment, first: int, events: EventList, durations: Ticks
) -> tuple[EventBatch, str | None]:
    """Return clips whose events are kept as they are, as the core reads them, and the first event of no
    length for messages.

    ``durations``: of these clips; 0 if the clip ends with its frames.
    """
    class_of = np.full(len(alignment.scores.classes), -1, np.int32)
    class_of[alignment.columns] = np.arange(len(alignment.classes), dtype=np.int32)
    chosen, places = events.in_columns(class_of).by_onset()
    columns = (chosen.times, chosen.columns, chosen.confidences, chosen.starts, places)
    detected = _native.DetectedEvents(*columns, len(alignment.classes))
    maxima, extents = chosen.maxima(len(alignment.classes)), events.extents()
    ends = np.where(durations == 0, extents[:, 2], durations)
    references = _references(alignment, first, ends, extents, maxima)
    batch = EventBatch(**vars(references), detected=detected, listed=chosen)
    return batch, _first_point(alignment, first, chosen)


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
        problems: ClipProblems,
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
        self._problems.add_failures([SedscopeError(f"clip {name}: {reason}")])

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
