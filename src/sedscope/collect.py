"""From scores and ground truth to deltas: clip by clip, each clip being read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from . import _native
from .alignment import Alignment, ClipChoice, Missing, align
from .clip_deltas import Deltas
from .criteria import ClipBatch, ClipTruth, Criterion, PiecewiseCriterion, Recording
from .errors import SedscopeError, counted, listing, raise_together
from .floor import Floor
from .ground_truth import GroundTruth
from .loading import MANY_FAILURES, LoadedClips, LoadedPieces, load, read
from .postprocessing import PostProcessing
from .rows import DeltaTables
from .scores import ClipScores, ScoreArray, Scores
from .threads import thread_count
from .times import Ticks

_ROWS_TO_MERGE = 4_000_000
_NAMED = 5  # places of a kind of problem

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of clips done and of all clips, each counted once for every variant."""


@dataclass(frozen=True)
class Wanted:
    """What metrics want to know of a criterion."""

    false_positive_limit: float | None = None
    """False positives per second beyond which nobody looks; None if every threshold is wanted."""
    any_label: bool = False
    """Whether pairs regardless of label are to be counted."""
    variants: tuple[PostProcessing, ...] = ()
    """Post-processings of the scores that are to be counted beside the scores as they are."""


def deltas(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    postprocessing: Iterable[PostProcessing] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Deltas:
    """How the counts of ``criterion`` change at every threshold.

    ``postprocessing``: variants of the scores that are to be counted, too; see ``variants``.

    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from sedscope import Intersection
    >>> deltas(scores, truth, Intersection(0.7, 0.7)).counts()["Dog"].tp.tolist()
    [1, 0]
    """
    if not hasattr(criterion, "find_deltas"):
        raise SedscopeError(f"not a criterion: {criterion!r}")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    wanted = Wanted(variants=tuple(dict.fromkeys(postprocessing)))
    return collect(alignment, {criterion: wanted}, threads=threads, progress=progress)[criterion]


def collect(
    alignment: Alignment,
    wanted: Mapping[Criterion, Wanted],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """The deltas of several criteria."""
    workers = thread_count(threads)
    durations = alignment.durations.copy()
    gathered = {
        criterion: {variant: _Gathered(alignment, criterion, want) for variant in (None, *want.variants)}
        for criterion, want in wanted.items()
    }
    variants = tuple(dict.fromkeys(variant for parts in gathered.values() for variant in parts))
    problems = _Problems(alignment)
    items = len(alignment.clips) * len(variants)
    if progress:
        progress(0, items)
    for loaded in load(alignment.scores, alignment.clips, workers):
        if isinstance(loaded, LoadedPieces):
            of_clip = slice(loaded.number, loaded.number + 1)
            durations[of_clip] = durations[of_clip] or loaded.clip.ticks[-1]
            known = None if (durations == 0).any() else durations
            follow = _Following(alignment, loaded, durations[of_clip], known, problems, workers)
            follow.through(gathered)
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
            processed = loaded if variant is None else _process(variant, alignment, loaded, workers)
            problems.failures += processed.failures
            if processed.failures:
                break
            batch = _batch(alignment, processed, durations[first:last], workers)
            problems.look_at(first, batch)
            for i in np.flatnonzero(np.isnan(batch.maxima).any(axis=1)).tolist():
                problems.look_for_nans(first + i, processed.scores[i].values, batch.maxima[i])
            if problems:
                break
            for parts in gathered.values():
                if variant in parts:
                    parts[variant].add(batch, first, known, workers)
            if progress:
                progress(first * len(variants) + (last - first) * done, items)
    problems.raise_all()
    return {criterion: _with_variants(parts) for criterion, parts in gathered.items()}


def _process(
    variant: PostProcessing, alignment: Alignment, loaded: LoadedClips, threads: int
) -> LoadedClips:
    """The same clips, post-processed."""
    names = alignment.clips[loaded.first : loaded.first + len(loaded.scores)]
    clips = dict(zip(names, loaded.scores, strict=True))
    classes = alignment.scores.classes
    scores = Scores(clips, clips.__getitem__, classes=classes, in_memory=True, thread_safe=True)
    processed = list(read(variant(scores), names, threads))
    failures = [clip for clip in processed if isinstance(clip, SedscopeError)]
    done = [clip for clip in processed if isinstance(clip, ClipScores)]
    return LoadedClips(loaded.first, [] if failures else done, failures)


def _with_variants(parts: Mapping[PostProcessing | None, _Gathered]) -> Deltas:
    merged = {variant: gathered.merged() for variant, gathered in parts.items()}
    as_they_are = merged.pop(None)
    return replace(
        as_they_are, variants={key: found for key, found in merged.items() if key is not None}
    )


class _Gathered:
    """Deltas batch by batch; merged now and then, so that what the rising floor prunes is let go."""

    def __init__(self, alignment: Alignment, criterion: Criterion, wanted: Wanted) -> None:
        self.alignment = alignment
        self.criterion = criterion
        self.any_label = wanted.any_label
        self.floor = Floor(wanted.false_positive_limit, len(alignment.classes))
        self.parts: list[Deltas] = []
        self.rows = 0
        self.rows_to_merge = _ROWS_TO_MERGE

    def add(self, batch: ClipBatch, first: int, durations: Ticks | None, threads: int) -> None:
        """Find the deltas of more clips, from number ``first`` on; ``durations``: of all clips, None if
        they are not known yet."""
        floors = self.raise_floors(batch, batch.maxima, durations)
        tables = self.criterion.find_deltas(batch, floors, threads, any_label=self.any_label)
        self.take(tables, batch, first, floors)

    def raise_floors(self, truth: ClipTruth, maxima: ScoreArray, durations: Ticks | None) -> ScoreArray:
        """The floors, given the largest scores of some more clips."""
        return self.floor.raise_to(maxima, truth.event_clips, truth.labels, durations)

    def take(self, tables: DeltaTables, truth: ClipTruth, first: int, floors: ScoreArray) -> None:
        """Take in the deltas of more clips, from number ``first`` on."""
        self.parts.append(
            Deltas(
                criterion=self.criterion,
                classes=self.alignment.classes,
                clips=self.alignment.clips[first : first + len(truth.durations)],
                durations=truth.durations,
                floors=floors,
                tables=tables,
            )
        )
        self.rows += tables.rows()
        if self.rows > self.rows_to_merge and np.isfinite(floors).any():
            self.rows = self.merged().tables.rows()
            self.rows_to_merge = max(self.rows_to_merge, 2 * self.rows)

    def merged(self) -> Deltas:
        """The deltas of all clips so far."""
        first, *rest = self.parts
        self.parts = [first.merge(*rest)]
        return self.parts[0]


_GatheredAll: TypeAlias = Mapping[Criterion, Mapping[PostProcessing | None, _Gathered]]


class _Following:
    """Finds the deltas of a clip that comes in pieces while they come."""

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

    def through(self, gathered: _GatheredAll) -> None:
        """Read all pieces; after a problem, only further ones are looked for."""
        opened: list[_Opened] = []
        try:
            _refuse_what_needs_whole_clips(gathered)
            for frame, piece in self._pieces():
                maxima = self._look_at(frame, piece)
                if not self.problems:
                    opened = opened or self._open(gathered, maxima.dtype)
                    for deltas in opened:
                        deltas.feed(piece)
                del piece  # before the next one comes
        except SedscopeError as error:
            name = self.alignment.clips[self.number]
            self.problems.failures.append(SedscopeError(f"clip {name}: {error}"))
        if not self.problems:
            for deltas in opened or self._open(gathered, self.maxima.dtype):
                deltas.finish(self.maxima)

    def _pieces(self) -> Iterator[tuple[int, ScoreArray]]:
        """The pieces with their first frame."""
        frame = 0
        for piece in self.clip.pieces(len(self.alignment.scores.classes)):
            frame, first = frame + len(piece), frame
            yield first, piece
            del piece

    def _look_at(self, frame: int, piece: ScoreArray) -> ScoreArray:
        """The largest scores of a piece."""
        ticks = self.clip.ticks[frame : frame + len(piece) + 1]
        maxima = _native.Clips([piece], [ticks], self.alignment.columns).maxima(self.threads)
        self.problems.look_for_nans(self.number, piece, maxima[0], frame)
        self.maxima = np.maximum(self.maxima, maxima)
        return maxima

    def _open(self, gathered: _GatheredAll, dtype: np.dtype[Any]) -> list[_Opened]:
        clip = _native.Recording(self.clip.ticks, self.alignment.columns, dtype == np.float64)
        known = {**vars(self.truth), "maxima": self.truth.maxima.astype(dtype)}
        recording = Recording(**known, clip=clip)
        return [
            _Opened(parts[None], recording, self.number, self.durations, self.threads)
            for parts in gathered.values()
        ]


class _Opened:
    """The deltas of one criterion for a clip that comes in pieces."""

    def __init__(
        self,
        gathered: _Gathered,
        recording: Recording,
        number: int,
        durations: Ticks | None,
        threads: int,
    ) -> None:
        assert isinstance(gathered.criterion, PiecewiseCriterion)
        self.gathered, self.recording, self.number = gathered, recording, number
        self.durations = durations
        self.floors = gathered.raise_floors(recording, recording.maxima, durations)
        self.deltas = gathered.criterion.open_deltas(
            recording, self.floors, threads, any_label=gathered.any_label
        )

    def feed(self, piece: ScoreArray) -> None:
        """The next frames."""
        self.deltas.feed(piece)

    def finish(self, maxima: ScoreArray) -> None:
        """Hand over what was found; ``maxima``: the largest scores, which raise the floors only now."""
        tables = self.deltas.finish()
        floors = self.gathered.raise_floors(self.recording, maxima, self.durations)
        if not np.array_equal(floors, self.floors):
            tables = tables.above(floors)
        self.gathered.take(tables, self.recording, self.number, floors)


def _refuse_what_needs_whole_clips(
    gathered: _GatheredAll,
) -> None:
    needing: list[Criterion | PostProcessing] = []
    for criterion, parts in gathered.items():
        needing += [] if isinstance(criterion, PiecewiseCriterion) else [criterion]
        needing += [variant for variant in parts if variant is not None]
    if needing:
        named = listing([repr(one) for one in dict.fromkeys(needing)])
        raise SedscopeError(
            f"it comes in pieces, but whole clips are needed for {named}: give it as one array"
        )


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


def _batch(alignment: Alignment, loaded: LoadedClips, durations: Ticks, threads: int) -> ClipBatch:
    """Some clips and their references."""
    values: list[Any] = [clip.values for clip in loaded.scores]
    if len({array.dtype for array in values}) > 1:  # float64 holds every float32
        values = [array.astype(np.float64, copy=False) for array in values]
    clips = _native.Clips(values, [clip.ticks for clip in loaded.scores], alignment.columns)
    truth = _truth(alignment, loaded.first, durations, clips.maxima(threads))
    return ClipBatch(**vars(truth), clips=clips)


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
