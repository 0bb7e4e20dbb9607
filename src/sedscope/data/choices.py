"""The choices of what is evaluated, and of what becomes of input that does not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..errors import SedscopeError, listing, shortened, with_guesses
from .tables import parse_number

ClipChoice: TypeAlias = Iterable[str] | Literal["scored"] | None
"""Some clips; ``"scored"``: all clips that have scores; None: the same, but then every clip of the ground
truth must have scores."""
Missing: TypeAlias = Literal["error", "empty"]
"""Clips that the ground truth does not list: refuse them, or take them as clips without events."""
Invalid: TypeAlias = Literal["error", "drop"]
"""Events that end before they begin, or begin after their clip ends: refuse them, or leave them out. So are
events of no length, unless the criterion judges points in time."""
Coverage: TypeAlias = Literal["error", "any"]
"""Scores that end long before or after most of their clips: refuse them, or evaluate them as they are."""
Overlaps: TypeAlias = Literal["error", "merge", "keep"]
"""Overlapping events of one class: refuse them, merge them, or keep them as they are."""
EventOverlaps: TypeAlias = Literal["error", "merge", "average", "keep"]
"""The same for detections, which may also be windows: the score at each instant is then the mean of those
that cover it."""
Gaps: TypeAlias = Literal["error", "silent"]
"""Gaps between frames: refuse them, or take them as frames in which nothing is active."""
Side: TypeAlias = Literal["system", "truth"]
"""What a file is read as: the output of a system, or the ground truth."""
Crossing: TypeAlias = Literal["cut", "ignore", "drop"]
"""Reference events that cross the border of a region: the part inside counts, is ignored, or is left out."""

ClipEnds: TypeAlias = Literal["stated", "events"]
"""Clips end where durations or scores say, or with their last reference or detection."""


def check_invalid(invalid: str) -> None:
    """Refuse an unknown choice for events that cannot be evaluated."""
    if invalid not in get_args(Invalid):
        raise SedscopeError(f"invalid={invalid!r} is not valid. Choose 'error' or 'drop'.")


def check_overlaps(overlaps: str) -> None:
    """Refuse an unknown choice for overlapping events."""
    if overlaps not in get_args(Overlaps):
        raise SedscopeError(f"overlaps={overlaps!r} is not valid. Choose 'error', 'merge' or 'keep'.")


def truth_overlaps(overlaps: EventOverlaps) -> Overlaps:
    """Return the choice for references that goes with one for detections: only windows are averaged."""
    return "error" if overlaps == "average" else overlaps


def check_gaps(gaps: str) -> None:
    """Refuse an unknown choice for gaps."""
    if gaps not in get_args(Gaps):
        raise SedscopeError(f"gaps={gaps!r} is not valid. Choose 'error' or 'silent'.")


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
