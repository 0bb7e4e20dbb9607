"""Curves of a criterion: precision over recall, F-score over threshold, ROC and DET."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...counting.class_counts import ClassCounts
from ...counting.counts import Counts
from ..packing import pack_fractions, pack_steps
from ..schema import Packed, PanelData
from ..source import ReportSource
from ..visible_vertices import visible_vertices
from .panel import Panel, PanelContent


@dataclass(frozen=True)
class CountsCurve:
    """True and false positives of a class at the scores where a reader can see a difference."""

    scores: Packed
    """Decreasing, as fractions of the range of scores: frames with ``score >= scores[i]`` are active.
    At the first, nothing is detected."""
    tp: Packed
    fp: Packed


@dataclass(frozen=True)
class CriterionCurves:
    """The curves of one criterion for one system."""

    score_range: tuple[float, float]
    classes: Sequence[CountsCurve]
    """One for each detailed class."""


@dataclass(frozen=True)
class CurvesData(PanelData):
    """By system and criterion. The table of classes draws its small curves from the same data."""

    curves: Sequence[Sequence[CriterionCurves]]


def build(source: ReportSource) -> PanelContent:
    """Build the curves of every system and criterion."""
    return PanelContent(
        CurvesData(
            [
                [
                    _criterion_curves(system.counts[criterion], source.detailed)
                    for criterion in source.criteria
                ]
                for system in source.systems
            ]
        )
    )


def _criterion_curves(counts: Counts, detailed: Sequence[str]) -> CriterionCurves:
    limits = score_range(counts)
    return CriterionCurves(limits, [_counts_curve(counts[label], limits) for label in detailed])


def score_range(counts: Counts) -> tuple[float, float]:
    """Return the lowest and the highest finite score at which a count of any class changes."""
    finite = [table.scores[np.isfinite(table.scores)] for table in counts.values()]
    ends = [float(end) for scores in finite if len(scores) for end in (scores[-1], scores[0])]
    return (min(ends), max(ends)) if ends else (0.0, 1.0)


def _counts_curve(table: ClassCounts, limits: tuple[float, float]) -> CountsCurve:
    """Keep the vertices that are visible in any of the pictures that the page draws."""
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
    return CountsCurve(pack_fractions(fractions[kept]), pack_steps(tp[kept]), pack_steps(fp[kept]))


PANEL = Panel("curves", "Curves", build)
