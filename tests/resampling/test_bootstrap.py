"""Resampling: the values of each resample, the draws, the intervals."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope import _native
from sedscope.metrics import Metric
from sedscope.resampling.draws import _bca_tail
from sedscope.resampling.resampled_metric import ResampledMetric

from ..support import oracle
from ..support.examples import METRICS
from ..support.passes import find_all_deltas, find_deltas
from ..support.resamples import all_values, measure_resampled, repeated, weighted_cases
from ..support.strategies import name, to_scores, to_truth

PSDS = sed.PSDS(sed.Intersection(0.5, 0.5, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=1, unit="second")


def small_set(clips: int = 40, seed: int = 0) -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(clips, seed=seed)
    return sed.simulate.scores(truth, frame=0.1, seed=seed), truth


def deltas_of(metric: Metric[Any], clips: int = 40) -> sed.Deltas:
    scores, truth = small_set(clips)
    return sed.deltas(scores, truth, metric.criterion)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@settings(max_examples=40)
@given(case=weighted_cases(), threads=st.sampled_from([1, 3]), dtype=st.sampled_from(["f4", "f8"]))
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_each_resample_equals_evaluating_its_clips(
    metric: Metric[Any], case: tuple[list[oracle.Clip], NDArray[np.int32]], threads: int, dtype: str
) -> None:
    clips, weights = case
    kind = np.dtype(dtype).type
    deltas = deltas_with_all(clips, metric, kind)
    values, class_values = measure_resampled(deltas, metric, weights, threads)
    for i, row in enumerate(weights):
        of_set = repeated(clips, row)
        if not of_set:
            continue
        result = sed.evaluate(to_scores(of_set, kind), to_truth(of_set), metric)[metric]
        expected = all_values(result)
        np.testing.assert_allclose([values[i], *class_values[i]], expected, rtol=1e-12, atol=1e-12)


def deltas_with_all(clips: list[oracle.Clip], metric: Metric[Any], kind: type) -> sed.Deltas:
    """As `sed.deltas`, but with all that the metric needs."""
    return find_all_deltas(to_scores(clips, kind), to_truth(clips), [metric])[metric.criterion]


IN_THE_CORE: list[Metric[Any]] = [
    PSDS,
    replace(PSDS, alpha_ct=0),
    sed.BestFScore(sed.Collar()),
    sed.BestFScore(sed.IoU(0.3), beta=0.7, average="weighted"),
    sed.BestFScore(sed.Collar(), beta=2, average="micro"),
    sed.AveragePrecision(sed.Collar()),
    sed.AveragePrecision(sed.IoU(0.3), average="weighted", interpolation="voc"),
    sed.AveragePrecision(sed.Segment(1.0), average="micro"),
    sed.RecallAtFalseAlarms(sed.Collar(), 300),
    sed.RecallAtFalseAlarms(sed.IoU(0.3), 400, average="micro"),
    sed.MissRateAtFalseAlarms(sed.Collar(), 5000, per="day", average="weighted"),
]
AT_A_THRESHOLD: list[Metric[Any]] = [
    sed.ErrorRate(sed.Segment(1.0), threshold=0.4, average="micro"),
    sed.ErrorRate(sed.Collar(), threshold=0.4, average="micro"),
]


@pytest.mark.parametrize("metric", [*IN_THE_CORE, *AT_A_THRESHOLD], ids=repr)
@given(case=weighted_cases(), dtype=st.sampled_from(["f4", "f8"]))
def test_what_the_core_measures_has_the_same_bits_as_from_counts(
    metric: Metric[Any], case: tuple[list[oracle.Clip], NDArray[np.int32]], dtype: str
) -> None:
    clips, weights = case
    deltas = deltas_with_all(clips, metric, np.dtype(dtype).type)
    assert_bits_of_counts(deltas, metric, weights)


@pytest.mark.parametrize(
    "metric", [sed.presets.PSDS1, sed.presets.PSDS2, *IN_THE_CORE[2:5], *IN_THE_CORE[-3:]], ids=repr
)
@pytest.mark.parametrize("factor", [1, 3 * 2**16])  # counts that a float32 holds, and others
def test_scores_that_no_resample_reads_are_left_out(metric: Metric[Any], factor: int) -> None:
    deltas = deltas_of(metric, clips=60)
    weights = factor * sed.Resampling(n=40).draw(deltas.clips)
    assert_bits_of_counts(deltas, metric, weights)
    *_, kept = ResampledMetric(
        deltas, metric, weights, 2
    )._sources  # the last one of all classes together
    assert kept.tables.rows() < 0.8 * deltas.tables.rows()


def assert_bits_of_counts(deltas: sed.Deltas, metric: Metric[Any], weights: NDArray[np.int32]) -> None:
    values, class_values = measure_resampled(deltas, metric, weights, 2)
    for i, row in enumerate(weights):
        if row.any():
            expected = all_values(metric.measure(deltas.counts(weights=row)))
            np.testing.assert_array_equal([values[i], *class_values[i]], expected)


def test_large_changes_in_unread_scores_take_several_rows() -> None:
    #                    clip a, whose false positives rise by 300 and fall by 10        clip b
    scores = np.concatenate([np.linspace(1, 0.5, 300), np.linspace(0.4, 0.3, 10), [0.9, 0.2]])
    fp = np.array([1] * 300 + [-1] * 10 + [1, 1], np.int8)
    rows = _native.DetectionDeltas(
        starts=np.array([[0, 310, 312]]), scores=scores, tp=np.zeros_like(fp), fp=fp
    )
    ranges = _native.ScoreRanges(rows, None, 100, 1)
    number = ranges.fewest(0).shape[1]
    assert number > 2
    assert ranges.fp(0)[:, -1].tolist() == [290, 2]
    assert (ranges.fewest(0) <= ranges.fp(0)).all()
    unread = np.arange(number) < number - 1  # all but the last range
    merged, _ = ranges.without([unread], 1)
    ends = merged.starts[0].tolist()
    assert merged.fp[: ends[1]].sum(dtype=int) == 290
    assert merged.scores[: ends[1]].tolist().count(0.5) == 3  # 127 + 127 + the rest
    assert merged.fp[ends[1] :].sum() == 2


def test_large_weights_do_not_overflow() -> None:
    deltas = deltas_of(sed.presets.PSDS1)
    weights = np.full((1, len(deltas.clips)), 2**24, np.int32)
    values, _ = measure_resampled(deltas, sed.presets.PSDS1, weights, 1)
    assert values[0] == pytest.approx(sed.presets.PSDS1.measure(deltas.counts()).value, rel=1e-12)


def test_draws_do_not_depend_on_the_order_of_clips() -> None:
    clips = [name(i) for i in range(20)]
    resampling = sed.Resampling(n=7, seed=3)
    drawn = resampling.draw(clips)
    assert (drawn.sum(axis=1) == 20).all()
    np.testing.assert_array_equal(resampling.draw(clips[::-1]), drawn[:, ::-1])
    assert (sed.Resampling(n=7, seed=4).draw(clips) != drawn).any()


def test_balanced_draws_take_every_clip_equally_often() -> None:
    drawn = sed.Resampling(n=50, balanced=True).draw([name(i) for i in range(13)])
    assert (drawn.sum(axis=0) == 50).all()
    assert (drawn.sum(axis=1) == 13).all()
    assert drawn.max() > 1


def test_groups_are_drawn_whole() -> None:
    clips = [name(i) for i in range(12)]
    groups = {f"audio/{clip}.wav": i % 3 for i, clip in enumerate(clips)}
    drawn = sed.Resampling(n=20, groups=groups).draw(clips)
    assert (drawn.reshape(20, 4, 3) == drawn[:, None, :3]).all()
    assert (drawn[:, :3].sum(axis=1) == 3).all()


def test_draws_depend_neither_on_the_names_nor_on_the_kind_of_groups() -> None:
    clips = [name(i) for i in range(12)]
    kinds = (
        lambda i: i,
        lambda i: f"site {9 - i}",
        lambda i: (None, complex(i)),
        lambda i: frozenset([i]),
    )
    drawn = [
        sed.Resampling(n=20, groups={clip: kind(i // 3) for i, clip in enumerate(clips)}).draw(clips)
        for kind in kinds
    ]
    for other in drawn[1:]:
        np.testing.assert_array_equal(other, drawn[0])


def test_groups_widen_the_interval_of_clips_that_are_alike() -> None:
    truth = sed.simulate.ground_truth(30)
    scores = sed.simulate.scores(truth, frame=0.1)
    copies = {f"{clip}-{k}": clip for clip in scores for k in range(4)}
    many = sed.Scores.from_function(copies, lambda copy: scores[copies[copy]], classes=scores.classes)
    events = {copy: truth.events(clip) for copy, clip in copies.items()}
    repeated_truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(copies, 10.0))
    deltas = sed.deltas(many, repeated_truth, sed.presets.PSDS1.criterion)
    alone = sed.bootstrap(deltas, sed.presets.PSDS1, resampling=300)
    grouped = sed.bootstrap(deltas, sed.presets.PSDS1, resampling=sed.Resampling(n=300, groups=copies))
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)
    assert grouped.value == alone.value


def test_percentile_interval() -> None:
    deltas = deltas_of(sed.presets.PSDS1)
    resampling = sed.Resampling(n=200, confidence=0.9, interval="percentile")
    summary = sed.bootstrap(deltas, sed.presets.PSDS1, resampling=resampling)
    assert len(summary.values) == 200
    assert summary.value == sed.presets.PSDS1.measure(deltas.counts()).value
    assert [summary.low, summary.high] == np.quantile(summary.values, [0.05, 0.95]).tolist()
    assert summary.low < summary.value < summary.high
    for label, interval in summary.per_class.items():
        defined = interval.values[~np.isnan(interval.values)]
        assert len(defined) == 200 - interval.undefined, label
        assert interval.low <= interval.value <= interval.high


def test_bca_interval_follows_its_formula() -> None:
    metric = sed.FScore(sed.Segment(1.0), threshold=0.3)
    deltas = deltas_of(metric)
    interval = sed.bootstrap(deltas, metric, resampling=sed.Resampling(n=400, seed=5, interval="bca"))
    normal = NormalDist()
    clips = len(deltas.clips)
    left_out = [
        metric.measure(deltas.counts(weights=(np.arange(clips) != i).astype(np.int32))).value
        for i in range(clips)
    ]
    gaps = np.mean(left_out) - np.array(left_out)
    acceleration = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)
    bias = normal.inv_cdf(float(np.mean(interval.values < interval.value)))
    tails = [normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in (-1.96, 1.96)]
    expected = np.quantile(interval.values, tails)
    np.testing.assert_allclose([interval.low, interval.high], expected, atol=1e-4)
    assert (interval.low, interval.high) != (
        np.quantile(interval.values, 0.025),
        np.quantile(interval.values, 0.975),
    )


def test_bca_intervals_that_would_reach_beyond_all_resamples() -> None:
    """One clip that decides everything, and a confidence that asks for more than there is."""
    clips = [name(i) for i in range(30)]
    truth = sed.GroundTruth.from_dict(
        {clip: [(0, 1, "Dog")] * (i == 0) for i, clip in enumerate(clips)},
        durations=dict.fromkeys(clips, 2.0),
    )
    arrays = {clip: [[0.9], [0.1]] for clip in clips}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    metric = sed.ErrorRate(sed.Clip())
    deltas = sed.deltas(scores, truth, metric.criterion)
    for confidence in (0.5, 0.9, 0.999999999):
        interval = sed.bootstrap(
            deltas, metric, resampling=sed.Resampling(n=300, confidence=confidence, interval="bca")
        )
        defined = interval.values[np.isfinite(interval.values)]
        assert defined.min() <= interval.low <= interval.high <= defined.max()


@pytest.mark.parametrize(
    ("acceleration", "tail", "expected"), [(1, 0.9999, 1.0), (-1, 0.0001, 0.0), (1, 0.0001, None)]
)
def test_bca_tails_stop_at_the_last_resample(
    acceleration: int, tail: float, expected: float | None
) -> None:
    values = np.arange(1000.0)
    jackknife = acceleration * np.array([0.0] * 10 + [-1.0])
    level = _bca_tail(tail, 999.0 if acceleration > 0 else 0.0, values, jackknife)
    assert 0 <= level <= 1
    assert expected is None or level == expected


def test_a_class_that_vanishes_is_counted() -> None:
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog")], "b": [(0, 1, "Cat")], "c": [(0, 1, "Cat")], "d": []},
        durations=dict.fromkeys("abcd", 2.0),
    )
    arrays = {clip: [[0.9, 0.8], [0.2, 0.1]] for clip in "abcd"}
    scores = sed.Scores.from_arrays(arrays, classes=["Cat", "Dog"], frame=1.0)
    metric = sed.BestFScore(sed.Clip())
    interval = sed.bootstrap(sed.deltas(scores, truth, metric.criterion), metric, resampling=500)
    dog, cat = interval.per_class["Dog"], interval.per_class["Cat"]
    assert dog.undefined == np.isnan(dog.values).sum() > cat.undefined > 0
    assert np.isfinite([dog.low, dog.high]).all()
    gone = np.isnan(dog.values) & np.isnan(cat.values)
    assert interval.undefined == gone.sum()


def test_a_class_without_references_is_undefined_throughout() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": []}, durations={"a": 2.0, "b": 2.0})
    scores = sed.Scores.from_arrays(
        {clip: [[0.9, 0.8], [0.2, 0.1]] for clip in "ab"}, classes=["Cat", "Dog"], frame=1.0
    )
    interval = sed.bootstrap(sed.deltas(scores, truth, PSDS.criterion), PSDS, resampling=50)
    cat = interval.per_class["Cat"]
    assert cat.undefined == 50
    assert np.isnan([cat.value, cat.low, cat.high]).all()


def test_weights_replace_draws() -> None:
    deltas = deltas_of(PSDS)
    weights = np.array([[1] * 40, [2] * 20 + [0] * 20])
    interval = sed.bootstrap(deltas, PSDS, weights=weights)
    assert interval.resampling.n == 2
    assert interval.values[0] == interval.value
    assert interval.values[1] == PSDS.measure(deltas.counts(weights=weights[1])).value


def test_pruned_deltas_are_refused_where_resamples_need_more() -> None:
    scores, truth = small_set()
    limited = {PSDS.criterion: {"false_positive_limit": 0.01 * PSDS.false_positive_limit}}
    deltas = find_deltas(scores, truth, limited)[PSDS.criterion]
    with pytest.raises(sed.SedscopeError, match="do not reach down as far as some resamples need"):
        sed.bootstrap(deltas, PSDS, resampling=50)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n=0 must be a whole number of at least 1"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"n": True}, "n=True must be a whole number"),
        ({"seed": -1}, "seed=-1"),
        ({"confidence": 0}, "confidence=0 must be above 0"),
        ({"confidence": 1}, "confidence=1 must be below 1"),
        ({"interval": "normal"}, "Choose 'subsampling' or 'percentile' or 'bca'"),
        ({"balanced": 1}, "balanced=1 must be True or False"),
        ({"groups": {"clip_00": 1}}, "39 clips have no group"),
        (
            {"groups": dict.fromkeys([f"clip_{i:02}" for i in range(40)], 1)},
            "at least 2 groups of clips, not 1",
        ),
        ({"groups": ["clip_00"]}, "groups must be a mapping"),
        ({"groups": {"clip_00": [1]}}, r"Groups must be .*clip_00: \[1\]"),
        ({"weights": [1, 2]}, "weights must be"),
        ({"weights": [[1] * 40, [1]]}, "rows differ in length"),
        ({"weights": [[2**24 + 1] * 40]}, "whole numbers from 0"),
        ({"weights": [[True] * 40]}, "whole numbers from 0"),
        ({"weights": [[-1] * 40]}, "whole numbers from 0"),
        ({"weights": [[0.5] * 40]}, "whole numbers from 0"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    weights = options.pop("weights", None)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.bootstrap(deltas_of(PSDS), PSDS, sed.Resampling(**options), weights=weights)


def test_one_clip_cannot_be_resampled() -> None:
    with pytest.raises(sed.SedscopeError, match="at least 2 clips, not 1"):
        sed.bootstrap(deltas_of(PSDS, clips=1), PSDS)


def test_a_metric_of_another_criterion_is_refused() -> None:
    with pytest.raises(sed.SedscopeError, match=r"needs deltas of Intersection\(dtc=0.7"):
        sed.bootstrap(deltas_of(PSDS), sed.presets.PSDS1)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_bands_of_recall_are_the_intervals_of_each_limit() -> None:
    metric = sed.RecallAtFalseAlarms(sed.IoU(0.3), false_alarms=100)
    deltas = deltas_of(metric)
    resampling = sed.Resampling(50, confidence=0.8, interval="percentile")
    result = sed.evaluate_deltas(deltas, metric, resampling=resampling)[metric]
    curve = result.per_class["Speech"].curve
    assert curve is not None
    band = curve.band
    assert band is not None
    for rate in (0, 40, 150):
        limited = replace(metric, false_alarms=float(band.per_hour[rate]))
        interval = sed.bootstrap(deltas, limited, resampling).per_class["Speech"]
        assert (band.low[rate], band.high[rate]) == (interval.low, interval.high)
