"""The choices of what is evaluated, and of what becomes of input that does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

ClipChoice: TypeAlias = Iterable[str] | Literal["scored"] | None
"""Some clips; ``"scored"``: all clips that have scores; None: the same, but then every clip of the ground
truth must have scores."""
Missing: TypeAlias = Literal["error", "empty"]
"""Clips that the ground truth does not list: refuse them, or take them as clips without events."""
Invalid: TypeAlias = Literal["error", "drop"]
"""Events that have no length or begin after their clip ends: refuse them, or leave them out."""
Coverage: TypeAlias = Literal["error", "any"]
"""Scores that end long before or after most of their clips: refuse them, or evaluate them as they are."""
Overlaps: TypeAlias = Literal["error", "merge"]
"""Overlapping events of one class: refuse them, or merge them."""
