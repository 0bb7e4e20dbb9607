"""The tables of an evaluation as rows of cells. The first row is the header."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..metrics import Metric
from ..metrics.names import definition_lines
from ..resampling.intervals import Interval, interval_text

if TYPE_CHECKING:
    from ..metrics.fixed_threshold import Threshold
    from .result import Evaluation

LONG_HEADER = ("metric", "class", "references", "value", "low", "high", "threshold", "definition")
TEXT_COLUMNS = ("metric", "class", "definition")
WHOLE_COLUMNS = ("references",)


def class_rows(evaluation: Evaluation, digits: int = 4) -> list[list[str]]:
    """Return a row per class, a column per metric, and a last row for all classes.

    Beside the missing values of classes without reference events are their false alarms per hour. At
    operating points, there is a column of thresholds.
    """
    references, intervals = evaluation.references, evaluation.intervals
    thresholds = {} if evaluation.points is None else evaluation.points.thresholds

    def cell(metric: Metric[Any], label: str) -> str:
        rates = evaluation.false_alarms_per_hour.get(metric)
        if rates is not None and label in rates.per_class:
            return f"nan ({rates.per_class[label]:.4g}/h)"
        interval = intervals[metric].per_class[label] if metric in intervals else None
        return value_cell(evaluation[metric].per_class[label].value, interval, digits)

    def threshold(label: str) -> list[str]:
        return [f"{thresholds.get(label, math.inf):.6g}"] if thresholds else []

    columns = ["class", "references", *(["threshold"] if thresholds else []), *evaluation.names.values()]
    rows = [
        [
            label,
            str(references[label]),
            *threshold(label),
            *(cell(metric, label) for metric in evaluation),
        ]
        for label in evaluation.classes
    ]
    overall = [
        "overall",
        str(sum(references.values())),
        *([""] if thresholds else []),
        *(
            value_cell(result.value, intervals.get(metric), digits)
            for metric, result in evaluation.results.items()
        ),
    ]
    return [columns, *rows, overall]


def legend(evaluation: Evaluation, *, as_markdown: bool = False) -> list[str]:
    """Say what the columns and the brackets mean, a line each, as text or as Markdown."""
    lines = definition_lines(evaluation.names, as_markdown=as_markdown)
    if evaluation.intervals:
        lines.append(next(iter(evaluation.intervals.values())).resampling.about())
    thresholds = {rates.threshold for rates in evaluation.false_alarms_per_hour.values()}
    if thresholds:
        threshold = "the metric's threshold" if len(thresholds) > 1 else _threshold_text(*thresholds)
        lines.append(f"(…/h) false alarms per hour of classes without reference events, at {threshold}")
    return lines


def _threshold_text(threshold: Threshold) -> str:
    return "the operating points" if isinstance(threshold, str) else f"the threshold {threshold:g}"


def long_rows(evaluation: Evaluation) -> Iterator[tuple[str | float | None, ...]]:
    """Yield a row per metric and class, with the columns of ``LONG_HEADER``.

    The first row of a metric has no class: it is the value over all classes. None where there is nothing
    to say.
    """
    total = sum(evaluation.references.values())
    for metric, result in evaluation.results.items():
        name, definition = evaluation.names[metric], repr(metric)
        bootstrap = evaluation.intervals.get(metric)
        yield (name, None, total, result.value, *interval_ends(bootstrap), None, definition)
        for label, class_result in result.per_class.items():
            limits = interval_ends(bootstrap and bootstrap.per_class[label])
            threshold = result.thresholds.get(label)
            references = evaluation.references[label]
            yield (name, label, references, class_result.value, *limits, threshold, definition)


def interval_ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval, or nothing twice."""
    return (None, None) if interval is None else (interval.low, interval.high)


def value_cell(value: float, interval: Interval | None, digits: int) -> str:
    """Write a value, with its interval in brackets if it has one."""
    text = f"{value:.{digits}f}"
    return text if interval is None else f"{text} {interval_text(interval, digits)}"
