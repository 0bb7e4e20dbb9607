"""Alarms at every threshold, compared with the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.times import to_ticks

from ..support import oracle
from ..support.equality import assert_equal_to_oracle, count_columns
from ..support.strategies import LABELS, clip_lists_with_ignored, dtypes, to_scores, to_truth

times = st.sampled_from([0.0, 1e-6, 2e-6, 3e-6, 1e-5, 0.064, 10.0])
criteria = st.builds(sed.Alarm, cooldown=times, before=times, after=times, within=st.none() | times)


def in_ticks(criterion: sed.Alarm) -> dict[str, Any]:
    lengths = vars(criterion)
    return {
        name: None if lengths[name] is None else int(to_ticks(lengths[name]))
        for name in ("cooldown", "before", "after", "within")
    }


@settings(max_examples=400)
@given(clip_lists_with_ignored, criteria, dtypes)
def test_counts(case: list[oracle.Clip], criterion: sed.Alarm, dtype: type) -> None:
    counts = sed.deltas(to_scores(case, dtype), to_truth(case), criterion, coverage="any").counts()
    for label in LABELS:
        expected = oracle.alarm_counts(case, label, **in_ticks(criterion))
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=60, phases=[Phase.generate])
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3, 7, 20]), st.booleans())
def test_long_chains(seed: int, cooldown: int, smooth: bool) -> None:
    """Chains of many alarms, which a change may alter for long."""
    frames = 150
    rng = np.random.default_rng(seed)
    values = rng.random(frames)
    if smooth:
        values = np.convolve(values, np.ones(5) / 5, "same")
    onsets = np.sort(rng.choice(np.arange(0, frames, 4), 8, replace=False)).tolist()
    references = [(onset, onset + 3) for onset in onsets]
    scores = sed.Scores.from_arrays({"a": values[:, None]}, classes=["x"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(on, off, "x") for on, off in references]}, durations={"a": frames}
    )
    counts = sed.deltas(scores, truth, sed.Alarm(cooldown)).counts()["x"]
    for score in values:
        detected = oracle.detections(values.tolist(), range(frames + 1), score)
        expected = oracle.alarm_count(
            [onset for onset, _ in detected],
            references,
            [],
            cooldown=cooldown,
            before=0,
            after=2,
            within=None,
        )
        tally = counts.tally_at(np.nextafter(score, 0))
        assert (tally.tp, tally.fp) == expected


@settings(max_examples=100)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 300), max_size=8).map(sorted),
    st.sampled_from([0.0, 0.5, 3.0, 1000.0]),
    st.booleans(),
)
def test_pieces_of_a_recording(seed: int, cuts: list[int], cooldown: float, has_events: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (300, 1)) / 5
    edges = np.concatenate([[0], np.cumsum(rng.choice([0.2, 0.5, 1.0], 300))])
    onsets = np.sort(rng.choice(np.arange(0, 100, 2), 8, replace=False)).tolist() if has_events else []
    truth = sed.GroundTruth.from_dict(
        {"a": [(on, on + 1, "x") for on in onsets]}, durations={"a": edges[-1]}
    )
    criterion = sed.Alarm(cooldown, before=0.4, after=0.6)

    def pieces() -> Iterator[Any]:
        yield from np.split(values, cuts)

    whole = sed.Scores(
        {"a": None}, {"a": sed.ClipScores(values, edges=edges)}.__getitem__, classes=["x"]
    )
    cut = sed.Scores.from_pieces({"a": sed.ClipPieces(pieces, edges=edges)}, classes=["x"])
    expected = sed.deltas(whole, truth, criterion).counts()
    assert dict(count_columns(sed.deltas(cut, truth, criterion).counts())) == dict(
        count_columns(expected)
    )


events = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda event: (event[0], sum(event)))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(events, st.sampled_from([0.2, 0.5, 0.8])), max_size=7),
    st.lists(events, max_size=5),
    st.sampled_from([0, 1, 3, 20]),
    st.sampled_from([0, 2]),
)
def test_events_that_are_kept_as_they_are(
    detected: list[tuple[oracle.Event, float]],
    references: list[oracle.Event],
    cooldown: int,
    margin: int,
) -> None:
    """They may overlap, begin at the same time, and have no length."""
    truth = sed.GroundTruth.from_dict(
        {"a": [(on, off, "x") for on, off in references]}, durations={"a": 20}, overlaps="keep"
    )
    scores = sed.ScoredEvents.from_events(
        {"a": [(on, off, "x", score) for (on, off), score in detected]}, classes=["x"]
    )
    criterion = sed.Alarm(cooldown, before=margin, after=2 * margin)
    counts = sed.deltas(scores, truth, criterion).counts()["x"]
    assert counts.references == len(references)
    for score in {score for _, score in detected}:
        expected = oracle.alarm_count(
            [onset for (onset, _), confidence in detected if confidence >= score],
            references,
            [],
            cooldown=cooldown,
            before=margin,
            after=2 * margin,
            within=None,
        )
        tally = counts.tally_at(np.nextafter(score, 0))
        assert (tally.tp, tally.fp) == expected


@settings(max_examples=150)
@given(clip_lists_with_ignored, criteria, st.sampled_from([0.2, 0.25, 0.6]))
def test_diagnosis_agrees_with_the_counts(
    case: list[oracle.Clip], criterion: sed.Alarm, threshold: float
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    counts = sed.deltas(scores, truth, criterion, coverage="any").counts()
    diagnosis = sed.diagnose(scores, truth, criterion, threshold, coverage="any")
    for label in LABELS:
        tally = counts[label].tally_at(threshold)
        judged = diagnosis[label].tally()
        numbers: Any = [judged.tp, judged.fp]
        assert np.ravel(numbers).tolist() == [tally.tp, tally.fp]


def test_borders_belong_to_windows_and_a_cooldown_ends_at_its_border() -> None:
    #                       5 s before                          2 s after    60 s after the first alarm
    detected = [(95.0, 96, "x"), (112.0, 113, "x"), (155.0, 156, "x")]
    truth = sed.GroundTruth.from_dict({"a": [(100, 110, "x")]}, durations={"a": 600})
    system = sed.Scores.from_events({"a": detected})

    def tally(criterion: sed.Alarm) -> tuple[Any, Any]:
        found = sed.deltas(system, truth, criterion).counts()["x"].tally_at(0.5)
        return found.tp, found.fp

    assert tally(sed.Alarm(60, before=5)) == (1, 1)  # 95 s finds it, 155 s is false
    assert tally(sed.Alarm(60.000001, before=5)) == (1, 0)
    assert tally(sed.Alarm(60, before=4.999999)) == (0, 2)
    assert tally(sed.Alarm(0)) == (1, 2)  # 112 s finds it
    assert tally(sed.Alarm(0, after=1.999999)) == (0, 3)
    assert tally(sed.Alarm(0, within=12)) == (1, 2)
    assert tally(sed.Alarm(0, within=11.999999)) == (0, 3)


def test_a_suppressed_detection_does_not_prolong_the_cooldown() -> None:
    truth = sed.GroundTruth.from_dict({"a": []}, durations={"a": 600})
    detected = [(onset, onset + 1, "x") for onset in (0, 40, 80, 120)]
    system = sed.Scores.from_events({"a": detected})
    counts = sed.deltas(system, truth, sed.Alarm(60)).counts()["x"]
    assert counts.fp.tolist() == [2]  # at 0 s and at 80 s


@pytest.mark.parametrize("name", ["cooldown", "before", "after", "within"])
def test_parameters_out_of_range(name: str) -> None:
    options: Any = {name: -1}
    with pytest.raises(sed.SedscopeError, match=f"{name}=-1 must be at least 0"):
        sed.Alarm(**options)


def test_what_it_cannot_do_is_refused() -> None:
    truth = sed.simulate.ground_truth(3)
    scores = sed.simulate.scores(truth)
    with pytest.raises(sed.SedscopeError, match="makes no pairs"):
        sed.boundary_errors(scores, truth, sed.Alarm(), 0.5)
    with pytest.raises(sed.SedscopeError, match="cannot be resampled"):
        sed.evaluate(
            scores, truth, sed.BestFScore(sed.Alarm()), resampling=sed.Resampling(20, blocks=60)
        )
