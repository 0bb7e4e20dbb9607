"""Results as data frames and as the HTML tables that notebooks show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, shortened
from ..escaping import html
from .text import number_or_blank

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame

    from ..metrics.metric import MetricResult


Column: TypeAlias = "NDArray[Any] | Sequence[str | None]"
"""Numbers as an array, or texts."""


class Tabular(ABC):
    """Anything that can become a data frame."""

    @abstractmethod
    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame. Values that are not defined are null.

        Returns
        -------
        polars.DataFrame
        """

    def to_pandas(self) -> PandasFrame:
        """Return what :meth:`to_polars` returns as a pandas data frame, with NaN in place of null.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}).to_pandas()["event_label"].tolist()
        ['Dog']
        """
        try:
            import pandas
        except ImportError:
            raise SedscopeError(
                "to_pandas needs pandas. Install it with: pip install pandas. to_polars works without it."
            ) from None
        frame = self.to_polars()  # its own to_pandas would need pyarrow as well
        return pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


def polars_frame(columns: Mapping[str, Column]) -> PolarsFrame:
    """Make a data frame. NaN becomes null, which averages leave out.

    >>> polars_frame({"class": ["Dog", None], "value": np.array([0.5, np.nan])}).rows()
    [('Dog', 0.5), (None, None)]
    """
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, column, nan_to_null=True)
            if isinstance(column, np.ndarray)
            else polars.Series(name, column, dtype=polars.String)
            for name, column in columns.items()
        ]
    )


def frame_from_rows(
    header: Sequence[str],
    rows: Iterable[Sequence[str | float | None]],
    *,
    texts: Collection[str],
    whole_numbers: Collection[str],
) -> PolarsFrame:
    """Make a data frame from rows of cells. ``texts``, ``whole_numbers``: the columns that hold these.

    >>> rows = [("Dog", 2), (None, 3)]
    >>> frame_from_rows(["class", "events"], rows, texts=["class"], whole_numbers=["events"]).rows()
    [('Dog', 2), (None, 3)]
    """
    import polars

    columns: dict[str, Any] = dict(zip(header, zip(*rows, strict=True), strict=True))
    frame = polars_frame(
        {name: cells if name in texts else number_column(cells) for name, cells in columns.items()}
    )
    return frame.cast(dict.fromkeys(whole_numbers, polars.Int64))


def number_column(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


ROWS = 20
COLUMNS = 12
_POINTS = 10
_CELL = 60  # characters
_NOTE = 400

_LEFT = ' style="text-align:left"'
_NUMBERS = ' style="text-align:right;white-space:nowrap"'  # not all notebooks do so by themselves


def html_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    total: int,
    noun: str,
    *,
    title: str = "",
    last: Sequence[str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Make a table of the first rows, the first column to the left and the others to the right.

    Only as many rows are read as are shown. ``total`` is how many there are, and ``noun`` says of what.
    ``last``: a row below all others. ``notes``: lines below the table.

    >>> html = html_table(["class", "F1"], ([f"class {i}", "0.5"] for i in range(5000)), 5000, "class")
    >>> html.count("<tr>"), "… and 4,980 more classes" in html
    (22, True)
    """
    shown = [_row(row, "td") for row in islice(rows, ROWS)]
    if total > ROWS:
        span = min(len(header), COLUMNS)
        shown.append(f'<tr><td colspan="{span}"{_LEFT}>{_more(total - ROWS, noun)}</td></tr>')
    if last is not None:
        shown.append(_row(last, "th"))
    lines = [shortened(note, _NOTE) for note in notes[:COLUMNS]]
    if len(header) > COLUMNS:
        lines.append(_more(len(header) - COLUMNS, "column"))
    return "".join(
        [
            f"<p>{html(shortened(title, _NOTE))}</p>" if title else "",
            f"<table{_NUMBERS}><thead>{_row(header, 'th')}</thead><tbody>{''.join(shown)}</tbody></table>",
            f"<p><small>{'<br>'.join(map(html, lines))}</small></p>" if lines else "",
        ]
    )


def html_facts(title: str, facts: Mapping[str, str]) -> str:
    """Make a table with one fact per row: its name and its value.

    >>> html_facts("Scores", {"clips": "3"}).count("<tr>")
    1
    """
    rows = "".join(
        f"<tr><th{_LEFT}>{html(name)}</th><td{_LEFT}>{html(shortened(value, _NOTE))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<p>{html(title)}</p><table><tbody>{rows}</tbody></table>"


def html_points(title: str, columns: Mapping[str, Column]) -> str:
    """Make a table of some operating points, evenly spread over columns that may have many.

    >>> html_points("Curve", {"score": np.arange(5000.0)}).count("<tr>")
    11
    """
    total = len(next(iter(columns.values())))
    rows = np.unique(np.linspace(0, total - 1, min(total, _POINTS)).round().astype(int)).tolist()
    shown = f"{len(rows):,} of {counted(total, 'operating point')}"
    return html_table(
        list(columns),
        ([_number(column[row]) for column in columns.values()] for row in rows),
        len(rows),
        "operating point",
        title=title,
        notes=[shown] if len(rows) < total else [],
    )


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def _row(cells: Sequence[str], tag: str) -> str:
    texts = [html(shortened(cell, _CELL)) for cell in cells[:COLUMNS]]
    return (
        "<tr>"
        + "".join(f"<{tag}{'' if column else _LEFT}>{text}</{tag}>" for column, text in enumerate(texts))
        + "</tr>"
    )


def _more(number: int, noun: str) -> str:
    return f"… and {number:,}{counted(number, f'more {noun}').removeprefix(str(number))}"


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


class ResultTable(Tabular):
    """Base of the results of metrics. Each has a row per class, and one over all classes."""

    def to_polars(self: MetricResult) -> PolarsFrame:
        """Return a polars data frame: the value over all classes, without a class, then that of each."""
        labels = list(self.per_class)
        values = [result.value for result in self.per_class.values()]
        return polars_frame(
            {
                "class": [None, *labels],
                "value": number_column([self.value, *values]),
                "threshold": number_column([None, *map(self.thresholds.get, labels)]),
            }
        )

    def __repr__(self: MetricResult) -> str:
        return f"<{type(self).__name__}: {self.value:.4f}, {counted(len(self.per_class), 'class')}>"

    def _repr_html_(self: MetricResult) -> str:
        thresholds = self.thresholds
        columns = 3 if thresholds else 2
        header = ["class", "value", "threshold"][:columns]
        rows = (
            [label, f"{result.value:.4f}", number_or_blank(thresholds.get(label), ".4g")][:columns]
            for label, result in self.per_class.items()
        )
        last = ["overall", f"{self.value:.4f}", ""][:columns]
        return html_table(header, rows, len(self.per_class), "class", title=repr(self), last=last)
