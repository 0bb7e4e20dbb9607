"""Several systems side by side: the differences between their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...evaluation.comparison_result import Comparison, Difference, PairDifference
from ..schema import PanelData
from ..source import ReportSource
from .panel import Panel, PanelContent

DifferenceRow: TypeAlias = tuple[float, float, float, float, int]
"""Value, lower and upper end of the interval, p value, and verdict."""


@dataclass(frozen=True)
class PairEntry:
    """The differences between two systems in one metric."""

    pair: tuple[int, int]
    """The two systems: the difference is the value of the first less that of the second."""
    overall: DifferenceRow
    p_corrected: float
    """The p value of the difference over all classes, corrected for the number of pairs."""
    per_class: Sequence[DifferenceRow]


@dataclass(frozen=True)
class SystemsData(PanelData):
    """The differences by metric, for each pair of systems; None without a comparison."""

    differences: Sequence[Sequence[PairEntry]] | None


def build(source: ReportSource) -> PanelContent | None:
    """Pack the differences that a comparison measured; nothing for a single system."""
    if len(source.systems) < 2:
        return None
    comparison = source.comparison
    if comparison is None:
        return PanelContent(SystemsData(None))
    differences = [
        [
            _pair_entry(comparison, pair, difference)
            for pair, difference in comparison.differences[metric].items()
        ]
        for metric in comparison.metrics
    ]
    return PanelContent(SystemsData(differences))


def _pair_entry(comparison: Comparison, pair: tuple[str, str], difference: PairDifference) -> PairEntry:
    first, second = pair
    return PairEntry(
        pair=(comparison.systems.index(first), comparison.systems.index(second)),
        overall=_row(difference),
        p_corrected=difference.p_corrected,
        per_class=[_row(difference.per_class[label]) for label in comparison.classes],
    )


def _row(difference: Difference) -> DifferenceRow:
    return difference.value, difference.low, difference.high, difference.p, difference.verdict


PANEL = Panel("systems", "Systems", build)
