"""Evaluations as plain values, for JSON. Numbers that are not finite are None."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..metrics import Metric
from ..resampling.intervals import Interval

if TYPE_CHECKING:
    from .group_results import GroupResults
    from .result import Evaluation


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
