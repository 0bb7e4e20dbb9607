"""Simulated data: seeded, and realistic in what matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope import simulate


def test_the_same_seed_gives_the_same_set() -> None:
    a, b, other = (simulate.ground_truth(20, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(a.onsets, b.onsets)
    assert not np.array_equal(a.onsets[:10], other.onsets[:10])
    one, two = (simulate.scores(a, seed=3)["clip_07"].values for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, simulate.scores(a, seed=4)["clip_07"].values)


def test_scores_look_like_a_networks() -> None:
    truth = simulate.ground_truth(100)
    scores = simulate.scores(truth)
    values = np.concatenate([clip.values for clip in scores.values()])
    assert values.dtype == np.float32
    assert values.min() >= 0
    assert values.max() <= 1
    peaky = np.mean((values < 0.05) | (values > 0.95))
    assert 0.9 < peaky < 0.995


def test_a_better_system_scores_better() -> None:
    truth = simulate.ground_truth(300)
    metrics = [sed.presets.PSDS1, sed.presets.PSDS2]
    results = [
        sed.evaluate(simulate.scores(truth, quality=quality), truth, metrics)
        for quality in (0.2, 0.5, 0.8, 1.0)
    ]
    for metric in metrics:
        values = [result[metric].value for result in results]
        assert values == sorted(values)
        assert values[-1] - values[0] > 0.2


@pytest.mark.parametrize(
    ("clips", "seconds", "classes", "frame"), [(3, 10, 407, 0.04), (1, 3600, 3, 0.1), (5, 0.5, 1, 0.02)]
)
def test_any_size(clips: int, seconds: float, classes: int, frame: float) -> None:
    truth = simulate.ground_truth(clips, seconds=seconds, classes=classes, events_per_minute=60)
    labels = simulate.labels(classes)
    scores = simulate.scores(truth, classes=labels, frame=frame)
    assert set(truth.labels) <= set(labels)
    for clip in scores.values():
        assert clip.values.shape == (round(seconds / frame), classes)
    assert truth.durations is not None
    assert (truth.offsets <= truth.durations[truth.event_clips]).all()


def test_quality_out_of_range_is_refused() -> None:
    with pytest.raises(sed.SedscopeError, match="between 0 and 1"):
        simulate.scores(simulate.ground_truth(2), quality=1.5)


NAN = float("nan")
TRUTH = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})


def simulated_scores(**options: Any) -> sed.ClipScores:
    return sed.simulate.scores(TRUTH, **options)["a"]


SIMULATIONS: dict[str, Callable[[], Any]] = {
    "quality above 1": lambda: simulated_scores(quality=2),
    "quality NaN": lambda: simulated_scores(quality=NAN),
    "classes without the truth's": lambda: simulated_scores(classes=["Cat"]),
    "frames of no length": lambda: simulated_scores(frame=0),
    "no durations": lambda: sed.simulate.scores(sed.GroundTruth.from_dict({"a": []})),
    "fewer clips than none": lambda: sed.simulate.ground_truth(-1),
    "no classes": lambda: sed.simulate.ground_truth(3, classes=0),
    "clips of no length": lambda: sed.simulate.ground_truth(3, seconds=0),
    "clips of negative length": lambda: sed.simulate.ground_truth(3, seconds=-1),
    "NaN events": lambda: sed.simulate.ground_truth(3, events_per_minute=NAN),
    "a negative seed": lambda: sed.simulate.ground_truth(3, seed=-1),
}


@pytest.mark.parametrize("make", SIMULATIONS.values(), ids=SIMULATIONS)
def test_bad_parameters_of_simulations(make: Callable[[], Any]) -> None:
    with pytest.raises(sed.SedscopeError):
        make()
