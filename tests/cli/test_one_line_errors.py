"""What would end in a traceback ends in one line: odd paths, full outputs, damaged files, no memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting.delta_files import digest
from sedscope.report import audio
from sedscope.resampling import resampling

from ..support.command_line import Outcome, run
from ..support.files import Files, write_files
from ..support.systems import posix_only

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path)


def one_line(outcome: Outcome) -> str:
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    return outcome.err


def program(*arguments: str, stdout: Any = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run ``sedscope`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sedscope", *arguments],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
    )


@posix_only
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["formats", "--version", "evaluate scores truth.tsv"])
def test_a_full_output(command: str, files: Files) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = program(*command.split(), stdout=full)
    assert done.returncode == 2
    assert done.stderr == "error: Cannot write the output: No space left on device.\n"


@pytest.mark.parametrize("command", ["formats", "--version", "evaluate scores truth.tsv"])
def test_closed_streams(command: str, files: Files) -> None:
    start = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "sedscope", *command.split()]
    done = subprocess.run(start, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("error: Cannot write the output: standard output is closed.")
    start[2] = 'exec "$@" 2>&-'
    done = subprocess.run(start, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stdout


@posix_only
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_demo_that_cannot_print(files: Files) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        assert program("demo", "new", "--clips", "5", stdout=full).returncode == 2
    assert not Path("new").exists()


def test_an_output_that_nobody_reads(files: Files) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = program("evaluate", "scores", "truth.tsv", stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


@posix_only
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_process_substitution(files: Files) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"filename\tonset\toffset\tevent_label\n")
    message = one_line(run("evaluate", "scores", f"/dev/fd/{reader}"))
    assert "it is a pipe. Write the data to a file first" in message
    for option in ("--durations", "--clips", "--points", "--groups", "--stitch", "--clips-shown"):
        more = ["--bootstrap", 10] if option == "--groups" else []
        assert "it is a pipe" in one_line(
            run("evaluate", "scores", "truth.tsv", option, f"/dev/fd/{reader}", *more)
        )
    os.close(reader)
    os.close(writer)


def test_runs_whose_names_are_too_long_together(files: Files) -> None:
    runs = ",".join(["scores"] * 60)
    assert run("compare", f"base={runs}", "scores", "truth.tsv", "--bootstrap", 5).code == 0


@pytest.mark.parametrize("command", ["evaluate", "validate", "report", "tune", "deltas"])
def test_paths_that_are_too_long(command: str, files: Files) -> None:
    output = [] if command in ("evaluate", "validate") else ["-o", "out"]
    assert "File name too long" in one_line(run(command, "x" * 300, "truth.tsv", *output))
    if command != "validate":
        assert "File name too long" in one_line(run(command, "scores", "x" * 300, *output))
    if output:
        assert "File name too long" in one_line(run(command, "scores", "truth.tsv", "-o", "x" * 300))


def test_folders_that_cannot_be_searched(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = Path.stat

    def refuse(path: Path, **options: Any) -> os.stat_result:
        if path.name == "scores":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    for command in ("evaluate", "validate"):
        message = one_line(run(command, "scores", "truth.tsv"))
        assert "scores" in message
        assert "Permission denied" in message


@posix_only
def test_audio_that_cannot_be_read(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("audio").mkdir()
    Path("audio", "a.wav").symlink_to("nowhere")
    Path("audio", "b.wav").mkdir()
    outcome = run("report", "scores", "truth.tsv", "--audio", "audio", "-o", "x.html")
    assert outcome.code == 0
    assert "warning: The audio of 2 clips is left out, because it cannot be read." in outcome.err
    embedded = audio.embed_audio("audio", {"a": 10**6, "b": 10**6}, lambda _: ())
    assert embedded.parts == {}
    assert embedded.notes == (
        "The audio of 2 clips is left out, because it cannot be read. The first: Cannot read "
        "audio/a.wav: it is a link to a file that does not exist.",
    )
    Path("audio", "a.wav").unlink()
    os.mkfifo("audio/a.wav")
    Path("audio", "b.wav").rmdir()
    Path("audio", "b.wav").write_bytes(b"RIFF")
    opened = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.name == "b.wav":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    notes = audio.embed_audio("audio", {"b": 10**6, "a": 10**6}, lambda _: ()).notes
    assert notes[0].endswith("The first: Cannot read audio/b.wav: Permission denied.")


def test_names_that_are_not_utf8(files: Files) -> None:
    odd = os.fsdecode(b"syst\xe8me")
    files.scores.rename(files.folder / odd)
    assert run("tune", odd, "truth.tsv", "-o", "points.toml").code == 0
    assert "syst\ufffdme" in Path("points.toml").read_text()
    assert run("report", odd, "truth.tsv", "-o", "x.html").code == 0


def test_names_in_messages(files: Files) -> None:
    assert "Cannot read no\ufffd.tsv: " in one_line(
        run("evaluate", os.fsdecode(b"no\xff.tsv"), "truth.tsv")
    )
    for arguments in (["x" * 5000, "truth.tsv"], ["scores", "truth.tsv", "--json", "x/" * 2500 + "y"]):
        message = one_line(run("evaluate", *arguments))
        assert "…" in message
        assert len(message) < 800


def test_names_in_warnings(files: Files) -> None:
    """A byte of a name that is not UTF-8 is shown as a character, in any place that messages go to."""
    scores, truth = (os.fsdecode(name) for name in (b"scores\xff", b"truth\xff.tsv"))
    files.scores.rename(files.folder / scores)
    for clip in "ab":
        table = files.folder / scores / f"{clip}.tsv"
        table.write_text(table.read_text().removesuffix("\n"))
    text = files.truth.read_text()
    (files.folder / truth).write_text(text + text.splitlines()[-1] + "\n")  # a row twice
    arguments = ("evaluate", scores, truth, "--overlaps", "merge", "--json", "result.json")
    done = program(*arguments)
    assert done.returncode == 0
    written = json.loads(Path("result.json").read_text())["warnings"]
    for text in (done.stderr, "\n".join(written)):
        assert "scores\ufffd/a.tsv does not end with a line break" in text
        assert "truth\ufffd.tsv line 4" in text
    assert "udcff" not in done.stderr
    checked = program("validate", scores, truth, "--json", "-")
    assert "truth\ufffd.tsv:4: " in json.loads(checked.stdout)["findings"][0]["where"][0]
    with pytest.warns(sed.SedscopeWarning, match="scores\ufffd/a.tsv"):
        sed.read_scores(scores)


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_of_many_digits(digits: int, files: Files) -> None:
    outcome = run("evaluate", "scores", "truth.tsv", "--bootstrap", "9" * digits)
    assert outcome.code == 2
    assert "9" * 40 not in outcome.err
    number = 10 ** (digits - 1)
    for option in ({"n": number}, {"seed": -number}):
        with pytest.raises(sed.SedscopeError, match=f"=a number of about {digits} digits "):
            sed.Resampling(**option)


@posix_only
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to bound memory")
def test_no_memory_in_the_core(files: Files) -> None:
    """The scores can be read, but there is no room to count them."""
    values = np.random.default_rng(0).random((400_000, 4), np.float32)
    scores = sed.Scores.from_arrays({"a": values}, classes=list("ABCD"), frame=0.01)
    sed.write_scores(scores, "scores.npz")
    sed.write_ground_truth(sed.GroundTruth.from_dict({"a": [(1, 2, "A")]}), "long.tsv")
    code = (
        "import resource, sys, polars, narwhals, sedscope as sed, sedscope.cli as cli\n"
        "import sedscope.io.systems, sedscope.io.scores.npz\n"
        "sed.read_ground_truth, sed.evaluate, sed.BestFScore, sed.Collar\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "limit = used + 40 * 2**20\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "sys.argv = ['sedscope', *sys.argv[1:]]\n"
        "cli.main()\n"
    )
    arguments = ("evaluate", "scores.npz", "long.tsv", "--threads", "1", "--metric", "FScore(Collar())")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "POLARS_MAX_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: There is not enough memory (std::bad_alloc). Use fewer clips")
    assert done.stderr.count("\n") == 1


@posix_only
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to bound memory")
@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "scores.parquet", "truth.tsv", "--threads", "1"],
        ["convert", "scores", "new.parquet"],
        ["convert", "truth.tsv", "new.parquet"],
    ],
)
def test_no_room_for_the_threads_of_polars(arguments: list[str], files: Files) -> None:
    """With so little address space, polars would abort the process when it starts its threads."""
    sed.write_scores(sed.read_scores("scores"), "scores.parquet")
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "resource.setrlimit(resource.RLIMIT_AS, (700 * 2**20, 700 * 2**20))\n"
        "import sedscope.cli as cli\n"
        "sys.argv = ['sedscope', *sys.argv[1:]]\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "the threads of polars need" in done.stderr
    assert done.stderr.count("\n") == 1


def test_empty_names(files: Files) -> None:
    for arguments in (["", "truth.tsv"], ["scores", ""], ["scores", "truth.tsv", "--durations", ""]):
        outcome = run("evaluate", *arguments)
        assert outcome.code == 2
        assert "The name of the file or folder is empty." in outcome.err
    with pytest.raises(sed.SedscopeError, match="is empty"):
        sed.read_scores("")


TOML = {
    "deep": "x = " + "[" * 100_000,
    "huge": f"[thresholds]\nDog = 1{'0' * 400}\n",
    "longer": f"[thresholds]\nDog = 1{'0' * 10_000}\n",
    "not text": "[thresholds]\nDog = 0.5\n#\udcff",
}


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_odd_points(text: str, files: Files) -> None:
    Path("points.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    message = one_line(run("detect", "scores", "--points", "points.toml"))
    assert "points.toml" in message
    assert "sys." not in message
    assert len(message) < 300


@pytest.mark.parametrize("command", [["detect", "scores"], ["evaluate", "scores", "truth.tsv"]])
def test_points_that_lack_classes(command: list[str], files: Files) -> None:
    Path("points.toml").write_text("[thresholds]\nDog = 0.5\n")
    metric = ["--metric", "FScore(Collar())"] if command[0] == "evaluate" else []
    outcome = run(*command, *metric, "--points", "points.toml")
    assert outcome.code == 0
    assert (
        "warning: The operating points have no threshold for some classes, which are never detected: Cat.\n"
        in outcome.err
    )


def changed_deltas(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the description in a file of deltas, with a checksum that fits."""
    first, _, rest = path.read_bytes().partition(b"\n")
    length = int(first.split()[2])
    description = json.loads(rest[:length])
    changed = change(description)
    text = json.dumps(description if changed is None else changed).encode()
    head = f"sedscope-deltas 2 {len(text)} {digest(text)}\n".encode()
    path.write_bytes(head + text + rest[length:])


def _set(where: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Change the entry at a path of keys."""

    def change(description: dict[str, Any]) -> None:
        *keys, last = [int(key) if key.isdecimal() else key for key in where.split("/")]
        target: Any = description
        for key in keys:
            target = target[key]
        target[last] = value

    return change


CHANGES: Mapping[str, Callable[[dict[str, Any]], object]] = {
    "a list": lambda _: [1, 2],
    "a number": lambda _: 5,
    "no arrays": lambda description: {"deltas": description["deltas"]},
    "arrays are a number": _set("arrays", 5),
    "an array is a text": _set("arrays/0", "x"),
    "a negative shape": _set("arrays/0/shape", [-1]),
    "a shape of texts": _set("arrays/0/shape", ["a"]),
    "a shape is a number": _set("arrays/0/shape", 7),
    "a huge shape": _set("arrays/0/shape", [2**62, 2**62]),
    "a type is a list": _set("arrays/0/dtype", [1]),
    "deltas are a number": _set("deltas", 3),
    "deltas are texts": _set("deltas", ["x"]),
    "a criterion is a number": _set("deltas/0/criterion", 3),
    "classes are a text": _set("deltas/0/classes", "Dog"),
    "classes are numbers": _set("deltas/0/classes", [1, 2]),
    "another array": _set("deltas/0/durations", 2),
    "a negative array": _set("deltas/0/durations", -1),
    "an array that is not there": _set("deltas/0/durations", 10**6),
    "no detections": _set("deltas/0/detections", None),
    "no references": _set("deltas/0/references", []),
    "rows that are not there": _set("deltas/0/detections", [0, 9]),
    "rows of a negative group": _set("deltas/0/detections", [-1, 0]),
    "groups of rows are a text": _set("rows", "x"),
    "variants are a list": _set("deltas/0/variants", [1]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_odd_files_of_deltas(change: Callable[[dict[str, Any]], object], files: Files) -> None:
    collar = ["--metric", "BestFScore(Collar())"]
    assert run("deltas", "scores", "truth.tsv", *collar, "-o", "x.deltas").code == 0
    changed_deltas(Path("x.deltas"), change)
    assert "x.deltas" in one_line(run("evaluate", "--deltas", "x.deltas", *collar))


def test_too_many_resamples(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    message = one_line(run("evaluate", "scores", "truth.tsv", "--bootstrap", 99_999_999_999))
    assert "--bootstrap 99999999999 must be from 1 to 10000000." in message
    for command in ("evaluate", "report -o x.html", "compare scores"):
        name, *more = command.split()
        message = one_line(run(name, "scores", "truth.tsv", *more, "--bootstrap", 0))
        assert "--bootstrap 0 must be from 1" in message
    monkeypatch.setattr(resampling, "machine_memory", lambda: 1000.0)
    message = one_line(run("evaluate", "scores", "truth.tsv", "--bootstrap", 1000))
    assert "1000 resamples of 2 clips take 8e-06 GB, more than the memory of this machine" in message


def test_no_memory(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        np.empty(2**62, np.uint8)

    monkeypatch.setattr(sed.Scores, "__getitem__", fail)
    monkeypatch.setattr(sed.Scores, "open", fail)
    message = one_line(run("evaluate", "scores", "truth.tsv"))
    assert message.startswith("error: There is not enough memory (Unable to allocate 4.00 EiB")
