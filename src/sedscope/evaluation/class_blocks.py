"""How much memory an evaluation will take, and how to stay within a limit: classes in blocks.

The memory is that of the deltas and counts, not of the scores. With r rows of deltas, x rows of
cross-triggers, scores of s bytes, c classes and n clips, about

    2 (s + 2) r + 2 (s + 5) x + (s + 16) r + 20 x + 24 c n   bytes

are needed: deltas twice while parts are merged, counts once, and where the rows of each clip begin.
Where there are more than ten million rows, counts are those of ten million, or of the largest class
if that has more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import Counts
from ..counting.deltas import ROWS_TO_KEEP, Deltas
from ..counting.floors import Floor
from ..counting.one_pass import Wanted, collect_once
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment
from ..engines.floor_search import collect
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric

_SAMPLE = 32  # clips
_ROWS_PER_FALSE_POSITIVE = 8  # that a metric with a limit looks at; about 4 were seen
_OTHERS = 4e8  # bytes for all but deltas and counts, if they are not more than a third
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def as_bytes(text: str | float) -> int:
    """A number of bytes.

    >>> as_bytes("4GB"), as_bytes("500 MB"), as_bytes(1e6)
    (4000000000, 500000000, 1000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([kKMGT]?)i?B?\s*", str(text))
    number = 0 if found is None else int(float(found[1]) * _UNITS[found[2].upper()])
    if number < 1:
        raise SedscopeError(f"memory={text!r}: give a number of bytes, as in '4GB' or '500MB'")
    return number


def of_machine() -> float:
    """Bytes of memory that this machine has; ``inf`` if it does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return np.inf


@dataclass(frozen=True, eq=False)
class Expected:
    """What is expected of memory."""

    deltas: NDArray[np.float64]
    """Bytes for those of each class."""
    counts: NDArray[np.float64]
    """Bytes for those of each class."""
    kept: float
    """Bytes of counts beyond which only those of a class at a time are kept."""
    fixed: float
    """Bytes whatever the number of rows."""

    @property
    def bytes(self) -> int:
        """All together."""
        return int(self._of(slice(None)))

    def blocks(self, limit: int) -> Iterator[NDArray[np.bool_]]:
        """Classes to be counted together so that the limit holds, as masks."""
        classes, room = len(self.deltas), limit - min(limit / 3, _OTHERS)
        least = max((self._of(slice(c, c + 1)) for c in range(classes)), default=self.fixed)
        if room < least:
            needed = np.ceil((least + min(least / 2, _OTHERS)) / 1e7) / 100
            raise SedscopeError(
                f"memory: {limit / 1e9:g} GB are too little for one class, which needs {needed:g} GB"
            )
        first = 0
        for last in range(1, max(classes, 1) + 1):
            if last >= classes or self._of(slice(first, last + 1)) > room:
                block = np.zeros(classes, bool)
                block[first:last] = True
                yield block
                first = last

    def _of(self, classes: slice) -> float:
        """Bytes for some classes together."""
        counts = self.counts[classes]
        kept = max(min(counts.sum(), self.kept), counts.max(initial=0))
        return float(self.deltas[classes].sum() + kept + self.fixed)


def expected(
    alignment: Alignment, wanted: Mapping[Criterion, Wanted], threads: int | None = None
) -> Expected:
    """What an evaluation will take, judged by some of the clips; see the formula above."""
    clips = len(alignment.clips)
    number = min(_SAMPLE, clips)
    sample = alignment.choose(np.linspace(0, clips - 1, number).astype(np.intp))
    everything = {
        criterion: replace(want, false_positive_limit=None) for criterion, want in wanted.items()
    }
    of_deltas, of_counts = np.zeros((2, len(alignment.classes)))
    tables, kept = 0, 0
    for criterion, found in collect_once(sample, everything, threads=threads).items():
        most = np.inf
        limit = wanted[criterion].false_positive_limit
        if limit is not None and (alignment.durations > 0).all():
            most = _ROWS_PER_FALSE_POSITIVE * Floor(limit, 0).needed(alignment.durations)
        for deltas in (found, *found.variants.values()):
            size = deltas.floors.itemsize
            rows, crossed = (
                np.minimum(np.diff(table.class_starts()) * (clips / number), most)
                for table in (deltas.tables.detections, deltas.tables.cross_triggers)
            )
            of_deltas += rows * 2 * (size + 2) + crossed * 2 * (size + 5)
            of_counts += rows * (size + 16) + crossed * 20
            kept += ROWS_TO_KEEP * (size + 16)
            tables += 1
    return Expected(of_deltas, of_counts, kept, 24.0 * tables * len(alignment.classes) * clips)


def counts_within(
    limit: int,
    alignment: Alignment,
    metrics: Sequence[Metric],
    wanted: Mapping[Criterion, Wanted],
    **options: Any,
) -> tuple[dict[Criterion, Counts], dict[Criterion, Deltas]]:
    """Counts in blocks of classes, so that the memory stays within a limit of bytes; and the deltas of
    the last block. Clips are read once per block. Of each class only the rows that the metrics need
    are kept."""
    together = [repr(metric) for metric in metrics if not _by_class(metric, wanted)]
    blocks = [*expected(alignment, wanted, options.get("threads")).blocks(limit)]
    if len(blocks) > 1 and together:
        raise SedscopeError(
            f"to stay within {limit / 1e9:g} GB {counted(len(blocks), 'block')} of classes are needed, "
            f"but all classes are needed at once for {listing(together)}"
        )
    found: dict[Criterion, list[Counts]] = {criterion: [] for criterion in wanted}
    deltas: dict[Criterion, Deltas] = {}
    for block in blocks:
        of_block = {
            criterion: replace(want, classes=dict.fromkeys((None, *want.variants), block))
            for criterion, want in wanted.items()
        }
        deltas.clear()  # before there are others
        deltas |= collect(alignment, of_block, **options)
        for criterion in wanted:
            counted_now = deltas[criterion].counts(threads=options.get("threads"))
            if len(blocks) > 1:
                counted_now = _lean(counted_now, block, criterion, metrics)
            found[criterion].append(counted_now)
    return {criterion: _joined(parts) for criterion, parts in found.items()}, deltas


def _by_class(metric: Metric, wanted: Mapping[Criterion, Wanted]) -> bool:
    """Whether a class can be counted without the others, and kept in little memory."""
    limited = wanted[metric.criterion].false_positive_limit is not None
    return not metric.any_label and (metric.looks_at != "all" or limited)


def _lean(
    counts: Counts, block: NDArray[np.bool_], criterion: Criterion, metrics: Sequence[Metric]
) -> Counts:
    """The counts of a block of classes, with the rows that the metrics need."""
    of_criterion = [metric for metric in metrics if metric.criterion == criterion]
    every_row = any(metric.looks_at == "all" for metric in of_criterion)
    thresholds = [m.looks_at for m in of_criterion if isinstance(m.looks_at, (int, float))]
    per_class = {
        label: of_class if every_row else of_class.leanest(thresholds)
        for (label, of_class), inside in zip(counts.items(), block, strict=True)
        if inside
    }
    variants = {
        variant: _lean(found, block, criterion, metrics) for variant, found in counts.variants.items()
    }
    return replace(counts, per_class=per_class, variants=variants)


def _joined(parts: Sequence[Counts]) -> Counts:
    """Counts of all classes from those of blocks."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        per_class={label: of_class for part in parts for label, of_class in part.items()},
        variants={
            variant: _joined([part.variants[variant] for part in parts]) for variant in first.variants
        },
    )
