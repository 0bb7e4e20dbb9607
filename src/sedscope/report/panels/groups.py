"""Groups of clips, of classes and of reference lengths: the values of each, and their averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...evaluation.group_results import GroupResults
from ...resampling.intervals import Interval
from ..source import Data, Panel, PanelContent, ReportSource

ValueAndLimits: TypeAlias = tuple[float, float, float]
"""A value and the ends of its interval; NaN where there is none."""


def build(source: ReportSource) -> PanelContent | None:
    """Build the groups that all systems have; nothing if there are none."""
    groupings = []
    left_out = []
    for kind, first in source.first.groups.items():
        of_systems = [system.evaluation.groups.get(kind) for system in source.systems]
        shared = [results for results in of_systems if results is not None and [*results] == [*first]]
        if len(shared) == len(of_systems):
            groupings.append(_entry(first, shared))
        else:
            left_out.append(
                f"The {first.title()} of {source.systems[0].name} are not shown, because not all systems "
                "were evaluated by them."
            )
    return ({"groupings": groupings, "left_out": left_out}, ()) if source.first.groups else None


def _entry(first: GroupResults, systems: Sequence[GroupResults]) -> Data:
    """Return the groups of one kind."""
    evaluations = [*first.evaluations.values()]
    averages = [
        [_limited(average.value, average.interval) for average in results.averages.values()]
        for results in systems
    ]
    return {
        "kind": first.kind,
        "title": first.title(),
        "names": [*first],
        "members": [  # clips or classes
            evaluation.clips if first.kind == "clips" else len(evaluation.classes)
            for evaluation in evaluations
        ],
        "hours": [evaluation.hours for evaluation in evaluations],
        "references": [sum(evaluation.references.values()) for evaluation in evaluations],
        "values": [_values(results) for results in systems],
        "average": first.average_name(),
        "averages": averages if first.averages else [],
    }


def _values(results: GroupResults) -> list[list[ValueAndLimits]]:
    """Return the values of a system, by metric and group."""
    by_group = [
        [
            _limited(result.value, evaluation.intervals.get(metric))
            for metric, result in evaluation.results.items()
        ]
        for evaluation in results.values()
    ]
    return [[*of_metric] for of_metric in zip(*by_group, strict=True)]


def _limited(value: float, interval: Interval | None) -> ValueAndLimits:
    return (value, np.nan, np.nan) if interval is None else (value, interval.low, interval.high)


PANEL = Panel("groups", "Groups", build)
