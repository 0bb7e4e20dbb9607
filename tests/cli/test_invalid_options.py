"""What invalid options get: a message that names them, exit code 2, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.command_line import run
from ..support.files import write_files
from ..support.refusals import assert_refused

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

OPTIONS: dict[str, tuple[list[str], list[str]]] = {
    "threads": (["--threads", "0"], ["threads=0", "at least 1"]),
    "threads below zero": (["--threads", "-3"], ["threads=-3"]),
    "threads beyond all bounds": (["--threads", "9" * 30], ["threads"]),
    "unknown classes": (["--classes", "Cow,Dog,Emu"], ["Cow, Emu", "Dog, Cat"]),
    "an empty class": (["--classes", ""], ["''", "Dog, Cat"]),
    "a comma too many": (["--classes", "Dog,"], ["''", "Dog, Cat"]),
    "unknown clips": (["--clips", "no such file"], ["no such file", "scored"]),
    "an empty name for the clips": (["--clips", ""], ["--clips"]),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_bad_options(options: list[str], message: list[str], tmp_path: Path) -> None:
    assert_refused(write_files(tmp_path), message, *options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ["clips.txt"]),
        (b"filename\n\n", ["clips.txt"]),
        (b"a\nc\nd\n", ["2 chosen clips", "c, d"]),
        (b"a\n\xff\n", ["clips.txt"]),
    ],
)
def test_bad_lists_of_clips(content: bytes, message: list[str], tmp_path: Path) -> None:
    files = write_files(tmp_path, {"clips.txt": content})
    assert_refused(files, message, "--clips", tmp_path / "clips.txt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threads", "two"], "--threads"),
        (["--missing", "ignore"], "--missing"),
        (["--invalid", "ignore"], "--invalid"),
        (["--overlaps", "ignore"], "--overlaps"),
        (["--colour"], "--colour"),
        (["--metric"], "--metric"),
        (["more"], "more"),
    ],
)
def test_options_of_the_wrong_kind(options: list[str], message: str, tmp_path: Path) -> None:
    files = write_files(tmp_path)
    outcome = run("evaluate", files.scores, files.truth, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err


def test_results_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    before = files.listing()
    for target in (tmp_path / "no folder" / "results.json", tmp_path, files.truth / "results.json"):
        outcome = run("evaluate", files.scores, files.truth, "--json", target)
        assert outcome.code == 2
        assert f"error: Cannot write {target}: " in outcome.err
        assert files.listing() == before
    results = tmp_path / "results.json"
    results.write_text("of an earlier run")
    assert run("evaluate", files.scores, files.truth, "--threads", 0, "--json", results).code == 2
    assert results.read_text() == "of an earlier run"


def test_no_name_for_the_results_is_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    outcome = run("evaluate", files.scores, files.truth, "--json", "")
    assert outcome.code == 2
    assert "error" in outcome.err.lower()
