"""Label maps: what labels are called in an evaluation, and scores and ground truth under new labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..errors import SedscopeError, counted, listing, refuse_nul, shortened
from .arrays import IntArray, ScoreArray, group_means, sha256
from .choices import check_choice
from .clip_events import AnyClip, ClipEvents
from .clip_scores import ClipPieces, ClipScores
from .events import merged_events
from .labels import proposed_pairs, shown_label, with_likely_labels

if TYPE_CHECKING:
    from .ground_truth import GroundTruth
    from .scores import Scores

Combine: TypeAlias = Literal["max", "mean"]
"""How the scores of several labels become those of one."""
LabelMapLike: TypeAlias = "LabelMap | Mapping[str, str | None]"
"""A label map, or its names alone."""


@dataclass(frozen=True)
class LabelMap:
    """New names of labels: rename labels, merge several into one, or drop them.

    All names are replaced at once, so two labels can be swapped. A map that renames a label to one that
    it renames again, as in ``{"a": "b", "b": "c"}``, is refused, because it could mean two things.

    Parameters
    ----------
    names : mapping from str to str or None
        The new name of each label. None or an empty text drops the label. Labels that are not named
        stay as they are. Labels with the same new name become one class, together with a label that has
        this name already.
    combine : {'max', 'mean'}, default 'max'
        The score of a class that is made of several labels, at each instant: the highest or the mean of
        theirs. Lists of detections need ``'max'``, because they have no score where nothing is
        detected.

    See Also
    --------
    Scores.relabelled, GroundTruth.relabelled : Apply a map.
    read_label_map : Read a map from a file.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2, 0.9, 0.4]]}, classes=["car", "bus", "x"], frame=1.0)
    >>> label_map = sed.LabelMap({"car": "vehicle", "bus": "vehicle", "x": None})
    >>> scores.relabelled(label_map)["a"].values.tolist()
    [[0.9]]
    """

    names: Mapping[str, str | None]
    combine: Combine = "max"

    def __post_init__(self) -> None:
        if not isinstance(self.names, Mapping):
            raise SedscopeError(
                f"A label map needs a mapping from labels to labels, not {type(self.names).__name__}."
            )
        check_choice(Combine, combine=self.combine)
        names = _checked_names(self.names)
        problems = ambiguous_names(names)
        if problems:
            raise SedscopeError(f"The label map is ambiguous: {listing([*problems.values()])}.")
        object.__setattr__(self, "names", MappingProxyType(names))

    def __hash__(self) -> int:
        return hash((frozenset(self.names.items()), self.combine))

    def __repr__(self) -> str:
        return f"LabelMap({dict(self.names)!r}, combine={self.combine!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelMap, (dict(self.names), self.combine)

    def target(self, label: str) -> str | None:
        """Return what a label becomes.

        Parameters
        ----------
        label : str
            A label.

        Returns
        -------
        str or None
            The new label. None if the label is dropped.

        Examples
        --------
        >>> label_map = LabelMap({"dog": "Dog", "noise": None})
        >>> [label_map.target(label) for label in ("dog", "Cat", "noise")]
        ['Dog', 'Cat', None]
        """
        return self.names.get(label, label)

    @staticmethod
    def propose(system: Iterable[str], truth: Iterable[str]) -> LabelMap:
        """Propose new names for labels of a system that the ground truth spells differently.

        It pairs labels that only one side has: those that differ only in case, white space, underscores and
        hyphens; ``Genus species_Common name`` and one of the two names; and those with one wrong letter in a
        word of at least five letters. A label that could have two partners gets none, so the proposal never
        merges labels.

        Parameters
        ----------
        system : iterable of str
            The labels of the system.
        truth : iterable of str
            The labels of the ground truth.

        Returns
        -------
        LabelMap
            Labels of the system, and what the ground truth calls them.

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.LabelMap.propose(["dog", "Parus major_Great Tit", "Wind"], ["Dog", "Great Tit", "Rain"])
        LabelMap({'dog': 'Dog', 'Parus major_Great Tit': 'Great Tit'}, combine='max')
        """
        return LabelMap(dict(proposed_pairs(system, truth)))


def as_label_map(label_map: LabelMapLike) -> LabelMap:
    """Return a label map, also for a mapping from labels to labels."""
    return label_map if isinstance(label_map, LabelMap) else LabelMap(label_map)


def joined_maps(first: LabelMap | None, second: LabelMap | None) -> LabelMap | None:
    """Return one map with the names of two. Refuse maps that contradict each other."""
    if first is None or second is None:
        return first or second
    differing = [
        label
        for label in first.names
        if label in second.names and second.names[label] != first.names[label]
    ]
    if differing:
        shown = [
            f"{shown_label(label)} becomes {_shown_target(first.names[label])} or "
            f"{_shown_target(second.names[label])}"
            for label in differing
        ]
        raise SedscopeError(f"Two label maps contradict each other: {listing(shown)}.")
    if first.combine != second.combine:
        raise SedscopeError(
            'One label map says combine = "max" and another one "mean". Use one of them.'
        )
    return LabelMap({**first.names, **second.names}, first.combine)


@dataclass(frozen=True)
class AppliedMap:
    """A map that was applied, and the labels that it was applied to."""

    label_map: LabelMap
    labels: tuple[str, ...]


def unused_names_note(applied: Iterable[AppliedMap], labels: Collection[str]) -> list[str]:
    """Note names in label maps that nothing has, each with the label that may have been meant.

    ``applied``: the maps of both sides. ``labels``: those of both sides, after the maps.
    """
    maps = dict.fromkeys(applied)
    known = dict.fromkeys([*(label for used in maps for label in used.labels), *labels])
    unused = dict.fromkeys(name for used in maps for name in used.label_map.names if name not in known)
    if not unused:
        return []
    shown = listing(with_likely_labels([*unused], known))
    number = counted(len(unused), "label")
    return [f"The label map names {number} that neither the system nor the ground truth has: {shown}."]


def no_effect_note(applied: Iterable[AppliedMap]) -> list[str]:
    """Note maps none of whose names occurs, where there is only one side that could have them."""
    return [
        "The label map names no label that occurs. It names "
        f"{listing(with_likely_labels([*used.label_map.names], used.labels))}; the labels are "
        f"{listing([shown_label(label) for label in used.labels])}."
        for used in applied
        if used.label_map.names and not {*used.labels}.intersection(used.label_map.names)
    ]


def ambiguous_names(names: Mapping[str, str | None]) -> dict[str, str]:
    """Return what is ambiguous about names that are replaced at once: a label that becomes another one
    which is renamed or dropped as well.

    Labels that only change places are fine.
    """
    problems: dict[str, str] = {}
    for label, target in names.items():
        if target is None or target == label or names.get(target, target) == target:
            continue
        if not _changes_places(label, names):
            after = names[target]
            then = (
                f"{shown_label(target)} is dropped"
                if after is None
                else (f"{shown_label(target)} becomes {shown_label(after)}")
            )
            problems[label] = (
                f"{shown_label(label)} becomes {shown_label(target)}, but {then}. A map is applied once: "
                f"write what {shown_label(label)} is called in the end"
            )
    return problems


def _changes_places(label: str, names: Mapping[str, str | None]) -> bool:
    """Return whether the new names lead from a label back to it."""
    seen = {label}
    target = names[label]
    while target is not None and target not in seen:
        seen.add(target)
        target = names.get(target)
    return target == label


def _checked_names(names: Mapping[str, str | None]) -> dict[str, str | None]:
    checked: dict[str, str | None] = {}
    refuse_nul((*names, *names.values()), "class")
    for label, target in names.items():
        if not isinstance(label, str) or not (target is None or isinstance(target, str)):
            pair = shortened(f"{label!r}: {target!r}", 100)
            raise SedscopeError(f"Labels must be texts, and new labels texts or None, not {pair}.")
        name, new = label.strip(), None if target is None else target.strip() or None
        if not name:
            raise SedscopeError("A label map has an entry for an empty label.")
        if name in checked and checked[name] != new:
            raise SedscopeError(
                f"The label map contradicts itself: {shown_label(name)} becomes "
                f"{_shown_target(checked[name])} or {_shown_target(new)}."
            )
        checked[name] = new
    return checked


def _shown_target(target: str | None) -> str:
    return "nothing (dropped)" if target is None else shown_label(target)


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
        self.identity = sha256(
            repr((self.sources, self.classes, columns, self.combine)).encode()
        ).hexdigest()
        """A text on which the new columns depend, besides the old ones."""

    def clip(self, clip: AnyClip) -> AnyClip:
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
            return np.maximum.reduceat(chosen, self._starts, axis=1)
        new_columns = self._new_columns[self._columns]
        # NaN for inf and -inf; the evaluation refuses it
        return np.ascontiguousarray(group_means(chosen.T, new_columns, len(self.classes)).T)

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

    def load(clip: str) -> AnyClip:
        return columns.clip(scores.open(clip))

    merging = (columns.definition,) if columns.definition else ()
    return scores._remade(
        scores,
        load,
        classes=columns.classes,
        in_memory=scores.in_memory and columns.same_values,
        identify=scores._identified_by(f"relabelled {columns.identity}"),
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
    renamed.warnings = (*truth._lasting_notes(), *renamed._late_ends())
    renamed._noted = None  # its rows have the old labels
    renamed.label_maps = (*truth.label_maps, AppliedMap(names, old_labels))
    return renamed
