"""The report: one HTML file that shows an evaluation, and lets it be explored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..engines.options import RunOptions
from ..evaluation.comparison_result import Comparison
from ..evaluation.result import Evaluation
from ..io.atomic_write import write_text


def write_report(
    evaluations: Mapping[str, Evaluation],
    path: str | Path,
    *,
    comparison: Comparison | None = None,
    clips_shown: int | Iterable[str] = 60,
    audio: str | Path | None = None,
    options: RunOptions | None = None,
) -> None:
    """Write the report of one or more systems, by name; see :meth:`sedscope.Evaluation.report`.

    ``comparison``: differences between the systems with intervals, if they were found.
    """
    from .html import render
    from .page_data import gather

    data = gather(
        evaluations,
        comparison=comparison,
        clips_shown=clips_shown,
        audio=audio,
        threads=None if options is None else options.threads,
    )
    write_text(path, render(data))
