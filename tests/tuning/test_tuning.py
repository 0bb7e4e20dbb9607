"""Tuning, compared with brute force."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric, Tally
from sedscope.postprocessing import Chain, MedianFilter

from ..support import oracle
from ..support.examples import METRICS
from ..support.strategies import clip_lists, to_scores, to_truth
from ..support.tuning import (
    AT_HALF,
    CANDIDATES,
    COLLAR_F,
    SWEEP,
    by_class,
    evaluated,
    small_set,
    the_best,
)
from .test_cross_validation import some_of

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

TUNABLE = [
    metric
    for metric in METRICS
    if not (metric.variants or metric.criterion.values_queries)
    and getattr(metric, "average", "") != "micro"
]


# The best of all


@settings(max_examples=100)
@given(st.sampled_from(TUNABLE), clip_lists, st.sampled_from([np.float32, np.float64]))
def test_the_best_of_each_class(metric: Metric[Any], case: list[oracle.Clip], kind: type) -> None:
    scores, truth = to_scores(case, kind), to_truth(case)
    shortest, longest = (getattr(metric.criterion, name, None) for name in ("shortest", "longest"))
    lengths = [(offset - onset) / 1e6 for clip in case for onset, offset, _ in clip.references]
    if not any((shortest or 0) < length <= (longest or np.inf) for length in lengths):
        with pytest.raises(sed.SedscopeError, match="No class has reference events"):
            sed.tune(scores, truth, metric, CANDIDATES)
        return
    tuning = sed.tune(scores, truth, metric, CANDIDATES)
    expected = by_class(scores, truth, metric, CANDIDATES)
    for label, values in expected.items():
        tuned = tuning.per_class[label]
        assert tuple(tuned.values) == CANDIDATES
        np.testing.assert_allclose(list(tuned.values.values()), values, rtol=1e-12, atol=1e-12)
        best = the_best(list(tuned.values.values()), metric)
        if np.isnan(values[best]):
            assert tuned.postprocessing is None
            assert np.isnan(tuned.value)
        else:
            assert tuned.postprocessing == CANDIDATES[best]
            assert tuned.value == values[best]
        assert tuning.points.thresholds.get(label) == tuned.threshold
    result = evaluated(tuning(scores), truth, metric)
    np.testing.assert_array_equal(tuning.value, result.value)
    thresholds = getattr(result, "thresholds", {})
    assert thresholds.keys() == tuning.points.thresholds.keys()
    counts = sed.deltas(tuning(scores), truth, metric.criterion).counts()
    for label, threshold in tuning.points.thresholds.items():
        chosen, same = (counts[label].tally_at(at) for at in (threshold, thresholds[label]))
        assert (chosen.tp, chosen.fp) == (same.tp, same.fp)


def test_of_equally_good_ones_the_first() -> None:
    scores, truth = small_set()
    zero, nothing = MedianFilter(0), Chain()
    for order in ([zero, nothing], [nothing, zero]):
        tuned = sed.tune(scores, truth, COLLAR_F, order)
        assert {choice.postprocessing for choice in tuned.per_class.values()} == {order[0]}


def test_values_that_differ_by_rounding_are_equally_good() -> None:
    # of the other 9 segments, 6 have lower scores than the reference, before and after the filter
    scores = [0.9, 0.0, 0.5, 0.5, 0.1, 0.5, 0.5, 0.1, 0.5, 0.0]
    system = sed.Scores.from_arrays({"k": np.array(scores)[:, None]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"k": [(5, 6, "Dog")]}, durations={"k": 10})
    tuned = sed.tune(system, truth, sed.AUROC(sed.Segment(1.0)), "MedianFilter(0|3)").per_class["Dog"]
    first, second = tuned.values.values()
    assert first < second == pytest.approx(2 / 3)  # by the last bit
    assert tuned.postprocessing == MedianFilter(0)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro_tuned"])
def test_averages(average: str) -> None:
    scores, truth = small_set()
    metric = sed.BestFScore(sed.Collar(), average=average)
    tuning = sed.tune(scores, truth, metric, SWEEP)
    tallies: list[Tally] = []
    values, references = [], []
    for label, tuned in tuning.per_class.items():
        assert tuned.postprocessing is not None
        result = evaluated(tuned.postprocessing(scores), truth, metric).per_class[label]
        tallies.append(result.tally)
        values.append(result.value)
        references.append(result.tally.references)
    together = reduce(add, tallies).fscore()
    expected = {
        "macro": np.mean(values),
        "weighted": np.average(values, weights=references),
        "micro_tuned": together,
    }
    assert tuning.value == pytest.approx(expected[average], rel=1e-12)


def test_thresholds_alone() -> None:
    scores, truth = small_set()
    tuned = sed.tune(scores, truth, COLLAR_F)
    result = evaluated(scores, truth, COLLAR_F)
    assert tuned.value == result.value
    assert tuned.points.thresholds == result.thresholds
    assert not tuned.points.postprocessing
    assert tuned.points.provenance["chosen_from"] == "1 post-processing"


def test_a_sweep_as_text_or_a_single_one() -> None:
    scores, truth = small_set()
    sweep = sed.tune(scores, truth, COLLAR_F, "MedianFilter(0|0.3|0.3)")
    assert tuple(sweep.per_class["Dog"].values) == (MedianFilter(0), MedianFilter(0.3))
    single = sed.tune(scores, truth, COLLAR_F, MedianFilter(0.3))
    assert single.value == evaluated(MedianFilter(0.3)(scores), truth, COLLAR_F).value


@pytest.mark.parametrize("folds", [None, 3])
def test_neither_threads_nor_the_order_of_clips_matter(folds: int | None) -> None:
    scores, truth = small_set()
    clips = list(scores)
    turned = sed.Scores(clips[::-1], scores.__getitem__, classes=scores.classes, in_memory=True)
    psds = sed.presets.PSDS1
    results = [
        sed.tune(ordered, truth, psds, SWEEP, folds=folds, run=sed.Run(threads=threads))
        for ordered, threads in ((scores, 1), (scores, 3), (turned, 2))
    ]
    for other in results[1:]:
        assert other.value == results[0].value
        assert repr(other.cross_validated) == repr(results[0].cross_validated)
        assert other.points.postprocessing == results[0].points.postprocessing


def test_the_limit_on_false_positives_changes_nothing() -> None:
    """Without folds scores are pruned, with folds they are not."""
    scores, truth = small_set(60)
    psds = sed.PSDS(sed.Intersection(0.7, 0.7, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=20)
    pruned, full = (sed.tune(scores, truth, psds, SWEEP, folds=folds) for folds in (None, 4))
    assert pruned.value == full.value
    for label, tuned in pruned.per_class.items():
        assert tuned.values == full.per_class[label].values


# What is saved, and used


@pytest.mark.parametrize(
    ("metric", "fixed"),
    [(COLLAR_F, AT_HALF), (sed.BestErrorRate(sed.Collar(0.5)), sed.ErrorRate(sed.Collar(0.5)))],
    ids=repr,
)
def test_saved_points_give_the_tuned_value(
    metric: Metric[Any], fixed: Metric[Any], tmp_path: Path
) -> None:
    scores, truth = small_set()
    tuned = sed.tune(scores, truth, metric, SWEEP)
    tuned.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert points == tuned.points
    assert evaluated(points.apply(scores), truth, fixed).value == tuned.value
    events = sed.Scores.from_events(points.detect(scores), classes=scores.classes, clips=scores)
    assert evaluated(events, truth, fixed).value == tuned.value


def test_points_of_a_curve_have_no_thresholds(tmp_path: Path) -> None:
    scores, truth = small_set()
    psds = sed.presets.PSDS1
    tuned = sed.tune(scores, truth, psds, SWEEP[:1] + SWEEP[2:])
    tuned.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert not points.thresholds
    assert evaluated(points.apply(scores), truth, psds).value == tuned.value
    assert evaluated(tuned(scores), truth, psds).value == tuned.value
    with pytest.raises(sed.SedscopeError, match="post-processings, but no thresholds"):
        points.detect(scores)
    assert any("Each class is tuned for its own PSDS" in note for note in tuned.notes)


def test_if_scores_as_they_are_are_best_points_can_still_be_used(tmp_path: Path) -> None:
    scores, truth = small_set()
    psds = sed.presets.PSDS1
    tuned = sed.tune(scores, truth, psds, [Chain(), MedianFilter(30)])
    assert tuned.value == evaluated(scores, truth, psds).value
    tuned.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert evaluated(points.apply(scores), truth, psds).value == tuned.value


def test_classes_without_references() -> None:
    scores, truth = small_set()
    cats = [event for clip in truth.clips for event in truth.events(clip) if event[2] == "Cat"]
    assert cats
    events = {c: [e for e in truth.events(c) if e[2] != "Cat"] for c in truth.clips}
    without = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    tuned = sed.tune(scores, without, COLLAR_F, SWEEP, folds=3, classes=["Cat", "Dog", "Speech"])
    cat = tuned.per_class["Cat"]
    assert (cat.postprocessing, cat.threshold) == (None, None)
    assert cat.cross_validated is not None
    assert np.isnan([cat.value, cat.cross_validated.value]).all()
    assert "Cat" not in tuned.points.thresholds
    assert "Cat" not in tuned.points.postprocessing
    assert tuned.notes == ("Classes without reference events were not tuned: Cat.",)
    fixed = AT_HALF
    applied = evaluated(tuned.points.apply(scores), without, fixed, classes=["Cat", "Dog", "Speech"])
    assert applied.value == tuned.value
    assert not any(e[2] == "Cat" for of in tuned.points.detect(scores).values() for e in of)


def test_a_class_in_one_fold_only_is_named() -> None:
    scores, truth = small_set()
    kept = next(c for c in truth.clips if any(e[2] == "Cat" for e in truth.events(c)))
    events = {c: [e for e in truth.events(c) if e[2] != "Cat" or c == kept] for c in truth.clips}
    rare = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    tuned = sed.tune(scores, rare, COLLAR_F, SWEEP, folds=3, classes=["Cat", "Dog", "Speech"])
    assert tuned.notes == (
        "Classes without reference events outside some fold were not tuned there: Cat.",
    )
    validated = tuned.per_class["Cat"].cross_validated
    assert validated is not None
    assert validated.value == 0  # not detected where its references are
    assert validated.exact == "binomial"
    assert tuned.per_class["Cat"].postprocessing is not None


def test_a_constraint_that_no_threshold_meets_is_reported() -> None:
    arrays = {"a": [[0.9, 0.1], [0.2, 0.9]], "b": [[0.3, 0.1], [0.1, 0.2]]}
    scores = sed.Scores.from_arrays(arrays, classes=["Cat", "Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Cat"), (1, 2, "Dog")], "b": [(0.4, 0.6, "Dog")]}, durations={"a": 2.0, "b": 2.0}
    )
    metric = sed.PrecisionAtRecall(sed.Collar(), recall=1)
    tuned = sed.tune(scores, truth, metric, [MedianFilter(0), Chain()])
    assert (tuned.per_class["Dog"].value, tuned.per_class["Dog"].threshold) == (0, None)
    assert tuned.notes == ("No threshold meets the constraint, so these are never detected: Dog.",)
    assert list(tuned.points.thresholds) == ["Cat"]


def test_chosen_classes_and_clips() -> None:
    scores, truth = small_set()
    clips = list(scores)[:20]
    tuned = sed.tune(scores, truth, COLLAR_F, SWEEP, classes=["Dog", "Cat"], clips=clips)
    same = sed.tune(*some_of(scores, truth, clips), COLLAR_F, SWEEP, classes=["Cat", "Dog"])
    assert tuple(tuned.per_class) == ("Dog", "Cat")
    assert tuned.value == same.value
    assert tuned.points.provenance["clips"] == "20"
    assert set(tuned.points.detect(scores)) == set(scores)


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "best_colar_f1"}, "no metric 'best_colar_f1'. Did you mean best_collar_f1"),
        (
            {"metric": sed.BestFScore(sed.Collar(), average="micro")},
            "no class can be tuned by itself. Use ",
        ),
        (
            {"metric": sed.PiPSDS(sed.Intersection(0.7, 0.7), postprocessing="MedianFilter(0|1)")},
            "there is nothing to tune",
        ),
        ({"metric": sed.presets.PSDS1, "postprocessing": ()}, "give post-processings"),
        ({"metric": sed.AveragePrecision(sed.Clip()), "postprocessing": []}, "over all thresholds"),
        (
            {"metric": "r1_50"},
            r"a metric of queries, .* nothing to tune. Choose .*BestFScore\(IoU\(0.5\)\)",
        ),
        ({"metric": "moment_map", "postprocessing": ()}, "a metric of queries"),
        (
            {"postprocessing": [MedianFilter(1), "x", 3]},
            "postprocessing= takes post-processings, not 'x', 3",
        ),
        ({"postprocessing": 3}, "postprocessing= takes post-processings, not 3"),
        ({"postprocessing": ""}, "cannot be read"),
        ({"postprocessing": "MedianFilter(1..0/0.1)"}, "is empty"),
        (
            {"postprocessing": [sed.postprocessing.PerClass({"Cow": Chain()})]},
            "The scores have no class Cow",
        ),
        ({"folds": 1}, "folds=1 must be at least 2 and at most the number of clips: 10"),
        ({"folds": 0}, "folds=0"),
        ({"folds": -1}, "folds=-1"),
        ({"folds": 11}, "folds=11 .* number of clips: 10"),
        ({"folds": True}, "folds=True"),
        ({"folds": 2.0}, "folds=2.0 must be a whole number"),
        ({"folds": sed.Folds(2, seed=-1)}, "seed=-1"),
        ({"folds": sed.Folds(2, groups={})}, "10 clips have no group"),
        ({"classes": ["Cow"]}, "1 class has no scores: Cow"),
        ({"clips": ["nowhere"]}, "1 chosen clip has no scores"),
    ],
)
def test_bad_options(change: dict[str, Any], message: str) -> None:
    scores, truth = small_set(10)
    options = {"metric": COLLAR_F, "postprocessing": SWEEP, **change}
    with pytest.raises(sed.SedscopeError, match=message):
        sed.tune(scores, truth, **options)


def test_scored_events_are_tuned_for_a_metric_with_thresholds() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 5})
    system = sed.ScoredEvents.from_events({"a": [(0, 2, "Dog", 0.9), (3, 4, "Dog", 0.2)]})
    with pytest.raises(sed.SedscopeError, match=r"nothing to tune. Choose .*BestFScore\(IoU\(0.5\)\)"):
        sed.tune(system, truth, "detection_map")
    assert sed.tune(system, truth, sed.BestFScore(sed.IoU(0.5))).value == 1


def test_groups_are_counted_as_units_of_folds() -> None:
    scores, truth = small_set(10)
    groups = {clip: i % 2 for i, clip in enumerate(scores)}
    assert (
        sed.tune(scores, truth, COLLAR_F, folds=sed.Folds(2, groups=groups)).cross_validated is not None
    )
    with pytest.raises(sed.SedscopeError, match=r"folds=3 .* number of groups: 2"):
        sed.tune(scores, truth, COLLAR_F, folds=sed.Folds(3, groups=groups))


def test_one_clip() -> None:
    scores, truth = small_set(1)
    assert sed.tune(scores, truth, COLLAR_F, SWEEP).value >= 0
    with pytest.raises(sed.SedscopeError, match=r"at most the number of clips: 1"):
        sed.tune(scores, truth, COLLAR_F, SWEEP, folds=2)


def test_scores_that_are_infinite_or_never() -> None:
    inf = np.inf
    arrays = {"a": [[inf], [-inf], [0.5]], "b": [[-inf], [-inf], [-inf]], "c": [[0.2], [inf], [0.1]]}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog")], "b": [], "c": [(1, 2, "Dog")]}, durations=dict.fromkeys("abc", 3.0)
    )
    tuned = sed.tune(scores, truth, COLLAR_F, [Chain(), MedianFilter(0.5)], folds=3)
    assert tuned.value == 1
    assert evaluated(tuned.points.apply(scores), truth, AT_HALF).value == 1


def test_tuning_warns_of_odd_input() -> None:
    truth = sed.simulate.ground_truth(30, seed=1)
    scores = sed.simulate.scores(truth, seed=1)
    some = scores.only(truth.clips[:20])
    with pytest.warns(
        sed.SedscopeWarning, match="10 of the 30 clips in the ground truth have no scores"
    ):
        sed.tune(some, truth, "best_collar_f1", clips="scored")
    late = {
        clip: [(onset + 2, offset + 2, label) for onset, offset, label in truth.events(clip)]
        for clip in truth.clips
    }
    longer = dict.fromkeys(truth.clips, 12.0)
    shifted = sed.GroundTruth.from_dict(late, durations=longer)
    with pytest.warns(sed.SedscopeWarning, match="The scores look about 2 s early"):
        sed.tune(scores, shifted, "best_collar_f1", coverage="any")
