"""The map shows all packages, and the path of an evaluation is the one that it takes."""

from __future__ import annotations

import re
import runpy
import sys
from types import FrameType
from typing import Any

import pytest

import sedscope as sed

from ..support.project import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "sedscope"
DRAWING = runpy.run_path(str(ROOT / "docs" / "package_map.py"))
PACKAGES = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())


def test_the_map_is_up_to_date() -> None:
    assert (ROOT / "docs" / "package_map.svg").read_text(encoding="utf-8") == DRAWING["draw"]()


def test_every_package_is_on_the_map_and_described() -> None:
    shown = [package for package, _ in DRAWING["PATH"]]
    shown += [*DRAWING["LEFT_SIDE"].values(), *DRAWING["RIGHT_SIDE"].values()]
    assert sorted(shown) == PACKAGES
    for package in PACKAGES:
        assert f"**`{package}/`**" in PAGE, package


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_in_one_line_what_belongs_in_it(package: str) -> None:
    line = DRAWING["docstring"](package)
    assert line.endswith(".")
    assert len(line) <= 105
    box = DRAWING["box"](package, 0, 0, DRAWING["SIDE_WIDTH"], "black")
    assert box.count("<text") <= 4  # the name and three lines, which fit into a box


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(native/[\w/]+\.hpp)`", PAGE))))
def test_headers_that_the_page_names_exist(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(\w+/[\w/]+\.py)[`:]", PAGE))))
def test_modules_that_the_page_names_exist(path: str) -> None:
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


def test_an_evaluation_takes_the_path_that_the_page_shows() -> None:
    steps = re.findall(r"^\| \d+ \| `([\w/]+\.py): ([\w.]+)` \|", PAGE, re.MULTILINE)
    assert len(steps) == 13
    truth = sed.simulate.ground_truth(10)
    scores = sed.simulate.scores(truth)
    called: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(PACKAGE)):
            called.append((file.removeprefix(f"{PACKAGE}/"), frame.f_code.co_name))

    sys.setprofile(note)
    try:
        sed.evaluate(scores, truth, sed.presets.PSDS1)
    finally:
        sys.setprofile(None)
    position = -1
    for file, name in steps[:-1]:
        position = called.index((file, name.split(".")[-1]), position + 1)
    assert steps[-1] == ("evaluation/result.py", "Evaluation")
