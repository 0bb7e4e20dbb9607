"""Which reference events are ignored: by label, or by a condition on their confidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import SedscopeError, listing, shortened, with_guesses
from .tables import parse_number


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


_CONDITION = re.compile(r"\s*(>=?)\s*(\S+)\s*")


@dataclass(frozen=True)
class ConfidenceLimit:
    """How confident the annotators must be about an event that counts as a reference."""

    limit: float
    inclusive: bool
    """Whether a confidence equal to the limit is enough."""

    @classmethod
    def parse(cls, text: str) -> ConfidenceLimit:
        """Read a condition.

        >>> ConfidenceLimit.parse("> 0.5").admits(0.5), ConfidenceLimit.parse(">=0.5").admits(0.5)
        (False, True)
        """
        match = _CONDITION.fullmatch(text) if isinstance(text, str) else None
        try:
            limit = parse_number(match[2]) if match else math.nan
        except ValueError:
            limit = math.nan
        if match is None or not math.isfinite(limit):
            raise SedscopeError(
                f"confidence={shortened(repr(text), 60)} is not a condition. Write '> 0.5' or '>= 0.5'."
            )
        return cls(limit, inclusive=match[1] == ">=")

    def admits(self, confidence: float) -> bool:
        """Return whether an event of this confidence counts as a reference."""
        return confidence >= self.limit if self.inclusive else confidence > self.limit
