"""What a table is, and tables as text: for reading, as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv as python_csv
import io
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..errors import SedscopeError, listing, with_guesses
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


_INTERVAL = re.compile(r"(\S+) (\([^()]*(?:–| … )[^()]*\))(.*)")
"""A value, its interval, and what follows."""

_LABEL = re.compile(r"\\label\{([^{}]*)\}")
_FORMULA = re.compile(
    r"(\$(?:[\w\s^{}+*/=.,:;()<>|'-]|\\(?:math(?:rm|bf|it|sf|cal)|text(?:rm|bf|it|sf)?"
    r"|alpha|beta|gamma|delta|rho|tau|theta|max|min|le|ge|pm|%|_|,))+\$)"
)
"""A formula of a name: only commands that write something."""

Intervals: TypeAlias = Literal["beside", "below", "column"]
"""Where LaTeX writes an interval: beside its value, below it, or in a column of its own."""


class Best(str):
    """The best value of several, which papers print in bold."""


class Name(str):
    """A name from data in a line, which is escaped."""


class Defined(Name):
    """The name of a definition. The user chose it, so LaTeX keeps its formulas."""


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
    in_latex : sequence of str or None
        The columns after the names that LaTeX has unless others are chosen; None for all.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    last: Sequence[str] | None = None
    names: int = 1
    title: Line = ""
    noun: str = "class"
    ruled: bool = True
    by_class: bool = False
    in_latex: Sequence[str] | None = None

    @property
    def all_rows(self) -> Rows:
        """The header, the rows and the last one."""
        return [self.header, *self.rows, *([] if self.last is None else [self.last])]

    def text(self) -> str:
        """Return readable text, without the title."""
        if not self.ruled:
            return "\n".join(format_text(self.all_rows, names=self.names))
        return ruled_text(self.all_rows, names=self.names, rule_before_last=self.last is not None)

    def latex(self, form: LatexForm, formulas: Collection[str] = ()) -> str:
        """Return a ``tabular``; turned, if each class should be a column. ``formulas``: kept in cells."""
        rows = self.all_rows
        columns = self.in_latex if form.columns is None else form.columns
        if columns is not None:
            kept = [*range(self.names), *map(rows[0].index, filter(rows[0].__contains__, columns))]
            rows = [[row[k] for k in kept] for row in rows]
        if form.intervals == "column":
            rows = _with_interval_columns(rows)
        turned = self.by_class and form.classes == "columns"
        rows = [*zip(*rows, strict=True)] if turned else rows
        ruled = self.last is not None and not turned
        below = form.intervals == "below"
        names = 1 if turned else self.names
        return format_latex(rows, names=names, rule_before_last=ruled, below=below, formulas=formulas)


@dataclass(frozen=True)
class LatexForm:
    """How tables are written as LaTeX; see :meth:`sedscope.Evaluation.to_latex`."""

    classes: Literal["rows", "columns"] = "rows"
    caption: str | None = None
    label: str | None = None
    intervals: Intervals = "beside"
    columns: Sequence[str] | None = None

    def check(self, tables: Sequence[Table]) -> None:
        """Refuse what no table can be written in."""
        for word, choices in (("classes", ("rows", "columns")), ("intervals", get_args(Intervals))):
            if (value := getattr(self, word)) not in choices:
                listed = " or ".join(map(repr, choices))
                raise SedscopeError(f"{word}={value!r} is not valid. Choose {listed}.")
        if self.label is not None and self.caption is None:
            raise SedscopeError("A table with a label needs a caption, too.")
        names = [*dict.fromkeys(name for table in tables for name in table.header[table.names :])]
        unknown = [name for name in self.columns or () if name not in names]
        if unknown:
            raise SedscopeError(
                f"No table has a column {listing(with_guesses(unknown, names))}. There are {listing(names)}."
            )


Part: TypeAlias = Table | Line | list[Line]
"""A table, a paragraph, or lines that belong together."""


def definition(name: str, defined: str) -> Line:
    """Return the line of a legend that says what a name stands for."""
    return Defined(name), ": ", Code(defined)


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


def latex_of(parts: Iterable[Part], form: LatexForm) -> str:
    """Format tables as LaTeX, with the lines as comments; with a caption, as notes below the first."""
    blocks = [*parts]
    tables = [part for part in blocks if isinstance(part, Table)]
    form.check(tables)
    if form.columns is not None:  # what left columns mean needs no line
        names = {name for table in tables for name in table.header[table.names :]}
        left = {(Defined(name),) for name in names - {*form.columns}}
        blocks = [
            [line for line in part if line[:1] not in left] if isinstance(part, list) else part
            for part in blocks
        ]
    others = [part for part in blocks if not isinstance(part, Table)]
    lines = [line for part in others for line in (part if isinstance(part, list) else [part])]
    named = [*lines, *(table.title for table in tables)]
    formulas = {piece for line in named for piece in line if isinstance(piece, Defined)}
    if form.caption is not None:
        return "\n".join(
            _latex_float(table, n, form, [] if n else lines, formulas) for n, table in enumerate(tables)
        )
    text = ""
    for part in blocks:
        if isinstance(part, Table):
            title = f"{latex_comment(''.join(part.title))}\n" if part.title else ""
            text += f"{title}{part.latex(form, formulas)}\n\n"
        else:
            of_part = part if isinstance(part, list) else [part]
            text += "".join(f"{latex_comment(''.join(line))}\n" for line in of_part)
    return text.rstrip("\n") + "\n"


def _latex_float(
    table: Table, number: int, form: LatexForm, lines: Sequence[Line], formulas: Collection[str]
) -> str:
    """Return one of several tables that float. Its title is in the caption; a definition is a note."""
    name, notes = table.title, [*lines]
    if isinstance(name, tuple):
        name, notes = name[0], [*lines, name]
    suffix = f"-{number + 1}" if number else ""
    caption = _LABEL.sub(rf"\\label{{\1{suffix}}}", form.caption or "")
    caption += f" ({_latex_text(name, formulas)})" if name else ""
    pieces = ([line] if isinstance(line, str) else line for line in notes)
    below = [rf"\item {''.join(_latex_note(piece, formulas) for piece in line)}" for line in pieces]
    around = [
        *(r"\begin{table}", r"\centering", r"\begin{threeparttable}", rf"\caption{{{caption}}}"),
        *([] if form.label is None else [rf"\label{{{form.label}{suffix}}}"]),
        table.latex(form, formulas),
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


def format_latex(
    rows: Rows,
    *,
    names: int = 1,
    rule_before_last: bool = False,
    below: bool = False,
    formulas: Collection[str] = (),
) -> str:
    """Format a LaTeX ``tabular`` for the package ``booktabs``.

    ``names``: how many columns hold names. ``rule_before_last``: set the last row apart. ``below``: write
    intervals below their values. ``formulas``: cells whose formulas are kept.

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
    header, *body = [_latex_rows(row, below, formulas) for row in rows]
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


def _latex_rows(row: Sequence[str], below: bool, formulas: Collection[str]) -> str:
    """Return a row; with intervals ``below`` their values, perhaps two."""
    parts = [_interval_parts(cell) if below else (cell, "") for cell in row]
    lines = [" & ".join(_latex_cell(cell, formulas) for cell, _ in parts) + r" \\"]
    if any(interval for _, interval in parts):
        small = [rf"{{\footnotesize {_latex_cell(text, ())}}}" if text else "" for _, text in parts]
        lines.append(" & ".join(small) + r" \\")
    # at the beginning of a line these would belong to the end of the line before
    return "\n".join("{}" + line if line.startswith(("[", "*")) else line for line in lines)


def _interval_parts(cell: str) -> tuple[str, str]:
    """Split a cell into its value, with what follows the interval, and the interval.

    >>> _interval_parts("0.52 (0.42–0.63)"), _interval_parts("-0.1 (-0.2 … +0.1) ≈"), _interval_parts("a (b)")
    (('0.52', '(0.42–0.63)'), ('-0.1 ≈', '(-0.2 … +0.1)'), ('a (b)', ''))
    """
    match = _INTERVAL.fullmatch(cell)
    return (type(cell)(match[1] + match[3]), match[2]) if match else (cell, "")


def _with_interval_columns(rows: Rows) -> Rows:
    """Give the intervals of each column that has some a column of their own."""
    columns = []
    for column in zip(*rows, strict=True):
        values, intervals = zip(*map(_interval_parts, column), strict=True)
        columns += [values, ("interval", *intervals[1:])] if any(intervals) else [column]
    return [*zip(*columns, strict=True)]


def _latex_cell(cell: str, formulas: Collection[str]) -> str:
    text = _latex_text(_MINUS.sub("−", cell), formulas)
    return rf"\textbf{{{text}}}" if isinstance(cell, Best) else text


def _latex_text(text: str, formulas: Collection[str]) -> str:
    """Escape a text for LaTeX. If it is one of the ``formulas``, what stands between dollars is kept."""
    if text not in formulas:
        return latex(text)
    return "".join(piece if n % 2 else latex(piece) for n, piece in enumerate(_FORMULA.split(text)))


def _latex_note(text: str, formulas: Collection[str]) -> str:
    """Escape a note, such as a signature, which has the names of metrics between other words."""
    if not formulas:
        return latex(text)
    names = "|".join(map(re.escape, sorted(formulas, key=len, reverse=True)))
    return "".join(_latex_text(piece, formulas) for piece in re.split(f"({names})", text))


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
