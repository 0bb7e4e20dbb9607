"""Evaluations as data frames and as the tables that notebooks show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import counted, listing
from ..notebook.data_frame import frame_from_rows
from ..notebook.html_table import html_table
from .group_rows import group_html, grouped_frame, grouped_long_rows
from .result_rows import LONG_HEADER, TEXT_COLUMNS, WHOLE_COLUMNS, class_rows, legend, long_rows

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .result import Evaluation


def evaluation_line(evaluation: Evaluation) -> str:
    """Return an evaluation in one line, with its values."""
    values = [
        f"{evaluation.names[metric]} = {result.value:.4f}"
        for metric, result in evaluation.results.items()
    ]
    return (
        f"<Evaluation: {counted(evaluation.clips, 'clip')}, "
        f"{counted(len(evaluation.classes), 'class')}; {listing(values, limit=3)}>"
    )


def evaluation_frame(evaluation: Evaluation) -> PolarsFrame:
    """Make the data frame of an evaluation: a row per metric and class, the overall value first."""
    if evaluation.groups:
        return grouped_frame(all_long_rows(evaluation))
    rows = long_rows(evaluation)
    return frame_from_rows(LONG_HEADER, rows, texts=TEXT_COLUMNS, whole_numbers=WHOLE_COLUMNS)


def all_long_rows(evaluation: Evaluation) -> Iterator[tuple[str | float | None, ...]]:
    """Yield the rows of all clips and classes, and then those of groups, with ``GROUPED_HEADER``."""
    for row in long_rows(evaluation):
        yield (None, None, *row)
    for results in evaluation.groups.values():
        yield from grouped_long_rows(results)


def evaluation_html(evaluation: Evaluation) -> str:
    """Make the table that notebooks show: a row per class, a column per metric."""
    header, *rows, overall = class_rows(evaluation)
    table = html_table(
        header,
        rows,
        len(rows),
        "class",
        title=f"{counted(evaluation.clips, 'clip')}, {evaluation.hours:.4g} hours",
        last=overall,
        notes=legend(evaluation),
    )
    return "".join([table, *map(group_html, evaluation.groups.values())])
