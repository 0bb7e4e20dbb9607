"""Results as data frames and as the HTML tables that notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import counted, shortened
from ..escaping import html
from .text import Part, Records, Table, line_text

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame


Column: TypeAlias = "NDArray[Any] | Sequence[str | None]"
"""Numbers as an array, or texts."""


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


def frame_of(records: Records) -> PolarsFrame:
    """Make a data frame from records.

    >>> frame_of(({"class": str, "events": int}, [("Dog", 2), (None, 3)])).rows()
    [('Dog', 2), (None, 3)]
    """
    import polars

    types, rows = records
    cells: list[Any] = [*zip(*rows, strict=True)] or [()] * len(types)
    columns = dict(zip(types, cells, strict=True))
    frame = polars_frame(
        {
            name: columns[name] if kind is str else number_column(columns[name])
            for name, kind in types.items()
        }
    )
    return frame.cast({name: polars.Int64() for name, kind in types.items() if kind is int})


def number_column(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


ROWS = 20
COLUMNS = 16
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
    >>> html.count("<tr>"), "… and 4980 more classes" in html
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


def html_parts(parts: Iterable[Part]) -> str:
    """Make tables for a notebook. Lines stand below the table that they follow."""
    notes: dict[int, list[str]] = {}
    tables: list[Table] = []
    for part in parts:
        if isinstance(part, Table):
            tables.append(part)
        else:
            lines = part if isinstance(part, list) else [part]
            notes.setdefault(len(tables) - 1, []).extend(map(line_text, lines))
    return "".join(
        html_table(
            table.header,
            table.rows,
            len(table.rows),
            table.noun,
            title=line_text(table.title),
            last=table.last,
            notes=notes.get(place, ()),
        )
        for place, table in enumerate(tables)
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
    shown = f"{len(rows)} of {counted(total, 'operating point')}"
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
    return f"… and {counted(number, f'more {noun}')}"
