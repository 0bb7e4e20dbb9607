"""Ranking systems."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import sedscope as sed

from .sets import PSDS1, PSDS2, evaluations_with_intervals, systems_in_files
from .timing import Row, seconds


def ranking(clips: int, systems: int = 3) -> list[Row]:
    """A ranking of systems in TSV files, against evaluating each of them with intervals."""
    with systems_in_files(clips, systems) as (read, truth), tempfile.TemporaryDirectory() as kept:

        def rank(checkpoint: Path | None = None) -> Callable[[], object]:
            return lambda: sed.rank(
                read, truth, [PSDS1, PSDS2], resampling=1000, run=sed.Run(checkpoint=checkpoint)
            )

        rank(Path(kept))()
        each, ranked, again = seconds(
            evaluations_with_intervals(read, truth), rank(), rank(Path(kept)), repeat=2
        )
    work = f"rank {systems} systems of {clips} TSV files, PSDS 1 and 2, 1000 resamples"
    return [
        Row(work, ranked, "evaluating each with intervals", ranked / each, "≤ 1.2"),
        Row("the same again, with a checkpoint", again, "the first time", again / ranked),
    ]
