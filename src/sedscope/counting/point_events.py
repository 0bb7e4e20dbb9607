"""Points in time: events of no length, which only criteria about one boundary can judge."""

from __future__ import annotations

from ..criteria import Criterion
from ..data.alignment import Alignment
from ..data.event_checks import POINTS_ADVICE
from ..errors import SedscopeError, listing, subject

_DETECTIONS_ADVICE = (
    "Correct them, or judge points in time by a criterion about one boundary, such as Onset(0.05)."
)


def refuse_point_references(alignment: Alignment, criterion: Criterion) -> None:
    """Refuse references of no length, where the criterion cannot judge them."""
    if criterion.judges_points:
        return
    points = alignment.point_references()
    if len(points):
        advice = _points_advice(criterion, POINTS_ADVICE)
        examples = [alignment.describe_reference(i) for i in points[:6].tolist()]
        raise SedscopeError(
            f"{subject(len(points), 'reference', 'has')} no length, but {criterion} needs events with a "
            f"length: {listing(examples, total=len(points))}. {advice}",
            advice=advice,
        )


def refuse_point_detections(first: str, criterion: Criterion) -> None:
    """Refuse detections of no length, where the criterion cannot judge them.

    ``first``: a description of the first one.
    """
    if not criterion.judges_points:
        raise SedscopeError(
            f"Some detections have no length (the first: {first}), but {criterion} needs events with a "
            f"length. {_points_advice(criterion, _DETECTIONS_ADVICE)}"
        )


def _points_advice(criterion: Criterion, usual: str) -> str:
    """Say what to do about events of no length. ``usual``: the advice unless lengths are the reason."""
    if criterion.unwrapped.judges_points:
        return (
            "Bins of lengths are not for points in time: leave out by_length= (--by-length) or OfLength."
        )
    return usual
