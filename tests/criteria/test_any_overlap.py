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


@settings(max_examples=250)
@given(clip_lists_with_ignored, criteria, st.booleans(), dtypes)
def test_counts(case: list[oracle.Clip], criterion: sed.AnyOverlap, slow: bool, dtype: type) -> None:
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


@settings(max_examples=100)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 300), max_size=8).map(sorted),
    st.sampled_from([None, 1.0, 2.0, 5.0]),
    st.sampled_from([None, 3.0]),
)
def test_pieces_of_a_recording(
    seed: int, cuts: list[int], merge_gap: float | None, split: float | None
) -> None:
    """Gaps are closed with as few frames in memory as possible: wherever the pieces end."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (300, 1)) / 5
    edges = np.concatenate([[0], np.cumsum(rng.choice([0.2, 0.5, 1.0], 300))])
    onsets = np.sort(rng.choice(np.arange(0, 100, 2), 8, replace=False)).tolist()
    truth = sed.GroundTruth.from_dict(
        {"a": [(on, on + 1, "x") for on in onsets]}, durations={"a": edges[-1]}
    )
    criterion = sed.AnyOverlap(0.4, 0.6, merge_gap, split)

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


events = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda event: (event[0], sum(event)))


@settings(max_examples=200)
@given(
    st.lists(st.tuples(events, st.sampled_from([0.2, 0.5, 0.8])), max_size=7),
    st.lists(events, max_size=5),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([None, 2]),
)
def test_events_that_are_kept_as_they_are(
    detected: list[tuple[oracle.Event, float]],
    references: list[oracle.Event],
    margin: int,
    split: int | None,
) -> None:
    truth = sed.GroundTruth.from_dict(
        {"a": [(on, off, "x") for on, off in references]}, durations={"a": 20}, overlaps="keep"
    )
    scores = sed.Scores.from_events(
        {"a": [(on, off, "x", score) for (on, off), score in detected]}, classes=["x"], overlaps="keep"
    )
    counts = sed.deltas(scores, truth, sed.AnyOverlap(margin, 2 * margin, split=split)).counts()["x"]
    for score in {score for _, score in detected}:
        tp, fp, number = oracle.any_overlap_count(
            [event for event, confidence in detected if confidence >= score],
            references,
            [],
            before=margin,
            after=2 * margin,
            merge_gap=None,
            split=split,
        )
        tally = counts.tally_at(np.nextafter(score, 0))
        assert (tally.tp, tally.fp, counts.references) == (tp, fp, number)


def test_overlapping_events_are_not_kept_and_merged_at_once() -> None:
    overlapping: Any = {"a": [(1, 3, "x", 0.9), (2, 4, "x", 0.5)]}
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "x")]}, durations={"a": 9})
    kept = sed.Scores.from_events(overlapping, overlaps="keep")
    with pytest.raises(sed.SedscopeError, match=r"merges events that overlap.*overlaps='merge'"):
        sed.deltas(kept, truth, SEIZURES)


def test_seizures_by_hand() -> None:
    #               0        100       200       300       400       500       600 s
    # reference              [ 100–130 )                        [ 450 –––––––– 560 )
    # in its window     [ 70 –––– 190 )                    [ 420 ––––––––––––––– 620 )
    truth = sed.GroundTruth.from_dict({"a": [(100, 130, "sz"), (450, 560, "sz")]}, durations={"a": 3600})
    detected = [(185, 200), (270, 280), (1000, 1010), (1099, 1110), (1200, 1210), (2000, 2650)]
    #           found      1 s after    two alarms, 89 s apart  90 s: another  three pieces
    scores = sed.Scores.from_events({"a": [(on, off, "sz", 0.5) for on, off in detected]})
    counts = sed.deltas(scores, truth, SEIZURES).counts()["sz"]
    # 185–200 and 270–280 are 70 s apart: one detection, which overlaps the first window
    assert (counts.tp.tolist(), counts.fp.tolist(), counts.references) == ([1], [5], 2)
    rate = sed.FalseAlarmRate(SEIZURES, threshold=0, per="day")
    assert sed.evaluate(scores, truth, rate)[rate].value == 5 * 24


def test_references_are_merged_and_split() -> None:
    events = [(0, 10, "sz"), (99, 100, "sz"), (190, 800, "sz"), (2000, 2300, "sz"), (2390, 2400, "sz")]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 3600})
    scores = sed.Scores.from_arrays({"a": np.zeros((60, 1))}, classes=["sz"], frame=60.0)
    counts = sed.deltas(scores, truth, SEIZURES).counts()["sz"]
    # 0–100 (gap of 89 s), 190–490–790–800 (a gap of 90 s is kept), 2000–2300, 2390–2400
    assert (counts.references, counts.reference_time) == (6, 1020.0)


def test_references_of_other_lengths_are_ignored_before_any_are_merged() -> None:
    events = [(0, 10, "sz"), (50, 51, "sz"), (100, 110, "sz"), (1000, 1001, "sz")]
    truth = sed.GroundTruth.from_dict({"a": events}, durations={"a": 3600})
    scores = sed.Scores.from_events({"a": [(1050, 1060, "sz", 0.5), (2000, 2001, "sz", 0.5)]})
    counts = sed.deltas(scores, truth, sed.OfLength(SEIZURES, shortest=5)).counts()["sz"]
    # 0–10 and 100–110 are 90 s apart without the one between them
    assert (counts.references, counts.tp.tolist(), counts.fp.tolist()) == (2, [0], [1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"before": -1}, "before=-1 must be at least 0"),
        ({"merge_gap": 0}, "merge_gap=0 must be at least 1e-06"),
        ({"split": 0.5}, "split=0.5 must be at least 1"),
    ],
)
def test_parameters_out_of_range(options: dict[str, Any], message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.AnyOverlap(**options)


def test_what_it_cannot_do_is_refused() -> None:
    truth = sed.simulate.ground_truth(3)
    scores = sed.simulate.scores(truth)
    with pytest.raises(sed.SedscopeError, match="not defined for AnyOverlap: it does not pair"):
        sed.ErrorRate(SEIZURES, average="micro")
    with pytest.raises(sed.SedscopeError, match=r"judges single events .*, not AnyOverlap"):
        sed.diagnose(scores, truth, SEIZURES, 0.5)
    with pytest.raises(sed.SedscopeError, match="cannot be resampled"):
        sed.evaluate(scores, truth, sed.BestFScore(SEIZURES), resampling=sed.Resampling(20, blocks=60))
