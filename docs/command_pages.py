"""Write the reference of the command line, one page per command, from the program itself.

``docs/conf.py`` calls it when the site is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperArgument
from typer.main import get_command

from sedscope.cli import program

_DOCS = Path(__file__).parent
TOPICS = {
    "Measure": ("evaluate", "compare", "rank", "report", "deltas"),
    "Choose thresholds": ("tune", "calibrate", "detect"),
    "Review a sample": ("review plan", "review estimate"),
    "Find out where errors come from": ("diagnose", "errors", "errors apply", "latency"),
    "Check and convert files": ("validate", "verify", "check", "labels", "convert"),
    "Look up and try": ("metrics", "presets", "tasks", "formats", "demo"),
}
_CODE = re.compile(r"""(?<!\w)('[^']+'|"[^"]+"|--[a-z][a-z-]*)(?!\w)""")


def write_command_pages(folder: Path) -> None:
    """Write a page for each command into a folder, and ``index.rst``, which lists them by topic."""
    folder.mkdir(parents=True, exist_ok=True)
    tool: Any = get_command(program())
    shown = {name for names in TOPICS.values() for name in names}
    if shown != {*tool.commands}:
        raise ValueError(f"TOPICS differ from the commands: {sorted(shown ^ {*tool.commands})}")
    context = tool.make_context("sedscope", [], resilient_parsing=True)
    for name, command in tool.commands.items():
        _write(folder / f"{_page(name)}.rst", _command_page(name, command, context, [*tool.commands]))
    _write(folder / "index.rst", _index(tool.commands))


def _write(page: Path, lines: Iterator[str]) -> None:
    """Write a page only if it has changed, so that Sphinx reads it again only then."""
    text = "\n".join(lines) + "\n"
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def _page(command: str) -> str:
    return command.replace(" ", "_")


def _index(commands: dict[str, Any]) -> Iterator[str]:
    yield from _heading("Command line", "=")
    yield "``sedscope COMMAND --help`` prints what these pages say."
    for topic, names in TOPICS.items():
        yield from _heading(topic, "-")
        yield from (".. list-table::", "   :widths: 20 80", "")
        for name in names:
            summary = commands[name].help.split("\n\n")[0]
            yield f"   * - :doc:`{_page(name)}`\n     - {_marked_up(' '.join(summary.split()))}"
        yield from ("", ".. toctree::", "   :hidden:", "", *(f"   {_page(name)}" for name in names))


def _example(name: str, commands: list[str]) -> str:
    """Return the shortest example of a command on the pages, if possible on the files of the demo."""
    others = [f"{other} " for other in commands if other.startswith(f"{name} ")]
    pages = [_DOCS.parent / "README.md", *sorted(_DOCS.glob("*.md"))]
    lines = (line for page in pages for line in page.read_text(encoding="utf-8").splitlines())
    calls = [line.removeprefix("$ sedscope ") + " " for line in lines if line.startswith("$ sedscope ")]
    own = [c for c in calls if c.startswith(f"{name} ") and not any(map(c.startswith, others))]
    if not own:
        raise ValueError(f"No page has an example of sedscope {name}.")
    return (
        "sedscope "
        + min(own, key=lambda call: ("scores ground_truth.tsv" not in call, len(call))).strip()
    )


def _command_page(name: str, command: Any, parent: Any, commands: list[str]) -> Iterator[str]:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    yield from _heading(f"sedscope {name}", "=")
    summary, *paragraphs = command.help.split("\n\n")
    yield f"{_marked_up(' '.join(summary.split()))}\n"
    yield from (".. code-block:: console", "", f"   $ {_example(name, commands)}", "")
    for paragraph in paragraphs:
        yield f"{_marked_up(' '.join(paragraph.split()))}\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (".. code-block:: text", "", f"   sedscope {name} {usage}", "")
    yield f".. program:: sedscope {name}"
    for title, records in _sections(command, context).items():
        yield from _heading(title, "-")
        for term, text in records:
            described = f"   {_marked_up(text) or 'No further help.'}\n"
            if title == "Arguments":
                yield from (f"``{term}``", described)
            else:
                yield from (f".. option:: {term}", "", described)


def _sections(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Return names and texts of the arguments and of each group of options, in the order of the help."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        if isinstance(parameter, TyperArgument):
            name = parameter.metavar or str(parameter.name).upper()
            sections.setdefault("Arguments", []).append((name, record[1]))
        else:
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            sections.setdefault(panel, []).append(record)
    return sections


def _heading(text: str, underline: str) -> Iterator[str]:
    yield from ("", text, underline * len(text), "")


def _marked_up(text: str) -> str:
    """Return the plain text of the help with options and quoted words set as code."""
    parts = _CODE.split(text)  # every second part is code
    return "".join(
        f"``{part.strip(chr(39))}``" if number % 2 else re.sub(r"([\\*`|]|_(?=\W|$))", r"\\\1", part)
        for number, part in enumerate(parts)
    )
