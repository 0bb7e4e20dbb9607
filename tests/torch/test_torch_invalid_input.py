"""What the metrics in the training loop refuse, and that a refused batch changes nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sedscope as sed

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")
import torch

from sedscope.torch import SEDMetric

from ..support.torch.batches import CLASSES, CLIPS, FRAME, TRUTH, evaluated, give, single, values_of

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


BATCH = values_of(CLIPS[:3])


WITH_NAN = BATCH.clone()
WITH_NAN[1, 7, 2] = torch.nan


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((WITH_NAN, CLIPS[3:6]), rf"NaN\): clip {CLIPS[4]}, class {CLASSES[2]}, frame 7"),
        ((BATCH, CLIPS[:2]), f"2 clip ids for 3 clips: {CLIPS[0]}, {CLIPS[1]}"),
        ((BATCH, [*CLIPS[:2], "another"]), "1 clip is not in the ground truth: another"),
        ((BATCH, [*CLIPS[:2], ""]), "clip id must not be empty"),
        ((BATCH, [*CLIPS[:2], 3]), "Clip names must be strings, not 3"),
        ((BATCH, CLIPS[0]), f"clip_ids must be a list of names, not '{CLIPS[0]}'"),
        ((BATCH, np.array(CLIPS[:3])), "clip_ids must be a list of names, not ndarray"),
        ((BATCH.transpose(1, 2), CLIPS[: len(BATCH)]), r"Turn them with scores\.transpose\(1, 2\)"),
        ((BATCH[0], CLIPS[:3]), rf"shape clips × frames × 10 classes, .* \(batch of {CLIPS[0]}"),
        ((BATCH[:, :, :9], CLIPS[:3]), rf"10 classes, not \(3, 100, 9\).* {CLIPS[0]}"),
        ((BATCH[:, :0], CLIPS[:3]), rf"not \(3, 0, 10\).* {CLIPS[0]}"),
        ((BATCH.numpy(), CLIPS[:3]), "must be a tensor, not ndarray"),
        ((BATCH, CLIPS[:3], None, [100, 101, 99]), rf"from 1 to 100 frames: clip {CLIPS[1]} \(101\)"),
        ((BATCH, CLIPS[:3], None, [100, 0, 99]), rf"from 1 to 100 frames: clip {CLIPS[1]} \(0\)"),
        ((BATCH, CLIPS[:3], None, [1.0, 0.5, 0.2]), f"whole numbers of frames, .*{CLIPS[0]}"),
        ((BATCH, CLIPS[:3], BATCH > 0.5), "has a ground truth, so update must not get targets"),
        (
            (BATCH * 0.5, [CLIPS[2], CLIPS[30], CLIPS[31]]),
            f"1 clip occurs again with other scores or targets: {CLIPS[2]}",
        ),
        (
            (BATCH, [CLIPS[30], CLIPS[31], CLIPS[30]]),
            f"1 clip occurs again with other scores or targets: {CLIPS[30]}",
        ),
    ],
)
def test_bad_batches_change_nothing(arguments: Any, message: str) -> None:
    metric = single()
    give(metric, CLIPS[:3])
    before, value = [part.clone() for part in metric.parts], metric.result().scalars()
    with pytest.raises(sed.SedscopeError, match=message):
        metric.update(*arguments)
    assert all(map(torch.equal, before, metric.parts))
    np.testing.assert_equal(metric.result().scalars(), value)
    give(metric, CLIPS[3:])
    np.testing.assert_equal(metric.result().scalars(), evaluated([sed.presets.PSDS1]))


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (None, "The metric has no ground truth"),
        (
            torch.full_like(BATCH, 0.5),
            rf"must be 0 or 1. Found 3000 other values: clip {CLIPS[0]}, class \w+, frame 0",
        ),
        (BATCH[:2] > 0.5, rf"targets of shape \(2, 100, 10\) .* {CLIPS[0]}"),
        ([[], []], rf"list of events for each of the 3 clips \(batch of {CLIPS[0]}"),
        ([[], [(0, 1, "Horse")], []], f"none of the classes: 'Horse' in clip {CLIPS[1]}"),
        ([[], [(2, 1, "Dog")], []], f"no positive length: .*{CLIPS[1]}"),
        ([[], [(0, "Dog")], []], rf"{CLIPS[1]}: \(0, 'Dog'\) is not"),
        ([[], [(11, 12, "Dog")], []], f"after the last boundary of the scores: clip {CLIPS[1]}, Dog"),
    ],
)
def test_bad_targets_change_nothing(targets: Any, message: str) -> None:
    metric = single(truth=None)
    with pytest.raises(sed.SedscopeError, match=message):
        metric.update(BATCH, CLIPS[:3], targets)
    assert not metric.parts


def test_other_targets_of_a_clip_are_refused() -> None:
    metric = single(truth=None)
    metric.update(BATCH, CLIPS[:3], BATCH > 0.5)
    with pytest.raises(sed.SedscopeError, match=f"other scores or targets: .*{CLIPS[0]}"):
        metric.update(BATCH, CLIPS[:3], BATCH > 0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "PSDS"}, "PSDS needs parameters in brackets"),
        ({"metric": ["psds1"]}, "is not a metric. For several metrics, use SEDMetrics"),
        ({"metric": [sed.presets.PSDS1]}, "For several metrics, use SEDMetrics"),
        ({"classes": []}, "There are no classes"),
        ({"classes": CLASSES[1:]}, f"not among the classes of the scores: {CLASSES[0]}"),
        ({"frame": 0}, "frame=0 must be a number of seconds"),
        ({"truth": {}}, "Expected a GroundTruth, not dict"),
        ({"missing": "drop"}, "missing='drop' is not valid. Choose"),
        ({"repeats": "last"}, "repeats='last' is not valid. Choose 'error' or 'first'"),
        ({"postprocessing": 3}, "postprocessing=3 is not a post-processing"),
    ],
)
def test_bad_definitions(options: dict[str, Any], message: str) -> None:
    usual = {"metric": sed.presets.PSDS1, "classes": CLASSES, "frame": FRAME, "truth": TRUTH}
    with pytest.raises(sed.SedscopeError, match=message):
        SEDMetric(**{**usual, **options})


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric SEDMetric was called before")
def test_nothing_to_compute() -> None:
    with pytest.raises(sed.SedscopeError, match=r"no clips to evaluate\. Call update with a batch"):
        single().compute()


@pytest.mark.parametrize(
    ("factor", "message"), [(1000, "go on far beyond"), (0.01, "cover less than half")]
)
def test_a_wrong_frame_length_is_refused(factor: float, message: str) -> None:
    metric = SEDMetric(sed.presets.PSDS1, CLASSES, frame=FRAME * factor, truth=TRUTH)
    with pytest.raises(sed.SedscopeError, match=message):  # noqa: PT012 (one of them refuses it)
        metric.update(BATCH, CLIPS[:3])
        metric.compute()
    accepted = SEDMetric(sed.presets.PSDS1, CLASSES, frame=FRAME * factor, truth=TRUTH, coverage="any")
    accepted.update(BATCH, CLIPS[:3])
    accepted.compute()


def test_known_warnings_are_not_repeated() -> None:
    """A clone, a new metric on the same data and a later epoch say nothing new."""
    padded = torch.cat([BATCH, torch.ones_like(BATCH[:, : BATCH.shape[1] // 2])], dim=1)
    first = single()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        first.update(padded, CLIPS[:3])
        first.compute()
    collar = SEDMetric(sed.BestFScore(sed.Collar()), CLASSES, frame=FRAME, truth=TRUTH)
    for metric in (first.clone(), single(), collar):
        metric.reset()
        metric.update(padded, CLIPS[:3])  # a warning would be an error


def test_logits_with_a_fixed_threshold() -> None:
    metric = SEDMetric(sed.FScore(sed.Collar()), CLASSES, frame=FRAME, truth=TRUTH)
    metric.update(torch.logit(BATCH.clamp(0.01, 0.99)), CLIPS[:3])
    with pytest.warns(sed.SedscopeWarning, match="If they are logits"):
        metric.compute()


def test_messages_about_targets() -> None:
    metric = SEDMetric(sed.FScore(sed.Collar()), ["Cat", "Dog"], frame=1.0)
    batch = torch.rand(1, 10, 2)
    with pytest.raises(sed.SedscopeError, match=r"'cat' in clip a \(did you mean Cat\?\)"):
        metric.update(batch, ["a"], [[(2.0, 3.0, "cat")]])
    with pytest.raises(sed.SedscopeError, match=r"overlaps .*\. Correct them\.$"):
        metric.update(batch, ["a"], [[(2.0, 4.0, "Cat"), (3.0, 5.0, "Cat")]])
    with pytest.raises(
        sed.SedscopeError, match=r"after the last boundary .*Cat at 20 s\. Correct them\.$"
    ):
        metric.update(batch, ["a"], [[(20.0, 21.0, "Cat")]])
    metric.update(batch, ["a"], [[(2.0, 4.0, "\tCat ")]])  # white space is removed
    spaced = SEDMetric(sed.FScore(sed.Collar()), [" Cat", "Dog "], frame=1.0)
    spaced.update(batch, ["a"], [[(2.0, 4.0, "Cat")]])
    assert torch.equal(spaced.compute(), metric.compute())


def test_target_events_that_do_not_fit_the_frames() -> None:
    metric = SEDMetric(sed.presets.PSDS1, ["Cat", "Dog"], frame=0.1)
    with pytest.warns(sed.SedscopeWarning, match=r"'a', 5–12 s of 10 s"):
        metric.update(torch.rand(1, 100, 2), ["a"], [[(5.0, 12.0, "Cat"), (2.0, 3.0, "Dog")]])
    metric.update(torch.rand(1, 100, 2), ["b"], [[(5.0, 10.05, "Cat")]])  # less than a frame
    metric.compute()
    tens = SEDMetric(sed.presets.PSDS1, ["Cat", "Dog"], frame=10.0)
    tens.update(torch.rand(1, 100, 2), ["a"], [[(2.0, 3.0, "Cat"), (5.0, 6.0, "Dog")]])
    with pytest.warns(sed.SedscopeWarning, match=r"shorter than half a frame of the scores \(10 s\)"):
        tens.compute()


def test_frames_in_milliseconds_without_durations() -> None:
    clips = [f"clip_{i}" for i in range(12)]
    events = {key: [(1.0, 2.0, "Dog"), (3.0, 4.0, "Dog")] for key in clips}
    metric = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=100.0, truth=sed.GroundTruth.from_dict(events))
    metric.update(torch.rand(12, 100, 1), clips)
    with pytest.warns(sed.SedscopeWarning, match="first 2 % of the scores of their 12 clips"):
        metric.compute()


def test_targets_in_minutes() -> None:
    """It takes a few batches before that is certain; then it is said once."""
    metric = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=0.1)
    right = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=0.1)
    notes = []
    for batch in range(4):
        clips = [f"clip_{batch}_{i}" for i in range(5)]
        for times in ([1.0, 2.0, 3.0, 8.0], [time / 60 for time in (1.0, 2.0, 3.0, 8.0)]):
            targets = [[(*times[:2], "Dog"), (*times[2:], "Dog")]] * 5
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                (right if times[0] == 1 else metric).update(torch.rand(5, 100, 1), clips, targets)
            notes += [(batch, str(warning.message)) for warning in caught]
    ((batch, note),) = notes
    assert batch == 1
    assert "All 20 reference events lie in the first 2 % of the scores of their 10 clips" in note


def fake_tensor(tensor: torch.Tensor) -> torch.Tensor:
    from torch._subclasses.fake_tensor import FakeTensorMode

    return FakeTensorMode().from_tensor(tensor)


WITHOUT_VALUES = {
    "sparse": torch.Tensor.to_sparse,
    "meta": lambda tensor: tensor.to("meta"),
    "quantized": lambda tensor: torch.quantize_per_tensor(tensor, 0.1, 0, torch.quint8),
    "nested": lambda tensor: torch.nested.nested_tensor([*tensor]),
    "jagged": lambda tensor: torch.nested.nested_tensor([*tensor], layout=torch.jagged),
    "fake": fake_tensor,
}


@pytest.mark.parametrize("kind", WITHOUT_VALUES)
@pytest.mark.parametrize("name", ["scores", "targets", "lengths"])
@pytest.mark.filterwarnings("ignore")  # torch warns of its own prototypes
def test_tensors_that_hold_no_values(kind: str, name: str) -> None:
    whole = torch.tensor([[[0.2], [0.9], [0.4]]])
    arguments = {"scores": whole, "clip_ids": ["a"], "targets": (whole > 0.5).float()}
    arguments[name] = WITHOUT_VALUES[kind](whole)
    metric = SEDMetric(sed.FScore(sed.Collar()), ["Dog"], frame=1.0)
    with pytest.raises(
        sed.SedscopeError, match=f"{name} must be a dense tensor that holds values"
    ) as caught:
        metric.update(**arguments)
    assert "tensor.to_dense()" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensor: torch._neg_view(-tensor),
        lambda tensor: torch.complex(tensor, -tensor).conj().imag,
        lambda tensor: tensor.to(torch.float8_e4m3fn),
    ],
)
def test_tensors_that_numpy_cannot_read_at_once(change: Any) -> None:
    whole = torch.tensor([[[0.25], [0.875], [0.5]]])
    metric = SEDMetric(sed.BestFScore(sed.Collar()), ["Dog"], frame=1.0)
    metric.update(change(whole), ["a"], targets=change((whole > 0.6).float()))
    assert metric.compute() == 1


def test_padding_is_cut_off_with_one_warning() -> None:
    """Both batches are padded by half a clip in which everything is detected; one warning says so."""
    metric, expected = single(), single()
    padded = torch.cat([BATCH, torch.ones_like(BATCH[:, : BATCH.shape[1] // 2])], dim=1)
    with pytest.warns(sed.SedscopeWarning, match=r"beyond the end of the clip and are cut off"):
        metric.update(padded[:2], CLIPS[:2])
    metric.update(padded[2:], CLIPS[2:3])  # a second warning would be an error
    expected.update(BATCH, CLIPS[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        assert metric.compute() == expected.compute()


def test_the_warning_about_padding_says_which_frames_would_fit() -> None:
    metric = SEDMetric("psds1", CLASSES, frame=1.5 * FRAME, truth=TRUTH)
    with pytest.warns(sed.SedscopeWarning, match=f"frames of {FRAME:g} s would fit the longest"):
        metric.update(BATCH, CLIPS[:3])


def test_frames_that_are_too_short_are_refused() -> None:
    metric = SEDMetric("psds1", CLASSES, frame=0.7 * FRAME, truth=TRUTH)
    metric.update(values_of(CLIPS), CLIPS)
    with pytest.raises(
        sed.SedscopeError, match=f"cover less than 90 %.* frames of {FRAME:g} s would fit"
    ):
        metric.compute()
