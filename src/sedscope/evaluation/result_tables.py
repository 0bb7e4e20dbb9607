"""The tables of an evaluation: rows of cells, data frames, and plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..counting.counts import Counts
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric
from ..metrics.names import definition_lines
from ..results.frames import frame_from_rows, html_table

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from ..metrics.fixed_threshold import Threshold
    from ..resampling.intervals import Interval
    from .group_results import GroupResults
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
    if interval is None:
        return text
    from ..resampling.intervals import interval_text

    return f"{text} {interval_text(interval, digits)}"


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


def evaluation_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as a dict of plain values."""
    from .. import __version__

    entry: dict[str, Any] = {
        "sedscope": __version__,
        "clips": evaluation.clips,
        "hours": evaluation.hours,
        "classes": list(evaluation.classes),
        "references": dict(evaluation.references),
        "metrics": [_metric_dict(evaluation, metric) for metric in evaluation.results],
        "warnings": list(evaluation.warnings),
    }
    if evaluation.groups:
        entry["groups"] = {kind: _groups_dict(results) for kind, results in evaluation.groups.items()}
    return entry


def _groups_dict(results: GroupResults) -> dict[str, Any]:
    entry: dict[str, Any] = {"groups": {}}
    for group, evaluation in results.evaluations.items():
        entry["groups"][group] = {
            "clips": evaluation.clips,
            "hours": evaluation.hours,
            "classes": list(evaluation.classes),
            "references": dict(evaluation.references),
            "metrics": [_metric_dict(evaluation, metric) for metric in evaluation.results],
        }
    if results.averages:
        entry["average"] = results.average_name()
        entry["averages"] = {
            name: {
                "value": _finite(average.value),
                **({} if average.interval is None else {"interval": _limits(average.interval)}),
            }
            for name, average in results.averages.items()
        }
    return entry


def _metric_dict(evaluation: Evaluation, metric: Metric[Any]) -> dict[str, Any]:
    result, bootstrap = evaluation.results[metric], evaluation.intervals.get(metric)
    rates = evaluation.false_alarms_per_hour.get(metric)
    entry: dict[str, Any] = {
        "name": evaluation.names[metric],
        "metric": repr(metric),
        "value": _finite(result.value),
        "per_class": {label: _finite(value.value) for label, value in result.per_class.items()},
    }
    if result.thresholds:
        entry["thresholds"] = {label: _finite(value) for label, value in result.thresholds.items()}
    if rates is not None:
        entry["false_alarms_per_hour"] = {
            "threshold": rates.threshold,
            "per_class": dict(rates.per_class),
        }
    if bootstrap is not None:
        entry["interval"] = {
            **_limits(bootstrap),
            "per_class": {label: _limits(interval) for label, interval in bootstrap.per_class.items()},
            "resampling": bootstrap.resampling.about(),
        }
    return entry


def _limits(interval: Interval) -> dict[str, float | None]:
    return {
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "undefined_resamples": interval.undefined,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


_USUAL_THRESHOLD = 0.5


@dataclass(frozen=True)
class FalseAlarms:
    """The false alarms of classes without reference events, at one threshold.

    Attributes
    ----------
    threshold : float or "points"
        That of the metric, or 0.5 if it has none.
    per_class : mapping of str to float
        False alarms per hour.
    """

    threshold: Threshold
    per_class: Mapping[str, float]


def false_alarms(metric: Metric[Any], counts: Counts) -> FalseAlarms:
    """Return the false alarms per hour of the classes without reference events.

    For ``Segment`` and ``Clip``, these are segments and clips. There are none for metrics that have a value
    for such classes, for criteria that measure time, and where they were not counted: below the floor, or in
    blocks of classes at a threshold that the metric does not read.
    """
    read: Any = metric.points_read
    threshold: Threshold = _USUAL_THRESHOLD if read in ("all", "extremes") else read
    per_class: dict[str, float] = {}
    criterion = counts.criterion
    countable = not (criterion.values_queries or criterion.measures_time)
    if metric.needs_references and not metric.variants and countable:
        for label, references in counts.references.items():
            if references:
                continue
            from ..metrics.fixed_threshold import operating_point

            try:
                _, tally = operating_point(counts[label], threshold, metric)
            except SedscopeError:
                continue
            per_class[label] = float(tally.false_alarms_per_hour(counts.hours))
    return FalseAlarms(threshold, per_class)
