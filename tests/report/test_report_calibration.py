"""The panel of calibration: reliability curves of each criterion, those that the metrics read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.metrics import BrierScore, CalibrationError

from ..support.report.browser import Browser
from ..support.report.contents import build_page
from .conftest import page

__all__ = ["page"]

METRICS: dict[str, Any] = {
    "ece": CalibrationError(sed.Segment(1)),
    "mce": CalibrationError(sed.Segment(1), norm="max"),
    "coarse": CalibrationError(sed.Segment(1), bins=4, average="micro"),
    "brier": BrierScore(sed.Clip()),
}


def evaluation(quality: float = 0.8) -> sed.Evaluation:
    truth = sed.simulate.ground_truth(30, classes=2, seed=1)
    return sed.evaluate(sed.simulate.scores(truth, quality=quality, frame=0.1), truth, METRICS)


def test_the_curves_give_the_values_of_the_metrics() -> None:
    result = evaluation()
    built: Any = build_page({"ours": result})
    (data,) = [panel.data for panel in built.panels if panel.name == "calibration"]
    assert [picture.metrics for picture in data.pictures] == [[0, 1], [2], [3]]
    of_segments, coarse, _ = [picture.systems[0] for picture in data.pictures]

    def differences(curve: Any) -> list[tuple[float, int]]:
        columns = (curve.scores, curve.shares, curve.items)
        return [(abs(score - share), n) for score, share, n in zip(*columns, strict=True)]

    for label, curve in zip(result["ece"].per_class, of_segments.classes, strict=True):
        errors = differences(curve)
        mean = sum(error * n for error, n in errors) / sum(n for _, n in errors)
        assert mean == pytest.approx(result["ece"].per_class[label].value, abs=1e-4)
        largest = max(error for error, _ in errors)
        assert largest == pytest.approx(result["mce"].per_class[label].value, abs=1e-4)
    errors = differences(coarse.overall)
    assert len(errors) <= 4
    mean = sum(error * n for error, n in errors) / sum(n for _, n in errors)
    assert mean == pytest.approx(result["coarse"].value, abs=1e-4)


def test_the_pictures(page: Browser, tmp_path: Path) -> None:
    evaluation().report(tmp_path / "report.html", name="ours", others={"theirs": evaluation(0.5)})
    page.open(tmp_path / "report.html")
    texts = "return [...document.querySelectorAll(arguments[0])].map((part) => part.textContent)"
    titles = page.run(texts, "#calibration figcaption > span:first-child")
    assert titles == ["ece, mce", "coarse", "brier"]
    legend = "#calibration .legend li"
    assert page.run(texts, legend) == 3 * ["probabilities", "ours: all classes", "theirs: all classes"]
    page.choose("#class", 1)
    assert page.run(texts, legend) == 3 * ["probabilities", "ours: class_1", "theirs: class_1"]
    assert page.problems() == []


def test_other_metrics_have_no_panel() -> None:
    truth = sed.simulate.ground_truth(5)
    result = sed.evaluate(sed.simulate.scores(truth), truth, "segment_f1")
    assert "calibration" not in [panel.name for panel in build_page({"ours": result}).panels]
