"""Post-processings against their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import ndimage

import sedscope as sed
from sedscope.postprocessing import Chain, MedianFilter, PerClass, PostProcessing

from . import oracle_postprocessing as oracle
from .cases import any_scores, tied_scores

Clip = tuple[list[float], list[int]]


@st.composite
def clips(draw: st.DrawFn, max_frames: int = 12) -> Clip:
    """Scores of a class and their boundaries, a few microseconds apart or equal."""
    lengths = draw(st.lists(st.integers(0, 5) | st.just(3), min_size=1, max_size=max_frames))
    score = draw(st.sampled_from([tied_scores, any_scores]))
    scores = draw(st.lists(score, min_size=len(lengths), max_size=len(lengths)))
    first = draw(st.sampled_from([0, 0, 7]))
    return scores, np.cumsum([first, *lengths]).tolist()


windows = st.integers(0, 30)  # microseconds


def process(postprocessing: PostProcessing, clip: Clip, dtype: type = np.float64) -> Clip:
    """One class alone."""
    scores, edges = clip
    values: NDArray[Any] = np.array(scores, dtype)[:, None]
    made = sed.ClipScores.unchecked(values, np.array(edges, np.int64))
    found = postprocessing.process(made, ["a"])
    assert found.values.shape == (len(found.ticks) - 1, 1)
    assert (found.ticks[0], found.ticks[-1]) == (edges[0], edges[-1])
    assert np.all(np.diff(found.ticks) >= 0)
    return found.values[:, 0].tolist(), found.ticks.tolist()


def one_clip(
    values: Sequence[Sequence[float]], dtype: type = np.float64, frame: float = 1
) -> sed.Scores:
    array: NDArray[Any] = np.array(values, dtype)
    labels = ["a", "b", "c"][: array.shape[1]]
    return sed.Scores.from_arrays({"clip": array}, classes=labels, frame=frame)


@given(clips(), st.integers(1, 30))
def test_median_by_definition(clip: Clip, window: int) -> None:
    found = process(MedianFilter(window / 1e6), clip)
    for threshold in oracle.thresholds(clip[0], found[0]):
        assert oracle.runs(*found, threshold) == oracle.median(*clip, window, threshold)


@given(clips(), st.integers(1, 30))
def test_median_and_threshold_commute(clip: Clip, window: int) -> None:
    postprocessing = MedianFilter(window / 1e6)
    found = process(postprocessing, clip)
    for threshold in oracle.thresholds(clip[0]):
        binary = [1.0 if score > threshold else -oracle.INF for score in clip[0]]
        assert oracle.runs(*found, threshold) == oracle.runs(
            *process(postprocessing, (binary, clip[1])), 0
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("frames", [1, 3, 9, 101, 1001])
def test_median_of_an_odd_number_of_equal_frames(frames: int, dtype: type) -> None:
    rng = np.random.default_rng(frames)
    values: NDArray[Any] = np.round(rng.normal(size=(700, 3)), 1 if frames == 9 else 9).astype(dtype)
    found = MedianFilter(frames * 0.02)(one_clip(values.tolist(), dtype, 0.02))["clip"]
    expected = ndimage.median_filter(values, size=(frames, 1), mode="constant", cval=-np.inf)
    assert found.values.dtype == dtype
    at_frames = np.searchsorted(found.ticks, np.arange(700) * 20_000, side="right") - 1
    np.testing.assert_array_equal(found.values[at_frames], expected)
    assert set(found.ticks) <= set(range(0, 700 * 20_000 + 1, 20_000))


def test_median_changes_only_where_a_class_does() -> None:
    #                 0  1  2  3  4  5  6 s
    scores = one_clip([[1], [1], [9], [1], [1], [1]])
    clip = MedianFilter(3)(scores)["clip"]
    assert (clip.values.tolist(), clip.ticks.tolist()) == ([[1]], [0, 6_000_000])


def test_a_median_window_beyond_twice_the_clip_leaves_nothing() -> None:
    assert MedianFilter(7)(one_clip([[1], [2], [3]]))["clip"].values.tolist() == [[-np.inf]]


@given(st.lists(clips(), min_size=3, max_size=3), st.lists(windows, min_size=2, max_size=2))
def test_classes_keep_their_own_detections_side_by_side(case: list[Clip], lengths: list[int]) -> None:
    frames = min(len(scores) for scores, _ in case)
    edges = case[0][1][: frames + 1]
    values = np.array([scores[:frames] for scores, _ in case]).T
    clip = sed.ClipScores.unchecked(values, np.array(edges, np.int64))
    chosen = {label: MedianFilter(length / 1e6) for label, length in zip("ac", lengths, strict=True)}
    found = PerClass(chosen).process(clip, ["a", "b", "c"])
    assert (found.ticks[0], found.ticks[-1]) == (edges[0], edges[-1])
    for column, label in enumerate("abc"):
        alone = (values[:, column].tolist(), edges)
        if label in chosen:
            alone = process(chosen[label], alone)
        together = (found.values[:, column].tolist(), found.ticks.tolist())
        for threshold in oracle.thresholds(alone[0], together[0]):
            assert oracle.runs(*together, threshold) == oracle.runs(*alone, threshold)


def test_touching_events_stay_apart_beside_a_filtered_class() -> None:
    events = [(0, 1, "a", 0.9), (1, 2, "a", 0.8), (0, 0.5, "b"), (0.5, 2, "b")]
    scores = sed.Scores.from_events({"clip": events})
    found = PerClass({"b": MedianFilter(0.2)})(scores)
    detected = sed.detect(found, 0.5)["clip"]
    assert detected == [(0, 1, "a"), (0, 2, "b"), (1, 2, "a")]


def test_a_chain_runs_in_order() -> None:
    rng = np.random.default_rng(0)
    scores = one_clip(rng.normal(size=(50, 2)).tolist())
    first, second = MedianFilter(5), MedianFilter(2.5)
    chained, by_hand = Chain(first, second)(scores)["clip"], second(first(scores))["clip"]
    np.testing.assert_array_equal(chained.values, by_hand.values)
    np.testing.assert_array_equal(chained.ticks, by_hand.ticks)
    assert Chain()(scores)["clip"] is scores["clip"]
    assert Chain(Chain(first), Chain(second)) == Chain(first, second)
    assert Chain(first, second)(scores)["clip"].values.tolist() != second(scores)["clip"].values.tolist()


def test_clips_are_processed_when_they_are_loaded() -> None:
    loaded: list[str] = []

    def function(clip: str) -> sed.ClipScores:
        loaded.append(clip)
        return sed.ClipScores([[1.0]], [0, 1])

    scores = sed.Scores.from_function(["x", "y"], function, classes=["a"], thread_safe=True)
    scores.whole_clips = False
    found = MedianFilter(0.1)(scores)
    assert (list(found), found.classes, loaded) == (["x", "y"], ("a",), [])
    assert (found.in_memory, found.thread_safe, found.whole_clips) == (False, True, False)
    assert found["y.wav"].values.tolist() == [[1]]
    assert loaded == ["y"]
