"""Bundles for Codabench: they have what it requires, and their program scores as `evaluate_task` does."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed

from ..support.command_line import run
from .layout import dataset, write_set

TASK = sed.tasks.Task(
    "two sets",
    {"home": dataset(["psds1", "collar_f1"]), "street": dataset({"rate": "BestErrorRate(Clip())"})},
    "home.psds1 - street.rate",
    about='Homes and "streets": ü, 🐕',
)
REQUIRED: dict[str, dict[str, type]] = {
    "": {
        **{"version": int, "title": str, "image": str, "terms": str, "pages": list, "tasks": list},
        **{"phases": list, "leaderboards": list, "docker_image": str},
    },
    "pages": {"title": str, "file": str},
    "tasks": {"index": int, "name": str, "scoring_program": str, "reference_data": str},
    "phases": {"index": int, "name": str, "start": str, "tasks": list},
    "leaderboards": {"title": str, "key": str, "columns": list},
    "columns": {"title": str, "key": str, "index": int, "sorting": str, "precision": int},
}
"""What its documentation and its reader of version 2 require of each part."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(TASK.datasets):
        write_set(tmp_path / "data", tmp_path / "submission", name, seed)
    sed.tasks.write_task(TASK, "mine.toml")
    done = run("tasks", "codabench", "mine.toml", "--data", "data", "-o", "bundle")
    assert done.code == 0, done.err
    return tmp_path


def require(part: str, content: dict[str, Any]) -> None:
    for key, kind in REQUIRED[part].items():
        assert type(content[key]) is kind, (part, key)


def test_the_bundle_has_what_codabench_requires(folder: Path) -> None:
    bundle = folder / "bundle"
    competition = json.loads((bundle / "competition.yaml").read_text(encoding="utf-8"))
    require("", competition)
    assert competition["version"] == 2
    for part in ("pages", "tasks", "phases", "leaderboards"):
        assert competition[part]
        for content in competition[part]:
            require(part, content)
    for file in (competition["terms"], *(page["file"] for page in competition["pages"])):
        assert (bundle / file).read_text(encoding="utf-8").strip()  # empty pages are refused
    numbers = {task["index"] for task in competition["tasks"]}
    for phase in competition["phases"]:
        assert {*phase["tasks"]} <= numbers
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", phase["start"])
    for task in competition["tasks"]:
        assert (bundle / task["reference_data"]).is_dir()
        program = bundle / task["scoring_program"]
        command = json.loads((program / "metadata.yaml").read_text())["command"]
        assert command.split() == ["python3", "/app/program/score.py", "/app/input", "/app/output"]
        assert (program / "score.py").is_file()
    [leaderboard] = competition["leaderboards"]
    columns = leaderboard["columns"]
    for column in columns:
        require("columns", column)
        assert re.fullmatch(r"\w+", column["key"], re.ASCII)
    assert [column["index"] for column in columns] == [0, 1, 2, 3]
    directions = {column["key"]: column["sorting"] for column in columns}
    assert directions == {
        "score": "desc",
        "home_psds1": "desc",
        "home_collar_f1": "desc",
        "street_rate": "asc",
    }


def test_the_logo_is_a_picture(folder: Path) -> None:
    content = (folder / "bundle" / "logo.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    position, pixels = 8, b""
    while position < len(content):
        (length,) = struct.unpack(">I", content[position : position + 4])
        kind, body = content[position + 4 : position + 8], content[position + 8 : position + 8 + length]
        (checksum,) = struct.unpack(">I", content[position + 8 + length : position + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        pixels += body if kind == b"IDAT" else b""
        position += 12 + length
    assert len(zlib.decompress(pixels)) == 64 * (1 + 3 * 64)


def scored(folder: Path, submission: Path) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the scoring program as Codabench lays out its files."""
    source, output = folder / "app" / "input", folder / "app" / "output"
    shutil.copytree(folder / "bundle" / "reference_data", source / "ref")
    shutil.copytree(submission, source / "res")
    output.mkdir()
    program = str(folder / "bundle" / "scoring_program" / "score.py")
    job = [sys.executable, program, str(source), str(output)]
    return subprocess.run(job, capture_output=True, text=True, check=False), output / "scores.json"


def test_the_program_scores_as_the_task_does(folder: Path) -> None:
    done, scores = scored(folder, folder / "submission")
    assert done.returncode == 0, done.stderr
    expected = sed.tasks.evaluate_task("mine.toml", "submission", "data")
    assert json.loads(scores.read_text()) == {
        "score": expected.score,
        "home_psds1": expected.values["home"]["psds1"],
        "home_collar_f1": expected.values["home"]["collar_f1"],
        "street_rate": expected.values["street"]["rate"],
    }


def test_a_broken_submission_fails_with_all_problems(folder: Path) -> None:
    shutil.rmtree(folder / "submission" / "street")
    for path in sorted((folder / "submission" / "home").iterdir())[:2]:
        path.unlink()
    done, scores = scored(folder, folder / "submission")
    assert done.returncode == 1
    checked = sed.tasks.check_submission("mine.toml", "submission", "data")
    assert len(done.stderr.strip().splitlines()) == len(checked.problems) >= 2
    assert not scores.exists()


def test_names_that_become_the_same_are_refused(folder: Path) -> None:
    sets = {"a_b": dataset({"c": "psds1"}), "a": dataset({"b_c": "psds1"})}
    for name in sets:
        shutil.copytree(folder / "data" / "home", folder / "data" / name)
    with pytest.raises(sed.SedscopeError, match="names that become the same: a_b_c, a_b_c"):
        sed.tasks.write_codabench_bundle(sed.tasks.Task("mine", sets, "a_b.c"), "data", "other")
    assert not (folder / "other").exists()
