"""Writing a report."""

from __future__ import annotations

import tempfile
from pathlib import Path

import sedscope as sed
from sedscope.data.score_cache import cached

from .sets import PSDS1, PSDS2, simulated
from .timing import Row, seconds


def report(clips: int) -> list[Row]:
    """A report, against the evaluation from files that it shows."""
    scores, truth = simulated(clips)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sed.write_scores(scores, folder / "scores")

        def evaluate() -> sed.Evaluation:
            read = cached(sed.read_scores(folder / "scores"))
            return sed.evaluate(read, truth, [PSDS1, PSDS2])

        result = evaluate()
        evaluated, written = seconds(evaluate, lambda: result.report(folder / "report.html"), repeat=3)
        size = (folder / "report.html").stat().st_size / 1e6
    work = f"report of {clips} clips, {size:.2f} MB"
    return [Row(work, written, "its evaluation", written / evaluated, "≤ 1")]
