"""The panels of the report: one module each, in the order of the page.

To add a panel, write a module here with its ``PANEL``, list it in ``PANELS``, and write a module of the
same name in ``static/panels`` that draws it.
"""

from __future__ import annotations

from ..source import Data, Panel, ReportSource
from .alarms import PANEL as ALARMS
from .calibration import PANEL as CALIBRATION
from .clips import PANEL as CLIPS
from .cross_triggers import PANEL as CROSS_TRIGGERS
from .curves import PANEL as CURVES
from .errors import PANEL as ERRORS
from .groups import PANEL as GROUPS
from .psd_roc import PANEL as PSD_ROC
from .queries import PANEL as QUERIES
from .systems import PANEL as SYSTEMS

CLASSES = Panel("classes", "Classes", lambda _: ({}, ()))
"""The table of classes: values, sliders and counts. It reads only what all panels share."""

PANELS: tuple[Panel, ...] = (
    SYSTEMS,
    CLASSES,
    GROUPS,
    PSD_ROC,
    QUERIES,
    CURVES,
    CALIBRATION,
    ALARMS,
    CROSS_TRIGGERS,
    ERRORS,
    CLIPS,
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
