"""What a panel of the report is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..schema import PanelData
from ..source import ReportSource


@dataclass(frozen=True)
class PanelContent:
    """The data of a panel, and what it leaves out."""

    data: PanelData
    notes: tuple[str, ...] = ()
    """Sentences for the list of what the page leaves out."""


@dataclass(frozen=True)
class Panel:
    """A section of the page: Python builds its data, and ``static/panels/<name>.js`` draws it."""

    name: str
    """The name of its JavaScript module, and the id of its section."""
    heading: str
    build: Callable[[ReportSource], PanelContent | None]
    """Build its content; None leaves the panel out of the page."""
