"""Metrics in the training loop: batches, their order and padding do not change the result."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import sedscope as sed
from sedscope.counting.request import DeltaRequest
from sedscope.criteria import CustomCriterion, FoundChanges
from sedscope.metrics import Metric
from sedscope.metrics.names import metric_name
from sedscope.postprocessing import MedianFilter

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch

import sedscope.torch.metric
from sedscope.torch import SEDMetric, SEDMetrics
from sedscope.torch.epoch_clips import EpochClips

from ..support.torch.batches import (
    ARRAYS,
    CLASSES,
    CLIPS,
    FRAME,
    METRICS,
    TRUTH,
    evaluated,
    give,
    single,
    values_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
DTYPES = st.sampled_from([torch.float16, torch.float32, torch.float64])


@dataclass(frozen=True, repr=False)
class Anything(CustomCriterion):
    """A reference is found by anything in its clip."""

    def clip_deltas(self, detections: Any, references: Any, others: Any) -> FoundChanges:
        scores, fp = detections.changes(np.ones(len(detections)))
        tp = np.zeros(len(scores), np.int64)
        if len(scores):
            tp[np.argmax(scores)] = len(references)
        return FoundChanges(scores, tp, fp)


KINDS: list[Any] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.PiPSDS(sed.Intersection(0.5, 0.5), max_efpr=10, postprocessing=[MedianFilter(0.3)]),
    sed.BestFScore(sed.Collar(cross_triggers=True, errors=True)),
    sed.ErrorRate(sed.Collar(), average="micro"),
    sed.AveragePrecision(sed.Segment(1.0)),
    sed.AUROC(sed.Clip()),
    sed.FScore(sed.IoU(0.5), threshold=0.3),
    sed.BestFScore(Anything()),
]


@pytest.mark.parametrize("metric", KINDS, ids=repr)
def test_batches_give_what_one_evaluation_does(metric: Metric[Any]) -> None:
    sed_metric = SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH)
    give(sed_metric, *(CLIPS[i : i + 7] for i in range(0, len(CLIPS), 7)))
    value = sed_metric.compute()
    assert value.shape == ()
    expected = evaluated([metric])
    np.testing.assert_equal(sed_metric.result().scalars(), expected)
    assert float(value) == pytest.approx(expected[metric_name(metric)], nan_ok=True)
    assert sed_metric.higher_is_better == metric.higher_is_better


def test_several_metrics_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    find = sed.Intersection.find_deltas

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return find(*arguments, **options)

    monkeypatch.setattr(sed.Intersection, "find_deltas", counted)
    criterion = sed.Intersection(0.7, 0.7)
    chosen: list[Any] = [sed.PSDS(criterion), sed.PSDS(criterion, alpha_st=1), sed.BestFScore(criterion)]
    sed_metrics = SEDMetrics(chosen, CLASSES, frame=FRAME, truth=TRUTH)
    give(sed_metrics, CLIPS[:20], CLIPS[20:])
    values = sed_metrics.compute()
    assert len(calls) == 2
    assert [*values] == ["psds1_mean", "psds1", "BestFScore"]
    np.testing.assert_equal(sed_metrics.scalars(), evaluated(chosen))


@st.composite
def epochs(draw: st.DrawFn) -> tuple[list[NDArray[np.float64]], list[NDArray[np.bool_]]]:
    """Scores and targets of some clips of different lengths."""
    score = draw(
        st.sampled_from([st.sampled_from([-np.inf, 0.0, 0.25, 0.5, 1.0]), st.floats(-4, 4, width=16)])
    )
    lengths = draw(st.lists(st.integers(1, 8), min_size=1, max_size=9))
    scores = [
        np.array(draw(st.lists(score, min_size=2 * n, max_size=2 * n))).reshape(n, 2) for n in lengths
    ]
    targets = [
        np.array(draw(st.lists(st.booleans(), min_size=2 * n, max_size=2 * n))).reshape(n, 2)
        for n in lengths
    ]
    return scores, targets


def events_of(targets: NDArray[np.bool_]) -> list[tuple[float, float, str]]:
    """Frame by frame."""
    events = []
    for c, label in enumerate("xy"):
        onset = None
        for i, active in enumerate([*targets[:, c].tolist(), False]):
            if active and onset is None:
                onset = i
            elif not active and onset is not None:
                events.append((float(onset), float(i), label))
                onset = None
    return events


def padded(arrays: Sequence[NDArray[Any]], with_what: float) -> NDArray[Any]:
    longest = max(map(len, arrays))
    return np.stack(
        [np.pad(a, ((0, longest - len(a)), (0, 0)), constant_values=with_what) for a in arrays]
    )


SMALL: list[Any] = [
    sed.PSDS(sed.Intersection(0.5, 0.5, 0.3), alpha_ct=1, max_efpr=0.05, unit="second"),
    sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=200),
    sed.BestFScore(sed.Collar(1.0, 1.0)),
    sed.PiPSDS(
        sed.Intersection(0.5, 0.5), max_efpr=0.1, unit="second", postprocessing=[MedianFilter(3.0)]
    ),
]


@settings(max_examples=150)
@given(epoch=epochs(), data=st.data(), dtype=DTYPES, way=st.sampled_from(["truth", "events", "frames"]))
def test_any_batches_in_any_order(epoch: Any, data: st.DataObject, dtype: Any, way: str) -> None:
    scores, targets = epoch
    events = {f"c{i}": events_of(target) for i, target in enumerate(targets)}
    lengths = {f"c{i}": float(len(array)) for i, array in enumerate(scores)}
    truth = sed.GroundTruth.from_dict(events, durations=lengths)
    chosen = data.draw(st.sampled_from([SMALL, SMALL[:2], SMALL[1:], SMALL[2:]]))
    sed_metrics = SEDMetrics(chosen, ["x", "y"], frame=1.0, truth=truth if way == "truth" else None)

    order = data.draw(st.permutations(range(len(scores))))
    again = data.draw(st.lists(st.sampled_from(order), max_size=3))  # as a sampler that pads
    rows = [*order, *again]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=4)) | {0, len(rows)})
    for first, last in pairwise(cuts):
        batch = rows[first:last]
        if data.draw(st.booleans()):
            _ = sed_metrics.parts  # held scores are done with when somebody looks
        given_targets: Any = None
        if way == "events":
            given_targets = [events[f"c{i}"] for i in batch]
        elif way == "frames":
            given_targets = torch.from_numpy(padded([targets[i] for i in batch], 1))
        sed_metrics.update(
            torch.from_numpy(padded([scores[i] for i in batch], np.nan)).to(dtype),
            [f"folder/c{i}.wav" for i in batch],
            given_targets,
            torch.tensor([len(scores[i]) for i in batch]),
        )
        if data.draw(st.booleans()):
            sed_metrics = pickle.loads(pickle.dumps(sed_metrics))
    arrays = {f"c{i}": torch.from_numpy(array).to(dtype).numpy() for i, array in enumerate(scores)}
    whole = sed.Scores.from_arrays(arrays, classes=["x", "y"], frame=1.0)
    expected = sed.evaluate(whole, truth, chosen).scalars()
    np.testing.assert_equal(sed_metrics.scalars(), expected)


def test_floors_prune_the_state() -> None:
    few: Any = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    sed_metric = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH)
    without = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH, missing="empty")
    for metric in (sed_metric, without):
        give(metric, *(CLIPS[i : i + 4] for i in range(0, len(CLIPS), 4)))
    assert sum(map(len, sed_metric.parts)) < 0.5 * sum(map(len, without.parts))
    assert sed_metric.result().scalars() == without.result().scalars() == evaluated([few])


@pytest.mark.parametrize("held", [0, 40_000])
def test_scores_are_held_up_to_a_limit(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sedscope.torch.metric, "HELD_BYTES", held)
    few: Any = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    metric = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH)
    for i in range(0, len(CLIPS), 4):
        give(metric, CLIPS[i : i + 4])
        epoch = metric._epoch_clips()
        assert epoch.holds
        assert epoch.held.score_bytes <= held
    assert len(metric.parts) == (10 if held == 0 else 2)
    assert metric.result().scalars() == evaluated([few])


@pytest.mark.parametrize(
    ("criterion", "holds"),
    [
        (sed.Intersection(0.7, 0.7), True),
        (sed.OfLength(sed.Collar(), 1, 5), True),
        (sed.Segment(1.0), False),
        (Anything(), False),
    ],
    ids=repr,
)
def test_only_criteria_that_skip_low_columns_hold_some_of_a_clip(criterion: Any, holds: bool) -> None:
    requests = {criterion: DeltaRequest(1.0)}
    assert EpochClips(requests, 2, np.array([10_000_000]), hold=True).holds == holds


def test_scores_may_change_after_update() -> None:
    metric = single()
    scores = values_of(CLIPS)
    metric.update(scores, CLIPS)
    scores.zero_()
    np.testing.assert_equal(metric.result().scalars(), evaluated([sed.presets.PSDS1]))


def test_bfloat16_is_widened() -> None:
    sed_metrics = SEDMetrics(METRICS, CLASSES, frame=FRAME, truth=TRUTH)
    sed_metrics.update(values_of(CLIPS).bfloat16(), CLIPS)
    exact = SEDMetrics(METRICS, CLASSES, frame=FRAME, truth=TRUTH)
    exact.update(values_of(CLIPS).bfloat16().double(), CLIPS)
    assert sed_metrics.scalars() == exact.scalars()


def test_postprocessing() -> None:
    metric = single(postprocessing=MedianFilter(0.5))
    give(metric, CLIPS[:9], CLIPS[9:])
    scores = sed.Scores.from_arrays(ARRAYS, classes=CLASSES, frame=FRAME)
    expected = sed.evaluate(MedianFilter(0.5)(scores), TRUTH, sed.presets.PSDS1)
    assert metric.result().scalars() == expected.scalars()


def test_part_of_the_clips_and_clips_without_events() -> None:
    metric = single(missing="empty")
    give(metric, CLIPS[:9])
    metric.update(values_of(CLIPS[:1]), ["another"])
    scores = sed.Scores.from_arrays(
        {**{clip: ARRAYS[clip] for clip in CLIPS[:9]}, "another": ARRAYS[CLIPS[0]]},
        classes=CLASSES,
        frame=FRAME,
    )
    expected = sed.evaluate(scores, TRUTH, sed.presets.PSDS1, clips="scored", missing="empty")
    np.testing.assert_equal(metric.result().scalars(), expected.scalars())
    assert (
        "31 of the 40 clips in the ground truth have no scores and were left out."
        in metric.result().warnings
    )


def test_warnings_come_with_the_value() -> None:
    metric = single()
    give(metric, CLIPS[:2])
    with pytest.warns(sed.SedscopeWarning, match="classes have no reference events"):
        metric.compute()


def test_plots() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    matplotlib.use("Agg")
    metric = single()
    give(metric, CLIPS)
    figure, axes = metric.plot()
    assert axes.get_ylabel() == "true positive ratio"
    assert len(axes.lines) == 1 + len(CLASSES)
    other, _ = metric.plot([torch.tensor(0.1), torch.tensor(0.2)])
    matplotlib.pyplot.close(figure)
    matplotlib.pyplot.close(other)
