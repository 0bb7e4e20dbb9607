"""What all metrics of sed_eval have: results overall, of each class and averaged, and a report of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

_LINE_LENGTH = 40  # of the line below a header
_VALUE_COLUMN = 35

F_MEASURE = (("f_measure", "F-measure (F1)"), ("precision", "Precision"), ("recall", "Recall"))
"""The names of the F-measure and its parts in the results, and in reports."""


class ClassMetrics(ABC):
    """Base of the metrics."""

    title: str
    """The header of the report."""
    _report_parts: ClassVar[tuple[str, ...]] = (
        "parameters",
        "overall",
        "class_wise_average",
        "class_wise",
    )

    @abstractmethod
    def results_overall_metrics(self) -> dict[str, Any]:
        """Return the metrics of all classes together (micro-average)."""

    @abstractmethod
    def results_class_wise_metrics(self) -> dict[str, Any]:
        """Return the metrics of each class."""

    @abstractmethod
    def results_class_wise_average_metrics(self) -> dict[str, Any]:
        """Return the means over classes (macro-average)."""

    def results(self) -> dict[str, Any]:
        """Return all metrics: overall, of each class, and averaged over classes."""
        return {
            "overall": self.results_overall_metrics(),
            "class_wise": self.results_class_wise_metrics(),
            "class_wise_average": self.results_class_wise_average_metrics(),
        }

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        """Leave the block. Errors in it are raised."""
        return False

    def __str__(self) -> str:
        parts = (getattr(self, f"result_report_{part}")() for part in self._report_parts)
        return header(self.title) + "".join(f"{part}\n" for part in parts)


def header(text: str, indent: int = 0) -> str:
    """Return a header and the line below it."""
    blank = " " * indent
    return f"{blank}{text}\n{blank}{'=' * (_LINE_LENGTH - indent)}\n"


def value_line(field: str, value: Any, unit: str = "", indent: int = 2) -> str:
    """Return a line with the name of a value, the value and its unit."""
    if isinstance(value, float):
        value = f"{value:.2f}"
    elif value is None:
        unit = ""
    return f"{' ' * indent}{field:<{_VALUE_COLUMN - indent}} : {value} {unit}\n"


def value_lines(title: str, values: Iterable[tuple[str, float | None, str]]) -> str:
    """Return a title, and below it lines with names, values and units. Percentages are given as shares."""
    lines = [f"  {title}\n"]
    for field, value, unit in values:
        if unit == "%" and value is not None:
            value *= 100.0  # 0, too, has two decimals
        lines.append(value_line(field, value, unit, indent=4))
    return "".join(lines)


class Table:
    """A table with columns of fixed widths.

    Parameters
    ----------
    columns : sequence of (str, int, str, bool)
        Of each column the header, the width, the format of its values and whether a vertical line follows.
    """

    def __init__(self, columns: Sequence[tuple[str, int, str, bool]]) -> None:
        self.columns = columns

    def text(self, rows: Iterable[Sequence[Any]]) -> str:
        """Return the header, a line and all rows."""
        formats = [column[2] for column in self.columns]
        cells = [
            [column[0] for column in self.columns],
            ["-"] * len(self.columns),
            *([_formatted(*value) for value in zip(row, formats, strict=True)] for row in rows),
        ]
        return "".join(f"    {self._line(row)}\n" for row in cells)

    def _line(self, cells: Sequence[str]) -> str:
        parts = []
        for cell, (_, width, _, separated) in zip(cells, self.columns, strict=True):
            room = width - 3
            if cell == "-":
                cell = "-" * room
            elif len(cell) > room:
                cell = f"{cell[: room - 2]}.."
            parts.append(f"{cell:<{room}} {'|' if separated else ' '}")
        return " ".join(parts)


def _formatted(value: Any, layout: str) -> str:
    """Return a value as text: ``d`` is a whole number, ``.1%`` a percentage that is given as a share."""
    if value is None or not layout:
        return str(value)
    if layout == "d":
        return str(int(value))
    if layout == ".1%":
        return f"{value * 100:.1f}%"
    return format(value, layout)
