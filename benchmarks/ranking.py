"""Ranking systems."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import sedscope as sed

from .sets import PSDS1, PSDS2
from .timing import Row, seconds


def ranking(clips: int, systems: int = 3) -> list[Row]:
    """A ranking of systems in TSV files, against evaluating each of them with intervals."""
    truth = sed.simulate.ground_truth(clips)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k in range(2):
            sed.write_scores(sed.simulate.scores(truth, quality=0.6 + 0.2 * k), folder / f"{k}")
        read = {f"system {k}": sed.read_scores(folder / f"{k % 2}") for k in range(systems)}

        def evaluate_each() -> None:
            for scores in read.values():
                sed.evaluate(scores, truth, [PSDS1, PSDS2], bootstrap=1000)

        def rank(checkpoint: Path | None = None) -> Callable[[], object]:
            return lambda: sed.rank(read, truth, [PSDS1, PSDS2], n=1000, checkpoint=checkpoint)

        rank(folder / "kept")()
        each, ranked, again = seconds(evaluate_each, rank(), rank(folder / "kept"), repeat=2)
    work = f"rank {systems} systems of {clips} TSV files, PSDS 1 and 2, 1000 resamples"
    return [
        Row(work, ranked, "evaluating each with intervals", ranked / each, "≤ 1.2"),
        Row("the same again, with a checkpoint", again, "the first time", again / ranked),
    ]
