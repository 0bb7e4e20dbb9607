"""JAMS files: JSON with annotations, one file per clip. Events come from one of three namespaces.

``scaper`` holds the foreground events of a synthetic soundscape; ``tag_open`` and ``segment_open`` hold
labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...data.event_table import EventTable
from ...data.tables import RowLocation
from ...data.times import to_ticks
from ...errors import SedscopeError, listing
from .format import EventFormat, EventSet, holding, write_per_clip
from .source import EventReadOptions, Source

_NAMESPACES = ("scaper", "tag_open", "segment_open")
_VERSION = "0.3.4"


def recognise(source: Source) -> bool:
    """Look for a JSON object with annotations."""
    return source.is_json and isinstance(source.json, dict) and "annotations" in source.json


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the events and the duration of the clip that the file is named after."""
    where = str(source.path)
    if not recognise(source):
        raise SedscopeError(f"{where}: this is not a JAMS file, because it has no annotations.")
    rows: list[tuple[Any, ...]] = []
    places: list[RowLocation] = []
    wrong: list[RowLocation] = []
    for place, observation in _observations(source, options.columns.get("namespace")):
        try:
            value = observation["value"]
            if isinstance(value, dict) and value.get("role") == "background":
                continue
            label = value["label"] if isinstance(value, dict) else value
            if not isinstance(label, str):
                raise TypeError("a label is text")
            onset, length = (float(observation[key]) for key in ("time", "duration"))
            confidence = observation.get("confidence")
            if not isinstance(confidence, (int, float, type(None))):
                raise TypeError("a confidence is a number")
            offset = float((to_ticks(onset) + to_ticks(length)) / 1e6)  # to the microsecond
            certainty = 1.0 if confidence is None else confidence
            rows.append((source.clip, onset, offset, label.strip(), certainty))
            places.append(source.place(place))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            wrong.append(source.place(place))
    source.refuse_rows(wrong, "the observation lacks a time, duration or label")
    if not rows:
        return replace(source.without_events(), durations=_duration(source))
    if all(row[4] == 1 for row in rows):
        rows = [row[:4] for row in rows]
    return EventTable.of_rows(where, rows, places.__getitem__, durations=_duration(source))


def _duration(source: Source) -> dict[str, float]:
    metadata = source.json.get("file_metadata")
    duration = metadata.get("duration") if isinstance(metadata, dict) else None
    numeric = isinstance(duration, (int, float)) and not isinstance(duration, bool)
    return {source.clip: float(duration)} if numeric and duration else {}


def _observations(source: Source, namespace: str | None) -> Iterator[tuple[str, Any]]:
    """Iterate over the observations of the chosen namespace, each with its location in words."""
    annotations = source.json["annotations"]
    if not isinstance(annotations, list) or not all(isinstance(part, dict) for part in annotations):
        raise SedscopeError(f"{source.path}: the annotations must be a list of objects.")
    names = [str(part.get("namespace")) for part in annotations]
    usable = [name for name in dict.fromkeys(names) if name in _NAMESPACES]
    chosen = namespace or (usable[0] if len(usable) == 1 else None)
    if len(usable) > 1 and namespace is None:
        raise SedscopeError(
            f"{source.path}: there are events in the namespaces {listing(usable)}. Choose one with "
            "`columns={'namespace': …}`."
        )
    if chosen is None or chosen not in names:
        raise SedscopeError(
            f"{source.path}: there is no annotation in the namespace "
            f"{chosen or ' or '.join(_NAMESPACES)}. The file has "
            f"{listing(list(dict.fromkeys(names))) or 'none'}."
        )
    for k, part in enumerate(annotations):
        if names[k] != chosen:
            continue
        data = part.get("data")
        if isinstance(data, dict):  # columns instead of rows
            columns = [column if isinstance(column, list) else [] for column in data.values()]
            data = [dict(zip(data, row, strict=False)) for row in zip(*columns, strict=False)]
        if not isinstance(data, list):
            raise SedscopeError(f"{source.path}: annotation {k} has no data.")
        for i, observation in enumerate(data):
            yield f"annotation {k}, observation {i}", observation


def write(events: EventSet, path: Path) -> None:
    """Write one file per clip, in the namespace ``tag_open``."""

    def text(clip: str) -> str:
        duration = events.duration(clip)
        data = [
            {
                "time": round(onset, 6),
                "duration": round(offset - onset, 6),
                "value": label,
                "confidence": confidence,
            }
            for onset, offset, label, confidence in events.of_clip(clip)
        ]
        annotation = {
            "annotation_metadata": {"data_source": "program", "annotation_tools": "sedscope"},
            "namespace": "tag_open",
            "data": data,
            "sandbox": {},
            "time": 0,
            "duration": duration,
        }
        metadata: dict[str, Any] = {
            "title": clip,
            "duration": duration,
            "identifiers": {},
            "jams_version": _VERSION,
        }
        document = {"annotations": [annotation], "file_metadata": metadata, "sandbox": {}}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    write_per_clip(events, path, ".jams", text)


FORMATS = (
    EventFormat(
        name="jams",
        about="JAMS, namespaces scaper, tag_open or segment_open, one file per clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "durations", "any label"),
        suffixes=(".jams",),
        file_suffixes=(".jams", ".json"),
        per_clip=True,
    ),
)
