"""Scores, ground truth and events under new labels."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, listing
from .arrays import IntArray, ScoreArray, group_means
from .clip_events import ClipEvents
from .events import Events, merged_events
from .label_maps import AppliedMap, LabelMap, LabelMapLike, as_label_map
from .labels import shown_label
from .recordings import ClipPieces
from .score_arrays import ClipScores
from .times import to_ticks
from .truth_summary import late_ends_of, notes_without_late_ends

if TYPE_CHECKING:
    from .ground_truth import GroundTruth
    from .scores import Scores


class MergedColumns:
    """What a label map does to the columns of scores.

    ``assumed``: classes that only the ground truth is known to have. Where a label of the system becomes the
    same class, they have no part in it. ``events``: whether the scores are a list of detections.
    """

    def __init__(
        self, classes: Sequence[str], assumed: Collection[str], label_map: LabelMap, *, events: bool
    ) -> None:
        columns: dict[str, list[int]] = {}
        for column, label in enumerate(classes):
            target = label_map.target(label)
            if target is not None:
                columns.setdefault(target, []).append(column)
        if not columns:
            raise SedscopeError(
                f"The label map drops all classes of the scores: {listing(classes, limit=30)}."
            )
        for target, of_class in columns.items():
            named = [column for column in of_class if classes[column] not in assumed]
            columns[target] = named or of_class[:1]
        self.classes = tuple(columns)
        self.assumed = frozenset(
            target for target, of_class in columns.items() if classes[of_class[0]] in assumed
        )
        self.sources = tuple(classes)
        merged = {
            target: tuple(classes[column] for column in of_class)
            for target, of_class in columns.items()
            if len(of_class) > 1
        }
        self.combine = label_map.combine
        if merged and events and self.combine == "mean":
            raise SedscopeError(
                "A list of detections has no scores where nothing is detected, so labels cannot be merged "
                f"by the mean: {listing([shown_label(target) for target in merged])}. Use combine='max'."
            )
        self.definition = f"merged({merged}, combine={self.combine!r})" if merged else ""
        """How classes are made of several labels; empty if none is."""
        self.same_values = len(columns) == len(classes)
        """Whether labels get new names, and nothing else changes."""
        self._events = events and bool(merged)
        self._columns: IntArray = np.array([c for of_class in columns.values() for c in of_class])
        sizes = np.array([len(of_class) for of_class in columns.values()])
        self._starts: IntArray = np.cumsum(sizes) - sizes
        self._new_columns = np.full(len(classes), -1, np.int32)
        """The new column of each old one; -1 if it is dropped."""
        self._new_columns[self._columns] = np.repeat(np.arange(len(sizes)), sizes)
        self.identity = hashlib.sha256(
            repr((self.sources, self.classes, columns, self.combine)).encode()
        ).hexdigest()
        """A text on which the new columns depend, besides the old ones."""

    def clip(self, clip: ClipScores | ClipPieces | ClipEvents) -> ClipScores | ClipPieces | ClipEvents:
        """Return the scores of a clip in the new columns."""
        if self.same_values:
            return clip
        if isinstance(clip, ClipEvents):
            return clip.in_columns(self._new_columns)
        if isinstance(clip, ClipPieces):
            if self._events:
                raise SedscopeError(
                    "Labels of detections that come in pieces cannot be merged. Give the clip as one array."
                )
            return clip.changed(lambda: self._pieces(clip))
        if self._events:
            return self._apart(clip)
        return ClipScores.unchecked(self._values(clip.values), clip.ticks)

    def _pieces(self, clip: ClipPieces) -> Iterator[ScoreArray]:
        for piece in clip.pieces(len(self.sources)):
            yield self._values(piece)
            del piece  # before the next one is made

    def _values(self, values: ScoreArray) -> ScoreArray:
        chosen: ScoreArray = np.ascontiguousarray(values[:, self._columns])
        if not self.definition:
            return chosen
        if self.combine == "max":
            highest: ScoreArray = np.maximum.reduceat(chosen, self._starts, axis=1)
            return highest
        new_columns = self._new_columns[self._columns]
        means: ScoreArray = np.ascontiguousarray(group_means(chosen.T, new_columns, len(self.classes)).T)
        return means  # NaN for inf and -inf; the evaluation refuses it

    def _apart(self, clip: ClipScores) -> ClipScores:
        """Merge events by their maximum. Where events of a new class only touch, a frame of no length keeps
        them apart."""
        values, ticks = clip.values, clip.ticks
        merged = self._values(values)
        if len(values) < 2:
            return ClipScores.unchecked(merged, ticks)
        # the score at the instant between two frames is that of the labels that are active in both
        between = self._values(np.minimum(values[:-1], values[1:]))
        apart = (between < np.minimum(merged[:-1], merged[1:])).any(axis=1)
        has_length = np.diff(ticks) > 0
        rows = np.flatnonzero(apart & has_length[:-1] & has_length[1:])
        return ClipScores.unchecked(
            np.insert(merged, rows + 1, between[rows], axis=0),
            np.insert(ticks, rows + 1, ticks[rows + 1]),
        )


def relabelled_scores(scores: Scores, label_map: LabelMapLike) -> Scores:
    """Rename, merge and drop the columns of a clip when it is needed."""
    names = as_label_map(label_map)
    events = not scores.whole_clips
    columns = MergedColumns(scores.classes, scores.assumed_classes, names, events=events)

    def load(clip: str) -> ClipScores | ClipPieces | ClipEvents:
        return columns.clip(scores.open(clip))

    def identify(clip: str) -> str | None:
        identity = scores.identity(clip)
        return None if identity is None else f"relabelled {columns.identity} of {identity}"

    merging = (columns.definition,) if columns.definition else ()
    return scores._remade(
        scores,
        load,
        classes=columns.classes,
        in_memory=scores.in_memory and columns.same_values,
        identify=identify,
        processing=(*scores.processing, *merging),
        assumed_classes=columns.assumed,
        locate=None if events and merging else scores._frame_locations,  # frames may be others
        label_maps=(*scores.label_maps, AppliedMap(names, scores.classes)),
    )


def relabelled_truth(truth: GroundTruth, label_map: LabelMapLike) -> GroundTruth:
    """Give the events of a ground truth their new labels, and merge those that become one class."""
    names = as_label_map(label_map)
    everywhere = {names.target(label) or label for label in truth.ignored_labels}
    still_classes = [label for label in truth.labels if names.target(label) == label in everywhere]
    if still_classes:
        raise SedscopeError(
            f"The label map gives a label that is ignored for every class the name of a class: "
            f"{listing(still_classes)}. Choose another name."
        )
    old_labels = (*truth.labels, *truth.ignored_labels)
    targets = [names.target(label) for label in old_labels]
    labels = sorted({target for target in targets if target is not None} - everywhere)
    number = {label: i for i, label in enumerate((*labels, *sorted(everywhere)))}
    new_labels = [-1 if target is None else number[target] for target in targets]
    event_labels = np.array(new_labels, np.int32)[truth.event_labels]
    ignored = truth.ignored | (event_labels >= len(labels))
    rows, offsets = merged_events(
        truth.onsets,
        truth.offsets,
        truth.event_clips,
        event_labels,
        ignored,
        merge=truth.overlaps != "keep",
    )
    renamed = copy(truth)
    renamed.labels, renamed.ignored_labels = tuple(labels), tuple(sorted(everywhere))
    renamed.event_clips, renamed.event_labels = truth.event_clips[rows], event_labels[rows]
    renamed.onsets, renamed.offsets, renamed.ignored = truth.onsets[rows], offsets, ignored[rows]
    renamed.warnings = (*notes_without_late_ends(truth), *late_ends_of(renamed))
    renamed._noted = None  # its rows have the old labels
    renamed.label_maps = (*truth.label_maps, AppliedMap(names, old_labels))
    return renamed


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
