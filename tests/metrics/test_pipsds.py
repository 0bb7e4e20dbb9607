"""Post-processing independent PSDS, compared with its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.postprocessing import (
    Chain,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    PerClass,
    PostProcessing,
)

from ..support import oracle
from ..support.oracle import psds as oracle_psds
from ..support.resamples import all_values, measure_resampled, repeated, weighted_cases
from ..support.strategies import LABELS, clip_lists, criteria, name, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

# clips are microseconds to a second long
seconds = st.sampled_from([0.0, 1e-6, 3e-6, 1e-5, 0.064, 0.2])
single = st.one_of(
    *(seconds.map(kind) for kind in (MedianFilter, MinimumDuration, MaximumGap, MovingAverage)),
    st.just(Chain()),
)
postprocessings = st.one_of(
    single,
    st.builds(Chain, single, single),
    st.dictionaries(st.sampled_from(LABELS), single, max_size=3).map(PerClass),
)
dtypes = st.sampled_from([np.float32, np.float64])


@st.composite
def metrics(draw: st.DrawFn) -> sed.PiPSDS:
    criterion = draw(criteria())
    return sed.PiPSDS(
        criterion,
        alpha_ct=draw(st.sampled_from([0.0, 0.5, 1.0])) if criterion.cttc else 0.0,
        alpha_st=draw(st.sampled_from([0.0, 1.0])),
        max_efpr=draw(st.floats(0.5, 1e6)),
        unit="second",
        postprocessing=draw(st.lists(postprocessings, min_size=1, max_size=4)),
    )


def measured(case: Sequence[oracle.Clip], metric: sed.PSDS, dtype: type = np.float64) -> Any:
    return sed.evaluate(to_scores(case, dtype), to_truth(case), metric)[metric]


def processed(
    case: Sequence[oracle.Clip], chosen: PostProcessing, dtype: type = np.float64
) -> list[oracle.Clip]:
    """The clips with post-processed scores."""
    scores = chosen(to_scores(case, dtype))
    return [
        oracle.Clip(
            edges=scores[name(i)].ticks.tolist(),
            scores={label: scores[name(i)].values[:, c].tolist() for c, label in enumerate(LABELS)},
            references=clip.references,
            duration=clip.duration,
        )
        for i, clip in enumerate(case)
    ]


def plain(metric: sed.PiPSDS) -> sed.PSDS:
    """The same without post-processing."""
    return sed.PSDS(metric.criterion, metric.alpha_ct, metric.alpha_st, metric.max_efpr, metric.unit)


def options_of(metric: sed.PSDS) -> dict[str, Any]:
    """What the oracle calls them."""
    criterion = metric.criterion
    return {
        **{"dtc": criterion.dtc, "gtc": criterion.gtc, "cttc": criterion.cttc},
        **{"alpha_ct": metric.alpha_ct, "unit": 1_000_000},
    }


@settings(max_examples=100)
@given(clip_lists, metrics(), dtypes)
def test_pipsds_is_that_of_the_oracle(case: list[oracle.Clip], metric: sed.PiPSDS, dtype: type) -> None:
    result = measured(case, metric, dtype)
    versions = [processed(case, chosen, dtype) for chosen in metric.variants]
    options = {**options_of(metric), "max_efpr": metric.max_efpr}
    expected = oracle_psds.pipsds(versions, LABELS, alpha_st=metric.alpha_st, **options)
    assert result.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
    for label in LABELS:
        expected = oracle_psds.pipsds(versions, [label], **options)
        assert result.per_class[label].value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@settings(max_examples=100)
@given(clip_lists, metrics(), dtypes)
def test_each_vertex_is_an_operating_point_of_its_postprocessing(
    case: list[oracle.Clip], metric: sed.PiPSDS, dtype: type
) -> None:
    result = measured(case, metric, dtype)
    options = options_of(metric)
    versions = {chosen: processed(case, chosen, dtype) for chosen in metric.variants}
    for label, of_class in result.per_class.items():
        curve = of_class.curve
        assert curve.efpr[0] == 0
        assert (np.diff(curve.efpr) > 0).all()
        assert (np.diff(curve.tpr) > 0).all()
        assert len(curve.postprocessing) == len(curve.scores) == len(curve.efpr)
        references = oracle.reference_count(case, label)
        points = zip(curve.efpr, curve.tpr, curve.scores, curve.postprocessing, strict=True)
        for efpr, tpr, score, chosen in points:
            if chosen is None:
                assert (efpr, tpr, score) == (0, 0, np.inf)
                continue
            clips = versions[chosen]
            count = oracle.intersection_count(
                clips, label, score, **{part: options[part] for part in ("dtc", "gtc", "cttc")}
            )
            rate = oracle_psds.effective_fpr(
                clips, label, count, alpha_ct=metric.alpha_ct, unit=1_000_000
            )
            assert count.tp / max(1, references) == tpr
            assert float(rate) == pytest.approx(efpr, rel=1e-12)


@settings(max_examples=50)
@given(clip_lists, metrics())
def test_one_postprocessing_is_psds_of_the_processed_scores(
    case: list[oracle.Clip], metric: sed.PiPSDS
) -> None:
    chosen = metric.variants[0]
    alone = sed.PiPSDS(
        metric.criterion,
        metric.alpha_ct,
        metric.alpha_st,
        metric.max_efpr,
        metric.unit,
        postprocessing=chosen,
    )
    result = measured(case, alone)
    truth = to_truth(case)
    expected = sed.evaluate(chosen(to_scores(case)), truth, plain(metric))[plain(metric)]
    np.testing.assert_array_equal(all_values(result), all_values(expected))
    for label in LABELS:
        curve, of_psds = result.per_class[label].curve, expected.per_class[label].curve
        for column in ("efpr", "tpr", "scores"):
            np.testing.assert_array_equal(getattr(curve, column), getattr(of_psds, column))


@settings(max_examples=50)
@given(clip_lists, metrics(), st.randoms(use_true_random=False))
def test_the_order_of_postprocessings_does_not_change_the_value(
    case: list[oracle.Clip], metric: sed.PiPSDS, random: Any
) -> None:
    shuffled = list(metric.variants)
    random.shuffle(shuffled)
    other = sed.PiPSDS(
        metric.criterion,
        metric.alpha_ct,
        metric.alpha_st,
        metric.max_efpr,
        metric.unit,
        postprocessing=[*shuffled, shuffled[0]],
    )
    np.testing.assert_array_equal(all_values(measured(case, metric)), all_values(measured(case, other)))


def test_of_equally_good_ones_the_first_is_named() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1], [0.9], [0.2]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    same, other = MinimumDuration(0.5), MedianFilter(0)
    for order in ([same, other], [other, same]):
        metric = sed.PiPSDS(sed.Intersection(0.7, 0.7), postprocessing=order)
        curve = sed.evaluate(scores, truth, metric)[metric].per_class["Dog"].curve
        assert curve.postprocessing == (order[0],)
        assert (curve.efpr.tolist(), curve.tpr.tolist(), curve.scores.tolist()) == ([0], [1], [0.9])


@settings(max_examples=60)
@given(metrics())
def test_as_text_and_back(metric: sed.PiPSDS) -> None:
    again = sed.parse_metric(repr(metric))
    assert again == metric
    assert hash(again) == hash(metric)
    assert repr(again) == repr(metric)
    assert again != plain(metric)


@settings(max_examples=25)
@given(clip_lists, metrics(), st.floats(0.01, 100))
def test_together_with_other_metrics_of_the_criterion(
    case: list[oracle.Clip], metric: sed.PiPSDS, share: float
) -> None:
    """Limits on false positives that differ, and counts that are shared, change nothing."""
    psds = sed.PSDS(metric.criterion, metric.alpha_ct, 0, metric.max_efpr * share, metric.unit)
    best = sed.BestFScore(metric.criterion)
    scores, truth = to_scores(case), to_truth(case)
    orders: list[list[Metric[Any]]] = [[metric, psds], [psds, metric], [metric, best, psds]]
    for chosen in orders:
        together = sed.evaluate(scores, truth, chosen)
        for each in chosen:
            alone = sed.evaluate(scores, truth, each)[each]
            np.testing.assert_array_equal(all_values(together[each]), all_values(alone))


@settings(max_examples=40)
@given(weighted_cases(), metrics(), dtypes, st.sampled_from([1, 3]))
def test_resampled_values_have_the_bits_of_counts(
    case: tuple[list[oracle.Clip], Any], metric: sed.PiPSDS, dtype: type, threads: int
) -> None:
    clips, weights = case
    deltas = sed.deltas(
        to_scores(clips, dtype), to_truth(clips), metric.criterion, postprocessing=metric.variants
    )
    values, class_values = measure_resampled(deltas, metric, weights, threads)
    for i, row in enumerate(weights):
        if row.any():
            resampled = [values[i], *class_values[i]]
            expected = all_values(metric.measure(deltas.counts(weights=row)))
            np.testing.assert_array_equal(resampled, expected)
            again = all_values(measured(repeated(clips, row), metric, dtype))
            np.testing.assert_allclose(resampled, again, rtol=1e-12, atol=1e-12)
        else:
            assert np.isnan([values[i], *class_values[i]]).all()


def test_intervals_of_an_evaluation() -> None:
    truth = sed.simulate.ground_truth(40)
    scores = sed.simulate.scores(truth, frame=0.1)
    metric = sed.PiPSDS(sed.Intersection(0.7, 0.7), alpha_st=1, postprocessing="MedianFilter(0|0.3|0.7)")
    psds = plain(metric)
    resampling = sed.Resampling(50, seed=2, interval="bca")
    result = sed.evaluate(scores, truth, [psds, metric], resampling=resampling)
    deltas = sed.deltas(scores, truth, metric.criterion, postprocessing=metric.variants)
    for each in (psds, metric):
        alone = sed.bootstrap(deltas, each, resampling=sed.Resampling(n=50, seed=2, interval="bca"))
        np.testing.assert_array_equal(result.intervals[each].values, alone.values)
        assert (result.intervals[each].low, result.intervals[each].high) == (alone.low, alone.high)
        assert result[each].value == alone.value
    assert (result.intervals[metric].values >= result.intervals[psds].values - 0.05).all()
    for row, weights in enumerate(resampling.draw(deltas.clips)[:5]):
        slow = metric.measure(deltas.counts(weights=weights)).value
        assert result.intervals[metric].values[row] == slow


def test_scores_of_mixed_float_types() -> None:
    rng = np.random.default_rng(3)
    truth = sed.simulate.ground_truth(12)
    arrays = {
        clip: rng.random((100, len(truth.labels)), dtype=np.float32 if i % 2 else np.float64)
        for i, clip in enumerate(truth.clips)
    }
    wide = {clip: array.astype(np.float64) for clip, array in arrays.items()}
    metric = sed.PiPSDS(
        sed.Intersection(0.1, 0.1), postprocessing=[MedianFilter(0.3), MovingAverage(0.3), Chain()]
    )
    results = [
        sed.evaluate(
            sed.Scores.from_arrays(values, classes=truth.labels, frame=0.1), truth, metric, resampling=20
        )
        for values in (arrays, wide)
    ]
    assert results[0][metric].value == results[1][metric].value > 0
    first, second = (result.intervals[metric].values for result in results)
    np.testing.assert_array_equal(first, second)


def test_counts_without_the_variants_are_refused() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1], [0.9]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    metric = sed.PiPSDS(sed.Intersection(0.7, 0.7), postprocessing="MedianFilter(0|0.3)")
    deltas = sed.deltas(scores, truth, metric.criterion, postprocessing=[MedianFilter(0)])
    with pytest.raises(sed.SedscopeError, match=r"no counts for MedianFilter\(seconds=0.3\)"):
        metric.measure(deltas.counts())
    with pytest.raises(sed.SedscopeError, match=r"no counts for MedianFilter\(seconds=0.3\)"):
        measure_resampled(deltas, metric, np.ones((1, 1), np.int32), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "PiPSDS needs post-processings, e.g."),
        ({"postprocessing": []}, "PiPSDS needs post-processings, e.g."),
        ({"postprocessing": ""}, "'' cannot be read"),
        ({"postprocessing": "Median(1)"}, "Median"),
        ({"postprocessing": "MedianFilter(1..0/0.1)"}, "is empty"),
        (
            {"postprocessing": [MedianFilter(1), 3, "x"]},
            "postprocessing= takes post-processings, not 3, 'x'",
        ),
        ({"postprocessing": 3}, "postprocessing= takes post-processings, not 3"),
        ({"postprocessing": [["a"]]}, "postprocessing= takes post-processings, not \\['a'\\]"),
        ({"postprocessing": [MedianFilter(1)], "oracle": False}, "oracle=False is not defined"),
    ],
)
def test_bad_definitions(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.PiPSDS(sed.Intersection(0.7, 0.7), **options)


def test_sets_of_detections_are_refused() -> None:
    metric = sed.PiPSDS(sed.Intersection(0.7, 0.7), postprocessing="MedianFilter(0|0.3)")
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    with pytest.raises(
        sed.SedscopeError, match="cannot be post-processed, but these metrics need it: PiPSDS"
    ):
        sed.evaluate_sets({0.5: {"a": [(1.0, 2.0, "Dog")]}}, truth, metric)
