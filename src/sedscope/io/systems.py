"""What a system gives, scores or a list of detections, from a file or folder of any format."""

from __future__ import annotations

from typing import Literal

from ..data.chunks import Chunks, Unit
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from .events import EVENT_FORMATS, Source, event_files
from .ground_truth import read_events
from .locations import Place
from .scores import find_score_format, read_scores


def read_system_scores(
    path: Place,
    truth: GroundTruth,
    *,
    overlaps: Literal["error", "merge"] = "error",
    format: str | None = None,
    stitch: Chunks | Literal[False] = False,
    unit: Unit = "seconds",
) -> Scores:
    """Scores; detections are scores, too, and clips that they do not list have none.

    ``stitch``: chunks of recordings, see :meth:`Scores.stitch`; detections are then windows that slide
    over a recording, averaged where they overlap.
    """
    if not holds_events(path, format):
        scores = read_scores(path, format=format)
        return scores if stitch is False else scores.stitch(stitch, unit=unit)
    durations = (
        None
        if truth.durations is None
        else dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    )
    events = read_events(path, format=format, durations=durations)
    labels = {event[2] for of_clip in events.values() for event in of_clip}
    return Scores.from_events(
        events,
        classes=sorted(labels.union(truth.labels)),
        clips=truth.clips,
        overlaps=overlaps if stitch is False else "average",
    )


def holds_events(path: Place, format: str | None) -> bool:
    """Whether a file or folder is read as events, not as scores."""
    if format is not None:
        return format in EVENT_FORMATS
    if not path.exists() or find_score_format(path) is not None:
        return False
    files = event_files(path) if path.is_dir() else [path]
    first = next((file for file in files if file.stat().st_size), None)
    return bool(files) if first is None else not Source(first).is_score_table
