"""The columns of scores under new labels: several of them become one, others are left out.

The score of a merged class at each instant is the highest, or the mean, of the scores of its labels. In a
list of detections, an event has a score at each instant between its onset and offset, but not at these
themselves. So events that only touch stay apart, whichever labels they had, unless another event of the
class goes on across the instant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ..errors import SedscopeError, listing
from .arrays import IntArray, ScoreArray
from .clip_events import ClipEvents
from .group_means import group_means
from .label_maps import LabelMap
from .labels import shown_label
from .recordings import ClipPieces
from .score_arrays import ClipScores


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
