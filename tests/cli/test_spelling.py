"""Messages name parameters as Python does; the command line spells them as its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from sedscope.cli import program
from sedscope.cli.options.arguments import as_options

from ..support.project import ROOT

PACKAGE = ROOT / "src" / "sedscope"


def texts(file: Path) -> Iterator[str]:
    """The texts of a module that are not docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def library_texts() -> Iterator[tuple[str, str]]:
    for file in PACKAGE.rglob("*.py"):
        module = file.relative_to(PACKAGE)
        if module.parts[0] not in ("cli", "compat"):
            yield from ((str(module), text) for text in texts(file))


def test_only_the_command_line_spells_options() -> None:
    spelled = [
        (module, text) for module, text in library_texts() if re.search(r"(?<![\w-])--[a-z]", text)
    ]
    assert not spelled


def test_every_parameter_in_a_message_is_an_option() -> None:
    commands = get_command(program()).commands  # type: ignore[attr-defined]
    options = {
        "--max-download",
        *(name for command in commands.values() for part in command.params for name in part.opts),
    }
    named = [
        (module, code)
        for module, text in library_texts()
        for code in re.findall(r"`\w+=[^`]*`", text)
        if not {*re.findall(r"--[a-z-]+", as_options(code))} & options
    ]
    assert not named


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Merge them with `overlaps='merge'`.", "Merge them with --overlaps merge."),
        ("Give `durations=`, and `lossy=True`.", "Give --durations, and --lossy."),
        ("`columns={'onset': 'Begin Time', 'label': …}`", "--columns onset='Begin Time',label=NAME"),
        ("`SystemReading(columns={'label': 'species'})`", "--scores-columns label=species"),
        ("by=`By(x)`, `a b`", "by=`By(x)`, `a b`"),
    ],
)
def test_parameters_as_options(message: str, expected: str) -> None:
    assert as_options(message) == expected
