"""Curves for drawing: thinned, and written short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.counts import ClassCounts, Counts
from ..metrics import PSDS, PSDSResult
from ..metrics.psd_roc import effective_fpr
from .packing import decimals, differences, rounded
from .thinning import visible_rows

FINE = 100_000
"""Positions along an axis: rates are told as whole numbers of this part of its length."""
APPROXIMATION = 50

FloatArray = NDArray[np.float64]


def score_range(counts: Counts) -> tuple[float, float]:
    """The lowest and the highest finite score at which a count of any class changes."""
    ends = [table.scores[np.isfinite(table.scores)] for table in counts.values()]
    known = [float(end) for scores in ends if len(scores) for end in (scores[-1], scores[0])]
    return (min(known), max(known)) if known else (0.0, 1.0)


def counts_curve(table: ClassCounts, span: tuple[float, float]) -> dict[str, Any]:
    """The true and false positives of a class at the scores that can be told apart in any of the
    pictures drawn from them: precision over recall, F-score over threshold, ROC and DET."""
    tally = table.tally()
    tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
    low, high = span
    at = np.clip(np.concatenate([[high], table.scores.astype(np.float64)]), low, high)
    threshold = (at - low) / ((high - low) or 1)
    recall = tp / max(1, table.references)
    rows = [visible_rows(recall, tally.precision), visible_rows(threshold, tally.fscore())]
    if table.trials is not None and tally.negatives:
        rows.append(visible_rows(fp / tally.negatives, recall))
    kept = np.unique(np.concatenate(rows))
    return {
        "at": _fine(threshold[kept]),
        "tp": differences(tp[kept]),
        "fp": differences(fp[kept]),
    }


def roc_curves(
    metric: PSDS, result: PSDSResult, counts: Counts, shown: list[str], stops: Sequence[FloatArray]
) -> dict[str, Any]:
    """The PSD-ROC of a PSDS, those of the shown classes, what a few thresholds would give, and the
    rates at the stops of the sliders."""
    found: dict[str, Any] = {"exact": _rocs(metric, result, counts, shown)}
    found["stops"] = [
        _fine(_rates(metric, counts, label, of_class) / metric.max_efpr)
        for label, of_class in zip(shown, stops, strict=True)
    ]
    if not metric.variants and not any(table.given for table in counts.values()):
        approximate, thresholds = _approximated(counts)
        few = metric.measure(approximate)
        found["few"] = {
            "value": rounded(few.value),
            "thresholds": decimals(thresholds[[-1, 0]]),
            **_rocs(metric, few, counts, shown),
        }
    return found


def _rocs(metric: PSDS, result: PSDSResult, counts: Counts, shown: list[str]) -> dict[str, Any]:
    def thinned(x: FloatArray, y: FloatArray) -> NDArray[np.intp]:
        inside = np.flatnonzero(x <= metric.max_efpr)
        return inside[visible_rows(x[inside] / metric.max_efpr, y[inside])]

    overall = result.curve
    rows = thinned(overall.efpr, overall.etpr)
    classes: list[dict[str, Any] | None] = []
    for label in shown:
        references, curve = counts[label].references, result.per_class[label].curve
        kept = thinned(curve.efpr, curve.tpr)
        classes.append(
            {
                "x": _fine(curve.efpr[kept] / metric.max_efpr),
                "y": differences(np.rint(curve.tpr[kept] * references)),
                "score": decimals(curve.scores[kept], 5),
            }
            if references
            else None
        )
    return {
        "overall": {
            "x": _fine(overall.efpr[rows] / metric.max_efpr),
            "y": _fine(np.nan_to_num(overall.etpr[rows])),
        },
        "classes": classes,
    }


def _fine(rates: FloatArray) -> str:
    return differences(np.rint(rates * FINE))


def _rates(metric: PSDS, counts: Counts, label: str, thresholds: FloatArray) -> FloatArray:
    """The effective rates of false positives of a class at given thresholds."""
    at = replace(counts, per_class={label: counts[label].at(thresholds)})
    return effective_fpr(at, label, alpha_ct=metric.alpha_ct, unit=metric.unit)


def _approximated(counts: Counts) -> tuple[Counts, FloatArray]:
    """Counts at a few thresholds, linear over the scores: what evaluations did before."""
    low, high = score_range(counts)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    steps = (np.arange(APPROXIMATION)[::-1] + 0.5) / APPROXIMATION
    thresholds = low + (high - low) * steps
    tables = {label: table.at(thresholds[thresholds >= table.floor]) for label, table in counts.items()}
    return replace(counts, per_class=tables, any_label=None), thresholds
