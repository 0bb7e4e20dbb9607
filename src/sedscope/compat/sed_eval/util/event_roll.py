"""Event rolls: which class is active in which segment."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....data.size_limits import refuse_beyond_memory
from ....errors import listing
from .event_list import Event, max_event_offset, unique_event_labels

Roll = NDArray[np.float64]


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
        f"An event roll of {length:,} segments needs",
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
