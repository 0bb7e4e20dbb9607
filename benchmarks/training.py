"""The metric of the training loop."""

from __future__ import annotations

import sys

import numpy as np

import sedscope as sed

from .peers import require_same
from .sets import PSDS1, evaluation, simulated
from .timing import Row, seconds


def training(clips: int) -> list[Row]:
    """An epoch of a training loop against one evaluation; left out where torch is not installed."""
    try:
        import torch

        from sedscope.torch import SEDMetric
    except ImportError as error:
        print(f"left out: the training loop ({error})", file=sys.stderr)
        return []
    scores, truth = simulated(clips)
    batches = [list(scores)[first : first + 48] for first in range(0, clips, 48)]
    values = [torch.from_numpy(np.stack([scores[clip].values for clip in batch])) for batch in batches]
    metric = SEDMetric(PSDS1, scores.classes, frame=0.02, truth=truth)

    def epoch() -> None:
        metric.reset()
        for batch, of_batch in zip(batches, values, strict=True):
            metric.update(of_batch, batch)
        metric.compute()

    once, all_batches = seconds(evaluation(scores, truth, PSDS1), epoch)
    require_same(
        "the training loop",
        metric.result()[PSDS1].value,
        sed.evaluate(scores, truth, PSDS1)[PSDS1].value,
    )
    return [
        Row(
            f"an epoch of PSDS 1 in the training loop, {len(batches)} batches",
            all_batches,
            "one PSDS 1",
            all_batches / once,
            "≤ 1.3",
        )
    ]
