"""Counts at every threshold, compared with the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope.criteria.delta_tables import DeltaRows, row_starts

from ..support import oracle
from ..support.equality import assert_equal_to_oracle
from ..support.strategies import LABELS, clip_lists, criteria, to_scores, to_truth


@settings(max_examples=400)
@given(clip_lists, criteria(), st.sampled_from([np.float32, np.float64]))
def test_counts_are_those_of_the_oracle(
    case: Sequence[oracle.Clip], criterion: sed.Intersection, dtype: type
) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        expected = oracle.intersection_counts(
            case, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
        )
        assert_equal_to_oracle(counts[label], expected, label)
        events = [(on, off) for clip in case for on, off, m in clip.references if m == label]
        assert counts[label].references == len(events)
        assert counts[label].reference_time == sum(off - on for on, off in events) / 1e6
    assert counts.duration == sum(clip.duration for clip in case) / 1e6


@given(clip_lists, criteria(), st.lists(st.floats(-2, 2), min_size=1, max_size=5))
def test_counts_at_thresholds_are_those_of_the_rows_above(
    case: Sequence[oracle.Clip], criterion: sed.Intersection, thresholds: list[float]
) -> None:
    counts = sed.deltas(to_scores(case), to_truth(case), criterion).counts()
    chosen = counts.at(thresholds)
    for label in LABELS:
        at, every = chosen[label], counts[label]
        assert at.scores.tolist() == sorted(set(thresholds), reverse=True)
        for row, threshold in enumerate(at.scores):
            above = np.count_nonzero(every.scores > threshold)
            for name in ("tp", "fp"):
                expected = getattr(every, name)[above - 1] if above else 0
                assert getattr(at, name)[row] == expected
            for other in LABELS:
                assert at.ct(other)[row] == (every.ct(other)[above - 1] if above else 0)
            assert at.threshold(row + 1) == threshold
            assert at.tally_at(threshold).tp == at.tp[row]
        with pytest.raises(sed.SedscopeError, match="was not counted at threshold 3, only at"):
            at.tally_at(3)
    together = chosen.pooled()
    assert together.tp.tolist() == np.sum([chosen[label].tp for label in LABELS], axis=0).tolist()
    assert together.scores.tolist() == chosen["a"].scores.tolist()


def test_counts_below_the_floor_are_refused() -> None:
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog")], **{f"n{i}": [] for i in range(9)}},
        durations={"a": 1, **{f"n{i}": 1 for i in range(9)}},
    )
    scores = sed.Scores.from_arrays(
        {clip: [[0.1 * (i + 1)]] for i, clip in enumerate(truth.clips)}, classes=["Dog"], frame=1
    )
    psds = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=0.1, unit="second")
    counts = sed.evaluate(scores, truth, psds).counts[psds.criterion]
    assert counts["Dog"].floor > 0.5
    with pytest.raises(sed.SedscopeError, match="was counted above 0"):
        counts.at([0.2])
    assert len(counts.at([0.95])["Dog"].scores) == 1


def test_many_merges_at_one_score_do_not_overflow_narrow_columns() -> None:
    # 300 peaks over one plateau: below 0.5 all of them become one detection, −299 at once
    peaks = np.tile([[0.9], [0.5]], (300, 1))
    truth = sed.GroundTruth.from_dict(
        {"a": [(i, i + 1, "Dog") for i in range(0, 600, 2)]}, durations={"a": 600}
    )
    scores = sed.Scores.from_arrays({"a": peaks}, classes=["Dog"], frame=1.0)
    dog = sed.deltas(scores, truth, sed.Intersection(0.5, 0.5)).counts()["Dog"]
    assert dog.scores.tolist() == [0.9]
    assert (dog.tp.tolist(), dog.fp.tolist()) == ([300], [0])
    strict = sed.deltas(scores, truth, sed.Intersection(0.7, 0.5)).counts()["Dog"]
    assert (strict.tp.tolist(), strict.fp.tolist()) == ([300, 0], [0, 1])


def test_gaps_between_frames_separate_detections() -> None:
    # frames:    0–1   1–2   (gap)   3–4
    clip = sed.ClipScores.from_frames([[0.9], [0.8], [0.9]], [0, 1, 3], [1, 2, 4], gaps="silent")
    assert clip.edges.tolist() == [0, 1, 2, 3, 4]
    scores = sed.Scores.from_function(["a"], lambda _: clip, classes=["Dog"])
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 4})
    dog = sed.deltas(scores, truth, sed.Intersection(0.5, 0.5)).counts()["Dog"]
    assert (dog.scores.tolist(), dog.fp.tolist()) == ([0.9], [2])


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x[::-1][::-1], lambda x: x])
def test_any_memory_layout_is_taken_as_it_is(make: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(0)
    values = {f"c{i}": rng.random((50, 6)) for i in range(20)}
    wide = {clip: np.repeat(array, 2, axis=1)[:, ::2] for clip, array in values.items()}
    truth = sed.GroundTruth.from_dict(
        {clip: [(1, 3, "l1")] for clip in values}, durations=dict.fromkeys(values, 50.0)
    )
    labels = [f"l{c}" for c in range(6)]
    criterion = sed.Intersection(0.5, 0.5, 0.3)

    def tables(arrays: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        scores = sed.Scores.from_arrays(arrays, classes=labels, frame=1.0)
        counts = sed.deltas(scores, truth, criterion).counts()
        return [column for label in labels for column in (counts[label].scores, counts[label].fp)]

    expected = tables(values)
    for arrays in ({k: make(v) for k, v in values.items()}, wide):
        for got, want in zip(tables(arrays), expected, strict=True):
            assert np.array_equal(got, want)


@settings(max_examples=60)
@given(st.lists(clip_lists, min_size=1, max_size=2), st.data())
def test_weights_are_the_number_of_times_that_a_clip_occurs(
    chunks: list[list[oracle.Clip]], data: st.DataObject
) -> None:
    case = [clip for chunk in chunks for clip in chunk]
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(case), max_size=len(case)))
    repeated = [clip for clip, times in zip(case, weights, strict=True) for _ in range(times)]
    if not repeated:
        return
    criteria_of_all_kinds: list[Any] = [
        sed.Intersection(0.5, 0.5, 0.3),
        sed.Collar(1e-5, 1e-5, 0.3, errors=True),
        sed.IoU(0.3, cross_triggers=True),
        sed.Segment(0.05),
    ]
    for criterion in criteria_of_all_kinds:
        deltas = sed.deltas(to_scores(case), to_truth(case), criterion)
        weighted = deltas.counts(weights=np.array(weights))
        expected = sed.deltas(to_scores(repeated), to_truth(repeated), criterion).counts()
        assert (weighted.clips, weighted.duration) == (expected.clips, expected.duration)
        for label in LABELS:
            a, b = weighted[label], expected[label]
            assert (a.references, a.trials) == (b.references, b.trials)
            assert a.reference_time == b.reference_time
            for name in ("scores", "tp", "fp", "cross_rows", "cross_labels", "cross_changes", "errors"):
                assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_weights_beyond_narrow_columns() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": []}, durations={"a": 2, "b": 2})
    scores = sed.Scores.from_arrays(
        {"a": [[0.9], [0.1]], "b": [[0.8], [0.1]]}, classes=["Dog"], frame=1.0
    )
    deltas = sed.deltas(scores, truth, sed.Collar())
    dog = deltas.counts(weights=np.array([100_000, 3_000_000]))["Dog"]
    assert dog.tp.tolist() == [100_000, 100_000, 0]
    assert dog.fp.tolist() == [0, 3_000_000, 3_100_000]
    assert dog.references == 100_000


@pytest.mark.parametrize("weights", [[1], [1, -1], [0.5, 1], [[1, 1]], ["a", "b"], [2**30, 1]])
def test_bad_weights(weights: Any) -> None:
    truth = sed.GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 2, "b": 2})
    scores = sed.Scores.from_arrays({"a": [[0.9]], "b": [[0.8]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="weights must be 2 whole numbers"):
        sed.deltas(scores, truth, sed.Collar()).counts(weights=np.array(weights))


@settings(max_examples=60)
@given(st.data(), st.integers(1, 4))
def test_merged_rows_are_those_above_the_floors(data: st.DataObject, threads: int) -> None:
    classes, parts = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    change = data.draw(st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
    tables = []
    for _ in range(parts):
        starts = row_starts(generator.integers(0, 4, (classes, generator.integers(0, 4))))
        rows = int(starts[-1, -1])
        changes = generator.integers(-100, 100, rows).astype(change)
        tables.append(DeltaRows(starts, generator.integers(0, 9, rows).astype(dtype), (changes,)))
    floors = generator.choice([-np.inf, 3.0, 4.5, 9.0], classes).astype(dtype)
    merged = DeltaRows.concatenate(tables, floors, threads)
    assert merged.scores.dtype == dtype
    assert merged.columns[0].dtype == change
    cells = []
    for c in range(classes):
        for table in tables:
            for first, last in pairwise(table.starts[c].tolist()):
                above = table.scores[first:last] > floors[c]
                cells.append((table.scores[first:last][above], table.columns[0][first:last][above]))
    numbers = np.array([len(scores) for scores, _ in cells]).reshape(classes, merged.starts.shape[1] - 1)
    np.testing.assert_array_equal(merged.starts, row_starts(numbers))
    np.testing.assert_array_equal(merged.scores, np.concatenate([[], *(cell[0] for cell in cells)]))
    np.testing.assert_array_equal(merged.columns[0], np.concatenate([[], *(cell[1] for cell in cells)]))


@pytest.mark.parametrize("frames", [40, 5000])
def test_many_classes_are_read_as_columns_and_as_rows(frames: int) -> None:
    """More classes than are copied together, of clips that are short enough for that, and of longer ones."""
    truth = sed.simulate.ground_truth(3, classes=300, events_per_minute=60)
    values = np.random.default_rng(0).random((3, frames, 300), np.float32)
    values[:, :, 5:260:2] -= 1  # below the floors, so that their neighbours lie apart
    frame = 10.0 / frames
    counted = []
    for make in (np.ascontiguousarray, np.asfortranarray):
        arrays = {clip: make(values[i]) for i, clip in enumerate(truth.clips)}
        scores = sed.Scores.from_arrays(arrays, classes=sed.simulate.labels(300), frame=frame)
        counted.append(sed.deltas(scores, truth, sed.Intersection(0.5, 0.5, 0.3)).tables)
    by_row, by_column = (
        [
            array
            for rows in tables.changes().values()
            for array in (rows.starts, rows.scores, *rows.columns)
        ]
        for tables in counted
    )
    assert all(map(np.array_equal, by_row, by_column))
    assert len(by_row[1]) > 1000
