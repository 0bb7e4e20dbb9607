"""Post-processings, compared with their definitions."""

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
from sedscope.postprocessing import (
    Chain,
    EventBoxes,
    Hysteresis,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    PerClass,
    PostProcessing,
)

from ..support.oracle import postprocessing as oracle
from ..support.strategies import any_scores, tied_scores

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
    processed = postprocessing.process(made, ["a"])
    assert isinstance(processed, sed.ClipScores)
    assert processed.values.shape == (len(processed.ticks) - 1, 1)
    assert (processed.ticks[0], processed.ticks[-1]) == (edges[0], edges[-1])
    assert np.all(np.diff(processed.ticks) >= 0)
    return processed.values[:, 0].tolist(), processed.ticks.tolist()


def one_clip(
    values: Sequence[Sequence[float]], dtype: type = np.float64, frame: float = 1
) -> sed.Scores:
    array: NDArray[Any] = np.array(values, dtype)
    labels = ["a", "b", "c"][: array.shape[1]]
    return sed.Scores.from_arrays({"clip": array}, classes=labels, frame=frame)


@given(clips(), st.integers(1, 30))
def test_median_by_definition(clip: Clip, window: int) -> None:
    processed = process(MedianFilter(window / 1e6), clip)
    for threshold in oracle.thresholds(clip[0], processed[0]):
        assert oracle.runs(*processed, threshold) == oracle.median(*clip, window, threshold)


@given(clips(), st.integers(1, 30))
def test_median_and_threshold_commute(clip: Clip, window: int) -> None:
    postprocessing = MedianFilter(window / 1e6)
    processed = process(postprocessing, clip)
    for threshold in oracle.thresholds(clip[0]):
        binary = [1.0 if score > threshold else -oracle.INF for score in clip[0]]
        assert oracle.runs(*processed, threshold) == oracle.runs(
            *process(postprocessing, (binary, clip[1])), 0
        )


@pytest.mark.parametrize("window", [1, 8, 401, 4000, 9000])
def test_median_of_many_frames_of_any_length(window: int) -> None:
    rng = np.random.default_rng(window)
    lengths = rng.integers(0, 6, 2500)
    scores = np.cumsum(rng.normal(size=2500)).round(1)
    found, ticks = process(
        MedianFilter(window / 1e6), (scores.tolist(), [0, *np.cumsum(lengths).tolist()])
    )
    filtered = np.repeat(found, np.diff(ticks))  # per microsecond
    for threshold in np.quantile(scores, [0.05, 0.3, 0.5, 0.9]):
        active = np.repeat(scores > threshold, 2 * lengths)  # per half microsecond
        before = np.cumsum(np.concatenate([[0], active]))
        middles = np.arange(1, len(active), 2)
        first, last = (np.clip(middles + side, 0, len(active)) for side in (-window, window))
        np.testing.assert_array_equal(filtered > threshold, before[last] - before[first] > window)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("frames", [1, 3, 9, 101, 1001])
def test_median_of_an_odd_number_of_equal_frames(frames: int, dtype: type) -> None:
    rng = np.random.default_rng(frames)
    values: NDArray[Any] = np.round(rng.normal(size=(700, 3)), 1 if frames == 9 else 9).astype(dtype)
    processed = MedianFilter(frames * 0.02)(one_clip(values.tolist(), dtype, 0.02))["clip"]
    expected = ndimage.median_filter(values, size=(frames, 1), mode="constant", cval=-np.inf)
    assert processed.values.dtype == dtype
    at_frames = np.searchsorted(processed.ticks, np.arange(700) * 20_000, side="right") - 1
    np.testing.assert_array_equal(processed.values[at_frames], expected)
    assert set(processed.ticks) <= set(range(0, 700 * 20_000 + 1, 20_000))


def test_median_keeps_the_frames() -> None:
    #                 0  1  2  3  4  5  6 s
    scores = one_clip([[1], [1], [9], [1], [1], [1]])
    clip = MedianFilter(3)(scores)["clip"]
    assert (clip.values.tolist(), clip.ticks.tolist()) == ([[1]] * 6, [k * 1_000_000 for k in range(7)])


@pytest.mark.parametrize("later", [MovingAverage(0.5), EventBoxes(0.4)])
def test_what_follows_a_median_does_not_depend_on_other_classes(later: PostProcessing) -> None:
    values = np.random.default_rng(1).random((60, 3))
    chain = Chain(MedianFilter(0.3), later)
    together = sed.Scores.from_arrays({"a": values}, classes=["A", "B", "C"], frame=0.1)
    alone = sed.Scores.from_arrays({"a": values[:, :1]}, classes=["A"], frame=0.1)
    for threshold in (0.3, 0.5, 0.6):
        expected = sed.detect(chain(alone), {"A": threshold})
        assert sed.detect(chain(together), {"A": threshold}) == expected


def test_a_median_window_beyond_twice_the_clip_leaves_nothing() -> None:
    assert MedianFilter(7)(one_clip([[1], [2], [3]]))["clip"].values.tolist() == [[-np.inf]] * 3


@given(clips(), windows)
def test_short_detections_are_removed_at_every_threshold(clip: Clip, shortest: int) -> None:
    processed = process(MinimumDuration(shortest / 1e6), clip)
    for threshold in oracle.thresholds(clip[0], processed[0]):
        expected = oracle.minimum_duration(oracle.runs(*clip, threshold), shortest)
        assert oracle.runs(*processed, threshold) == expected


@given(clips(), windows)
def test_short_gaps_are_closed_at_every_threshold(clip: Clip, longest: int) -> None:
    processed = process(MaximumGap(longest / 1e6), clip)
    for threshold in oracle.thresholds(clip[0], processed[0]):
        expected = oracle.maximum_gap(oracle.runs(*clip, threshold), longest)
        assert oracle.runs(*processed, threshold) == expected


def test_a_detection_of_exactly_that_length_stays_and_such_a_gap_is_closed() -> None:
    #                   0    1    2    3    4    5    6 s
    scores = one_clip([[9], [9], [1], [1], [9], [1]], np.float32)
    assert MinimumDuration(2)(scores)["clip"].values[:, 0].tolist() == [9, 9, 1, 1, 1, 1]
    assert MaximumGap(2)(scores)["clip"].values[:, 0].tolist() == [9, 9, 9, 9, 9, 1]
    assert MaximumGap(1.999_999)(scores)["clip"].values[:, 0].tolist() == [9, 9, 1, 1, 9, 1]
    for postprocessing in (MinimumDuration(2), MaximumGap(2), MedianFilter(3)):
        assert postprocessing(scores)["clip"].values.dtype == np.float32


@given(clips(), st.sampled_from([0.0, 0.1, 0.25, 1.0]) | st.floats(0, 3))
def test_hysteresis_by_difference(clip: Clip, difference: float) -> None:
    processed = process(Hysteresis(difference=difference), clip)
    lifted = [score + difference for score in clip[0]]
    for threshold in oracle.thresholds(clip[0], lifted, processed[0]):
        expected = oracle.hysteresis(clip[0], lifted, clip[1], threshold)
        assert oracle.runs(*processed, threshold) == expected


@given(clips(), st.sampled_from([0.25, 0.5, 1.0]) | st.floats(0.01, 1))
def test_hysteresis_by_ratio(clip: Clip, ratio: float) -> None:
    scores = [abs(score) if score > -oracle.INF else score for score in clip[0]]
    processed = process(Hysteresis(ratio=ratio), (scores, clip[1]))
    lifted = [score / ratio for score in scores]
    for threshold in oracle.thresholds(scores, lifted, processed[0]):
        expected = oracle.hysteresis(scores, lifted, clip[1], threshold)
        assert oracle.runs(*processed, threshold) == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(case=clips(), window=st.integers(1, 30), infinite=st.booleans())
def test_moving_average_is_the_exact_mean_rounded(
    dtype: type, case: Clip, window: int, infinite: bool
) -> None:
    scores = [oracle.INF if infinite and score == 1 else score for score in case[0]]
    if case[1][0] == case[1][-1]:  # a clip of no length
        return
    found, ticks = process(MovingAverage(window / 1e6), (scores, case[1]), dtype)
    assert ticks == case[1]
    assert found == oracle.moving_average(scores, case[1], window)


# constants with decimals, neighbours of each other, any magnitude up to the largest numbers
hard_scores = (
    st.sampled_from(
        [0.1, 0.3, np.nextafter(0.3, 1), 1e-30, -1e-30, 1e30, -1e30, 5e-324, 1.7e308, -1.7e308]
    )
    | st.floats(0, 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
hard_clips = st.lists(
    st.tuples(hard_scores, st.sampled_from([1, 3, 64_000, 10**9])), min_size=1, max_size=10
).map(lambda frames: ([s for s, _ in frames], np.cumsum([0, *(n for _, n in frames)]).tolist()))


@given(hard_clips, st.sampled_from([1, 2, 5, 100_000, 128_001, 3 * 10**9]))
def test_moving_average_of_all_magnitudes(case: Clip, window: int) -> None:
    found, _ = process(MovingAverage(window / 1e6), case)
    assert found == oracle.moving_average(*case, window)


@given(hard_clips, st.sampled_from([1, 2, 5, 100_000, 128_001, 3 * 10**9]))
def test_boxes_of_all_magnitudes(case: Clip, window: int) -> None:
    scores = [max(min(score, 1e300), -1e300) for score in case[0]]
    processed = process(EventBoxes(window / 1e6), (scores, case[1]))
    expected = oracle.event_boxes(scores, case[1], window, None, None)
    # boxes that touch cannot be told apart in the scores unless their confidences differ
    found = [
        (onset, offset, score)
        for score, onset, offset in zip(processed[0], processed[1], processed[1][1:], strict=False)
        if score > -oracle.INF and onset < offset
    ]
    assert found == expected


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=12), st.integers(1, 8))
def test_equal_steps_are_equal_near_the_ends_of_a_clip(scores: list[float], frames: int) -> None:
    edges = [64_000 * i for i in range(len(scores) + 1)]
    processed = process(EventBoxes(frames * 0.064), (scores, edges))
    expected = oracle.event_boxes(scores, edges, 64_000 * frames, None, None)
    onsets = {time: score for score, time in zip(processed[0], processed[1], strict=False)}
    assert [(onset, onsets[onset]) for onset, _, _ in expected] == [
        (onset, confidence) for onset, _, confidence in expected
    ]


def test_the_mean_of_equal_scores_is_that_score() -> None:
    ticks = np.rint(np.arange(5001) / 43 * 1e6).astype(np.int64)
    values = np.full((5000, 2), [0.3, 1e-37])
    values[:1000] = 1000
    processed = MovingAverage(0.77).process(sed.ClipScores.from_ticks(values, ticks), ["a", "b"])
    away = np.r_[:900, 1100:5000]
    np.testing.assert_array_equal(processed.values[away], values[away])


@given(
    clips(),
    st.integers(1, 30),
    st.none() | st.sampled_from([0.25, 0.5, 3.0]),
    st.none() | st.sampled_from([1.5, 2.0]),
)
def test_boxes_by_definition(
    case: Clip, window: int, absolute: float | None, relative: float | None
) -> None:
    scores = [max(score, 0) if relative else max(score, -2.0) for score in case[0]]
    edges = np.cumsum([case[1][0], *np.maximum(np.diff(case[1]), 1)]).tolist()
    processed = process(EventBoxes(window / 1e6, absolute, relative), (scores, edges))
    confidences = {time: score for score, time in zip(*(processed[0], processed[1][:-1]), strict=True)}
    expected = oracle.event_boxes(scores, edges, window, absolute, relative)
    assert oracle.runs(*processed, -oracle.INF) == [box[:2] for box in expected]
    for onset, _, confidence in expected:
        assert confidences[onset] == confidence


def test_boxes_of_the_paper() -> None:
    values = np.zeros((500, 1))
    values[15:285, 0] = 0.98 * np.hanning(270)
    values[315:485, 0] = 0.2 * np.hanning(170)
    scores = one_clip(values.tolist(), frame=0.02)
    processed = EventBoxes(step=1, absolute=1, relative=2)(scores)
    assert sed.detect(processed, 0) == {"clip": [(1.66, 4.34, "a"), (7.16, 8.84, "a")]}
    clip = processed["clip"]
    assert clip.values[clip.values > 0] == pytest.approx([values[83:217].mean(), values[358:442].mean()])


def test_boxes_at_the_ends_of_a_clip() -> None:
    def boxes(*values: float) -> list[tuple[float, float]]:
        events = sed.detect(EventBoxes(step=2)(one_clip([[value] for value in values])), -np.inf)["clip"]
        return [(onset, offset) for onset, offset, _ in events]

    assert boxes(0.5, 0.5, 0.5) == [(0, 3)]
    assert boxes(0.5) == [(0, 1)]
    assert boxes(0, 0, 1, 1) == [(2, 4)]
    assert boxes(1, 1, 0, 0) == [(0, 2)]
    assert boxes(0, 1) == [(1, 2)]
    assert boxes(1, 0, 0, 1) == [(0, 1), (3, 4)]


@given(st.floats(0.1, 0.8), st.floats(1.1, 4))
def test_a_gap_is_closed_if_both_neighbours_are_near_it(floor: float, relative: float) -> None:
    scores = one_clip([[0], [0], [1], [1], [floor], [floor], [0.9], [0.9], [0], [0]])
    detected = sed.detect(EventBoxes(2, relative=relative)(scores), 0)["clip"]
    one, two = [(2, 8, "a")], [(2, 4, "a"), (6, 8, "a")]
    assert detected == (one if relative * floor > 1 else two)


@given(st.lists(clips(), min_size=3, max_size=3), st.lists(windows, min_size=2, max_size=2))
def test_classes_keep_their_own_detections_side_by_side(case: list[Clip], lengths: list[int]) -> None:
    frames = min(len(scores) for scores, _ in case)
    edges = case[0][1][: frames + 1]
    values = np.array([scores[:frames] for scores, _ in case]).T
    clip = sed.ClipScores.unchecked(values, np.array(edges, np.int64))
    chosen = {label: MedianFilter(length / 1e6) for label, length in zip("ac", lengths, strict=True)}
    processed = PerClass(chosen).process(clip, ["a", "b", "c"])
    assert isinstance(processed, sed.ClipScores)
    assert (processed.ticks[0], processed.ticks[-1]) == (edges[0], edges[-1])
    for column, label in enumerate("abc"):
        alone = (values[:, column].tolist(), edges)
        if label in chosen:
            alone = process(chosen[label], alone)
        together = (processed.values[:, column].tolist(), processed.ticks.tolist())
        for threshold in oracle.thresholds(alone[0], together[0]):
            assert oracle.runs(*together, threshold) == oracle.runs(*alone, threshold)


def test_touching_events_stay_apart_beside_a_filtered_class() -> None:
    events = [(0, 1, "a", 0.9), (1, 2, "a", 0.8), (0, 0.5, "b"), (0.5, 2, "b")]
    scores = sed.Scores.from_events({"clip": events})
    processed = PerClass({"b": MedianFilter(0.2)})(scores)
    detected = sed.detect(processed, 0.5)["clip"]
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
    scores = scores._replaced(whole_clips=False)
    processed = MedianFilter(0.1)(scores)
    assert (list(processed), processed.classes, loaded) == (["x", "y"], ("a",), [])
    assert (processed.in_memory, processed.thread_safe, processed.whole_clips) == (False, True, False)
    assert processed["y.wav"].values.tolist() == [[1]]
    assert loaded == ["y"]


@pytest.mark.parametrize(
    "step",
    [
        MedianFilter(7),
        Chain(MinimumDuration(0.1), MovingAverage(7)),
        PerClass({"Cat": MedianFilter(0.5), "Dog": MedianFilter(7)}),
    ],
)
def test_windows_in_frames_are_noted(step: PostProcessing) -> None:
    truth = sed.simulate.ground_truth(60)
    scores = sed.simulate.scores(truth, frame=0.1)
    with pytest.warns(
        sed.SedscopeWarning, match=r"window of 7 s, but clips last 10 s.*7 frames are 0.7 s"
    ):
        sed.evaluate(step(scores), truth, "psds1")
    with pytest.warns(sed.SedscopeWarning, match="window of 7 s"):
        sed.tune(scores, truth, "best_collar_f1", [step])
    sed.evaluate(MedianFilter(0.7)(scores), truth, "psds1")
