"""Error types: what can be wrong with a detection or a reference.

A false detection and a missed reference often have one cause: an event that is found in fragments is both.
``CAUSES`` says which error types of either side belong together.
"""

from __future__ import annotations

from collections.abc import Mapping

CAUSES: Mapping[str, tuple[str | None, str | None]] = {
    "missed": ("missed", None),
    "fragmented": ("fragmented", "fragment"),
    "merged": ("merged", "merged"),
    "too_long": ("too_long", "too_long"),
    "too_short": ("too_short", "too_short"),
    "onset": ("onset", "onset"),
    "offset": ("offset", "offset"),
    "cross_trigger": (None, "cross_trigger"),
    "background": (None, "background"),
}
"""Each cause, with the error type of the references and of the detections that it explains."""

TYPES = (("found", "true"), *CAUSES.values(), (None, "ignored"))  # in the order of the core
NOT_FALSE = ("true", "ignored")
"""The types of detections that are not false positives."""
REFERENCE_TYPES = tuple(name for name, _ in TYPES if name)
DETECTION_TYPES = tuple(name for _, name in TYPES if name)
