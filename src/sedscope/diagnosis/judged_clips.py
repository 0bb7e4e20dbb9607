"""Clips whose events are judged one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..counting.checked_clips import CheckedBatch, CheckedEvents, whole_clips
from ..counting.point_events import refuse_point_references
from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.progress import Progress
from ..errors import SedscopeError


def judged_clips(
    alignment: Alignment, criteria: Sequence[Criterion], threads: int, progress: Progress | None
) -> Iterator[CheckedBatch | CheckedEvents]:
    """Go through the clips, and refuse events that the criteria cannot judge one by one."""
    if alignment.has_overlapping_references():
        raise SedscopeError(
            "Some references of one class overlap, but error types and boundary errors need references that "
            "do not. Merge them with overlaps='merge' (--overlaps merge)."
        )
    for criterion in criteria:
        refuse_point_references(alignment, criterion)
    for clips in whole_clips(alignment, threads, progress):
        if isinstance(clips, CheckedEvents):
            for criterion in criteria:
                clips.refuse_points(criterion)
        yield clips
