"""Labels of reference events that are ignored, whatever the class."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import SedscopeError, listing, with_guesses


def as_ignored_labels(labels: Iterable[str]) -> set[str]:
    """Return labels of events that are ignored for every class, without white space around them."""
    names = [labels] if isinstance(labels, str) else [*labels]
    if isinstance(labels, str) or not all(isinstance(name, str) and name.strip() for name in names):
        raise SedscopeError(f"ignored_labels must be a list of labels, not {labels!r}.")
    return {name.strip() for name in names}


def unused_ignored_labels_note(ignored_labels: Iterable[str], labels: Iterable[str]) -> list[str]:
    """Note labels that are to be ignored, but that no event has. ``labels``: those of all events."""
    known = {label.strip() for label in labels}
    unused = sorted(as_ignored_labels(ignored_labels) - known)
    if not unused:
        return []
    number = "label" if len(unused) == 1 else "labels"
    return [
        f"No reference event has the ignored {number} {listing(with_guesses(unused, sorted(known)))}. "
        "Check ignored_labels= (--ignored-label)."
    ]
