"""Invariances: changes of the input that must not change a bit of the result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.counting import clip_reader as loading
from sedscope.counting import one_pass

from ..support import oracle
from ..support.equality import assert_equal_evaluations, count_columns
from ..support.examples import METRICS
from ..support.strategies import LABELS, clip_lists, name, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def evaluate(scores: sed.Scores, truth: sed.GroundTruth, threads: int | None = None) -> sed.Evaluation:
    return sed.evaluate(scores, truth, METRICS, run=sed.Run(threads=threads))


def rebuilt(
    scores: sed.Scores, clips: Sequence[str] | None = None, classes: Sequence[str] | None = None
) -> sed.Scores:
    """The same scores with clips and classes in another order."""
    order = list(classes or scores.classes)
    take = [scores.classes.index(label) for label in order]
    made = {
        clip: sed.ClipScores.from_ticks(scores[clip].values[:, take], scores[clip].ticks)
        for clip in (clips or scores)
    }
    return sed.Scores(made, made.__getitem__, classes=order, in_memory=True)


@settings(max_examples=30)
@given(clip_lists, st.randoms(use_true_random=False))
def test_order_of_clips_and_classes(case: Sequence[oracle.Clip], random: Random) -> None:
    scores, truth = to_scores(case), to_truth(case)
    clips, classes = list(scores), list(scores.classes)
    random.shuffle(clips)
    random.shuffle(classes)
    shuffled = rebuilt(scores, clips, classes)
    assert_equal_evaluations(evaluate(scores, truth), evaluate(shuffled, truth))


@settings(max_examples=30)
@given(clip_lists, st.sampled_from([np.float32, np.float64]))
def test_monotone_transform_of_the_scores(case: Sequence[oracle.Clip], dtype: type) -> None:
    scores, truth = to_scores(case, dtype), to_truth(case)
    values = np.unique(np.concatenate([scores[clip].values.ravel() for clip in scores]))
    ranks = np.where(values == -np.inf, -np.inf, np.arange(len(values)) ** 2 - 7.0)
    made = {
        clip: sed.ClipScores.from_ticks(
            ranks[np.searchsorted(values, scores[clip].values)].astype(dtype), scores[clip].ticks
        )
        for clip in scores
    }
    transformed = sed.Scores(made, made.__getitem__, classes=LABELS, in_memory=True)
    # a mean of scores, and a given threshold, are not the same after a transform
    metrics = [
        metric
        for metric in METRICS
        if not hasattr(metric, "threshold")
        and getattr(metric.criterion.unwrapped, "aggregation", "max") == "max"
    ]
    assert_equal_evaluations(
        sed.evaluate(scores, truth, metrics), sed.evaluate(transformed, truth, metrics), scores=False
    )


@settings(max_examples=30)
@given(clip_lists, st.integers(0, 10**12))
def test_shift_in_time(case: Sequence[oracle.Clip], shift: int) -> None:
    moved = [
        oracle.Clip(
            edges=[edge + shift for edge in clip.edges],
            scores=clip.scores,
            references=[(on + shift, off + shift, label) for on, off, label in clip.references],
            duration=clip.duration + shift,
        )
        for clip in case
    ]
    counts = [
        sed.deltas(to_scores(clips), to_truth(clips), metric.criterion, coverage="any").counts()
        for metric in METRICS
        if not hasattr(metric.criterion.unwrapped, "aggregation")  # segments begin at 0
        for clips in (case, moved)
    ]
    for before, after in zip(counts[::2], counts[1::2], strict=True):
        expected, got = dict(count_columns(before)), dict(count_columns(after))
        assert expected.pop("duration") != got.pop("duration") or shift == 0
        assert expected == got


@settings(max_examples=20)
@given(st.lists(clip_lists, min_size=2, max_size=4))
def test_chunks_merged(chunks: list[list[oracle.Clip]]) -> None:
    case = [clip for chunk in chunks for clip in chunk]
    scores, truth = to_scores(case), to_truth(case)
    bounds = np.cumsum([0, *map(len, chunks)])
    for metric in METRICS:
        parts = [
            sed.deltas(scores, truth, metric.criterion, clips=[name(i) for i in range(first, last)])
            for first, last in pairwise(bounds)
        ]
        merged = parts[0].merge(*parts[1:]).counts()
        nested = parts[-1]
        for part in parts[:-1]:
            nested = part.merge(nested)
        whole = dict(count_columns(sed.deltas(scores, truth, metric.criterion).counts()))
        assert dict(count_columns(merged)) == whole
        assert dict(count_columns(nested.counts())) == whole


@settings(max_examples=10)
@given(st.lists(clip_lists, min_size=1, max_size=8), st.sampled_from([np.float32, np.float64]))
def test_number_of_threads(chunks: list[list[oracle.Clip]], dtype: type) -> None:
    case = [clip for chunk in chunks for clip in chunk] * 10
    scores, truth = to_scores(case, dtype), to_truth(case)
    assert_equal_evaluations(evaluate(scores, truth, threads=1), evaluate(scores, truth, threads=8))


@pytest.mark.parametrize("thread_safe", [False, True])
@pytest.mark.parametrize("batch", [1, 7, 10_000])
def test_clips_loaded_when_needed(
    monkeypatch: pytest.MonkeyPatch, thread_safe: bool, batch: int
) -> None:
    truth = sed.simulate.ground_truth(60, seed=3)
    made = sed.simulate.scores(truth, seed=4)
    in_memory = sed.Scores.from_arrays(
        {clip: made[clip].values for clip in made}, classes=made.classes, frame=0.02
    )
    lazy = sed.Scores.from_function(
        truth.clips, lambda clip: made[clip], classes=made.classes, thread_safe=thread_safe
    )
    monkeypatch.setattr(loading, "_BATCH_CLIPS", batch)
    metrics = [sed.presets.PSDS1, sed.presets.PSDS2]
    a, b = sed.evaluate(in_memory, truth, metrics), sed.evaluate(lazy, truth, metrics)
    assert_equal_evaluations(a, b)


def test_chunks_with_different_floors_merge_to_the_higher_one() -> None:
    truth = sed.simulate.ground_truth(80, seed=5)
    scores = sed.simulate.scores(truth, seed=6)
    criterion = sed.Intersection(0.5, 0.5, 0.3)
    whole = sed.deltas(scores, truth, criterion)
    halves = [
        sed.deltas(scores, truth, criterion, clips=truth.clips[rows])
        for rows in (slice(0, 30), slice(30, 80))
    ]
    low, high = (np.full(10, floor, np.float32) for floor in (0.1, 0.6))
    merged = halves[0].above(high).merge(halves[1].above(low))
    assert np.array_equal(merged.floors, high)
    assert dict(count_columns(merged.counts())) == dict(count_columns(whole.above(high).counts()))
    assert len(merged.tables.detections.scores) < 0.2 * len(whole.tables.detections.scores)


def test_merge_refuses_what_does_not_belong_together() -> None:
    truth = sed.simulate.ground_truth(4)
    scores = sed.simulate.scores(truth)
    some = sed.deltas(scores, truth, sed.Intersection(0.5, 0.5), clips=truth.clips[:2])
    other = sed.deltas(scores, truth, sed.Intersection(0.7, 0.5), clips=truth.clips[2:])
    with pytest.raises(sed.SedscopeError, match=r"same criterion, .*dtc=0\.5.*dtc=0\.7"):
        some.merge(other)
    with pytest.raises(
        sed.SedscopeError, match="2 clips are in more than one of the deltas: clip_0, clip_1"
    ):
        some.merge(some)


def test_floors_of_batches_with_finer_scores() -> None:
    # the first batch is float64, with scores that float32 would round up past each other
    values: dict[str, Any] = {
        f"c{i:04}": np.array([[0.5 + 4e-8 + i * 1e-13], [0.1]]) for i in range(1024)
    }
    values["c0512"] = np.array([[0.5 + 4.5e-8], [0.1]])
    values["z"] = np.array([[0.1], [0.1]], np.float32)
    events: dict[str, list[Any]] = {clip: [] for clip in values}
    events["c0512"] = [(0, 1, "Dog")]
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(values, 2.0))
    psds = sed.PSDS(sed.Intersection(0.5, 0.5))
    in_memory = sed.Scores.from_arrays(values, classes=["Dog"], frame=1.0)
    lazy = sed.Scores.from_function(values, values.__getitem__, classes=["Dog"], frame=1.0)
    results = [sed.evaluate(scores, truth, psds)[psds].value for scores in (in_memory, lazy)]
    assert results == [1.0, 1.0]


def test_merging_on_the_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = sed.simulate.ground_truth(300, seed=8)
    scores = sed.simulate.scores(truth, seed=9)
    metrics = [sed.presets.PSDS1, sed.presets.PSDS2]
    monkeypatch.setattr(loading, "_BATCH_CLIPS", 10)
    expected = sed.evaluate(scores, truth, metrics)
    merges: list[int] = []
    merge = one_pass._Collector.merge

    def counting(self: one_pass._Collector) -> sed.Deltas:
        merges.append(len(self.parts))
        return merge(self)

    monkeypatch.setattr(one_pass._Collector, "merge", counting)
    monkeypatch.setattr(one_pass, "_ROWS_TO_MERGE", 1000)
    assert_equal_evaluations(expected, sed.evaluate(scores, truth, metrics))
    assert len(merges) > len(metrics)  # more than once at the end for each criterion
