"""Partial, merge and finish: any split, order and grouping gives the counts of one pass, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import Alignment, align
from sedscope.counting.one_pass import one_pass
from sedscope.counting.request import DeltaRequest, Floor, Requests
from sedscope.counting.units import add_up_clips, merge_units, nth_alarms
from sedscope.criteria import Criterion
from sedscope.engines.engine import part_of
from sedscope.engines.states import Block, StatePlan, finish, merge, partial, results_of
from sedscope.postprocessing import MedianFilter

from ..counting.test_spilled_deltas import assert_same
from ..support.random_sets import KINDS, random_set

CRITERIA: list[Criterion] = [
    sed.Intersection(0.3, 0.3),
    sed.Intersection(0.3, 0.3, 0.3),
    sed.Collar(cross_triggers=True, errors=True),
    sed.IoU(0.3),
    sed.Segment(0.05, cross_triggers=True),
    sed.Clip(),
    sed.Time(collar=3e-6),
    sed.OfLength(sed.Intersection(0.3, 0.3, 0.3), 0.05),
    sed.PerDetection(sed.AnyOverlap()),
]


def plan_of(alignment: Alignment, requests: Requests, split: int, *, added_up: bool = True) -> StatePlan:
    """Two blocks of classes, one of which may be empty."""
    first = np.arange(len(alignment.classes)) < split
    return StatePlan(
        requests, tuple(Block(tuple(requests), mask, added_up=added_up) for mask in (first, ~first))
    )


def merged_in_any_way(states: Sequence[bytes], plan: StatePlan, rng: np.random.Generator) -> bytes:
    """Merge states in a random order and grouping."""
    left = [states[i] for i in rng.permutation(len(states))]
    while len(left) > 1:
        number = int(rng.integers(2, len(left) + 1))
        left = [*left[number:], merge(left[:number], plan)]
    return left[0]


def counted(state: bytes, number: int, plan: StatePlan) -> dict[Criterion, sed.Deltas]:
    [deltas] = results_of([finish(state, number, plan, lambda _, deltas: deltas)])
    return dict(deltas)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), criterion=st.sampled_from(CRITERIA))
def test_counts_do_not_depend_on_how_clips_are_split(seed: int, kind: str, criterion: Criterion) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = random_set(rng, kind)
    alignment = align(scores, truth)
    variants = (MedianFilter(2e-5),) if rng.random() < 0.3 else ()
    floors = {v: rng.choice([-np.inf, 0.1], len(alignment.classes)) for v in (None, *variants)}
    requests = {criterion: DeltaRequest(variants=variants, floors=floors)}
    plan = plan_of(alignment, requests, int(rng.integers(0, len(alignment.classes) + 1)))
    clips = rng.permutation(len(alignment.clips))
    bounds = np.sort(rng.integers(0, len(clips) + 1, 2))
    parts = [alignment.choose(np.sort(part)) for part in np.split(clips, bounds) if len(part)]
    states = [partial(part, plan) for part in parts]
    merged = [merged_in_any_way(of_block, plan, rng) for of_block in zip(*states, strict=True)]
    again = [merged_in_any_way(of_block, plan, rng) for of_block in zip(*states, strict=True)]
    if len(parts) > 1:
        assert merged == again  # byte by byte, whatever the order and grouping
    whole = one_pass(alignment, requests, threads=1)[criterion].counts()
    for number, state in enumerate(merged):
        in_block = counted(state, number, plan)[criterion].counts()
        for expected, found in (
            (whole, in_block),
            *((whole.variants[v], in_block.variants[v]) for v in variants),
        ):
            assert_same(facts(expected), facts(found))
            for label, inside in zip(expected, plan.blocks[number].classes, strict=True):  # type: ignore[arg-type]
                if inside:
                    assert_same(expected[label], found[label])


def facts(counts: sed.Counts) -> Any:
    return replace(counts, per_class={}, variants={}, any_label=None)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_alarms_of_units_are_those_of_their_clips(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = random_set(rng, kind)
    alignment = align(scores, truth)
    criterion = sed.Intersection(0.3, 0.3)
    deltas = one_pass(alignment, {criterion: DeltaRequest()})[criterion]
    unit_of = rng.integers(0, 2, len(alignment.clips))
    units = add_up_clips(deltas, unit_of, ("north", "south"))
    for n in range(1, len(alignment.clips) + 2):
        np.testing.assert_array_equal(nth_alarms(units, n), nth_alarms(deltas, n))
    halves = [deltas.of_clips(np.arange(len(unit_of)) % 2 == half) for half in (0, 1)]
    parts = [
        add_up_clips(half, unit_of[number::2], ("north", "south")) for number, half in enumerate(halves)
    ]
    merged = merge_units(parts)
    assert merged.clips == ("north", "south")
    weights = rng.integers(0, 4, 2).astype(np.int32)
    expected = deltas.counts(weights=weights[unit_of])
    found = merged.counts(weights=weights)
    assert_same(facts(expected), facts(found))
    for label in expected:
        assert_same(expected[label], found[label])


def test_a_state_that_was_altered_is_refused() -> None:
    truth = sed.simulate.ground_truth(4)
    alignment = align(sed.simulate.scores(truth), truth)
    plan = plan_of(alignment, {sed.Collar(): DeltaRequest()}, 3)
    state, _ = partial(alignment, plan)
    for place in (9, 30, len(state) // 2, len(state) - 1):
        altered = bytearray(state)
        altered[place] ^= 1
        with pytest.raises(sed.SedscopeError, match="damaged on the way"):
            counted(bytes(altered), 0, plan)
    with pytest.raises(sed.SedscopeError, match="another version of sedscope"):
        counted(b"deltas 0" + state[8:], 0, plan)


def test_rows_are_bounded_by_the_number_of_distinct_scores() -> None:
    """With 16-bit scores, a state does not grow with the hours."""
    truth = sed.simulate.ground_truth(100, classes=3)
    simulated = sed.simulate.scores(truth, classes=sed.simulate.labels(3))
    arrays = {clip: np.round(simulated[clip].values * 8).astype(np.float32) for clip in truth.clips}
    scores = sed.Scores.from_arrays(arrays, classes=simulated.classes, frame=0.04)
    distinct = len(np.unique(np.concatenate([*arrays.values()])))
    alignment, criterion = align(scores, truth), sed.Intersection(0.1, 0.1, 0.3)
    plan = plan_of(alignment, {criterion: DeltaRequest()}, 3)
    parts = [part_of(alignment, range(i, i + 10)) for i in range(0, 100, 10)]
    state = merge([partial(part, plan)[0] for part in parts], plan)
    tables = counted(state, 0, plan)[criterion].tables
    assert 3 < len(tables.detections.scores) <= 3 * distinct
    assert len(tables.cross_triggers.scores) <= 3 * 2 * distinct
    whole = one_pass(alignment, plan.requests)[criterion]
    assert whole.tables.rows() > 10 * tables.rows()


def test_all_problems_are_reported_together() -> None:
    truth = sed.simulate.ground_truth(9)
    simulated = sed.simulate.scores(truth)

    def load(clip: str) -> sed.ClipScores:
        if clip in ("clip_1", "clip_7"):
            raise sed.SedscopeError(f"{clip} is broken.")
        return simulated[clip]

    scores = sed.Scores.from_function(truth.clips, load, classes=simulated.classes)
    alignment = align(scores, truth)
    plan = plan_of(alignment, {sed.Collar(): DeltaRequest()}, 3)
    states = [partial(part_of(alignment, range(i, i + 3)), plan)[0] for i in (0, 3, 6)]
    for order in ([0, 1, 2], [2, 0, 1]):
        state = merge([merge([states[i] for i in order[:2]], plan), states[order[2]]], plan)
        with pytest.raises(sed.SedscopeError, match=r"2 parts .*\n- .*clip_1 is .*\n- .*clip_7 is"):
            counted(state, 0, plan)


def test_floors_of_units_hold_where_those_of_clips_do() -> None:
    truth = sed.simulate.ground_truth(50)
    alignment = align(sed.simulate.scores(truth), truth)
    psds = sed.presets.PSDS1
    deltas = one_pass(alignment, {psds.criterion: DeltaRequest()})[psds.criterion]
    needed = Floor(psds.false_positive_limit / 10, 10).needed(alignment.durations)
    units = add_up_clips(deltas, np.zeros(50, np.intp), ("all",))
    assert (nth_alarms(units, needed) == nth_alarms(deltas, needed)).all()
    assert np.isfinite(nth_alarms(units, needed)).any()
