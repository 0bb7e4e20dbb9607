"""Tuning against brute force, and cross-validation against doing it by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.counting.tally import Tally
from sedscope.metrics import ClasswiseMetric, Metric
from sedscope.postprocessing import (
    Chain,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    PostProcessing,
)

from ..support import oracle
from ..support.examples import METRICS
from ..support.strategies import LABELS, clip_lists, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

TUNABLE = [m for m in METRICS if not m.variants and getattr(m, "average", "") != "micro"]
CANDIDATES = (MedianFilter(3e-6), Chain(), MovingAverage(1e-5), MinimumDuration(3e-6), MaximumGap(3e-6))
COLLAR_F = sed.BestFScore(sed.Collar())
AT_HALF = sed.FScore(sed.Collar())
SWEEP = (MedianFilter(0.3), Chain(), MedianFilter(0.9), MinimumDuration(0.5))


@st.composite
def sets_of_clips(draw: st.DrawFn) -> list[oracle.Clip]:
    return draw(clip_lists) + draw(clip_lists)


def small_set(clips: int = 30, seed: int = 0, **options: Any) -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(clips, seed=seed)
    return sed.simulate.scores(truth, frame=0.1, quality=0.5, seed=seed, **options), truth


def evaluated(scores: sed.Scores, truth: sed.GroundTruth, metric: Metric, **choice: Any) -> Any:
    return sed.evaluate(scores, truth, metric, **choice)[metric]


def the_best(values: Sequence[float], metric: Metric) -> int:
    """Where the best value is, the first of equals; the first if none is defined."""
    best = 0
    for i, value in enumerate(values):
        better = value > values[best] if metric.higher_is_better else value < values[best]
        if better or (np.isnan(values[best]) and not np.isnan(value)):
            best = i
    return best


def by_class(
    scores: sed.Scores, truth: sed.GroundTruth, metric: Metric, candidates: Sequence[PostProcessing]
) -> dict[str, list[float]]:
    """The values of a class with each of the candidates."""
    results = [evaluated(chosen(scores), truth, metric) for chosen in candidates]
    return {label: [result.per_class[label].value for result in results] for label in scores.classes}


# The best of all


@settings(max_examples=100)
@given(st.sampled_from(TUNABLE), clip_lists, st.sampled_from([np.float32, np.float64]))
def test_the_best_of_each_class(metric: Metric, case: list[oracle.Clip], kind: type) -> None:
    scores, truth = to_scores(case, kind), to_truth(case)
    if not any(clip.references for clip in case):
        with pytest.raises(sed.SedscopeError, match="no class has reference events"):
            sed.tune(scores, truth, metric, CANDIDATES)
        return
    found = sed.tune(scores, truth, metric, CANDIDATES)
    expected = by_class(scores, truth, metric, CANDIDATES)
    for label, values in expected.items():
        tuned = found.per_class[label]
        assert tuple(tuned.values) == CANDIDATES
        np.testing.assert_allclose(list(tuned.values.values()), values, rtol=1e-12, atol=1e-12)
        best = the_best(list(tuned.values.values()), metric)
        if np.isnan(values[best]):
            assert tuned.postprocessing is None
            assert np.isnan(tuned.value)
        else:
            assert tuned.postprocessing == CANDIDATES[best]
            assert tuned.value == values[best]
        assert found.points.thresholds.get(label) == tuned.threshold
    result = evaluated(found(scores), truth, metric)
    np.testing.assert_array_equal(found.value, result.value)
    thresholds = getattr(result, "thresholds", {})
    assert thresholds.keys() == found.points.thresholds.keys()
    counts = sed.deltas(found(scores), truth, metric.criterion).counts()
    for label, threshold in found.points.thresholds.items():
        chosen, same = (counts[label].tally_at(at) for at in (threshold, thresholds[label]))
        assert (chosen.tp, chosen.fp) == (same.tp, same.fp)


def test_of_equally_good_ones_the_first() -> None:
    scores, truth = small_set()
    zero, nothing = MedianFilter(0), Chain()
    for order in ([zero, nothing], [nothing, zero]):
        found = sed.tune(scores, truth, COLLAR_F, order)
        assert {one.postprocessing for one in found.per_class.values()} == {order[0]}


@pytest.mark.parametrize("average", ["macro", "weighted", "micro_tuned"])
def test_averages(average: str) -> None:
    scores, truth = small_set()
    metric = sed.BestFScore(sed.Collar(), average=average)
    found = sed.tune(scores, truth, metric, SWEEP)
    tallies: list[Tally] = []
    values, references = [], []
    for label, tuned in found.per_class.items():
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
    assert found.value == pytest.approx(expected[average], rel=1e-12)


def test_thresholds_alone() -> None:
    scores, truth = small_set()
    found = sed.tune(scores, truth, COLLAR_F)
    result = evaluated(scores, truth, COLLAR_F)
    assert found.value == result.value
    assert found.points.thresholds == result.thresholds
    assert not found.points.postprocessing
    assert found.points.provenance["chosen_from"] == "1 post-processing"


def test_a_sweep_as_text_or_a_single_one() -> None:
    scores, truth = small_set()
    sweep = sed.tune(scores, truth, COLLAR_F, "MedianFilter(0|0.3|0.3)")
    assert tuple(sweep.per_class["Dog"].values) == (MedianFilter(0), MedianFilter(0.3))
    one = sed.tune(scores, truth, COLLAR_F, MedianFilter(0.3))
    assert one.value == evaluated(MedianFilter(0.3)(scores), truth, COLLAR_F).value


@pytest.mark.parametrize("folds", [None, 3])
def test_neither_threads_nor_the_order_of_clips_matter(folds: int | None) -> None:
    scores, truth = small_set()
    clips = list(scores)
    turned = sed.Scores(clips[::-1], scores.__getitem__, classes=scores.classes, in_memory=True)
    psds = sed.presets.PSDS1
    found = [
        sed.tune(given, truth, psds, SWEEP, folds=folds, threads=threads)
        for given, threads in ((scores, 1), (scores, 3), (turned, 2))
    ]
    for other in found[1:]:
        assert (other.value, other.cross_validated) == (found[0].value, found[0].cross_validated)
        assert other.points.postprocessing == found[0].points.postprocessing


def test_the_limit_on_false_positives_changes_nothing() -> None:
    """Without folds scores are pruned, with folds they are not."""
    scores, truth = small_set(60)
    psds = sed.PSDS(sed.Intersection(0.7, 0.7, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=20)
    pruned, full = (sed.tune(scores, truth, psds, SWEEP, folds=folds) for folds in (None, 4))
    assert pruned.value == full.value
    for label, tuned in pruned.per_class.items():
        assert tuned.values == full.per_class[label].values


# Cross-validation


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
    metric: Metric,
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


WITH_THRESHOLDS: list[ClasswiseMetric] = [
    COLLAR_F,
    sed.BestFScore(sed.Intersection(0.5, 0.5), beta=2, average="weighted"),
    sed.BestFScore(sed.IoU(0.5), average="micro_tuned"),
    sed.BestErrorRate(sed.Collar(0.5)),
    sed.FScore(sed.Segment(1.0), threshold=0.4),
    sed.RecallAtPrecision(sed.Clip(), precision=0.6),
    sed.BalancedAccuracy(sed.Clip(), threshold=0.4),
]


@pytest.mark.parametrize("metric", WITH_THRESHOLDS, ids=repr)
def test_folds_are_judged_with_what_is_best_on_the_others(metric: ClasswiseMetric) -> None:
    scores, truth = small_set(24, seed=3)
    found = sed.tune(scores, truth, metric, SWEEP[:3], folds=4, seed=5)
    tallies = held_out_tallies(scores, truth, metric, SWEEP[:3], folds_of(scores, 4, seed=5))
    values = {label: metric.of_tally(tally) for label, tally in tallies.items()}
    assert {label: one.cross_validated for label, one in found.per_class.items()} == values
    weights = [tally.references for tally in tallies.values()]
    expected = {
        "macro": np.mean(list(values.values())),
        "weighted": np.average(list(values.values()), weights=weights),
        "micro_tuned": metric.of_tally(reduce(add, tallies.values())),
    }
    assert found.cross_validated == pytest.approx(expected[metric.average], rel=1e-12)
    assert found.value == sed.tune(scores, truth, metric, SWEEP[:3]).value


@pytest.mark.parametrize(
    "metric",
    [
        sed.PSDS(sed.Intersection(0.5, 0.5, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=300),
        sed.AveragePrecision(sed.Collar(0.5), average="weighted"),
        sed.AUROC(sed.Clip("mean")),
    ],
    ids=repr,
)
def test_curves_of_clips_with_what_is_best_on_the_others(metric: Metric) -> None:
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
    found = sed.tune(scores, truth, metric, candidates, folds=4)
    result = evaluated(judged, truth, metric)
    assert found.cross_validated == result.value
    for label, tuned in found.per_class.items():
        assert tuned.cross_validated == result.per_class[label].value


@settings(max_examples=40)
@given(sets_of_clips(), st.integers(2, 3), st.sampled_from(WITH_THRESHOLDS))
def test_folds_of_random_clips(case: list[oracle.Clip], folds: int, metric: ClasswiseMetric) -> None:
    """Classes may be missing from folds, from all others, or from all."""
    case = [*case, *case][: max(folds, len(case))]
    scores, truth = to_scores(case), to_truth(case)
    if not any(clip.references for clip in case):
        return
    found = sed.tune(scores, truth, metric, CANDIDATES[:2], folds=folds)
    tallies = held_out_tallies(scores, truth, metric, CANDIDATES[:2], folds_of(scores, folds))
    for label in LABELS:
        tally = tallies[label]
        expected = metric.of_tally(tally) if tally.references else np.nan
        validated = found.per_class[label].cross_validated
        assert validated == pytest.approx(expected, nan_ok=True, rel=1e-12)


def test_groups_stay_in_one_fold() -> None:
    """Copies of a clip in other folds make the choice look better than it is."""
    scores, truth = small_set(12, seed=2)
    copies = {f"{clip}-{k}": clip for clip in scores for k in range(3)}
    many = sed.Scores.from_function(copies, lambda copy: scores[copies[copy]], classes=scores.classes)
    events = {copy: truth.events(clip) for copy, clip in copies.items()}
    repeated = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(copies, 10.0))
    alone = sed.tune(scores, truth, COLLAR_F, SWEEP, folds=12)
    grouped = sed.tune(many, repeated, COLLAR_F, SWEEP, folds=12, groups=copies)
    leaking = sed.tune(many, repeated, COLLAR_F, SWEEP, folds=12)
    assert grouped.cross_validated == pytest.approx(alone.cross_validated)
    assert leaking.cross_validated is not None
    assert alone.cross_validated is not None
    assert leaking.cross_validated > alone.cross_validated


def test_as_many_folds_as_clips() -> None:
    scores, truth = small_set(5)
    found = sed.tune(scores, truth, sed.FScore(sed.Clip()), SWEEP, folds=5)
    assert found.cross_validated is not None
    assert 0 <= found.cross_validated <= found.value


def test_one_post_processing_at_one_threshold_leaves_nothing_to_choose() -> None:
    scores, truth = small_set()
    found = sed.tune(scores, truth, sed.FScore(sed.Collar()), MedianFilter(0.3), folds=3)
    assert found.cross_validated == pytest.approx(found.value)
    for tuned in found.per_class.values():
        assert tuned.cross_validated == tuned.value


# What is saved, and used


@pytest.mark.parametrize(
    ("metric", "fixed"),
    [(COLLAR_F, AT_HALF), (sed.BestErrorRate(sed.Collar(0.5)), sed.ErrorRate(sed.Collar(0.5)))],
    ids=repr,
)
def test_saved_points_give_the_tuned_value(metric: Metric, fixed: Metric, tmp_path: Path) -> None:
    scores, truth = small_set()
    found = sed.tune(scores, truth, metric, SWEEP)
    found.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert points == found.points
    assert evaluated(points.apply(scores), truth, fixed).value == found.value
    events = sed.Scores.from_events(points.detect(scores), classes=scores.classes, clips=scores)
    assert evaluated(events, truth, fixed).value == found.value


def test_points_of_a_curve_have_no_thresholds(tmp_path: Path) -> None:
    scores, truth = small_set()
    psds = sed.presets.PSDS1
    found = sed.tune(scores, truth, psds, SWEEP[:1] + SWEEP[2:])
    found.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert not points.thresholds
    assert evaluated(points.apply(scores), truth, psds).value == found.value
    assert evaluated(found(scores), truth, psds).value == found.value
    with pytest.raises(sed.SedscopeError, match="no thresholds, only post-processings"):
        points.detect(scores)
    assert any("each class is tuned for its own PSDS" in note for note in found.notes)


def test_if_scores_as_they_are_are_best_points_can_still_be_used(tmp_path: Path) -> None:
    scores, truth = small_set()
    psds = sed.presets.PSDS1
    found = sed.tune(scores, truth, psds, [Chain(), MedianFilter(30)])
    assert found.value == evaluated(scores, truth, psds).value
    found.points.save(tmp_path / "points.toml")
    points = sed.OperatingPoints.load(tmp_path / "points.toml")
    assert evaluated(points.apply(scores), truth, psds).value == found.value


def test_classes_without_references() -> None:
    scores, truth = small_set()
    cats = [event for clip in truth.clips for event in truth.events(clip) if event[2] == "Cat"]
    assert cats
    events = {c: [e for e in truth.events(c) if e[2] != "Cat"] for c in truth.clips}
    without = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    found = sed.tune(scores, without, COLLAR_F, SWEEP, folds=3, classes=["Cat", "Dog", "Speech"])
    cat = found.per_class["Cat"]
    assert (cat.postprocessing, cat.threshold) == (None, None)
    assert cat.cross_validated is not None
    assert np.isnan([cat.value, cat.cross_validated]).all()
    assert "Cat" not in found.points.thresholds
    assert "Cat" not in found.points.postprocessing
    assert found.notes == ("without reference events, so not tuned: Cat",)
    fixed = AT_HALF
    applied = evaluated(found.points.apply(scores), without, fixed, classes=["Cat", "Dog", "Speech"])
    assert applied.value == found.value
    assert not any(e[2] == "Cat" for of in found.points.detect(scores).values() for e in of)


def test_a_class_in_one_fold_only_is_named() -> None:
    scores, truth = small_set()
    kept = next(c for c in truth.clips if any(e[2] == "Cat" for e in truth.events(c)))
    events = {c: [e for e in truth.events(c) if e[2] != "Cat" or c == kept] for c in truth.clips}
    rare = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    found = sed.tune(scores, rare, COLLAR_F, SWEEP, folds=3, classes=["Cat", "Dog", "Speech"])
    assert found.notes == ("without reference events outside some fold, so not tuned there: Cat",)
    assert found.per_class["Cat"].cross_validated == 0  # not detected where its references are
    assert found.per_class["Cat"].postprocessing is not None


def test_a_need_that_no_threshold_meets_is_named() -> None:
    arrays = {"a": [[0.9, 0.1], [0.2, 0.9]], "b": [[0.3, 0.1], [0.1, 0.2]]}
    scores = sed.Scores.from_arrays(arrays, classes=["Cat", "Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Cat"), (1, 2, "Dog")], "b": [(0.4, 0.6, "Dog")]},
        durations={"a": 2.0, "b": 2.0},
    )
    metric = sed.PrecisionAtRecall(sed.Collar(), recall=1)
    found = sed.tune(scores, truth, metric, [MedianFilter(0), Chain()])
    assert (found.per_class["Dog"].value, found.per_class["Dog"].threshold) == (0, None)
    assert found.notes == ("no threshold meets what is asked for, so never detected: Dog",)
    assert list(found.points.thresholds) == ["Cat"]


def test_chosen_classes_and_clips() -> None:
    scores, truth = small_set()
    clips = list(scores)[:20]
    found = sed.tune(scores, truth, COLLAR_F, SWEEP, classes=["Dog", "Cat"], clips=clips)
    same = sed.tune(*some_of(scores, truth, clips), COLLAR_F, SWEEP, classes=["Cat", "Dog"])
    assert tuple(found.per_class) == ("Dog", "Cat")
    assert found.value == same.value
    assert found.points.provenance["clips"] == "20"
    assert set(found.points.detect(scores)) == set(scores)


# Bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "BestFScore(Collar())"}, "not a metric: 'BestFScore"),
        ({"metric": sed.BestFScore(sed.Collar(), average="micro")}, "use an average of 'macro' or "),
        (
            {"metric": sed.PiPSDS(sed.Intersection(0.7, 0.7), postprocessing="MedianFilter(0|1)")},
            "nothing is to be tuned",
        ),
        ({"metric": sed.presets.PSDS1, "postprocessing": ()}, "give post-processings"),
        ({"metric": sed.AveragePrecision(sed.Clip()), "postprocessing": []}, "over all thresholds"),
        ({"postprocessing": [MedianFilter(1), "x", 3]}, "not a post-processing: 'x', 3"),
        ({"postprocessing": 3}, "not a post-processing: 3"),
        ({"postprocessing": ""}, "cannot be read"),
        ({"postprocessing": "MedianFilter(1..0/0.1)"}, "is empty"),
        ({"postprocessing": [sed.postprocessing.PerClass({"Cow": Chain()})]}, "without scores: Cow"),
        ({"folds": 1}, "folds=1 must be at least 2 and at most as many as there are: 10 clips"),
        ({"folds": 0}, "folds=0"),
        ({"folds": -1}, "folds=-1"),
        ({"folds": 11}, "folds=11 .* 10 clips"),
        ({"folds": True}, "folds=True"),
        ({"folds": 2.0}, "folds=2.0 must be a whole number"),
        ({"folds": 2, "seed": -1}, "seed=-1"),
        ({"folds": 2, "groups": {}}, "without a group: 10 clips"),
        ({"groups": {}}, "say how many folds"),
        ({"classes": ["Cow"]}, "classes without scores: Cow"),
        ({"clips": ["nowhere"]}, "without scores: 1 chosen clip"),
    ],
)
def test_bad_options(change: dict[str, Any], message: str) -> None:
    scores, truth = small_set(10)
    options = {"metric": COLLAR_F, "postprocessing": SWEEP, **change}
    with pytest.raises(sed.SedscopeError, match=message):
        sed.tune(scores, truth, **options)


def test_groups_are_counted_as_units_of_folds() -> None:
    scores, truth = small_set(10)
    groups = {clip: i % 2 for i, clip in enumerate(scores)}
    assert sed.tune(scores, truth, COLLAR_F, folds=2, groups=groups).cross_validated is not None
    with pytest.raises(sed.SedscopeError, match=r"folds=3 .* 2 groups"):
        sed.tune(scores, truth, COLLAR_F, folds=3, groups=groups)


def test_one_clip() -> None:
    scores, truth = small_set(1)
    assert sed.tune(scores, truth, COLLAR_F, SWEEP).value >= 0
    with pytest.raises(sed.SedscopeError, match=r"as many as there are: 1 clip$"):
        sed.tune(scores, truth, COLLAR_F, SWEEP, folds=2)


def test_scores_that_are_infinite_or_never() -> None:
    inf = np.inf
    arrays = {"a": [[inf], [-inf], [0.5]], "b": [[-inf], [-inf], [-inf]], "c": [[0.2], [inf], [0.1]]}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog")], "b": [], "c": [(1, 2, "Dog")]}, durations=dict.fromkeys("abc", 3.0)
    )
    found = sed.tune(scores, truth, COLLAR_F, [Chain(), MedianFilter(0.5)], folds=3)
    assert found.value == 1
    assert evaluated(found.points.apply(scores), truth, AT_HALF).value == 1
