"""Evaluation on a cluster: blocks of classes are merged, counted and measured where their deltas lie.

Only curves, thresholds, and the counts that the metrics read come back. So the memory of this process depends
on the number of clips, reference events and classes, but not on that of the scores; that of a worker depends
on its part of the clips and on one block of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import Deltas, in_clip_order
from ..counting.one_pass import with_variants
from ..counting.request import DeltaRequest, Requests
from ..criteria import Criterion
from ..criteria.delta_tables import DeltaRows, DeltaTables, ReferenceRows
from ..data.times import TICKS_PER_SECOND
from ..engines.cluster import ClusterEngine
from ..engines.engine import Engine
from ..engines.floor_search import verify, with_estimated_floors
from ..engines.run import Run
from ..engines.states import Block, StatePlan
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..progress import StagedProgress
from .class_blocks import DeltasNotKept, counts_by_class, estimate_memory, join_classes, needed_rows
from .counted_clips import CountedClips
from .notes import detected_classes, score_notes, score_ranges

_CLASS_HOURS = 1000  # of sets whose deltas come back together
_CLIP_CLASSES = 100_000
_CLASSES_OF_A_BLOCK = 8


def is_large(alignment: Alignment) -> bool:
    """Return whether the deltas of a set are too many to come back together."""
    classes = len(alignment.classes)
    hours = int(alignment.durations.sum()) / TICKS_PER_SECOND / 3600
    return hours * classes > _CLASS_HOURS or len(alignment.clips) * classes > _CLIP_CLASSES


def count_on_cluster(
    alignment: Alignment, metrics: Sequence[Metric[Any]], engine: Engine, run: Run
) -> CountedClips:
    """Count blocks of classes on a cluster. Of each class, only what the metrics read comes back.

    Metrics that need the counts of all classes at once get them from one block of all classes.
    """
    assert isinstance(engine, ClusterEngine)
    requests, clips = delta_requests(metrics), len(alignment.clips)
    estimated = with_estimated_floors(alignment, requests, engine)
    blocks = _blocks(alignment, metrics, requests, run)
    facts_of = Block((next(iter(requests)),), None)
    stage = StagedProgress(run._steps, clips).stage(clips)
    plan = StatePlan(estimated, (facts_of, *blocks))
    facts, *counted = engine.count(alignment, plan, _measure(plan, metrics), stage)
    facts = in_clip_order(facts, alignment.clips)
    if facts.extents is not None:
        alignment.require_coverage(facts.durations, facts.extents)
    missed = _missed(counted, estimated, blocks)
    if missed is not None:
        counted += engine.count(alignment, missed, _measure(missed, metrics), stage)
    ranges = [block.ranges for block in counted]
    detected = np.any([block.detected for block in counted], axis=0)
    clip_deltas = {criterion: _clips_of(facts, alignment, criterion) for criterion in requests}
    return CountedClips(
        {criterion: _joined(criterion, counted, alignment.classes) for criterion in requests},
        DeltasNotKept(),
        facts.durations,
        score_notes(alignment, clip_deltas, parts_of(metrics), *ranges, detected=detected),
        len(blocks),
        digest=facts.provenance.scores,
    )


@dataclass(frozen=True, eq=False)
class CountedBlock:
    """What comes back of a block of classes."""

    counts: Mapping[Criterion, Counts]
    """With the classes whose floors hold."""
    missed: Mapping[Criterion, NDArray[np.bool_]]
    """The classes whose estimated floor was too high."""
    ranges: Mapping[Criterion, tuple[float, float]]
    """The lowest and highest score, for metrics with a fixed threshold."""
    detected: NDArray[np.bool_]
    """Which classes are detected."""


@dataclass(frozen=True, eq=False)
class _BlockMeasure:
    """Counts a block of classes on a worker."""

    blocks: tuple[Block, ...]
    requests: Requests
    metrics: tuple[Metric[Any], ...]
    together: frozenset[Criterion]

    def __call__(self, number: int, deltas: dict[Criterion, Deltas]) -> CountedBlock | Deltas:
        classes = self.blocks[number].classes
        if classes is None:
            return next(iter(deltas.values()))
        counts: dict[Criterion, Counts] = {}
        missed: dict[Criterion, NDArray[np.bool_]] = {}
        for criterion in deltas:
            verified = verify(deltas[criterion], self.requests[criterion])
            deltas[criterion] = with_variants({v: part.deltas for v, part in verified.items()})
            missed[criterion] = classes & np.any([part.missed for part in verified.values()], axis=0)
            kept = classes & ~missed[criterion] & self.requests[criterion].classes.get(None, classes)
            of_criterion = deltas[criterion].counts(threads=1)
            if criterion in self.together:
                counts[criterion] = _of_classes(of_criterion, kept)
            else:
                counts[criterion] = needed_rows(of_criterion, kept, criterion, self.metrics)
        ranges = score_ranges(self.metrics, deltas)
        return CountedBlock(counts, missed, ranges, detected_classes(deltas) & classes)


def _measure(plan: StatePlan, metrics: Sequence[Metric[Any]]) -> _BlockMeasure:
    return _BlockMeasure(
        plan.blocks, plan.requests, tuple(parts_of(metrics)), _together(metrics, plan.requests)
    )


def _together(metrics: Sequence[Metric[Any]], requests: Requests) -> frozenset[Criterion]:
    """Return the criteria of metrics that need the counts of all classes at once."""
    return frozenset(part.criterion for part in parts_of(metrics) if not counts_by_class(part, requests))


def _blocks(
    alignment: Alignment, metrics: Sequence[Metric[Any]], requests: Requests, run: Run
) -> tuple[Block, ...]:
    classes, limit = len(alignment.classes), run._memory_limit()
    together = _together(metrics, requests)
    by_class = tuple(criterion for criterion in requests if criterion not in together)
    if limit is None:
        numbers = np.arange(classes) // _CLASSES_OF_A_BLOCK
        masks = [numbers == block for block in range(int(numbers.max(initial=0)) + 1)]
    else:
        masks = [*estimate_memory(alignment, requests, run.threads).blocks(limit)]
    blocks = [Block(by_class, mask) for mask in masks if by_class]
    if together:
        blocks.append(Block(tuple(c for c in requests if c in together), np.ones(classes, bool)))
    return tuple(blocks)


def _missed(
    counted: Sequence[CountedBlock], requests: Requests, blocks: Sequence[Block]
) -> StatePlan | None:
    """Return what must be counted once more, without estimated floors; None if all floors hold."""
    again: dict[Criterion, DeltaRequest] = {}
    for criterion, request in requests.items():
        masks = [block.missed[criterion] for block in counted if criterion in block.missed]
        classes: NDArray[np.bool_] = np.any(masks, axis=0)
        if classes.any():
            needed = dict.fromkeys((None, *request.variants), classes)
            again[criterion] = replace(request, floors={}, classes=needed)
    missed_blocks = []
    for block, of_block in zip(blocks, counted, strict=True):
        criteria = tuple(c for c in block.criteria if of_block.missed[c].any())
        if criteria:
            missed_blocks.append(Block(criteria, np.any([of_block.missed[c] for c in criteria], axis=0)))
    return StatePlan(again, tuple(missed_blocks)) if again else None


def _of_classes(counts: Counts, kept: NDArray[np.bool_]) -> Counts:
    """Return the complete counts of some classes."""
    return replace(
        counts,
        per_class={label: counts[label] for label, keep in zip(counts, kept, strict=True) if keep},
        variants={variant: _of_classes(part, kept) for variant, part in counts.variants.items()},
    )


def _joined(criterion: Criterion, blocks: Sequence[CountedBlock], classes: Sequence[str]) -> Counts:
    """Join the counts of all blocks, in the order of the classes."""
    return _in_order(
        join_classes([b.counts[criterion] for b in blocks if criterion in b.counts]), classes
    )


def _in_order(counts: Counts, classes: Sequence[str]) -> Counts:
    return replace(
        counts,
        per_class={label: counts[label] for label in classes},
        variants={variant: _in_order(part, classes) for variant, part in counts.variants.items()},
    )


def _clips_of(facts: Deltas, alignment: Alignment, criterion: Criterion) -> Deltas:
    """Return deltas that have the clips and references of a set, but no changes."""
    classes, clips = alignment.classes, len(alignment.clips)
    events = alignment.counted()
    heard = events.events[:, 0] < facts.durations[events.event_clips]
    rows = DeltaRows.none(len(classes), 0, (), facts.tables.detections.scores)
    rows = replace(rows, starts=np.broadcast_to(np.int64(0), (len(classes), clips + 1)))
    references = ReferenceRows(
        events.event_clips[heard].astype(np.int32),
        events.labels[heard],
        np.diff(events.events[heard], axis=1)[:, 0],
    )
    return replace(
        facts,
        criterion=criterion,
        classes=classes,
        floors=np.full(len(classes), -np.inf),
        tables=DeltaTables(rows, rows, references),
    )
