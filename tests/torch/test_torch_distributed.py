"""Metrics in distributed training: two processes connected by gloo compute what one would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

pytest.importorskip("torchmetrics", reason="needs torch: pip install 'sedscope[torch]'")

import torch

from ..support.torch import batches, ranks


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The outcome of each scenario, for each of two processes."""
    folder = tmp_path_factory.mktemp("ranks")
    torch.multiprocessing.spawn(ranks.work, (str(folder),), nprocs=2)
    return [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(2)]


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    """What one process computes on all clips."""
    scores = sed.Scores.from_arrays(batches.ARRAYS, classes=batches.CLASSES, frame=batches.FRAME)
    return sed.evaluate(scores, batches.TRUTH, batches.METRICS).scalars()


@pytest.mark.parametrize(
    "scenario",
    [
        *("uneven", "without_data", "padded_by_the_sampler", "other_scores_left_out", "called"),
        "with_targets",
    ],
)
@pytest.mark.parametrize("rank", [0, 1])
def test_both_find_what_one_would(
    outcomes: list[dict[str, Any]], expected: dict[str, float], scenario: str, rank: int
) -> None:
    np.testing.assert_equal(outcomes[rank][scenario], expected)


@pytest.mark.parametrize("rank", [0, 1])
def test_every_epoch(outcomes: list[dict[str, Any]], expected: dict[str, float], rank: int) -> None:
    np.testing.assert_equal(outcomes[rank]["several_epochs"], [expected, expected])


@pytest.mark.parametrize("scenario", ["in_a_collection", "in_a_collection_without_data"])
@pytest.mark.parametrize("rank", [0, 1])
def test_in_a_collection(
    outcomes: list[dict[str, Any]], expected: dict[str, float], scenario: str, rank: int
) -> None:
    values = outcomes[rank][scenario]
    np.testing.assert_allclose(
        [values[name] for name in batches.METRICS], [expected[n] for n in batches.METRICS]
    )


@pytest.mark.parametrize("rank", [0, 1])
def test_other_scores_of_a_clip_are_refused_by_all(outcomes: list[dict[str, Any]], rank: int) -> None:
    refused = outcomes[rank]["other_scores"]
    assert "2 clips occur again with other scores or targets: " in refused["message"]
    assert all(clip in refused["message"] for clip in batches.CLIPS[3:5])
    assert refused["unchanged"]


@pytest.mark.parametrize("rank", [0, 1])
def test_ranks_must_look_for_the_same(outcomes: list[dict[str, Any]], rank: int) -> None:
    assert "another definition" in outcomes[rank]["other_definitions"]
