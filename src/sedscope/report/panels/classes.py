"""The table of classes: values, sliders and counts. It reads only what all panels share."""

from __future__ import annotations

from dataclasses import dataclass

from ..schema import PanelData
from ..source import Panel, PanelContent, ReportSource


@dataclass(frozen=True)
class ClassesData(PanelData):
    """Nothing: values and counts are part of the page."""


def build(_: ReportSource) -> PanelContent:
    """Return no data: the table has none of its own."""
    return PanelContent(ClassesData())


PANEL = Panel("classes", "Classes", build)
