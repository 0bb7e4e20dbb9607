"""JSON of ActivityNet, whose layout other data sets share: references or predictions of all videos.

References: ``{"database": {VIDEO: {"duration": …, "subset": …, "annotations": [{"segment": [start, end],
"label": …}, …]}}}``. Predictions: ``{"results": {VIDEO: [{"label": …, "segment": [start, end],
"score": …}, …]}}``. A video is a clip.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...data.clips import clip_id
from ...data.event_table import EventTable
from ...data.tables import RowLocation
from ...errors import SedscopeError, listing, shortened
from ..atomic_write import write_text
from .format import EventFormat, EventSet, holding
from .source import EventReadOptions, Source, is_json_number

_REFERENCES, _PREDICTIONS = "database", "results"


def recognise(source: Source) -> bool:
    """Look for a JSON object with a database or results."""
    if not source.is_json or not isinstance(source.json, dict):
        return False
    return any(isinstance(source.json.get(key), dict) for key in (_REFERENCES, _PREDICTIONS))


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the references of one subset, or predictions."""
    if not recognise(source):
        raise SedscopeError(f"{source.path}: there is neither a database nor results of videos.")
    document = source.json
    if _REFERENCES in document and _PREDICTIONS in document:
        raise SedscopeError(
            f"{source.path}: the file has both a database (references) and results (predictions). "
            "Keep them in two files."
        )
    scored = _PREDICTIONS in document
    wrong: list[tuple[RowLocation, str]] = []
    subset = options.columns.get("subset")
    videos = document[_PREDICTIONS] if scored else _annotations(source, subset, wrong)
    rows: list[Any] = []
    numbers: list[int] = []
    for video, events in videos.items():
        if not isinstance(events, list):
            wrong.append((_location(source, video), "the events must be a list"))
            continue
        for number, event in enumerate(events, start=1):
            cells = _cells(event, scored)
            if isinstance(cells, str):
                wrong.append((_location(source, video, number), cells))
            else:
                rows.append((video, *cells))
                numbers.append(number)
        if not events:
            rows.append((video, None, None, "", *([None] if scored else [])))
            numbers.append(0)
    source.refuse_all(wrong)
    durations = {} if scored else _durations(document[_REFERENCES], videos)
    return EventTable.of_rows(
        source.path, rows, lambda i: _location(source, rows[i][0], numbers[i]), durations=durations
    )


def _annotations(
    source: Source, subset: str | None, wrong: list[tuple[RowLocation, str]]
) -> dict[str, Any]:
    """Return the annotations of each video of a subset. What is wrong with the others is added to a list."""
    database: Mapping[str, Any] = source.json[_REFERENCES]
    videos = {video: entry for video, entry in database.items() if isinstance(entry, dict)}
    for video in database:
        if video not in videos:
            wrong.append((_location(source, video), "this is not an object with annotations"))
    subsets = [*dict.fromkeys(str(entry["subset"]) for entry in videos.values() if "subset" in entry)]
    if subset is None and len(subsets) > 1:
        raise SedscopeError(
            f"{source.path}: there are videos of the subsets {listing(subsets)}. Choose one with "
            f"`columns={{'subset': {subsets[0]!r}}}`."
        )
    if subset is not None and subsets and subset not in subsets:
        raise SedscopeError(
            f"{source.path}: no video is of the subset {shortened(subset, 60)!r}. There are "
            f"{listing(subsets)}."
        )
    chosen = {}
    for video, entry in videos.items():
        if subset is not None and subsets and str(entry.get("subset")) != subset:
            continue
        duration = entry.get("duration")
        if duration is not None and not (is_json_number(duration) and duration > 0):
            wrong.append((_location(source, video), "the duration is not a number above 0"))
        else:
            chosen[video] = entry.get("annotations")
    return chosen


def _durations(database: Mapping[str, Any], videos: Iterable[str]) -> dict[str, float]:
    """Return the durations of videos, as far as they are stated."""
    stated = {video: database[video].get("duration") for video in videos}
    return {video: duration for video, duration in stated.items() if duration is not None}


def _cells(event: Any, scored: bool) -> list[Any] | str:
    """Return onset, offset, label and perhaps the score of an event, or what is wrong with it."""
    if not isinstance(event, dict):
        return "this is not an object with a segment and a label"
    segment, label, score = (event.get(key) for key in ("segment", "label", "score"))
    if not isinstance(segment, list) or len(segment) != 2 or not all(map(is_json_number, segment)):
        return "the segment must be [start, end] in numbers"
    if not isinstance(label, str) or not label.strip():
        return "there is no label"
    if scored and not is_json_number(score):
        return "the score must be a number"
    return [*segment, label.strip(), *([score] if scored else [])]


def _location(source: Source, video: str, number: int = 0) -> RowLocation:
    return source.place(f"video {shortened(video, 60)}{f', event {number}' if number else ''}")


def write(events: EventSet, path: Path) -> None:
    """Write references, or results if events have confidences."""
    videos: dict[str, Any] = {}
    for clip in events.events:
        entries = [
            {
                "segment": [round(onset, 6), round(offset, 6)],
                "label": label,
                **({"score": confidence} if events.scored else {}),
            }
            for onset, offset, label, confidence in events.of_clip(clip)
        ]
        if events.scored:
            videos[clip_id(clip)] = entries
        else:
            duration = events.duration(clip)
            stated = {} if duration is None else {"duration": duration}
            videos[clip_id(clip)] = {**stated, "annotations": entries}
    document = {_PREDICTIONS if events.scored else _REFERENCES: videos}
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


FORMATS = (
    EventFormat(
        name="activitynet",
        about="ActivityNet JSON: a database of videos with annotations, or results with scores",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "durations", "any label"),
        lost_with_confidences=holding("durations"),
        file_suffixes=(".json",),
    ),
)
