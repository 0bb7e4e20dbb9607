"""Parts of a set: ranges of clips whose deltas are found apart and merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ..counting.deltas import Deltas
from ..counting.one_pass import Wanted, collect_once
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment

Found: TypeAlias = dict[Criterion, Deltas]


def ranges(clips: int, size: int) -> Iterator[range]:
    """Consecutive ranges of at most so many clips."""
    for first in range(0, clips, size):
        yield range(first, min(first + size, clips))


def part_of(alignment: Alignment, clips: range) -> Alignment:
    """Some of the clips, with the scores of these only: what is sent elsewhere is small."""
    part = alignment.choose(np.arange(clips.start, clips.stop))
    return replace(part, scores=alignment.scores.only(part.clips))


def find(part: Alignment, wanted: Mapping[Criterion, Wanted], threads: int | None = None) -> Found:
    """The deltas of a part above the wanted floors; no floor rises, since a part does not know the
    others."""
    alone = {criterion: replace(want, false_positive_limit=None) for criterion, want in wanted.items()}
    return collect_once(part, alone, threads=threads)


def merge(*parts: Found) -> Found:
    """The deltas of the clips of all parts."""
    first, *others = parts
    return {
        criterion: found.merge(*(other[criterion] for other in others))
        for criterion, found in first.items()
    }
