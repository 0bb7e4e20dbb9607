"""Metrics as training loops use them: called, copied, in collections, in half precision."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import sedscope as sed

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch
from torchmetrics import MetricCollection
from torchmetrics.wrappers import MetricTracker

from sedscope.torch import SEDMetric
from sedscope.torch.collector import BatchCollector

from ..support.torch.batches import CLASSES, CLIPS, FRAME, METRICS, TRUTH, give, metrics, values_of

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
BATCHES = [CLIPS[i : i + 8] for i in range(0, len(CLIPS), 8)]


def single(metric: Any = sed.presets.PSDS1, **options: Any) -> SEDMetric:
    return SEDMetric(metric, CLASSES, frame=FRAME, **{"truth": TRUTH, **options})


def collection(**options: Any) -> MetricCollection:
    """Of which the first two share their state."""
    stable = sed.PSDS(sed.Intersection(0.7, 0.7), alpha_st=0.5)
    made: dict[str, Any] = {
        "psds1": single(),
        "stable": single(stable),
        "psds2": single(sed.presets.PSDS2),
    }
    return MetricCollection(made, **options)


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    """What one update with all clips gives."""
    whole = collection()
    give(whole, CLIPS)
    return {name: float(value) for name, value in whole.compute().items()}


def targets_of(clips: list[str]) -> list[list[tuple[float, float, str]]]:
    return [TRUTH.events(clip) for clip in clips]


@pytest.mark.parametrize(
    ("way", "options"),
    [("forward", {}), ("forward", {"compute_on_cpu": True}), ("update", {"compute_on_cpu": True})],
)
@pytest.mark.parametrize("truth", [TRUTH, None], ids=["truth", "targets"])
def test_a_batch_costs_the_same_at_the_end_of_an_epoch(
    way: str, options: dict[str, Any], truth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    unpack = BatchCollector.unpack

    def counted(self: Any, data: Any) -> Any:
        read.append(len(data))
        return unpack(self, data)

    monkeypatch.setattr(BatchCollector, "unpack", counted)
    metric = single(truth=truth, **options)
    for clips in BATCHES:
        getattr(metric, way)(values_of(clips), clips, None if truth else targets_of(clips))
    assert not read


def test_calling_a_metric_does_not_warn_of_each_batch() -> None:
    metric = single()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric(values_of(CLIPS[:2]), CLIPS[:2])
    with pytest.warns(sed.SedscopeWarning, match="no reference events"):
        metric.compute()


def test_synchronised_at_each_step(expected: dict[str, float]) -> None:
    metric = single(dist_sync_on_step=True)
    for clips in BATCHES:
        metric(values_of(clips), clips)
    assert float(metric.compute()) == expected["psds1"]


def test_collections_are_called_copied_and_named(expected: dict[str, float]) -> None:
    validation = collection(prefix="validation/")
    for _ in range(2):
        for clips in BATCHES[:2]:
            assert [*validation(values_of(clips), clips)] == [f"validation/{name}" for name in expected]
        copies = [
            copy.deepcopy(validation),
            pickle.loads(pickle.dumps(validation)),
            validation.clone(prefix="test/"),
        ]
        for copied in (*copies, validation):
            give(copied, *BATCHES[2:])
            values = {name.split("/")[1]: float(value) for name, value in copied.compute().items()}
            assert values == expected
        validation.reset()


def test_best_epoch_of_a_tracker(expected: dict[str, float]) -> None:
    tracker = MetricTracker(single(), maximize=True)
    for spoilt in (True, False, True):
        tracker.increment()
        tracker.update(values_of(CLIPS).flip(1) if spoilt else values_of(CLIPS), CLIPS)
    assert tracker.best_metric(return_step=True) == (expected["psds1"], 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_values_have_at_least_single_precision(dtype: Any) -> None:
    default = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)  # as trainers do that run in another precision throughout
        sed_metrics = metrics()
    finally:
        torch.set_default_dtype(default)
    give(sed_metrics, CLIPS)
    for name, value in sed_metrics.compute().items():
        assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert float(value) == pytest.approx(sed_metrics.scalars()[name], rel=1e-6)


def test_state_goes_through_a_file_that_is_no_pickle_of_ours(tmp_path: Any) -> None:
    first, resumed = metrics(), metrics()
    give(first, *BATCHES[:3])
    first.persistent(True)
    torch.save(first.state_dict(), tmp_path / "state.pt")
    resumed.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    for one in (first, resumed):
        give(one, *BATCHES[2:])
    np.testing.assert_equal(resumed.scalars(), first.scalars())


def test_scores_may_be_of_a_graph_or_a_view(expected: dict[str, float]) -> None:
    metric = single()
    value = metric(values_of(CLIPS[:20]).requires_grad_() * 1, CLIPS[:20])
    assert not value.requires_grad
    with torch.inference_mode():
        view = values_of(CLIPS[20:]).transpose(1, 2).contiguous().transpose(1, 2)
        metric.update(view, CLIPS[20:])
    assert float(metric.compute()) == expected["psds1"]


def test_what_a_metric_is_can_be_read() -> None:
    assert repr(single()) == "SEDMetric(psds1)"
    assert repr(metrics()) == f"SEDMetrics({', '.join(METRICS)})"


def test_values_of_several_metrics_are_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    matplotlib.use("Agg")
    sed_metrics = metrics()
    give(sed_metrics, CLIPS)
    figure, axes = sed_metrics.plot()
    assert {line.get_label() for line in axes.lines} >= {*METRICS}
    matplotlib.pyplot.close(figure)
