"""Classes counted in blocks: the same values in less memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment import align
from sedscope.memory import as_bytes, expected
from sedscope.metrics import Metric
from sedscope.wanted import wanted_by

METRICS: list[Metric] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar(), average="micro_tuned"),
    sed.FScore(sed.Collar(), threshold=0.3),
    sed.AveragePrecision(sed.Segment(1.0), average="weighted"),
    sed.AUROC(sed.Segment(1.0)),
    sed.BestErrorRate(sed.IoU(0.5)),
]


def small_set() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(40, seed=2)
    return sed.simulate.scores(truth, frame=0.1, seed=2), truth


def test_blocks_give_the_same_values() -> None:
    scores, truth = small_set()
    needed = expected(align(scores, truth), wanted_by(METRICS))
    limit = int(needed.fixed + needed.per_class.max() * 1.5)
    assert len([*needed.blocks(limit)]) >= 5
    in_blocks = sed.evaluate(scores, truth, METRICS, memory=limit)
    whole = sed.evaluate(scores, truth, METRICS)
    assert in_blocks.scalars() == whole.scalars()
    kept = sum(len(counts.scores) for counts in in_blocks.counts[sed.Collar()].values())
    assert kept < 0.5 * sum(len(counts.scores) for counts in whole.counts[sed.Collar()].values())


def test_thresholds_are_still_best() -> None:
    scores, truth = small_set()
    best = sed.BestFScore(sed.Collar())
    thresholds = sed.evaluate(scores, truth, best, memory="200kB")[best].thresholds
    tuned = sed.evaluate(sed.at_thresholds(scores, thresholds), truth, sed.FScore(sed.Collar()))
    assert tuned.scalars().popitem()[1] == sed.evaluate(scores, truth, best).scalars().popitem()[1]


def test_what_needs_all_classes_is_refused_in_blocks() -> None:
    scores, truth = small_set()
    micro = sed.BestFScore(sed.Collar(), average="micro")
    with pytest.raises(sed.SedscopeError, match="all classes are needed at once for BestFScore"):
        sed.evaluate(scores, truth, micro, memory="200kB")
    assert sed.evaluate(scores, truth, micro, memory="1GB")[micro].value > 0
    with pytest.raises(sed.SedscopeError, match="resampling needs all deltas"):
        sed.evaluate(scores, truth, METRICS[0], memory="1GB", bootstrap=10)


def test_a_limit_too_small_for_one_class() -> None:
    scores, truth = small_set()
    with pytest.raises(sed.SedscopeError, match="too little for one class"):
        sed.evaluate(scores, truth, METRICS, memory=10)


@pytest.mark.parametrize("text", ["", "4XB", "-1GB", "0", "nan", None, True])
def test_no_number_of_bytes(text: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="give a number of bytes"):
        as_bytes(text)


def test_expectation_is_of_the_right_size() -> None:
    scores, truth = small_set()
    wanted = wanted_by([sed.BestFScore(sed.Collar())])
    deltas = sed.deltas(scores, truth, sed.Collar())
    rows = np.diff(deltas.tables.detections.class_starts())
    found = expected(align(scores, truth), wanted)
    np.testing.assert_allclose(found.per_class, rows * 32, rtol=0.5)
