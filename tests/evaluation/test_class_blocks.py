"""Classes counted in blocks: the same values in less memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope.data.alignment import align
from sedscope.engines.floor_search import find_deltas
from sedscope.engines.options import parse_bytes
from sedscope.evaluation.class_blocks import MemoryEstimate, estimate_memory
from sedscope.metrics import Metric
from sedscope.metrics.requests import delta_requests

METRICS: list[Metric[Any]] = [
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
    needed = estimate_memory(align(scores, truth), delta_requests(METRICS))
    limit = int(1.5 * (needed.fixed + (needed.deltas + needed.counts).max() * 1.5))
    assert len([*needed.blocks(limit)]) >= 5
    in_blocks = sed.evaluate(scores, truth, METRICS, memory=limit)
    whole = sed.evaluate(scores, truth, METRICS)
    assert in_blocks.scalars() == whole.scalars()
    kept = sum(len(counts.scores) for counts in in_blocks.counts[sed.Collar()].values())
    assert kept < 0.5 * sum(len(counts.scores) for counts in whole.counts[sed.Collar()].values())


def test_a_block_finds_its_own_classes_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth = small_set()
    psds = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    rows: list[NDArray[np.int64]] = []

    def recording(*arguments: Any) -> dict[Any, sed.Deltas]:
        deltas = find_deltas(*arguments)
        rows.append(np.diff(deltas[psds.criterion].tables.detections.class_starts()))
        return deltas

    monkeypatch.setattr("sedscope.evaluation.class_blocks.find_deltas", recording)
    needed = estimate_memory(align(scores, truth), delta_requests([psds]))
    limit = int(1.5 * (needed.fixed + (needed.deltas + needed.counts).max() * 1.5))
    in_blocks = sed.evaluate(scores, truth, psds, memory=limit, checkpoint=tmp_path)
    assert in_blocks.scalars() == sed.evaluate(scores, truth, psds).scalars()
    assert len(rows) > 1
    assert (np.count_nonzero(rows, axis=0) == 1).all()


def test_thresholds_are_still_best() -> None:
    scores, truth = small_set()
    best = sed.BestFScore(sed.Collar())
    thresholds = sed.evaluate(scores, truth, best, memory="300kB")[best].thresholds
    tuned = sed.evaluate(sed.at_thresholds(scores, thresholds), truth, sed.FScore(sed.Collar()))
    assert tuned.scalars().popitem()[1] == sed.evaluate(scores, truth, best).scalars().popitem()[1]


def test_what_needs_all_classes_is_refused_in_blocks() -> None:
    scores, truth = small_set()
    micro = sed.BestFScore(sed.Collar(), average="micro")
    with pytest.raises(sed.SedscopeError, match=r"need all classes at once: BestFScore"):
        sed.evaluate(scores, truth, micro, memory="300kB")
    assert sed.evaluate(scores, truth, micro, memory="1GB")[micro].value > 0
    with pytest.raises(sed.SedscopeError, match="Resampling needs all deltas"):
        sed.evaluate(scores, truth, METRICS[0], memory="1GB", bootstrap=10)


def test_a_limit_too_small_for_one_class() -> None:
    scores, truth = small_set()
    with pytest.raises(sed.SedscopeError, match="one class alone needs"):
        sed.evaluate(scores, truth, METRICS, memory=10)


@pytest.mark.parametrize("text", ["", "4XB", "-1GB", "0", "nan", None, True])
def test_no_number_of_bytes(text: Any) -> None:
    with pytest.raises(sed.SedscopeError, match="not a number of bytes"):
        parse_bytes(text)


def test_expectation_is_of_the_right_size() -> None:
    scores, truth = small_set()
    requests = delta_requests([sed.BestFScore(sed.Collar())])
    deltas = sed.deltas(scores, truth, sed.Collar())
    rows = np.diff(deltas.tables.detections.class_starts())
    found = estimate_memory(align(scores, truth), requests)
    np.testing.assert_allclose(found.deltas, rows * 12, rtol=0.5)
    np.testing.assert_allclose(found.counts, rows * 20, rtol=0.5)


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 200)), min_size=1, max_size=8),
    st.integers(0, 400),
    st.integers(0, 1000),
)
def test_blocks_are_all_classes_once_and_within_the_limit(
    sizes: list[tuple[int, int]], kept: int, limit: int
) -> None:
    deltas, counts = np.array(sizes, float).T
    needed = MemoryEstimate(deltas, counts, kept, 10)

    def size(block: NDArray[np.bool_]) -> float:
        held = counts[block].sum() if counts[block].sum() <= kept else max(kept, counts[block].max())
        return float(10 + deltas[block].sum() + held)

    everything, room = np.eye(len(sizes), dtype=bool), limit * 2 / 3
    if any(size(alone) > room for alone in everything):
        with pytest.raises(sed.SedscopeError, match="one class alone needs"):
            list(needed.blocks(limit))
        return
    blocks = list(needed.blocks(limit))
    assert np.sum(blocks, axis=0).tolist() == [1] * len(sizes)
    assert all(size(block) <= room for block in blocks)
    for block, following in pairwise(blocks):  # none could have been larger
        assert size(block | everything[int(np.argmax(following))]) > room


def test_many_rows_are_counted_class_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, truth = small_set()
    deltas = sed.deltas(scores, truth, sed.Collar(cross_triggers=True, errors=True))
    whole = deltas.counts()
    monkeypatch.setattr("sedscope.counting.deltas.ROWS_TO_KEEP", 0)
    counts = deltas.counts(threads=3)
    assert list(counts) == list(whole)
    for label in [*whole, *whole]:
        for name, expected_value in vars(whole[label]).items():
            np.testing.assert_equal(getattr(counts[label], name), expected_value)
    assert len(counts) == len(whole)
    with pytest.raises(KeyError):
        counts["Cuckoo"]
