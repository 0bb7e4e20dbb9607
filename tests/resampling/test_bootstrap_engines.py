"""Resamples on every engine: the same bits, and blocks that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.resampling import resampled_metric

METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.PSDS(sed.Intersection(0.1, 0.1, 0.3), alpha_ct=0.5, alpha_st=1.0),
    sed.BestFScore(sed.Collar()),
    sed.FScore(sed.Collar(), average="micro"),
]
RESAMPLES = 150  # more than a block


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs dask: pip install 'sedscope[dask]'")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


def deltas_of(metric: Metric[Any]) -> sed.Deltas:
    truth = sed.simulate.ground_truth(40, seed=3)
    return sed.deltas(sed.simulate.scores(truth, seed=3), truth, metric.criterion)


def assert_equal_intervals(interval: Any, other: Any) -> None:
    np.testing.assert_array_equal(interval.values, other.values)
    for label, of_class in interval.per_class.items():
        np.testing.assert_array_equal(of_class.values, other.per_class[label].values)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_cluster_gives_the_same_bits(metric: Metric[Any], cluster: Any) -> None:
    deltas = deltas_of(metric)
    there = sed.bootstrap(deltas, metric, RESAMPLES, run=sed.Run(engine="dask", scheduler=cluster))
    assert_equal_intervals(there, sed.bootstrap(deltas, metric, RESAMPLES))


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_checkpoint_keeps_the_blocks(
    metric: Metric[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deltas = deltas_of(metric)
    expected = sed.bootstrap(deltas, metric, RESAMPLES)
    assert_equal_intervals(
        sed.bootstrap(deltas, metric, RESAMPLES, run=sed.Run(checkpoint=tmp_path)), expected
    )
    blocks = sorted(tmp_path.iterdir())
    assert len(blocks) == 7  # of 64 resamples each, and of halves and quarters of the clips
    blocks[1].write_bytes(blocks[1].read_bytes()[:-8])  # as if it had been interrupted
    measured: list[int] = []
    measure = resampled_metric.ResampledMetric.__call__

    def counting(self: resampled_metric.ResampledMetric, weights: Any) -> Any:
        measured.append(len(weights))
        return measure(self, weights)

    monkeypatch.setattr(resampled_metric.ResampledMetric, "__call__", counting)
    assert_equal_intervals(
        sed.bootstrap(deltas, metric, RESAMPLES, run=sed.Run(checkpoint=tmp_path)), expected
    )
    assert len(measured) == 1


def test_a_checkpoint_of_other_deltas_is_not_used(tmp_path: Path) -> None:
    metric = METRICS[0]
    truth = sed.simulate.ground_truth(40, seed=3)
    for seed in (3, 4):
        deltas = sed.deltas(sed.simulate.scores(truth, seed=seed), truth, metric.criterion)
        kept = sed.bootstrap(deltas, metric, 70, run=sed.Run(checkpoint=tmp_path))
        assert_equal_intervals(kept, sed.bootstrap(deltas, metric, 70))
