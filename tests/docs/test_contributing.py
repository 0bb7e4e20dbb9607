"""The recipes of CONTRIBUTING.md, followed literally in a scratch copy of the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sedscope as sed
from sedscope import _native

from ..support.command_line import table_rows
from ..support.project import ROOT

RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = Path(sed.__file__).parent
# runs the copy in a folder, not the installed package, whose import hook would come first
RUN_COPY = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
sys.path.insert(0, sys.argv.pop(1))
from sedscope.__main__ import main
main()
"""


def follow(recipe: str, scratch: Path) -> None:
    """Write the files of a recipe into a copy of the package: new modules, and lines added to others."""
    shutil.copytree(PACKAGE, scratch / "sedscope", ignore=shutil.ignore_patterns("__pycache__"))
    compiled = Path(_native.__file__ or "")
    shutil.copy(compiled, scratch / "sedscope" / compiled.name)
    section = RECIPES.split(f"## {recipe}\n")[1].split("\n## ")[0]
    blocks = re.findall(r'```python title="src/(.*?)"\n(.*?)```', section, re.DOTALL)
    assert len(blocks) == 2, "a recipe is one new module and one line"
    for path, text in blocks:
        file = scratch / path
        added = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(added + text, encoding="utf-8")
    (_, module), (_, line) = blocks
    assert module.startswith('"""')
    assert len(line.strip().splitlines()) == 1


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Scores and ground truth of a small set."""
    truth = sed.simulate.ground_truth(20)
    sed.write_scores(sed.simulate.scores(truth), tmp_path / "scores")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    return tmp_path / "scores", tmp_path / "truth.tsv"


def evaluate_in_copy(scratch: Path, *arguments: str | Path) -> str:
    command = [sys.executable, "-c", RUN_COPY, str(scratch), "evaluate", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("recipe", "options", "shown"),
    [
        (
            "Add a metric",
            ["--metric", "FalseShare(Collar(), threshold=0.3)"],
            "FalseShare(Collar(onset=0.2, offset=0.2, offset_rate=0.2), threshold=0.3, average='macro')",
        ),
        ("Add a criterion", ["--metric", "BestFScore(Touch())"], "BestFScore(Touch()"),
        (
            "Add a post-processing",
            ["--postprocess", "Gain(2)", "--metric", "FScore(Collar(), threshold=1)"],
            "FScore(Collar(",
        ),
    ],
)
def test_recipe(
    recipe: str, options: list[str], shown: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    follow(recipe, tmp_path / "copy")
    table = evaluate_in_copy(tmp_path / "copy", *files, "--missing", "empty", *options)
    assert shown in table
    assert "Speech" in table


def test_a_gain_moves_the_threshold(files: tuple[Path, Path], tmp_path: Path) -> None:
    follow("Add a post-processing", tmp_path / "copy")
    doubled = evaluate_in_copy(
        *(tmp_path / "copy", *files, "--postprocess", "Gain(2)"),
        *("--metric", "FScore(Collar(), threshold=0.5)"),
    )
    plain = evaluate_in_copy(tmp_path / "copy", *files, "--metric", "FScore(Collar(), threshold=0.25)")
    rows = [table_rows(table) for table in (doubled, plain)]
    assert rows[0]["Speech"] == rows[1]["Speech"]
    assert rows[0]["overall"] == rows[1]["overall"]
