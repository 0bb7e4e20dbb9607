"""Batches on a GPU give the values of the CPU, bit by bit: float types, views, padding, a rank of NCCL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope import _native

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch

from sedscope.torch import SEDMetrics
from sedscope.torch.batch import BatchScores, Summary, columns_of_tensor, summarise_tensor

from ..conftest import NO_GPU
from ..support.torch.batches import CLASSES, CLIPS, FRAME, METRICS, TRUTH, metrics, values_of

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

WITH_FLOOR = {name: METRICS[name] for name in ("psds1", "psds2", "few")}


@pytest.fixture(params=["cpu", "like a GPU", "cuda"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the batches are. What torch does on a GPU, it can do on the CPU as well."""
    if request.param == "like a GPU":
        monkeypatch.setattr(BatchScores, "on_gpu", True)
        return "cpu"
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip(NO_GPU)
    return str(request.param)


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda scores: scores,
    "classes first": lambda scores: scores.transpose(1, 2).contiguous().transpose(1, 2),
    "clips last": lambda scores: scores.permute(1, 2, 0).contiguous().permute(2, 0, 1),
    "every second column": lambda scores: scores.repeat_interleave(2, 2)[:, :, ::2],
    "later frames": lambda scores: torch.cat([scores, scores], 1)[:, scores.shape[1] :],
}


def evaluated_as(dtype: Any, chosen: Any) -> dict[str, float]:
    """One evaluation of all scores in some precision."""
    arrays = {clip: values_of([clip])[0].to(dtype).to(torch.float32).numpy() for clip in CLIPS}
    if dtype == torch.float64:
        arrays = {clip: array.astype(np.float64) for clip, array in arrays.items()}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=FRAME)
    return sed.evaluate(scores, TRUTH, chosen).scalars()


@pytest.mark.parametrize("chosen", [METRICS, WITH_FLOOR], ids=["every threshold", "floors"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_float_types(device: str, dtype: Any, chosen: Any) -> None:
    sed_metrics = SEDMetrics(chosen, CLASSES, frame=FRAME, truth=TRUTH)
    for first in range(0, len(CLIPS), 7):
        clips = CLIPS[first : first + 7]
        sed_metrics.update(values_of(clips).to(device, dtype), clips)
    np.testing.assert_equal(sed_metrics.scalars(), evaluated_as(dtype, chosen))


@pytest.mark.parametrize("shape", [(5, 37, 10), (3, 250, 407), (4, 1024, 1), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
def test_summaries(device: str, shape: Any, dtype: Any, padded: bool) -> None:
    """The core and torch agree, and a digest tells every change and every length."""
    scores = torch.from_numpy(np.random.default_rng(0).normal(size=shape)).to(dtype)
    lengths = np.arange(shape[0]) % shape[1] + 1 if padded else np.full(shape[0], shape[1])
    summary = summarise_tensor(scores.to(device), lengths)
    expected = Summary(*_native.summarise_clips(scores.numpy(), lengths, 2))
    np.testing.assert_array_equal(summary.maxima, expected.maxima)
    np.testing.assert_array_equal(summary.digests, expected.digests)
    for i, length in enumerate(lengths):
        np.testing.assert_array_equal(summary.maxima[i], scores[i, :length].numpy().max(axis=0))
    alone = BatchScores(scores[:1, : lengths[0]]).summarise(lengths[:1], 1)
    assert alone.digests == expected.digests[:1]
    changed = scores.clone()
    changed[:, 0, -1] += 1
    assert (summary.digests != BatchScores(changed).summarise(lengths, 1).digests).all()
    rows, labels = np.nonzero(summary.maxima > 0)
    columns = columns_of_tensor(scores.to(device), rows, labels)
    np.testing.assert_array_equal(columns[:, :, 0], scores.numpy()[rows, :, labels])


def test_scores_of_two_types(device: str) -> None:
    """Each type is held apart."""
    sed_metrics = SEDMetrics(WITH_FLOOR, CLASSES, frame=FRAME, truth=TRUTH)
    for first, dtype in zip(range(0, len(CLIPS), 10), [torch.float32, torch.float64] * 2, strict=True):
        clips = CLIPS[first : first + 10]
        sed_metrics.update(values_of(clips).to(device, dtype), clips)
    np.testing.assert_equal(sed_metrics.scalars(), evaluated_as(torch.float64, WITH_FLOOR))


def test_batches_of_which_nothing_matters(device: str) -> None:
    """No clip at all, and clips that are silent after the floors have risen."""
    sed_metrics = SEDMetrics(WITH_FLOOR, CLASSES, frame=FRAME, truth=TRUTH)
    scores = values_of(CLIPS)
    scores[30:] = -torch.inf
    sed_metrics.update(scores[:0].to(device), [])
    for rows in (slice(30), slice(30, 40)):
        sed_metrics.update(scores[rows].to(device), CLIPS[rows])
    arrays = dict(zip(CLIPS, scores.numpy(), strict=True))
    whole = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=FRAME)
    np.testing.assert_equal(sed_metrics.scalars(), sed.evaluate(whole, TRUTH, WITH_FLOOR).scalars())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_views(device: str, layout: str) -> None:
    sed_metrics = SEDMetrics(WITH_FLOOR, CLASSES, frame=FRAME, truth=TRUTH).to(device)
    for first in range(0, len(CLIPS), 7):
        clips = CLIPS[first : first + 7]
        scores = LAYOUTS[layout](values_of(clips).to(device))
        sed_metrics.update(scores, clips)
        sed_metrics.update(values_of(clips), clips)  # the same clips again, now on the CPU
    np.testing.assert_equal(sed_metrics.scalars(), evaluated_as(torch.float32, WITH_FLOOR))


def test_padding(device: str) -> None:
    sed_metrics = metrics()
    scores = torch.full((len(CLIPS), 130, len(CLASSES)), torch.nan)
    scores[:, :100] = values_of(CLIPS)
    lengths = torch.full((len(CLIPS),), 100)
    for first in range(0, len(CLIPS), 7):
        rows = slice(first, first + 7)
        sed_metrics.update(scores[rows].to(device), CLIPS[rows], lengths=lengths[rows].to(device))
    np.testing.assert_equal(sed_metrics.scalars(), evaluated_as(torch.float32, METRICS))


def test_targets(device: str) -> None:
    scores, active = values_of(CLIPS), values_of(CLIPS) > 0.7
    on_device, on_cpu = metrics(truth=None), metrics(truth=None)
    on_device.update(scores.to(device), CLIPS, active.to(device))
    on_cpu.update(scores, CLIPS, active)
    np.testing.assert_equal(on_device.scalars(), on_cpu.scalars())


def test_changed_and_invalid_scores_are_refused(device: str) -> None:
    sed_metrics = SEDMetrics(WITH_FLOOR, CLASSES, frame=FRAME, truth=TRUTH)
    scores = values_of(CLIPS).to(device)
    sed_metrics.update(scores, CLIPS)
    least = scores.clone()
    least[3, 99, 9] = torch.nextafter(least[3, 99, 9], least.new_tensor(-torch.inf))
    with pytest.raises(sed.SedscopeError, match=f"1 clip occurs again with other scores .*{CLIPS[3]}"):
        sed_metrics.update(least, CLIPS)
    sed_metrics.reset()
    scores[5, 7, 2] = torch.nan
    with pytest.raises(sed.SedscopeError, match=f"clip {CLIPS[5]}, class {CLASSES[2]}, frame 7"):
        sed_metrics.update(scores, CLIPS)


@pytest.fixture
def one_rank(device: str, tmp_path: Path) -> Iterator[None]:
    """A group of one process, connected by NCCL on a GPU."""
    nccl = device == "cuda" and torch.distributed.is_nccl_available()
    torch.distributed.init_process_group(
        "nccl" if nccl else "gloo",
        init_method=f"file://{tmp_path}/meeting",
        rank=0,
        world_size=1,
        device_id=torch.device("cuda", 0) if nccl else None,
    )
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("one_rank")
def test_one_rank(device: str) -> None:
    sed_metrics = metrics().to(device)
    for first in range(0, len(CLIPS), 7):
        clips = CLIPS[first : first + 7]
        sed_metrics.update(values_of(clips).to(device), clips)
    np.testing.assert_equal(sed_metrics.scalars(), evaluated_as(torch.float32, METRICS))
