"""Comparison of systems: values, paired differences, corrections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.ranking.differences import Difference, PairDifference
from sedscope.ranking.significance import is_significant, level_of, p_text, resamples_needed, step_down

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
    comparison = sed.compare(
        {"good": good, "bad": bad},
        truth,
        METRICS,
        resampling=sed.Resampling(n=60, seed=3, interval="bca"),
    )
    resampling = sed.Resampling(60, seed=3, interval="bca")
    assert (comparison.systems, comparison.clips, comparison.metrics) == (
        ("good", "bad"),
        40,
        tuple(METRICS),
    )
    for name, scores in (("good", good), ("bad", bad)):
        result = sed.evaluate(scores, truth, METRICS, resampling=resampling)
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
    resampling = sed.Resampling(n=60, confidence=0.9, interval="percentile")
    comparison = sed.compare({"good": good, "bad": bad}, truth, METRICS, resampling=resampling)
    for metric in METRICS:
        better, worse = (comparison.values[metric][name] for name in ("good", "bad"))
        pair = comparison.differences[metric]["bad", "good"]
        assert list(comparison.differences[metric]) == [("bad", "good")]  # the later minus the earlier
        assert pair.value == worse.value - better.value
        np.testing.assert_array_equal(pair.values, worse.values - better.values)
        assert [pair.low, pair.high] == pytest.approx(np.quantile(pair.values, [0.05, 0.95]))
        assert pair.p == p_value(pair.value, pair.values)
        assert pair.p_corrected == pair.p
        for label, of_class in pair.per_class.items():
            values = [value.per_class[label].values for value in (better, worse)]
            np.testing.assert_array_equal(of_class.values, values[1] - values[0])
            assert [of_class.p] == pytest.approx([p_value(of_class.value, of_class.values)], nan_ok=True)
        # paired: much surer than each alone
        assert pair.deviation < np.hypot(better.deviation, worse.deviation)


def p_value(difference: float, values: Iterable[float]) -> float:
    """The share of resamples as far from the difference as it is from 0, the set itself being one of them."""
    defined = [value for value in values if np.isfinite(value)]
    if not np.isfinite(difference) or not defined:
        return np.nan
    beyond = sum(abs(value - difference) >= abs(difference) * (1 - 1e-9) for value in defined)
    return (beyond + 1) / (len(defined) + 1)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_identical_systems(truth: sed.GroundTruth, good: sed.Scores, interval: str) -> None:
    metrics: list[Metric[Any]] = [*METRICS, sed.DPrime(sed.Clip()), sed.BestFScore(sed.Collar())]
    comparison = sed.compare(
        {"a": good, "b": good}, truth, metrics, resampling=sed.Resampling(n=30, interval=interval)
    )
    for of_metric in comparison.differences.values():
        pair = of_metric["b", "a"]
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
def test_values_that_differ_by_rounding_are_equal(interval: str) -> None:
    # of 9 other segments 6 have lower scores than the reference, so both systems have 2 / 3
    values = {
        "a": [0.9, 0.0, 0.5, 0.5, 0.1, 0.5, 0.5, 0.1, 0.5, 0.0],
        "b": [0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.0],
    }
    clips = [f"clip{i:02}" for i in range(12)]
    truth = sed.GroundTruth.from_dict(
        {clip: [(5, 6, "Dog")] for clip in clips}, durations=dict.fromkeys(clips, 10)
    )
    systems = {
        name: sed.Scores.from_arrays(
            dict.fromkeys(clips, np.array(column)[:, None]), classes=["Dog"], frame=1.0
        )
        for name, column in values.items()
    }
    auroc = sed.AUROC(sed.Segment(1.0))
    result = sed.compare(systems, truth, auroc, resampling=sed.Resampling(n=99, interval=interval))
    assert result.values[auroc]["a"].value != result.values[auroc]["b"].value
    difference = result.differences[auroc]["b", "a"]
    assert (difference.value, difference.p, difference.verdict) == (0, 1, 0)
    assert not difference.values.any()


@pytest.mark.parametrize("interval", ["subsampling", "percentile", "bca"])
def test_swapped_systems_are_mirrored(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores, interval: str
) -> None:
    options: dict[str, Any] = {"resampling": sed.Resampling(40, interval=interval)}
    comparison = sed.compare({"a": good, "b": bad}, truth, METRICS, **options)
    swapped = sed.compare({"b": bad, "a": good}, truth, METRICS, **options)
    for metric in METRICS:
        pair, mirrored = comparison.differences[metric]["b", "a"], swapped.differences[metric]["a", "b"]
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


def test_lower_is_better(truth: sed.GroundTruth, good: sed.Scores) -> None:
    comparison = sed.compare(
        {"good": good, "bad": system(truth, 0.3)}, truth, [PSDS, RATE], resampling=100
    )
    psds, rate = (comparison.differences[metric]["bad", "good"] for metric in (PSDS, RATE))
    assert psds.value < 0 < rate.value
    assert psds.verdict == rate.verdict == -1
    assert rate.wins < rate.losses
    assert not rate.higher_is_better


@pytest.mark.parametrize(
    ("value", "p", "higher_is_better", "verdict"),
    [
        (0.1, 0.01, True, 1),
        (0.1, 0.01, False, -1),
        (-0.1, 0.05, True, -1),
        (-0.1, 0.05, False, 1),
        (0.1, 0.0501, True, 0),
        (0.0, 1.0, True, 0),
        (np.nan, np.nan, True, 0),
    ],
)
def test_verdicts(value: float, p: float, higher_is_better: bool, verdict: int) -> None:
    difference = Difference(value, -1.0, 1.0, np.zeros(1), p, 0.001, higher_is_better, 0.05)
    assert difference.verdict == verdict
    pair = PairDifference(value, -1.0, 1.0, np.zeros(1), 0.001, 0.001, higher_is_better, 0.05, p, {})
    assert pair.verdict == verdict  # the corrected p value decides


@given(
    st.integers(0, 400), st.integers(0, 3000), st.sampled_from([0.9, 0.95, 0.99]), st.integers(1, 500)
)
def test_p_values_as_text_are_on_the_right_side_of_the_level(
    elsewhere: int, more: int, confidence: float, pairs: int
) -> None:
    level = level_of(confidence)
    p = min(1.0, pairs * (2 * (1 + elsewhere) / (1 + elsewhere + more)))
    for at_most in (False, True):
        text = p_text(p, level, at_most=at_most)
        shown = float(text.removeprefix("< ").removeprefix("≤ "))
        assert (shown <= level) == is_significant(p, level)
        if at_most:
            assert 0 <= shown - p * (1 - 1e-12) <= 0.001


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_the_resamples_needed_are_the_fewest_that_allow_significance(confidence: float) -> None:
    number, level = resamples_needed(confidence), level_of(confidence)
    assert is_significant(1 / (1 + number), level)
    assert not is_significant(1 / number, level)


# Several systems and runs


def corrected_by_hand(values: Sequence[float], resampled: Sequence[Sequence[float]]) -> list[float]:
    """Each difference against the largest of those that are not larger, resample by resample."""
    errors = [
        np.sqrt(np.mean([(v - value) ** 2 for v in row if np.isfinite(v)]))
        for value, row in zip(values, resampled, strict=True)
    ]
    statistics = [abs(value) / error for value, error in zip(values, errors, strict=True)]
    corrected: dict[int, float] = {}
    for i in sorted(range(len(values)), key=lambda i: -statistics[i]):
        others = [j for j in range(len(values)) if statistics[j] <= statistics[i]]
        beyond = number = 0
        for k in range(len(resampled[0])):
            distances = [
                abs(resampled[j][k] - values[j]) / errors[j]
                for j in others
                if np.isfinite(resampled[j][k])
            ]
            number += bool(distances)
            beyond += bool(distances) and max(distances) >= statistics[i] * (1 - 1e-9)
        alone = p_value(values[i], resampled[i])
        corrected[i] = max([alone, (1 + beyond) / (1 + number), *corrected.values()])
    return [corrected[i] for i in range(len(values))]


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.booleans())
def test_p_values_of_several_differences_are_those_of_the_definition(
    seed: int, number: int, undefined: bool
) -> None:
    rng = np.random.default_rng(seed)
    together = rng.normal(0, 1, 60)
    values = rng.normal(0, 1.5, number)
    resampled = values[:, None] + rng.uniform(0, 1) * together + rng.normal(0, 0.7, (number, 60))
    if undefined:
        resampled[rng.random(resampled.shape) < 0.1] = np.nan
    p_values = step_down(values.tolist(), lambda i: resampled[i] - values[i])
    assert [p.corrected for p in p_values] == pytest.approx(
        corrected_by_hand(values.tolist(), resampled.tolist())
    )
    for value, row, p in zip(values, resampled, p_values, strict=True):
        assert p.alone == pytest.approx(p_value(value, row))
        assert p.least <= p.alone <= p.corrected <= 1
        assert p.least == 1 / (1 + np.isfinite(row).sum())
    errors = np.sqrt(np.nanmean((resampled - values[:, None]) ** 2, axis=1))
    order = np.argsort(-np.abs(values) / errors)
    in_order = [p_values[i].corrected for i in order]
    assert in_order == sorted(in_order)  # a clearer difference has no larger p value


def test_differences_without_noise_or_without_a_value() -> None:
    noise = [np.zeros(99), np.zeros(99), np.full(99, np.nan), np.full(99, 0.2)]
    same, constant, undefined, infinite = step_down([0.0, 0.1, 0.1, np.inf], lambda i: noise[i])
    assert same[:2] == (1.0, 1.0)
    assert constant == (0.01, 0.01, 0.01)
    assert np.isnan([*undefined, *infinite]).all()


def test_all_pairs_are_corrected_together(truth: sed.GroundTruth) -> None:
    systems = {f"s{i}": system(truth, quality) for i, quality in enumerate((0.5, 0.52, 0.56, 0.8))}
    comparison = sed.compare(systems, truth, [PSDS, RATE], resampling=80)
    assert "corrected for 6 pairs of systems (Westfall and Young)" in comparison.table()
    for metric in (PSDS, RATE):
        pairs = comparison.differences[metric]
        assert list(pairs) == [(f"s{j}", f"s{i}") for i in range(4) for j in range(i + 1, 4)]
        values = [pair.value for pair in pairs.values()]
        resampled = [pair.values.tolist() for pair in pairs.values()]
        assert [pair.p_corrected for pair in pairs.values()] == pytest.approx(
            corrected_by_hand(values, resampled)
        )
        for pair in pairs.values():
            assert (pair.verdict != 0) == (pair.p_corrected <= 0.05)


def test_too_few_resamples_for_the_confidence_are_said(truth: sed.GroundTruth) -> None:
    systems = {f"s{i}": system(truth, 0.3 + 0.25 * i) for i in range(3)}
    enough = sed.compare(systems, truth, PSDS, resampling=sed.Resampling(confidence=0.995))
    best = enough.differences[PSDS]["s2", "s0"]
    assert (enough.pairs, best.verdict, best.p, best.p_corrected) == (3, 1, 1 / 1001, 1 / 1001)
    assert best.p_text == "≤ 0.001"
    assert "can be significant" not in enough.table()
    few = sed.compare(systems, truth, PSDS, resampling=sed.Resampling(100, confidence=0.995))
    assert {pair.verdict for pair in few.differences[PSDS].values()} == {0}
    assert few.differences[PSDS]["s2", "s0"].p_text == "≤ 0.010"
    assert "no p value of 100 resamples can be significant: that needs at least 199" in few.table()


def test_one_progress_that_never_runs_backwards(truth: sed.GroundTruth, good: sed.Scores) -> None:
    reports: list[tuple[int, int]] = []
    metrics: list[Metric[Any]] = [PSDS, RATE]
    sed.compare(
        {"a": good, "b": [good, good]},
        truth,
        metrics,
        resampling=99,
        run=sed.Run(progress=lambda *at: reports.append(at)),
    )
    total = 3 * (40 + 2 * (1 + 99 + 240))  # with the halves and quarters of the intervals
    assert {of for _, of in reports} == {total}
    assert reports[0] == (0, total)
    assert reports[-1] == (total, total)
    assert all(after > before for (before, _), (after, _) in pairwise(reports))


def test_runs_of_a_system_are_averaged(truth: sed.GroundTruth, bad: sed.Scores) -> None:
    runs = [system(truth, 0.7, seed) for seed in range(3)]
    comparison = sed.compare({"runs": runs, "bad": bad}, truth, METRICS, resampling=30)
    alone = [sed.compare({"one": run, "bad": bad}, truth, METRICS, resampling=30) for run in runs]
    for metric in METRICS:
        value = comparison.values[metric]["runs"]
        each = [single.values[metric]["one"] for single in alone]
        assert value.runs == tuple(single.value for single in each)
        assert value.value == pytest.approx(np.mean(value.runs))
        assert value.spread == pytest.approx(np.std(value.runs, ddof=1))
        np.testing.assert_allclose(value.values, np.mean([single.values for single in each], axis=0))
        pairs = [single.differences[metric]["bad", "one"].values for single in alone]
        np.testing.assert_allclose(
            comparison.differences[metric]["bad", "runs"].values, np.mean(pairs, axis=0), atol=1e-12
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
    comparison = sed.compare(systems, truth, metric, resampling=20)
    values = {name: comparison.values[metric][name].value for name in systems}
    assert values == pytest.approx(
        {"right": np.inf, "same": np.inf, "wrong": -np.inf, "both": np.nan}, nan_ok=True
    )
    pairs = comparison.differences[metric]
    assert (pairs["same", "right"].value, pairs["same", "right"].p) == (0, 1)
    assert pairs["wrong", "right"].value == -np.inf
    assert pairs["wrong", "right"].verdict == 0  # no resample has a finite difference
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
    comparison = sed.compare({"a": good, "b": bad}, truth, METRICS, resampling=20)
    shuffled = sed.compare({"a": good, "b": other}, truth, METRICS, resampling=20)
    turned = sed.compare({"b": other, "a": good}, truth, METRICS, resampling=20)
    assert comparison.classes == shuffled.classes == turned.classes[::-1]
    for metric in METRICS:
        pair, same = comparison.differences[metric]["b", "a"], shuffled.differences[metric]["b", "a"]
        np.testing.assert_array_equal(pair.values, same.values)
        mirrored = turned.differences[metric]["a", "b"]
        np.testing.assert_array_equal(pair.values, -mirrored.values)


@ignoring("have no scores and were left out")
def test_clips_that_all_have_scored(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    clips = list(good)
    first = reordered(good, clips[:30], good.classes)
    second = reordered(bad, clips[:9:-1], bad.classes)
    with pytest.raises(
        sed.SedscopeError, match=r"Not all systems have scores for 20 clips: .*`clips='scored'`"
    ):
        sed.compare([first, second], truth, PSDS)
    with pytest.warns(sed.SedscopeWarning) as caught:
        comparison = sed.compare([first, second], truth, PSDS, resampling=20, clips="scored")
    left_out = (
        "20 of the 40 clips in the ground truth were left out, because not all systems have scores"
    )
    assert any(str(warning.message).startswith(left_out) for warning in caught)
    assert (comparison.systems, comparison.clips) == (("system 1", "system 2"), 20)
    same = sed.compare([good, bad], truth, PSDS, resampling=20, clips=clips[10:30])
    for pair in (("system 2", "system 1"),):
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
    comparison = sed.compare([good, fewer], truth, PSDS, resampling=20, classes=iter(CLASSES))
    same = sed.compare([good, bad], truth, PSDS, resampling=20, classes=CLASSES)
    assert comparison.classes == CLASSES
    assert [value.value for value in comparison.values[PSDS].values()] == [
        value.value for value in same.values[PSDS].values()
    ]


def test_classes_without_references_are_named(truth: sed.GroundTruth, good: sed.Scores) -> None:
    events = {c: [e for e in truth.events(c) if e[2] != "Dog"] for c in truth.clips}
    without = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    with pytest.warns(sed.SedscopeWarning, match=r"1 class has no reference events.*: Dog"):
        comparison = sed.compare([good, good], without, PSDS, resampling=20)
    assert sum("no reference events" in note for note in comparison.warnings) == 1
    assert np.isnan(comparison.differences[PSDS]["system 2", "system 1"].per_class["Dog"].p)
    assert "nan" in comparison.class_table(PSDS)


def test_groups_and_balanced_draws(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    groups = {clip: i // 4 for i, clip in enumerate(good)}
    drawn = sed.Resampling(20, groups=groups, balanced=True, seed=9)
    comparison = sed.compare([good, bad], truth, PSDS, resampling=drawn)
    deltas = sed.deltas(good, truth, PSDS.criterion)
    alone = sed.bootstrap(deltas, PSDS, drawn)
    np.testing.assert_array_equal(comparison.values[PSDS]["system 1"].values, alone.values)
    assert "20 balanced resamples of groups of clips" in comparison.table()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": lambda a, b: a}, "Give several systems"),
        ({"systems": lambda a, b: [a]}, "at least 2 systems, not 1"),
        ({"systems": lambda a, b: {}}, "at least 2 systems, not 0"),
        ({"systems": lambda a, b: {"a": a, "b": []}}, "b must have at least one run"),
        (
            {"systems": lambda a, b: {"a": a, "b": None, "c": 1}},
            "b: Scores cannot be made from NoneType",
        ),
        ({"systems": lambda a, b: {"a": a, 2: b}}, "name of a system must be a string, not 2"),
        ({"systems": lambda a, b: {"a": a, "": b}}, "name of a system must be a string, not ''"),
        ({"metrics": []}, "There is no metric"),
        ({"metrics": 0.7}, "Not a metric: 0.7"),
        ({"resampling": 0}, "n=0"),
        ({"clips": "all"}, "clips='all' is not valid. Give a list of clips, or 'scored'"),
        ({"clips": []}, "no clip"),
        ({"clips": ["nowhere"]}, "1 chosen clip has no scores: nowhere"),
        ({"classes": "Dog"}, "classes must be a list of names, not 'Dog'"),
        ({"classes": []}, "no class to evaluate"),
        ({"classes": ["Cow"]}, "a: 1 class has no scores: Cow"),
        ({"resampling": sed.Resampling(5, groups={})}, "40 clips have no group"),
    ],
)
def test_invalid_input(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores, change: dict[str, Any], message: str
) -> None:
    make: Callable[[Any, Any], Any] = change.pop("systems", lambda a, b: {"a": a, "b": b})
    options = {"metrics": PSDS, "resampling": 5, **change}
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


def test_warnings_name_the_system(truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores) -> None:
    logits = sed.Scores.from_arrays(
        {clip: 9 * bad[clip].values - 5 for clip in bad}, classes=bad.classes, frame=0.1
    )
    with pytest.warns(sed.SedscopeWarning, match="^b: The scores lie between") as caught:
        sed.compare({"a": good, "b": logits}, truth, RATE, resampling=20)
    assert not any(str(warning.message).startswith("a:") for warning in caught)


def test_a_published_value_is_compared_with_the_interval_of_the_system(
    truth: sed.GroundTruth, good: sed.Scores, bad: sed.Scores
) -> None:
    systems = {"baseline": 0.3, "good": good, "bad": bad, "best": 0.9}
    comparison = sed.compare(systems, truth, "psds1", resampling=50)
    plain = sed.compare({"good": good, "bad": bad}, truth, "psds1", resampling=50)["psds1"]
    compared = comparison["psds1"]
    assert comparison.systems == ("baseline", "good", "bad", "best")
    assert comparison.published == ("baseline", "best")
    assert {*compared.differences} == {
        *(("good", "baseline"), ("bad", "baseline"), ("bad", "good")),
        *(("best", "good"), ("best", "bad")),
    }
    value, difference = plain.values["good"], compared.differences["good", "baseline"]
    assert difference.value == pytest.approx(value.value - 0.3)
    assert (difference.low, difference.high) == pytest.approx((value.low - 0.3, value.high - 0.3))
    assert not difference.per_class
    assert compared.differences["bad", "good"].per_class["Dog"].value == pytest.approx(
        plain.differences["bad", "good"].per_class["Dog"].value
    )
    table = comparison.table()
    assert "0.3000 (published)" in table
    assert "published values are taken as exact: baseline, best" in table
    assert comparison.class_table("psds1").split()[:3] == ["class", "good", "bad"]
    rows = comparison.to_polars().filter(system="baseline")
    assert rows.select("class", "value", "low").rows() == [(None, 0.3, None)]


def test_published_values_that_cannot_be_compared(truth: sed.GroundTruth, good: sed.Scores) -> None:
    with pytest.raises(sed.SedscopeError, match=r"baseline: a published value belongs to one metric"):
        sed.compare({"good": good, "baseline": 0.3}, truth)
    with pytest.raises(sed.SedscopeError, match="All systems are published values"):
        sed.compare({"a": 0.2, "baseline": 0.3}, truth, "psds1")
    with pytest.raises(sed.SedscopeError, match="must be a finite number: baseline"):
        sed.compare({"good": good, "baseline": np.nan}, truth, "psds1")
    with pytest.raises(
        sed.SedscopeError, match=r"psds1 lies between 0 and 1.*baseline \(34\.2\).* by 100"
    ):
        sed.compare({"good": good, "baseline": 34.2}, truth, "psds1")


def test_a_note_on_several_systems_appears_once() -> None:
    truth = sed.GroundTruth.from_dict(
        {clip: [(1, 3, "Dog")] for clip in "abcdefghijkl"}, durations=dict.fromkeys("abcdefghijkl", 10.0)
    )
    rng = np.random.default_rng(0)
    long = {"a": 130, "b": 130}
    systems = {
        name: sed.Scores.from_arrays(
            {clip: rng.random((long.get(clip, 100), 1)) for clip in truth.clips},
            classes=["Dog"],
            frame=0.1,
        )
        for name in ("ours", "theirs")
    }
    with pytest.warns(sed.SedscopeWarning) as caught:
        sed.compare(systems, truth, "psds1", resampling=20)
    texts = [str(warning.message) for warning in caught]
    (note,) = [text for text in texts if "beyond the end of the clip" in text]
    assert note.startswith("ours, theirs: The scores of 2 clips go on")
    with pytest.warns(sed.SedscopeWarning) as caught:
        sed.rank(systems, truth, "psds1", resampling=20)
    (note,) = [str(one.message) for one in caught if "beyond the end of the clip" in str(one.message)]
    assert note.startswith("ours, theirs: ")
