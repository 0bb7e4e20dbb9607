"""The state of metrics in the training loop: reset, saved, merged, shared in collections."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sedscope as sed

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")
import torch
from torchmetrics import MetricCollection

import sedscope.torch.metric
from sedscope.torch import SEDMetric

from ..support.torch.batches import (
    ARRAYS,
    CLASSES,
    CLIPS,
    FRAME,
    METRICS,
    TRUTH,
    evaluated,
    give,
    metrics,
    single,
    values_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_forward_gives_the_value_of_the_batch() -> None:
    found, alone = single(), single()
    values = [float(found(values_of(clips), clips)) for clips in (CLIPS[:20], CLIPS[20:])]
    give(alone, CLIPS[20:])
    assert values[1] == pytest.approx(float(alone.compute()))
    np.testing.assert_equal(found.result().scalars(), evaluated([sed.presets.PSDS1]))
    with pytest.raises(sed.SedscopeError, match="not in the ground truth"):
        found(values_of(CLIPS[:1]), ["another"])
    np.testing.assert_equal(found.result().scalars(), evaluated([sed.presets.PSDS1]))


def test_reset_begins_anew() -> None:
    metric = single()
    metric.update(values_of(CLIPS) * 0.5, CLIPS)
    metric.reset()
    assert not metric.parts
    give(metric, CLIPS)
    np.testing.assert_equal(metric.result().scalars(), evaluated([sed.presets.PSDS1]))


def test_options_of_torchmetrics() -> None:
    metric = single(compute_on_cpu=True)
    for clips in (CLIPS[:9], CLIPS[9:20], CLIPS[20:]):
        give(metric, clips)
        metric.to("cpu")
        metric.set_dtype(torch.float64)
    value = metric.compute()
    assert value.dtype == torch.float64
    assert float(value) == evaluated(["psds1"])["psds1"]


def test_state_goes_through_pickle_state_dict_clone_and_merge() -> None:
    first = metrics()
    give(first, CLIPS[:11], CLIPS[11:20])
    first.persistent(True)
    loaded = metrics()
    loaded.load_state_dict(first.state_dict())
    merged = metrics()
    merged.merge_state(first)
    expected = evaluated(METRICS)
    for found in (loaded, pickle.loads(pickle.dumps(first)), first.clone(), merged, first):
        give(found, CLIPS[15:30], CLIPS[30:])  # some of which it has seen
        np.testing.assert_equal(found.result().scalars(), expected)


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric SEDMetric was called before")
def test_state_of_another_definition_is_refused() -> None:
    first = single()
    give(first, CLIPS[:9])
    first.persistent(True)
    others = [
        SEDMetric(sed.presets.PSDS1, CLASSES, frame=2 * FRAME, truth=TRUTH),
        SEDMetric(sed.presets.PSDS2, CLASSES, frame=FRAME, truth=TRUTH),
        single(truth=None),
    ]
    for other in others:
        with pytest.raises(sed.SedscopeError, match="another definition"):
            other.merge_state(first)
        other.load_state_dict(first.state_dict())
        with pytest.raises(sed.SedscopeError, match="another definition"):
            other.compute()


def test_damaged_state_is_refused() -> None:
    metric = single()
    give(metric, CLIPS[:9])
    for spoilt in (metric.parts[0][:-5], metric.parts[0][:40], metric.parts[0].flip(0)):
        metric.parts = [spoilt]
        metric._computed = None
        with pytest.raises(sed.SedscopeError, match="The state of the metric is damaged"):
            metric.compute()


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric SEDMetric was called before")
def test_a_changed_byte_of_the_state_is_refused() -> None:
    metric = single()
    give(metric, CLIPS[:3])
    metric.persistent(True)
    state = metric.state_dict()
    (whole,) = state["parts"]
    rng = np.random.default_rng(0)
    for place in [*range(300), *rng.integers(len(whole), size=200)]:
        part = whole.clone()
        part[place] ^= 1 << int(rng.integers(8))
        loaded = single()
        loaded.load_state_dict({**state, "parts": [part]})
        with pytest.raises(sed.SedscopeError, match="The state of the metric is damaged"):
            loaded.compute()


def test_collection_shares_only_what_is_the_same() -> None:
    criterion = sed.Intersection(0.7, 0.7)
    chosen: dict[str, Any] = {
        "a": sed.PSDS(criterion),
        "b": sed.PSDS(criterion, alpha_st=1),
        "looser": sed.PSDS(sed.Intersection(0.1, 0.1)),
        "further": sed.PSDS(criterion, max_efpr=1000),
    }
    made: dict[str, Any] = {
        name: SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH) for name, metric in chosen.items()
    }
    collection = MetricCollection(made)
    silent = torch.full_like(values_of(CLIPS[:1]), -torch.inf)  # of which all criteria say the same
    for _ in range(2):
        collection.update(silent, CLIPS[:1])
        give(collection, CLIPS[1:20], CLIPS[20:])
        values = collection.compute()
        groups = sorted(sorted(group) for group in collection.compute_groups.values())
        assert groups == [["a", "b"], ["further"], ["looser"]]
        arrays = {**ARRAYS, CLIPS[0]: silent[0].numpy()}
        scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=FRAME)
        expected = sed.evaluate(scores, TRUTH, chosen.values())
        for name, metric in chosen.items():
            assert float(values[name]) == pytest.approx(expected[metric].value)
            assert collection[name].result()[metric].value == expected[metric].value
        collection.reset()


def test_collection_with_given_groups() -> None:
    criterion = sed.Intersection(0.7, 0.7)
    chosen: dict[str, Any] = {"a": sed.PSDS(criterion), "b": sed.PSDS(criterion, alpha_st=1)}
    made: dict[str, Any] = {
        name: SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH) for name, metric in chosen.items()
    }
    collection = MetricCollection(made, compute_groups=[["b", "a"]])
    expected = evaluated(chosen)
    for _ in range(2):
        give(collection, CLIPS[:5], CLIPS[5:20], CLIPS[20:])
        values = collection.compute()
        for name in chosen:
            assert float(values[name]) == pytest.approx(expected[name])
        collection.reset()
