"""The value to expect on new clips is that of folds, each at the thresholds that are best on the others."""

from __future__ import annotations

import json
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.resampling.held_out import fold_masks

TRUTH = sed.simulate.ground_truth(60, classes=3, seed=2)
SCORES = sed.simulate.scores(TRUTH, quality=0.5, seed=3)
CHOOSING: list[Metric[Any]] = [
    sed.BestFScore(sed.Collar()),
    sed.BestFScore(sed.Segment(1.0), average="weighted"),
    sed.BestErrorRate(sed.Intersection(0.5, 0.5)),
    sed.RecallAtFalseAlarms(sed.Segment(1.0), 40),
]


def judged_by_hand(metric: Metric[Any], masks: Any) -> dict[str, Any]:
    """Evaluate the clips outside each fold, and count its own clips at the thresholds that are best there."""
    clips = np.array(sorted(TRUTH.clips))
    added: dict[str, Any] = {}
    for inside in masks:
        others = sed.evaluate(SCORES, TRUTH, metric, clips=clips[~inside].tolist())[metric].thresholds
        fold = sed.deltas(SCORES, TRUTH, metric.criterion, clips=clips[inside].tolist()).counts()
        for label in SCORES.classes:
            tally = fold[label].tally_at(others.get(label, np.inf))
            added[label] = added[label] + tally if label in added else tally
    return added


@pytest.mark.parametrize("metric", CHOOSING, ids=repr)
@pytest.mark.parametrize("grouped", [False, True])
def test_each_fold_is_judged_at_the_thresholds_of_the_others(metric: Metric[Any], grouped: bool) -> None:
    sites = {clip: f"site {number // 4}" for number, clip in enumerate(sorted(TRUTH.clips))}
    resampling = sed.Resampling(40, seed=5, groups=sites if grouped else None)
    result = sed.evaluate(SCORES, TRUTH, metric, resampling=resampling)
    expected: Any = result.on_new_clips[metric]
    units = resampling.units(sorted(TRUTH.clips))
    masks = fold_masks(units, 10, 5)
    assert (masks.sum(axis=0) == 1).all()
    assert all(len({*np.flatnonzero(masks[:, units == unit].any(axis=1))}) == 1 for unit in units)
    by_hand = judged_by_hand(metric, masks)
    assert {label: repr(value.tally) for label, value in expected.per_class.items()} == {
        label: repr(tally) for label, tally in by_hand.items()
    }
    assert expected.value == metric.of_tallies(by_hand, result.counts[metric.criterion]).value
    if not metric.reads_froc:  # a constraint may be missed on new clips
        assert (expected.value < result[metric].value) == metric.higher_is_better


def test_one_threshold_for_all_classes_is_chosen_on_the_other_folds() -> None:
    metric = sed.BestFScore(sed.Segment(1.0), average="micro")
    result = sed.evaluate(SCORES, TRUTH, metric, resampling=sed.Resampling(40, seed=5))
    clips, tallies = np.array(sorted(TRUTH.clips)), []
    for inside in fold_masks(np.arange(len(clips)), 10, 5):
        others = sed.evaluate(SCORES, TRUTH, metric, clips=clips[~inside].tolist())[metric]
        threshold = metric.of_all(others.counts).threshold
        fold = sed.deltas(SCORES, TRUTH, metric.criterion, clips=clips[inside].tolist()).counts()
        assert threshold is not None
        tallies += [fold[label].tally_at(threshold) for label in SCORES.classes]
    together = reduce(add, tallies)
    assert result.on_new_clips[metric].value == metric.of_tally(together) < result[metric].value


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_where_all_references_are_in_one_fold_nothing_is_detected() -> None:
    scores = sed.Scores.from_arrays(
        {clip: [[0.2], [0.9], [0.4]] for clip in "abc"}, classes=["Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict(
        {"a": [(1, 2, "Dog")], "b": [], "c": []}, durations=dict.fromkeys("abc", 3)
    )
    for average in ("macro", "micro"):
        metric = sed.BestFScore(sed.Segment(1.0), average=average)
        result = sed.evaluate(scores, truth, metric, resampling=20)
        assert result[metric].value == 0.5
        assert result.on_new_clips[metric].value == 0
        assert "each of at most 10 folds" in str(result.to_markdown())  # there are three
        grouped = sed.evaluate(scores, truth, metric, resampling=20, by={"a": 1, "b": 2, "c": 2})
        assert np.isnan(grouped.groups["clips"]["2"].on_new_clips[metric].value)


def test_it_stands_in_tables_and_json() -> None:
    result = sed.evaluate(SCORES, TRUTH, ["best_collar_f1", "psds1"], resampling=40)
    assert [result.names[metric] for metric in result.on_new_clips] == ["best_collar_f1"]
    (expected,) = result.on_new_clips.values()
    assert (
        f"to expect on new clips: best_collar_f1 {expected.value:.4f} (each of at most 10 folds"
        in str(result.to_markdown())
    )
    best, psds = json.loads(result.to_json())["metrics"]
    assert best["on_new_clips"]["value"] == expected.value
    assert best["on_new_clips"]["per_class"] == {
        label: value.value for label, value in expected.per_class.items()
    }
    assert "on_new_clips" not in psds


def test_where_nothing_is_chosen_nothing_is_expected() -> None:
    fixed: list[Metric[Any]] = [
        sed.FScore(sed.Collar()),
        sed.AveragePrecision(sed.Segment(1.0)),
        sed.BestErrorRate(sed.Segment(1.0), average="micro"),  # substitutions are of several classes
        sed.RecallAtPrecision(sed.Collar(), 0.5, average="micro"),
        sed.presets.PSDS1,
    ]
    assert not sed.evaluate(SCORES, TRUTH, fixed, resampling=40).on_new_clips
    assert not sed.evaluate(SCORES, TRUTH, CHOOSING).on_new_clips
