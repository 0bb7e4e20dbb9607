"""Queries: how many of them reach each value, one picture for each criterion that values them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...metrics import Metric
from ...metrics.queries import QueryCurve, QueryMetric
from ..packing import pack_fractions, visible_vertices
from ..source import Data, Panel, PanelContent, ReportSource
from ..systems import System


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
            {
                "metrics": [source.metrics.index(metric) for metric in sharing],
                "quantity": part.quantity,
                "systems": [_curves([*sharing.values()], system, source) for system in source.systems],
            }
        )
    return ({"pictures": pictures}, ()) if pictures else None


def _curves(metrics: Sequence[QueryMetric], system: System, source: ReportSource) -> Data:
    """Build the curves of a system, which some metrics share."""
    counts = system.evaluation.counts[metrics[0].criterion]
    results = {metric: metric.measure(counts) for metric in metrics}
    first = results[metrics[0]]
    return {
        "overall": _shares(first.overall_curve()),
        "classes": [_shares(first.per_class[label].curve) for label in source.detailed],
        "marks": [  # the metrics that are the share of hits
            {
                "smallest_hit": metric.smallest_hit,
                "value": result.value,
                "per_class": [result.per_class[label].value for label in source.detailed],
            }
            for metric, result in results.items()
            if metric.smallest_hit is not None
        ],
    }


def _shares(curve: QueryCurve | None) -> Data | None:
    """Return the share of queries that have at least some value, which falls from 1."""
    if curve is None:
        return None
    values, shares = np.append(1.0, curve.values), np.append(0.0, curve.shares)
    vertices = visible_vertices(values, shares)
    return {"values": pack_fractions(values[vertices]), "shares": pack_fractions(shares[vertices])}


PANEL = Panel("queries", "Queries", build)
