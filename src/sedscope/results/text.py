"""What a table is, and tables as text: for reading, as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv as python_csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import SedscopeError
from ..escaping import csv_cell, latex, latex_comment, markdown, markdown_code, one_line

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


Rows: TypeAlias = Sequence[Sequence[str]]
Form: TypeAlias = Literal["text", "markdown", "latex", "html"]
Records: TypeAlias = tuple[Mapping[str, type], Iterable[Sequence[str | float | None]]]
"""The type of the cells of each column, and the rows. None is an empty cell."""

_MINUS = re.compile(r"(?<![^\s(–…])-(?=\d)")
"""A hyphen that stands for the minus of a number."""


class Best(str):
    """The best value of several, which papers print in bold."""


class Name(str):
    """A name from data in a line, which is escaped."""


class Code(str):
    """A definition in a line, which Markdown shows as code."""


Line: TypeAlias = str | tuple[str, ...]
"""A line of text, or its pieces: plain text, names and definitions."""


@dataclass(frozen=True)
class Table:
    """A table to read, with all its cells as text.

    Attributes
    ----------
    header : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells of each row.
    last : sequence of str or None
        One more row, which is set apart: a value over all rows.
    names : int
        How many columns hold names. They come first, and are aligned to the left.
    title : line
        What stands above the table.
    noun : str
        What a row is about.
    ruled : bool
        Whether readable text has rules.
    by_class : bool
        Whether LaTeX may turn the table, so that each row becomes a column.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    last: Sequence[str] | None = None
    names: int = 1
    title: Line = ""
    noun: str = "class"
    ruled: bool = True
    by_class: bool = False

    @property
    def all_rows(self) -> Rows:
        """The header, the rows and the last one."""
        return [self.header, *self.rows, *([] if self.last is None else [self.last])]

    def text(self) -> str:
        """Return readable text, without the title."""
        if not self.ruled:
            return "\n".join(format_text(self.all_rows, names=self.names))
        return ruled_text(self.all_rows, names=self.names, rule_before_last=self.last is not None)

    def latex(self, classes: Literal["rows", "columns"]) -> str:
        """Return a ``tabular``; turned, if each class should be a column."""
        turned = self.by_class and classes == "columns"
        rows = [*zip(*self.all_rows, strict=True)] if turned else self.all_rows
        ruled = self.last is not None and not turned
        return format_latex(rows, names=1 if turned else self.names, rule_before_last=ruled)


Part: TypeAlias = Table | Line | list[Line]
"""A table, a paragraph, or lines that belong together."""


def definition(name: str, defined: str) -> Line:
    """Return the line of a legend that says what a name stands for."""
    return Name(name), ": ", Code(defined)


def line_text(line: Line) -> str:
    """Return a line as plain text."""
    pieces = (line,) if isinstance(line, str) else line
    return "".join(one_line(piece) if isinstance(piece, (Name, Code)) else piece for piece in pieces)


def _markdown_line(line: Line, *, bold: bool = False) -> str:
    def piece_text(piece: str) -> str:
        if isinstance(piece, Name):
            return f"**{markdown(piece)}**" if bold else markdown(piece)
        return markdown_code(piece) if isinstance(piece, Code) else piece

    return "".join(map(piece_text, (line,) if isinstance(line, str) else line))


def text_of(parts: Iterable[Part]) -> str:
    """Format tables and lines for reading."""
    blocks: list[str] = []
    for part in parts:
        if isinstance(part, Table):
            blocks += [line_text(part.title)] if part.title else []
            blocks.append(part.text())
        else:
            blocks.append("\n".join(map(line_text, part if isinstance(part, list) else [part])))
    return "\n\n".join(blocks)


def markdown_of(parts: Iterable[Part]) -> str:
    """Format tables and lines as Markdown. Lines that belong together become a list."""
    blocks: list[str] = []
    for part in parts:
        if isinstance(part, list):
            blocks.append("\n".join(f"- {_markdown_line(line)}" for line in part))
        elif isinstance(part, Table):
            if part.title:
                colon = ":" if isinstance(part.title, str) else ""
                blocks.append(_markdown_line(part.title, bold=True) + colon)
            blocks.append(format_markdown(part.all_rows, names=part.names))
        else:
            blocks.append(_markdown_line(part, bold=True))
    return "\n\n".join(blocks) + "\n"


def latex_of(
    parts: Iterable[Part],
    classes: Literal["rows", "columns"],
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Format tables as LaTeX, with the lines as comments. ``classes``: whether each is a row or a column.

    With a ``caption``, each table floats, and the lines are notes below the first one.
    """
    if classes not in ("rows", "columns"):
        raise SedscopeError(f"classes={classes!r} is not valid. Choose 'rows' or 'columns'.")
    if label is not None and caption is None:
        raise SedscopeError("A table with a label needs a caption, too.")
    blocks = [*parts]
    lines = [
        line
        for part in blocks
        if not isinstance(part, Table)
        for line in (part if isinstance(part, list) else [part])
    ]
    if caption is not None:
        tables = [part for part in blocks if isinstance(part, Table)]
        return "\n".join(
            _latex_float(table, classes, caption, label and f"{label}{f'-{n + 1}' if n else ''}", notes)
            for n, table in enumerate(tables)
            for notes in [[] if n else lines]
        )
    text = ""
    for part in blocks:
        if isinstance(part, Table):
            title = f"{latex_comment(''.join(part.title))}\n" if part.title else ""
            text += f"{title}{part.latex(classes)}\n\n"
        else:
            of_part = part if isinstance(part, list) else [part]
            text += "".join(f"{latex_comment(''.join(line))}\n" for line in of_part)
    return text.rstrip("\n") + "\n"


def _latex_float(
    table: Table,
    classes: Literal["rows", "columns"],
    caption: str,
    label: str | None,
    notes: Sequence[Line],
) -> str:
    title = f" ({latex(''.join(table.title))})" if table.title else ""
    below = [rf"\item {latex(''.join(line))}" for line in notes]
    around = [
        *(r"\begin{table}", r"\centering", r"\begin{threeparttable}", rf"\caption{{{caption}{title}}}"),
        *([] if label is None else [rf"\label{{{label}}}"]),
        table.latex(classes),
        *([r"\begin{tablenotes}\footnotesize", *below, r"\end{tablenotes}"] if below else []),
        *(r"\end{threeparttable}", r"\end{table}", ""),
    ]
    return "\n".join(around)


def csv_of(records: Records) -> str:
    """Format records as comma-separated values: numbers with all their digits."""
    columns, rows = records
    return format_csv([[*columns], *map(csv_cells, rows)])


def mark_best(cells: Sequence[str], values: Sequence[float], higher_is_better: bool) -> list[str]:
    """Mark the best of several values, and all that look the same up to the first space.

    >>> [type(cell).__name__ for cell in mark_best(["0.1 a", "0.2", "0.2 b"], [0.1, 0.2, 0.21], True)]
    ['str', 'Best', 'Best']
    """
    numbers = {i: value for i, value in enumerate(values) if not math.isnan(value)}
    if len(cells) < 2 or not any(map(math.isfinite, values)):
        return [*cells]
    place = (max if higher_is_better else min)(numbers, key=numbers.__getitem__)
    best = cells[place].partition(" ")[0]
    return [Best(cell) if cell.partition(" ")[0] == best else cell for cell in cells]


def picked(thing: object, *names: str) -> dict[str, Any]:
    """Return some attributes of a thing by name.

    >>> picked(1 + 2j, "real", "imag")
    {'real': 1.0, 'imag': 2.0}
    """
    return {name: getattr(thing, name) for name in names}


def plain(values: Any) -> Any:
    """Return values as JSON can write them: None for numbers that are not finite.

    >>> plain({"a": (1.5, math.nan)})
    {'a': [1.5, None]}
    """
    if isinstance(values, Mapping):
        return {name: plain(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [plain(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it to a file if there is one."""
    if path is not None:
        from ..io.atomic_write import write_text

        write_text(path, text)
    return text


def format_text(rows: Rows, *, names: int = 1) -> list[str]:
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


def ruled_text(rows: Rows, *, names: int = 1, rule_before_last: bool = False) -> str:
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


def format_markdown(rows: Rows, *, names: int = 1) -> str:
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


def format_latex(rows: Rows, *, names: int = 1, rule_before_last: bool = False) -> str:
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
