"""Sets of unusual size and shape: many clips, many classes, no events, equal scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric

METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar()),
    sed.AveragePrecision(sed.Segment(1.0)),
]


def set_of(
    values: dict[str, np.ndarray], classes: list[str], events: dict[str, list[tuple[float, float, str]]]
) -> tuple[sed.Scores, sed.GroundTruth]:
    """Frames of a second."""
    durations = {clip: max(1.0, float(len(array))) for clip, array in values.items()}
    truth = sed.GroundTruth.from_dict(
        {clip: events.get(clip, []) for clip in values}, durations=durations
    )
    return sed.Scores.from_arrays(values, classes=classes, frame=1.0), truth


def test_many_tiny_clips() -> None:
    """Every second clip has a dog in its first frame, which is always found, and nothing else is."""
    one, other = np.array([[0.9], [0.1]], np.float32), np.array([[0.2], [0.1]], np.float32)
    values = {f"clip{i}": (one, other)[i % 2] for i in range(50_000)}
    events = {f"clip{i}": [(0.0, 1.0, "Dog")] for i in range(0, 50_000, 2)}
    scores, truth = set_of(values, ["Dog"], events)
    result = sed.evaluate(scores, truth, METRICS)
    assert [result[metric].value for metric in METRICS] == [1.0] * 4
    assert result.references == {"Dog": 25_000}


def test_many_classes() -> None:
    classes = [f"class{c}" for c in range(5_000)]
    rng = np.random.default_rng(0)
    values = {f"clip{i}": rng.random((20, 5_000), dtype=np.float32) for i in range(4)}
    events = {f"clip{i}": [(3.0, 6.0, label) for label in classes[i::4]] for i in range(4)}
    scores, truth = set_of(values, classes, events)
    metrics = [METRICS[0], METRICS[2]]  # cross-triggers among so many classes take minutes
    result = sed.evaluate(scores, truth, metrics)
    alone = sed.evaluate(scores, truth, metrics, classes=classes[7:8])
    for metric in metrics:
        assert result[metric].per_class["class7"].value == alone[metric].per_class["class7"].value
        assert 0 <= result[metric].value <= 1


def test_a_clip_without_frames_and_one_alone() -> None:
    values = {"empty": np.empty((0, 1), np.float32), "full": np.array([[0.3], [0.8]], np.float32)}
    scores, truth = set_of(values, ["Dog"], {"full": [(1.0, 2.0, "Dog")], "empty": [(0.0, 1.0, "Dog")]})
    counts = sed.deltas(scores, truth, sed.Collar()).counts()["Dog"]
    assert (counts.tp.tolist(), counts.fp.tolist(), counts.references) == ([1, 0], [0, 1], 2)
    alone = sed.evaluate(scores, truth, METRICS, clips=["full"])
    assert alone[METRICS[2]].value == 1.0


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_nothing_to_find_anywhere() -> None:
    rng = np.random.default_rng(0)
    values = {f"clip{i}": rng.random((50, 8), dtype=np.float32) for i in range(100)}
    scores, truth = set_of(values, [f"class{c}" for c in range(8)], {})
    result = sed.evaluate(scores, truth, METRICS)
    assert all(np.isnan(result[metric].value) for metric in METRICS)


def test_ten_million_equal_scores() -> None:
    values = {f"clip{i}": np.full((10_000, 10), 0.5, np.float32) for i in range(100)}
    classes = [f"class{c}" for c in range(10)]
    events = {f"clip{i}": [(0.0, 10_000.0, classes[i % 10])] for i in range(100)}
    scores, truth = set_of(values, classes, events)
    counts = sed.deltas(scores, truth, sed.Intersection(0.5, 0.5)).counts()
    for of_class in counts.values():
        assert of_class.scores.tolist() == [0.5]
        assert (of_class.tp.tolist(), of_class.fp.tolist()) == ([10], [90])


def test_a_long_reference_takes_linear_time() -> None:
    """The score falls until the middle of the reference, and rises again. Quadratic would be many minutes."""
    frames = 4_000_000
    dip = np.abs(np.arange(frames) - frames / 2)[:, None]
    scores, truth = set_of({"clip": dip}, ["Dog"], {"clip": [(0.0, float(frames), "Dog")]})
    counts = sed.deltas(scores, truth, sed.Intersection(0.5, 0.5)).counts()["Dog"]
    assert counts.scores.tolist() == [frames / 4]  # where half of the frames are active
    assert (counts.tp.tolist(), counts.fp.tolist()) == ([1], [0])
