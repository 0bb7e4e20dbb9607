"""Small sets in the types that sed_scores_eval takes."""

from __future__ import annotations

from typing import Any

import numpy as np

import sedscope as sed
from sedscope.compat.sed_scores_eval.base_modules.scores import create_score_dataframe

GRID: dict[str, Any] = {"dtc_threshold": 0.5, "gtc_threshold": 0.5}
COLLAR: dict[str, Any] = {"onset_collar": 0.2, "offset_collar": 0.2}


def frame(*columns: list[float], classes: tuple[str, ...] = ("Dog", "Cat")) -> Any:
    values = np.array(columns).T
    return create_score_dataframe(values, np.arange(len(values) + 1.0), list(classes))


#           0    1    2    3    4 s
DOG = {"a": [0.1, 0.9, 0.8, 0.2], "b": [0.1, 0.1, 0.3, 0.1]}
CAT = {"a": [0.1, 0.1, 0.1, 0.1], "b": [0.7, 0.1, 0.1, 0.1]}
SCORES = {clip: frame(DOG[clip], CAT[clip]) for clip in "ab"}
TRUTH = {"a": [(1.0, 3.0, "Dog")], "b": [(0.0, 1.0, "Cat")]}
DURATIONS = {"a": 4.0, "b": 4.0}


def simulated() -> tuple[dict[str, Any], dict[str, Any], dict[str, float]]:
    truth = sed.simulate.ground_truth(30, classes=3)
    scores = sed.simulate.scores(truth)
    assert truth.durations is not None
    frames = {
        clip: create_score_dataframe(clip_scores.values, clip_scores.edges, list(scores.classes))
        for clip, clip_scores in scores.items()
    }
    events = {clip: truth.events(clip) for clip in truth.clips}
    return frames, events, dict(zip(truth.clips, truth.durations / 1e6, strict=True))
