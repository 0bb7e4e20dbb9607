"""Progress bars: where they appear, and that they never run backwards."""

from __future__ import annotations

import io
import logging
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import sedscope as sed
from sedscope import progress as progress_bar
from sedscope.progress import ProblemLog, ProgressBar


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pretend that this is a notebook, and collect what it shows, without waiting between updates."""
    contents: list[str] = []

    def display(content: dict[str, str], **_: Any) -> Any:
        contents.append(content["text/plain"])
        return SimpleNamespace(update=display)

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=None)
    vars(displays)["display"] = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setattr(progress_bar, "_SECONDS", 0)
    return contents


def test_a_bar_never_runs_backwards(shown: list[str]) -> None:
    bar = ProgressBar("Comparing")
    for done in (0, 5, 3, 5, 10):
        bar(done, 10)
    assert shown == [f"Comparing: {10 * done} % ({done} of 10)" for done in (0, 5, 5, 5, 10)]


@pytest.mark.parametrize(("done", "total"), [(0, 10), (2, 10), (0, 30)])
def test_a_new_pass_is_named(done: int, total: int, shown: list[str]) -> None:
    bar = ProgressBar("Evaluating")
    bar(10, 10)
    bar(done, total)
    assert shown[-1] == f"Evaluating, pass 2: {100 * done // total} % ({done} of {total})"


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_every_function_that_takes_long_shows_a_bar(shown: list[str], tmp_path: Any) -> None:
    truth = sed.simulate.ground_truth(4, classes=2)
    scores = sed.simulate.scores(truth)
    best = sed.BestFScore(sed.Collar())
    deltas = sed.deltas(scores, truth, sed.Collar(), run=sed.Run(progress=True))
    sed.evaluate(scores, truth, best, run=sed.Run(progress=True))
    sed.compare([scores, scores], truth, best, resampling=5, run=sed.Run(progress=True))
    sed.tune(scores, truth, best, run=sed.Run(progress=True))
    sed.bootstrap(deltas, best, resampling=5, run=sed.Run(progress=True))
    sed.evaluate_deltas(deltas, best, resampling=5, run=sed.Run(progress=True))
    sed.diagnose(scores, truth, sed.Collar(), 0.5, run=sed.Run(progress=True))
    sed.boundary_errors(scores, truth, sed.Collar(), 0.5, run=sed.Run(progress=True))
    sed.write_scores(scores, tmp_path / "scores.npz", progress=True)
    sed.convert(tmp_path / "scores.npz", tmp_path / "scores.store", progress=True)
    titles = list(dict.fromkeys(text.split(":")[0] for text in shown))
    assert titles == [
        "Counting",
        "Evaluating",
        "Comparing",
        "Tuning",
        "Resampling",
        "Diagnosing",
        "Writing",
    ]
    last = {text.split(":")[0]: text for text in shown}
    assert all("100 %" in text for text in last.values())


def test_a_terminal_gets_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = ProgressBar("Evaluating")
    bar(5, 10)
    bar(10, 10)
    assert terminal.getvalue().endswith("━ Evaluating: 100 % (10 of 10)\n")
    assert terminal.getvalue().count("\r") == 2


def test_a_problem_has_a_line_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress_bar, "_LOG_SECONDS", 0)
    logger = logging.getLogger("sedscope")
    monkeypatch.setattr(logger, "propagate", False)
    handler = logging.StreamHandler(terminal)
    logger.addHandler(handler)
    log = ProblemLog(ProgressBar("Evaluating"))
    log(5, 10)
    for _ in range(2):  # it is named once
        log.add("clip a is broken.")
    log(10, 10)
    logger.removeHandler(handler)
    _, bar, cleared, end = terminal.getvalue().split("\r\x1b[K")
    assert bar.endswith("─ Evaluating: 50 % (5 of 10)")
    assert cleared == "problem: clip a is broken.\n"
    assert end.endswith("━ Evaluating: 100 % (10 of 10)\n")


class Clock:
    """A clock that a test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_other_outputs_get_nothing_of_short_work(capfd: pytest.CaptureFixture[str]) -> None:
    ProgressBar("Evaluating")(10, 10)
    assert capfd.readouterr() == ("", "")


def test_a_file_gets_a_line_every_ten_seconds() -> None:
    clock, log = Clock(), io.StringIO()
    bar = ProgressBar("Ranking", ("system", 1000), log, clock)
    for done in range(0, 24_001, 500):
        clock.seconds = done / 200  # five seconds a system
        bar(done, 24_000)
    lines = log.getvalue().splitlines()
    assert lines[0] == "Ranking: 8 % (2 of 24 systems, 12 per minute, 1 min 50 s left)"
    assert lines[1] == "Ranking: 16 % (4 of 24 systems, 12 per minute, 1 min 40 s left)"
    assert lines[-1] == "Ranking: 100 % (24 of 24 systems, 12 per minute)"
    assert len(lines) == 12


def test_a_bar_that_is_cleared_leaves_the_line_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    bar = ProgressBar("Evaluating", stream=terminal)
    bar(5, 10)
    bar.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_choice_that_is_neither_is_refused() -> None:
    truth = sed.simulate.ground_truth(2, classes=1)
    with pytest.raises(sed.SedscopeError, match=r"progress='auto' is not valid\. Choose True"):
        sed.evaluate(sed.simulate.scores(truth), truth, sed.presets.PSDS1, run=sed.Run(progress="auto"))  # type: ignore[arg-type]  # what is not allowed


def test_a_line_has_the_rate_and_the_time_left() -> None:
    clock, log = Clock(), io.StringIO()
    bar = ProgressBar("Evaluating", stream=log, clock=clock)
    for clock.seconds, done in ((20, 1), (40, 3000)):
        bar(done, 12_000)
    assert log.getvalue().splitlines() == [
        "Evaluating: 0 % (1 of 12000, 3.0 per minute, 66 h 39 min left)",
        "Evaluating: 25 % (3000 of 12000, 4500 per minute, 2 min 0 s left)",
    ]
