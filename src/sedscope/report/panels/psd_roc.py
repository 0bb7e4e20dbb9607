"""PSD-ROC curves: one picture for each metric that reads one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...counting.counts import Counts
from ...data.arrays import FloatArray
from ...data.times import SECONDS_PER_UNIT
from ...metrics import PSDSResult
from ...metrics.psds import PSDS, ClassPSDROC, effective_fpr
from ..packing import pack_fractions, pack_steps, rounded, visible_vertices
from ..source import Data, Panel, PanelContent, ReportSource
from .curves import score_range

EVEN_THRESHOLDS = 50
"""Of the approximation with evenly spaced thresholds."""


def build(source: ReportSource) -> PanelContent | None:
    """Build the pictures; nothing if no metric reads a PSD-ROC."""
    pictures = []
    for m, metric in enumerate(source.metrics):
        psds = metric.psd_roc
        if psds is not None:
            systems = [_system_curves(psds, s, source) for s in range(len(source.systems))]
            of_metric = {"metric": m, "max_efpr": psds.max_efpr, "unit": psds.unit}
            pictures.append({**of_metric, "systems": systems})
    return ({"pictures": pictures}, ()) if pictures else None


def _system_curves(metric: PSDS, s: int, source: ReportSource) -> Data:
    """Build the curves of system ``s``."""
    max_efpr = metric.max_efpr
    evaluation = source.systems[s].evaluation
    counts = evaluation.counts[metric.criterion]
    at_positions = source.at_positions[s][metric.criterion]
    approximation = ends = None
    if not metric.variants and not any(table.at_chosen_thresholds for table in counts.values()):
        # the range that the page shows may end before the largest rate
        measured = source.systems[s].measured_counts[metric.criterion]
        thresholds = even_thresholds(measured)
        measured_there = _at_thresholds(measured, thresholds)
        result = metric.measure(measured_there)
        approximation = _curves(result, measured_there, source.detailed)
        ends = float(thresholds[-1]), float(thresholds[0])
    rates = (
        effective_fpr(at_positions, label, alpha_ct=metric.alpha_ct, unit=metric.unit)
        for label in source.detailed
    )
    return {
        "exact": _curves(evaluation[metric], counts, source.detailed),
        "approximation": approximation,  # what evenly spaced thresholds give, where that makes sense
        "even_thresholds": ends,
        "efpr_at_positions": [pack_fractions(efpr / max_efpr) for efpr in rates],
    }


def _curves(result: PSDSResult, counts: Counts, detailed: Sequence[str]) -> Data:
    """Build the curves of a result, which was measured on these counts.

    Effective false positive rates are fractions of the largest one. ``fpr`` is what false positives alone
    contribute to them, if cross-triggers count.
    """
    metric, max_efpr = result.metric, result.metric.max_efpr
    efpr, vertices = _visible(max_efpr, result.curve.efpr, result.curve.etpr)
    etpr = np.nan_to_num(result.curve.etpr[vertices])
    overall = {"efpr": efpr, "etpr": pack_fractions(etpr)}
    classes: list[Data | None] = []  # none for a class without references
    for label in detailed:
        references, curve = counts[label].references, result.per_class[label].curve
        if not references:
            classes.append(None)
            continue
        efpr, vertices = _visible(max_efpr, curve.efpr, curve.tpr)
        fpr = None
        if metric.alpha_ct:
            rates = false_positives(curve, vertices, counts) / counts.duration
            fpr = pack_fractions(rates * SECONDS_PER_UNIT[metric.unit] / max_efpr)
        tp = pack_steps(np.rint(curve.tpr[vertices] * references))
        # frames with ``score >= scores[i]`` are active; None: nothing is detected
        scores = [rounded(score, 5) for score in curve.scores[vertices].tolist()]
        classes.append({"efpr": efpr, "fpr": fpr, "tp": tp, "scores": scores})
    return {"overall": overall, "classes": classes}


def false_positives(curve: ClassPSDROC, vertices: NDArray[np.intp], counts: Counts) -> NDArray[np.int64]:
    """Return the number of false positives at some vertices of a curve."""
    numbers = np.zeros(len(vertices), np.int64)
    processed = curve.postprocessing or (None,) * len(curve.scores)
    for i, vertex in enumerate(vertices.tolist()):
        variant = processed[vertex]
        table = (counts if variant is None else counts.variants[variant])[curve.label]
        row = np.searchsorted(-table.scores.astype(np.float64), -curve.scores[vertex], side="right")
        numbers[i] = table.fp[row - 1] if row else 0
    return numbers


def _visible(max_efpr: float, efpr: FloatArray, tpr: FloatArray) -> tuple[str, NDArray[np.intp]]:
    """Return the visible vertices of a curve up to the largest rate: their rates, and their indices."""
    inside = np.flatnonzero(efpr <= max_efpr)
    vertices = inside[visible_vertices(efpr[inside] / max_efpr, tpr[inside])]
    return pack_fractions(efpr[vertices] / max_efpr), vertices


def even_thresholds(counts: Counts) -> FloatArray:
    """Return evenly spaced thresholds, decreasing, as some evaluations use them.

    They cover 0 to 1 if all scores lie there, and otherwise the range of the scores that were counted.
    """
    low, high = score_range(counts)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    fractions = (np.arange(EVEN_THRESHOLDS)[::-1] + 0.5) / EVEN_THRESHOLDS
    return low + (high - low) * fractions


def _at_thresholds(counts: Counts, thresholds: FloatArray) -> Counts:
    """Return the counts at some thresholds. The metric reads none of those below the floor of a class."""
    tables = {label: table.at(thresholds[thresholds >= table.floor]) for label, table in counts.items()}
    return replace(counts, per_class=tables, any_label=None, variants={})


PANEL = Panel("psd_roc", "PSD-ROC", build)
