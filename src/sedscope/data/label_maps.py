"""Label maps: what the labels of a system or of the ground truth are called in an evaluation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from ..errors import SedscopeError, counted, listing, refuse_nul, shortened
from .labels import proposed_pairs, shown_label, with_likely_labels

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
    propose_label_map : Pair labels that are spelled differently.

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
        if self.combine not in get_args(Combine):
            raise SedscopeError(f"combine={self.combine!r} is not valid. Choose 'max' or 'mean'.")
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


def propose_label_map(system: Iterable[str], truth: Iterable[str]) -> LabelMap:
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
    >>> sed.propose_label_map(["dog", "Parus major_Great Tit", "Wind"], ["Dog", "Great Tit", "Rain"])
    LabelMap({'dog': 'Dog', 'Parus major_Great Tit': 'Great Tit'}, combine='max')
    """
    return LabelMap(dict(proposed_pairs(system, truth)))


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
