"""Tables as text: for reading, as Markdown, LaTeX or CSV. The first row is the header."""

from __future__ import annotations

import csv as python_csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ..errors import SedscopeError
from ..escaping import csv_cell, json_text, latex, markdown, one_line

if TYPE_CHECKING:
    from pathlib import Path


_MOST_DECIMALS = 340  # a float has no digit beyond


def number_or_blank(number: float | None, form: str) -> str:
    """Format a number, e.g. as ``.4f``; None becomes an empty text, as in the cell of a table.

    >>> number_or_blank(0.46, ".4f"), number_or_blank(None, ".4f")
    ('0.4600', '')
    """
    return "" if number is None else f"{number:{form}}"


def shortest_between(low: float, high: float, near: float) -> float:
    """Return the number with the fewest decimals in ``[low, high)``; of several, the nearest to ``near``.

    ``near`` lies between them, and is returned if no shorter number does.

    >>> shortest_between(0.4599, 0.4651, 0.4625), shortest_between(0.05, 0.95, 0.5)
    (0.46, 0.5)
    >>> shortest_between(-math.inf, 0.0123, 0.0122), shortest_between(0.1, 0.3, 0.30000000000000004)
    (0.0, 0.2)
    """
    for decimals in range(_MOST_DECIMALS):
        scale = 10**decimals
        unit = round(Fraction(near) * scale)
        if not math.isinf(low):
            unit = max(unit, math.ceil(Fraction(low) * scale))
        if not math.isinf(high):
            unit = min(unit, math.ceil(Fraction(high) * scale) - 1)
        number = float(Fraction(unit, scale))
        if low <= number < high:
            return number
        if len(str(abs(unit))) > 17:
            break  # a float has no more digits
    return near


Table = Sequence[Sequence[str]]

_MINUS = re.compile(r"(?<![^\s(–…])-(?=\d)")
"""A hyphen that stands for the minus of a number."""


class Best(str):
    """The best value of several, which papers print in bold."""


def oriented(rows: Table, classes: Literal["rows", "columns"]) -> Table:
    """Return a table with a row per class as it is, or turned so that each class is a column."""
    if classes not in ("rows", "columns"):
        raise SedscopeError(f"classes={classes!r} is not valid. Choose 'rows' or 'columns'.")
    return rows if classes == "rows" else [*zip(*rows, strict=True)]


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it to a file if there is one."""
    if path is not None:
        from ..io.atomic_write import write_text

        write_text(path, text)
    return text


def written_json(values: Mapping[str, Any], path: str | Path | None) -> str:
    """Return values as JSON, and write it to a file if there is one. Values must not be NaN."""
    return written(f"{json_text(values, indent=2)}\n", path)


def format_text(rows: Table, *, names: int = 1) -> list[str]:
    """Align the columns for reading: those of names, which come first, to the left, the others to the right.

    >>> format_text([["class", "F1"], ["Dog", "0.5"]])
    ['class   F1', 'Dog    0.5']
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k < names else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def ruled_text(rows: Table, *, names: int = 1, rule_before_last: bool = False) -> str:
    """Align the columns, and rule off the header. ``rule_before_last``: set the last row apart.

    >>> print(ruled_text([["class", "F1"], ["Dog", "0.5"]]))
    class   F1
    ──────────
    Dog    0.5
    """
    header, *body = format_text(rows, names=names)
    rule = "─" * len(header)
    if rule_before_last and len(body) > 1:
        body.insert(-1, rule)
    return "\n".join([header, rule, *body])


def format_markdown(rows: Table, *, names: int = 1) -> str:
    """Format a Markdown table.

    >>> print(format_markdown([["class", "F1"], ["a|b", "0.5"]]))
    | class | F1 |
    | :--- | ---: |
    | a\\|b | 0.5 |
    """
    header, *body = [[_markdown_cell(cell) for cell in row] for row in rows]
    rule = [*[":---"] * names, *["---:"] * (len(header) - names)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *body))


def _markdown_cell(cell: str) -> str:
    text = markdown(cell)
    return f"**{text}**" if isinstance(cell, Best) else text


def format_latex(rows: Table, *, names: int = 1, rule_before_last: bool = False) -> str:
    """Format a LaTeX ``tabular`` for the package ``booktabs``.

    ``names``: how many columns hold names. ``rule_before_last``: set the last row apart.

    >>> print(format_latex([["class", "F1"], ["Alarm_bell", Best("0.5")], ["Dog", "-0.2"]]))
    \\begin{tabular}{lr}
    \\toprule
    class & F1 \\\\
    \\midrule
    Alarm\\_bell & \\textbf{0.5} \\\\
    Dog & $-$0.2 \\\\
    \\bottomrule
    \\end{tabular}
    """
    lines = [" & ".join(map(_latex_cell, row)) + r" \\" for row in rows]
    # at the beginning of a line these would belong to the end of the line before
    header, *body = ["{}" + line if line.startswith(("[", "*")) else line for line in lines]
    if rule_before_last and len(body) > 1:
        body.insert(-1, r"\midrule")
    columns = "l" * names + "r" * (len(rows[0]) - names)
    around = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *body,
        r"\bottomrule",
    ]
    return "\n".join([*around, r"\end{tabular}"])


def _latex_cell(cell: str) -> str:
    text = latex(_MINUS.sub("−", cell))
    return rf"\textbf{{{text}}}" if isinstance(cell, Best) else text


def format_csv(rows: Iterable[Sequence[str]]) -> str:
    """Format comma-separated values.

    An apostrophe precedes a cell that a spreadsheet could execute.

    >>> format_csv([["class", "F1"], ["a, b", "0.5"], ["=1+1", "-0.5"]])
    'class,F1\\n"a, b",0.5\\n\\'=1+1,-0.5\\n'
    """
    lines = []
    for row in rows:
        line = io.StringIO()
        cells = [csv_cell(cell) for cell in row]
        python_csv.writer(line).writerow(cells)  # quotes cells with any character of its line end: \r\n
        lines.append(line.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def csv_cells(values: Iterable[str | float | None]) -> list[str]:
    """Write values as cells of CSV: numbers with all their digits, nothing for None."""
    return [
        "" if value is None else value if isinstance(value, str) else repr(value) for value in values
    ]
