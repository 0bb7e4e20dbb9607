"""Outputs of commands: they never overwrite an input or each other, and are checked before any work."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.files import Files, write_files
from ..support.systems import posix_only

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = write_files(tmp_path)
    (tmp_path / "points.toml").write_text("[thresholds]\nDog = 0.5\nCat = 0.5\n")
    (tmp_path / "clips.txt").write_text("a\nb\n")
    (tmp_path / "groups.tsv").write_text("filename\tgroup\na\t1\nb\t2\n")
    (tmp_path / "chunks.tsv").write_text("filename\trecording\tstart\na\tr\t0\nb\tr\t4\n")
    (tmp_path / "audio").mkdir()
    (tmp_path / "audio" / "a.wav").write_bytes(b"RIFF")
    sed.write_scores(sed.read_scores(files.scores), tmp_path / "system.store")
    return files


def contents(folder: Path) -> dict[str, bytes]:
    """All files with what they hold."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


COMMANDS = """
evaluate scores truth.tsv --json truth.tsv
evaluate scores truth.tsv --json ./scores/../truth.tsv
evaluate scores truth.tsv --durations durations.tsv --json durations.tsv
evaluate scores truth.tsv --report truth.tsv
evaluate scores truth.tsv --points points.toml --json points.toml
evaluate scores truth.tsv --clips clips.txt --json clips.txt
evaluate scores truth.tsv --json scores/a.tsv
evaluate system.store truth.tsv --json system.store/index.json
evaluate scores truth.tsv --json x --report x
evaluate scores truth.tsv --checkpoint scores
report scores truth.tsv -o truth.tsv
report scores truth.tsv --audio audio -o audio/a.wav
report scores truth.tsv --clips-shown clips.txt -o clips.txt
deltas scores truth.tsv -o truth.tsv
tune scores truth.tsv -o truth.tsv
tune scores truth.tsv --postprocess ScoreTransform('clips.txt') -o clips.txt
tune scores truth.tsv --groups groups.tsv -o groups.tsv
detect scores --threshold 0.5 -o scores/a.tsv
detect scores --threshold 0.5 -o scores/c.tsv
detect scores --points points.toml -o points.toml
validate scores truth.tsv --json truth.tsv
compare scores b=system.store truth.tsv -o x.md -o x.md
compare scores b=system.store,runs.npz truth.tsv --report runs.npz
convert truth.tsv truth.tsv
convert scores scores/all.parquet
convert truth.tsv new.csv --durations-output truth.tsv
convert truth.tsv new.csv --durations-output new.csv
convert scores chunks.tsv --to npz --stitch chunks.tsv
"""


@pytest.mark.parametrize("command", COMMANDS.strip().splitlines())
def test_an_output_never_replaces_an_input(
    command: str, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(files.folder)
    monkeypatch.chdir(files.folder)
    outcome = run(*command.split())
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(("error: Cannot write", "error: Two outputs"))
    assert contents(files.folder) == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["truth.tsv", "scores/a.tsv"])
def test_links_to_inputs(link: Callable[[Path, Path], None], name: str, files: Files) -> None:
    link(files.folder / name, files.folder / "results.json")
    before = contents(files.folder)
    outcome = run("evaluate", files.scores, files.truth, "--json", files.folder / "results.json")
    assert outcome.code == 2
    assert "which would be overwritten" in outcome.err or "would be part of it" in outcome.err
    assert contents(files.folder) == before


@posix_only
def test_inputs_that_are_links(files: Files) -> None:
    (files.folder / "kept.tsv").write_bytes((files.scores / "a.tsv").read_bytes())
    (files.scores / "a.tsv").unlink()
    (files.scores / "a.tsv").symlink_to(files.folder / "kept.tsv")
    before = contents(files.folder)
    outcome = run("detect", files.scores, "--threshold", 0.5, "-o", files.folder / "kept.tsv")
    assert f"it is also the input {files.scores / 'a.tsv'}" in outcome.err
    assert contents(files.folder) == before


@posix_only
def test_a_link_as_a_folder_of_scores(files: Files) -> None:
    (files.folder / "link").symlink_to(files.scores)
    outcome = run("detect", files.folder / "link", "--threshold", 0.5, "-o", files.scores / "a.tsv")
    assert "would be part of it" in outcome.err


def test_outputs_beside_inputs_are_fine(files: Files) -> None:
    results = files.scores / "results.json"
    for _ in range(2):
        assert run("evaluate", files.scores, files.truth, "--json", results).code == 0
    assert run("detect", files.scores, "--threshold", 0.5, "-o", files.folder / "found.tsv").code == 0
    assert run("deltas", files.scores, files.truth, "-o", files.folder / "x.deltas").code == 0
    assert run("deltas", files.scores, files.truth, "-o", files.folder / "x.deltas").code == 0


def test_in_python(files: Files) -> None:
    with pytest.raises(sed.SedscopeError, match="it is also an input"):
        sed.convert(files.truth, files.folder / "new.csv", durations_output=files.truth)
    evaluation = sed.evaluate(
        sed.read_scores(files.scores), sed.read_ground_truth(files.truth), sed.BestFScore(sed.Collar())
    )
    with pytest.raises(sed.SedscopeError, match="would be part of it"):
        evaluation.report(files.folder / "audio" / "a.wav", audio=files.folder / "audio")
    assert (files.folder / "audio" / "a.wav").read_bytes() == b"RIFF"


@posix_only
def test_results_in_a_folder_of_events(files: Files) -> None:
    folder = files.folder / "events"
    folder.mkdir()
    (folder / "a.tsv").write_bytes(files.truth.read_bytes())
    before = contents(files.folder)
    for name in ("results.json", "a.tsv"):
        outcome = run("evaluate", files.scores, folder, "--json", folder / name)
        assert "the folder " in outcome.err
        assert "would be part of it" in outcome.err
    (folder / "a.json").write_text("{}")
    (files.folder / "link.json").symlink_to(folder / "a.json")
    outcome = run("evaluate", files.scores, folder, "--json", files.folder / "link.json")
    assert "would be part of it" in outcome.err
    (folder / "a.json").unlink()
    (files.folder / "link.json").unlink()
    assert contents(files.folder) == before
    assert run("evaluate", files.scores, folder, "--report", folder / "x.html").code == 0
    assert run("evaluate", files.scores, folder).code == 0


OUTPUTS = """
evaluate none none --json TARGET
evaluate none none --report TARGET
report none none -o TARGET
compare none other none -o TARGET
deltas none none -o TARGET
deltas none none --append -o TARGET
tune none none -o TARGET
detect none --threshold 0.5 -o TARGET
validate none none --json TARGET
convert none TARGET
convert none x.csv --durations-output TARGET
"""


@posix_only
@pytest.mark.parametrize("command", OUTPUTS.strip().splitlines())
def test_outputs_are_checked_first(command: str, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inputs do not exist, which would be the next error."""
    monkeypatch.chdir(files.folder)
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    reader, writer = os.pipe()
    problems = {
        "pipe": "it is not a regular file. Give the name of a file.",
        os.devnull: "it is not a regular file. Give the name of a file.",
        f"/dev/fd/{writer}": "it is not a regular file. Give the name of a file.",
        "loop": "Too many levels of symbolic links.",
        "truth.tsv/x": "truth.tsv is a file, not a folder.",
        "truth.tsv/x/y": "truth.tsv is a file, not a folder.",
    }
    for target, problem in problems.items():
        outcome = run(*command.replace("TARGET", target).split())
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == f"error: Cannot write {target}: {problem}\n"
    os.close(reader)
    os.close(writer)
    arguments = ["" if word == "TARGET" else word for word in command.split()]
    assert "empty" in run(*arguments).err
    assert Path("loop").is_symlink()


@posix_only
def test_a_stream_that_goes_to_a_file(files: Files) -> None:
    with (files.folder / "out.txt").open("w") as stream:
        path = f"/dev/fd/{stream.fileno()}"
        outcome = run("evaluate", files.scores, files.truth, "--json", path)
    assert outcome.err == (
        f"error: Cannot write {path}: it is not a regular file. Give the name of a file.\n"
    )


def test_outputs_that_cannot_be_printed(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    outcome = run("evaluate", "scores", "truth.tsv", "--json", "-", "--report", "-")
    assert outcome.err.startswith("error: Cannot write -: this output cannot be printed.")
    assert run("evaluate", "scores", "truth.tsv", "--json", "-").out.startswith("{")
    assert not Path("-").exists()


@posix_only
def test_folders_as_outputs(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    os.mkfifo("pipe")
    for target in ("pipe", "truth.tsv"):
        outcome = run("evaluate", "none", "none", "--checkpoint", target)
        assert outcome.err == f"error: Cannot write {target}: it is not a folder.\n"
    outcome = run("convert", "scores", "durations.tsv", "--to", "store")
    assert outcome.err == "error: Cannot write durations.tsv: it is not a folder.\n"
    assert run("evaluate", "scores", "truth.tsv", "--checkpoint", "new/kept").code == 0


@posix_only
def test_a_link_to_a_new_file(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    Path("link").symlink_to("new.json")
    assert run("evaluate", "scores", "truth.tsv", "--json", "link").code == 0
    assert Path("new.json").exists()
    Path("link2").symlink_to("nowhere/new.json")
    outcome = run("evaluate", "scores", "truth.tsv", "--json", "link2")
    assert "nowhere does not exist" in outcome.err


def test_a_folder_as_an_output(files: Files) -> None:
    outcome = run("evaluate", files.scores, files.truth, "--json", files.folder)
    assert outcome.err == f"error: Cannot write {files.folder}: it is a folder.\n"
