"""The tables of an evaluation as rows of cells. The first row is the header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..metrics import Metric
from ..resampling.intervals import Interval

if TYPE_CHECKING:
    from .result import Evaluation

LONG_HEADER = ("metric", "class", "references", "value", "low", "high", "threshold", "definition")
TEXT_COLUMNS = ("metric", "class", "definition")


def class_rows(evaluation: Evaluation, digits: int = 4) -> list[list[str]]:
    """Return a row per class, a column per metric, and a last row for all classes.

    Beside the missing values of classes without reference events are their false alarms per hour.
    """
    references, intervals = evaluation.references, evaluation.intervals

    def cell(metric: Metric[Any], label: str) -> str:
        rates = evaluation.false_alarms_per_hour.get(metric)
        if rates is not None and label in rates.per_class:
            return f"nan ({rates.per_class[label]:.4g}/h)"
        interval = intervals[metric].per_class[label] if metric in intervals else None
        return _number(evaluation[metric].per_class[label].value, interval, digits)

    header = ["class", "references", *evaluation.names.values()]
    rows = [
        [label, str(references[label]), *(cell(metric, label) for metric in evaluation)]
        for label in evaluation.classes
    ]
    overall = [
        "overall",
        str(sum(references.values())),
        *(
            _number(result.value, intervals.get(metric), digits)
            for metric, result in evaluation.results.items()
        ),
    ]
    return [header, *rows, overall]


def legend(evaluation: Evaluation, code: str = "") -> list[str]:
    """Say what the columns and the brackets mean, a line each. ``code``: what surrounds definitions."""
    lines = [f"{name}: {code}{metric!r}{code}" for metric, name in evaluation.names.items()]
    if evaluation.intervals:
        lines.append(next(iter(evaluation.intervals.values())).resampling.about())
    thresholds = sorted({rates.threshold for rates in evaluation.false_alarms_per_hour.values()})
    if thresholds:
        at = f"the threshold {thresholds[0]:g}" if len(thresholds) == 1 else "the metric's threshold"
        lines.append(f"(…/h) false alarms per hour of classes without reference events, at {at}")
    return lines


def long_rows(evaluation: Evaluation) -> Iterator[tuple[str | float | None, ...]]:
    """Yield a row per metric and class, with the columns of ``LONG_HEADER``.

    The first row of a metric has no class: it is the value over all classes. None where there is nothing
    to say.
    """
    total = sum(evaluation.references.values())
    for metric, result in evaluation.results.items():
        name, definition, bootstrap = (
            evaluation.names[metric],
            repr(metric),
            evaluation.intervals.get(metric),
        )
        yield (name, None, total, result.value, *_limits(bootstrap), None, definition)
        for label, class_result in result.per_class.items():
            limits = _limits(bootstrap and bootstrap.per_class[label])
            threshold = result.thresholds.get(label)
            references = evaluation.references[label]
            yield (name, label, references, class_result.value, *limits, threshold, definition)


def _limits(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _number(value: float, interval: Interval | None, digits: int) -> str:
    if interval is None:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} ({interval.low:.{digits}f}–{interval.high:.{digits}f})"
