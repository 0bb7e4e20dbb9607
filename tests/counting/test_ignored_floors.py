"""Floors and ignored references: a clip with ignored references proves no false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.engines import floor_search
from sedscope.resampling.resampled_metric import ResampledMetric

SECONDS = 6
CRITERIA = [sed.Intersection(0.5, 0.5), sed.OfLength(sed.Intersection(0.5, 0.5), 0.5)]


def case(clips: int = 40) -> tuple[sed.Scores, sed.GroundTruth]:
    """Each clip has an ignored event, and a false alarm that becomes part of its detection at lower scores.

    Three clips have another false alarm. One clip has an event to find, with the lowest score of all.
    """
    names = [f"clip{i}" for i in range(clips)]
    scores = {
        clip: [[0.9], [0.7], [0.7], [0.0], [0.5 if i < 3 else 0.0], [0.0]]
        for i, clip in enumerate(names)
    }
    scores["target"] = [[0.0], [0.0], [0.0], [0.0], [0.1], [0.1]]
    truth = sed.GroundTruth.from_dict(
        {"target": [(4, 6, "Dog")]} | {clip: [] for clip in names},
        ignored={clip: [(1, 3, "Dog")] for clip in names},
        durations=dict.fromkeys(scores, SECONDS),
    )
    return sed.Scores.from_arrays(scores, classes=["Dog"], frame=1.0), truth


@pytest.mark.parametrize("allowed", [1, 2, 3, 10])
@pytest.mark.parametrize("guessed", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: type(criterion).__name__)
def test_ignored_references_raise_no_floor(
    criterion: Any, allowed: int, guessed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, truth = case()
    if guessed:
        monkeypatch.setattr(floor_search, "_SAMPLE", 10)
        monkeypatch.setattr(floor_search, "_BYTES_BEFORE_FLOORS", 0)
        scores = sed.Scores.from_function([*scores], scores.__getitem__, classes=scores.classes)
    metric = sed.PSDS(criterion, max_efpr=allowed * 3600 / (41 * SECONDS) + 1e-6)
    value = sed.evaluate(scores, truth, [metric])[metric].value
    assert value == metric.measure(sed.deltas(scores, truth, criterion).counts()).value
    assert (value > 0) == (allowed >= 3)


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda criterion: type(criterion).__name__)
def test_resamples_of_clips_with_ignored_references(criterion: Any) -> None:
    scores, truth = case()
    metric = sed.PSDS(criterion, max_efpr=3 * 3600 / (41 * SECONDS) + 1e-6)
    deltas = sed.deltas(scores, truth, criterion)
    rng = np.random.default_rng(0)
    drawn = [np.bincount(rng.integers(0, 41, 41), minlength=41) for _ in range(20)]
    weights = np.array(drawn, np.int32)
    resampled = ResampledMetric(deltas, metric, weights, threads=1)(weights)[:, 0]
    expected = [metric.measure(deltas.counts(weights=row)).value for row in weights]
    np.testing.assert_array_equal(resampled, expected)
    assert (resampled == 0).any()
    assert (resampled > 0).any()


def test_segments_with_ignored_references_are_no_trials() -> None:
    scores, truth = case(2)
    dog = sed.deltas(scores, truth, sed.Segment(1.0)).counts()["Dog"]
    assert (dog.trials, dog.references, dog.fp.max()) == (14, 2, 12)
