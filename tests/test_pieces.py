"""Recordings that come in pieces: the same bits as whole clips, wherever they are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment import align
from sedscope.collect import Wanted, collect
from sedscope.criteria import Criterion
from sedscope.rows import DeltaTables, ReferenceRows, Rows
from sedscope.scores import ScoreArray

from . import oracle
from .cases import clip_lists, to_scores, to_truth
from .registry import METRICS
from .test_invariances import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA: list[Criterion] = [
    sed.Intersection(0.7, 0.7),
    sed.Intersection(0.1, 0.1, 0.3),
    sed.Collar(1e-5, 1e-5, 0.5),
    sed.Collar(None, 1e-5, 0.2, cross_triggers=True, errors=True),
    sed.Collar(0.05, None, cross_triggers=True, errors=True),
    sed.IoU(0.3),
    sed.IoU(0.5, cross_triggers=True),
    sed.Segment(3e-6, cross_triggers=True),
    sed.Segment(0.05, aggregation="mean"),
    sed.Clip(cross_triggers=True),
    sed.Clip("mean"),
]


def cut(values: ScoreArray, places: Sequence[int]) -> list[ScoreArray]:
    """Pieces of an array; places that occur twice give empty ones."""
    bounds = [0, *sorted(min(place, len(values)) for place in places), len(values)]
    return [values[first:last] for first, last in pairwise(bounds)]


def in_pieces(scores: sed.Scores, places: Sequence[int]) -> sed.Scores:
    """The same scores, each clip cut at these frames."""

    def pieces_of(clip: sed.ClipScores) -> sed.ClipPieces:
        return sed.ClipPieces(lambda: iter(cut(clip.values, places)), edges=clip.edges)

    made = {clip: pieces_of(scores[clip]) for clip in scores}
    return sed.Scores.from_pieces(made, classes=scores.classes)


def arrays(tables: DeltaTables) -> Iterator[tuple[str, Any]]:
    """All arrays of the tables, by name."""
    for field in fields(tables):
        table = getattr(tables, field.name)
        if isinstance(table, Rows):
            yield from ((f"{field.name} {i}", a) for i, a in enumerate((table.starts, table.scores)))
            yield from ((f"{field.name} column {i}", a) for i, a in enumerate(table.columns))
        elif isinstance(table, ReferenceRows):
            yield from ((f"{field.name} {key}", array) for key, array in vars(table).items())
        else:
            yield field.name, table


def assert_same_bits(a: DeltaTables, b: DeltaTables) -> None:
    for (name, one), (_, other) in zip(arrays(a), arrays(b), strict=True):
        if one is None or other is None:
            assert one is other, name
        else:
            assert (one.dtype, one.shape) == (other.dtype, other.shape), name
            assert one.tobytes() == other.tobytes(), name


def found(
    scores: sed.Scores, truth: sed.GroundTruth, *, any_label: bool, threads: int = 1
) -> dict[Criterion, sed.Deltas]:
    wanted = {
        criterion: Wanted(any_label=any_label and not isinstance(criterion, sed.Intersection))
        for criterion in CRITERIA
    }
    return collect(align(scores, truth), wanted, threads=threads)


@settings(max_examples=100)
@given(
    clip_lists,
    st.lists(st.integers(0, 12), max_size=14),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_deltas_are_the_same_bits(
    case: Sequence[oracle.Clip], places: list[int], dtype: type, any_label: bool
) -> None:
    scores, truth = to_scores(case, dtype), to_truth(case)
    whole = found(scores, truth, any_label=any_label)
    pieces = found(in_pieces(scores, places), truth, any_label=any_label)
    for criterion, deltas in whole.items():
        assert_same_bits(deltas.tables, pieces[criterion].tables)
        assert deltas.clips == pieces[criterion].clips
        assert np.array_equal(deltas.durations, pieces[criterion].durations)


@settings(max_examples=20)
@given(clip_lists, st.lists(st.integers(0, 12), max_size=4))
def test_metrics_are_the_same_bits(case: Sequence[oracle.Clip], places: list[int]) -> None:
    scores, truth = to_scores(case), to_truth(case)
    metrics = [metric for metric in METRICS if not metric.variants]
    whole = sed.evaluate(scores, truth, metrics)
    assert_same(whole, sed.evaluate(in_pieces(scores, places), truth, metrics))
