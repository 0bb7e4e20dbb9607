"""Numbers read off a report that a browser shows."""

from __future__ import annotations

import sedscope as sed

from .browser import Browser


def number(text: str) -> float:
    """A number as the page shows it."""
    return float(text.replace("\u2009", "").replace("−", "-"))


def thresholds(opened: Browser) -> dict[str, float]:
    """The thresholds that are chosen, from the file that the page saves."""
    opened.saved("points.toml", lambda: opened.click("#save"))
    return dict(sed.OperatingPoints.load(opened.downloads / "points.toml").thresholds)
