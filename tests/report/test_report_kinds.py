"""Reports of many kinds of evaluations in a real browser: hostile, odd, large, of two systems."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.escaping import csv_name, printable

from ..support.output_kinds import assert_csv, assert_latex
from ..support.report.browser import Browser
from ..support.report.page import check_table, number, thresholds
from ..support.report.sets import HOSTILE, METRICS, hostile_set, simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_hostile_names_are_text(page: Browser, tmp_path: Path) -> None:
    scores, truth = hostile_set()
    file = tmp_path / "report.html"
    sed.evaluate(scores, truth, METRICS).report(file, name="<script>document.title = 'broken'</script>")
    page.open(file)
    assert page.run("return document.title").endswith("– sedscope report")
    assert [row["class"] for row in page.rows()] == [*map(printable, scores.classes)]
    page.choose("#criterion", 1)
    for k, label in enumerate(scores.classes):
        page.choose("#class", k)
        if label in HOSTILE:
            assert printable(label) in page.run("return document.querySelector('.legend').textContent")
    assert page.run("return document.querySelectorAll('img, b[onclick]').length") == 0
    for i in range(3):
        page.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", i)
    assert thresholds(page).keys() == set(scores.classes)
    assert page.problems() == []
    assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_saved_tables_hold_no_commands_of_names(page: Browser, tmp_path: Path) -> None:
    labels = ["two\nlines\\input{x}", "[0] \x1b[31m", "=1+1", "a|b^^M"]
    scores = sed.Scores.from_arrays({"a": np.eye(4)}, classes=labels, frame=1.0)
    events = {"a": [(i, i + 1, label) for i, label in enumerate(labels)]}
    truth = sed.GroundTruth.from_dict(events, durations={"a": 4})
    file = tmp_path / "report.html"
    sed.evaluate(scores, truth, sed.presets.PSDS1).report(file)
    page.open(file)
    tools = "#classes .tools button"
    latex = page.saved("classes.tex", lambda: page.click(f"{tools} + button"))
    assert_latex(latex)
    assert len(latex.splitlines()) == 6 + len(labels)
    rows = assert_csv(page.saved("classes.csv", lambda: page.click(tools)))
    assert {csv_name(row[0]) for row in rows[1:]} >= {*labels}
    assert page.problems() == []


def test_two_systems(page: Browser, tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(60, seed=3)
    systems = {"good": 0.8, "poor": 0.4}
    scores = {name: sed.simulate.scores(truth, quality=of, seed=3) for name, of in systems.items()}
    comparison = sed.compare(scores, truth, METRICS[:2], resampling=50)
    comparison.report(tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    expected = comparison.differences[METRICS[0]]["poor", "good"]
    rows = page.rows(".differences", foot=True)
    for row, (label, difference) in zip(rows, expected.per_class.items(), strict=False):
        assert row["class"] == label
        assert number(row["difference"]) == pytest.approx(difference.value, abs=5.1e-5)
    assert number(rows[-1]["difference"]) == pytest.approx(expected.value, abs=5.1e-5)
    counts = {name: sed.deltas(of, truth, METRICS[0].criterion).counts() for name, of in scores.items()}
    page.click("#best")
    for s, name in enumerate(systems):
        page.choose("#system", s)
        check_table(page, counts[name])
    page.choose("#slider", 20)  # the same threshold for both
    for s, name in enumerate(systems):
        page.choose("#system", s)
        assert len(set(thresholds(page).values())) == 1
        check_table(page, counts[name])
    assert page.problems() == []


def odd_evaluations() -> dict[str, sed.Evaluation]:
    """Evaluations in which something is missing that others have."""
    scores, truth = simulated_set(12)
    events = {clip: [(*event, 0.5) for event in truth.events(clip)] for clip in truth.clips}
    never = {clip: np.full((50, 2), -np.inf) for clip in ("a", "b")}
    nothing = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 10, "b": 10})
    long_truth = sed.simulate.ground_truth(2, seconds=600, classes=2)
    many = sed.simulate.ground_truth(60, classes=90)
    psds, f1 = sed.presets.PSDS1, sed.BestFScore(sed.IoU(0.5))
    return {
        "segments only": sed.evaluate(scores, truth, METRICS[3]),
        "means": sed.evaluate(scores, truth, sed.AUROC(sed.Clip(aggregation="mean"))),
        "one threshold": sed.evaluate(scores, truth, sed.FScore(sed.Collar(), threshold=0.3)),
        "sets": sed.evaluate_sets(sed.approximate(scores, [0.2, 0.8]), truth, [psds, f1]),
        "event list": sed.evaluate(sed.Scores.from_events(events), truth, [psds, f1]),
        "logits": sed.evaluate(logits(scores), truth, [psds, f1]),
        "nothing to find, nothing found": sed.evaluate(
            sed.Scores.from_arrays(never, classes=["x", "y"], frame=0.2), nothing, [psds, f1]
        ),
        "long": sed.evaluate(sed.simulate.scores(long_truth), long_truth, f1),
        "many classes": sed.evaluate(sed.simulate.scores(many), many, [psds, f1]),
    }


def logits(scores: sed.Scores) -> sed.Scores:
    """The same scores on another scale."""
    arrays = {clip: np.log(scores[clip].values / (1 - scores[clip].values)) for clip in scores}
    return sed.Scores.from_arrays(arrays, classes=scores.classes, frame=0.02)


def test_every_kind_of_evaluation_can_be_looked_at(page: Browser, tmp_path: Path) -> None:
    for name, evaluation in odd_evaluations().items():
        file = tmp_path / "report.html"
        evaluation.report(file, name=name)
        page.open(file)
        assert [row["class"] for row in page.rows()] == list(evaluation.classes)
        for q, (_, counts) in enumerate(evaluation.counts.items()):
            page.choose("#criterion", q)
            page.choose("#class", 0)
            page.choose("#slider", 1)
            page.click("#best")
            page.choose("#rate", 10)
            page.choose("#class", "")
            page.choose("#slider", 1)
            row = page.rows()[0]
            assert number(row["TP"]) + number(row["FN"]) == counts[row["class"]].references
        assert page.problems() == [], name
        shown = page.run("return document.querySelector('main').innerText")
        assert not re.search(r"\b(null|undefined|NaN)\b", shown), name


def test_a_desed_sized_report_opens_quickly(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set(1168)
    file = tmp_path / "report.html"
    sed.evaluate(scores, truth, METRICS[:2]).report(file)
    times = []
    for _ in range(3):
        page.open(file)
        times.append(
            page.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        )
    assert min(times) < 1000
