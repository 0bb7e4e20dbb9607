"""Tests use public names, and inner modules only of the package that they test."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from .support.project import ROOT

TESTS = Path(__file__).parent
STABILITY = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
PUBLIC = {*re.findall(r"^\| `(sedscope[\w.]*)` \|", STABILITY, re.M)}
OF_OLDER_TOOLS = re.compile(
    r"sedscope\.compat\.(sed_scores_eval\.(base_modules|utils|\w+_based)|sed_eval\.(sound_event|util)"
    r"|dcase_util\.containers)(\.|$)"
)
"""Modules that programs for other tools import."""

COMMON = {"alignment", "data", "counting"}
"""What the packages pass to each other; tests of any of them may import it."""

BESIDE_THEIR_SUBJECT: dict[str, str] = {
    "api": "cli",  # the commands, to list them
    "checking": "io",
    "cli": "io report resampling",  # what commands are told to fail in
    "counting": "criteria engines io resampling",
    "criteria": "evaluation",
    "data": "criteria io progress",
    "docs": "cli criteria ranking resampling",  # what the pages state
    "engines": "metrics",
    "evaluation": "engines io metrics plots ranking report resampling results",
    "io": "_native cli escaping",
    "metrics": "_native io",
    "plots": "progress",
    "resampling": "metrics",
    "report": "diagnosis escaping plots ranking resampling",
    "results": "progress tabular",
    "soak": "criteria engines io",
    "support": "cli diagnosis engines evaluation io metrics report resampling",
    "tasks": "metrics",
    "torch": "metrics",
    "tuning": "resampling results",
}
"""Packages whose inner modules each folder of tests may import, beside the package of its name."""


def imported(file: Path) -> Iterator[str]:
    """The modules of sedscope that a file imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] == "sedscope")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sedscope":
            for each in node.names:
                name = f"{node.module}.{each.name}"
                yield name if name in PUBLIC or _is_module(name) else f"{node.module}"


def _is_module(name: str) -> bool:
    """Whether a module, or a folder of them, has this name."""
    place = ROOT.joinpath("src", *name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


def test_each_folder_imports_inner_modules_of_its_subject_alone() -> None:
    foreign = defaultdict(set)
    for file in TESTS.glob("*/**/*.py"):
        folder = file.relative_to(TESTS).parts[0]
        allowed = {folder, *COMMON, *BESIDE_THEIR_SUBJECT.get(folder, "").split()}
        for module in imported(file):
            if module not in PUBLIC and not OF_OLDER_TOOLS.match(module):
                package = module.split(".")[1]
                if package not in allowed:
                    foreign[file.relative_to(TESTS).as_posix()].add(module)
    assert not foreign, f"use public names, or list the package beside the folder: {dict(foreign)}"


def test_the_oracle_knows_nothing_of_what_it_judges() -> None:
    files = [*(TESTS / "support/oracle").glob("*.py")]
    assert len(files) > 10
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import sedscope|from (sedscope|\.\.\w|\.\.\.))", text, re.M), file
