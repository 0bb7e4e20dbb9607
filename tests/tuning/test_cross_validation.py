"""Cross-validation of tuning, compared with doing it by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import ClasswiseMetric, Metric, Tally
from sedscope.postprocessing import MedianFilter, PostProcessing

from ..support import oracle
from ..support.strategies import LABELS, to_scores, to_truth
from ..support.tuning import (
    CANDIDATES,
    COLLAR_F,
    SWEEP,
    by_class,
    evaluated,
    sets_of_clips,
    small_set,
    the_best,
)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def folds_of(clips: Iterable[str], number: int, seed: int = 0) -> list[list[str]]:
    """Clips by name, dealt by a permutation."""
    names = np.array(sorted(clips))
    dealt = np.random.default_rng(seed).permutation(len(names))
    return [names[dealt][fold::number].tolist() for fold in range(number)]


def some_of(scores: sed.Scores, truth: sed.GroundTruth, clips: Sequence[str]) -> tuple[Any, Any]:
    """A set of only these clips."""
    assert truth.durations is not None
    durations = dict(zip(truth.clips, truth.durations / 1e6, strict=True))
    return (
        sed.Scores(clips, scores.__getitem__, classes=scores.classes, in_memory=True),
        sed.GroundTruth.from_dict(
            {clip: truth.events(clip) for clip in clips},
            durations={clip: float(durations[clip]) for clip in clips},
        ),
    )


def held_out_tallies(
    scores: sed.Scores,
    truth: sed.GroundTruth,
    metric: Metric[Any],
    candidates: Sequence[PostProcessing],
    folds: Sequence[Sequence[str]],
) -> dict[str, Tally]:
    """Per class the tally of all folds, each tuned on the others and judged by its detections."""
    tallies: dict[str, list[Tally]] = {label: [] for label in scores.classes}
    for fold in folds:
        others = [clip for clip in scores if clip not in fold]
        tuned_on, judged_on = (some_of(scores, truth, clips) for clips in (others, fold))
        results = [evaluated(chosen(tuned_on[0]), tuned_on[1], metric) for chosen in candidates]
        for label in scores.classes:
            best = the_best([result.per_class[label].value for result in results], metric)
            threshold = results[best].thresholds.get(label, getattr(metric, "threshold", np.inf))
            events = sed.detect(candidates[best](judged_on[0]), {label: threshold})
            detected = sed.Scores.from_events(events, classes=scores.classes)
            counts = sed.deltas(detected, judged_on[1], metric.criterion).counts()
            tallies[label].append(counts[label].tally_at(0.5))
    return {label: reduce(add, of_folds) for label, of_folds in tallies.items()}


WITH_THRESHOLDS: list[ClasswiseMetric[Any]] = [
    COLLAR_F,
    sed.BestFScore(sed.Intersection(0.5, 0.5), beta=2, average="weighted"),
    sed.BestFScore(sed.IoU(0.5), average="micro_tuned"),
    sed.BestErrorRate(sed.Collar(0.5)),
    sed.FScore(sed.Segment(1.0), threshold=0.4),
    sed.RecallAtPrecision(sed.Clip(), precision=0.6),
    sed.BalancedAccuracy(sed.Clip(), threshold=0.4),
]


@pytest.mark.parametrize("metric", WITH_THRESHOLDS, ids=repr)
def test_folds_are_judged_with_what_is_best_on_the_others(metric: ClasswiseMetric[Any]) -> None:
    scores, truth = small_set(24, seed=3)
    tuned = sed.tune(scores, truth, metric, SWEEP[:3], folds=sed.Folds(4, seed=5))
    tallies = held_out_tallies(scores, truth, metric, SWEEP[:3], folds_of(scores, 4, seed=5))
    values = {label: metric.of_tally(tally) for label, tally in tallies.items()}
    assert tuned.cross_validated is not None
    expected_of_classes = tuned.cross_validated.per_class
    assert {label: interval.value for label, interval in expected_of_classes.items()} == values
    assert all(tuned.per_class[label].cross_validated is of for label, of in expected_of_classes.items())
    assert all(of.low <= of.value <= of.high for of in expected_of_classes.values())
    weights = [tally.references for tally in tallies.values()]
    expected = {
        "macro": np.mean(list(values.values())),
        "weighted": np.average(list(values.values()), weights=weights),
        "micro_tuned": metric.of_tally(reduce(add, tallies.values())),
    }
    assert tuned.cross_validated.value == pytest.approx(expected[metric.average], rel=1e-12)
    assert tuned.value == sed.tune(scores, truth, metric, SWEEP[:3]).value


@pytest.mark.parametrize(
    "metric",
    [
        sed.PSDS(sed.Intersection(0.5, 0.5, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=300),
        sed.AveragePrecision(sed.Collar(0.5), average="weighted"),
        sed.AUROC(sed.Clip("mean")),
    ],
    ids=repr,
)
def test_curves_of_clips_with_what_is_best_on_the_others(metric: Metric[Any]) -> None:
    scores, truth = small_set(24, seed=3)
    candidates = SWEEP[:3]
    folds = folds_of(scores, 4)
    choice: dict[str, Mapping[str, PostProcessing]] = {}
    for fold in folds:
        others = some_of(scores, truth, [clip for clip in scores if clip not in fold])
        values = by_class(*others, metric, candidates)
        best = {label: candidates[the_best(values[label], metric)] for label in scores.classes}
        choice |= dict.fromkeys(fold, best)
    held_out = {
        clip: sed.postprocessing.PerClass(choice[clip])(some_of(scores, truth, [clip])[0])[clip]
        for clip in scores
    }
    judged = sed.Scores(held_out, held_out.__getitem__, classes=scores.classes, in_memory=True)
    tuning = sed.tune(scores, truth, metric, candidates, folds=4)
    result = evaluated(judged, truth, metric)
    assert tuning.cross_validated is not None
    assert tuning.cross_validated.value == pytest.approx(result.value, rel=1e-12)
    for label, interval in tuning.cross_validated.per_class.items():
        assert interval.value == pytest.approx(result.per_class[label].value, rel=1e-12)


@settings(max_examples=40)
@given(sets_of_clips(), st.integers(2, 3), st.sampled_from(WITH_THRESHOLDS))
def test_folds_of_random_clips(
    case: list[oracle.Clip], folds: int, metric: ClasswiseMetric[Any]
) -> None:
    """Classes may be missing from folds, from all others, or from all."""
    case = [*case, *case][: max(folds, len(case))]
    scores, truth = to_scores(case), to_truth(case)
    if not any(clip.references for clip in case):
        return
    tuned = sed.tune(scores, truth, metric, CANDIDATES[:2], folds=folds)
    tallies = held_out_tallies(scores, truth, metric, CANDIDATES[:2], folds_of(scores, folds))
    for label in LABELS:
        tally = tallies[label]
        expected = metric.of_tally(tally) if tally.references else np.nan
        validated = tuned.per_class[label].cross_validated
        assert validated is not None
        assert validated.value == pytest.approx(expected, nan_ok=True, rel=1e-12)


def test_groups_stay_in_one_fold() -> None:
    """Copies of a clip in other folds make the choice look better than it is."""
    scores, truth = small_set(12, seed=2)
    copies = {f"{clip}-{k}": clip for clip in scores for k in range(3)}
    many = sed.Scores.from_function(copies, lambda copy: scores[copies[copy]], classes=scores.classes)
    events = {copy: truth.events(clip) for copy, clip in copies.items()}
    repeated = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(copies, 10.0))
    alone = sed.tune(scores, truth, COLLAR_F, SWEEP, folds=12)
    grouped = sed.tune(many, repeated, COLLAR_F, SWEEP, folds=sed.Folds(12, groups=copies))
    leaking = sed.tune(many, repeated, COLLAR_F, SWEEP, folds=12)
    assert grouped.cross_validated
    assert leaking.cross_validated
    assert alone.cross_validated
    assert grouped.cross_validated.value == pytest.approx(alone.cross_validated.value)
    assert (grouped.cross_validated.low, grouped.cross_validated.high) == pytest.approx(
        (alone.cross_validated.low, alone.cross_validated.high)
    )
    assert leaking.cross_validated.value > alone.cross_validated.value


def test_as_many_folds_as_clips() -> None:
    scores, truth = small_set(5)
    tuned = sed.tune(scores, truth, sed.FScore(sed.Clip()), SWEEP, folds=5)
    assert tuned.cross_validated is not None
    assert 0 <= tuned.cross_validated.value <= tuned.value


def test_one_post_processing_at_one_threshold_leaves_nothing_to_choose() -> None:
    scores, truth = small_set()
    tuning = sed.tune(scores, truth, sed.FScore(sed.Collar()), MedianFilter(0.3), folds=3)
    assert tuning.cross_validated is not None
    assert tuning.cross_validated.value == pytest.approx(tuning.value)
    for label, tuned in tuning.per_class.items():
        assert tuning.cross_validated.per_class[label].value == tuned.value
