"""Blocks of classes: to stay within a memory limit, an evaluation counts them one after the other.

The memory is that of the deltas and counts, not of the scores. With r rows of deltas, x rows of
cross-triggers, scores of s bytes, c classes and n clips, an evaluation needs about

    2 (s + 2) r + 2 (s + 5) x + (s + 16) r + 20 x + 24 c n   bytes:

the deltas twice while parts are merged, the counts once, and the positions of each clip's rows. Beyond ten
million rows, only ten million rows of counts are held at a time, or those of the largest class if that
has more.

Where that is too much, one pass writes the deltas of all classes to a temporary file, and those of a block
are read back at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.counts import Counts
from ..counting.deltas import ROWS_TO_KEEP, Deltas
from ..counting.one_pass import pass_in_parts
from ..counting.request import Floor, Requests
from ..counting.spilled_deltas import spilled
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..data.choices import machine_memory as machine_memory
from ..data.score_cache import ScoreDigests
from ..data.times import Ticks
from ..engines.engine import Engine
from ..engines.floor_search import above_floors_that_hold, find_deltas, with_estimated_floors
from ..engines.run import Run
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..metrics.psds import PSDS
from ..postprocessing import PostProcessing
from ..progress import Progress, StagedProgress
from .counted_clips import CountedClips
from .notes import detected_classes, score_notes, score_ranges

_SAMPLE = 32  # clips
_ROWS_OF_SAMPLE = 10_000_000  # after which no further clip is read
_ROWS_PER_FALSE_POSITIVE = 8  # that a metric with a limit reads; about 4 were measured
_OTHERS = 4e8  # bytes for everything but deltas and counts, at most a third of the limit


@dataclass(frozen=True, eq=False)
class MemoryEstimate:
    """How much memory an evaluation will need."""

    deltas: FloatArray
    """Bytes for the deltas of each class."""
    counts: FloatArray
    """Bytes for the counts of each class."""
    counts_limit: float
    """Bytes of counts beyond which only those of one class at a time are held."""
    fixed: float
    """Bytes that do not depend on the number of rows."""

    @property
    def bytes(self) -> int:
        """The total."""
        return int(self._of(slice(None)))

    @property
    def on_disk(self) -> float:
        """Bytes of temporary files, if the limit calls for several blocks: the deltas once, and positions."""
        return float(self.deltas.sum() / 2 + self.fixed)

    def blocks(self, limit: int) -> Iterator[NDArray[np.bool_]]:
        """Yield masks of the classes to count together so that the limit holds."""
        classes, room = len(self.deltas), limit - min(limit / 3, _OTHERS)
        least = max((self._of(slice(c, c + 1)) for c in range(classes)), default=self.fixed)
        if room < least:
            needed = np.ceil((least + min(least / 2, _OTHERS)) / 1e7) / 100
            raise SedscopeError(
                f"A limit of {limit / 1e9:g} GB is too small: one class alone needs {needed:g} GB. Raise the "
                "limit, evaluate fewer clips, or use longer segments if the criterion judges segments."
            )
        first = 0
        for last in range(1, max(classes, 1) + 1):
            if last >= classes or self._of(slice(first, last + 1)) > room:
                block = np.zeros(classes, bool)
                block[first:last] = True
                yield block
                first = last

    def _of(self, classes: slice) -> float:
        """Return the bytes for some classes together."""
        counts = self.counts[classes]
        held = max(min(counts.sum(), self.counts_limit), counts.max(initial=0))
        return float(self.deltas[classes].sum() + held + self.fixed)


def estimate_memory(
    alignment: Alignment, requests: Requests, threads: int | None = None
) -> MemoryEstimate:
    """Estimate what an evaluation will need, from a sample of the clips; see the formula above."""
    clips = len(alignment.clips)
    sample = alignment.choose(np.linspace(0, clips - 1, min(_SAMPLE, clips)).astype(np.intp))
    unlimited = {criterion: request.at_every_threshold() for criterion, request in requests.items()}
    tables = sum(1 + len(request.variants) for request in requests.values())
    sampled: dict[tuple[Criterion, PostProcessing | None], list[_SampledRows]] = {}
    rows_read = 0
    for variant, part in pass_in_parts(sample, unlimited, threads=threads):
        sampled.setdefault((part.criterion, variant), []).append(_SampledRows.of(part))
        rows_read += part.tables.rows()
        if rows_read > _ROWS_OF_SAMPLE and len(sampled) == tables:
            break
    of_deltas, of_counts = np.zeros((2, len(alignment.classes)))
    counts_limit = 0
    for (criterion, _), parts in sampled.items():
        most_rows = np.inf
        limit = requests[criterion].false_positive_limit
        if limit is not None and (alignment.durations > 0).all():
            most_rows = _ROWS_PER_FALSE_POSITIVE * Floor(limit, 0).needed(alignment.durations)
        size = max(part.bytes_of_a_score for part in parts)
        scale = _scale(alignment, criterion, np.concatenate([part.durations for part in parts]))
        rows, crossed = np.minimum(sum(part.rows for part in parts) * scale, most_rows)
        of_deltas += rows * 2 * (size + 2) + crossed * 2 * (size + 5)
        of_counts += rows * (size + 16) + crossed * 20
        counts_limit += ROWS_TO_KEEP * (size + 16)
    return MemoryEstimate(
        of_deltas, of_counts, counts_limit, 24.0 * tables * len(alignment.classes) * clips
    )


class _SampledRows(NamedTuple):
    """How many rows of deltas some clips have."""

    rows: FloatArray
    """(2 × classes) those of detections, and of cross-triggers."""
    bytes_of_a_score: int
    durations: Ticks

    @staticmethod
    def of(part: Deltas) -> _SampledRows:
        tables = (part.tables.detections, part.tables.cross_triggers)
        rows = np.array([np.diff(table.class_starts()) for table in tables], np.float64)
        return _SampledRows(rows, part.floors.itemsize, part.durations)


def _scale(alignment: Alignment, criterion: Criterion, sampled: Ticks) -> float:
    """Return how many times as many rows as some clips all clips have. ``sampled``: the durations of some.

    Where segments are judged, a clip has as many rows as segments. Otherwise all clips count alike.
    """
    if criterion.segment_ticks is None:
        return len(alignment.clips) / max(1, len(sampled))
    durations = np.where(alignment.durations > 0, alignment.durations, sampled.mean())
    of_all, of_sample = (
        np.ceil(ticks / criterion.segment_ticks).sum() for ticks in (durations, sampled)
    )
    return float(of_all / max(1, of_sample))


class DeltasNotKept(Mapping[Criterion, Deltas]):
    """In place of the deltas of an evaluation in several blocks of classes: any access is refused."""

    def __getitem__(self, criterion: Criterion) -> NoReturn:
        self._refuse()

    def __iter__(self) -> NoReturn:
        self._refuse()

    def __len__(self) -> NoReturn:
        self._refuse()

    def __repr__(self) -> str:
        return "<no deltas: the evaluation counted the classes in blocks>"

    def _refuse(self) -> NoReturn:
        raise SedscopeError(
            "The evaluation counted blocks of classes, to save memory, so its deltas were not kept. Raise "
            "the limit (`memory=`), evaluate on threads without one, or find the deltas with sedscope.deltas."
        )


def count_class_blocks(
    alignment: Alignment, metrics: Sequence[Metric[Any]], engine: Engine, run: Run
) -> CountedClips:
    """Count in blocks of classes, so that the memory stays within the limit of the run.

    With several blocks, the deltas of all classes go to a temporary file, from which those of each block
    are read. Only the rows that the metrics read are kept of each class, and no deltas.
    """
    limit, requests = run._memory_limit(), delta_requests(metrics)
    assert limit is not None
    alignment = replace(alignment, memory_limit=limit)
    together = [
        repr(metric)
        for metric in metrics
        if not all(counts_by_class(part, requests) for part in metric.parts)
    ]
    metrics = parts_of(metrics)
    estimate = estimate_memory(alignment, requests, run.threads)
    blocks = [*estimate.blocks(limit)]
    if len(blocks) > 1 and together:
        raise SedscopeError(
            f"A limit of {limit / 1e9:g} GB needs {counted(len(blocks), 'block')} of classes, but some "
            f"metrics need the curves of all classes at once: {listing(together)}."
        )
    of_blocks: dict[Criterion, list[Counts]] = {criterion: [] for criterion in requests}
    deltas: dict[Criterion, Deltas] = {}
    ranges: list[dict[Criterion, tuple[float, float]]] = []
    detected = np.zeros(len(alignment.classes), bool)
    clips = len(alignment.clips)
    stage = StagedProgress(run._steps, clips).stage(clips)
    on_disk = estimate.on_disk if len(blocks) > 1 else None
    digests = None
    if alignment.hashed and not engine.splits_clips:
        digests = ScoreDigests(alignment.scores, alignment.classes)
        alignment = replace(alignment, scores=digests.scores, hashed=False)
    with _one_pass(alignment, requests, engine, stage, on_disk) as find_block:
        for block in blocks:
            deltas.clear()  # before the next ones are found
            deltas |= find_block(block)
            for criterion in requests:
                counts = deltas[criterion].counts(threads=run.threads)
                if len(blocks) > 1:
                    counts = needed_rows(counts, block, criterion, metrics)
                of_blocks[criterion].append(counts)
            ranges.append(score_ranges(metrics, deltas))
            detected[block] = detected_classes(deltas)[block]
    return CountedClips(
        {criterion: join_classes(parts) for criterion, parts in of_blocks.items()},
        deltas if len(blocks) == 1 else DeltasNotKept(),
        next(iter(deltas.values())).durations,
        score_notes(alignment, deltas, metrics, *ranges, detected=detected),
        len(blocks),
        digest=None if digests is None else digests.digest(alignment.clips),
    )


@contextmanager
def _one_pass(
    alignment: Alignment,
    requests: Requests,
    engine: Engine,
    progress: Progress | None,
    bytes_on_disk: float | None,
) -> Iterator[Callable[[NDArray[np.bool_]], dict[Criterion, Deltas]]]:
    """Pass through all clips once, and yield a function that returns the deltas of a block of classes.

    ``bytes_on_disk``: of deltas that go to a temporary file; None if those of all classes fit into memory.
    """
    if bytes_on_disk is None:
        yield lambda _: find_deltas(alignment, requests, engine, progress)
        return
    estimated = with_estimated_floors(alignment, requests, engine)
    parts = engine.pass_in_parts(alignment, estimated, progress)
    with spilled(parts, bytes_on_disk) as on_disk:

        def find_block(block: NDArray[np.bool_]) -> dict[Criterion, Deltas]:
            of_block = {
                criterion: replace(request, classes=dict.fromkeys((None, *request.variants), block))
                for criterion, request in estimated.items()
            }
            first, *_, last = np.flatnonzero(block).tolist() * 2
            deltas = on_disk.of_classes(range(first, last + 1))
            return above_floors_that_hold(deltas, alignment, of_block, engine, progress)

        yield find_block


def counts_by_class(metric: Metric[Any], requests: Requests) -> bool:
    """Whether a class can be counted without the others, and kept in little memory."""
    limited = requests[metric.criterion].false_positive_limit is not None
    return not metric.any_label and (metric.points_read != "all" or limited)


def needed_rows(
    counts: Counts, block: NDArray[np.bool_], criterion: Criterion, metrics: Sequence[Metric[Any]]
) -> Counts:
    """Return the counts of a block of classes, with the rows that the metrics read.

    PSD-ROCs are read off all rows here, and kept in place of them.
    """
    readers = [metric for metric in metrics if metric.criterion == criterion]
    rocs = [metric.psd_roc for metric in readers if metric.psd_roc is not None]
    others = [metric for metric in readers if metric.psd_roc is None]
    points = [metric.points_read for metric in others]
    fixed = [point for point in points if isinstance(point, (int, float))]
    choosing = [
        metric for metric in others if metric.has_thresholds and metric.points_read == "extremes"
    ]
    per_class = {}
    for label, inside in zip(counts, block, strict=True):
        if not inside:
            continue
        of_class = counts[label]
        if "all" not in points:
            alone = replace(counts, per_class={label: of_class})
            chosen = [metric.measure(alone).thresholds.get(label, np.inf) for metric in choosing]
            # those of one variant, which some metrics take the best of
            curves = {roc: PSDS.class_curve(roc, alone, label) for roc in rocs}
            of_class = of_class.leanest([*fixed, *chosen], curves, extremes=bool(others))
        per_class[label] = of_class
    variants = {
        variant: needed_rows(of_variant, block, criterion, metrics)
        for variant, of_variant in counts.variants.items()
    }
    return replace(counts, per_class=per_class, variants=variants)


def join_classes(blocks: Sequence[Counts]) -> Counts:
    """Join the counts of blocks of classes."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    return replace(
        first,
        per_class={label: of_class for block in blocks for label, of_class in block.items()},
        variants={
            variant: join_classes([block.variants[variant] for block in blocks])
            for variant in first.variants
        },
    )
