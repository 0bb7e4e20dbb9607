"""Shares of lengths and means of scores are exact, for events of any length and scores of any size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.criteria import Criterion
from sedscope.criteria.criterion import as_share
from sedscope.data.arrays import ScoreArray

from ..support import oracle
from ..support.oracle.clips import simplest_fraction

LONGEST = 10**14  # microseconds, three years

decimals = st.integers(1, 10_000).map(lambda n: n / 10_000)
quotients = st.tuples(st.integers(1, 60), st.integers(1, 60)).map(lambda pair: min(pair) / max(pair))
shares = st.sampled_from([0.1, 0.3, 0.5, 0.7, 1 / 6]) | decimals | quotients | st.floats(1e-6, 1)
lengths = (
    st.integers(2, 10**6)
    | st.integers(2, LONGEST)
    | st.integers(1, LONGEST // 20).map(lambda n: 10 * (2 * n + 1) // 2)
)


def found(criterion: Criterion, detection: int, reference: int) -> bool:
    """Whether a reference from 0 on is found by a detection from 0 on, given their ends."""
    end = max(detection, reference) + 1
    edges = np.array([0, detection, end], np.int64)
    scores = np.array([[1.0], [-np.inf]])
    made = {"a": sed.ClipScores.from_ticks(scores, edges)}
    truth = sed.GroundTruth.from_dict({"a": [(0.0, reference / 1e6, "Dog")]}, durations={"a": end / 1e6})
    system = sed.Scores(made, made.__getitem__, classes=["Dog"], in_memory=True)
    return bool(sed.deltas(system, truth, criterion).counts()["Dog"].tally_at(0.5).tp)


@given(shares, lengths)
def test_a_required_share_is_exact(share: float, length: int) -> None:
    required = oracle.requirement(share, length)
    assert required == max(1, int(simplest_fraction(share) * length + Fraction(1, 2)))
    for overlap in {required, max(1, required - 1)}:
        enough = overlap >= required
        # the reference covers the beginning of the detection, or the other way round
        assert found(sed.Intersection(share, 1e-9), length, overlap) == enough
        assert found(sed.Intersection(1e-9, share), overlap, length) == enough
        assert found(sed.IoU(share), overlap, length) == enough


@given(shares, lengths)
def test_a_collar_that_is_a_share_of_the_length_is_exact(share: float, length: int) -> None:
    tolerance = oracle.share(share, length)
    assume(tolerance + 1 < length)
    collar = sed.Collar(onset=0, offset=0, offset_rate=share)
    assert found(collar, length - tolerance, length)
    assert not found(collar, length - tolerance - 1, length)


@pytest.mark.parametrize("length", [5, 100_000_005, 3_600_000_005, 10**12 + 5])
def test_halves_are_rounded_up_whatever_the_length(length: int) -> None:
    required = (7 * length + 5) // 10  # 0.7 of it ends in a half
    assert found(sed.Intersection(0.7, 1e-9), length, required)
    assert not found(sed.Intersection(0.7, 1e-9), length, required - 1)


@given(shares | st.floats(1e-15, 1e15))
def test_a_share_is_the_simplest_fraction(number: float) -> None:
    numerator, denominator = as_share(number)
    assert numerator / denominator == number
    assert Fraction(numerator, denominator) == simplest_fraction(number)


def test_shares_beyond_all_lengths() -> None:
    assert as_share(1e-300) == as_share(0) == (0, 1)
    assert as_share(1e300) == (2**53, 1)


def segment_means(values: ScoreArray, edges: list[int], length: int | None) -> list[float]:
    """The scores of the segments of one clip, highest first."""
    made = {"a": sed.ClipScores.from_ticks(values[:, None], np.array(edges, np.int64))}
    truth = sed.GroundTruth.from_dict(
        {"a": [(0.0, edges[-1] / 1e6, "Dog")]}, durations={"a": edges[-1] / 1e6}
    )
    system = sed.Scores(made, made.__getitem__, classes=["Dog"], in_memory=True)
    criterion = sed.Clip("mean") if length is None else sed.Segment(length / 1e6, "mean")
    means: list[float] = sed.deltas(system, truth, criterion).counts()["Dog"].scores.tolist()
    return means


any_value = (
    st.sampled_from([0.1, 0.3, 1e-30, -1e-30, 1e30, -1e30, 5e-324, 1.7e308, -1.7e308])
    | st.floats(0, 1)
    | st.floats(-20, 20, width=32)
    | st.floats(allow_nan=False, allow_infinity=False)
)


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(any_value, st.sampled_from([1, 3, 64_000, 10**9, 10**13 + 1])), min_size=1, max_size=12
    ),
    st.booleans(),
    st.booleans(),
)
def test_means_are_rounded_once(frames: list[tuple[float, int]], whole: bool, narrow: bool) -> None:
    scores = [score for score, _ in frames]
    if narrow:
        with np.errstate(over="ignore"):
            scores = np.array(scores, np.float32).astype(float).tolist()
        assume(np.isfinite(scores).all())
    edges = np.cumsum([0, *(length for _, length in frames)]).tolist()
    length = None if whole else max(1, edges[-1] // 3)
    clip = oracle.Clip(edges, {"Dog": scores}, [], edges[-1])
    expected = oracle.segment_scores(clip, "Dog", length=length, mean=True)
    values: ScoreArray = np.array(scores, np.float32 if narrow else np.float64)
    assert segment_means(values, edges, length) == sorted(set(expected), reverse=True)


@pytest.mark.parametrize("constant", [0.1234, 0.4711, 0.9999, 1e-37, 7.3001])
@pytest.mark.parametrize("criterion", [sed.Segment(1.0, "mean"), sed.Clip("mean")])
def test_constant_scores_say_nothing(constant: float, criterion: Criterion) -> None:
    scores = sed.Scores.from_arrays(
        {f"{i}": np.full((150 + 7 * i, 1), constant) for i in range(6)}, classes=["Dog"], frame=0.064
    )
    events = {f"{i}": [(0.5 * i, 4.0, "Dog")] if i % 2 else [] for i in range(6)}
    truth = sed.GroundTruth.from_dict(events, durations={f"{i}": 9.6 + 0.448 * i for i in range(6)})
    metric = sed.AUROC(criterion)
    assert sed.evaluate(scores, truth, metric)[metric].value == 0.5


def test_means_of_recordings_in_pieces_are_exact() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(5000, 3)) * 10.0 ** rng.integers(-30, 30, (5000, 3))
    truth = sed.GroundTruth.from_dict({"a": [(1, 90, "b")]}, durations={"a": 320})
    pieces = sed.ClipPieces(lambda: np.array_split(values, 7), frames=5000, frame=0.064)
    ticks = pieces.ticks.tolist()
    system = sed.Scores.from_pieces({"a": pieces}, classes=["a", "b", "c"])
    for criterion in (sed.Segment(0.7, "mean"), sed.Clip("mean")):
        counts = sed.deltas(system, truth, criterion).counts()
        for c, label in enumerate("abc"):
            clip = oracle.Clip(ticks, {label: values[:, c].tolist()}, [], 320_000_000)
            length = 700_000 if isinstance(criterion, sed.Segment) else None
            expected = set(oracle.segment_scores(clip, label, length=length, mean=True))
            assert set(counts[label].scores.tolist()) == expected
