"""Lists of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...dcase_util.containers import MetaDataContainer

Event = Mapping[str, Any]


def filter_event_list(
    event_list: Iterable[Event],
    scene_label: str | None = None,
    event_label: str | None = None,
    filename: str | None = None,
) -> MetaDataContainer:
    """Return the events of a scene, a label or a file."""
    return MetaDataContainer(event_list).filter(
        filename=filename, scene_label=scene_label, event_label=event_label
    )


def unique_files(event_list: Iterable[Event]) -> list[Any]:
    """Return the names of all files, sorted."""
    if isinstance(event_list, MetaDataContainer):
        return event_list.unique_files
    names = (event.get("file", event.get("filename")) for event in event_list)
    return sorted({name for name in names if name is not None})


def unique_event_labels(event_list: Iterable[Event]) -> list[Any]:
    """Return all event labels, sorted."""
    if isinstance(event_list, MetaDataContainer):
        return event_list.unique_event_labels
    return sorted({event["event_label"] for event in event_list if "event_label" in event})


def max_event_offset(event_list: Iterable[Event]) -> float:
    """Return the offset of the event that ends last, 0 if there is none."""
    if isinstance(event_list, MetaDataContainer):
        return event_list.max_offset
    latest: float = 0
    for event in event_list:
        offset = event.get("event_offset", event.get("offset", 0))
        if offset > latest:
            latest = offset
    return latest
