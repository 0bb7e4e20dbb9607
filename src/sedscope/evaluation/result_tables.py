"""An evaluation and its groups as tables, as records, and as plain values for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..counting.counts import Counts
from ..errors import SedscopeError, counted, listing
from ..metrics import Metric
from ..results.text import Code, Form, Line, Name, Part, Records, Table, definition, picked

if TYPE_CHECKING:
    from ..metrics.thresholded import Threshold
    from ..resampling.intervals import Bootstrap, Interval
    from .group_results import GroupResults
    from .result import Evaluation
    from .signature import Signature


Row: TypeAlias = tuple[str | float | None, ...]

COLUMNS: dict[str, type] = {
    **{"metric": str, "class": str, "references": int, "value": float},
    **{"low": float, "high": float, "threshold": float, "definition": str},
}
GROUPED_COLUMNS: dict[str, type] = {"grouping": str, "group": str, **COLUMNS}


def evaluation_parts(evaluation: Evaluation, form: Form, digits: int) -> list[Part]:
    """Return a table of the classes, one of each kind of groups, and the legend."""
    classes, lines = class_table(evaluation, form, digits), legend(evaluation)
    groups = [group_table(results, digits) for results in evaluation.groups.values()]
    if form == "html":
        return [classes, lines, *groups]
    return [lines, classes, *groups] if form == "latex" else [classes, *groups, lines]


def class_table(evaluation: Evaluation, form: Form, digits: int) -> Table:
    """Return a table with a row per class, a column per metric, and a last row for all classes.

    Classes without reference events have their false alarms per hour where a value is missing. At
    operating points, there is a column of thresholds.
    """
    references, intervals = evaluation.references, evaluation.intervals
    thresholds = {} if evaluation.points is None else evaluation.points.thresholds

    def cell(metric: Metric[Any], label: str) -> str:
        rates = evaluation.false_alarms_per_hour.get(metric)
        if rates is not None and label in rates.per_class:
            return f"({rates.per_class[label]:.4g}/h)"
        interval = intervals[metric].per_class[label] if metric in intervals else None
        return value_cell(evaluation[metric].per_class[label].value, interval, digits)

    rows = [
        [
            label,
            str(references[label]),
            *([f"{thresholds.get(label, math.inf):.6g}"] if thresholds else []),
            *(cell(metric, label) for metric in evaluation),
        ]
        for label in evaluation.classes
    ]
    overall = ["overall", str(sum(references.values())), *([""] if thresholds else [])]
    hours = f"{counted(evaluation.clips, 'clip')}, {evaluation.hours:.2f} hours"
    return Table(
        ["class", "references", *(["threshold"] if thresholds else []), *evaluation.names.values()],
        rows,
        [*overall, *_value_cells(evaluation, digits)],
        title=hours if form == "html" else "",
        by_class=True,
    )


def about_intervals(evaluation: Evaluation) -> list[str]:
    """Say what the intervals are, a line each."""
    lines = [interval.resampling.about() for interval in evaluation.intervals.values()][:1]
    for metric, interval in evaluation.intervals.items():
        kinds = {
            "overall": interval.exact,
            **{label: of.exact for label, of in interval.per_class.items()},
        }
        exact = {label: kind for label, kind in kinds.items() if kind}
        if exact:
            kind = " and ".join(sorted({*exact.values()}))
            lines.append(
                f"exact {kind} limits of {evaluation.names[metric]}, which take events as independent, where "
                f"all resamples have the same value: {listing([*exact])}"
            )
    return lines


def about_new_clips(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Say what to expect of metrics whose thresholds were chosen on these clips, in a line.

    ``evaluations``: by the name of the system, which a single one does not need.
    """
    values = [
        f"{f'{system}: ' if len(evaluations) > 1 else ''}{evaluation.names[metric]} "
        + value_cell(interval.value, interval, 4)
        for system, evaluation in evaluations.items()
        for metric, interval in evaluation.on_new_clips.items()
    ]
    if not values:
        return []
    from ..resampling.held_out import FOLDS

    how = f"each of at most {FOLDS} folds of the clips at the thresholds that are best on the others"
    if any(metric.reads_froc for of in evaluations.values() for metric in of.on_new_clips):
        how += (
            "; in sedscope's study, these intervals of recall at false alarms hold in 84 % of the sets "
            "if few are allowed"
        )
    return [f"to expect on new clips: {listing(values, limit=len(values))} ({how})"]


def legend(evaluation: Evaluation) -> list[Line]:
    """Say what the columns and the brackets mean, a line each."""
    lines = [definition(name, repr(metric)) for metric, name in evaluation.names.items()]
    if evaluation.intervals:
        lines += [*about_intervals(evaluation), *about_new_clips({"": evaluation})]
    thresholds = {rates.threshold for rates in evaluation.false_alarms_per_hour.values()}
    if thresholds:
        threshold = "the metric's threshold" if len(thresholds) > 1 else _threshold_text(*thresholds)
        lines.append(f"(…/h) false alarms per hour of classes without reference events, at {threshold}")
    return [*lines, *_found_references(evaluation), signature_line(evaluation.signature)]


def signature_line(signature: Signature, system: str = "") -> Line:
    """Return the line of a legend that has the signature of a result, perhaps after its name."""
    named = (Name(system), ": ") if system else ()
    return *named, Code(str(signature))


def _found_references(evaluation: Evaluation) -> Iterator[Line]:
    """Say of how many references the latencies are."""
    for metric, name in evaluation.names.items():
        if metric.criterion.latency_threshold is not None:
            counts = evaluation.counts[metric.criterion].values()
            found = sum(int(table.tp[-1]) for table in counts if len(table.tp))
            references = sum(table.references for table in counts)
            share = f" ({100 * found / references:.1f} %)" if references else ""
            yield f"{name} is that of the references that are found: {found} of {references}{share}"


def _threshold_text(threshold: Threshold) -> str:
    return "the operating points" if isinstance(threshold, str) else f"the threshold {threshold:g}"


def value_cell(value: float, interval: Interval | None, digits: int) -> str:
    """Write a value, with its interval in brackets if it has one."""
    text = f"{value:.{digits}f}"
    if interval is None:
        return text
    from ..resampling.intervals import interval_text

    return f"{text} {interval_text(interval, digits)}"


def _value_cells(evaluation: Evaluation, digits: int) -> list[str]:
    return [
        value_cell(result.value, evaluation.intervals.get(metric), digits)
        for metric, result in evaluation.results.items()
    ]


def group_table(results: GroupResults, digits: int) -> Table:
    """Return a table with a row per group, a column per metric, and a last row if groups are averaged."""
    evaluations = results.evaluations
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
        rows.append([*(facts[column] for column in header), *_value_cells(evaluation, digits)])
    averages = [value_cell(mean.value, mean.interval, digits) for mean in results.averages.values()]
    return Table(
        [*header, *next(iter(evaluations.values())).names.values()],
        rows,
        [results.average_name(), *[""] * (len(header) - 1), *averages] if averages else None,
        title=results.title(),
        noun="bin" if results.kind == "lengths" else "group",
    )


def evaluation_records(evaluation: Evaluation) -> Records:
    """Return a row per metric and class; with groups, their rows follow, and two columns name them."""
    if not evaluation.groups:
        return COLUMNS, long_rows(evaluation)
    rows: list[Row] = [(None, None, *row) for row in long_rows(evaluation)]
    for results in evaluation.groups.values():
        rows += grouped_rows(results)
    return GROUPED_COLUMNS, rows


def long_rows(evaluation: Evaluation) -> Iterator[Row]:
    """Yield a row per metric and class, with the columns of ``COLUMNS``.

    The first row of a metric has no class: it is the value over all classes. None where there is nothing
    to say.
    """
    total = sum(evaluation.references.values())
    for metric, result in evaluation.results.items():
        name, defined = evaluation.names[metric], repr(metric)
        bootstrap = evaluation.intervals.get(metric)
        yield (name, None, total, result.value, *interval_ends(bootstrap), None, defined)
        for label, class_result in result.per_class.items():
            limits = interval_ends(bootstrap and bootstrap.per_class[label])
            threshold = result.thresholds.get(label)
            references = evaluation.references[label]
            yield (name, label, references, class_result.value, *limits, threshold, defined)


def interval_ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval, or nothing twice."""
    return (None, None) if interval is None else (interval.low, interval.high)


def grouped_rows(results: GroupResults) -> Iterator[Row]:
    """Yield a row per group, metric and class, with the columns of ``GROUPED_COLUMNS``.

    Rows without a group are the averages over the groups.
    """
    definitions: dict[str, str] = {}
    for group, evaluation in results.evaluations.items():
        definitions |= {name: repr(metric) for metric, name in evaluation.names.items()}
        for row in long_rows(evaluation):
            yield (results.kind, group, *row)
    for name, average in results.averages.items():
        ends = interval_ends(average.interval)
        yield (results.kind, None, name, None, None, average.value, *ends, None, definitions[name])


def evaluation_values(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as plain values."""
    signature = evaluation.signature.as_json()
    entry = {"signature": signature, **_set_values(evaluation), "warnings": evaluation.warnings}
    if evaluation.groups:
        entry["groups"] = {kind: group_values(results) for kind, results in evaluation.groups.items()}
    return entry


def _set_values(evaluation: Evaluation) -> dict[str, Any]:
    return {
        **picked(evaluation, "clips", "hours", "classes", "references"),
        "metrics": [_metric_values(evaluation, metric) for metric in evaluation.results],
    }


def group_values(results: GroupResults) -> dict[str, Any]:
    """Return the evaluations of groups and their averages as plain values."""
    entry: dict[str, Any] = {
        "groups": {group: _set_values(evaluation) for group, evaluation in results.items()}
    }
    if results.averages:
        entry["average"] = results.average_name()
        entry["averages"] = {
            name: {
                "value": average.value,
                **({} if average.interval is None else {"interval": limits(average.interval)}),
            }
            for name, average in results.averages.items()
        }
    return entry


def _metric_values(evaluation: Evaluation, metric: Metric[Any]) -> dict[str, Any]:
    result, bootstrap = evaluation.results[metric], evaluation.intervals.get(metric)
    rates = evaluation.false_alarms_per_hour.get(metric)
    entry: dict[str, Any] = {
        "name": evaluation.names[metric],
        "metric": repr(metric),
        "value": result.value,
        "per_class": {label: value.value for label, value in result.per_class.items()},
    }
    if result.thresholds:
        entry["thresholds"] = result.thresholds
    if rates is not None:
        entry["false_alarms_per_hour"] = picked(rates, "threshold", "per_class")
    if bootstrap is not None:
        entry["interval"] = _all_limits(bootstrap)
    if metric in evaluation.on_new_clips:
        expected = evaluation.on_new_clips[metric]
        per_class = {label: interval.value for label, interval in expected.per_class.items()}
        interval = _all_limits(expected)
        entry["on_new_clips"] = {"value": expected.value, "per_class": per_class, "interval": interval}
    return entry


def _all_limits(bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the interval of a metric, and those of the classes, as plain values."""
    return {
        **limits(bootstrap),
        "per_class": {label: limits(interval) for label, interval in bootstrap.per_class.items()},
        "resampling": bootstrap.resampling.about(),
    }


def limits(interval: Interval) -> dict[str, Any]:
    """Return an interval as plain values."""
    ends = {"low": interval.low, "high": interval.high, "undefined_resamples": interval.undefined}
    return ends if interval.exact is None else {**ends, "exact": interval.exact}


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
            from ..metrics.thresholded import operating_point

            try:
                _, tally = operating_point(counts[label], threshold, metric)
            except SedscopeError:
                continue
            per_class[label] = float(tally.false_alarms_per_hour(counts.hours))
    return FalseAlarms(threshold, per_class)
