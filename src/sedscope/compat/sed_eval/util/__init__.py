"""Functions for lists of events, lists of scenes and event rolls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....data.choices import refuse_beyond_memory
from ....errors import listing
from ...submodules import add_submodule, by_name
from ..event_lists import MetaDataContainer

__all__ = [
    "bipartite_match",
    "event_list_to_event_roll",
    "filter_event_list",
    "match_event_roll_lengths",
    "max_event_offset",
    "pad_event_roll",
    "unique_event_labels",
    "unique_files",
    "unique_scene_labels",
]

Event = Mapping[str, Any]
Roll = NDArray[np.float64]
U = TypeVar("U")
V = TypeVar("V")


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
        return [*event_list.unique_event_labels]
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


def unique_scene_labels(scene_list: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return all scene labels, sorted."""
    if isinstance(scene_list, MetaDataContainer):
        return [*scene_list.unique_scene_labels]
    return sorted({item["scene_label"] for item in scene_list if "scene_label" in item})


def event_list_to_event_roll(
    source_event_list: Sequence[Event],
    event_label_list: list[str] | None = None,
    time_resolution: float = 0.01,
) -> Roll:
    """Return which class is active in which segment.

    Parameters
    ----------
    source_event_list : list of mappings
        The events.
    event_label_list : list of str, optional
        The classes, those of the events unless you name others.
    time_resolution : float, default 0.01
        The length of a segment in seconds.

    Returns
    -------
    array, shape (segments, classes)
        1 in each segment that an event touches, else 0. The last segment is that of the last offset.

    Examples
    --------
    >>> event_list_to_event_roll([{"onset": 1.5, "offset": 2.0, "event_label": "Dog"}], time_resolution=1.0)
    array([[0.],
           [1.]])
    """
    if not isinstance(source_event_list, list):
        raise ValueError(
            f"Unknown source_event_list type: {type(source_event_list).__name__} is not a list."
        )
    if event_label_list is None:
        event_label_list = unique_event_labels(source_event_list)
    length = segments(max_event_offset(source_event_list), time_resolution)
    roll = pad_event_roll(np.zeros((0, len(event_label_list))), length)
    for event in source_event_list:
        if event["event_label"] not in event_label_list:
            raise ValueError(
                f"The label {event['event_label']!r} of an event is not in the list of labels: "
                f"{listing([str(label) for label in event_label_list])}."
            )
        if "event_onset" in event and "event_offset" in event:
            onset, offset = event["event_onset"], event["event_offset"]
        else:
            onset, offset = event["onset"], event["offset"]
        first = math.floor(float(onset) / float(time_resolution))
        roll[first : segments(offset, time_resolution), event_label_list.index(event["event_label"])] = 1
    return roll


def segments(seconds: float, time_resolution: float) -> int:
    """Return the number of segments that some seconds touch."""
    return math.ceil(float(seconds) / float(time_resolution))


def pad_event_roll(event_roll: Roll, length: int) -> Roll:
    """Return an event roll with at least this many segments."""
    missing = length - event_roll.shape[0]
    refuse_beyond_memory(
        16 * length * event_roll.shape[1],
        f"An event roll of {length} segments needs",
        "Use a larger time_resolution, and check the ends of the events.",
    )
    return (
        np.vstack([event_roll, np.zeros((missing, event_roll.shape[1]))]) if missing > 0 else event_roll
    )


def match_event_roll_lengths(
    event_roll_a: Roll, event_roll_b: Roll, length: float | None = None
) -> tuple[Roll, Roll]:
    """Return two event rolls with the same number of segments: that of the longer one, or ``length``."""
    wanted = max(len(event_roll_a), len(event_roll_b)) if length is None else int(length)
    return pad_event_roll(event_roll_a[:wanted], wanted), pad_event_roll(event_roll_b[:wanted], wanted)


def first_fit(candidates: Iterable[Sequence[V]]) -> dict[int, V]:
    """Return for each row its first candidate that no earlier row has taken.

    >>> first_fit([[0, 1], [0], [1, 2]])
    {0: 0, 2: 1}
    """
    taken: set[V] = set()
    pairs = {}
    for row, choices in enumerate(candidates):
        choice = next((choice for choice in choices if choice not in taken), None)
        if choice is not None:
            pairs[row] = choice
            taken.add(choice)
    return pairs


def bipartite_match(graph: Mapping[U, Sequence[V]]) -> dict[V, U]:
    """Return as many pairs as possible, by the algorithm of Hopcroft and Karp (1973).

    There may be several ways to form them. This one is settled by the order of the graph: sed_eval's
    substitutions are counted among the events without a partner, so which ones these are matters.

    Parameters
    ----------
    graph : mapping
        The neighbours of each left vertex.

    Returns
    -------
    dict
        The left partner of each right vertex that has one.

    Examples
    --------
    >>> bipartite_match({"a": [0, 1], "b": [0]}) == {0: "b", 1: "a"}
    True
    """
    partner: dict[V, U] = {}
    for left, neighbours in graph.items():
        free = next((right for right in neighbours if right not in partner), None)
        if free is not None:
            partner[free] = left
    while True:
        previous, before, ends = _layers(graph, partner)
        if not ends:
            return partner
        for end in ends:
            _augment(end, partner, previous, before)


def _layers(
    graph: Mapping[U, Sequence[V]], partner: Mapping[V, U]
) -> tuple[dict[U, V | None], dict[V, list[U]], list[V]]:
    """Return the shortest alternating paths from left vertices without a partner.

    These are: of each left vertex the right one before it (None: a path begins here), of each right vertex
    the left ones before it, and the right vertices without a partner, at which paths end.
    """
    paired = set(partner.values())
    previous: dict[U, V | None] = {left: None for left in graph if left not in paired}
    before: dict[V, list[U]] = {}
    ends: list[V] = []
    layer = list(previous)
    while layer and not ends:
        reached: dict[V, list[U]] = {}
        for left in layer:
            for right in graph[left]:
                if right not in before:
                    reached.setdefault(right, []).append(left)
        before.update(reached)
        ends = [right for right in reached if right not in partner]
        layer = [partner[right] for right in reached if right in partner]
        previous.update((partner[right], right) for right in reached if right in partner)
    return previous, before, ends


def _augment(end: V, partner: dict[V, U], previous: dict[U, V | None], before: dict[V, list[U]]) -> None:
    """Follow a path back to where it begins, and pair its vertices anew. Each vertex is visited once."""
    path: list[tuple[V, Iterator[U]]] = [(end, iter(before.pop(end)))]
    lefts: list[U] = []
    while path:
        for left in path[-1][1]:
            if left not in previous:
                continue
            right = previous.pop(left)
            if right is None:
                partner.update(zip((vertex for vertex, _ in path), [*lefts, left], strict=True))
                return
            if right in before:
                lefts.append(left)
                path.append((right, iter(before.pop(right))))
                break
        else:
            path.pop()
            if lefts:
                lefts.pop()


_EVENTS = by_name(filter_event_list, max_event_offset, unique_event_labels, unique_files)
_ROLLS = by_name(event_list_to_event_roll, match_event_roll_lengths, pad_event_roll)
add_submodule(__name__, "event_list", "Lists of events.", _EVENTS)
add_submodule(
    __name__, "event_matching", "Pairs of detections and references.", by_name(bipartite_match)
)
add_submodule(__name__, "event_roll", "Which class is active in which segment.", _ROLLS)
add_submodule(__name__, "scene_list", "Lists of scenes.", by_name(unique_scene_labels))
