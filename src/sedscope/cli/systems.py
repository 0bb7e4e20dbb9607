"""What a command is given as a system: scores, a list of detections, or lists at several thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SedscopeError, listing
from ..io.locations import Location
from .options import stitching

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth, Overlaps
    from ..data.scores import Scores
    from ..io.systems import DetectionSets


def read_system(
    path: Location,
    truth: GroundTruth,
    overlaps: Overlaps,
    *,
    format: str | None = None,
    stitch: str | None = None,
) -> Scores | DetectionSets:
    """Read a system. ``stitch``: see :func:`.options.stitching`."""
    from ..io import systems

    return systems.read_system(path, truth, overlaps=overlaps, format=format, **stitching(stitch))


def require_scores(system: Scores | DetectionSets, path: Location, command: str) -> Scores:
    """Refuse detections where scores are needed."""
    if isinstance(system, dict):
        points = listing([f"{threshold:g}" for threshold in system])
        raise SedscopeError(f"{path} holds detections at thresholds {points}: {command} needs scores")
    return system
