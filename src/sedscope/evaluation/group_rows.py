"""The tables of groups as rows of cells, and as the frames and tables made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..notebook.data_frame import frame_from_rows
from ..notebook.html_table import html_table
from .result_rows import LONG_HEADER, TEXT_COLUMNS, WHOLE_COLUMNS, interval_ends, long_rows, value_cell

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .group_results import GroupResults

GROUPED_HEADER = ("grouping", "group", *LONG_HEADER)


def group_rows(results: GroupResults, digits: int = 4) -> list[list[str]]:
    """Return a row per group, a column per metric, and a last row if the groups are averaged."""
    evaluations = results.evaluations
    names = [*next(iter(evaluations.values())).names.values()]
    header = {
        "clips": ["group", "clips", "hours", "references"],
        "classes": ["group", "classes", "references"],
        "lengths": ["length", "references"],
    }[results.kind]
    rows = []
    for group, evaluation in evaluations.items():
        facts = {
            "group": group,
            "length": group,
            "clips": str(evaluation.clips),
            "classes": str(len(evaluation.classes)),
            "hours": f"{evaluation.hours:.2f}",
            "references": str(sum(evaluation.references.values())),
        }
        values = [
            value_cell(result.value, evaluation.intervals.get(metric), digits)
            for metric, result in evaluation.results.items()
        ]
        rows.append([*(facts[column] for column in header), *values])
    if results.averages:
        averages = [
            value_cell(average.value, average.interval, digits) for average in results.averages.values()
        ]
        rows.append([results.average_name(), *[""] * (len(header) - 1), *averages])
    return [[*header, *names], *rows]


def grouped_long_rows(results: GroupResults) -> Iterator[tuple[str | float | None, ...]]:
    """Yield a row per group, metric and class, with the columns of ``GROUPED_HEADER``.

    Rows without a group are the averages over the groups.
    """
    for group, evaluation in results.evaluations.items():
        for row in long_rows(evaluation):
            yield (results.kind, group, *row)
    definitions = {
        name: repr(metric)
        for evaluation in results.evaluations.values()
        for metric, name in evaluation.names.items()
    }
    for name, average in results.averages.items():
        ends = interval_ends(average.interval)
        row = (name, None, None, average.value, *ends, None, definitions[name])
        yield (results.kind, None, *row)


def group_frame(results: GroupResults) -> PolarsFrame:
    """Make the data frame of groups."""
    return grouped_frame(grouped_long_rows(results))


def grouped_frame(rows: Iterator[tuple[str | float | None, ...]]) -> PolarsFrame:
    """Make a data frame of rows with the columns of ``GROUPED_HEADER``."""
    texts = ("grouping", "group", *TEXT_COLUMNS)
    return frame_from_rows(GROUPED_HEADER, rows, texts=texts, whole_numbers=WHOLE_COLUMNS)


def group_html(results: GroupResults) -> str:
    """Make the table that notebooks show: a row per group, a column per metric."""
    header, *rows = group_rows(results)
    average = rows.pop() if results.averages else None
    noun = "bin" if results.kind == "lengths" else "group"
    return html_table(header, rows, len(rows), noun, title=results.title(), last=average)
