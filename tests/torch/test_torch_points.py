"""Operating points of training metrics: as those that are chosen from the scores."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed
from sedscope.postprocessing import MedianFilter

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch

from sedscope.torch import SEDMetric, SEDMetrics

from ..support.torch.batches import ARRAYS, CLASSES, CLIPS, FRAME, TRUTH, give

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
BEST = sed.BestFScore(sed.Collar())
SCORES = sed.Scores.from_arrays(ARRAYS, classes=CLASSES, frame=FRAME)


def metric_of(*metrics: object, **options: object) -> SEDMetrics:
    metric = SEDMetrics([*metrics], CLASSES, frame=FRAME, truth=TRUTH, **options)  # type: ignore[list-item, arg-type]
    give(metric, [*CLIPS])
    return metric


def test_points_give_the_value_of_the_metric(tmp_path: Path) -> None:
    metric = metric_of(BEST)
    metric.points().save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    exact = metric.result()[BEST].thresholds
    assert {*points.thresholds} == {*exact}
    assert max(len(str(threshold)) for threshold in points.thresholds.values()) <= 8
    measured = sed.evaluate(SCORES, TRUTH, sed.FScore(sed.Collar()), points=points)
    best = sed.evaluate(SCORES, TRUTH, BEST)
    for label in exact:
        (value,) = [result.per_class[label].value for result in measured.values()]
        assert value == best[BEST].per_class[label].value
    assert points.provenance["metric"] == repr(BEST)


def test_points_of_logits_are_probabilities() -> None:
    logits = {clip: torch.logit(torch.as_tensor(ARRAYS[clip]).double(), eps=1e-6) for clip in CLIPS}
    metric = SEDMetric(BEST, CLASSES, frame=FRAME, truth=TRUTH)
    for clip in CLIPS:
        metric.update(logits[clip][None], [clip])
    points = metric.points(logits=True)
    assert all(0 < threshold < 1 for threshold in points.thresholds.values())
    probabilities = {clip: torch.sigmoid(values).numpy() for clip, values in logits.items()}
    scores = sed.Scores.from_arrays(probabilities, classes=CLASSES, frame=FRAME)
    (value,) = sed.evaluate(scores, TRUTH, sed.FScore(sed.Collar()), points=points).values()
    assert value.value == pytest.approx(float(metric.compute()))
    with pytest.warns(sed.SedscopeWarning, match=r"points\(logits=True\) returns probabilities"):
        metric.points()


def test_points_with_a_postprocessing() -> None:
    metric = metric_of(BEST, postprocessing=MedianFilter(0.3))
    assert {*metric.points().postprocessing.values()} == {MedianFilter(0.3)}
    with pytest.raises(sed.SedscopeError, match="Pass probabilities to the metric"):
        metric.points(logits=True)


def test_which_metric_has_thresholds() -> None:
    metric = metric_of("psds1", BEST, "best_segment_f1")
    assert metric.points("best_segment_f1").provenance["metric"].startswith("BestFScore(Segment(")
    with pytest.raises(sed.SedscopeError, match=r"Name one: points\('best_collar_f1'\)"):
        metric.points()
    with pytest.raises(sed.SedscopeError, match="psds1 has no thresholds"):
        metric.points("psds1")
    with pytest.raises(sed.SedscopeError, match="psds1 has no thresholds"):
        metric_of("psds1").points()


def test_a_fixed_threshold_stays() -> None:
    assert {*metric_of(sed.FScore(sed.Collar(), threshold=0.4)).points().thresholds.values()} == {0.4}
