"""The command line: what each option does, and where its output goes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed

from ..support.command_line import Outcome, run, table_rows
from ..support.files import DURATIONS, SCORES, TRUTH, Content, Files, table, write_files

EVENTS = "filename onset offset event_label"
PSDS = "PSDS(Intersection(dtc=0.7, gtc=0.7), max_efpr=10, unit='minute')"
OTHER = "PSDS(Intersection(dtc=0.1, gtc=0.1, cttc=0.3), alpha_ct=0.5)"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write_files(tmp_path)


def evaluate(files: Files, *options: object, durations: bool = True) -> dict[str, Any]:
    """The results as JSON."""
    timed = ["--durations", files.durations] if durations else []
    outcome = run("evaluate", files.scores, files.truth, *timed, "--json", "-", *options)
    assert (outcome.code, outcome.err) == (0, "")
    result: dict[str, Any] = json.loads(outcome.out)
    return result


# The program itself


def test_version() -> None:
    assert run("--version") == Outcome(0, f"sedscope {sed.__version__}\n", "")


def test_help() -> None:
    outcome = run("--help")
    assert (outcome.code, outcome.err) == (0, "")
    for word in ("Usage: ", "evaluate", "demo", "--version"):
        assert word in outcome.out
    assert run().err.strip() == outcome.out.strip()


def test_help_of_evaluate_names_every_option_and_default() -> None:
    outcome = run("evaluate", "--help")
    assert (outcome.code, outcome.err) == (0, "")
    options = "--durations --metric --classes --clips --missing --invalid --overlaps --threads --json"
    for word in options.split():
        assert word in outcome.out
    words = " ".join(outcome.out.split())
    for default in ("from the scores", "psds1 and psds2", "one per core"):
        assert default in words


COMMANDS = (
    "evaluate report compare deltas tune detect validate check labels "
    "convert metrics presets tasks formats demo"
)


@pytest.mark.parametrize("command", COMMANDS.split())
def test_help_fits_80_columns_and_cuts_nothing(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(command, "--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"\w(…|\.\.\.)(\s|$)", text.replace("class…", "").replace("SYSTEM...", ""))
    assert not re.search(r"<\w+>|list\[", text)  # types are words
    assert f"  {command} " in run("--help").out
    assert "{" not in text.split("\n\n")[0]  # arguments have the names that are explained below


@pytest.mark.parametrize("arguments", [["rate"], ["--colour"], ["evaluate"], ["demo", "--clips", "few"]])
def test_usage_errors(arguments: list[str]) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Usage: " in outcome.err


# sedscope evaluate


def test_a_table_of_results(files: Files) -> None:
    outcome = run("evaluate", files.scores, files.truth, "--durations", files.durations)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("2 clips, 0.00 hours\n")
    rows = table_rows(outcome.out)
    assert rows["class"] == ["references", "psds1", "psds2"]
    assert rows["Dog"] == rows["Cat"] == ["1", "1.0000", "1.0000"]
    assert rows["overall"] == ["2", "1.0000", "1.0000"]
    assert f"psds1: {sed.presets.PSDS1!r}" in outcome.out
    assert f"psds2: {sed.presets.PSDS2!r}" in outcome.out
    assert files.listing() == ["durations.tsv", "scores/a.tsv", "scores/b.tsv", "truth.tsv"]


def test_results_as_json(files: Files) -> None:
    target = files.folder / "results.json"
    target.write_text("of an earlier run")
    arguments = ["evaluate", files.scores, files.truth, "--durations", files.durations]
    outcome = run(*arguments, "--json", target)
    assert outcome == run(*arguments)  # the table, too
    text = target.read_text(encoding="utf-8")
    assert run(*arguments, "--json", "-") == Outcome(0, text, "")
    content = json.loads(text)
    assert content.pop("signature")["text"] == outcome.out.splitlines()[-1]
    assert content == {
        "sedscope": sed.__version__,
        "clips": 2,
        "hours": 8 / 3600,
        "classes": ["Dog", "Cat"],
        "references": {"Dog": 1, "Cat": 1},
        "metrics": [
            {"name": name, "metric": repr(metric), "value": 1.0, "per_class": {"Dog": 1.0, "Cat": 1.0}}
            for name, metric in (("psds1", sed.presets.PSDS1), ("psds2", sed.presets.PSDS2))
        ],
        "warnings": [],
    }
    assert target.stat().st_mode & 0o777 == files.truth.stat().st_mode & 0o777
    assert [name for name in files.listing() if "json" in name] == ["results.json"]


def test_the_same_as_the_library(files: Files) -> None:
    result = evaluate(files, "--metric", PSDS)
    truth = sed.read_ground_truth(files.truth, durations=files.durations)
    metric = sed.parse_metric(PSDS)
    assert result == sed.evaluate(sed.read_scores(files.scores), truth, metric).to_dict()


def test_metrics(files: Files) -> None:
    result = evaluate(files, "--metric", PSDS, "--metric", OTHER, "--metric", PSDS)
    full = [repr(sed.parse_metric(text)) for text in (PSDS, OTHER)]
    assert [entry["metric"] for entry in result["metrics"]] == full
    # what is printed can be given again
    assert evaluate(files, "--metric", full[0], "--metric", full[1]) == result


@pytest.mark.parametrize("bad", ["PSDS(", "PSDS(Intersection(dtc=2, gtc=1))"])
def test_one_bad_metric_among_good_ones(bad: str, files: Files) -> None:
    outcome = run("evaluate", files.scores, files.truth, "--metric", PSDS, "--metric", bad)
    assert (outcome.code, outcome.out) == (2, "")
    assert bad in outcome.err


@pytest.mark.parametrize(
    ("options", "classes"),
    [
        (["--classes", "Cat"], ["Cat"]),
        (["--classes", "Cat,Dog"], ["Cat", "Dog"]),
        (["--classes", "Cat , Dog"], ["Cat", "Dog"]),
        (["--classes", "Cat", "--classes", "Dog"], ["Cat", "Dog"]),
        (["--classes", "Dog,Dog", "--classes", "Dog"], ["Dog"]),
        ([], ["Dog", "Cat"]),
    ],
)
def test_classes(options: list[str], classes: list[str], files: Files) -> None:
    result = evaluate(files, *options)
    assert result["classes"] == classes
    assert result["references"] == dict.fromkeys(classes, 1)


def test_a_class_name_with_a_comma(tmp_path: Path) -> None:
    name = "Bark, howl"
    changes = {f"scores/{clip}.tsv": text.replace("Dog", name) for clip, text in SCORES.items()}
    files = write_files(tmp_path, {**changes, "truth.tsv": TRUTH.replace("Dog", name)})
    assert evaluate(files, "--classes", name)["classes"] == [name]
    both = evaluate(files, "--classes", name, "--classes", "Cat")
    assert both["classes"] == [name, "Cat"]


def test_labels_that_are_not_evaluated(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": TRUTH + table("b 2 3 Cow")})
    result = evaluate(files, "--classes", "Dog")
    assert result["references"] == {"Dog": 1}
    assert "1 label" in result["warnings"][0]
    assert "Cow" in result["warnings"][0]


@pytest.mark.parametrize(
    ("content", "clips"),
    [
        ("a\n", 1),
        ("a", 1),
        ("eval/a.wav\r\nb.flac\r\n", 2),
        ("\ufeffa\nb\n", 2),
        ("\n b \n\n", 1),
        ("a\na.wav\n", 1),
        (DURATIONS, 2),  # the first column of a table with a header
        ("filename\na\n", 1),
    ],
)
def test_lists_of_clips(content: str, clips: int, tmp_path: Path) -> None:
    files = write_files(tmp_path, {"clips.txt": content})
    assert evaluate(files, "--clips", tmp_path / "clips.txt")["clips"] == clips


def test_clips_with_scores(tmp_path: Path) -> None:
    truth, durations = TRUTH + table("c 0 1 Dog"), DURATIONS + table("c 4", "d 4")
    files = write_files(tmp_path, {"truth.tsv": truth, "durations.tsv": durations})
    result = evaluate(files, "--clips", "scored")
    assert (result["clips"], result["references"]) == (2, {"Dog": 1, "Cat": 1})
    assert "2 of the 4 clips" in result["warnings"][0]


def test_clips_not_in_the_ground_truth(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, "a 1 3 Dog"), "durations.tsv": None})
    result = evaluate(files, "--missing", "empty", durations=False)
    assert (result["clips"], result["references"]) == (2, {"Dog": 1, "Cat": 0})
    assert any(
        "1 clip is not in the ground truth and is assumed to have no events" in note
        for note in result["warnings"]
    )


def test_invalid_events_left_out(tmp_path: Path) -> None:
    truth = TRUTH + table("a 3 3 Dog", "b 3 2 Cat", "b 4 5 Cat")
    files = write_files(tmp_path, {"truth.tsv": truth})
    result = evaluate(files, "--invalid", "drop")
    assert result["references"] == {"Dog": 1, "Cat": 1}
    empty, late = result["warnings"]
    assert "2 events have no positive length and were left out" in empty
    assert "truth.tsv line 4 (a: Dog 3–3 s)" in empty
    assert "1 event begins at or after the end of its clip and was left out" in late
    # without durations the scores' end counts
    timeless = evaluate(files, "--invalid", "drop", durations=False)
    assert timeless["references"] == {"Dog": 1, "Cat": 1}
    assert any(
        note.startswith("1 reference event begins at or after") and "left out" in note
        for note in timeless["warnings"]
    )


def test_overlapping_events_merged(tmp_path: Path) -> None:
    truth = table(EVENTS, "a 1 2.5 Dog", "a 2 3 Dog", "b 0 1 Cat")
    result = evaluate(write_files(tmp_path, {"truth.tsv": truth}), "--overlaps", "merge")
    assert result["references"] == {"Dog": 1, "Cat": 1}
    assert [entry["value"] for entry in result["metrics"]] == [1, 1]
    assert (
        "1 event overlaps another one of the same class and clip and was merged" in result["warnings"][0]
    )


def test_an_event_that_ends_after_its_clip_is_kept(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"durations.tsv": table("filename duration", "a 2.5", "b 4")})
    result = evaluate(files)
    assert result["references"] == {"Dog": 1, "Cat": 1}
    assert result["hours"] == pytest.approx(6.5 / 3600)
    note, coverage = result["warnings"]
    assert "1 reference event ends after its clip does and was kept (first: clip 'a'" in note
    assert "1 clip go on more than 10 % beyond the end of the clip" in coverage


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_threads_change_nothing(threads: int, files: Files) -> None:
    assert evaluate(files, "--threads", threads) == evaluate(files)


def test_a_class_without_references(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, "a 1 3 Dog", "b · · ·")})
    outcome = run("evaluate", files.scores, files.truth, "--durations", files.durations)
    assert outcome.code == 0
    assert table_rows(outcome.out)["Cat"] == ["0", "(450/h)", "(450/h)"]
    assert table_rows(outcome.out)["overall"] == ["1", "1.0000", "1.0000"]
    assert outcome.err.startswith("warning: 1 class has no reference events")
    assert outcome.err.endswith(": Cat.\n")
    for entry in evaluate(files)["metrics"]:
        assert (entry["value"], entry["per_class"]) == (1, {"Dog": 1, "Cat": None})


def test_no_references_at_all(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, "a · · ·", "b · · ·")})
    for entry in evaluate(files)["metrics"]:
        assert (entry["value"], entry["per_class"]) == (None, {"Dog": None, "Cat": None})


def test_warnings_go_to_stderr_and_into_the_results(files: Files) -> None:
    outcome = run("evaluate", files.scores, files.truth)
    message = (
        "2 clips have no stated duration, so sedscope assumes that each clip ends with its last score. "
        "State the durations with --durations."
    )
    assert (outcome.code, outcome.err) == (0, f"warning: {message}\n")
    assert evaluate(files, durations=False)["warnings"] == [message]


@pytest.mark.parametrize(
    "name", ['say "hi"', "Schön ☃", "[red]犬[/red]", "overall", "class", "%s{0}", "-1"]
)
def test_class_names_are_printed_as_they_are(name: str, tmp_path: Path) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    changes = {f"scores/{clip}.tsv": text.replace("Dog", quoted) for clip, text in SCORES.items()}
    files = write_files(tmp_path, {**changes, "truth.tsv": TRUTH.replace("Dog", quoted)})
    outcome = run("evaluate", files.scores, files.truth, "--durations", files.durations)
    assert (outcome.code, outcome.err) == (0, "")
    assert any(line.startswith(f"{name} ") for line in outcome.out.splitlines())
    assert evaluate(files)["metrics"][0]["per_class"] == {name: 1, "Cat": 1}


def test_names_of_clips_in_messages_are_printed_as_they_are(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": TRUTH + table("[bold]%s{0}☃ · · ·")})
    outcome = run("evaluate", files.scores, files.truth)
    assert (outcome.code, outcome.out) == (2, "")
    assert "[bold]%s{0}☃" in outcome.err


# sedscope demo


def test_demo(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    outcome = run("demo", folder, "--clips", 6)
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("system_a", "system_b", "psds1:", "psds2:", "overall", "report"):
        assert words in outcome.out
    assert len(list((folder / "scores").iterdir())) == 6
    command = outcome.out.splitlines()[-1].split()
    assert command[:2] == ["sedscope", "evaluate"]
    again = run(*command[1:])
    assert again.code == 0
    # the values of system a, as the demo shows them, with what its last line says
    first = next(line.split() for line in outcome.out.splitlines() if line.startswith("overall"))
    assert table_rows(again.out)["overall"] == first[1:]


@pytest.mark.parametrize("clips", [1, 2])
def test_demo_with_few_clips(clips: int, tmp_path: Path) -> None:
    outcome = run("demo", tmp_path / "demo", "--clips", clips)
    assert (outcome.code, outcome.err) == (0, "")


def test_demo_keeps_what_is_there(files: Files) -> None:
    before = files.listing()
    for folder in (files.scores, files.truth, files.truth / "demo", files.folder):
        outcome = run("demo", folder, "--clips", 2)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("error: ")
        assert str(folder) in outcome.err
    assert run("demo", files.folder / "demo", "--clips", 0).code == 2
    assert files.listing() == before


# The real program


def start(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the installed program."""
    program = shutil.which("sedscope", path=sysconfig.get_path("scripts"))
    assert program is not None
    return subprocess.run(
        [program, *map(str, arguments)],
        env={**os.environ, "PYTHONUTF8": "0", **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_program_evaluates(files: Files) -> None:
    done = start("evaluate", files.scores, files.truth, "--durations", files.durations, "--json", "-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["metrics"][0]["value"] == 1


def test_program_refuses_without_traceback(files: Files) -> None:
    (files.scores / "b.tsv").write_text("onset\toffset\tDog\tCat\n0\t1\tloud\t.1\n")
    target = files.folder / "results.json"
    done = start("evaluate", files.scores, files.truth, "--json", target)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"b.tsv" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not target.exists()


def test_program_has_a_version() -> None:
    assert start("--version").stdout.decode().split() == ["sedscope", sed.__version__]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_program_prints_in_any_encoding(encoding: str, files: Files) -> None:
    # what a console or a redirection may be set to
    for arguments in (["evaluate", files.scores, files.truth], ["evaluate", "--help"]):
        done = start(*arguments, PYTHONIOENCODING=encoding)
        assert b"Traceback" not in done.stderr
        assert done.returncode == 0
    (files.scores / "a.tsv").write_text("onset\toffset\tDog\tCat\n1\t0\t.1\t.1\n")
    done = start("evaluate", files.scores, files.truth, PYTHONIOENCODING=encoding)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe that closes early")
def test_program_ends_quietly_when_nobody_reads(files: Files) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = shutil.which("sedscope", path=sysconfig.get_path("scripts"))
    assert program is not None
    done = subprocess.run(
        [program, "evaluate", files.scores, files.truth],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert b"Traceback" not in done.stderr


def test_gaps_between_frames(tmp_path: Path) -> None:
    without_row = "".join(SCORES["a"].splitlines(keepends=True)[i] for i in (0, 1, 2, 4))
    files = write_files(tmp_path, {"scores/a.tsv": without_row})
    inputs = (files.scores, files.truth, "--durations", files.durations)
    messages = {
        "evaluate": "a.tsv: There is 1 gap between frames: before line 4 (2–3 s).",
        "validate": "a.tsv:4: there is a gap before this frame (2–3 s)",
    }
    for command, message in messages.items():
        refused = run(command, *inputs)
        assert refused.code == (2 if command == "evaluate" else 1)
        assert message in refused.out + refused.err
        assert run(command, *inputs, "--gaps", "silent").code == 0
    detect = ("detect", files.scores, "--threshold", "0.5")
    assert (run(*detect).code, run(*detect, "--gaps", "silent").code) == (2, 0)
    convert = ("convert", files.scores, tmp_path / "x.npz")
    assert (run(*convert).code, run(*convert, "--gaps", "silent").code) == (2, 0)
    assert sed.read_scores(tmp_path / "x.npz")["a"].values[2].tolist() == [float("-inf")] * 2


@pytest.mark.parametrize("command", ["evaluate", "detect"])
def test_warnings_of_reading_come_after_the_result(command: str, tmp_path: Path) -> None:
    changes: dict[str, Content] = {f"scores/{clip}.tsv": text[:-1] for clip, text in SCORES.items()}
    files = write_files(tmp_path, changes)
    arguments: list[object] = ["--threshold", 0.5] if command == "detect" else [files.truth]
    outcome = run(command, files.scores, *arguments)
    assert outcome.code == 0
    first = f"warning: {files.scores}/a.tsv does not end with a line break"
    [warning] = [line for line in outcome.err.splitlines() if "line break" in line]
    assert warning.startswith(first)
    assert "SedscopeWarning" not in outcome.err
    if command == "evaluate":
        written = json.loads(run(command, files.scores, *arguments, "--json", "-").out)
        assert f"warning: {written['warnings'][0]}" == warning
