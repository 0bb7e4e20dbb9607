"""Every example in the documentation runs: Python blocks, and the commands of console blocks."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from ..support.command_line import run
from ..support.documentation import code_blocks
from ..support.project import ROOT

NEEDED = {
    "large_sets.md": ("fsspec",),
    "notebooks.md": ("pandas",),
    "training.md": ("torchmetrics", "tensorboard", "lightning"),
}
# the first block of these makes the files that their commands read
MAKES_FILES = ("formats_annotation.md", "moment_retrieval.md", "review.md")
TESTED_ALONE = (
    *("import mlflow", "import wandb"),  # in test_loggers.py, where they are installed
    "import sedscope.compat\n",  # in test_old_names.py, because it changes what other tests import
)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TESTED_APART = ("alarm_walkthrough.md", "birdnet_walkthrough.md")
RUN_HERE = [page for page in PAGES if page.name not in TESTED_APART]


@pytest.mark.parametrize(
    "page", [page for page in RUN_HERE if code_blocks(page, "python")], ids=lambda p: p.name
)
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # between Lightning and torch
@pytest.mark.filterwarnings("ignore:.*does not have many workers")  # Lightning, of data in memory
def test_python_examples(page: Path, small_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in NEEDED.get(page.name, ()):
        pytest.importorskip(part, reason=f"needs {part}")
    monkeypatch.chdir(small_set)
    run_python_blocks(page)


def run_python_blocks(page: Path) -> None:
    """Run the Python blocks of a page one after the other, as a reader would."""
    names: dict[str, object] = {}
    for block in code_blocks(page, "python"):
        if not block.startswith(TESTED_ALONE):
            exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize(
    "page", [page for page in RUN_HERE if code_blocks(page, "console")], ids=lambda p: p.name
)
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_commands(page: Path, small_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_set)
    if page.name in MAKES_FILES:
        for name in ("scores", "other_scores"):
            shutil.copytree(name, tmp_path / name)
        for name in ("ground_truth.tsv", "durations.tsv"):
            shutil.copy(name, tmp_path)
        monkeypatch.chdir(tmp_path)  # where no other test has made the files
        run_python_blocks(page)
    commands = [
        shlex.split(line.removeprefix("$ "))
        for block in code_blocks(page, "console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    assert commands
    for program, *arguments in commands:
        assert program == "sedscope"
        assert run(*arguments).code == 0, arguments


def test_the_demo_makes_the_files_that_the_examples_read(small_set: Path, tmp_path: Path) -> None:
    assert run("demo", tmp_path / "demo", "--clips", 6).code == 0
    read = {"scores", "other_scores", "ground_truth.tsv", "durations.tsv"}
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {*read, "report.html"}
    assert {path.name for path in small_set.iterdir()} >= read


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
