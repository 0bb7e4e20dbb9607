"""Curves of a criterion: precision over recall, F-score over threshold, FROC, ROC and DET."""

from __future__ import annotations

import numpy as np

from ...counting.counts import ClassCounts, Counts
from ...criteria import Criterion
from ...evaluation.result import Evaluation
from ...metrics.curves import FROCCurve, always_on_vertex, froc_rows
from ..packing import pack_fractions, pack_steps, rounded, visible_vertices
from ..source import Data, Panel, PanelContent, ReportSource


def build(source: ReportSource) -> PanelContent:
    """Build the curves of every system and criterion. The table of classes draws small ones from them."""
    curves = []
    for system in source.systems:
        of_system = []
        for criterion in source.criteria:
            counts, measured = system.counts[criterion], system.measured_counts[criterion]
            limits, bands = score_range(counts), _recall_bands(system.evaluation, criterion)
            classes = [
                _counts_curve(counts[label], measured[label], limits, bands.get(label))
                for label in source.detailed
            ]
            of_system.append({"score_range": limits, "classes": classes})
        curves.append(of_system)
    return {"curves": curves}, ()


def _recall_bands(evaluation: Evaluation, criterion: Criterion) -> dict[str, Data]:
    """Return the bands of the classes around recall over false alarms, as far as they are known."""
    bands: dict[str, Data] = {}
    for metric, result in evaluation.results.items():
        if metric.reads_froc and metric.criterion == criterion:
            for label, of_class in result.per_class.items():
                curve = getattr(of_class, "curve", None)
                if isinstance(curve, FROCCurve) and curve.band is not None:
                    bands[label] = {
                        name: [rounded(value, 4) for value in getattr(curve.band, name).tolist()]
                        for name in ("per_hour", "low", "high")
                    }
    return bands


def score_range(counts: Counts) -> tuple[float, float]:
    """Return the lowest and the highest finite score at which a count of any class changes."""
    finite = [table.scores[np.isfinite(table.scores)] for table in counts.values()]
    ends = [float(end) for scores in finite if len(scores) for end in (scores[-1], scores[0])]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _counts_curve(
    table: ClassCounts, measured: ClassCounts, limits: tuple[float, float], band: Data | None
) -> Data:
    """Keep the vertices that are visible in any of the pictures that the page draws.

    ``measured``: the counts as far down as they are known, where ``table`` ends with the sliders.
    """
    tally = table.tally()
    tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
    low, high = limits
    scores = np.clip(np.concatenate([[high], table.scores.astype(np.float64)]), low, high)
    fractions = (scores - low) / ((high - low) or 1)
    recall = tp / max(1, table.references)
    vertices = [visible_vertices(recall, tally.precision), visible_vertices(fractions, tally.fscore())]
    if table.trials is not None and tally.negatives:
        vertices.append(visible_vertices(fp / tally.negatives, recall))
    kept = np.unique(np.concatenate(vertices))
    return {
        "scores": pack_fractions(fractions[kept]),  # decreasing; at the first, nothing is detected
        "tp": pack_steps(tp[kept]),
        "fp": pack_steps(fp[kept]),
        "froc": _froc_vertices(measured, band) if table.trials is None else None,
    }


def _froc_vertices(table: ClassCounts, band: Data | None) -> Data:
    """Keep the vertices of recall over false alarms that are visible on a logarithmic axis."""
    tally = table.tally()
    tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
    all_up_to = None if np.isneginf(table.floor) else table.fp_below_floor - 1
    rows = froc_rows(tp, fp)
    if all_up_to is not None:
        rows = rows[fp[rows] <= all_up_to]
    if len(table.scores) == 1:  # an event list without confidences: its point
        rows = np.array([1])
    rates = np.log(np.maximum(fp[rows], 0.5))
    shares = (rates - rates.min(initial=0)) / (np.ptp(rates) if len(rates) > 1 else 1)
    kept = rows[visible_vertices(shares, tp[rows] / max(1, table.references))]
    scores = np.concatenate([[np.inf], table.scores.astype(np.float64)])[kept]
    always_on = always_on_vertex(fp, kept) if all_up_to is None and len(table.scores) > 1 else None
    return {
        "scores": [rounded(score, 5) for score in scores.tolist()],
        "tp": pack_steps(tp[kept]),
        "fp": pack_steps(fp[kept]),
        "all_up_to": all_up_to,  # false positives up to which all operating points are known
        "band": band,
        "always_on": always_on,  # the first vertex at which detections have merged
    }


PANEL = Panel("curves", "Curves", build)
