"""Evaluations as data frames and as the tables that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import counted, listing
from ..notebook.data_frame import number_column, polars_frame
from ..notebook.html_table import html_table
from .result_rows import LONG_HEADER, TEXT_COLUMNS, class_rows, legend, long_rows

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
    import polars

    columns = dict(zip(LONG_HEADER, zip(*long_rows(evaluation), strict=True), strict=True))
    frame = polars_frame(
        {
            name: column if name in TEXT_COLUMNS else number_column(column)
            for name, column in columns.items()
        }
    )
    return frame.cast({"references": polars.Int64})


def evaluation_html(evaluation: Evaluation) -> str:
    """Make the table that notebooks show: a row per class, a column per metric."""
    header, *rows, overall = class_rows(evaluation)
    return html_table(
        header,
        rows,
        len(rows),
        "class",
        title=f"{counted(evaluation.clips, 'clip')}, {evaluation.hours:.4g} hours",
        last=overall,
        notes=legend(evaluation),
    )
