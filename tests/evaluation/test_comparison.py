"""Comparison of systems: values, paired differences, corrections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.evaluation.comparison import _holm
from sedscope.metrics import Metric

PSDS = sed.presets.PSDS1
RATE = sed.ErrorRate(sed.Collar(0.5), threshold=0.4)
METRICS: list[Metric[Any]] = [PSDS, sed.FScore(sed.Segment(1.0), threshold=0.4), RATE]
CLASSES = ("Dog", "Dishes", "Speech")


def ignoring(message: str) -> pytest.MarkDecorator:
    return pytest.mark.filterwarnings(f"ignore:{message}:sedscope.SedscopeWarning")


pytestmark = ignoring("Some classes are not defined in some resamples")


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(40, seed=4)


def system(truth: sed.GroundTruth, quality: float, seed: int = 0) -> sed.Scores:
    made = sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed)
    return sed.Scores(list(made), made.__getitem__, classes=made.classes, in_memory=True)


@pytest.fixture(scope="module")
def good(truth: sed.GroundTruth) -> sed.Scores:
    return system(truth, 0.8)


@pytest.fixture(scope="module")
def bad(truth: sed.GroundTruth) -> sed.Scores:
    return system(truth, 0.5)


def test_values_are_those_of_an_evaluation(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores
) -> None:
    comparison = sed.compare({"good": good, "bad": bad}, truth, METRICS, n=60, seed=3, interval="bca")
    resampling = sed.Resampling(60, seed=3, interval="bca")
    assert (comparison.systems, comparison.clips, comparison.metrics) == (
        ("good", "bad"),
        40,
        tuple(METRICS),
    )
    for name, scores in (("good", good), ("bad", bad)):
        result = sed.evaluate(scores, truth, METRICS, bootstrap=resampling)
        assert comparison.hours == result.hours
        for metric in METRICS:
            value, interval = comparison.values[metric][name], result.intervals[metric]
            assert value.value == result[metric].value
            assert (value.low, value.high) == (interval.low, interval.high)
            np.testing.assert_array_equal(value.values, interval.values)
            assert value.runs == (value.value,)
            assert np.isnan(value.spread)
            for label, of_class in value.per_class.items():
                expected = interval.per_class[label]
                np.testing.assert_array_equal(of_class.values, expected.values)
                assert [of_class.value] == pytest.approx([expected.value], nan_ok=True, abs=0)


def test_differences_are_those_of_the_values(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores
) -> None:
    comparison = sed.compare({"good": good, "bad": bad}, truth, METRICS, n=60, confidence=0.9)
    for metric in METRICS:
        better, worse = (comparison.values[metric][name] for name in ("good", "bad"))
        pair = comparison.differences[metric]["good", "bad"]
        assert list(comparison.differences[metric]) == [("good", "bad")]
        assert pair.value == better.value - worse.value
        np.testing.assert_array_equal(pair.values, better.values - worse.values)
        assert [pair.low, pair.high] == pytest.approx(np.quantile(pair.values, [0.05, 0.95]))
        assert pair.p == p_value(pair.values)
        assert pair.p_corrected == pair.p
        for label, of_class in pair.per_class.items():
            values = [value.per_class[label].values for value in (better, worse)]
            np.testing.assert_array_equal(of_class.values, values[0] - values[1])
            assert of_class.p == p_value(of_class.values)
        # paired: much surer than each alone
        assert pair.deviation < np.hypot(better.deviation, worse.deviation)


def p_value(values: Iterable[float]) -> float:
    """Twice the share of resamples on the other side of 0, the set itself being one of them."""
    defined = [value for value in values if not np.isnan(value)]
    below, above = sum(v <= 0 for v in defined), sum(v >= 0 for v in defined)
    return min(1.0, 2 * (min(below, above) + 1) / (len(defined) + 1))


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_identical_systems(truth: sed.GroundTruth, good: sed.Scores, interval: str) -> None:
    metrics: list[Metric[Any]] = [*METRICS, sed.DPrime(sed.Clip()), sed.BestFScore(sed.Collar())]
    comparison = sed.compare({"a": good, "b": good}, truth, metrics, n=30, interval=interval)
    for of_metric in comparison.differences.values():
        pair = of_metric["a", "b"]
        for difference in (pair, *pair.per_class.values()):
            assert (
                difference.value,
                difference.low,
                difference.high,
                difference.p,
                difference.verdict,
            ) == (0, 0, 0, 1, 0)
        assert (pair.wins, pair.losses, pair.p_corrected) == (0, 0, 1)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_swapped_systems_are_mirrored(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores, interval: str
) -> None:
    options: dict[str, Any] = {"n": 40, "interval": interval}
    comparison = sed.compare({"a": good, "b": bad}, truth, METRICS, **options)
    swapped = sed.compare({"b": bad, "a": good}, truth, METRICS, **options)
    for metric in METRICS:
        pair, mirrored = comparison.differences[metric]["a", "b"], swapped.differences[metric]["b", "a"]
        for difference, other in [
            (pair, mirrored),
            *((pair.per_class[label], mirrored.per_class[label]) for label in comparison.classes),
        ]:
            assert other.value == -difference.value
            np.testing.assert_array_equal(other.values, -difference.values)
            assert [other.low, other.high] == pytest.approx(
                [-difference.high, -difference.low], abs=1e-12
            )
            assert (other.p, other.verdict) == (difference.p, -difference.verdict)
        assert (pair.wins, pair.losses) == (mirrored.losses, mirrored.wins)


def test_lower_is_better(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    comparison = sed.compare({"good": good, "bad": bad}, truth, [PSDS, RATE], n=100)
    psds, rate = (comparison.differences[metric]["good", "bad"] for metric in (PSDS, RATE))
    assert psds.value > 0 > rate.value
    assert psds.verdict == rate.verdict == 1
    assert rate.wins > rate.losses
    assert not rate.higher_is_better


@pytest.mark.parametrize(
    ("low", "high", "higher_is_better", "verdict"),
    [
        (0.1, 0.2, True, 1),
        (0.1, 0.2, False, -1),
        (-0.2, -0.1, True, -1),
        (-0.2, -0.1, False, 1),
        (-0.1, 0.1, True, 0),
        (0.0, 0.1, True, 0),
        (-0.1, 0.0, False, 0),
        (np.nan, np.nan, True, 0),
    ],
)
def test_verdicts(low: float, high: float, higher_is_better: bool, verdict: int) -> None:
    from sedscope.evaluation.comparison_result import Difference

    assert Difference(0.0, low, high, np.zeros(1), 1.0, higher_is_better).verdict == verdict


# Several systems and runs


def holm(p_values: Sequence[float]) -> list[float]:
    """By its definition: reject in order of the values while p ≤ α / (number left)."""
    defined = [p for p in p_values if not np.isnan(p)]

    def corrected(p: float) -> float:
        left = [
            (other, len(defined) - sum(q < other for q in defined)) for other in defined if other <= p
        ]
        return min(1.0, max(number * other for other, number in left))

    return [np.nan if np.isnan(p) else corrected(p) for p in p_values]


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=8))
def test_holm(p_values: list[float]) -> None:
    assert _holm(p_values) == pytest.approx(holm(p_values), nan_ok=True)


def test_all_pairs_are_corrected_together(truth: sed.GroundTruth) -> None:
    systems = {f"s{i}": system(truth, quality) for i, quality in enumerate((0.5, 0.52, 0.56, 0.8))}
    comparison = sed.compare(systems, truth, [PSDS, RATE], n=80)
    for metric in (PSDS, RATE):
        pairs = comparison.differences[metric]
        assert list(pairs) == [(f"s{i}", f"s{j}") for i in range(4) for j in range(i + 1, 4)]
        p_values = [pair.p for pair in pairs.values()]
        assert [pair.p_corrected for pair in pairs.values()] == pytest.approx(holm(p_values))
        assert pairs["s0", "s3"].verdict == -1


def test_runs_of_a_system_are_averaged(truth: sed.GroundTruth, bad: sed.Scores) -> None:
    runs = [system(truth, 0.7, seed) for seed in range(3)]
    comparison = sed.compare({"runs": runs, "bad": bad}, truth, METRICS, n=30)
    alone = [sed.compare({"one": run, "bad": bad}, truth, METRICS, n=30) for run in runs]
    for metric in METRICS:
        value = comparison.values[metric]["runs"]
        each = [single.values[metric]["one"] for single in alone]
        assert value.runs == tuple(single.value for single in each)
        assert value.value == pytest.approx(np.mean(value.runs))
        assert value.spread == pytest.approx(np.std(value.runs, ddof=1))
        np.testing.assert_allclose(value.values, np.mean([single.values for single in each], axis=0))
        pairs = [single.differences[metric]["one", "bad"].values for single in alone]
        np.testing.assert_allclose(
            comparison.differences[metric]["runs", "bad"].values, np.mean(pairs, axis=0), atol=1e-12
        )
    assert " ± " in comparison.table()


def test_infinite_values() -> None:
    """d′ of clips that are separated perfectly, or the wrong way round."""
    clips = [f"clip{i}" for i in range(6)]
    truth = sed.GroundTruth.from_dict(
        {clip: [(0, 1, "Dog")] if i % 2 else [] for i, clip in enumerate(clips)},
        durations=dict.fromkeys(clips, 1.0),
    )
    right, wrong = (
        sed.Scores.from_arrays(
            {clip: [[i % 2 == is_right]] for i, clip in enumerate(clips)}, classes=["Dog"], frame=1.0
        )
        for is_right in (True, False)
    )
    metric = sed.DPrime(sed.Clip())
    systems: dict[str, Any] = {
        "right": [right, right],
        "same": right,
        "wrong": wrong,
        "both": [right, wrong],
    }
    comparison = sed.compare(systems, truth, metric, n=20)
    values = {name: comparison.values[metric][name].value for name in systems}
    assert values == pytest.approx(
        {"right": np.inf, "same": np.inf, "wrong": -np.inf, "both": np.nan}, nan_ok=True
    )
    pairs = comparison.differences[metric]
    assert (pairs["right", "same"].value, pairs["right", "same"].p) == (0, 1)
    assert pairs["right", "wrong"].value == np.inf
    assert pairs["right", "wrong"].verdict == 0  # no resample has a finite difference
    assert np.isnan(comparison.values[metric]["both"].spread)
    assert "inf" in comparison.table()


# The same clips and classes


def reordered(scores: sed.Scores, clips: Sequence[str], classes: Sequence[str]) -> sed.Scores:
    columns = [scores.classes.index(label) for label in classes]

    def load(clip: str) -> sed.ClipScores:
        of_clip = scores[clip]
        return sed.ClipScores.from_ticks(of_clip.values[:, columns], of_clip.ticks)

    return sed.Scores(clips, load, classes=classes, in_memory=True)


def test_the_order_of_clips_and_classes_does_not_matter(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores
) -> None:
    clips = np.random.default_rng(0).permutation(list(bad)).tolist()
    other = reordered(bad, clips, bad.classes[::-1])
    comparison = sed.compare({"a": good, "b": bad}, truth, METRICS, n=20)
    shuffled = sed.compare({"a": good, "b": other}, truth, METRICS, n=20)
    turned = sed.compare({"b": other, "a": good}, truth, METRICS, n=20)
    assert comparison.classes == shuffled.classes == turned.classes[::-1]
    for metric in METRICS:
        pair, same = comparison.differences[metric]["a", "b"], shuffled.differences[metric]["a", "b"]
        np.testing.assert_array_equal(pair.values, same.values)
        mirrored = turned.differences[metric]["b", "a"]
        np.testing.assert_array_equal(pair.values, -mirrored.values)


@ignoring("have no scores and were left out")
def test_clips_that_all_have_scored(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    clips = list(good)
    first = reordered(good, clips[:30], good.classes)
    second = reordered(bad, clips[:9:-1], bad.classes)
    with pytest.raises(
        sed.SedscopeError, match=r"Not all systems have scores for 20 clips: .*--clips scored"
    ):
        sed.compare([first, second], truth, PSDS)
    comparison = sed.compare([first, second], truth, PSDS, n=20, clips="scored")
    assert (comparison.systems, comparison.clips) == (("system 1", "system 2"), 20)
    same = sed.compare([good, bad], truth, PSDS, n=20, clips=clips[10:30])
    for pair in (("system 1", "system 2"),):
        np.testing.assert_array_equal(
            comparison.differences[PSDS][pair].values, same.differences[PSDS][pair].values
        )
    nothing = reordered(bad, clips[30:], bad.classes)
    with pytest.raises(sed.SedscopeError, match="no clip that all systems have scores for"):
        sed.compare([first, nothing], truth, PSDS, clips="scored")


@ignoring("10 labels|[0-9]+ labels? of the ground truth")
def test_classes_that_all_have_scored(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    fewer = reordered(bad, list(bad), CLASSES)
    with pytest.raises(sed.SedscopeError, match=r"Not all systems score the same classes: .*Blender"):
        sed.compare([good, fewer], truth, PSDS)
    comparison = sed.compare([good, fewer], truth, PSDS, n=20, classes=iter(CLASSES))
    same = sed.compare([good, bad], truth, PSDS, n=20, classes=CLASSES)
    assert comparison.classes == CLASSES
    assert [value.value for value in comparison.values[PSDS].values()] == [
        value.value for value in same.values[PSDS].values()
    ]


def test_classes_without_references_are_named(truth: sed.GroundTruth, good: sed.Scores) -> None:
    events = {c: [e for e in truth.events(c) if e[2] != "Dog"] for c in truth.clips}
    without = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    with pytest.warns(sed.SedscopeWarning, match=r"1 class has no reference events.*: Dog"):
        comparison = sed.compare([good, good], without, PSDS, n=20)
    assert sum("no reference events" in note for note in comparison.warnings) == 1
    assert np.isnan(comparison.differences[PSDS]["system 1", "system 2"].per_class["Dog"].p)
    assert "nan" in comparison.class_table(PSDS)


def test_groups_and_balanced_draws(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    groups = {clip: i // 4 for i, clip in enumerate(good)}
    options: dict[str, Any] = {"n": 20, "groups": groups, "balanced": True, "seed": 9}
    comparison = sed.compare([good, bad], truth, PSDS, **options)
    deltas = sed.deltas(good, truth, PSDS.criterion)
    alone = sed.bootstrap(deltas, PSDS, **options)
    np.testing.assert_array_equal(comparison.values[PSDS]["system 1"].values, alone.values)
    assert "20 balanced resamples of groups of clips" in comparison.table()


def test_progress_goes_over_all_systems(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores
) -> None:
    seen: list[tuple[int, int]] = []
    sed.compare([good, bad], truth, RATE, n=5, progress=lambda done, of: seen.append((done, of)))
    assert seen == sorted(seen)
    assert seen[-1] == (80, 80)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": lambda a, b: a}, "Give several systems"),
        ({"systems": lambda a, b: [a]}, "at least 2 systems, not 1"),
        ({"systems": lambda a, b: {}}, "at least 2 systems, not 0"),
        ({"systems": lambda a, b: {"a": a, "b": []}}, "b must be given as Scores"),
        ({"systems": lambda a, b: {"a": a, "b": 3, "c": None}}, "b, c must be given as Scores"),
        ({"systems": lambda a, b: {"a": a, 2: b}}, "name of a system must be a string, not 2"),
        ({"systems": lambda a, b: {"a": a, "": b}}, "name of a system must be a string, not ''"),
        ({"metrics": []}, "There is no metric"),
        ({"metrics": 0.7}, "Not a metric: 0.7"),
        ({"n": 0}, "n=0"),
        ({"confidence": 1.5}, "confidence=1.5"),
        ({"interval": "normal"}, "interval='normal'"),
        ({"clips": "all"}, "clips='all' is not valid. Give a list of clips, or 'scored'"),
        ({"clips": []}, "no clip"),
        ({"clips": ["nowhere"]}, "1 chosen clip has no scores: nowhere"),
        ({"classes": "Dog"}, "classes must be a list of names, not 'Dog'"),
        ({"classes": []}, "no class to evaluate"),
        ({"classes": ["Cow"]}, "a: 1 class has no scores: Cow"),
        ({"groups": {}}, "40 clips have no group"),
    ],
)
def test_invalid_input(
    truth: sed.GroundTruth,
    good: sed.Scores,
    bad: sed.Scores,
    change: dict[str, Any],
    message: str,
) -> None:
    make: Callable[[Any, Any], Any] = change.pop("systems", lambda a, b: {"a": a, "b": b})
    options = {"metrics": PSDS, "n": 5, **change}
    with pytest.raises(sed.SedscopeError, match=re.escape(message)):
        sed.compare(make(good, bad), truth, **options)


def test_a_system_without_a_label_of_the_ground_truth_is_named(
    truth: sed.GroundTruth, good: sed.Scores
) -> None:
    other = sed.Scores(
        list(good), good.__getitem__, classes=[f"x{label}9" for label in good.classes], in_memory=True
    )
    with pytest.raises(sed.SedscopeError, match=r"^B: No label of the system is a label of the ground"):
        sed.compare({"A": good, "B": other}, truth, PSDS)
