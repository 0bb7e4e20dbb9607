"""Metrics of queries in the report: their values and curves, and answers counted at thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.contents import build_page, panel
from ..support.report.page import check_table, number
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

GREEDY = sed.IoU(0.75, matching="greedy")
METRICS: dict[str, Any] = {
    "R1": sed.RecallAt(1, 0.5),
    "R5": sed.RecallAt(5, 0.7),
    "mIoU": sed.MeanIoU(),
    "mAP": sed.MeanAveragePrecision(over="clip", top=10),
    "mAP@0.75": sed.QueryMean(sed.QueryPrecision(sed.BestAnswers(GREEDY, 10), interpolation="voc")),
    "short": sed.RecallAt(1, 0.5, lengths=(0, 2)),
}


def sets(noise: float = 0.5, *, overlapping: bool = False) -> tuple[sed.Scores, sed.GroundTruth]:
    """Queries with up to three windows, and about three answers near each."""
    rng = np.random.default_rng(4)
    truth = sed.simulate.ground_truth(40, seconds=30, classes=2, events_per_minute=4, seed=4)
    windows = {clip: truth.events(clip) for clip in truth.clips}
    answers = {}
    for clip, events in windows.items():
        answers[clip] = [
            (max(0, onset + late), max(0, onset + late) + length, label, round(rng.random(), 3))
            for onset, offset, label in events
            for _ in range(3)
            for late, length in [(rng.normal(0, noise), (offset - onset) * rng.uniform(0.6, 1.5))]
        ]
        if overlapping:
            windows[clip] = [*events, *((onset, offset + 1, label) for onset, offset, label in events)]
    durations = dict.fromkeys(windows, 40)
    kept = sed.GroundTruth.from_dict(windows, durations=durations, overlaps="keep")
    return sed.Scores.from_events(answers, classes=truth.labels, overlaps="keep"), kept


@pytest.fixture(scope="module")
def opened(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of the queries."""
    file = tmp_path_factory.mktemp("queries") / "report.html"
    sed.evaluate(*sets(), METRICS, resampling=20).report(file)
    page.open(file)
    yield page
    assert page.problems() == []


def test_values_are_on_the_page(opened: Browser) -> None:
    evaluation = sed.evaluate(*sets(), METRICS)
    for row in opened.rows():
        for name in METRICS:
            value = evaluation[name].per_class[row["class"]].value
            assert number(row[name][:6]) == pytest.approx(value, abs=5.1e-5)


def test_answers_are_counted_at_thresholds(opened: Browser) -> None:
    criteria = [
        sed.IoU(0.5),
        sed.IoU(0.7),
        sed.IoU(0.75),
        sed.OfLength(sed.IoU(0.5), shortest=0, longest=2),
    ]
    shown = opened.run(
        "return [...document.querySelectorAll('#criterion option')].map((o) => o.textContent)"
    )
    assert shown == [repr(criterion) for criterion in criteria]
    for q, criterion in enumerate(criteria):
        opened.choose("#criterion", q)
        opened.click("#best")
        check_table(opened, sed.deltas(*sets(), criterion).counts())
    notes = opened.run("return document.querySelector('details').textContent")
    assert "Metrics of queries have no thresholds: R1, R5, mIoU, mAP" in notes


def test_curves_are_shares_of_queries(opened: Browser) -> None:
    evaluation = sed.evaluate(*sets(), METRICS)
    titles = opened.run(
        """return [...document.querySelectorAll("#queries figcaption > span:first-child")].map(
            (title) => title.textContent)"""
    )
    assert titles == ["R1, mIoU", "R5", "mAP@0.75", "short"]
    saved = opened.saved("queries_1.csv", lambda: opened.click("#queries .tools button + button"))
    rows = [line.split(",") for line in saved.strip().splitlines()]
    assert rows[0][:3] == ["curve", "intersection over union", "share of queries"]
    overall = [(float(x), float(y)) for name, x, y, *_ in rows[1:] if name == "all classes"]
    assert overall[0] == (1, 0)
    hits = [share for value, share in overall if value >= 0.5]
    assert hits[-1] == pytest.approx(evaluation["R1"].value, abs=2e-3)


def test_two_systems_are_compared(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    (good, truth), (poor, _) = sets(), sets(3.0)
    comparison = sed.compare({"good": good, "poor": poor}, truth, METRICS["R1"], resampling=50)
    file = tmp_path_factory.mktemp("compared") / "report.html"
    comparison.report(file)
    page.open(file)
    expected = comparison.differences[METRICS["R1"]]["poor", "good"]
    rows = page.rows(".differences", foot=True)
    assert number(rows[-1]["difference"]) == pytest.approx(expected.value, abs=5.1e-5)
    curves = "return document.querySelectorAll('#queries .chart path.curve').length"
    assert page.run(curves) == 2
    page.choose("#class", 1)
    assert page.run(curves) == 4
    assert page.problems() == []


def test_references_that_overlap_have_no_error_types() -> None:
    evaluation = sed.evaluate(*sets(overlapping=True), METRICS["R1"])
    report = build_page({"system": evaluation})
    assert "Some references of one class overlap, so the page has no error types." in report.notes
    assert "errors" not in [entry.name for entry in report.panels]
    queries = panel(report, "queries")
    (mark,) = queries.pictures[0].systems[0].marks
    assert (mark.smallest_hit, mark.value) == (0.5, evaluation[METRICS["R1"]].value)


def test_marks_lie_on_their_curves(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Also where another metric has another average, and where values are means over runs."""
    metrics = {"micro": sed.RecallAt(1, 0.5), "macro": sed.RecallAt(1, 0.7, average="macro")}
    (first, truth), (second, _) = sets(), sets(3.0)
    comparison = sed.compare(
        {"a": [first, second], "b": [second, second]}, truth, metrics, resampling=20
    )
    report = build_page(comparison.evaluations, comparison=comparison)
    assert any("first run" in note for note in report.notes)
    queries = panel(report, "queries")
    assert [picture.metrics for picture in queries.pictures] == [[0], [1]]
    for picture, metric in zip(queries.pictures, metrics.values(), strict=True):
        for curves, evaluation in zip(picture.systems, comparison.evaluations.values(), strict=True):
            assert [mark.value for mark in curves.marks] == [evaluation[metric].value]
    file = tmp_path_factory.mktemp("runs") / "report.html"
    sed.evaluate(first, truth, metrics).report(file)
    page.open(file)
    marks = page.run(
        """return [...document.querySelectorAll("#queries .mark")].map((mark) => mark.classList[0])"""
    )
    assert marks == ["overall", "overall"]
    assert page.problems() == []


def test_deltas_alone_have_no_thresholds() -> None:
    deltas = sed.deltas(*sets(), METRICS["R1"].criterion)
    evaluation = sed.evaluate_deltas(deltas, METRICS["R1"])
    with pytest.raises(sed.SedscopeError, match=r"which deltas do not have for .*the scored events"):
        build_page({"system": evaluation})
