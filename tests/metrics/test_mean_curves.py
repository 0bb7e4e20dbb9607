"""The mean of the curves of the classes: an averaged metric can be read off it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import sedscope as sed

Case: TypeAlias = tuple[sed.Scores, sed.GroundTruth]
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def case() -> Case:
    truth = sed.simulate.ground_truth(40)
    coarse = sed.simulate.scores(truth, quality=0.6)
    return sed.Scores.from_arrays(  # ties, so that curves have vertical and slanted parts
        {clip: np.round(coarse[clip].values, 1) for clip in coarse},
        classes=coarse.classes,
        frame=10.0 / len(coarse[next(iter(coarse))].values),
    ), truth


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("criterion", [sed.Segment(1.0), sed.Clip(), sed.Collar()])
def test_area_is_the_metric(case: Case, criterion: Any, average: str) -> None:
    precision = sed.AveragePrecision(criterion, average=average)
    result = sed.evaluate(*case, precision)[precision]
    curve = result.overall_curve()
    assert curve is not None
    assert curve.average_precision() == pytest.approx(result.value, rel=1e-12)
    if criterion.counts_negatives:
        for max_fpr in (None, 0.13):
            roc = sed.AUROC(criterion, max_fpr=max_fpr, average=average)
            areas = sed.evaluate(*case, roc)[roc]
            mean_roc = areas.overall_curve()
            assert mean_roc is not None
            assert mean_roc.area(max_fpr) == pytest.approx(areas.value, rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_mean_over_the_threshold_is_that_of_fixed_thresholds(case: Case, average: str) -> None:
    best = sed.BestFScore(sed.Collar(), average=average)
    thresholds = [0.05, 0.3, 0.55, 0.95]
    fixed = [sed.FScore(sed.Collar(), threshold, average=average) for threshold in thresholds]
    result = sed.evaluate(*case, [best, *fixed])
    curve = result[best].overall_curve()
    assert curve is not None
    rows = [int(np.count_nonzero(curve.scores > threshold)) - 1 for threshold in thresholds]
    assert curve.values[rows] == pytest.approx([result[metric].value for metric in fixed], rel=1e-12)


def test_without_a_common_threshold_there_is_no_curve(case: Case) -> None:
    tuned = sed.BestFScore(sed.Collar(), average="micro_tuned")
    result = sed.evaluate(*case, tuned)[tuned]
    assert result.overall_curve() is None
    with pytest.raises(sed.SedscopeError, match=r"no curve over all classes.*per_class\['Alarm"):
        result.plot(per_class=False)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_mean_of_single_points_is_a_point(case: Case, average: str) -> None:
    scores, truth = case
    never = {label: 0.5 for label in scores.classes if label != "Dog"}
    system = sed.Scores.from_events(sed.detect(scores, never), classes=scores.classes)
    second = sed.Segment(1.0)
    areas: list[Any] = [
        sed.AveragePrecision(second, average=average),
        sed.AUROC(second, average=average),
    ]
    rates = [kind(second, average=average) for kind in (sed.Recall, sed.Precision)]
    result = sed.evaluate(system, truth, [*areas, *rates])
    mean, mean_roc = (result[metric].overall_curve() for metric in areas)
    assert mean.mean_point == pytest.approx([result[rate].value for rate in rates])
    assert mean_roc.mean_point[1] == pytest.approx(result[rates[0]].value)
    assert mean.one_point
    assert mean_roc.one_point
    of_scores = sed.evaluate(scores, truth, areas)
    for metric in areas:
        curve = of_scores[metric].overall_curve()
        assert curve.mean_point is None
        assert not curve.one_point
