"""Curves as tables: data frames, and what notebooks show."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ..errors import counted
from ..notebook.data_frame import Column, Tabular, polars_frame
from ..notebook.html_table import html_points

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame


class CurveTable(Tabular):
    """Base of the curves. Each has a row per operating point."""

    @abstractmethod
    def _columns(self) -> dict[str, Column]:
        """Return the columns of the data frame, by name."""

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per operating point."""
        return polars_frame(self._columns())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(self._points(), 'operating point')}>"

    def _repr_html_(self) -> str:
        return html_points(type(self).__name__, self._columns())

    def _points(self) -> int:
        return len(next(iter(self._columns().values())))
