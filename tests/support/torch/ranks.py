"""Scenarios of distributed training: what each of two processes does."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed

import sedscope as sed
from sedscope.torch import SEDMetric

from .batches import CLASSES, CLIPS, FRAME, METRICS, TRUTH, give, metrics, values_of


def uneven(rank: int) -> Any:
    sed_metrics = metrics()
    give(sed_metrics, *([CLIPS[:7], CLIPS[7:9], CLIPS[9:30]] if rank == 0 else [CLIPS[30:]]))
    together = sed_metrics.scalars()
    assert not sed_metrics._is_synced
    return together


def without_data(rank: int) -> Any:
    sed_metrics = metrics()
    if rank == 0:
        give(sed_metrics, CLIPS[:20], CLIPS[20:])
    return sed_metrics.scalars()


def several_epochs(rank: int) -> Any:
    sed_metrics = metrics()
    values = []
    for epoch in range(2):
        give(sed_metrics, CLIPS[rank::2] if epoch else CLIPS[: 20 * (1 - rank)] or CLIPS[20:])
        values.append(sed_metrics.scalars())
        sed_metrics.reset()
    return values


def padded_by_the_sampler(rank: int) -> Any:
    sed_metrics = metrics()
    give(sed_metrics, [*CLIPS[rank::2], CLIPS[0]][:11], [*CLIPS[rank::2][11:], *CLIPS[:3]])
    return sed_metrics.scalars()


def other_scores(rank: int) -> Any:
    sed_metrics = metrics()
    give(sed_metrics, CLIPS[rank * 20 : rank * 20 + 20])
    if rank == 1:
        sed_metrics.update(values_of(CLIPS[3:5]) * 0.5, CLIPS[3:5])
    before = [part.clone() for part in sed_metrics.parts]
    message = _refused(sed_metrics.compute)
    unchanged = len(before) == len(sed_metrics.parts) and all(
        map(torch.equal, before, sed_metrics.parts)
    )
    return {"message": message, "unchanged": unchanged}


def other_scores_left_out(rank: int) -> Any:
    sed_metrics = metrics(repeats="first")
    give(sed_metrics, CLIPS[rank * 20 : rank * 20 + 20])
    if rank == 1:
        sed_metrics.update(values_of(CLIPS[3:5]) * 0.5, CLIPS[3:5])
    return sed_metrics.scalars()


def other_definitions(rank: int) -> Any:
    metric = SEDMetric(sed.presets.PSDS1, CLASSES, frame=FRAME * (1 + rank / 50), truth=TRUTH)
    give(metric, CLIPS[rank * 20 : rank * 20 + 20])
    return _refused(metric.compute)


def in_a_collection(rank: int) -> Any:
    collection = _collection()
    give(collection, *([CLIPS[:7], CLIPS[7:29]] if rank == 0 else [CLIPS[29:]]))
    return {name: float(value) for name, value in collection.compute().items()}


def in_a_collection_without_data(rank: int) -> Any:
    """In two epochs, of which the other rank has no data in the second."""
    collection = _collection()
    for epoch in range(2):
        collection.reset()
        if rank == epoch:
            give(collection, CLIPS[:7], CLIPS[7:])
        values = collection.compute()
    return {name: float(value) for name, value in values.items()}


def called(rank: int) -> Any:
    """As batches come, which are of different sizes, each on its own rank."""
    sed_metrics = metrics()
    for clips in [CLIPS[:7], CLIPS[7:29]] if rank == 0 else [CLIPS[29:]]:
        sed_metrics(values_of(clips), clips)
    return sed_metrics.scalars()


def _collection() -> Any:
    from torchmetrics import MetricCollection

    made: dict[str, Any] = {
        name: SEDMetric(metric, CLASSES, frame=FRAME, truth=TRUTH) for name, metric in METRICS.items()
    }
    return MetricCollection(made)


def with_targets(rank: int) -> Any:
    sed_metrics = metrics(truth=None)
    for clips in [CLIPS[:7], CLIPS[7:29]] if rank == 0 else [CLIPS[29:]]:
        sed_metrics.update(values_of(clips), clips, [TRUTH.events(clip) for clip in clips])
    return sed_metrics.scalars()


def _refused(call: Callable[[], object]) -> str:
    try:
        call()
    except sed.SedscopeError as error:
        return str(error)
    return ""


SCENARIOS: dict[str, Callable[[int], Any]] = {
    scenario.__name__: scenario
    for scenario in (
        uneven,
        without_data,
        several_epochs,
        padded_by_the_sampler,
        other_scores,
        other_scores_left_out,
        other_definitions,
        in_a_collection,
        in_a_collection_without_data,
        called,
        with_targets,
    )
}


def work(rank: int, folder: str) -> None:
    """Run all scenarios together with the other process, and write their outcomes to a file."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = {name: scenario(rank) for name, scenario in SCENARIOS.items()}
    Path(folder, f"{rank}.json").write_text(json.dumps(outcomes))
    torch.distributed.destroy_process_group()
