"""Post-processings as text, sweeps, and invalid input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.postprocessing import (
    Chain,
    EventBoxes,
    Hysteresis,
    MedianFilter,
    PerClass,
    PostProcessing,
    parse_postprocessing,
    parse_sweep,
)

from ..support.examples import POSTPROCESSINGS as EXAMPLES


@pytest.mark.parametrize("postprocessing", EXAMPLES, ids=repr)
def test_a_definition_reads_back_as_the_same(postprocessing: PostProcessing) -> None:
    read = parse_postprocessing(repr(postprocessing))
    assert read == postprocessing
    assert hash(read) == hash(postprocessing)
    assert repr(read) == repr(postprocessing)


def test_order_of_classes_does_not_matter() -> None:
    one, other = MedianFilter(1), MedianFilter(2)
    assert PerClass({"a": one, "b": other}) == PerClass({"b": other, "a": one})
    assert PerClass({"a": one, "b": other}) != PerClass({"a": other, "b": one})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MedianFilter(0.3)", ["MedianFilter(0.3)"]),
        ("MedianFilter(0.0..0.24/0.08)", [f"MedianFilter({s})" for s in (0, 0.08, 0.16, 0.24)]),
        ("MedianFilter(.1 .. .35 / .1)", [f"MedianFilter({s})" for s in (0.1, 0.2, 0.3)]),
        ("MedianFilter(seconds=0.1 | 1..2/1)", [f"MedianFilter({s})" for s in (0.1, 1, 2)]),
        (
            "Chain(MedianFilter(1|2), MedianFilter(seconds=3|4))",
            [f"Chain(MedianFilter({a}), MedianFilter({b}))" for a in (1, 2) for b in (3, 4)],
        ),
        ("MedianFilter(1)|Chain()", ["MedianFilter(1)", "Chain()"]),
        (
            "PerClass({'a|b, 1..2/1': MedianFilter(1|2)})",
            [f"PerClass({{'a|b, 1..2/1': MedianFilter({s})}})" for s in (1, 2)],
        ),
        (
            "PerClass({'a': MedianFilter(1) | Chain(), 'b': Chain()})",
            [f"PerClass({{'a': {p}, 'b': Chain()}})" for p in ("MedianFilter(1)", "Chain()")],
        ),
    ],
)
def test_a_sweep_stands_for_all_combinations(text: str, expected: list[str]) -> None:
    assert parse_sweep(text) == [parse_postprocessing(spelling) for spelling in expected]


def test_ranges_do_not_drift() -> None:
    sweep = parse_sweep("MedianFilter(0.0..2.0/0.08)")
    assert sweep == [MedianFilter(float(f"{0.08 * k:.2f}")) for k in range(26)]
    assert repr(sweep[3]) == "MedianFilter(seconds=0.24)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MedianFilter(2..1/0.1)", r"The range 2\.\.1/0\.1 is empty"),
        ("MedianFilter(1..2/0)", r"The step of 1\.\.2/-?0(\.1)? must be above 0"),
        ("MedianFilter(1..2/-0.1)", r"The step of 1\.\.2/-?0(\.1)? must be above 0"),
        ("MedianFilter(1..2)", r"The range 1\.\.2 needs a step"),
        ("MedianFilter(0..1/0.0001)", "more than 10000 values"),
        ("MedianFilter(0..1e999999/1e-999999)", "more than 10000|too large"),
        ("Chain(MedianFilter(0..1/0.001), MedianFilter(0..1/0.001))", "more than 10000 definitions"),
        ("Median(0..1/0.1)", r"Median is not known\. Choose from .*MedianFilter"),
        ("MedianFilter(1||2)", "."),
        ("MedianFilter(1|2", "cannot be read"),
        ("MedianFilter(1|2))", "cannot be read"),
        ("", "cannot be read"),
        ("(" * 5000, "nested too deep"),
        ("1|2", "'1' is not a post-processing. Choose from Chain, .*MedianFilter"),
        ("MedianFilter(-1..1/1)", "seconds=-1 must be at least 0"),
    ],
)
def test_sweeps_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        parse_sweep(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MedianFilter(-0.1)", "at least 0"),
        ("MedianFilter(1e12)", r"at most 3.1536e\+08"),
        ("MedianFilter('1')", "must be a number"),
        ("MedianFilter(None)", "must be a number"),
        ("MedianFilter()", "missing 1 required positional argument: 'seconds'"),
        ("MedianFilter(width=3)", "has no 'width'. Its parameters are seconds"),
        ("MedianFilter", "MedianFilter needs parameters in brackets"),
        ("MovingAverage(-1)", "at least 0"),
        ("MinimumDuration(-1)", "at least 0"),
        ("MaximumGap(-1)", "at least 0"),
        ("Hysteresis()", "either difference= or ratio="),
        ("Hysteresis(0.1, 0.5)", "either difference= or ratio="),
        ("Hysteresis(difference=-0.1)", "at least 0"),
        ("Hysteresis(ratio=0)", "above 0"),
        ("Hysteresis(ratio=1.1)", "at most 1"),
        ("EventBoxes(0)", "step=0 must be at least 1e-06"),
        ("EventBoxes(absolute=0)", "above 0"),
        ("EventBoxes(relative=1)", "above 1"),
        ("Chain(1)", "Chain takes post-processings, not 1"),
        ("Chain(steps=MedianFilter(1))", "unexpected keyword"),
        ("PerClass(MedianFilter(1))", "needs a mapping"),
        ("PerClass({'a': 1})", "PerClass takes post-processings, not 1"),
        ("PerClass({'': MedianFilter(1)})", "non-empty strings"),
        ("PerClass({1: MedianFilter(1)})", "Only a string in quotes"),
        ("PerClass({**{}})", "Only a string in quotes"),
        ("PerClass({'a': Chain(), 'a': Chain()})", "repeated: a"),
    ],
)
def test_definitions_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        parse_postprocessing(text)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), True, "1", None, [1]])
def test_lengths_must_be_times(seconds: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="seconds="):
        MedianFilter(seconds)


def test_classes_without_scores_are_refused_at_once() -> None:
    scores = sed.Scores.from_arrays({"x": [[1.0]]}, classes=["a"], frame=1)
    wrong = PerClass({"b": MedianFilter(1), "c": MedianFilter(1)})
    for postprocessing in (wrong, Chain(MedianFilter(1), wrong)):
        with pytest.raises(sed.SedscopeError, match="The scores have no class b, c"):
            postprocessing(scores)


@pytest.mark.parametrize("postprocessing", EXAMPLES, ids=repr)
def test_clips_of_no_and_of_one_frame(postprocessing: PostProcessing) -> None:
    arrays = {"none": np.empty((0, 3), np.float32), "one": np.full((1, 3), 0.5, np.float32)}
    scores = sed.Scores.from_arrays(arrays, classes=["Cat", "Dog", "it's"], frame=10)
    processed = postprocessing(scores)
    if isinstance(processed, sed.ScoredEvents):
        assert processed.events()["none"] == []
        assert {event[3] for event in processed.events()["one"]} == {0.5}
        ends = {clip: processed.open(clip).ticks[-1] for clip in processed}
        assert ends == {"none": 0, "one": 10_000_000}
        return
    assert processed["none"].values.shape == (0, 3)
    assert processed["none"].ticks.tolist() == [0]
    if not postprocessing.maps_single_scores:
        assert set(processed["one"].values.ravel().tolist()) <= {0.5, -np.inf}
    assert processed["one"].ticks[[0, -1]].tolist() == [0, 10_000_000]


@pytest.mark.parametrize("postprocessing", EXAMPLES, ids=repr)
def test_nan_is_refused_with_its_location(postprocessing: PostProcessing) -> None:
    scores = sed.Scores.from_arrays(
        {"x": np.array([[0, 1, 0], [0, np.nan, 0]])}, classes=["Cat", "Dog", "it's"], frame=1
    )
    truth = sed.GroundTruth.from_dict({"x": [(0, 1, "Dog")]}, durations={"x": 2})
    with pytest.raises(
        sed.SedscopeError, match=r"clip x: 1 score is not a number \(NaN\): class Dog, frame 1"
    ):
        sed.evaluate(postprocessing(scores), truth, sed.presets.PSDS1)


@pytest.mark.parametrize("postprocessing", [Hysteresis(ratio=0.5), EventBoxes(relative=2)], ids=repr)
def test_ratios_need_scores_of_at_least_0(postprocessing: PostProcessing) -> None:
    scores = sed.Scores.from_arrays({"x": [[0, 0.5], [0.1, -0.5]]}, classes=["a", "b"], frame=1)
    with pytest.raises(
        sed.SedscopeError, match=r"Clip x: .* at least 0. Found 1 negative score: class b, frame 1"
    ):
        postprocessing(scores)["x"]


def test_boxes_need_finite_scores() -> None:
    scores = sed.Scores.from_arrays({"x": [[0.0], [-float("inf")]]}, classes=["a"], frame=1)
    with pytest.raises(
        sed.SedscopeError, match=r"Clip x: .*finite scores. Found 1 infinite score: class a"
    ):
        EventBoxes()(scores)["x"]
