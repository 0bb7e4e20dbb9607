"""Reports of systems at operating points: sliders start there, and save them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import MedianFilter

from ..support.report.browser import Browser
from ..support.report.contents import build_page
from ..support.report.page import number, thresholds
from ..support.report.sets import simulated_set

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def evaluation_at_points() -> sed.Evaluation:
    """A system with post-processing, low thresholds, and a class that is never detected."""
    scores, truth = simulated_set(30)
    chosen: dict[str, float] = dict.fromkeys(scores.classes, 0.0123) | {"Speech": 0.4601, "Cat": np.inf}
    del chosen["Dog"]
    points = sed.OperatingPoints(chosen, {"objective": "tests"}, {"Frying": "recall >= 2"})
    complete = points.after(MedianFilter(0.3), scores.classes)
    return sed.evaluate(scores, truth, complete.metrics(), points=complete)


def test_the_points_are_positions_of_the_sliders() -> None:
    evaluation = evaluation_at_points()
    assert evaluation.points is not None
    page = build_page({"system": evaluation}, clips_shown=2)
    (entry,) = page.points
    assert entry is not None
    for k, label in enumerate(evaluation.classes):
        threshold = evaluation.points.thresholds.get(label, np.inf)
        position = entry.positions[k]
        if np.isfinite(threshold):
            assert page.thresholds[k][position] == threshold
        else:
            assert position == 0


def test_sliders_start_at_the_points_and_save_them(page: Browser, tmp_path: Path) -> None:
    evaluation = evaluation_at_points()
    evaluation.report(tmp_path / "report.html", clips_shown=2)
    page.open(tmp_path / "report.html")
    assert evaluation.points is not None
    metrics: dict[str, Any] = evaluation.points.metrics()
    shown = {row["class"]: row for row in page.rows()}
    for label, row in shown.items():
        tally = evaluation[metrics["recall"]].per_class[label].tally
        assert (number(row["TP"]), number(row["FP"])) == (tally.tp, tally.fp)
    page.saved("points.toml", lambda: page.click("#save"))
    assert sed.OperatingPoints.load(page.downloads / "points.toml") == evaluation.points

    page.choose("#class", [*shown].index("Speech"))
    page.choose("#threshold", 0.8)
    moved = thresholds(page)
    saved = sed.OperatingPoints.load(page.downloads / "points.toml")
    assert moved.pop("Speech") >= 0.8
    assert moved == {k: v for k, v in evaluation.points.thresholds.items() if k != "Speech"}
    assert saved.postprocessing == evaluation.points.postprocessing
    page.click("#points")
    page.saved("points.toml", lambda: page.click("#save"))
    assert sed.OperatingPoints.load(page.downloads / "points.toml") == evaluation.points
    assert page.problems() == []


def test_a_page_of_post_processed_scores_saves_the_post_processing(
    page: Browser, tmp_path: Path
) -> None:
    scores, truth = simulated_set(10)
    only_processed = sed.OperatingPoints({}).after(MedianFilter(0.3), scores.classes)
    result = sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()), points=only_processed)
    result.report(tmp_path / "report.html", clips_shown=2)
    page.open(tmp_path / "report.html")
    assert thresholds(page).keys() == {*scores.classes}
    saved = sed.OperatingPoints.load(page.downloads / "points.toml")
    assert saved.postprocessing == only_processed.postprocessing
