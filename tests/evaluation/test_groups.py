"""Groups: the value of a group is that of its clips or classes alone, bit by bit."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.counting.deltas import of_classes, split_by_clip
from sedscope.evaluation.groups import length_bins, natural_order
from sedscope.metrics import Metric

from ..support.examples import METRICS
from ..support.random_sets import KINDS, random_set

# limits so low that floors of all clips lie above those that small groups need
LIMITED: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1, max_efpr=60),
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=10),
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=2000),
    sed.PiPSDS(sed.Intersection(0.7, 0.7), max_efpr=60, postprocessing="MedianFilter(0|0.3|1)"),
    sed.RecallAtFalseAlarms(sed.Collar(), false_alarms=20),
    sed.BestFScore(sed.Collar()),
    sed.FScore(sed.Intersection(0.5, 0.5), average="micro"),
    sed.AUROC(sed.Segment(1.0), max_fpr=0.1),
    sed.ErrorRate(sed.Collar(), average="micro"),
]


@pytest.fixture(autouse=True)
def _without_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        yield


def assert_same(group: sed.Evaluation, alone: sed.Evaluation) -> None:
    """All values and intervals are the same bits."""
    assert (group.clips, group.hours, group.classes) == (alone.clips, alone.hours, alone.classes)
    assert group.references == alone.references
    assert group.names == alone.names
    for metric, result in alone.results.items():
        assert_same_numbers(values_of(group[metric]), values_of(result))
        assert_same_numbers(group[metric].thresholds, result.thresholds)
    assert group.intervals.keys() == alone.intervals.keys()
    for metric, interval in alone.intervals.items():
        np.testing.assert_array_equal(group.intervals[metric].values, interval.values)
        assert_same_numbers(ends_of(group.intervals[metric]), ends_of(interval))


def values_of(result: Any) -> dict[str, float]:
    return {"": result.value} | {label: value.value for label, value in result.per_class.items()}


def ends_of(interval: Any) -> dict[str, float]:
    ends = {"low": interval.low, "high": interval.high}
    return ends | {f"{label} low": of_class.low for label, of_class in interval.per_class.items()}


def assert_same_numbers(group: Mapping[str, float], alone: Mapping[str, float]) -> None:
    assert {name: repr(number) for name, number in group.items()} == {
        name: repr(number) for name, number in alone.items()
    }


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.sampled_from(METRICS + LIMITED))
def test_a_group_has_the_values_of_its_clips_or_classes_alone(
    seed: int, kind: str, metric: Metric[Any]
) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = random_set(rng, kind)
    sites = {clip: str(rng.integers(3)) for clip in scores}
    kinds = {label: str(rng.integers(2)) for label in scores.classes}
    labels = [*scores.classes]
    result = sed.evaluate(
        scores, truth, metric, classes=labels, by=sed.By(clips=sites, classes=kinds), coverage="any"
    )
    for group, evaluation in result.groups["clips"].items():
        clips = [clip for clip in scores if sites[clip] == group]
        assert_same(
            evaluation, sed.evaluate(scores, truth, metric, classes=labels, clips=clips, coverage="any")
        )
    for group, evaluation in result.groups["classes"].items():
        classes = [label for label in labels if kinds[label] == group]
        assert_same(evaluation, sed.evaluate(scores, truth, metric, classes=classes, coverage="any"))
    assert_same(result, sed.evaluate(scores, truth, metric, classes=labels, coverage="any"))


def simulated(clips: int = 80) -> tuple[sed.Scores, sed.GroundTruth, dict[str, str]]:
    """Clips of a loud, a quiet and a small site: the floors of all clips are those of the loud one."""
    truth = sed.simulate.ground_truth(clips, classes=3, events_per_minute=6, seed=1)
    made = sed.simulate.scores(truth, frame=0.1, quality=0.6, seed=2)
    sites = {clip: ("loud", "quiet", "loud", "loud")[i % 4] for i, clip in enumerate(truth.clips)}
    sites |= dict.fromkeys(truth.clips[:2], "small")
    values = {clip: made[clip].values * (0.01 if sites[clip] == "quiet" else 1) for clip in truth.clips}
    arrays = {clip: sed.ClipScores(values[clip], made[clip].edges) for clip in truth.clips}
    scores = sed.Scores(arrays, arrays.__getitem__, classes=made.classes, in_memory=True)
    return scores, truth, sites


def test_floors_hold_for_every_group() -> None:
    scores, truth, sites = simulated(400)
    metrics = [metric for metric in LIMITED if metric.false_positive_limit is not None]
    for metric in metrics:  # one at a time, so that none reads further down for another
        result = sed.evaluate(scores, truth, metric, by=sites)
        for site, evaluation in result.groups["clips"].items():
            clips = [clip for clip in truth.clips if sites[clip] == site]
            assert_same(evaluation, sed.evaluate(scores, truth, metric, clips=clips))


@pytest.mark.parametrize(
    "resampling",
    [
        8,
        sed.Resampling(8, interval="percentile"),
        sed.Resampling(8, interval="bca"),
        sed.Resampling(8, balanced=True, seed=3),
    ],
    ids=["subsampling", "percentile", "bca", "balanced"],
)
def test_a_group_has_the_interval_of_its_clips_or_classes_alone(resampling: Any) -> None:
    scores, truth, sites = simulated(24)
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    result = sed.evaluate(
        scores, truth, LIMITED, by=sed.By(clips=sites, classes=kinds), resampling=resampling
    )
    assert_same(result, sed.evaluate(scores, truth, LIMITED, resampling=resampling))
    for site, evaluation in result.groups["clips"].items():
        clips = [clip for clip in truth.clips if sites[clip] == site]
        assert_same(evaluation, sed.evaluate(scores, truth, LIMITED, clips=clips, resampling=resampling))
    for kind, evaluation in result.groups["classes"].items():
        classes = [label for label in scores.classes if kinds[label] == kind]
        assert_same(
            evaluation, sed.evaluate(scores, truth, LIMITED, classes=classes, resampling=resampling)
        )


def test_blocks_of_time_are_drawn_from_their_group() -> None:
    truth = sed.simulate.ground_truth(3, seconds=600, classes=2, events_per_minute=4, seed=2)
    scores = sed.simulate.scores(truth, frame=0.2, seed=3)
    metrics = [sed.BestFScore(sed.IoU(0.3)), sed.ErrorRate(sed.Segment(1.0), average="micro")]
    sites = dict(zip(truth.clips, ("sea", "sea", "port"), strict=True))
    resampling = sed.Resampling(20, blocks=20)
    result = sed.evaluate(scores, truth, metrics, by=sites, resampling=resampling)
    for site, evaluation in result.groups["clips"].items():
        clips = [clip for clip in truth.clips if sites[clip] == site]
        assert_same(evaluation, sed.evaluate(scores, truth, metrics, clips=clips, resampling=resampling))
    kinds = dict(zip(scores.classes, ("common", "rare"), strict=True))
    with pytest.raises(sed.SedscopeError, match="`classes=`"):
        sed.evaluate(scores, truth, metrics, by=sed.By(classes=kinds), resampling=resampling)


def assert_same_groups(one: sed.Evaluation, other: sed.Evaluation) -> None:
    for kind, results in one.groups.items():
        for group, evaluation in results.items():
            assert_same(other.groups[kind][group], evaluation)


def test_a_checkpoint_gives_the_same_bits(tmp_path: Path) -> None:
    scores, truth, sites = simulated(24)
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    expected = sed.evaluate(scores, truth, LIMITED, by=sed.By(clips=sites, classes=kinds), resampling=10)
    for _ in range(2):  # the second run reads what the first one kept
        result = sed.evaluate(
            scores,
            truth,
            LIMITED,
            by=sed.By(clips=sites, classes=kinds),
            resampling=10,
            run=sed.Run(checkpoint=tmp_path),
        )
        assert_same_groups(expected, result)


def test_a_cluster_gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    scores, truth, sites = simulated(30)
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    metrics = LIMITED[:2] + LIMITED[-1:]
    expected = sed.evaluate(scores, truth, metrics, by=sed.By(clips=sites, classes=kinds), resampling=10)
    with distributed.Client(processes=False, dashboard_address=":0", n_workers=1) as client:
        result = sed.evaluate(
            scores,
            truth,
            metrics,
            by=sed.By(clips=sites, classes=kinds),
            resampling=10,
            run=sed.Run(engine="dask", scheduler=client),
        )
    assert_same_groups(expected, result)


def test_operating_points_apply_to_groups() -> None:
    scores, truth, sites = simulated()
    points = sed.OperatingPoints(dict.fromkeys(scores.classes, 0.4))
    f1 = sed.FScore(sed.Collar())
    result = sed.evaluate(scores, truth, f1, points=points, by=sites)
    for site, evaluation in result.groups["clips"].items():
        clips = [clip for clip in truth.clips if sites[clip] == site]
        assert_same(evaluation, sed.evaluate(scores, truth, f1, points=points, clips=clips))


@dataclass(frozen=True, repr=False)
class OnlyInSilence(sed.CustomCriterion):
    """A detection is false where no other class has references in the clip."""

    def clip_deltas(self, detections: Any, references: Any, others: Any) -> Any:
        from sedscope.criteria import FoundChanges

        silent = not any(len(events) for events in others.values())
        rows, fp = detections.changes(np.full(len(detections), silent))
        return FoundChanges(rows, np.zeros_like(fp), fp)


def test_criteria_that_see_other_classes_get_a_pass_of_their_own() -> None:
    scores, truth, _ = simulated(20)
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    metric = sed.FalseAlarmRate(OnlyInSilence(), threshold=0.2)
    result = sed.evaluate(scores, truth, metric, by=sed.By(classes=kinds))
    alone = sed.evaluate(scores, truth, metric, classes=[scores.classes[1]])
    assert_same(result.groups["classes"]["rare"], alone)
    assert alone[metric].value != result[metric].per_class[scores.classes[1]].value


@pytest.mark.parametrize("bootstrap", [None, 8])
def test_a_bin_of_lengths_has_the_values_of_its_criterion(bootstrap: int | None) -> None:
    scores, truth, sites = simulated(24)
    metrics: dict[str, Any] = {
        "psds": LIMITED[1],
        "f1": sed.BestFScore(sed.Collar()),
        "auroc": sed.AUROC(sed.Segment(1.0)),
    }
    result = sed.evaluate(
        scores, truth, metrics, by=sed.By(clips=sites, lengths=(1, 3)), resampling=bootstrap
    )
    assert_same(result, sed.evaluate(scores, truth, metrics, resampling=bootstrap))
    results = result.groups["lengths"]
    assert [*results] == ["≤ 1 s", "1–3 s", "> 3 s"]
    for evaluation, (low, high) in zip(results.values(), [(0, 1), (1, 3), (3, np.inf)], strict=True):
        of_bin = {
            name: replace(metric, criterion=sed.OfLength(metric.criterion, low, high))
            for name, metric in metrics.items()
        }
        alone = sed.evaluate(scores, truth, of_bin, resampling=bootstrap)
        assert_same(replace(evaluation, references=alone.references), alone)
        f1 = of_bin["f1"]
        assert evaluation.references == alone.counts[f1.criterion].references
    numbers = [evaluation.references for evaluation in results.values()]
    assert {label: sum(of[label] for of in numbers) for label in result.classes} == result.references


def test_bins_of_lengths_that_differ_in_microseconds_have_their_own_names() -> None:
    bins = length_bins([1.234567, 1.234568, 1.234569])
    assert len({length_bin.name for length_bin in bins}) == 4


def test_ignored_references_stay_ignored_in_groups() -> None:
    scores, made, sites = simulated(24)
    events = {clip: made.events(clip) for clip in made.clips}
    ignored = {clip: of_clip[::2] for clip, of_clip in events.items()}
    counted = {clip: of_clip[1::2] for clip, of_clip in events.items()}
    durations = dict(zip(made.clips, [10.0] * len(made.clips), strict=True))
    truth = sed.GroundTruth.from_dict(counted, durations=durations, ignored=ignored)
    metrics = [*LIMITED[:-1], sed.ErrorRate(sed.Segment(1.0), average="micro")]
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    result = sed.evaluate(scores, truth, metrics, by=sed.By(clips=sites, classes=kinds))
    for site, evaluation in result.groups["clips"].items():
        clips = [clip for clip in made.clips if sites[clip] == site]
        assert_same(evaluation, sed.evaluate(scores, truth, metrics, clips=clips))
    for kind, evaluation in result.groups["classes"].items():
        classes = [label for label in scores.classes if kinds[label] == kind]
        assert_same(evaluation, sed.evaluate(scores, truth, metrics, classes=classes))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": {"clip_00": "a"}}, "23 clips have no group: clip_0"),
        ({"by": sed.By(classes={})}, "3 classes have no group"),
        ({"by": {"clip_0000": 1.5}}, "names or whole numbers: clip_0000: 1.5"),
        ({"by": ["a"]}, "mapping"),
        ({"by": sed.By(lengths=(5, 1))}, "increasing order"),
        ({"by": sed.By(lengths=())}, "increasing order"),
        ({"by": sed.By(lengths=(1,)), "run": sed.Run(memory="1GB")}, "memory= cannot limit"),
    ],
)
def test_groups_that_cannot_be_evaluated(options: dict[str, Any], message: str) -> None:
    scores, truth, _ = simulated(24)
    with pytest.raises(sed.SedscopeError, match=re.escape(message)):
        sed.evaluate(scores, truth, "psds1", **options)
    with pytest.raises(sed.SedscopeError, match="average='median' is not valid"):
        sed.Groups({}, average="median")  # type: ignore[arg-type]  # that is what is refused
    with pytest.raises(sed.SedscopeError, match="harmonic"):
        sed.Groups({}, average="mean", floor=0.1)


def test_regions_are_in_the_group_of_their_recording() -> None:
    truth = sed.simulate.ground_truth(4, seconds=20, seed=2)
    scores = sed.simulate.scores(truth)
    cut = sed.cut_to_regions(scores, truth, {clip: [(0, 8), (10, 20)] for clip in truth.clips})
    sites = {
        f"{clip}.wav": "north" if number < 2 else "south" for number, clip in enumerate(truth.clips)
    }
    by_region = {region: sites[f"{clip}.wav"] for region, clip in cut[1].recording_of.items()}
    of_recordings = sed.evaluate(*cut, "collar_f1", by=sites).groups["clips"]
    of_regions = sed.evaluate(*cut, "collar_f1", by=by_region).groups["clips"]
    assert [of_recordings[site].clips for site in ("north", "south")] == [4, 4]
    assert of_recordings.to_polars().equals(of_regions.to_polars())
    by_region["clip_0@0-8"] = "own"  # what names a region itself comes first
    assert [*sed.evaluate(*cut, "collar_f1", by=sites | by_region).groups["clips"]][1] == "own"


def test_groups_of_deltas() -> None:
    scores, truth, sites = simulated(24)
    kinds = dict(zip(scores.classes, ("common", "rare", "common"), strict=True))
    metrics = [sed.BestFScore(sed.Collar()), LIMITED[1]]
    deltas = [sed.deltas(scores, truth, metric.criterion) for metric in metrics]
    expected = sed.evaluate(scores, truth, metrics, by=sed.By(clips=sites, classes=kinds), resampling=8)
    result = sed.evaluate_deltas(deltas, metrics, by=sed.By(clips=sites, classes=kinds), resampling=8)
    assert_same_groups(expected, result)
    with pytest.raises(sed.SedscopeError, match="Evaluate the scores with by=By"):
        sed.evaluate_deltas(
            deltas, sed.ErrorRate(sed.Collar(), average="micro"), by=sed.By(classes=kinds)
        )


def test_results_of_groups_in_tables() -> None:
    scores, truth, sites = simulated(24)
    by = sed.Groups(sites, average="mean")
    result = sed.evaluate(scores, truth, ["psds1", "collar_f1"], by=by, resampling=8)
    results = result.groups["clips"]
    entry = result.to_dict()["groups"]["clips"]
    assert entry["groups"]["loud"]["metrics"][0]["value"] == results["loud"]["psds1"].value
    assert entry["averages"]["psds1"]["value"] == results.averages["psds1"].value
    assert "\n3 groups of clips\n" in result.table()
    assert result.to_markdown().count("| loud |") == 1
    assert result.to_latex().count(r"\begin{tabular}") == 2
    frame = result.to_polars()
    assert frame.columns[:3] == ["grouping", "group", "metric"]
    rows = frame.rows(named=True)
    averages = [row for row in rows if row["grouping"] == "clips" and row["group"] is None]
    (mean,) = [row for row in averages if row["metric"] == "psds1"]
    assert mean["value"] == results.averages["psds1"].value
    assert len(result.to_csv().splitlines()) == len(rows) + 1
    assert results._repr_html_() in result._repr_html_()
    with pytest.raises(KeyError, match="did you mean loud"):
        results["Loud"]


def test_averages_over_groups() -> None:
    groups = sed.Groups({}, average="harmonic")
    column = np.array([[0.5], [0.25], [np.nan]])
    assert groups.average_of(column).tolist() == [2 / (2 + 4)]
    assert sed.Groups({}, average="mean").average_of(column).tolist() == [0.375]
    zero = np.array([[0.5], [0.0]])
    assert groups.average_of(zero).tolist() == [0.0]
    floored = sed.Groups({}, average="harmonic", floor=1e-5)
    np.testing.assert_allclose(floored.average_of(zero), [2 / (2 + 1e5)])
    np.testing.assert_allclose(floored.average_of(np.array([[0.5], [np.nan]])), [2 / (2 + 1e5)])
    assert np.isnan(groups.average_of(np.array([[np.nan], [np.nan]])))
    assert np.isnan(groups.average_of(np.array([[-0.5], [0.5]])))


@pytest.mark.parametrize("interval", ["subsampling", "percentile", "bca"])
def test_the_average_has_an_interval_of_independent_groups(interval: str) -> None:
    truth = sed.simulate.ground_truth(60, classes=2, seed=1)
    scores = sed.simulate.scores(truth, frame=0.1, quality=0.6, seed=2)
    sites = {clip: "ab"[i % 2] for i, clip in enumerate(truth.clips)}
    metric = sed.FScore(sed.Intersection(0.5, 0.5))
    resampling = sed.Resampling(500, interval=interval)
    result = sed.evaluate(
        scores, truth, {"f1": metric}, by=sed.Groups(sites, average="mean"), resampling=resampling
    )
    results = result.groups["clips"]
    average = results.averages["f1"]
    values = [evaluation[metric].value for evaluation in results.values()]
    assert average.value == np.mean(values)
    assert average.interval is not None
    assert average.interval.low < average.value < average.interval.high
    spreads = [evaluation.intervals[metric].deviation for evaluation in results.values()]
    np.testing.assert_allclose(average.interval.deviation, np.linalg.norm(spreads) / 2, rtol=0.15)
    sites_of_two = sed.Groups({clip: clip for clip in truth.clips[:2]}, average="mean")
    clips = truth.clips[:2]
    single = sed.evaluate(
        scores, truth, {"f1": metric}, clips=clips, by=sites_of_two, resampling=resampling
    )
    constant = single.groups["clips"].averages["f1"].interval
    assert constant is not None
    assert (constant.low, constant.high) == (constant.value, constant.value)


def test_names_are_sorted_as_people_do() -> None:
    assert sorted(["b2", "b10", "B1", "a"], key=natural_order) == ["a", "B1", "b2", "b10"]


def test_parts_of_deltas() -> None:
    scores, truth, _ = simulated(12)
    deltas = sed.deltas(
        scores, truth, sed.Intersection(0.1, 0.1, 0.3), postprocessing="MedianFilter(0.3)"
    )
    numbers = np.arange(12) % 3
    parts = split_by_clip(deltas, numbers, 4)
    assert parts[3].clips == ()
    for group in range(3):
        kept = deltas.of_clips(numbers == group)
        assert parts[group].clips == kept.clips
        assert parts[group].counts().to_polars().equals(kept.counts().to_polars())
    some = of_classes(deltas, np.array([True, False, True]))
    alone = sed.deltas(
        scores,
        truth,
        sed.Intersection(0.1, 0.1, 0.3),
        classes=[scores.classes[0], scores.classes[2]],
        postprocessing="MedianFilter(0.3)",
    )
    for one, other in (
        (some, alone),
        *zip(some.variants.values(), alone.variants.values(), strict=True),
    ):
        assert one.counts().to_polars().equals(other.counts().to_polars())
        for label in one.classes:
            rows = one.counts()[label], other.counts()[label]
            np.testing.assert_array_equal(rows[0].cross_labels, rows[1].cross_labels)
            np.testing.assert_array_equal(rows[0].cross_changes, rows[1].cross_changes)
