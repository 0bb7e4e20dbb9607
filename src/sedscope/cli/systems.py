"""What a command is given as a system: scores, a list of detections, or lists at several thresholds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError, listing
from ..io.locations import Place, folder_content
from .options import stitching

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth, Overlaps
    from ..data.scores import Scores


def read_system(
    path: Place,
    truth: GroundTruth,
    overlaps: Overlaps,
    *,
    format: str | None = None,
    stitch: str | None = None,
) -> Scores | dict[float, Any]:
    """Scores or detections in any format; or, from a folder with a DCASE table of detections per
    threshold, the detections by threshold. ``stitch``: see :func:`.options.stitching`.

    Clips that detections do not list have none.
    """
    from ..io.systems import read_system_scores

    if format is None and path.is_dir() and holds_sets(path):
        return _read_sets(path)
    return read_system_scores(path, truth, overlaps=overlaps, format=format, **stitching(stitch))


def holds_sets(folder: Place) -> bool:
    """Whether the first table of a folder lists events of named clips."""
    from ..io.text_tables import read_bytes, split_header

    first = next(iter(folder_content(folder, "*.tsv")), None)
    if first is None or not first.is_file() or not first.stat().st_size:
        return False
    try:
        return {"filename", "event_label"} <= set(split_header(read_bytes(first), first)[0])
    except SedscopeError:
        return False  # the reader of scores says what is wrong


def _read_sets(folder: Place) -> dict[float, Any]:
    from .. import read_events

    files: dict[float, Place] = {}
    for file in folder_content(folder, "*.tsv"):
        threshold = _threshold(file)
        if threshold in files:
            raise SedscopeError(
                f"{folder}: two files for one threshold: {files[threshold].name}, {file.name}"
            )
        files[threshold] = file
    return {threshold: read_events(file) for threshold, file in files.items()}


def _threshold(file: Place) -> float:
    """The number that a file's name is, or ends with."""
    try:
        return float(file.stem)
    except ValueError:
        found = re.search(r"\d+(\.\d+)?(e-?\d+)?$", file.stem)
    if not found:
        raise SedscopeError(
            f"{file}: the name of a file of detections must end with its threshold, as in 0.5.tsv"
        )
    return float(found.group())


def require_scores(system: Scores | dict[float, Any], path: Place, command: str) -> Scores:
    """Refuse detections where scores are needed."""
    if isinstance(system, dict):
        points = listing([f"{threshold:g}" for threshold in system])
        raise SedscopeError(f"{path} holds detections at thresholds {points}: {command} needs scores")
    return system
