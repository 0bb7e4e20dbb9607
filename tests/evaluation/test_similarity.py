"""Systems that are the same, or nearly: which ones a ranking names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.ranking.similarity import NEARLY_EQUAL, correlation, fingerprint
from sedscope.resampling.unread_scores import references_per_clip

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.BestFScore(sed.Collar()),
    sed.FScore(sed.Segment(1.0)),
]
FRAME = 0.02


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(60, classes=4)


def changed(
    scores: sed.Scores, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> sed.Scores:
    arrays = {clip: change(scores[clip].values.astype(np.float64)) for clip in scores}
    return sed.Scores.from_arrays(arrays, classes=scores.classes, frame=FRAME)


def similarity(
    first: sed.Scores, second: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any]
) -> float:
    prints = [
        fingerprint(sed.evaluate(scores, truth, metric).deltas[metric.criterion])
        for scores in (first, second)
    ]
    return correlation(*prints)


COPIES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "squared": lambda values: values**2,
    "scaled": lambda values: 100 * values,
    "one class louder": lambda values: values * [1, 3, 1, 1],
    "slightly noisy": lambda values: values + 1e-5 * np.sin(1e6 * values),
}


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("change", COPIES.values(), ids=COPIES)
def test_a_changed_copy_is_recognised(
    change: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    metric: Metric[Any],
    truth: sed.GroundTruth,
) -> None:
    scores = sed.simulate.scores(truth, frame=FRAME, seed=1)
    assert similarity(scores, changed(scores, change), truth, metric) > NEARLY_EQUAL


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("quality", [0.4, 0.7, 0.95])
def test_other_systems_are_told_apart(
    quality: float, metric: Metric[Any], truth: sed.GroundTruth
) -> None:
    systems = [sed.simulate.scores(truth, frame=FRAME, quality=quality, seed=seed) for seed in range(3)]
    for first, second in pairwise(systems):
        assert similarity(first, second, truth, metric) < NEARLY_EQUAL - 0.05


def test_fingerprints_are_correlations_of_sums_over_clips(truth: sed.GroundTruth) -> None:
    """Without the sketch, with a loop over all thresholds."""
    exact = []
    prints = []
    for seed in (1, 2):
        scores = sed.simulate.scores(truth, frame=0.5, quality=0.9, seed=seed)
        deltas = sed.deltas(scores, truth, sed.Collar(onset=1.0))
        rows, clip_of_row = deltas.tables.detections, deltas.tables.detections.clip_of_row()
        columns = []
        references = references_per_clip(deltas)
        for c in range(len(deltas.classes)):
            part = slice(rows.starts[c, 0], rows.starts[c, -1])
            of_class = rows.scores[part]
            for name, column in zip(("tp", "fp"), rows.columns, strict=True):
                mean = np.zeros(len(deltas.clips))
                for threshold in of_class:  # evenly spread over the places of the scores
                    active = of_class >= threshold
                    np.add.at(mean, clip_of_row[part][active], column[part][active] / len(of_class))
                if name == "tp":
                    present = references[:, c] > 0
                    mean[present] /= references[present, c]
                    mean[present] -= mean[present].mean()
                else:
                    mean -= mean.mean()
                columns.append(mean)
        exact.append(np.concatenate(columns))
        prints.append(fingerprint(deltas))
    expected = float(np.corrcoef(exact[0], exact[1])[0, 1])
    assert 0.1 < expected < 0.9
    assert correlation(*prints) == pytest.approx(expected, abs=0.06)  # the sketch has 4096 numbers


def test_a_ranking_names_them(truth: sed.GroundTruth, tmp_path: Path) -> None:
    first, second = (sed.simulate.scores(truth, frame=FRAME, seed=seed) for seed in (1, 2))
    systems = {
        "ours": first,
        "copied": changed(first, lambda values: values),
        "scaled": changed(first, lambda values: values * 3),
        "theirs": second,
    }
    for _ in range(2):  # the second time from what was kept
        ranking = sed.rank(
            systems, truth, "psds1", resampling=30, run=sed.Run(checkpoint=tmp_path / "kept")
        )
        notes = [note for note in ranking.warnings if "same" in note]
        assert notes == [
            "2 systems have the same scores: copied, ours.",
            "Some systems find and miss nearly the same (correlation of their true and false positives per "
            "clip): copied and scaled (1), ours and scaled (1).",
        ]
