"""Every criterion at every threshold, compared with the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support import oracle
from ..support.equality import assert_equal_to_oracle
from ..support.passes import find_deltas
from ..support.strategies import (
    LABELS,
    clip_lists,
    clips,
    collar_criteria,
    crowded_clips,
    dtypes,
    in_ticks,
    mixed_clip_lists,
    parts,
    to_scores,
    to_truth,
)


@settings(max_examples=500)
@given(mixed_clip_lists, collar_criteria(), dtypes)
def test_collar(case: Sequence[oracle.Clip], collar: sed.Collar, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), collar).counts()
    for label in LABELS:
        expected = oracle.collar_counts(
            case, label, **in_ticks(collar), cross_triggers=collar.cross_triggers
        )
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=300)
@given(mixed_clip_lists, parts | st.just(1 / 3), st.booleans(), st.booleans(), dtypes)
def test_iou(
    case: Sequence[oracle.Clip], iou: float, strict: bool, cross_triggers: bool, dtype: type
) -> None:
    options: Any = {"cross_triggers": cross_triggers, "strict": strict and iou < 1}
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), sed.IoU(iou, **options)).counts()
    for label in LABELS:
        expected = oracle.iou_counts(case, label, iou=iou, **options)
        assert_equal_to_oracle(counts[label], expected, label)


@pytest.mark.parametrize(("strict", "tp"), [(False, [1, 1]), (True, [1, 0])])
def test_iou_at_its_threshold(strict: bool, tp: list[int]) -> None:
    #            0  0.3       1           2  2.3       3
    # reference  [            )           [            )
    # detection  [   )                    [   )           the first is a microsecond too long
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog"), (2, 3, "Dog")]}, durations={"a": 4})
    above, at = (0, 0.300001, "Dog", 0.9), (2, 2.3, "Dog", 0.5)
    scores = sed.Scores.from_events({"a": [above, at]})
    dog = sed.deltas(scores, truth, sed.IoU(0.3, strict=strict)).counts()["Dog"]
    assert np.diff(dog.tp, prepend=0).tolist() == tp


def test_an_iou_above_0_is_any_overlap() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1000, "Dog")]}, durations={"a": 1000})
    scores = sed.Scores.from_events({"a": [(5, 5.000001, "Dog", 0.5)]})
    assert sed.deltas(scores, truth, sed.IoU(0, strict=True)).counts()["Dog"].tp.tolist() == [1]


@settings(max_examples=300)
@given(
    clip_lists, st.sampled_from([None, 1, 2, 7, 64_000, 100_000]), st.booleans(), st.booleans(), dtypes
)
def test_segments_and_clips(
    case: Sequence[oracle.Clip], length: int | None, mean: bool, cross_triggers: bool, dtype: type
) -> None:
    if length is not None and max(clip.duration for clip in case) > 50 * length:
        length = 64_000
    aggregation = "mean" if mean else "max"
    criterion = (
        sed.Clip(aggregation, cross_triggers=cross_triggers)
        if length is None
        else sed.Segment(length / 1e6, aggregation, cross_triggers=cross_triggers)
    )
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion).counts()
    for label in LABELS:
        options: dict[str, Any] = {"length": length, "mean": mean, "cross_triggers": cross_triggers}
        expected = oracle.segment_counts(case, label, **options)
        assert_equal_to_oracle(counts[label], expected, label)
        targets = [t for clip in case for t in oracle.segment_targets(clip, label, length=length)]
        assert counts[label].references == sum(targets)
        assert counts[label].trials == len(targets)


@settings(max_examples=150)
@given(st.lists(crowded_clips(), min_size=1, max_size=2), collar_criteria())
def test_errors_of_pairs(case: Sequence[oracle.Clip], collar: sed.Collar) -> None:
    if sum(len(clip.references) for clip in case) > 12:
        return
    criterion = sed.Collar(collar.onset, collar.offset, collar.offset_rate, errors=True)
    counts = sed.deltas(to_scores(case), to_truth(case), criterion).counts()
    for label in LABELS:
        of_class = counts[label]
        assert of_class.errors is not None
        expected_counts = oracle.collar_counts(case, label, **in_ticks(collar))
        assert_equal_to_oracle(of_class, expected_counts, label)
        for score in expected_counts:
            row = np.count_nonzero(of_class.scores >= score) - 1
            errors = of_class.errors[row] if row >= 0 else (0, 0)
            expected = oracle.collar_errors(case, label, score, **in_ticks(collar))
            assert [round(1e6 * error) for error in errors] == list(expected)


def any_label_pairs(case: Sequence[oracle.Clip], criterion: Any) -> tuple[Any, Any]:
    found = find_deltas(to_scores(case), to_truth(case), {criterion: {"any_label": True}})
    pairs = found[criterion].counts().any_label
    assert pairs is not None
    return pairs


@settings(max_examples=200)
@given(st.lists(crowded_clips() | clips(), min_size=1, max_size=2), collar_criteria(), parts)
def test_pairs_regardless_of_label(case: Sequence[oracle.Clip], collar: sed.Collar, iou: float) -> None:
    levels = {s for clip in case for scores in clip.scores.values() for s in scores if s > -np.inf}
    for criterion in (collar, sed.IoU(iou), sed.Segment(1e-5), sed.Clip()):
        scores, pairs = any_label_pairs(case, criterion)
        if isinstance(criterion, sed.Segment) and max(clip.duration for clip in case) > 500:
            continue
        for level in levels:
            if isinstance(criterion, sed.Collar):
                expected = oracle.any_label_pairs_collar(case, LABELS, level, **in_ticks(collar))
            elif isinstance(criterion, sed.IoU):
                expected = oracle.any_label_pairs_iou(case, LABELS, level, iou=iou)
            else:
                length = 10 if isinstance(criterion, sed.Segment) else None
                expected = oracle.any_label_pairs_segments(case, LABELS, level, length=length)
            row = np.count_nonzero(scores >= level)
            assert (pairs[row - 1] if row else 0) == expected, (criterion, level)


def test_paper_example_of_the_collar_criterion() -> None:
    #          0   1   2   3   4   5   6   7   8
    scores = [.3, .3, .4, .6, .7, .6, .5, .3, .3]  # fmt: skip
    #                 [    reference    )
    truth = sed.GroundTruth.from_dict({"a": [(2, 7, "Dog")]}, durations={"a": 9})
    system = sed.Scores.from_arrays({"a": [[s] for s in scores]}, classes=["Dog"], frame=1.0)
    dog = sed.deltas(system, truth, sed.Collar(1.0, 1.0, 0.0)).counts()["Dog"]
    changes = {
        float(score): (tp, fp)
        for score, tp, fp in zip(
            dog.scores, np.diff(dog.tp, prepend=0), np.diff(dog.fp, prepend=0), strict=True
        )
    }
    assert changes == {0.7: (0, 1), 0.6: (1, -1), 0.3: (-1, 1)}


@pytest.mark.parametrize(
    ("criterion", "options", "message"),
    [
        (sed.Collar, {"onset": None, "offset": None}, "onsets, offsets or both"),
        (sed.Collar, {"onset": -0.1}, "onset=-0.1 must be at least 0"),
        (sed.Collar, {"cross_triggers": 1}, "cross_triggers=1 must be True or False"),
        (sed.IoU, {"threshold": 0}, "threshold=0 must be above 0"),
        (sed.IoU, {"threshold": 1.1}, "threshold=1.1 must be"),
        (sed.IoU, {"threshold": 1.0, "strict": True}, "must be below 1 if strict=True"),
        (sed.IoU, {"strict": 1}, "strict=1 must be True or False"),
        (sed.Segment, {"length": 0}, "length=0 must be at least 1e-06"),
        (
            sed.Segment,
            {"aggregation": "median"},
            "aggregation='median' is not valid. Choose 'max' or 'mean'",
        ),
        (sed.Clip, {"aggregation": None}, "aggregation=None"),
    ],
)
def test_parameters_out_of_range(criterion: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        criterion(**options)


def test_references_before_the_clip_are_in_no_segment() -> None:
    scores = sed.Scores.from_arrays(
        {"a": np.full((4, 1), 0.1), "b": np.full((4, 1), 0.1)}, classes=["Dog"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict(
        {"a": [(-2, -1, "Dog")], "b": []}, durations={"a": 4, "b": 4}, invalid="drop"
    )
    assert sed.deltas(scores, truth, sed.Segment(1.0)).counts()["Dog"].references == 0


def test_long_chains_of_competing_references() -> None:
    # each detection could have the reference before or after it: one path through all of them
    n = 100_000
    events = [(2 * i, 2 * i + 1, "Dog") for i in range(n)]
    detected = [(2 * i + 1, 2 * i + 2, "Dog", i / n) for i in range(n)]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 3 * n})
    scores = sed.Scores.from_events({"a": detected})
    counts = sed.deltas(scores, truth, sed.Collar(1.0, None)).counts()["Dog"]
    assert (counts.tp[-1], counts.fp[-1]) == (n, 0)


@pytest.mark.parametrize("rate", [1e12, 1e13, 1e300])
def test_collars_beyond_all_bounds(rate: float) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 4, "Dog")]}, durations={"a": 5})
    scores = sed.Scores.from_events({"a": [(0, 1, "Dog")]})
    counts = sed.deltas(scores, truth, sed.Collar(0.2, 0.2, rate)).counts()["Dog"]
    assert counts.tp.tolist() == [1]
