"""The median filter against sed_scores_eval's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.postprocessing import MedianFilter

from .judging import KINDS, judge, random_set
from .sets import desed_scores, desed_truth, excerpt_scores, excerpt_truth


@dataclass(frozen=True)
class Filtered:
    scores: sed.Scores
    truth: sed.GroundTruth
    window: float

    def question(self) -> dict[str, Any]:
        return {"judge": "median", "window": self.window}


def pieces(values: NDArray[Any], ticks: NDArray[np.int64]) -> list[tuple[int, float]]:
    """Where the score of a class changes, and to what; before and after, it is ``-inf``."""
    found: list[tuple[int, float]] = []
    for time, score in zip(ticks.tolist(), [*values.tolist(), -np.inf], strict=True):
        if score != (found[-1][1] if found else -np.inf):
            found.append((time, score))
    return found


def compare(cases: Mapping[str, Filtered], python: Path, folder: Path) -> None:
    for name, verdict in judge(python, folder, cases).items():
        case = cases[name]
        found = MedianFilter(case.window)(case.scores)
        for clip in case.scores:
            ours, edges = found[clip], np.rint(verdict[f"{clip}/edges"] * 1e6).astype(np.int64)
            for c in range(len(case.scores.classes)):
                expected = pieces(verdict[f"{clip}/values"][:, c], edges)
                assert pieces(ours.values[:, c], ours.ticks) == expected, (name, clip, c)


def test_random_sets(peers_python: Path, tmp_path: Path) -> None:
    """With windows of an odd number of time steps, of which exactly half is never active: there what the
    peer does depends on what it saw before."""
    rng = np.random.default_rng(5)
    cases: dict[str, Filtered] = {}
    for i in range(100):
        scores, truth = random_set(rng, KINDS[i % len(KINDS)], coarse=True)
        window = (2 * rng.integers(0, 15 if i % 2 else 4) + 1) / 100
        cases[f"set{i}"] = Filtered(scores, truth, float(window))
    compare(cases, peers_python, tmp_path)


@pytest.mark.parametrize("window", [0.16, 0.448, 1.0])
def test_real_sets(window: float, data: Path, peers_python: Path, tmp_path: Path) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    some = list(scores)[:40]
    first = sed.Scores(some, scores.__getitem__, classes=scores.classes, in_memory=True)
    cases = {
        "desed": Filtered(first, truth, window),
        "excerpt": Filtered(excerpt_scores(data), excerpt_truth(data), window),
    }
    compare(cases, peers_python, tmp_path)
