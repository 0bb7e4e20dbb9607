"""Scored events in the report: the page detects, judges and draws them as the library does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import sedscope as sed

from ..support.passes import diagnosed
from ..support.report.browser import Browser
from ..support.report.page import thresholds
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA = (sed.Intersection(0.5, 0.5, cttc=0.3), sed.Collar(cross_triggers=True), sed.IoU(0.3))


def sets() -> tuple[sed.Scores, sed.GroundTruth]:
    """References, each with up to four events around it that overlap one another, and false alarms."""
    rng = np.random.default_rng(8)
    truth = sed.simulate.ground_truth(12, classes=3, events_per_minute=20, seed=8)
    events: dict[str, list[tuple[float, float, str, float]]] = {}
    for clip in truth.clips:
        events[clip] = []
        for onset, offset, label in truth.events(clip):
            for _ in range(int(rng.integers(5))):
                late, later = rng.normal(0, 0.3, 2)
                begin, end = sorted(np.maximum([onset + late, offset + later], 0).round(3))
                name = label if rng.random() < 0.8 else truth.labels[0]
                events[clip].append((begin, end + 0.1, name, round(rng.random(), 3)))
    return sed.Scores.from_events(events, classes=truth.labels, overlaps="keep"), truth


@pytest.fixture(scope="module")
def opened(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of the clips."""
    file = tmp_path_factory.mktemp("kept") / "report.html"
    metrics = [sed.BestFScore(criterion) for criterion in CRITERIA]
    sed.evaluate(*sets(), metrics).report(file, clips_shown=12)
    page.open(file)
    yield page
    assert page.problems() == []


@pytest.mark.parametrize("q", range(len(CRITERIA)), ids=lambda q: type(CRITERIA[q]).__name__)
def test_clips_are_judged_as_the_library_does(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    opened.click("#best")
    chosen, (scores, truth) = thresholds(opened), sets()
    shown = opened.run(
        """return [...document.querySelectorAll(".clip-list button")].map(
            (button) => [...button.children].map((part) => part.textContent))"""
    )
    assert len(shown) > 5
    for clip, text in shown:
        judged = diagnosed(scores, truth, clip, CRITERIA[q], chosen)
        false = sum(event.error_type != "true" for event in judged.detections)
        missed = sum(event.error_type != "found" for event in judged.references)
        assert text == f"{false} false, {missed} missed"
