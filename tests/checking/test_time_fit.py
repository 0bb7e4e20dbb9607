"""Another unit or origin of times that fits much better, and no false alarms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sedscope as sed

TRUTH = sed.simulate.ground_truth(40, seed=1)
SCORES = sed.simulate.scores(TRUTH, quality=0.7, seed=1)


def moved(change: Callable[[float], float]) -> sed.GroundTruth:
    """Return the ground truth with other times, without events that then begin before 0 s."""
    events = {
        clip: [(change(onset), change(offset), label) for onset, offset, label in TRUTH.events(clip)]
        for clip in TRUTH.clips
    }
    return sed.GroundTruth.from_dict(events, invalid="drop")


def time_fit(scores: sed.Scores, truth: sed.GroundTruth) -> list[str]:
    findings = sed.validate(scores, truth, invalid="drop").findings
    return [finding.what for finding in findings if finding.kind == "time-fit"]


def test_times_that_fit() -> None:
    assert time_fit(SCORES, TRUTH) == []


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        (lambda time: time / 60, "as if those of the references were minutes"),
        (lambda time: time * 1000, "as if those of the references were milliseconds"),
        (lambda time: time * 2, "multiplied by about 0.5"),
        (lambda time: time + 2, "if the scores lie about 2 s before the references"),
        (lambda time: time + 0.001 - 1, "if the scores lie about 1 s after the references"),
    ],
)
def test_another_unit_or_origin(change: Callable[[float], float], phrase: str) -> None:
    (note,) = time_fit(SCORES, moved(change))
    assert phrase in note
    assert "standard deviations" in note


@pytest.mark.parametrize("clips", [5, 15, 40])
@pytest.mark.parametrize("kind", ["noise", "middle", "energy", "whole clip", "lag"])
def test_poor_systems_give_no_alarm(kind: str, clips: int) -> None:
    rng = np.random.default_rng(clips)
    arrays = {}
    for clip in TRUTH.clips[:clips]:
        values = SCORES[clip].values
        active = np.zeros(values.shape)
        centres = (SCORES[clip].edges[1:] + SCORES[clip].edges[:-1]) / 2
        for onset, offset, label in TRUTH.events(clip):
            active[(centres >= onset) & (centres < offset), SCORES.classes.index(label)] = 1
        noise = rng.normal(size=values.shape)
        arrays[clip] = {
            "noise": np.cumsum(noise, axis=0),
            "middle": noise + 5 * np.hanning(len(values))[:, None],
            "energy": active.max(axis=1, keepdims=True) + noise,
            "whole clip": active.max(axis=0) + 0.2 * noise,
            "lag": np.roll(active, 3, axis=0) + 0.3 * noise,
        }[kind]
    edges = {clip: SCORES[clip].edges for clip in arrays}
    scores = sed.Scores.from_arrays(arrays, classes=SCORES.classes, edges=edges)
    truth = sed.GroundTruth.from_dict({clip: TRUTH.events(clip) for clip in arrays})
    assert time_fit(scores, truth) == []
