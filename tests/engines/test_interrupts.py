"""Ctrl-C ends a command before its work is done, with one line, and leaves no incomplete file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.files import write_durations
from ..support.systems import posix_only

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks into /proc")

CLIPS = 16000  # seconds of work for every command
ARGUMENTS = ("scores", "truth.tsv", "--durations", "durations.tsv")


@pytest.fixture(autouse=True)
def _signal_interrupts() -> Iterator[None]:
    """Let the signal interrupt, even if the tests run in the background of a shell that ignores it there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A large set of few different clips."""
    folder = tmp_path_factory.mktemp("interrupted")
    truth = sed.simulate.ground_truth(CLIPS, seed=1)
    sed.write_ground_truth(truth, folder / "truth.tsv")
    write_durations(truth, folder / "durations.tsv")
    some = sed.simulate.scores(sed.simulate.ground_truth(20, seed=2), seed=2)
    sed.write_scores(some, folder / "some")
    files = sorted((folder / "some").iterdir())
    (folder / "scores").mkdir()
    for i, clip in enumerate(truth.clips):
        os.link(files[i % len(files)], folder / "scores" / f"{clip}.tsv")
    return folder


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A command in a session of its own, as a terminal starts it, that has begun to load."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sedscope", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and "numpy" not in Path(f"/proc/{process.pid}/maps").read_text():
        time.sleep(0.01)
    return process


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C reaches all processes of a session; then all of them end quietly, and print no result."""
    assert process.poll() is None, f"it has ended by itself: {process.communicate()}"
    os.killpg(process.pid, signal.SIGINT)
    try:
        output, errors = process.communicate()  # when nobody holds the pipes any more
    finally:
        process.kill()
    assert (process.returncode, output, without_progress(errors)) == (130, "", "interrupted\n")


def without_progress(log: str) -> str:
    """What a command says beside its progress, of which a slow machine sees a line every ten seconds."""
    return "".join(line for line in log.splitlines(keepends=True) if " % (" not in line)


COMMANDS = {
    "evaluate": ("evaluate", *ARGUMENTS),
    "evaluate --json": ("evaluate", *ARGUMENTS, "--json", "result.json"),
    "deltas": ("deltas", *ARGUMENTS, "-o", "of.deltas"),
    "convert to a store": ("convert", "scores", "new"),
    "convert to tables": ("convert", "scores", "new", "--to", "tsv"),
    "convert to a file": ("convert", "scores", "new.npz"),
    "report": ("report", *ARGUMENTS, "-o", "report.html"),
}


@posix_only
@pytest.mark.parametrize("delay", [0.0, 0.8])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_stops_and_leaves_nothing(command: str, delay: float, folder: Path) -> None:
    before = sorted(folder.iterdir())
    process = start(folder, *COMMANDS[command])
    time.sleep(delay)
    interrupt(process)
    assert sorted(folder.iterdir()) == before


@posix_only
@pytest.mark.parametrize(("processes", "delay"), [(1, 0.0), (4, 0.3), (4, 1.5)])
def test_a_cluster_of_its_own_goes_down_too(processes: int, delay: float, folder: Path) -> None:
    """While it is loaded; when the scheduler, a helper and two workers are there; when they work."""
    pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    process = start(folder, "evaluate", *ARGUMENTS, "--engine", "dask", "--threads", "2")
    while process.poll() is None and len(session(process.pid)) < processes:
        time.sleep(0.01)
    time.sleep(delay)
    interrupt(process)
    while session(process.pid):  # until the last has gone
        time.sleep(0.05)


def session(leader: int) -> list[str]:
    """The processes that belong to a session and are at work."""
    processes = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = status.read_text().rpartition(")")
            state, _, _, of_session, *_ = rest.split()
            if int(of_session) == leader and state != "Z":
                processes.append(name)
    return processes


@posix_only
def test_an_evaluation_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    command = ("evaluate", *ARGUMENTS, "--checkpoint", str(kept), "--json", "-")
    for parts in (1, 3):
        process = start(folder, *command)
        while process.poll() is None and len([*kept.glob("*.deltas")]) < parts:
            time.sleep(0.01)
        interrupt(process)
        assert {path.suffix for path in kept.iterdir()} == {".deltas"}
    assert len([*kept.iterdir()]) < CLIPS / 256
    times = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    resumed, errors = start(folder, *command).communicate()
    assert not without_progress(errors)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    whole, _ = start(folder, "evaluate", *ARGUMENTS, "--json", "-").communicate()
    assert resumed == whole


@pytest.fixture(scope="module")
def recording() -> tuple[sed.Scores, sed.GroundTruth]:
    """Hours in one array: the core is called once, for seconds."""
    classes = [f"class {c}" for c in range(40)]
    frames = np.random.default_rng(0).random((1_000_000, len(classes)), dtype=np.float32)
    events = [(5.0 * i, 5.0 * i + 2, label) for i, label in enumerate(50 * classes)]
    return (
        sed.Scores.from_arrays({"long": frames}, classes=classes, frame=0.02),
        sed.GroundTruth.from_dict({"long": events}, durations={"long": 20_000}),
    )


MEDIAN = sed.postprocessing.MedianFilter(1)
CALLS: dict[str, Callable[[sed.Scores, sed.GroundTruth], Any]] = {
    "intersection": lambda scores, truth: sed.evaluate(scores, truth, sed.presets.PSDS2),
    "post-processing": lambda scores, truth: MEDIAN(scores)["long"],
    "post-processing in threads": lambda scores, truth: sed.evaluate(
        MEDIAN(scores), truth, sed.presets.PSDS1, run=sed.Run(threads=2)
    ),
}


@posix_only
@pytest.mark.parametrize("call", CALLS)
def test_a_long_call_of_the_core_notices_signals(
    call: str, recording: tuple[sed.Scores, sed.GroundTruth]
) -> None:
    """Three signals in a row arrive at the same instruction: while it calls the core, not before or after."""
    places: list[tuple[FrameType | None, int]] = []

    def notice(_: int, frame: FrameType | None) -> None:
        places.append((frame, frame.f_lasti if frame else 0))
        if len(places) >= 3 and places[-1] == places[-2] == places[-3]:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, notice)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            CALLS[call](*recording)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@posix_only
@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_the_library_goes_on_after_an_interruption(engine: Any, folder: Path) -> None:
    if engine == "dask":
        pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    scores = sed.read_scores(folder / "scores")
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")

    def evaluate(clips: Any = None) -> dict[str, float]:
        return sed.evaluate(
            scores, truth, sed.presets.PSDS1, clips=clips, run=sed.Run(engine=engine)
        ).scalars()

    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        evaluate()
    timer.join()
    some = truth.clips[:50]
    assert evaluate(some) == sed.evaluate(scores, truth, sed.presets.PSDS1, clips=some).scalars()
