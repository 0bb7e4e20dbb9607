"""Exit statuses: 0 is good, 1 says that a requirement is not met, 2 that the input or the call is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sedscope as sed
from sedscope.cli import COMMANDS

from ..support.command_line import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    truth = sed.simulate.ground_truth(12, classes=2)
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    durations = "".join(f"{clip}\t10\n" for clip in truth.clips)
    (tmp_path / "durations.tsv").write_text(f"filename\tduration\n{durations}")
    sed.write_scores(sed.simulate.scores(truth), tmp_path / "scores.npz")
    sed.write_scores(sed.simulate.scores(truth, seed=5, quality=0.3), tmp_path / "worse.npz")
    (tmp_path / "events.tsv").write_text("filename\tonset\toffset\tevent_label\na\t2\t1\tDog\n")
    return tmp_path


def arguments(folder: Path) -> dict[str, tuple[object, ...]]:
    """For each command with requirements, a call whose requirement is not met."""
    files = (folder / "truth.tsv", "--durations", folder / "durations.tsv")
    return {
        "check": (folder / "events.tsv", *files, "--task", "dcase2018_task4"),
        "rank": (folder / "events.tsv", *files),
        "tune": (folder / "scores.npz", *files, "--min-recall", 1, "-o", folder / "points.toml"),
        "validate": (folder / "events.tsv",),
    }


def test_a_requirement_that_is_not_met(folder: Path) -> None:
    calls = arguments(folder)
    page = Path(__file__).parents[2] / "docs" / "exit_statuses.md"
    listed = re.findall(r"^\| `(\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == sorted(calls)
    for command, call in calls.items():
        done = run(command, *call)
        assert done.code == 1, (command, done.err)
        assert "error:" not in done.err


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"demo", "metrics", "presets", "formats"}))
def test_wrong_calls(command: str, tmp_path: Path) -> None:
    missing = [tmp_path / "missing"] * 3
    done = run(command, *missing)
    assert done.code == 2
