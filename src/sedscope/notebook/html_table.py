"""Small HTML tables, which notebooks show in place of the ``repr`` of an object.

They stay small however much an object holds: rows, columns and cells beyond a limit are left out, and a line
says how many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..errors import counted, shortened
from ..escaping import html
from .data_frame import Column

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
