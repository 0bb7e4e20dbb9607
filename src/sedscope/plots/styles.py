"""How curves are told apart: by colours and dashes, in the order of the report page."""

from __future__ import annotations

from typing import Any

_COLOURS = (
    *("#0072b2", "#c64f00", "#00825f", "#a8568a", "#8a6a00", "#5d6166", "#7a4b2a", "#8d6df9", "#bb084b"),
    *("#5d9f2e", "#163bb8", "#f45593", "#304c03", "#808d96", "#560499", "#0a4475", "#bf841e", "#800a54"),
    *("#cb5dd3", "#7240c9"),
)
_DASHES = ("-", "--", ":", "-.")
_SAME_DASH = 10  # styles

STYLES = 40
"""How many styles differ. The first 20 differ in colour."""

OVERALL = {"color": "black", "linewidth": 2.0, "zorder": 1.9}
"""The style of all classes together: a broad line behind those of the classes."""

CROWD = {"color": "0.75", "linewidth": 0.5}
"""The style of each class where there are more classes than styles."""


def line_style(number: int, *, width: float = 1.0) -> dict[str, Any]:
    """Return the options of matplotlib for a class or a system."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _DASHES[number // _SAME_DASH % len(_DASHES)],
        "linewidth": width,
    }
