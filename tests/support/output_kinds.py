"""A strict rule or a parser for each kind of output in which names from data may stand."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import unicodedata
from typing import Any

from markdown_it import MarkdownIt


def assert_printable(text: str) -> None:
    hidden = {
        character
        for character in text
        if (unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") or character == "\u3164")
        and character != "\n"
    }
    assert not hidden


def assert_markdown(text: str) -> list[str]:
    """The text of all cells. There must be nothing but tables, lists, bold text and code."""
    assert_printable(text)
    cells, inside = [], False
    allowed = re.compile(
        "(table|thead|tbody|tr|th|td|bullet_list|list_item|paragraph)_(open|close)|inline"
    )
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        assert allowed.fullmatch(token.type), (token.type, token.content)
        inside = token.type in ("td_open", "th_open") or (inside and token.type == "inline")
        for child in token.children or ():
            assert child.type in (
                "text",
                "text_special",
                "code_inline",
                "strong_open",
                "strong_close",
                "softbreak",
            )
        if inside and token.type == "inline":
            cells.append("".join(child.content for child in token.children or ()))
    return cells


_COMMANDS = (
    r"begin|end|toprule|midrule|bottomrule|textbf|textbackslash|textasciitilde|textasciicircum|textbar|pm|approx"
    r"|leq|ldots|infty|centering|caption|label|footnotesize|item"
)


def assert_latex(text: str) -> None:
    """Outside of comments there are only commands that we write; TeX's lines are those of Python."""
    assert_printable(text)
    assert "^^" not in text
    for line in text.split("\n"):
        if line.startswith("%"):
            continue
        assert not line.startswith(("[", "*"))
        rest = line.replace("$x^2$", "")  # a formula in a name that the user chose
        rest = re.sub(rf"\\({_COMMANDS})(?![A-Za-z])|\\[\\&%$#_{{}},]", "", rest)
        assert not re.search(r"[\\%#^~]", rest), line
        plain = re.sub(r"\\.", "", line)
        assert plain.count("{") == plain.count("}")
        assert plain.count("$") % 2 == 0


def assert_csv(text: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    for cell in (cell for row in rows for cell in row):
        assert not re.match(r"[=+\-@\t\r\n]", cell) or re.fullmatch(r"[+-]?[\d.e+-]+|[+-]inf", cell), (
            cell
        )
    return rows


class _Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)


def elements(text: str) -> _Elements:
    assert_printable(text)
    parser = _Elements()
    parser.feed(text)
    assert not [name for name in parser.attributes if name.startswith("on")]
    return parser


def assert_notebook(text: str) -> None:
    tags = {"p", "table", "thead", "tbody", "tr", "th", "td", "small", "br", "bdi", "progress"}
    assert {*elements(text).tags} <= tags


def assert_page(text: str) -> None:
    tags = elements(text).tags
    assert tags.count("script") == 2
    assert tags.count("img") == 0


def assert_json(text: str) -> Any:
    assert_printable(text)
    return json.loads(text)
