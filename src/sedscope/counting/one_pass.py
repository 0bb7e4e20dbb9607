"""The deltas of all clips: found batch by batch, or piece by piece, and put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..criteria.criterion import ClipTruth, Criterion, PiecewiseCriterion, Recording
from ..criteria.delta_tables import DeltaTables
from ..data.alignment import Alignment
from ..data.scores import ScoreArray
from ..data.times import Ticks
from ..errors import SedscopeError, listing
from ..postprocessing import PostProcessing
from .checked_clips import CheckedBatch, CheckedPieces, Progress, checked_batches
from .deltas import Deltas
from .floors import Floor, rounded_down, without_references
from .threads import thread_count

_ROWS_TO_MERGE = 4_000_000


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
    classes: Mapping[PostProcessing | None, NDArray[np.bool_]] = field(default_factory=dict)
    """Which classes are wanted, of the scores and of variants; all unless given."""

    def lowest(self, variant: PostProcessing | None, classes: int) -> NDArray[np.float64]:
        """Per class the score at or below which nothing is wanted, ``inf`` if nothing is at all."""
        floors = self.floors.get(variant, np.full(classes, -np.inf))
        return np.where(self.classes.get(variant, np.ones(classes, bool)), floors, np.inf)


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
        criterion: {
            variant: _Gathered(alignment, criterion, want, variant) for variant in (None, *want.variants)
        }
        for criterion, want in wanted.items()
    }
    variants = tuple(dict.fromkeys(variant for parts in gathered.values() for variant in parts))
    for found in checked_batches(alignment, variants, workers, progress):
        if isinstance(found, CheckedPieces):
            _follow(found, gathered, workers)
            continue
        for parts in gathered.values():
            if found.variant in parts:
                parts[found.variant].add(found, workers)
    return {
        criterion: with_variants({variant: (part.merged(), None) for variant, part in parts.items()})
        for criterion, parts in gathered.items()
    }


def largest_false_alarms(
    alignment: Alignment, variant: PostProcessing | None, threads: int
) -> NDArray[np.float64] | None:
    """(clips × classes) the largest scores of clips without references of the class, ``-inf`` for the
    others, without clips that come in pieces; None if something is not right, which is said where all
    clips are gone through."""
    try:
        found = [
            without_references(part.batch.maxima, part.batch.event_clips, part.batch.labels)
            for part in checked_batches(alignment, (variant,), threads, None)
            if isinstance(part, CheckedBatch)
        ]
    except SedscopeError:
        return None
    return np.concatenate([np.empty((0, len(alignment.classes))), *found])


def with_variants(
    parts: Mapping[PostProcessing | None, tuple[Deltas, object]],
) -> Deltas:
    variants = {variant: found for variant, (found, _) in parts.items() if variant is not None}
    return replace(parts[None][0], variants=variants)


class _Gathered:
    """Deltas batch by batch; merged now and then, so that what the rising floor prunes is let go."""

    def __init__(
        self,
        alignment: Alignment,
        criterion: Criterion,
        wanted: Wanted,
        variant: PostProcessing | None,
    ) -> None:
        self.alignment = alignment
        self.criterion = criterion
        self.any_label = wanted.any_label
        self.floor = Floor(wanted.false_positive_limit, len(alignment.classes))
        self.wanted_floors = wanted.lowest(variant, len(alignment.classes))
        self.parts: list[Deltas] = []
        self.rows = 0
        self.rows_to_merge = _ROWS_TO_MERGE

    def add(self, found: CheckedBatch, threads: int) -> None:
        """Find the deltas of more clips."""
        floors = self.raise_floors(found.batch, found.batch.maxima, found.durations)
        tables = self.criterion.find_deltas(found.batch, floors, threads, any_label=self.any_label)
        self.take(tables, found.batch, found.first, floors)

    def raise_floors(self, truth: ClipTruth, maxima: ScoreArray, durations: Ticks | None) -> ScoreArray:
        """The floors, given the largest scores of some more clips; ``durations``: of all clips, None if
        they are not known yet."""
        risen = self.floor.raise_to(maxima, truth.event_clips, truth.labels, durations)
        return np.maximum(risen, rounded_down(self.wanted_floors, maxima.dtype))

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


def _follow(found: CheckedPieces, gathered: _GatheredAll, threads: int) -> None:
    """Find the deltas of a clip that comes in pieces while they come."""
    opened: list[_Opened] = []

    def open_all(dtype: np.dtype[Any]) -> None:
        recording = found.recording(dtype)
        for parts in gathered.values():
            opened.append(_Opened(parts[None], recording, found.number, found.durations, threads))

    def feed(piece: ScoreArray) -> None:
        if not opened:
            open_all(piece.dtype)
        for deltas in opened:
            deltas.feed(piece)

    needing = _needing_whole_clips(gathered)
    if needing:
        found.refuse(
            f"it comes in pieces, but whole clips are needed for {needing}: give it as one array"
        )
    elif found.through(feed):
        if not opened:
            open_all(found.maxima.dtype)
        for deltas in opened:
            deltas.finish(found.maxima)


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


def _needing_whole_clips(gathered: _GatheredAll) -> str:
    needing: list[Criterion | PostProcessing] = []
    for criterion, parts in gathered.items():
        needing += [] if isinstance(criterion, PiecewiseCriterion) else [criterion]
        needing += [variant for variant in parts if variant is not None]
    return listing([repr(one) for one in dict.fromkeys(needing)])
