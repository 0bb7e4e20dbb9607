"""Evaluations as data frames and as the tables that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import counted, listing, shortened
from ..metrics import Metric
from ..notebook.data_frame import number_column, polars_frame
from ..notebook.html_table import html_table

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from ..resampling.intervals import Interval
    from .result import Evaluation

_HEADING_LENGTH = 60  # characters, in a line of text


def heading(metric: Metric[Any]) -> str:
    """Return what a metric is called in tables and data frames."""
    return repr(metric)


def evaluation_line(evaluation: Evaluation) -> str:
    """Return an evaluation in one line, with its values."""
    values = [
        f"{shortened(heading(metric), _HEADING_LENGTH)} = {result.value:.4f}"
        for metric, result in evaluation.results.items()
    ]
    return (
        f"<Evaluation: {counted(evaluation.clips, 'clip')}, "
        f"{counted(len(evaluation.classes), 'class')}; {listing(values, limit=3)}>"
    )


def evaluation_frame(evaluation: Evaluation) -> PolarsFrame:
    """Make the data frame of an evaluation: a row per metric and class, the overall value first."""
    metrics: list[str] = []
    labels: list[str | None] = []
    numbers: list[tuple[float | None, ...]] = []
    total = sum(evaluation.references.values())
    for metric, result in evaluation.results.items():
        bootstrap = evaluation.intervals.get(metric)
        metrics += [heading(metric)] * (1 + len(evaluation.classes))
        labels += [None, *evaluation.classes]
        numbers.append((result.value, *_ends(bootstrap), None))
        for label in evaluation.classes:
            ends = _ends(bootstrap and bootstrap.per_class[label])
            numbers.append((result.per_class[label].value, *ends, result.thresholds.get(label)))
    value, low, high, threshold = (number_column(column) for column in zip(*numbers, strict=True))
    references = [total if label is None else evaluation.references[label] for label in labels]
    return polars_frame(
        {
            "metric": metrics,
            "class": labels,
            "references": np.array(references, np.int64),
            "value": value,
            "low": low,
            "high": high,
            "threshold": threshold,
        }
    )


def evaluation_html(evaluation: Evaluation) -> str:
    """Make the table that notebooks show: a row per class, a column per metric."""
    columns = [
        (result, evaluation.intervals.get(metric)) for metric, result in evaluation.results.items()
    ]
    rows = (
        [
            label,
            str(evaluation.references[label]),
            *(
                _number(result.per_class[label].value, bootstrap and bootstrap.per_class[label])
                for result, bootstrap in columns
            ),
        ]
        for label in evaluation.classes
    )
    overall = [
        "overall",
        str(sum(evaluation.references.values())),
        *(_number(result.value, bootstrap) for result, bootstrap in columns),
    ]
    legend = [f"[{i}] {heading(metric)}" for i, metric in enumerate(evaluation.results, 1)]
    if evaluation.intervals:
        legend.insert(0, next(iter(evaluation.intervals.values())).resampling.about())
    return html_table(
        ["class", "references", *(f"[{i}]" for i, _ in enumerate(columns, 1))],
        rows,
        len(evaluation.classes),
        "class",
        title=f"{counted(evaluation.clips, 'clip')}, {evaluation.hours:.4g} hours",
        last=overall,
        notes=legend,
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _number(value: float, interval: Interval | None) -> str:
    ends = "" if interval is None else f" ({interval.low:.4f}–{interval.high:.4f})"
    return f"{value:.4f}{ends}"
