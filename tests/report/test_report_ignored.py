"""Ignored references in the report: the page judges and draws them as the library does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import sedscope as sed
from sedscope.diagnosis.judging import NOT_FALSE

from ..support.passes import diagnosed
from ..support.report.browser import Browser
from ..support.report.page import thresholds
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA = (
    sed.Intersection(0.5, 0.5, cttc=0.3),
    sed.Collar(cross_triggers=True),
    sed.IoU(0.3, strict=True),
    sed.OfLength(sed.Collar(), 0.5, 2),
    sed.OfLength(sed.Intersection(0.3, 0.3), longest=1),
    sed.Segment(1.0),
)


def sets() -> tuple[sed.Scores, sed.GroundTruth]:
    """Short clips and a long one. A third of the references is ignored, of its class or of every class."""
    rng = np.random.default_rng(5)
    full = sed.simulate.ground_truth(20, classes=3, events_per_minute=20, seed=5)
    scores = sed.simulate.scores(full, frame=0.1, quality=0.4, seed=5)
    values = {clip: scores[clip].values for clip in scores}
    values["long"] = np.concatenate([scores[clip].values for clip in scores])
    seconds = {clip: len(array) * 0.1 for clip, array in values.items()}
    events = {clip: full.events(clip) for clip in full.clips}
    starts = np.cumsum([0, *(seconds[clip] for clip in full.clips)])
    events["long"] = [
        (float(start + on), float(start + off), label)
        for start, clip in zip(starts, full.clips, strict=False)
        for on, off, label in events[clip]
    ]
    counted: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in events}
    ignored: dict[str, list[tuple[float, float, str]]] = {clip: [] for clip in events}
    for clip, of_clip in events.items():
        for on, off, label in of_clip:
            kind = rng.integers(6)
            if kind == 0:
                ignored[clip].append((on, off, label))
            elif kind == 1 and all(off <= a or on >= b for a, b, other in ignored[clip] if other == "?"):
                ignored[clip].append((on, off, "?"))
            else:
                counted[clip].append((on, off, label))
    truth = sed.GroundTruth.from_dict(
        counted, ignored=ignored, ignored_labels=["?"], durations=seconds, overlaps="merge"
    )
    return sed.Scores.from_arrays(values, classes=scores.classes, frame=0.1), truth


@pytest.fixture(scope="module")
def opened(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of the clips."""
    file = tmp_path_factory.mktemp("ignored") / "report.html"
    metrics = [sed.BestFScore(criterion) for criterion in CRITERIA]
    sed.evaluate(*sets(), metrics).report(file, clips_shown=30)
    page.open(file)
    yield page
    assert page.problems() == []


@pytest.mark.parametrize("q", range(len(CRITERIA) - 1), ids=lambda q: type(CRITERIA[q]).__name__)
def test_clips_are_judged_as_the_library_does(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    opened.click("#best")
    chosen, (scores, truth) = thresholds(opened), sets()
    shown = opened.run(
        """return [...document.querySelectorAll(".clip-list button")].map(
            (button) => [...button.children].map((part) => part.textContent))"""
    )
    assert "long" in dict(shown)
    ignored = 0
    for i, (clip, text) in enumerate(shown):
        opened.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", i)
        drawn = opened.run(
            """return [...document.querySelectorAll(".clip-view .lane[aria-label]")].map(
                (lane) => lane.getAttribute("aria-label").split(":")[0])"""
        )
        judged = diagnosed(scores, truth, clip, CRITERIA[q], chosen)
        false, missed = (
            sum(event.error_type not in right and event.label in drawn for event in side)
            for side, right in ((judged.detections, NOT_FALSE), (judged.references, ("found",)))
        )
        ignored += sum(event.error_type == "ignored" for event in judged.detections)
        assert text == f"{false} false, {missed} missed"
        if clip == "long":
            assert "ignored reference" in opened.text(".clip-view .key")
    assert ignored > 5
