"""PSD-ROC curves: one picture for each metric that reads one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...counting.counts import Counts
from ...data.arrays import FloatArray
from ...data.times import SECONDS_PER_UNIT
from ...metrics import PSDSResult
from ...metrics.psds import PSDS, ClassPSDROC, effective_fpr
from ..packing import pack_fractions, pack_steps, rounded, visible_vertices
from ..schema import Packed, PanelData
from ..source import Panel, PanelContent, ReportSource
from .curves import score_range

EVEN_THRESHOLDS = 50
"""Of the approximation with evenly spaced thresholds."""


@dataclass(frozen=True)
class OverallCurve:
    """The PSD-ROC over all classes."""

    efpr: Packed
    """Effective false positive rates as fractions of the largest one."""
    etpr: Packed
    """Effective true positive rates as fractions."""


@dataclass(frozen=True)
class ClassCurve:
    """The PSD-ROC of one class."""

    efpr: Packed
    """Effective false positive rates as fractions of the largest one."""
    fpr: Packed | None
    """What false positives alone contribute to these rates; None if cross-triggers do not count."""
    tp: Packed
    scores: Sequence[float | None]
    """Frames with ``score >= scores[i]`` are active; None: nothing is detected."""


@dataclass(frozen=True)
class Curves:
    """The PSD-ROC over all classes, and those of the detailed classes."""

    overall: OverallCurve
    classes: Sequence[ClassCurve | None]
    """None for a class without references."""


@dataclass(frozen=True)
class SystemCurves:
    """The PSD-ROCs of one system."""

    exact: Curves
    approximation: Curves | None
    """What evenly spaced thresholds give, where the comparison makes sense."""
    even_thresholds: tuple[float, float] | None
    """The lowest and the highest of these thresholds."""
    efpr_at_positions: Sequence[Packed]
    """For each detailed class the rates at its slider positions, as fractions of the largest one."""


@dataclass(frozen=True)
class Picture:
    """The PSD-ROCs of one metric."""

    metric: int
    max_efpr: float
    unit: str
    systems: Sequence[SystemCurves]


@dataclass(frozen=True)
class PSDROCData(PanelData):
    """One picture for each metric with a PSD-ROC."""

    pictures: Sequence[Picture]


def build(source: ReportSource) -> PanelContent | None:
    """Build the pictures; nothing if no metric reads a PSD-ROC."""
    pictures = []
    for m, metric in enumerate(source.metrics):
        psds = metric.psd_roc
        if psds is not None:
            systems = [_system_curves(psds, s, source) for s in range(len(source.systems))]
            pictures.append(Picture(m, psds.max_efpr, psds.unit, systems))
    return PanelContent(PSDROCData(pictures)) if pictures else None


def _system_curves(metric: PSDS, s: int, source: ReportSource) -> SystemCurves:
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
    return SystemCurves(
        exact=_curves(evaluation[metric], counts, source.detailed),
        approximation=approximation,
        even_thresholds=ends,
        efpr_at_positions=[pack_fractions(efpr / max_efpr) for efpr in rates],
    )


def _curves(result: PSDSResult, counts: Counts, detailed: Sequence[str]) -> Curves:
    """Build the curves of a result, which was measured on these counts."""
    metric, max_efpr = result.metric, result.metric.max_efpr
    efpr, vertices = _visible(max_efpr, result.curve.efpr, result.curve.etpr)
    overall = OverallCurve(efpr, pack_fractions(np.nan_to_num(result.curve.etpr[vertices])))
    classes: list[ClassCurve | None] = []
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
        scores = [rounded(score, 5) for score in curve.scores[vertices].tolist()]
        classes.append(ClassCurve(efpr, fpr, tp, scores))
    return Curves(overall, classes)


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


def _visible(max_efpr: float, efpr: FloatArray, tpr: FloatArray) -> tuple[Packed, NDArray[np.intp]]:
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
