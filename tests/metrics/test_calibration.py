"""Calibration errors and Brier scores: scikit-learn on clips, plain counting on segments and events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import BrierScore, CalibrationError

from ..support import oracle
from ..support.examples import PROBABILITY_METRICS
from ..support.real_data import desed_scores, desed_truth
from ..support.strategies import LABELS, name, to_truth

Items = list[tuple[float, bool]]
probabilities = st.one_of(st.floats(0, 1, width=32), st.sampled_from([0.0, 0.2, 1 / 3, 0.4, 1.0]))


def by_hand(items: Items, bins: int) -> tuple[float, float, float]:
    """Return ECE, MCE and Brier score, item by item."""
    if not items:
        return (np.nan,) * 3
    of_bins: list[Items] = [[] for _ in range(bins)]
    edges = np.linspace(0, 1, bins + 1)[1:-1].tolist()
    for score, right in items:
        of_bins[sum(score > edge for edge in edges)].append((score, right))
    errors = [
        (abs(np.mean([r for _, r in of_bin]) - np.mean([s for s, _ in of_bin])), len(of_bin))
        for of_bin in of_bins
        if of_bin
    ]
    mean = sum(error * number for error, number in errors) / len(items)
    return mean, max(error for error, _ in errors), np.mean([(s - r) ** 2 for s, r in items]).item()


def measured(system: Any, truth: Any, criterion: sed.criteria.Criterion, bins: int, label: str) -> Any:
    metrics = {
        "ece": CalibrationError(criterion, bins=bins),
        "mce": CalibrationError(criterion, bins=bins, norm="max"),
        "brier": BrierScore(criterion),
    }
    result = sed.evaluate(system, truth, metrics, coverage="any")
    return [result[metric].per_class[label].value for metric in metrics]


@st.composite
def scored_clips(draw: st.DrawFn) -> list[oracle.Clip]:
    clips = []
    for _ in range(draw(st.integers(1, 4))):
        frames = draw(st.integers(1, 6))
        column = st.lists(probabilities, min_size=frames, max_size=frames)
        bounds = draw(st.lists(st.integers(0, frames), max_size=4, unique=True).map(sorted))
        references = [(on, off, "a") for on, off in zip(bounds[::2], bounds[1::2], strict=False)]
        scores = {label: draw(column) for label in LABELS}
        clips.append(oracle.Clip([*range(frames + 1)], scores, references, frames))
    return clips


@settings(max_examples=200)
@given(scored_clips(), st.integers(1, 20))
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_segments_and_clips_by_hand(case: list[oracle.Clip], bins: int) -> None:
    scores = sed.Scores(
        [name(i) for i in range(len(case))],
        lambda clip: sed.ClipScores.from_ticks(
            np.array([case[int(clip[4:])].scores[label] for label in LABELS], np.float64).T,
            np.array(case[int(clip[4:])].edges, np.int64),
        ),
        classes=LABELS,
    )
    truth = to_truth(case)
    for criterion, length in ((sed.Segment(1e-6), 1), (sed.Segment(2e-6), 2), (sed.Clip(), 99)):
        items: Items = []
        for clip in case:
            for begin in range(0, clip.duration, length):
                end = min(begin + length, clip.duration)
                right = any(on < end and off > begin for on, off, _ in clip.references)
                items.append((max(clip.scores["a"][begin:end]), right))
        expected = by_hand(items, bins)
        assert measured(scores, truth, criterion, bins, "a") == pytest.approx(expected, abs=1e-9)


windows = st.tuples(st.integers(0, 20), st.integers(1, 9), probabilities).map(
    lambda w: (float(w[0]), float(w[0] + w[1]), "a", w[2])
)


@settings(max_examples=200)
@given(st.lists(windows, max_size=8), st.integers(1, 12))
@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_kept_windows_by_hand(detected: Sequence[tuple[float, float, str, float]], bins: int) -> None:
    truth = sed.GroundTruth.from_dict({"x": [(2, 6, "a"), (11, 12, "a")]}, durations={"x": 40})
    system = sed.Scores.from_events({"x": detected}, classes=["a"], overlaps="keep")

    def shared(window: tuple[float, float, str, float]) -> list[tuple[float, float]]:
        return [(min(window[1], off) - max(window[0], on), off - on) for on, off in ((2, 6), (11, 12))]

    items = [(w[3], any(time >= min(1, length) for time, length in shared(w))) for w in detected]
    values = measured(system, truth, sed.Window(1), bins, "a")
    assert values == pytest.approx(by_hand(items, bins), abs=1e-9, nan_ok=True)
    half = sed.PerDetection(sed.Intersection(0.5, 0.5))
    items = [(w[3], sum(max(0, t) for t, _ in shared(w)) * 2 >= w[1] - w[0]) for w in detected]
    values = measured(system, truth, half, bins, "a")
    assert values == pytest.approx(by_hand(items, bins), abs=1e-9, nan_ok=True)


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_clips_are_judged_as_scikit_learn_does(data: Path) -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    brier = pytest.importorskip("sklearn.metrics").brier_score_loss
    scores, truth = desed_scores(data), desed_truth(data)
    metrics = {
        "ece": CalibrationError(sed.Clip()),
        "mce": CalibrationError(sed.Clip(), norm="max"),
        "brier": BrierScore(sed.Clip()),
    }
    result = sed.evaluate(scores, truth, metrics)
    values: dict[str, list[float]] = {metric: [] for metric in metrics}
    assert truth.durations is not None
    clips = [  # without the frames after the end
        scores[clip].values[: np.searchsorted(scores[clip].ticks, end)]
        for clip, end in zip(truth.clips, truth.durations, strict=True)
    ]
    for c, label in enumerate(scores.classes):
        y = np.array([any(event[2] == label for event in truth.events(clip)) for clip in truth.clips])
        p = np.array([of_clip[:, c].max() for of_clip in clips])
        share, confidence = calibration.calibration_curve(y, p, n_bins=15)
        bin_of = np.searchsorted(np.linspace(0, 1, 16)[1:-1], p)
        number = np.bincount(bin_of)[np.unique(bin_of)]
        differences = np.abs(share - confidence)
        expected = (np.average(differences, weights=number), differences.max(), brier(y, p))
        for metric, value in zip(metrics, expected, strict=True):
            assert abs(result[metric].per_class[label].value - value) < 1e-12
            values[metric].append(value)
        curve = result["ece"].per_class[label].curve  # type: ignore[attr-defined]
        assert np.abs(curve.share - share).max() < 1e-12
        assert np.abs(curve.confidence - confidence).max() < 1e-12
    for metric in metrics:
        assert abs(result[metric].value - np.mean(values[metric])) < 1e-12


@pytest.mark.parametrize("metric", PROBABILITY_METRICS, ids=repr)
def test_invariances_intervals_and_plots(metric: Any) -> None:
    pytest.importorskip("matplotlib")
    truth = sed.simulate.ground_truth(20, classes=3)
    scores = sed.simulate.scores(truth)
    assert sed.parse_metric(repr(metric)) == metric
    value = sed.evaluate(scores, truth, metric)[metric].value
    backwards = sed.evaluate(scores, truth, metric, clips=truth.clips[::-1])
    assert backwards[metric].value == pytest.approx(value, abs=1e-15)
    result = sed.evaluate(scores, truth, metric, resampling=50)
    interval = result.intervals[metric]
    assert interval.low <= value <= interval.high
    axes = result[metric].plot()
    assert axes.get_xlabel() == "score"


def test_what_has_no_probability() -> None:
    truth = {"a": [(1, 2, "Dog")]}
    frames = np.array([[0.9], [0.2], [0.9]])
    scores = sed.Scores.from_arrays({"a": frames}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="detections merge or change"):
        sed.evaluate(scores, truth, BrierScore(sed.IoU(0.5)), durations={"a": 3})
    with pytest.raises(sed.SedscopeError, match=r"Use PerDetection\(Intersection"):
        BrierScore(sed.Intersection(0.5, 0.5))
    logits = sed.Scores.from_arrays({"a": [[2.5], [-1.0], [0.0]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="no probabilities"):
        sed.evaluate(logits, truth, CalibrationError(sed.Segment(1)), durations={"a": 3})
    with pytest.raises(sed.SedscopeError, match="bins=0"):
        CalibrationError(sed.Clip(), bins=0)
    with pytest.raises(sed.SedscopeError, match="norm='sum'"):
        CalibrationError(sed.Clip(), norm="sum")
