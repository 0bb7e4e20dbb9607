"""Points in time in the report: the page judges, counts and draws them as the library does."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import Peaks

from ..support.passes import diagnosed
from ..support.report.browser import Browser
from ..support.report.page import check_table, number, thresholds
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA = (sed.Onset(0.05), sed.Onset(0.05, cross_triggers=True), sed.Collar(None, 0.1, offset_rate=0))


def sets() -> tuple[sed.ScoredEvents, sed.GroundTruth]:
    """Points, some of them detected as longer events, some as another class, and false alarms."""
    rng = np.random.default_rng(5)
    hits, detected = {}, {}
    for clip in "abcdefgh":
        times = rng.choice(np.arange(0, 9000, 7), 30, replace=False) / 1000
        hits[clip] = [(time, time, label) for time, label in zip(times, "KSH" * 10, strict=True)]
        detected[clip] = [
            (onset, onset + length, label if rng.random() < 0.8 else "K", round(rng.random(), 3))
            for time, _, label in hits[clip]
            for onset in [max(0, round(time + rng.normal(0, 0.04), 3))]
            for length in [rng.choice([0, 0, 0.4])]
        ]
    truth = sed.GroundTruth.from_dict(hits, durations=dict.fromkeys(hits, 10))
    return sed.ScoredEvents.from_events(detected, classes=truth.labels), truth


@pytest.fixture(scope="module")
def opened(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of the clips."""
    file = tmp_path_factory.mktemp("points") / "report.html"
    sed.evaluate(*sets(), [sed.BestFScore(criterion) for criterion in CRITERIA]).report(file)
    page.open(file)
    yield page
    assert page.problems() == []


@pytest.mark.parametrize("q", range(len(CRITERIA)), ids=lambda q: repr(CRITERIA[q]))
def test_points_are_judged_as_the_library_does(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    opened.click("#best")
    check_table(opened, sed.deltas(*sets(), CRITERIA[q]).counts())
    chosen, (scores, truth) = thresholds(opened), sets()
    opened.run("document.querySelector('.clip-list button').click()")
    clip, shown = opened.run(
        """return [document.querySelector(".clip-list .chosen bdi").textContent,
            [...document.querySelectorAll(".lane rect title")].flatMap(
                (title) => title.textContent.split("\\n"))]"""
    )
    judged = diagnosed(scores, truth, clip, CRITERIA[q], chosen)
    for kind, events in (("reference", judged.references), ("detection", judged.detections)):
        texts = [text for text in shown if text.startswith(kind)]
        assert len(texts) == len(events) > 10
        types = Counter(event.error_type.replace("_", " ") for event in events)
        words = Counter(
            re.sub(r".*, (\w+ \()?(wrong )?|\)", "", text).replace("-", " ") for text in texts
        )
        assert words == types
    sums = opened.run(
        """return [...document.querySelectorAll(".clip-list .errors")].map((part) => part.textContent)"""
    )
    false = sum(int(text.split()[0]) for text in sums)
    assert false == sum(number(row["FP"]) for row in opened.rows())


def test_a_point_has_a_line_up_to_its_score(opened: Browser) -> None:
    opened.choose("#class", 0)
    path = opened.run("return document.querySelector('.lane path.curve').getAttribute('d')")
    scores, _ = sets()
    clip = opened.run("return document.querySelector('.clip-list .chosen bdi').textContent")
    label = opened.run("return document.querySelector('.part h4').textContent.trim()")
    points = [event for event in scores.events()[clip] if event[0] == event[1] and event[2] == label]
    assert path.count("M") == len(points) + 1


def test_points_in_longer_detections_have_error_types(opened: Browser) -> None:
    opened.choose("#criterion", 0)
    opened.click("#best")
    diagnosis = sed.diagnose(*sets(), CRITERIA[0], thresholds(opened))
    text = opened.saved("errors.csv", lambda: opened.click("#errors .tools button"))
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["class"] in diagnosis]
    for row in rows:
        numbers = getattr(diagnosis[row["class"]], row["side"])
        expected = {name: int(number[0]) for name, number in numbers.items() if name in row}
        assert {name: int(row[name]) for name in expected} == expected
    assert sum(int(row["onset"]) for row in rows) > 0


def test_peaks_have_a_report(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    _, truth = sets()
    scores = Peaks(min_distance=0.1)(sed.simulate.scores(truth, frame=0.02, seed=1))
    file = tmp_path_factory.mktemp("peaks") / "report.html"
    sed.evaluate(scores, truth, sed.BestFScore(CRITERIA[0])).report(file)
    page.open(file)
    page.click("#best")
    check_table(page, sed.deltas(scores, truth, CRITERIA[0]).counts())
    assert page.problems() == []


def test_false_points_are_drawn_where_there_is_nothing_to_find(
    page: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hits = {"a": [(1, 1, "K"), (2, 2, "K")], "b": [(1, 1, "S")]}
    truth = sed.GroundTruth.from_dict(hits, durations={"a": 9, "b": 9})
    detected = {"a": [(1, 1, "K", 0.9), (2, 2, "K", 0.8)], "b": [(1, 1, "S", 0.9), (5, 5, "K", 0.95)]}
    file = tmp_path_factory.mktemp("false") / "report.html"
    sed.evaluate(sed.ScoredEvents.from_events(detected), truth, sed.BestFScore(sed.Onset())).report(file)
    page.open(file)
    page.click("#best")
    shown = page.run(
        """return [...document.querySelectorAll(".clip-list button")].map(
            (button) => [...button.children].map((part) => part.textContent))"""
    )
    assert dict(shown) == {"a": "0 false, 0 missed", "b": "1 false, 0 missed"}
