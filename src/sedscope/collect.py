"""From scores and ground truth to deltas: clip by clip, each clip being read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._native import Clips
from .alignment import Alignment, ClipChoice, Missing, align
from .clip_deltas import Deltas, combine
from .criteria import ClipBatch, Criterion
from .errors import SedscopeError, counted, listing, raise_together
from .floor import Floor, rounded_down, without_references
from .ground_truth import GroundTruth
from .loading import MANY_FAILURES, LoadedClips, load, read
from .postprocessing import PostProcessing
from .scores import ClipScores, ScoreArray, Scores
from .threads import thread_count
from .times import Ticks

_ROWS_TO_MERGE = 4_000_000
_SAMPLE = 512  # clips from which floors are guessed ...
_BYTES_IN_VAIN = 2**27  # ... where more scores than this would be looked at before the floors rise

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
    floors: Mapping[PostProcessing | None, NDArray[np.float64]] = field(default_factory=dict)
    """Per class the score at or below which nothing is wanted, of the scores and of variants."""


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
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """The deltas of several criteria.

    ``engine``: how clips are gone through, :func:`collect_once` unless given. Where much would be found
    in vain, floors are guessed from some clips first. Whether a guess holds is known at the end; for
    classes for which it does not, clips are gone through again.
    """
    go = engine or collect_once
    guessed = _with_guesses(alignment, wanted, thread_count(threads), often=engine is not None)
    found = go(alignment, guessed, threads=threads, progress=progress)
    settled = {criterion: _settle(found[criterion], guessed[criterion]) for criterion in wanted}
    again = {
        criterion: replace(
            guessed[criterion],
            false_positive_limit=None,
            floors={variant: np.where(short, -np.inf, np.inf) for variant, (_, short) in parts.items()},
        )
        for criterion, parts in settled.items()
        if any(short.any() for _, short in parts.values())
    }
    if again:
        repeated = go(alignment, again, threads=threads, progress=progress)
        for criterion, want in again.items():
            limited = replace(want, false_positive_limit=wanted[criterion].false_positive_limit)
            for variant, (complete, _) in _settle(repeated[criterion], limited).items():
                pruned, short = settled[criterion][variant]
                choice = np.repeat(short[:, None].astype(np.intp), len(complete.clips), axis=1)
                settled[criterion][variant] = (combine([pruned, complete], choice), short)
    return {criterion: _with_variants(parts) for criterion, parts in settled.items()}


class Engine(Protocol):
    """A way to go through all clips once."""

    def __call__(
        self,
        alignment: Alignment,
        wanted: Mapping[Criterion, Wanted],
        *,
        threads: int | None,
        progress: Progress | None,
    ) -> dict[Criterion, Deltas]:
        """The deltas above the wanted floors."""


def collect_once(
    alignment: Alignment,
    wanted: Mapping[Criterion, Wanted],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """Read all clips once, and find the deltas of every criterion and variant."""
    workers = thread_count(threads)
    gathered = {
        criterion: {variant: _Gathered(alignment, want, variant) for variant in (None, *want.variants)}
        for criterion, want in wanted.items()
    }
    variants = tuple(dict.fromkeys(variant for parts in gathered.values() for variant in parts))
    for found in checked_batches(alignment, variants, workers, progress):
        for criterion, parts in gathered.items():
            if found.variant in parts:
                parts[found.variant].add(criterion, found, workers)
    return {
        criterion: _with_variants({variant: (part.merged(), None) for variant, part in parts.items()})
        for criterion, parts in gathered.items()
    }


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
) -> Iterator[CheckedBatch]:
    """The clips in order, each read once, in each variant of their scores. What is wrong with any of
    them is raised at the end, all together; after the first problem only problems are looked for."""
    durations = alignment.durations.copy()
    problems = _Problems(alignment)
    items = len(alignment.clips) * len(variants)
    if progress:
        progress(0, items)
    for loaded in load(alignment.scores, alignment.clips, threads):
        problems.failures += loaded.failures
        if loaded.failures or (not loaded.scores and loaded.first > 0):
            continue
        first, last = loaded.first, loaded.first + len(loaded.scores)
        unknown = np.flatnonzero(durations[first:last] == 0)
        durations[first + unknown] = [loaded.scores[int(i)].ticks[-1] for i in unknown]
        known = None if (durations == 0).any() else durations
        for done, variant in enumerate(variants, 1):
            processed = loaded if variant is None else _process(variant, alignment, loaded, threads)
            problems.failures += processed.failures
            if processed.failures:
                break
            batch = _batch(alignment, processed, durations[first:last], threads)
            problems.look_at(processed, batch)
            if problems:
                break
            yield CheckedBatch(first, variant, batch, known)
            if progress:
                progress(first * len(variants) + (last - first) * done, items)
    problems.raise_all()


def _with_guesses(
    alignment: Alignment, wanted: Mapping[Criterion, Wanted], workers: int, *, often: bool
) -> dict[Criterion, Wanted]:
    """Where much would be found in vain before the floors rise, begin with a guess from some clips;
    ``often``: also where it is not that much."""
    limited = {
        criterion: Floor(want.false_positive_limit, len(alignment.classes))
        for criterion, want in wanted.items()
        if want.false_positive_limit is not None
    }
    clips, durations = alignment.clips, alignment.durations
    whole = alignment.scores.in_memory and not often
    if not limited or whole or len(clips) < 2 * _SAMPLE or (durations == 0).any():
        return {**wanted}
    size = alignment.scores[clips[len(clips) // 2]].values.nbytes
    in_vain = max(floor.needed(durations) for floor in limited.values()) * size
    if in_vain < _BYTES_IN_VAIN and not often:
        return {**wanted}
    sample = alignment.choose(np.linspace(0, len(clips) - 1, _SAMPLE).astype(np.intp))
    guessed = {**wanted}
    variants = {variant for criterion in limited for variant in (None, *wanted[criterion].variants)}
    maxima = {variant: _maxima(sample, variant, workers) for variant in variants}
    for criterion, floor in limited.items():
        floors = {
            variant: floor.guess(found, len(clips), durations)
            for variant in (None, *wanted[criterion].variants)
            if (found := maxima[variant]) is not None
        }
        guessed[criterion] = replace(wanted[criterion], floors=floors)
    return guessed


def _maxima(
    alignment: Alignment, variant: PostProcessing | None, workers: int
) -> NDArray[np.float64] | None:
    """(clips × classes) the largest scores of clips without references; None if a score is not right,
    which is said where all clips are read."""
    found = []
    for loaded in load(alignment.scores, alignment.clips, workers):
        processed = loaded if variant is None else _process(variant, alignment, loaded, workers)
        if processed.failures:
            return None
        durations = alignment.durations[loaded.first : loaded.first + len(loaded.scores)]
        batch = _batch(alignment, processed, durations, workers)
        found.append(without_references(batch.maxima, batch.event_clips, batch.labels))
    maxima = np.concatenate(found)
    return None if np.isnan(maxima).any() else maxima


_Settled: TypeAlias = "dict[PostProcessing | None, tuple[Deltas, NDArray[np.bool_]]]"


def _settle(deltas: Deltas, want: Wanted) -> _Settled:
    """The deltas above the floors that surely hold, and the classes whose guessed floor was too high."""
    settled: _Settled = {}
    for variant, found in ((None, deltas), *deltas.variants.items()):
        guess = want.floors.get(variant, np.full(len(found.classes), -np.inf))
        guess = np.where(np.isposinf(guess), -np.inf, guess)  # nothing was wanted of the class
        short = np.zeros(len(found.classes), bool)
        if want.false_positive_limit is not None and (found.durations > 0).all():
            floor = Floor(want.false_positive_limit, len(found.classes))
            holds, lowest = floor.of(found.largest_without_references(), found.durations)
            risen = found.floors.astype(np.float64) > guess
            short = ~(holds | risen | np.isneginf(guess))
            if (lowest > found.floors).any():
                found = found.above(rounded_down(lowest, found.floors.dtype))
        settled[variant] = (replace(found, variants={}), short)
    return settled


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


def _with_variants(
    parts: Mapping[PostProcessing | None, tuple[Deltas, object]],
) -> Deltas:
    variants = {variant: found for variant, (found, _) in parts.items() if variant is not None}
    return replace(parts[None][0], variants=variants)


class _Gathered:
    """Deltas batch by batch; merged now and then, so that what the rising floor prunes is let go."""

    def __init__(self, alignment: Alignment, wanted: Wanted, variant: PostProcessing | None) -> None:
        self.alignment = alignment
        self.any_label = wanted.any_label
        self.floor = Floor(wanted.false_positive_limit, len(alignment.classes))
        nothing = np.full(len(alignment.classes), -np.inf)
        self.wanted_floors: NDArray[np.float64] = wanted.floors.get(variant, nothing)
        self.parts: list[Deltas] = []
        self.rows = 0
        self.rows_to_merge = _ROWS_TO_MERGE

    def add(self, criterion: Criterion, found: CheckedBatch, threads: int) -> None:
        """Take in the deltas of more clips."""
        batch, first = found.batch, found.first
        risen = self.floor.raise_to(batch.maxima, batch.event_clips, batch.labels, found.durations)
        floors = np.maximum(risen, rounded_down(self.wanted_floors, batch.maxima.dtype))
        tables = criterion.find_deltas(batch, floors, threads, any_label=self.any_label)
        self.parts.append(
            Deltas(
                criterion=criterion,
                classes=self.alignment.classes,
                clips=self.alignment.clips[first : first + len(batch.durations)],
                durations=batch.durations,
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


def _batch(alignment: Alignment, loaded: LoadedClips, durations: Ticks, threads: int) -> ClipBatch:
    """Some clips and their references; events that begin after the end of their clip are left out."""
    starts = alignment.starts[loaded.first : loaded.first + len(loaded.scores) + 1]
    events = alignment.events[starts[0] : starts[-1]]
    labels = alignment.labels[starts[0] : starts[-1]]
    event_clips = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    late = events[:, 0] >= durations[event_clips]
    values: list[Any] = [clip.values for clip in loaded.scores]
    if len({array.dtype for array in values}) > 1:  # float64 holds every float32
        values = [array.astype(np.float64, copy=False) for array in values]
    clips = Clips(values, [clip.ticks for clip in loaded.scores], alignment.columns)
    in_time = np.concatenate([[0], np.cumsum(~late)])
    return ClipBatch(
        clips=clips,
        durations=durations,
        events=events[~late],
        labels=labels[~late],
        event_clips=event_clips[~late],
        starts=in_time[starts - starts[0]],
        maxima=clips.maxima(threads),
        late=np.flatnonzero(late),
    )


@dataclass
class _Problems:
    """What is wrong with the scores, gathered over all clips."""

    alignment: Alignment
    failures: list[SedscopeError] = field(default_factory=list)
    """Clips that cannot be read."""
    nans: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.failures or self.nans or self.early or self.late)

    def look_at(self, loaded: LoadedClips, batch: ClipBatch) -> None:
        """Take note of what is wrong with some clips."""
        clips = self.alignment.clips[loaded.first : loaded.first + len(loaded.scores)]
        self.nans += self._nan_scores(clips, loaded.scores, batch.maxima)
        self.early += [clips[i] for i in np.flatnonzero(batch.durations < 0)]
        if self.alignment.invalid == "error":
            first_event = self.alignment.starts[loaded.first]
            for event in first_event + batch.late:
                clip = int(np.searchsorted(self.alignment.starts, event, side="right")) - 1
                label = self.alignment.classes[self.alignment.labels[event]]
                self.late.append(f"clip {self.alignment.clips[clip]}, {label}")

    def raise_all(self) -> None:
        """Raise one error for all of it, if there is any."""
        errors = []
        if self.nans:
            said = f"{counted(len(self.nans), 'score')} not a number (NaN): {listing(self.nans)}"
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

    def _nan_scores(
        self, clips: Sequence[str], scores: Sequence[ClipScores], maxima: ScoreArray
    ) -> list[str]:
        places = []
        for i, c in np.argwhere(np.isnan(maxima)):
            column = scores[i].values[:, self.alignment.columns[c]]
            places += [
                f"clip {clips[i]}, class {self.alignment.classes[c]}, frame {frame}"
                for frame in np.flatnonzero(np.isnan(column))
            ]
        return places
