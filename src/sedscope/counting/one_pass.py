"""The pass: every clip is read once, and the deltas of all requests are found in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ..alignment.alignment import Alignment
from ..criteria import Criterion
from ..criteria.clip_batch import ClipReferences, DeltaSearch, Recording
from ..criteria.delta_tables import DeltaTables, FalseAlarmRows
from ..data.arrays import FloatArray, ScoreArray, rounded_down
from ..data.choices import refuse_beyond_memory
from ..data.score_cache import ScoreDigests
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import SedscopeError, counted, listing
from ..postprocessing import PostProcessing
from ..postprocessing.postprocessing import ReadLimit
from ..progress import Progress
from .checked_clips import CheckedBatch, CheckedRecording, checked_clips
from .clip_problems import refuse_point_references
from .clip_reader import thread_count
from .deltas import Deltas
from .provenance import Provenance
from .request import DeltaRequest, Floor, Requests, read_limit, without_references

_ROWS_TO_MERGE = 4_000_000
_BYTES_OF_A_SEGMENT = 32  # for each class, while its deltas are found; 22 to 34 were measured
_ROWS_TO_EXPECT = 100_000_000  # after so many rows, those of all clips are estimated
_ADVICE = "evaluate fewer clips or classes at a time, or count classes in blocks with `memory=`."

PassPart: TypeAlias = tuple[PostProcessing | None, Deltas]
"""What a pass finds in some clips: deltas of one criterion, and the variant of the scores."""


def one_pass(
    alignment: Alignment,
    requests: Requests,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """Read all clips once, and find the deltas of every criterion and variant that is requested."""
    digests = ScoreDigests(alignment.scores, alignment.classes) if alignment.hashed else None
    if digests is not None:
        alignment = replace(alignment, scores=digests.scores)
    for criterion, request in requests.items():
        if request == DeltaRequest(None, request.any_label, request.variants):  # all rows are kept
            size = _bytes_of_a_row(len(alignment.classes))
            _refuse_many_segments(alignment, criterion, 0, alignment.durations, size)
    collectors = {
        criterion: {variant: _Collector(len(alignment.clips)) for variant in (None, *request.variants)}
        for criterion, request in requests.items()
    }
    for variant, part in pass_in_parts(alignment, requests, threads=threads, progress=progress):
        collectors[part.criterion][variant].add(part)
    digest = None if digests is None else digests.digest(alignment.clips)
    provenance = Provenance(None, alignment.scores.processing, digest)
    return {
        criterion: with_variants(
            {variant: part.finish(provenance, variant) for variant, part in by_variant.items()}
        )
        for criterion, by_variant in collectors.items()
    }


def deltas_of_batch(
    alignment: Alignment, requests: Requests, clips: CheckedBatch, threads: int | None
) -> dict[Criterion, Deltas]:
    """Find the deltas of clips that were read and checked before. The requests have no variants."""
    provenance = Provenance(None, alignment.scores.processing, None)
    workers = thread_count(threads)
    return {
        criterion: replace(
            _Finder(alignment, criterion, request, None).find(clips, workers), provenance=provenance
        )
        for criterion, request in requests.items()
    }


def pass_in_parts(
    alignment: Alignment,
    requests: Requests,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[PassPart]:
    """Read all clips once, and yield the deltas of some clips at a time, for each criterion and variant.

    The floors rise from part to part. Where the provenance of all clips is needed, the caller knows it.
    """
    workers = thread_count(threads)
    finders: _Finders = {
        criterion: {
            variant: _Finder(alignment, criterion, request, variant)
            for variant in (None, *request.variants)
        }
        for criterion, request in requests.items()
    }
    variants = dict.fromkeys(variant for by_variant in finders.values() for variant in by_variant)

    def limit_of(
        variant: PostProcessing, references: ClipReferences, durations: Ticks | None
    ) -> ReadLimit | None:
        floors = [parts[variant].floor for parts in finders.values() if variant in parts]
        return read_limit(alignment, floors, references, durations)

    lengths = [length for length in (criterion.segment_ticks for criterion in finders) if length]
    shortest = min(lengths, default=None)
    for clips in checked_clips(alignment, tuple(variants), workers, progress, limit_of, shortest):
        if isinstance(clips, CheckedRecording):
            yield from _read_recording(clips, finders, workers)
            continue
        for by_variant in finders.values():
            if clips.variant in by_variant:
                yield clips.variant, by_variant[clips.variant].find(clips, workers)
        del clips  # before the next ones are read


def largest_false_alarms(
    alignment: Alignment, variant: PostProcessing | None, threads: int
) -> FloatArray | None:
    """Return the largest scores of clips without references of the class, as (clips × classes).

    Clips with references of the class, ignored or not, have ``-inf``; clips that arrive in pieces are
    left out. The result is None if the data has a problem: the pass over all clips reports it.
    """
    try:
        maxima = [
            without_references(clips.batch.maxima, *clips.batch.with_any_event())
            for clips in checked_clips(alignment, (variant,), threads, None)
            if not isinstance(clips, CheckedRecording)
        ]
    except SedscopeError:
        return None
    return np.concatenate([np.empty((0, len(alignment.classes))), *maxima])


def with_variants(deltas: Mapping[PostProcessing | None, Deltas]) -> Deltas:
    """Return the deltas of the scores as they are, holding those of their variants."""
    variants = {variant: part for variant, part in deltas.items() if variant is not None}
    return replace(deltas[None], variants=variants)


class _Collector:
    """Collects the deltas of one criterion and variant, part by part.

    It merges them now and then, so that rows below the rising floor are freed.
    """

    def __init__(self, clips: int) -> None:
        """``clips``: how many there are."""
        self.parts: list[Deltas] = []
        self.rows, self.clips, self.of_all = 0, 0, clips
        self.rows_to_merge = _ROWS_TO_MERGE

    def add(self, part: Deltas) -> None:
        """Add the deltas of the next clips."""
        self.parts.append(part)
        self.rows += part.tables.rows()
        self.clips += len(part.clips)
        rising = bool(np.isfinite(part.floors).any())
        if self.rows > _ROWS_TO_EXPECT and not rising:
            expected = self.rows * (self.of_all / self.clips)
            refuse_beyond_memory(
                expected * _bytes_of_a_row(len(part.classes)),
                f"{part.criterion} found {self.rows} changes of counts in "
                f"{counted(self.clips, 'clip')}, so {counted(self.of_all, 'clip')} will need about",
                f"To save memory, {_ADVICE}",
            )
        if self.rows > self.rows_to_merge and rising:
            self.rows = self.merge().tables.rows()
            self.rows_to_merge = max(self.rows_to_merge, 2 * self.rows)

    def merge(self) -> Deltas:
        """Return the deltas of all clips so far."""
        first, *others = self.parts
        self.parts = [first.merge(*others)]
        return self.parts[0]

    def finish(self, provenance: Provenance, variant: PostProcessing | None) -> Deltas:
        """Return the deltas of all clips. ``provenance``: of the scores as they are."""
        if variant is not None:
            provenance = provenance.processed(variant.identity() or repr(variant))
        return replace(self.merge(), provenance=provenance)


class _Finder:
    """Finds the deltas of one criterion and variant, some clips at a time."""

    def __init__(
        self,
        alignment: Alignment,
        criterion: Criterion,
        request: DeltaRequest,
        variant: PostProcessing | None,
    ) -> None:
        _check_overlaps(alignment, criterion, request)
        refuse_point_references(alignment, criterion)
        self.alignment = alignment
        self.criterion = criterion
        self.any_label = request.any_label
        self.floor = Floor(request.false_positive_limit, len(alignment.classes))
        self.requested_floors = request.floors_of(variant, len(alignment.classes))
        self.raises_floors = request.false_positive_limit is not None or variant in request.classes
        """Whether floors rise, or are verified later."""

    def find(self, clips: CheckedBatch, threads: int) -> Deltas:
        """Find the deltas of some clips."""
        self.refuse_many_segments(clips.first, clips.batch.durations)
        clips.refuse_points(self.criterion)
        certain = FalseAlarmRows.none()
        if self.raises_floors and clips.durations is not None:
            certain = self.criterion.certain_false_alarms(clips.batch, threads)
        floors = self.raise_floors(clips.batch, clips.batch.maxima, certain, clips.durations, threads)
        search = DeltaSearch(floors, threads, self.any_label)
        tables = self.criterion.find_deltas(clips.batch, search)
        tables = replace(tables, certain=certain.above(floors))
        return self.deltas(tables, clips.batch, clips.first, floors)

    def refuse_many_segments(self, first: int, durations: Ticks) -> None:
        """Refuse clips, from number ``first`` on, if there is no room to look at their segments."""
        size = _BYTES_OF_A_SEGMENT
        _refuse_many_segments(self.alignment, self.criterion, first, durations, size)

    def raise_floors(
        self,
        references: ClipReferences,
        maxima: ScoreArray,
        certain: FalseAlarmRows,
        durations: Ticks | None,
        threads: int = 1,
    ) -> ScoreArray:
        """Return the floors after some more clips with these largest scores and certain false positives.

        ``durations``: of all clips; None if they are not known yet.
        """
        false_alarms = without_references(maxima, *references.with_any_event())
        false_alarms[certain.clips, certain.labels] = certain.scores
        floors = self.floor.raise_to(false_alarms, maxima.dtype, durations, threads)
        return np.maximum(floors, rounded_down(self.requested_floors, maxima.dtype))

    def deltas(
        self, tables: DeltaTables, references: ClipReferences, first: int, floors: ScoreArray
    ) -> Deltas:
        """Return the deltas of the clips from number ``first`` on."""
        return Deltas(
            criterion=self.criterion,
            classes=self.alignment.classes,
            clips=self.alignment.clips[first : first + len(references.durations)],
            durations=references.durations,
            floors=floors,
            tables=tables,
            extents=references.extents,
        )


def _refuse_many_segments(
    alignment: Alignment, criterion: Criterion, first: int, durations: Ticks, bytes_per_class: float
) -> None:
    """Refuse clips, from number ``first`` on, whose segments need too much memory."""
    if criterion.segment_ticks is None or not len(durations):
        return
    segments, classes = int((-(-durations // criterion.segment_ticks)).sum()), len(alignment.classes)
    longest = int(durations.argmax())
    clips = f"clip {alignment.clips[first + longest]} ({durations[longest] / TICKS_PER_SECOND:.10g} s)"
    if len(durations) > 1:
        clips = f"{counted(len(durations), 'clip')}, of which {clips} is the longest,"
    limited = alignment.memory_limit < math.inf
    refuse_beyond_memory(
        segments * classes * bytes_per_class,
        f"{criterion} cuts {clips} into {segments} segments, which for {counted(classes, 'class')} need",
        "Check the durations, use longer segments, "
        + ("evaluate fewer classes at a time, or raise the limit." if limited else _ADVICE),
        alignment.memory_limit,
    )


def _bytes_of_a_row(classes: int) -> float:
    """Return how many bytes a row of deltas needs: it is held twice while parts are merged, and then the
    counts of one class at a time are held, too."""
    return 2 * 6 + 24 / max(1, classes)


def _check_overlaps(alignment: Alignment, criterion: Criterion, request: DeltaRequest) -> None:
    """Refuse overlapping references that are kept as they are, where they have no meaning."""
    if not alignment.has_overlapping_references():
        return
    if not criterion.judges_overlapping_references:
        problem = f"{criterion} needs references that do not"
    elif criterion.counts_cross_triggers:
        problem = f"{criterion} counts cross-triggers"
    elif request.any_label:
        problem = f"substitutions are counted by {criterion}"
    else:
        return
    raise SedscopeError(
        f"Some references of one class overlap, but {problem}. Merge them with `overlaps='merge'`."
    )


_Finders: TypeAlias = Mapping[Criterion, Mapping[PostProcessing | None, _Finder]]


def _read_recording(recording: CheckedRecording, finders: _Finders, threads: int) -> Iterator[PassPart]:
    """Find the deltas of a clip that arrives in pieces, piece by piece."""
    needing = _needing_whole_clips(finders)
    if needing:
        recording.refuse(
            f"it arrives in pieces, but whole clips are needed for {listing(needing)}. Give it as one array."
        )
        return
    opened: list[_RecordingFinder] = []
    for piece in recording.pieces():
        if not opened:
            opened = _open(recording, piece.dtype, finders, threads)
        for finder in opened:
            finder.open_deltas.feed(piece)
        del piece  # before the next one is read
    if recording.has_problems:
        return
    for finder in opened or _open(recording, recording.maxima.dtype, finders, threads):
        yield None, finder.finish()


def _open(
    recording: CheckedRecording, dtype: np.dtype[np.floating], finders: _Finders, threads: int
) -> list[_RecordingFinder]:
    references = recording.as_recording(dtype)
    return [
        _RecordingFinder(by_variant[None], recording, references, threads)
        for by_variant in finders.values()
    ]


class _RecordingFinder:
    """Finds the deltas of one criterion for a clip that arrives in pieces."""

    def __init__(
        self, finder: _Finder, recording: CheckedRecording, references: Recording, threads: int
    ) -> None:
        self.finder, self.recording, self.references = finder, recording, references
        finder.refuse_many_segments(recording.number, references.durations)
        self.floors = finder.raise_floors(
            references, references.maxima, FalseAlarmRows.none(), recording.durations
        )
        search = DeltaSearch(self.floors, threads, finder.any_label)
        self.open_deltas = finder.criterion.open_deltas(references, search)

    def finish(self) -> Deltas:
        """Return the deltas. Only now are the largest scores known, and raise the floors."""
        tables = self.open_deltas.finish()
        maxima, durations = self.recording.maxima, self.recording.durations
        floors = self.finder.raise_floors(self.references, maxima, FalseAlarmRows.none(), durations)
        if not np.array_equal(floors, self.floors):
            tables = tables.above(floors)
        return self.finder.deltas(tables, self.references, self.recording.number, floors)


def _needing_whole_clips(finders: _Finders) -> list[str]:
    needing: list[Criterion | PostProcessing] = []
    for criterion, by_variant in finders.items():
        needing += [] if criterion.reads_pieces else [criterion]
        needing += [variant for variant in by_variant if variant is not None]
    return [repr(part) for part in dict.fromkeys(needing)]
