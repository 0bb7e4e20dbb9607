"""Functions for lists of events, lists of scenes and event rolls."""

from . import event_list, event_matching, event_roll, scene_list
from .event_list import filter_event_list, max_event_offset, unique_event_labels, unique_files
from .event_matching import bipartite_match
from .event_roll import event_list_to_event_roll, match_event_roll_lengths, pad_event_roll
from .scene_list import unique_scene_labels

__all__ = [
    "bipartite_match",
    "event_list",
    "event_list_to_event_roll",
    "event_matching",
    "event_roll",
    "filter_event_list",
    "match_event_roll_lengths",
    "max_event_offset",
    "pad_event_roll",
    "scene_list",
    "unique_event_labels",
    "unique_files",
    "unique_scene_labels",
]
