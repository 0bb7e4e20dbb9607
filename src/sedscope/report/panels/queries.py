"""Queries: how many of them reach each value, one picture for each criterion that values them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...metrics import Metric
from ...metrics.queries import QueryCurve, QueryMetric
from ..packing import pack_fractions, visible_vertices
from ..schema import Packed, PanelData
from ..source import Panel, PanelContent, ReportSource
from ..systems import System


@dataclass(frozen=True)
class SharesCurve:
    """The share of queries that have at least some value."""

    values: Packed
    """Falling, from 1."""
    shares: Packed


@dataclass(frozen=True)
class Mark:
    """The value of a metric on the curves."""

    smallest_hit: float
    value: float
    per_class: Sequence[float]
    """For each detailed class; NaN for a class without references."""


@dataclass(frozen=True)
class QueryCurves:
    """The curves of one system."""

    overall: SharesCurve | None
    """Over all classes; None if there are no queries."""
    classes: Sequence[SharesCurve | None]
    """One for each detailed class; None for a class without references."""
    marks: Sequence[Mark]
    """The metrics that are the share of hits."""


@dataclass(frozen=True)
class Picture:
    """The curves of one criterion."""

    metrics: Sequence[int]
    """Those that are read off the curves, as indices into the metrics of the page."""
    quantity: str
    """What the value of a query is."""
    systems: Sequence[QueryCurves]


@dataclass(frozen=True)
class QueriesData(PanelData):
    """One picture for each criterion."""

    pictures: Sequence[Picture]


def build(source: ReportSource) -> PanelContent | None:
    """Build the pictures; nothing without a metric of queries. Means of several metrics have none."""
    parts: dict[Metric[Any], QueryMetric] = {}
    for metric in source.metrics:
        first, *others = metric.parts
        if isinstance(first, QueryMetric) and not others:
            parts[metric] = first
    pictures = []
    for curve in dict.fromkeys((part.criterion, part.average) for part in parts.values()):
        sharing = {
            metric: part for metric, part in parts.items() if (part.criterion, part.average) == curve
        }
        part = next(iter(sharing.values()))
        pictures.append(
            Picture(
                metrics=[source.metrics.index(metric) for metric in sharing],
                quantity=part.quantity,
                systems=[_curves([*sharing.values()], system, source) for system in source.systems],
            )
        )
    return PanelContent(QueriesData(pictures)) if pictures else None


def _curves(metrics: Sequence[QueryMetric], system: System, source: ReportSource) -> QueryCurves:
    """Build the curves of a system, which some metrics share."""
    counts = system.evaluation.counts[metrics[0].criterion]
    results = {metric: metric.measure(counts) for metric in metrics}
    first = results[metrics[0]]
    classes = (first.per_class[label].curve for label in source.detailed)
    return QueryCurves(
        _shares(first.overall_curve()),
        [_shares(curve) for curve in classes],
        [
            Mark(metric.smallest_hit, result.value, [result.per_class[c].value for c in source.detailed])
            for metric, result in results.items()
            if metric.smallest_hit is not None
        ],
    )


def _shares(curve: QueryCurve | None) -> SharesCurve | None:
    if curve is None:
        return None
    values, shares = np.append(1.0, curve.values), np.append(0.0, curve.shares)
    vertices = visible_vertices(values, shares)
    return SharesCurve(pack_fractions(values[vertices]), pack_fractions(shares[vertices]))


PANEL = Panel("queries", "Queries", build)
