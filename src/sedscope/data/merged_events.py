"""Events under new labels, as events again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import SedscopeError
from .events import Events
from .label_maps import LabelMap
from .labels import shown_label
from .times import to_ticks

_Event: TypeAlias = tuple[Any, ...]
"""``(onset, offset, label[, confidence])``, times in seconds."""


def relabelled_events(events: Mapping[str, Iterable[_Event]], label_map: LabelMap) -> Events[_Event]:
    """Give events their new labels, in the order of their clip.

    Events of different labels that become one class are merged where they overlap, if their confidences
    are equal. Otherwise they are refused: one event cannot have two confidences.
    """
    return Events((clip, _clip_events(clip, of_clip, label_map)) for clip, of_clip in events.items())


def _clip_events(clip: str, events: Iterable[_Event], label_map: LabelMap) -> list[_Event]:
    by_target: dict[str, list[tuple[int, _Event]]] = {}
    for position, event in enumerate(events):
        target = label_map.target(event[2])
        if target is not None:
            by_target.setdefault(target, []).append((position, event))
    renamed: list[tuple[int, _Event]] = []
    for target, of_class in by_target.items():
        for group in _overlapping(of_class):
            if _of_several_labels(group):
                renamed.append((min(group)[0], _merged(clip, group, target)))
            else:
                renamed += [(i, (*event[:2], target, *event[3:])) for i, event in group]
    return [event for _, event in sorted(renamed, key=lambda pair: pair[0])]


def _of_several_labels(group: Sequence[tuple[int, _Event]]) -> bool:
    """Return whether events overlap because of the map alone. Those of one label are refused elsewhere."""
    by_label: dict[str, list[tuple[int, _Event]]] = {}
    for position, event in group:
        by_label.setdefault(event[2], []).append((position, event))
    apart = all(len(_overlapping(of_label)) == len(of_label) for of_label in by_label.values())
    return len(by_label) > 1 and apart


def _merged(clip: str, group: Sequence[tuple[int, _Event]], target: str) -> _Event:
    events = [event for _, event in group]
    if len({event[3:] for event in events}) > 1:
        times = " and ".join(f"{onset:g}–{offset:g} s" for onset, offset, *_ in events[:2])
        raise SedscopeError(
            f"clip {clip}: events of {shown_label(target)} overlap with different confidences ({times}). A "
            "list of events cannot hold the result. Convert to scores (--to store), or use the label map "
            "when you evaluate."
        )
    onset, offset = min(event[0] for event in events), max(event[1] for event in events)
    return (onset, offset, target, *events[0][3:])


def _overlapping(events: Sequence[tuple[int, _Event]]) -> list[list[tuple[int, _Event]]]:
    """Group the events that overlap, directly or through others. Events that touch do not."""
    groups: list[list[tuple[int, _Event]]] = []
    latest = 0
    for position, event in sorted(events, key=lambda pair: pair[1][:2]):
        onset, offset = (int(ticks) for ticks in to_ticks([event[0], event[1]]))
        if groups and onset < latest:
            groups[-1].append((position, event))
            latest = max(latest, offset)
        else:
            groups.append([(position, event)])
            latest = offset
    return groups
