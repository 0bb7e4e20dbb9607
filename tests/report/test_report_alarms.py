"""The panel of alarms: how soon references get one, and in which hours of recordings false alarms come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.contents import build_page
from .conftest import page

__all__ = ["page"]

HOURS = {"a": 2.25, "b": 3.0, "short": 0.5}
FRAME = 10.0
ALARM = sed.Alarm(cooldown=60, before=5, after=20)
POINTS = sed.OperatingPoints({"Cry": 0.8, "Glass": 0.9})


@pytest.fixture(scope="module")
def sets() -> tuple[sed.Scores, sed.GroundTruth]:
    rng = np.random.default_rng(3)
    events: dict[str, Any] = {
        clip: [(600 * i + rng.uniform(0, 300), 600 * i + 320, label) for i in range(int(hours * 6))]
        for clip, hours in HOURS.items()
        for label in ("Cry",)
    }
    events["b"].append((4000.0, 4100.0, "Glass"))
    arrays = {clip: rng.random((int(hours * 3600 / FRAME), 2)) for clip, hours in HOURS.items()}
    durations = {clip: hours * 3600 for clip, hours in HOURS.items()}
    scores = sed.Scores.from_arrays(arrays, classes=["Cry", "Glass"], frame=FRAME)
    return scores, sed.GroundTruth.from_dict(events, durations=durations)


def evaluation(sets: tuple[sed.Scores, sed.GroundTruth]) -> sed.Evaluation:
    return sed.evaluate(*sets, [sed.FScore(ALARM), sed.MissRate(ALARM)], points=POINTS)


def plain_false_alarms(scores: sed.Scores, truth: sed.GroundTruth, label: str, hours: int) -> list[int]:
    """Count the false alarms by hour, alarm by alarm."""
    numbers = [0] * hours
    for clip in scores:
        active = scores[clip].values[:, scores.classes.index(label)] > POINTS.thresholds[label]
        last = -np.inf
        for frame in np.flatnonzero(active & ~np.append(False, active[:-1])):
            time = frame * FRAME
            if time - last < ALARM.cooldown:
                continue
            last = time
            references = [(on, off) for on, off, of in truth.events(clip) if of == label]
            if not any(on - ALARM.before <= time <= off + ALARM.after for on, off in references):
                numbers[int(time // 3600)] += 1
    return numbers


def test_false_alarms_and_latencies_are_those_of_a_plain_count(
    sets: tuple[sed.Scores, sed.GroundTruth],
) -> None:
    built: Any = build_page({"ours": evaluation(sets)})
    (data,) = [panel.data for panel in built.panels if panel.name == "alarms"]
    assert data.criterion == repr(ALARM)
    assert data.hours == [0, 1, 2, 3]
    recorded = [sum(min(max(hours - h, 0), 1) for hours in HOURS.values()) for h in range(3)]
    latencies = sed.alarm_latencies(*sets, ALARM, POINTS)
    (system,) = data.systems
    for label, rates, curve in zip(("Cry", "Glass"), system.false_alarms, system.classes, strict=True):
        numbers = plain_false_alarms(*sets, label, 3)
        assert sum(numbers) > 20
        assert rates == pytest.approx([n / hours for n, hours in zip(numbers, recorded, strict=True)])
        of_class = latencies[label]
        assert len(of_class.latencies) > 0
        assert curve.shares[-1] == of_class.recall
        for seconds, share in zip(curve.seconds, curve.shares, strict=True):
            found = np.count_nonzero(of_class.latencies <= seconds)
            assert share <= found / of_class.references
            assert seconds in of_class.latencies


def test_the_pictures_of_alarms(
    sets: tuple[sed.Scores, sed.GroundTruth], page: Browser, tmp_path: Path
) -> None:
    evaluation(sets).report(tmp_path / "report.html", name="ours", others={"theirs": evaluation(sets)})
    page.open(tmp_path / "report.html")
    texts = "return [...document.querySelectorAll(arguments[0])].map((part) => part.textContent)"
    titles = page.run(texts, "#alarms figcaption > span:first-child")
    assert titles == ["References with an alarm", "False alarms over time"]
    legend = "#alarms .legend li"
    assert page.run(texts, legend) == 2 * ["ours: all classes", "theirs: all classes"]
    page.choose("#class", 1)
    assert page.run(texts, legend) == 2 * ["ours: Glass", "theirs: Glass"]
    assert page.problems() == []


def test_clips_without_alarms_have_no_panel() -> None:
    truth = sed.simulate.ground_truth(5)
    result = sed.evaluate(sed.simulate.scores(truth), truth, "collar_f1")
    assert "alarms" not in [panel.name for panel in build_page({"ours": result}).panels]
