"""The events of a ground truth as lists and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError
from ..notebook.data_frame import polars_frame
from ..notebook.html_table import html_table
from .clip_ids import clip_id
from .times import to_seconds

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .ground_truth import GroundTruth


def events_of_clip(
    truth: GroundTruth, clip: str, chosen: NDArray[np.bool_]
) -> list[tuple[float, float, str]]:
    """Return the chosen events of one clip, ``(onset, offset, label)`` in order of time."""
    name = clip if clip in truth.clips else clip_id(clip)
    if name not in truth.clips:
        raise SedscopeError(f"The ground truth has no clip {clip!r}.")
    rows = np.flatnonzero((truth.event_clips == truth.clips.index(name)) & chosen)
    rows = rows[np.argsort(truth.onsets[rows], kind="stable")]
    return [
        (float(onset), float(offset), label)
        for onset, offset, label in zip(
            to_seconds(truth.onsets[rows]),
            to_seconds(truth.offsets[rows]),
            truth.names_of(rows),
            strict=True,
        )
    ]


def event_table(truth: GroundTruth) -> PolarsFrame:
    """Return a data frame with a row per event."""
    columns: dict[str, NDArray[Any] | list[str]] = {
        "filename": [truth.clips[clip] for clip in truth.event_clips],
        "onset": to_seconds(truth.onsets),
        "offset": to_seconds(truth.offsets),
        "event_label": truth.names_of(np.arange(len(truth))),
    }
    if truth.ignored.any():
        columns["ignored"] = truth.ignored
    return polars_frame(columns)


def class_table(truth: GroundTruth) -> str:
    """Return an HTML table with the events and the total seconds of each class."""
    names = (*truth.labels, *truth.ignored_labels)
    counts = ~truth.ignored
    number = np.bincount(truth.event_labels[counts], minlength=len(names))
    lengths = to_seconds(truth.offsets - truth.onsets)
    seconds = np.bincount(truth.event_labels[counts], lengths[counts], minlength=len(names))
    ignored = np.bincount(truth.event_labels[truth.ignored], minlength=len(names))
    shows_ignored = bool(truth.ignored.any())
    rows = (
        [label, str(number[i]), f"{seconds[i]:.1f}", *([str(ignored[i])] if shows_ignored else [])]
        for i, label in enumerate(names)
    )
    header = ["class", "events", "total seconds", *(["ignored"] if shows_ignored else [])]
    return html_table(header, rows, len(names), "class", title=repr(truth))
