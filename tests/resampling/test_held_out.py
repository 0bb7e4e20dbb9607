"""The value to expect on new clips is that of folds, each at the thresholds that are best on the others."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
import pytest

import sedscope as sed
from sedscope.counting.counts import ClassCounts
from sedscope.counting.tally import Tally
from sedscope.metrics import ClassValue, ClasswiseMetric, Metric
from sedscope.resampling.held_out import fold_masks, on_new_clips

TRUTH = sed.simulate.ground_truth(60, classes=3, seed=2)
SCORES = sed.simulate.scores(TRUTH, quality=0.5, seed=3)
CHOOSING: list[Metric[Any]] = [
    sed.BestFScore(sed.Collar()),
    sed.BestFScore(sed.Segment(1.0), average="weighted"),
    sed.BestErrorRate(sed.Intersection(0.5, 0.5)),
    sed.RecallAtFalseAlarms(sed.Segment(1.0), 40),
    sed.BestFScore(sed.PerDetection(sed.Intersection(0.5, 0.5))),
    sed.BestFScore(sed.Segment(1.0), average="micro"),
    sed.BestErrorRate(sed.Segment(1.0), average="micro"),
    sed.RecallAtPrecision(sed.Segment(1.0), 0.5, average="micro"),
]


def judged_by_hand(metric: Any, masks: Any, weights: Any) -> tuple[float, dict[str, float]]:
    """Evaluate the clips outside each fold, and count its own clips at the thresholds that are best there.

    ``weights``: how many times each clip counts.
    """
    clips = np.array(sorted(TRUTH.clips))
    added: dict[str, Any] = {}
    pairs = 0
    for number, inside in enumerate(masks):
        chosen_by = metric
        if metric.reads_froc:  # as many false alarms as the share of the other clips, on average
            allowed = 6 * np.mean(~inside) + (number + 0.5) / len(masks)  # 6 of all clips: 40 per hour
            hours = 10 * np.sum(~inside) / 3600
            chosen_by = replace(metric, false_alarms=(np.floor(allowed) + 0.5) / hours)
        others = sed.evaluate(SCORES, TRUTH, chosen_by, clips=clips[~inside].tolist())[chosen_by]
        common = chosen_by.of_all(others.counts).threshold if metric.pools_classes else None
        for clip, weight in zip(clips[inside], weights[inside], strict=True):
            fold = sed.deltas(SCORES, TRUTH, metric.criterion, clips=[str(clip)]).counts()
            for label in SCORES.classes:
                threshold = common or others.thresholds.get(label, np.inf)
                for _ in range(weight):
                    tally = fold[label].tally_at(threshold)
                    added[label] = added[label] + tally if label in added else tally
            if metric.any_label and TRUTH.events(str(clip)):
                assert common is not None
                fixed = sed.ErrorRate(metric.criterion, common, average="micro")
                of_clip = sed.evaluate(SCORES, TRUTH, fixed, clips=[str(clip)])[fixed].pooled().tally
                assert of_clip is not None
                pairs += weight * of_clip.pairs
    if not metric.pools_classes:
        deltas = sed.deltas(SCORES, TRUTH, metric.criterion)
        in_their_order = weights[np.searchsorted(clips, deltas.clips)]
        result = metric.of_tallies(added, deltas.counts(weights=in_their_order))
        return result.value, {label: of_class.value for label, of_class in result.per_class.items()}
    together = reduce(add, added.values())
    if metric.any_label:
        together = replace(together, pairs=pairs)
    of_classes = {label: metric.of_tally(tally) for label, tally in added.items()}
    return metric.of_tally(together), of_classes


@pytest.mark.parametrize("metric", CHOOSING, ids=repr)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_each_fold_is_judged_at_the_thresholds_of_the_others(metric: Metric[Any], grouped: bool) -> None:
    sites = {clip: f"site {number // 4}" for number, clip in enumerate(sorted(TRUTH.clips))}
    resampling = sed.Resampling(40, seed=5, groups=sites if grouped else None)
    result = sed.evaluate(SCORES, TRUTH, metric, resampling=resampling)
    expected: Any = result.on_new_clips[metric]
    units = resampling.units(sorted(TRUTH.clips))
    masks = fold_masks(units, 10, 5)
    assert (masks.sum(axis=0) == 1).all()
    assert all(len({*np.flatnonzero(masks[:, units == unit].any(axis=1))}) == 1 for unit in units)
    value, of_classes = judged_by_hand(metric, masks, np.ones(60, int))
    assert expected.value == value
    assert {label: interval.value for label, interval in expected.per_class.items()} == of_classes
    for number in (0, 39):
        weights = resampling.draw(sorted(TRUTH.clips))[number]
        value, of_classes = judged_by_hand(metric, masks, weights)
        assert expected.values[number] == value
        of_intervals = {label: of.values[number] for label, of in expected.per_class.items()}
        assert of_intervals == of_classes
    assert expected.low < expected.value < expected.high
    if not metric.reads_froc:  # a constraint may be missed on new clips
        assert (expected.value < result[metric].value) == metric.higher_is_better


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


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_recall_that_no_threshold_reaches_has_no_precision_on_new_clips_either(average: str) -> None:
    clips = [str(number) for number in range(12)]
    scores = sed.Scores.from_arrays(
        {clip: [[0.1], [0.0 if clip == "3" else 0.9], [0.2]] for clip in clips},
        classes=["Dog"],
        frame=1.0,
    )
    references: Any = {clip: [(1, 2, "Dog")] for clip in clips}
    truth = sed.GroundTruth.from_dict(references, durations=dict.fromkeys(clips, 3))
    metric = sed.PrecisionAtRecall(sed.Collar(), recall=1, average=average)
    result = sed.evaluate(scores, truth, metric, resampling=20)
    expected = result.on_new_clips[metric]
    assert result[metric].value == 0
    assert (expected.value, expected.high) == (0, 0)


@dataclass(frozen=True, repr=False)
class BestRecall(ClasswiseMetric[None]):
    """A user's metric without a value at other thresholds than the best."""

    criterion: sed.Collar
    average: str = "macro"

    has_thresholds: ClassVar[bool] = True

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        return ClassValue(float(counts.tally().recall.max()), 0.0)


@dataclass(frozen=True, repr=False)
class BestRecallAnywhere(BestRecall):
    """The same, with a value at any threshold."""

    def of_tally(self, tally: Tally) -> float:
        return float(tally.recall)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_metrics_of_users_need_a_value_at_any_threshold(average: str) -> None:
    metric, complete = BestRecall(sed.Collar(), average), BestRecallAnywhere(sed.Collar(), average)
    result = sed.evaluate(SCORES, TRUTH, [metric, complete], resampling=10)
    assert [*result.on_new_clips] == [complete]
    with pytest.raises(
        sed.SedscopeError, match="does not define of_tally, its value at any one threshold"
    ):
        sed.tune(SCORES, TRUTH, BestRecall(sed.Collar()), folds=2)


def test_it_stands_in_tables_and_json() -> None:
    result = sed.evaluate(SCORES, TRUTH, ["best_collar_f1", "psds1"], resampling=40)
    assert [result.names[metric] for metric in result.on_new_clips] == ["best_collar_f1"]
    (expected,) = result.on_new_clips.values()
    assert (
        f"to expect on new clips: best_collar_f1 {expected.value:.4f} ({expected.low:.4f}–"
        f"{expected.high:.4f}) (each of at most 10 folds" in str(result.to_markdown())
    )
    best, psds = json.loads(result.to_json())["metrics"]
    assert best["on_new_clips"]["value"] == expected.value
    assert best["on_new_clips"]["interval"]["low"] == expected.low
    assert best["on_new_clips"]["interval"].keys() == best["interval"].keys()
    assert best["on_new_clips"]["per_class"] == {
        label: value.value for label, value in expected.per_class.items()
    }
    assert "on_new_clips" not in psds


def test_intervals_hold_what_the_thresholds_give_on_all_clips() -> None:
    metric = sed.BestFScore(sed.Collar())
    truth = sed.simulate.ground_truth(1500, classes=4, seed=8)
    population = sed.deltas(sed.simulate.scores(truth, frame=0.1, seed=9), truth, metric.criterion)
    of_population, rng, held, widths = population.counts(), np.random.default_rng(3), 0, []
    for number in range(40):
        drawn = population.of_clips(rng.permutation(1500) < 100)
        thresholds = metric.measure(drawn.counts()).thresholds
        at = {label: table.tally_at(thresholds[label]) for label, table in of_population.items()}
        true = metric.of_tallies(at, of_population).value
        resampling = sed.Resampling(60, seed=number)
        interval = on_new_clips([metric], {metric.criterion: drawn}, resampling, 1)[metric]
        held += interval.low <= true <= interval.high
        widths.append(interval.high - interval.low)
    assert 35 <= held <= 40
    assert np.mean(widths) < 0.25


def test_where_nothing_is_chosen_nothing_is_expected() -> None:
    fixed: list[Metric[Any]] = [
        sed.metrics.FalseAnswerRate(average="macro"),
        sed.FScore(sed.Collar()),
        sed.AveragePrecision(sed.Segment(1.0)),
        sed.presets.PSDS1,
    ]
    assert not sed.evaluate(SCORES, TRUTH, fixed, resampling=40).on_new_clips
    assert not sed.evaluate(SCORES, TRUTH, CHOOSING).on_new_clips
