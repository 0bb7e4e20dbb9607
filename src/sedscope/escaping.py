r"""Names from data in what is printed and written: one function for each kind of output.

Others may have named labels, clips, systems, metrics and files. Characters that control a terminal, reverse
the text around them or cannot be seen are shown as Python writes them, such as ``\x1b`` or ``\u202e``. What
has a meaning in a kind of output is escaped there, so that a name stays a name.
"""

from __future__ import annotations

import re

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except line feed and tab
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # the direction of text
    "\u2028\u2029"  # ends of lines and paragraphs
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # no width, or no ink
)
_UNPRINTABLE = re.compile(f"[{_HIDDEN}]")
_NOT_IN_A_LINE = re.compile(f"[{_HIDDEN}\t\n]")
_NOT_IN_JSON = re.compile(f"[{_HIDDEN}\ud800-\udfff]")

_MARKDOWN = re.compile(r"[\\`*|&\[~$]|<(?=\S)|(?<![^\W_])_|_(?![^\W_])|^[#>]|^[+-](?=\s)|^\d+(?=[.)]\s)")
"""What has a meaning in Markdown; ``_`` within a word and ``<`` before a space are plain."""

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "−": "$-$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "≤": r"$\leq$",
        "<": "$<$",
        ">": "$>$",
        "–": "--",
        "|": r"\textbar{}",
        "…": r"\ldots{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)
_TEX_CHARACTER = re.compile(r"\^(?=\^)")

_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""How a cell begins that spreadsheets may execute."""
_EXECUTED = re.compile(f"'*{_FORMULA}")
_ESCAPED_CELL = re.compile(f"'+{_FORMULA}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE | re.ASCII)


def printable(text: str) -> str:
    r"""Escape a text of one or more lines for a terminal, a log or a page.

    >>> printable("Dog\x1b[2J\ncat")
    'Dog\\x1b[2J\ncat'
    """
    return _UNPRINTABLE.sub(_visible, text)


def one_line(text: str) -> str:
    r"""Escape a name for a cell or a line of text, where a line feed or a tab would look like the next one.

    >>> one_line("Dog\ncat")
    'Dog\\ncat'
    """
    return _NOT_IN_A_LINE.sub(_visible, text)


def _visible(hidden: re.Match[str]) -> str:
    return hidden[0].encode("unicode_escape").decode("ascii")


def html(text: str) -> str:
    """Escape a text for HTML.

    >>> html("<Dog>")
    '&lt;Dog&gt;'
    """
    from html import escape  # loaded late, since most objects are never shown

    return escape(printable(text))


def markdown(text: str) -> str:
    r"""Escape a name for a line or a cell of Markdown.

    >>> markdown("[a|b](javascript:x)")
    '\\[a\\|b](javascript:x)'
    """
    return _MARKDOWN.sub(_not_markdown, one_line(text))


def _not_markdown(mark: re.Match[str]) -> str:
    return f"{mark[0]}\\" if mark[0].isdigit() else f"\\{mark[0]}"


def markdown_code(text: str) -> str:
    """Write a text as code in Markdown, between more backticks than it has in a row.

    >>> markdown_code("FScore(Clip())"), markdown_code("a`b")
    ('`FScore(Clip())`', '`` a`b ``')
    """
    code = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{code}{space}{fence}"


def latex(text: str) -> str:
    r"""Escape a name for LaTeX.

    >>> latex("Alarm_bell"), latex(r"\input{x}")
    ('Alarm\\_bell', '\\textbackslash{}input\\{x\\}')
    """
    return one_line(text).translate(_LATEX)


def latex_comment(text: str) -> str:
    """Write a comment of one line in LaTeX. ``^^``, with which TeX writes any character, is taken apart.

    >>> latex_comment("f1: FScore")
    '% f1: FScore'
    """
    return f"% {_TEX_CHARACTER.sub('^ ', one_line(text))}"


def csv_cell(text: str) -> str:
    """Put an apostrophe before a cell of CSV that a spreadsheet could execute.

    Such a cell begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break, and is not a number. A cell
    that looks escaped gets another apostrophe, so that :func:`csv_name` returns every text as it was.

    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell("'tis")
    ("'=1+1", '-0.5', "'tis")
    """
    return f"'{text}" if _EXECUTED.match(text) and not _NUMBER.fullmatch(text) else text


def csv_name(cell: str) -> str:
    """Take off the apostrophe of :func:`csv_cell`.

    >>> csv_name("'=1+1"), csv_name("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if _ESCAPED_CELL.match(cell) else cell


def has_escaped_cells(text: str) -> bool:
    """Return whether a text of CSV may have cells for :func:`csv_name`."""
    return _ESCAPED_CELL.search(text) is not None


def json_text(values: object, *, indent: int | None = None) -> str:
    """Write values as JSON that can be printed. They must not be NaN. Without ``indent`` it has no spaces."""
    import json

    separators = (",", ":") if indent is None else None
    text = json.dumps(values, indent=indent, ensure_ascii=False, allow_nan=False, separators=separators)
    return _NOT_IN_JSON.sub(lambda hidden: json.dumps(hidden[0])[1:-1], text)


def toml_string(text: str) -> str:
    r"""Write a text as a TOML string.

    >>> toml_string('a "b"')
    '"a \\"b\\""'
    """
    escaped = _NOT_IN_A_LINE.sub(
        lambda hidden: (
            f"\\U{ord(hidden[0]):08X}" if ord(hidden[0]) > 0xFFFF else f"\\u{ord(hidden[0]):04X}"
        ),
        text.replace("\\", "\\\\").replace('"', '\\"'),
    )
    return f'"{escaped}"'
