"""Median filters of whole frames and of many clips, compared with that of one clip in continuous time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope import _native
from sedscope.postprocessing import MedianFilter
from sedscope.postprocessing.postprocessing import ClipGroup, ReadLimit

from ..support.strategies import any_scores, tied_scores

FRAME = 10  # microseconds
MOST_FRAMES = 4095  # that the core ranks


@st.composite
def equal_frames(draw: st.DrawFn, classes: int = 1) -> sed.ClipScores:
    score = draw(st.sampled_from([tied_scores, any_scores, st.sampled_from([-0.0, 0.0, -np.inf, 1])]))
    frames = draw(st.integers(1, 30))
    row = st.lists(score, min_size=classes, max_size=classes)
    values = draw(st.lists(row, min_size=frames, max_size=frames))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return sed.ClipScores.unchecked(np.array(values, dtype), FRAME * np.arange(frames + 1))


def in_continuous_time(clip: sed.ClipScores, window: int) -> NDArray[Any]:
    """The median at the beginning and the end of each frame. One frame is cut, so that frames differ."""
    values = np.insert(clip.values, 0, clip.values[0], axis=0)
    filtered = _native.median_filter(values, np.insert(clip.ticks, 1, clip.ticks[0] + 3), window)
    at = [
        np.searchsorted(filtered.edges, clip.ticks[:-1] + shift, "right") - 1 for shift in (0, FRAME - 1)
    ]
    ends: NDArray[Any] = filtered.values.T[np.stack(at)]
    return ends


def assert_whole_frames(clip: sed.ClipScores, frames: int) -> None:
    filtered = _native.median_filter(clip.values, clip.ticks, frames * FRAME)
    assert filtered.edges.tolist() == clip.ticks.tolist()
    for expected in in_continuous_time(clip, frames * FRAME):
        assert filtered.values.T.tobytes() == expected.tobytes()


@given(equal_frames(classes=2), st.integers(1, 70))
def test_windows_of_whole_frames(clip: sed.ClipScores, frames: int) -> None:
    assert_whole_frames(clip, frames)


@pytest.mark.parametrize("frames", [2, 3, 90, 1001])
@pytest.mark.parametrize("length", [64, 129, MOST_FRAMES, MOST_FRAMES + 1])
def test_windows_of_whole_frames_in_long_clips(length: int, frames: int) -> None:
    values = np.random.default_rng(frames).normal(size=(length, 1)).round(2)
    assert_whole_frames(sed.ClipScores.unchecked(values, FRAME * np.arange(length + 1)), frames)


def some_clips(dtype: type, seed: int = 0) -> list[sed.ClipScores]:
    """Clips with equal frames, clips with others, and one without any."""
    rng = np.random.default_rng(seed)
    clips = []
    for number, frames in enumerate([40, 0, 7, 90, 1, 40, 33]):
        lengths = np.full(frames, FRAME) if number % 3 else rng.integers(0, 9, frames)
        values = np.cumsum(rng.normal(size=(frames, 3)), axis=0).round(1).astype(dtype)
        clips.append(sed.ClipScores.unchecked(values, np.cumsum([number, *lengths])))
    return clips


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_clips_at_once(dtype: type, threads: int) -> None:
    clips = some_clips(dtype)
    group = ClipGroup(clips, threads)
    for window in (1, 7, 10, 20, 30, 111, 230, 5000):
        postprocessing = MedianFilter(window / 1e6)
        processed = postprocessing._process_group(group, None)
        assert processed is not None
        for i, (clip, together) in enumerate(zip(clips, processed.clips, strict=True)):
            alone = postprocessing.process(clip, "abc") if len(clip.values) else clip
            assert together.values.tolist() == alone.values.tolist()
            assert together.ticks.tolist() == alone.ticks.tolist()
            assert processed.maxima[i].tolist() == alone.values.max(axis=0, initial=-np.inf).tolist()


@pytest.mark.parametrize(
    "clips",
    [
        [*some_clips(np.float32), *some_clips(np.float64)],
        [sed.ClipScores.unchecked(np.array([[0.1], [np.nan]]), np.arange(3))],
        [sed.ClipScores.unchecked(np.zeros((2**16 + 1, 1)), np.arange(2**16 + 2))],
    ],
    ids=["two types", "NaN", "very long"],
)
def test_clips_that_are_processed_one_by_one(clips: Sequence[sed.ClipScores]) -> None:
    assert MedianFilter(1)._process_group(ClipGroup(clips, 1), None) is None


@given(st.integers(0, 1000), st.integers(1, 9), st.integers(1, 30), st.booleans())
def test_scores_that_are_read_are_exact(seed: int, rank: int, frames: int, has_floor: bool) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(1, 60, 12)
    clips = [
        sed.ClipScores.unchecked(
            np.cumsum(rng.normal(size=(n, 2)), axis=0).round(1), FRAME * np.arange(n + 1)
        )
        for n in shapes
    ]
    among = rng.random((len(clips), 2)) < 0.7
    lowest = np.array([0.5, -1.0]) if has_floor else np.full(2, -np.inf)
    group, postprocessing = ClipGroup(clips, 1), MedianFilter(frames * FRAME / 1e6)
    complete = postprocessing._process_group(group, None)
    limited = postprocessing._process_group(group, ReadLimit(lowest, rank, among))
    assert complete is not None
    assert limited is not None
    for c in range(2):
        largest = np.sort(complete.maxima[among[:, c], c])[::-1]
        read = max(lowest[c], largest[rank - 1] if rank <= len(largest) else -np.inf)
        for exact, pruned in zip(complete.clips, limited.clips, strict=True):
            is_read = exact.values[:, c] >= read
            assert pruned.values[is_read, c].tolist() == exact.values[is_read, c].tolist()
            assert (pruned.values[~is_read, c] < read).all()
        at_least = [np.maximum(result.maxima[:, c], read) for result in (complete, limited)]
        clear = complete.maxima[:, c] >= read
        assert at_least[0][clear].tolist() == limited.maxima[clear, c].tolist()
        assert (limited.maxima[~clear, c] < read).all()


@dataclass(frozen=True, repr=False)
class OneByOne(MedianFilter):
    """The same filter, which processes one clip after the other."""


def pi_psds(kind: type[MedianFilter], scores: sed.Scores, truth: sed.GroundTruth) -> list[Any]:
    filters = [kind(seconds) for seconds in (0.1, 0.33, 0.4, 1.5)]
    metric = sed.PiPSDS(sed.Intersection(0.7, 0.7), max_efpr=50, postprocessing=filters)
    result = sed.evaluate(scores, truth, metric)[metric]
    return [result.value, [value.value for value in result.per_class.values()]]


def tuned(kind: type[MedianFilter], scores: sed.Scores, truth: sed.GroundTruth) -> list[Any]:
    filters = [kind(seconds) for seconds in (0.1, 0.33, 0.4, 1.5)]
    tuning = sed.tune(scores, truth, sed.BestFScore(sed.Collar()), filters)
    return [[*best.values.values(), best.threshold] for best in tuning.per_class.values()]


@pytest.mark.parametrize("measure", [pi_psds, tuned])
def test_evaluation_of_many_filters(measure: Callable[..., list[Any]]) -> None:
    truth = sed.simulate.ground_truth(50)
    made = sed.simulate.scores(truth)
    arrays = {clip: made[clip].values for clip in made}
    in_memory = sed.Scores.from_arrays(arrays, classes=made.classes, edges=made[next(iter(made))].edges)
    expected = repr(measure(OneByOne, in_memory, truth))  # NaN equals itself in a text
    assert repr(measure(MedianFilter, in_memory, truth)) == expected
    assert repr(measure(MedianFilter, made, truth)) == expected
