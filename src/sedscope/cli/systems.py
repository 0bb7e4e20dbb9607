"""What a command is given as a system: scores, a list of detections, or lists at several thresholds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SedscopeError, listing

if TYPE_CHECKING:
    from ..ground_truth import GroundTruth, Overlaps
    from ..scores import Scores


def read_system(path: Path, truth: GroundTruth, overlaps: Overlaps) -> Scores | dict[float, Any]:
    """Scores from a folder of score tables or a file of detections; or, from a folder with a file of
    detections per threshold, the detections by threshold.

    Clips that a file of detections does not list have none.
    """
    from .. import read_events, read_scores
    from ..scores import Scores

    if path.is_file():
        events = read_events(path)
        labels = {event[2] for of_clip in events.values() for event in of_clip}
        classes = sorted(labels.union(truth.labels))
        return Scores.from_events(events, classes=classes, clips=truth.clips, overlaps=overlaps)
    if path.is_dir() and _holds_detections(path):
        return _read_sets(path)
    return read_scores(path)


def _holds_detections(folder: Path) -> bool:
    from ..io.text_tables import read_bytes, split_header

    first = next(iter(sorted(folder.glob("*.tsv"))), None)
    if first is None or not first.is_file() or not first.stat().st_size:
        return False
    try:
        return "event_label" in split_header(read_bytes(first), first)[0]
    except SedscopeError:
        return False  # the reader of scores says what is wrong


def _read_sets(folder: Path) -> dict[float, Any]:
    from .. import read_events

    files: dict[float, Path] = {}
    for file in sorted(folder.glob("*.tsv")):
        threshold = _threshold(file)
        if threshold in files:
            raise SedscopeError(
                f"{folder}: two files for one threshold: {files[threshold].name}, {file.name}"
            )
        files[threshold] = file
    return {threshold: read_events(file) for threshold, file in files.items()}


def _threshold(file: Path) -> float:
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


def require_scores(system: Scores | dict[float, Any], path: Path, command: str) -> Scores:
    """Refuse detections where scores are needed."""
    if isinstance(system, dict):
        points = listing([f"{threshold:g}" for threshold in system])
        raise SedscopeError(f"{path} holds detections at thresholds {points}: {command} needs scores")
    return system
