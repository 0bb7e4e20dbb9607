"""The median filter, and the PSDS over several of them, compared with sed_scores_eval."""

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

from ..support.peers.judge_process import judge, psds_question
from ..support.random_sets import KINDS, random_set
from ..support.real_data import desed_scores, desed_truth, excerpt_scores, excerpt_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@dataclass(frozen=True)
class Filtered:
    scores: sed.Scores
    truth: sed.GroundTruth
    window: float

    def question(self) -> dict[str, Any]:
        return {"judge": "median", "window": self.window}


def pieces(values: NDArray[Any], ticks: NDArray[np.int64]) -> list[tuple[int, float]]:
    """Where the score of a class changes, and to what; before and after, it is ``-inf``."""
    steps: list[tuple[int, float]] = []
    for time, score in zip(ticks.tolist(), [*values.tolist(), -np.inf], strict=True):
        if score != (steps[-1][1] if steps else -np.inf):
            steps.append((time, score))
    return steps


def compare(cases: Mapping[str, Filtered], python: Path, folder: Path) -> None:
    for name, verdict in judge(python, folder, cases).items():
        case = cases[name]
        processed = MedianFilter(case.window)(case.scores)
        for clip in case.scores:
            ours, edges = processed[clip], np.rint(verdict[f"{clip}/edges"] * 1e6).astype(np.int64)
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


@dataclass(frozen=True)
class Independent:
    """A PSDS over median filters."""

    scores: sed.Scores
    truth: sed.GroundTruth
    metric: sed.PiPSDS

    @property
    def windows(self) -> list[float]:
        return [chosen.seconds for chosen in self.metric.variants if isinstance(chosen, MedianFilter)]

    def question(self) -> dict[str, Any]:
        return {"judge": "mipsds", "windows": self.windows, **psds_question(self.metric)}


def compare_psds(cases: Mapping[str, Independent], python: Path, folder: Path) -> None:
    for name, verdict in judge(python, folder, cases).items():
        case = cases[name]
        result = sed.evaluate(case.scores, case.truth, case.metric, clips="scored")[case.metric]
        assert result.value == pytest.approx(float(verdict["value"]), abs=1e-9), name
        for label, of_class in result.per_class.items():
            assert of_class.value == pytest.approx(float(verdict[f"{label}/value"]), abs=1e-9), name
            curve = of_class.curve
            # it ends a curve with its highest rate, and may begin it with a point above 0
            ours = dict(zip(curve.tpr.tolist(), curve.efpr.tolist(), strict=True))
            theirs: dict[float, float] = {}
            for tpr, efpr in zip(verdict[f"{label}/tpr"], verdict[f"{label}/efpr"], strict=True):
                theirs.setdefault(float(tpr), float(efpr))
            assert {tpr: rate for tpr, rate in ours.items() if tpr} == pytest.approx(
                {tpr: rate for tpr, rate in theirs.items() if tpr}, abs=1e-9
            )


def test_median_filter_independent_psds_of_random_sets(peers_python: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    cases: dict[str, Independent] = {}
    for i in range(60):
        scores, truth = random_set(rng, KINDS[i % len(KINDS)], coarse=True)
        windows = rng.choice([1, 3, 5, 9, 15, 21], rng.integers(1, 5), replace=False) / 100
        dtc, gtc, cttc = rng.choice([0.1, 0.3, 0.5, 0.7], 3)
        metric = sed.PiPSDS(
            sed.Intersection(float(dtc), float(gtc), float(cttc)),
            alpha_ct=float(rng.choice([0.0, 0.5, 1.0])),
            alpha_st=float(rng.choice([0.0, 1.0])),
            max_efpr=float(rng.choice([2.0, 10.0, 60.0])),
            unit="second",
            postprocessing=[MedianFilter(float(window)) for window in windows],
        )
        cases[f"set{i}"] = Independent(scores, truth, metric)
    compare_psds(cases, peers_python, tmp_path)


def test_median_filter_independent_psds_of_real_clips(
    data: Path, peers_python: Path, tmp_path: Path
) -> None:
    scores, truth = excerpt_scores(data), excerpt_truth(data)
    sweep = "MedianFilter(0|0.16|0.32|0.64|1.28)"
    cases = {}
    for name, psds in (("psds1", sed.presets.PSDS1), ("psds2", sed.presets.PSDS2)):
        metric = sed.PiPSDS(psds.criterion, psds.alpha_ct, psds.alpha_st, postprocessing=sweep)
        cases[name] = Independent(scores, truth, metric)
    compare_psds(cases, peers_python, tmp_path)
