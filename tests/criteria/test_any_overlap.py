"""Any overlap at every threshold, compared with the oracle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support import oracle
from ..support.equality import assert_equal_to_oracle, count_columns
from ..support.strategies import LABELS, clip_lists_with_ignored, dtypes, to_scores, to_truth

SECOND = 1_000_000
SEIZURES = sed.AnyOverlap(before=30, after=60, merge_gap=90, split=300)

seconds = st.sampled_from([0.0, 1e-6, 0.5, 1.0, 3.0, 10.0])
criteria = st.builds(
    sed.AnyOverlap,
    before=seconds,
    after=seconds,
    merge_gap=st.none() | st.sampled_from([1e-6, 2e-6, 0.999999, 1.0, 1.000001, 2.0, 20.0]),
    split=st.none() | st.sampled_from([1.0, 1.000001, 2.0, 2.5, 100.0]),
)


def in_ticks(criterion: sed.AnyOverlap) -> dict[str, Any]:
    lengths = vars(criterion)
    return {
        name: None if lengths[name] is None else round(lengths[name] * SECOND)
        for name in ("before", "after", "merge_gap", "split")
    }


def in_seconds(clip: oracle.Clip) -> oracle.Clip:
    """The clip with a second, or a little more or less, for each microsecond."""

    def longer(time: int) -> int:
        return time * SECOND + (time % 3 - 1 if time else 0)

    def events(of_clip: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        return [(longer(on), longer(off), label) for on, off, label in of_clip]

    edges = [longer(time) for time in clip.edges]
    duration = longer(clip.duration)
    return replace(
        clip,
        edges=edges,
        references=events(clip.references),
        ignored=events(clip.ignored),
        duration=duration,
    )


@settings(max_examples=500)
@given(clip_lists_with_ignored, criteria, st.booleans(), dtypes)
def test_counts(
    case: list[oracle.Clip], criterion: sed.AnyOverlap, slow: bool, dtype: type
) -> None:
    if slow and max(clip.duration for clip in case) < 1000:
        case = [in_seconds(clip) for clip in case]
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion, coverage="any").counts()
    for label in LABELS:
        expected = oracle.any_overlap_counts(case, label, **in_ticks(criterion))
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=200)
@given(clip_lists_with_ignored, criteria)
def test_numbers_of_references(case: list[oracle.Clip], criterion: sed.AnyOverlap) -> None:
    case = [in_seconds(clip) for clip in case if clip.duration < 1000] or case
    counts = sed.deltas(to_scores(case), to_truth(case), criterion, coverage="any").counts()
    for label in LABELS:
        numbers = [
            oracle.any_overlap_count([], oracle.references(clip, label), [], **in_ticks(criterion))
            for clip in case
        ]
        assert counts[label].references == sum(number for _, _, number in numbers)
