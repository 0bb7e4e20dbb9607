"""Metrics in the training loop: batches in any order and padding give what one evaluation would."""

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
from sedscope.criteria.custom import CustomCriterion, FoundChanges
from sedscope.metrics import Metric
from sedscope.postprocessing import MedianFilter

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch
from torchmetrics import MetricCollection

import sedscope.torch.metric
from sedscope.torch import SEDMetric, SEDMetrics

from ..support.torch.batches import (
    ARRAYS,
    CLASSES,
    CLIPS,
    FRAME,
    METRICS,
    TRUTH,
    give,
    metrics,
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


def evaluated(chosen: Sequence[Metric]) -> dict[str, float]:
    scores = sed.Scores.from_arrays(ARRAYS, classes=CLASSES, frame=FRAME)
    return sed.evaluate(scores, TRUTH, chosen).scalars()


def single(**options: Any) -> SEDMetric:
    return SEDMetric(sed.presets.PSDS1, CLASSES, frame=FRAME, **{"truth": TRUTH, **options})


@pytest.mark.parametrize("metric", KINDS, ids=repr)
def test_batches_give_what_one_evaluation_does(metric: Metric) -> None:
    found = SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH)
    give(found, *(CLIPS[i : i + 7] for i in range(0, len(CLIPS), 7)))
    value = found.compute()
    assert value.shape == ()
    expected = evaluated([metric])
    np.testing.assert_equal(found.result().scalars(), expected)
    assert float(value) == pytest.approx(expected[repr(metric)], nan_ok=True)
    assert found.higher_is_better == metric.higher_is_better


def test_several_metrics_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    find = sed.Intersection.find_deltas

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return find(*arguments, **options)

    monkeypatch.setattr(sed.Intersection, "find_deltas", counted)
    criterion = sed.Intersection(0.7, 0.7)
    chosen: list[Any] = [sed.PSDS(criterion), sed.PSDS(criterion, alpha_st=1), sed.BestFScore(criterion)]
    found = SEDMetrics(chosen, CLASSES, frame=FRAME, truth=TRUTH)
    give(found, CLIPS[:20], CLIPS[20:])
    values = found.compute()
    assert len(calls) == 2
    assert [*values] == [repr(metric) for metric in chosen]
    np.testing.assert_equal(found.scalars(), evaluated(chosen))


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
    found = SEDMetrics(chosen, ["x", "y"], frame=1.0, truth=truth if way == "truth" else None)

    order = data.draw(st.permutations(range(len(scores))))
    again = data.draw(st.lists(st.sampled_from(order), max_size=3))  # as a sampler that pads
    rows = [*order, *again]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=4)) | {0, len(rows)})
    for first, last in pairwise(cuts):
        batch = rows[first:last]
        if data.draw(st.booleans()):
            _ = found.parts  # held scores are done with when somebody looks
        given_targets: Any = None
        if way == "events":
            given_targets = [events[f"c{i}"] for i in batch]
        elif way == "frames":
            given_targets = torch.from_numpy(padded([targets[i] for i in batch], 1))
        found.update(
            torch.from_numpy(padded([scores[i] for i in batch], np.nan)).to(dtype),
            [f"folder/c{i}.wav" for i in batch],
            given_targets,
            torch.tensor([len(scores[i]) for i in batch]),
        )
        if data.draw(st.booleans()):
            found = pickle.loads(pickle.dumps(found))
    arrays = {f"c{i}": torch.from_numpy(array).to(dtype).numpy() for i, array in enumerate(scores)}
    whole = sed.Scores.from_arrays(arrays, classes=["x", "y"], frame=1.0)
    expected = sed.evaluate(whole, truth, chosen).scalars()
    np.testing.assert_equal(found.scalars(), expected)


def test_floors_prune_the_state() -> None:
    few: Any = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    found = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH)
    without = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH, missing="empty")
    for metric in (found, without):
        give(metric, *(CLIPS[i : i + 4] for i in range(0, len(CLIPS), 4)))
    assert sum(map(len, found.parts)) < 0.5 * sum(map(len, without.parts))
    assert found.result().scalars() == without.result().scalars() == evaluated([few])


@pytest.mark.parametrize("held", [0, 40_000])
def test_scores_are_held_up_to_a_limit(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sedscope.torch.metric, "HELD_BYTES", held)
    few: Any = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=20)
    found = SEDMetric(few, CLASSES, frame=FRAME, truth=TRUTH)
    for i in range(0, len(CLIPS), 4):
        give(found, CLIPS[i : i + 4])
        seen = found._seen()
        assert seen.holds
        assert seen.held_bytes <= held
    assert len(found.parts) == (10 if held == 0 else 4)
    assert found.result().scalars() == evaluated([few])


def test_scores_may_change_after_update() -> None:
    found = single()
    scores = values_of(CLIPS)
    found.update(scores, CLIPS)
    scores.zero_()
    np.testing.assert_equal(found.result().scalars(), evaluated([sed.presets.PSDS1]))


def test_bfloat16_is_widened() -> None:
    found = SEDMetrics(METRICS, CLASSES, frame=FRAME, truth=TRUTH)
    found.update(values_of(CLIPS).bfloat16(), CLIPS)
    exact = SEDMetrics(METRICS, CLASSES, frame=FRAME, truth=TRUTH)
    exact.update(values_of(CLIPS).bfloat16().double(), CLIPS)
    assert found.scalars() == exact.scalars()


def test_postprocessing() -> None:
    found = single(postprocessing=MedianFilter(0.5))
    give(found, CLIPS[:9], CLIPS[9:])
    scores = sed.Scores.from_arrays(ARRAYS, classes=CLASSES, frame=FRAME)
    expected = sed.evaluate(MedianFilter(0.5)(scores), TRUTH, sed.presets.PSDS1)
    assert found.result().scalars() == expected.scalars()


def test_part_of_the_clips_and_clips_without_events() -> None:
    found = single(missing="empty")
    give(found, CLIPS[:9])
    found.update(values_of(CLIPS[:1]), ["another"])
    scores = sed.Scores.from_arrays(
        {**{clip: ARRAYS[clip] for clip in CLIPS[:9]}, "another": ARRAYS[CLIPS[0]]},
        classes=CLASSES,
        frame=FRAME,
    )
    expected = sed.evaluate(scores, TRUTH, sed.presets.PSDS1, clips="scored", missing="empty")
    np.testing.assert_equal(found.result().scalars(), expected.scalars())
    assert "left out, without scores: 31 of the 40 clips in the ground truth" in found.result().warnings


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
    found = single()
    found.update(values_of(CLIPS) * 0.5, CLIPS)
    found.reset()
    assert not found.parts
    give(found, CLIPS)
    np.testing.assert_equal(found.result().scalars(), evaluated([sed.presets.PSDS1]))


def test_options_of_torchmetrics() -> None:
    found = single(compute_on_cpu=True)
    for clips in (CLIPS[:9], CLIPS[9:20], CLIPS[20:]):
        give(found, clips)
        found.to("cpu")
        found.set_dtype(torch.float64)
    value = found.compute()
    assert value.dtype == torch.float64
    assert float(value) == evaluated([sed.presets.PSDS1])[repr(sed.presets.PSDS1)]


def test_state_goes_through_pickle_state_dict_clone_and_merge() -> None:
    first = metrics()
    give(first, CLIPS[:11], CLIPS[11:20])
    first.persistent(True)
    loaded = metrics()
    loaded.load_state_dict(first.state_dict())
    merged = metrics()
    merged.merge_state(first)
    expected = evaluated([*METRICS.values()])
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
    found = single()
    give(found, CLIPS[:9])
    for spoilt in (found.parts[0][:-5], found.parts[0][:40], found.parts[0].flip(0)):
        found.parts = [spoilt]
        found._computed = None
        with pytest.raises(sed.SedscopeError, match="the state of the metric is damaged"):
            found.compute()


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
    found = MetricCollection(made)
    silent = torch.full_like(values_of(CLIPS[:1]), -torch.inf)  # of which all criteria say the same
    for _ in range(2):
        found.update(silent, CLIPS[:1])
        give(found, CLIPS[1:20], CLIPS[20:])
        values = found.compute()
        groups = sorted(sorted(group) for group in found.compute_groups.values())
        assert groups == [["a", "b"], ["further"], ["looser"]]
        arrays = {**ARRAYS, CLIPS[0]: silent[0].numpy()}
        scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=FRAME)
        expected = sed.evaluate(scores, TRUTH, chosen.values())
        for name, metric in chosen.items():
            assert float(values[name]) == pytest.approx(expected[metric].value)
            assert found[name].result()[metric].value == expected[metric].value
        found.reset()


def test_collection_with_given_groups() -> None:
    criterion = sed.Intersection(0.7, 0.7)
    chosen: dict[str, Any] = {"a": sed.PSDS(criterion), "b": sed.PSDS(criterion, alpha_st=1)}
    made: dict[str, Any] = {
        name: SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH) for name, metric in chosen.items()
    }
    found = MetricCollection(made, compute_groups=[["b", "a"]])
    expected = evaluated([*chosen.values()])
    for _ in range(2):
        give(found, CLIPS[:5], CLIPS[5:20], CLIPS[20:])
        values = found.compute()
        for name, metric in chosen.items():
            assert float(values[name]) == pytest.approx(expected[repr(metric)])
        found.reset()


BATCH = values_of(CLIPS[:3])
WITH_NAN = BATCH.clone()
WITH_NAN[1, 7, 2] = torch.nan


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WITH_NAN, CLIPS[3:6]), rf"NaN\): clip {CLIPS[4]}, class {CLASSES[2]}, frame 7"),
        ((BATCH, CLIPS[:2]), f"2 clip ids for 3 clips: {CLIPS[0]}, {CLIPS[1]}"),
        ((BATCH, [*CLIPS[:2], "another"]), "not in the ground truth: 1 clip with scores: another"),
        ((BATCH, [*CLIPS[:2], ""]), "not the name of a clip"),
        ((BATCH, [*CLIPS[:2], 3]), "named by text, not by 3"),
        ((BATCH, CLIPS[0]), f"clip ids must be a list of names, not '{CLIPS[0]}'"),
        ((BATCH, np.array(CLIPS[:3])), "clip ids must be a list of names, not ndarray"),
        ((BATCH[0], CLIPS[:3]), rf"must be clips × frames × 10 classes, .* batch of {CLIPS[0]}"),
        ((BATCH[:, :, :9], CLIPS[:3]), rf"10 classes, not of shape \(3, 100, 9\).* {CLIPS[0]}"),
        ((BATCH[:, :0], CLIPS[:3]), rf"not of shape \(3, 0, 10\).* {CLIPS[0]}"),
        ((BATCH.numpy(), CLIPS[:3]), "must be a tensor, not ndarray"),
        ((BATCH, CLIPS[:3], None, [100, 101, 99]), rf"from 1 to 100 frames: clip {CLIPS[1]} \(101\)"),
        ((BATCH, CLIPS[:3], None, [100, 0, 99]), rf"from 1 to 100 frames: clip {CLIPS[1]} \(0\)"),
        ((BATCH, CLIPS[:3], None, [1.0, 0.5, 0.2]), f"whole numbers of frames, .*{CLIPS[0]}"),
        ((BATCH, CLIPS[:3], BATCH > 0.5), "has a ground truth already"),
        (
            (BATCH * 0.5, [CLIPS[2], CLIPS[30], CLIPS[31]]),
            f"other scores or targets: 1 clip: {CLIPS[2]}",
        ),
        ((BATCH, [CLIPS[30], CLIPS[31], CLIPS[30]]), f"other scores or targets: 1 clip: {CLIPS[30]}"),
    ],
)
def test_bad_batches_change_nothing(arguments: Any, message: str) -> None:
    found = single()
    give(found, CLIPS[:3])
    before, value = [part.clone() for part in found.parts], found.result().scalars()
    with pytest.raises(sed.SedscopeError, match=message):
        found.update(*arguments)
    assert all(map(torch.equal, before, found.parts))
    np.testing.assert_equal(found.result().scalars(), value)
    give(found, CLIPS[3:])
    np.testing.assert_equal(found.result().scalars(), evaluated([sed.presets.PSDS1]))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (None, "there is no ground truth"),
        (
            torch.full_like(BATCH, 0.5),
            rf"must be 0 or 1: 3000 frames .* clip {CLIPS[0]}, class \w+, frame 0",
        ),
        (BATCH[:2] > 0.5, rf"targets of shape \(2, 100, 10\) .* {CLIPS[0]}"),
        ([[], []], f"list of events for each of the 3 clips, in the batch of {CLIPS[0]}"),
        ([[], [(0, 1, "Horse")], []], f"none of the classes: 'Horse' in clip {CLIPS[1]}"),
        ([[], [(2, 1, "Dog")], []], f"no or negative length: .*{CLIPS[1]}"),
        ([[], [(0, "Dog")], []], rf"{CLIPS[1]}: \(0, 'Dog'\) is not"),
        ([[], [(11, 12, "Dog")], []], f"after the last boundary of the scores: clip {CLIPS[1]}, Dog"),
    ],
)
def test_bad_targets_change_nothing(targets: Any, message: str) -> None:
    found = single(truth=None)
    with pytest.raises(sed.SedscopeError, match=message):
        found.update(BATCH, CLIPS[:3], targets)
    assert not found.parts


def test_other_targets_of_a_clip_are_refused() -> None:
    found = single(truth=None)
    found.update(BATCH, CLIPS[:3], BATCH > 0.5)
    with pytest.raises(sed.SedscopeError, match=f"other scores or targets: .*{CLIPS[0]}"):
        found.update(BATCH, CLIPS[:3], BATCH > 0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "PSDS"}, "not a metric: 'PSDS'"),
        ({"metric": [sed.presets.PSDS1]}, "SEDMetrics takes several"),
        ({"classes": []}, "there are no classes"),
        ({"classes": CLASSES[1:]}, f"not among the classes of the scores: {CLASSES[0]}"),
        ({"frame": 0}, "frame=0 must be a number of seconds"),
        ({"truth": {}}, "expected a GroundTruth, not dict"),
        ({"missing": "drop"}, "missing='drop': choose"),
        ({"repeats": "last"}, "repeats='last': choose 'error' or 'first'"),
        ({"postprocessing": 3}, "not a post-processing: 3"),
    ],
)
def test_bad_definitions(options: dict[str, Any], message: str) -> None:
    usual = {"metric": sed.presets.PSDS1, "classes": CLASSES, "frame": FRAME, "truth": TRUTH}
    with pytest.raises(sed.SedscopeError, match=message):
        SEDMetric(**{**usual, **options})


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric SEDMetric was called before")
def test_nothing_to_compute() -> None:
    with pytest.raises(sed.SedscopeError, match="no batch was given to update"):
        single().compute()


def test_warnings_come_with_the_value() -> None:
    found = single()
    give(found, CLIPS[:2])
    with pytest.warns(sed.SedscopeWarning, match="without reference events"):
        found.compute()


def test_plots() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
    matplotlib.use("Agg")
    found = single()
    give(found, CLIPS)
    figure, axes = found.plot()
    assert axes.get_ylabel() == "true positive rate"
    assert len(axes.lines) == 1 + len(CLASSES)
    other, _ = found.plot([torch.tensor(0.1), torch.tensor(0.2)])
    matplotlib.pyplot.close(figure)
    matplotlib.pyplot.close(other)
