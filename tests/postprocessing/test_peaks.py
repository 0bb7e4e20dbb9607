"""Peaks, compared with a brute force and with scipy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.postprocessing import Chain, MedianFilter, Peaks, PerClass

levels = st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 0.75, np.inf])


def brute_force(scores: list[float], edges: list[int], distance: int) -> list[tuple[int, float]]:
    """The peaks as (time, score): all runs of equal scores above their neighbours, then the best ones."""
    changes = [k for k, (a, b) in enumerate(pairwise(scores), 1) if a != b]
    runs = [*pairwise([0, *changes, len(scores)])]
    around = [-np.inf, *(scores[first] for first, _ in runs), -np.inf]
    peaks = [
        ((edges[first] + edges[end]) // 2, scores[first])
        for (first, end), before, own, after in zip(runs, around, around[1:], around[2:], strict=False)
        if before < own > after
    ]
    kept: list[tuple[int, float]] = []
    for time, score in sorted(peaks, key=lambda peak: (-peak[1], peak[0])):
        if all(abs(time - other) >= distance for other, _ in kept):
            kept.append((time, score))
    return sorted(kept)


def peaks_of(values: Any, edges: list[int], distance: int) -> list[tuple[int, float]]:
    clip = sed.ClipScores(values, np.array(edges) / 1e6)
    events = Peaks(distance / 1e6).process(clip, ["Dog"])
    assert (events.times[:, 0] == events.times[:, 1]).all()
    return [*zip(events.times[:, 0].tolist(), events.confidences.tolist(), strict=True)]


@settings(max_examples=300)
@given(
    st.lists(st.tuples(levels, st.integers(1, 4)), min_size=1, max_size=30),
    st.integers(0, 12),
    st.sampled_from([np.float32, np.float64]),
)
def test_brute_force(frames: list[tuple[float, int]], distance: int, dtype: Any) -> None:
    scores = [score for score, _ in frames]
    edges = np.cumsum([0, *(length for _, length in frames)]).tolist()
    values = np.array(scores, dtype)[:, None]
    assert peaks_of(values, edges, distance) == brute_force(scores, edges, distance)


@pytest.mark.parametrize("distance", [1, 2, 5, 40])
def test_scipy(distance: int) -> None:
    from scipy.signal import find_peaks

    scores = np.random.default_rng(distance).permutation(2000) / 2000.0
    frames, _ = find_peaks(np.pad(scores, 1, constant_values=-1.0), distance=distance)
    edges = np.arange(0, 2 * len(scores) + 1, 2).tolist()
    expected = [(2 * (frame - 1) + 1, scores[frame - 1]) for frame in frames.tolist()]
    assert peaks_of(scores[:, None], edges, 2 * distance) == expected


def test_classes_have_peaks_of_their_own() -> None:
    values = np.array([[0.1, 0.3], [0.9, 0.2], [0.3, 0.5], [0.5, 0.5], [0.2, 0.1]])
    scores = sed.Scores.from_arrays({"x": values}, classes=["Dog", "Cat"], frame=0.5)
    far, near = Peaks(1.5), Peaks()
    both = PerClass({"Dog": far, "Cat": near})(scores)
    assert isinstance(both, sed.ScoredEvents)
    assert both.events() == {
        "x": [(0.75, 0.75, "Dog", 0.9), (1.5, 1.5, "Cat", 0.5), (0.25, 0.25, "Cat", 0.3)]
    }
    alike = PerClass({"Dog": near, "Cat": near})(scores)
    assert isinstance(alike, sed.ScoredEvents)
    assert alike.events() == near(scores).events()
    filtered = Chain(MedianFilter(1.5), near)(scores)
    assert isinstance(filtered, sed.ScoredEvents)
    assert filtered.events() == near(MedianFilter(1.5)(scores)).events()
    assert filtered.processing == ("Chain(MedianFilter(seconds=1.5), Peaks(min_distance=0))",)


def test_clips_without_peaks() -> None:
    nothing = sed.ClipScores(np.empty((0, 1)), [0.0])
    silence = sed.ClipScores(np.full((3, 1), -np.inf), [0, 1, 2, 3])
    scores = sed.Scores({"x": 0, "y": 0}, {"x": nothing, "y": silence}.__getitem__, classes=["Dog"])
    assert Peaks()(scores).events() == {"x": [], "y": []}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda scores: Peaks(-1), "min_distance=-1 must be at least 0"),
        (lambda scores: Chain(Peaks(0.1), MedianFilter(1)), "must be the last step of a chain"),
        (lambda scores: PerClass({"Dog": Peaks()})(scores), "all must: Cat would keep scores of frames"),
        (lambda scores: MedianFilter(1)(Peaks()(scores)), "cannot be post-processed by MedianFilter"),
        (lambda scores: Chain(*[MedianFilter(1)] * 9)(Peaks()(scores)), "MedianFilter.*…: that needs"),
    ],
)
def test_refusals(make: Any, message: str) -> None:
    scores = sed.Scores.from_arrays({"x": [[0.1, 0.2]]}, classes=["Dog", "Cat"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=message):
        make(scores)


def test_one_kind_is_tuned_at_a_time() -> None:
    truth = sed.simulate.ground_truth(5)
    with pytest.raises(sed.SedscopeError, match="tune each kind by itself"):
        sed.tune(sed.simulate.scores(truth), truth, "best_collar_f1", "Peaks(0.1)|MedianFilter(1)")
