"""Tables as text: aligned for reading, Markdown, LaTeX, CSV. The first row is the header."""

from __future__ import annotations

import csv as python_csv
import io
from collections.abc import Iterable, Sequence

Table = Sequence[Sequence[str]]

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": "$-$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "<": "$<$",
        ">": "$>$",
        "–": "--",
        "…": r"\ldots{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def aligned(rows: Table) -> list[str]:
    """Lines with the first column to the left and the others to the right.

    >>> aligned([["class", "F1"], ["Dog", "0.5"]])
    ['class   F1', 'Dog    0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def markdown(rows: Table) -> str:
    """A Markdown table.

    >>> print(markdown([["class", "F1"], ["a|b", "0.5"]]))
    | class | F1 |
    | :--- | ---: |
    | a\\|b | 0.5 |
    """
    header, *body = [[" ".join(cell.replace("|", r"\|").split()) for cell in row] for row in rows]
    rule = [":---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *body))


def latex(rows: Table) -> str:
    """A LaTeX ``tabular``, without any package.

    >>> print(latex([["class", "F1"], ["Alarm_bell", "0.5"]]))
    \\begin{tabular}{lr}
    \\hline
    class & F1 \\\\
    \\hline
    Alarm\\_bell & 0.5 \\\\
    \\hline
    \\end{tabular}
    """
    header, *body = [" & ".join(cell.translate(_LATEX) for cell in row) + r" \\" for row in rows]
    columns = "l" + "r" * (len(rows[0]) - 1)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", header, r"\hline", *body, r"\hline"]
    return "\n".join([*lines, r"\end{tabular}"])


def csv(rows: Iterable[Sequence[str]]) -> str:
    """Comma-separated values.

    >>> csv([["class", "F1"], ["a, b", "0.5"]])
    'class,F1\\n"a, b",0.5\\n'
    """
    text = io.StringIO()
    python_csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
