"""What crosses the boundary to the compiled core: named arrays, checked and never copied."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from sedscope import _native

SCORES = np.array([0.9, 0.5, 0.5], np.float32)
STARTS = np.array([[0, 2, 3]], np.int64)  # one class, two clips


def detections(**columns: Any) -> _native.DetectionDeltas:
    change = np.array([1, 1, -1], np.int8)
    return _native.DetectionDeltas(
        **{"starts": STARTS, "scores": SCORES, "tp": change, "fp": change, **columns}
    )


def cross_triggers(**columns: Any) -> _native.CrossTriggerDeltas:
    labels, change = np.array([1, 2, 1], np.int32), np.array([1, 1, -1], np.int8)
    return _native.CrossTriggerDeltas(
        **{"starts": STARTS, "scores": SCORES, "labels": labels, "ct": change, **columns}
    )


def test_an_attribute_is_one_array_that_outlives_its_result() -> None:
    (totals,) = _native.accumulate(detections(), cross_triggers(), 1)
    scores, rows = totals.scores, totals.cross_rows
    assert totals.scores is scores
    assert scores.base is not None  # the memory of the core, not a copy
    del totals
    gc.collect()
    assert scores.tolist() == pytest.approx([0.9, 0.5])
    assert rows.tolist() == [0, 1, 1]


def test_nested_results_keep_their_owner_alive() -> None:
    clips = _native.Clips(
        [np.array([[0.2], [0.7], [0.1]])], [np.arange(4, dtype=np.int64) * 10], np.array([0], np.int64)
    )
    truth = _native.Truth(
        _native.Events(
            np.array([[10, 20]], np.int64), np.array([0], np.int32), np.array([0, 1], np.int64)
        ),
        None,
        np.array([[0.7]]),
        np.array([-np.inf]),
        1,
    )
    rows = _native.Intersection((1, 2), (1, 2), None).find_deltas(clips, truth).detections
    gc.collect()
    assert rows.starts.shape == (1, 2)
    by_score = sorted(zip(rows.scores.tolist(), rows.tp.tolist(), rows.fp.tolist(), strict=True))
    assert (0.7, 1, 0) in by_score


def test_attributes_cannot_be_set() -> None:
    (totals,) = _native.accumulate(detections(), None, 1)
    with pytest.raises(AttributeError):
        totals.scores = SCORES  # type: ignore[misc]


def test_totals_without_cross_triggers() -> None:
    counts = np.array([1], np.int64)
    totals = _native.ClassTotals(SCORES[:1], counts, counts)
    assert totals.tp is counts
    assert (len(totals.cross_rows), len(totals.cross_labels), len(totals.cross_changes)) == (0, 0, 0)


@pytest.mark.parametrize(
    "column",
    [
        {"tp": np.zeros(3, np.int16)},
        {"fp": np.zeros(3, np.int32)},
        {"scores": np.zeros(3, np.int64)},
        {"starts": STARTS.astype(np.int32)},
        {"starts": STARTS[0]},
        {"scores": np.zeros(6, np.float32)[::2]},
    ],
)
def test_columns_of_another_type_are_refused(column: Any) -> None:
    with pytest.raises(TypeError, match="wrong type"):
        _native.accumulate(detections(**column), None, 1)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"tp": np.zeros(2, np.int8)}, "columns differ in length"),
        ({"starts": np.array([[0, 3, 2]], np.int64)}, "starts must not decrease"),
        ({"starts": np.array([[-1, 2, 3]], np.int64)}, "starts must not decrease"),
        ({"starts": np.array([[0, 2, 4]], np.int64)}, "starts must not exceed the rows"),
    ],
)
def test_columns_that_do_not_fit_are_refused(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.accumulate(detections(**column), None, 1)
    with pytest.raises(ValueError, match=message):
        _native.Resampling(detections(**column), None, 1)


def test_detections_and_cross_triggers_have_the_same_clips() -> None:
    others = cross_triggers(starts=np.array([[0, 1, 2, 3]], np.int64))
    with pytest.raises(ValueError, match="same classes and clips"):
        _native.accumulate(detections(), others, 1)


@pytest.mark.parametrize(
    ("starts", "message"),
    [([0, 2], "must not exceed"), ([1, 0], "must not decrease"), ([-1, 1], "decrease")],
)
def test_starts_of_events_lie_within_the_events(starts: list[int], message: str) -> None:
    times, label = np.array([[10, 20]], np.int64), np.array([0], np.int32)
    with pytest.raises(ValueError, match=message):
        _native.Events(times, label, np.array(starts, np.int64))
    with pytest.raises(ValueError, match=message):
        _native.DetectedEvents(
            times, label, np.array([0.5]), np.array(starts, np.int64), np.zeros(1, np.int64), 1
        )


@pytest.mark.parametrize(
    ("columns", "floors", "message"),
    [
        ([[SCORES, SCORES[:2]]], None, "columns differ in length"),
        ([[SCORES], [SCORES.astype(np.float64)]], None, "columns differ in length or type"),
        ([[SCORES[:2]]], None, "starts must not exceed the rows"),
        ([[SCORES]], np.zeros(2, np.float32), "one floor per class"),
    ],
)
def test_tables_that_do_not_fit_are_not_merged(columns: list[Any], floors: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.merge_rows([STARTS] * len(columns), columns, floors, 1)
