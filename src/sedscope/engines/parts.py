"""Parts of a data set: ranges of clips whose deltas are found separately and merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..counting.deltas import Deltas
from ..counting.one_pass import PassPart, one_pass
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment


def clip_ranges(clips: int, size: int) -> Iterator[range]:
    """Split a number of clips into consecutive ranges of at most ``size``."""
    for first in range(0, clips, size):
        yield range(first, min(first + size, clips))


def part_of(alignment: Alignment, clips: range) -> Alignment:
    """Return the part of some clips, with only their scores, so that little travels to a worker."""
    part = alignment.choose(np.arange(clips.start, clips.stop))
    return replace(part, scores=alignment.scores.only(part.clips))


def part_deltas(
    part: Alignment, requests: Requests, threads: int | None = None
) -> dict[Criterion, Deltas]:
    """Find the deltas of a part above the requested floors.

    The floors do not rise, because a part does not know the scores of the others.
    """
    unlimited = {criterion: request.at_every_threshold() for criterion, request in requests.items()}
    return one_pass(part, unlimited, threads=threads)


def merge_parts(*parts: dict[Criterion, Deltas]) -> dict[Criterion, Deltas]:
    """Merge the deltas of the clips of all parts."""
    first, *others = parts
    return {
        criterion: deltas.merge(*(other[criterion] for other in others))
        for criterion, deltas in first.items()
    }


def by_variant(deltas: dict[Criterion, Deltas]) -> Iterator[PassPart]:
    """Yield the deltas of each criterion and variant apart."""
    for of_criterion in deltas.values():
        yield None, replace(of_criterion, variants={})
        yield from of_criterion.variants.items()
