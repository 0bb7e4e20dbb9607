"""The panels of the report: one module each, in the order of the page.

To add a panel, write a module here with its ``PANEL``, list it in ``PANELS``, and write a module of the
same name in ``static/panels`` that draws it.
"""

from __future__ import annotations

from ..source import Data, Panel, ReportSource
from . import (
    alarms,
    calibration,
    clips,
    cross_triggers,
    curves,
    errors,
    groups,
    psd_roc,
    queries,
    systems,
)

CLASSES = Panel("classes", "Classes", lambda _: ({}, ()))
"""The table of classes: values, sliders and counts. It reads only what all panels share."""

PANELS: tuple[Panel, ...] = (
    *(systems.PANEL, CLASSES, groups.PANEL, psd_roc.PANEL, queries.PANEL, curves.PANEL),
    *(calibration.PANEL, alarms.PANEL, cross_triggers.PANEL, errors.PANEL, clips.PANEL),
)


def build_panels(source: ReportSource) -> tuple[list[Data], list[str]]:
    """Build the panels that have something to show, and list what they leave out."""
    entries: list[Data] = []
    notes: list[str] = []
    for panel in PANELS:
        content = panel.build(source)
        if content is not None:
            data, omitted = content
            entries.append({"name": panel.name, "heading": panel.heading, "data": data})
            notes += omitted
    return entries, notes
