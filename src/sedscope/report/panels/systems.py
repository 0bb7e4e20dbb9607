"""Several systems side by side: the differences between their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...ranking.comparison_result import Comparison
from ...ranking.differences import Difference, PairDifference
from ..schema import PanelData
from ..source import Panel, PanelContent, ReportSource

DifferenceRow: TypeAlias = tuple[float, float, float, float, int]
"""Value, lower and upper end of the interval, p value, and verdict."""


@dataclass(frozen=True)
class PairEntry:
    """The differences between two systems in one metric."""

    pair: tuple[int, int]
    """The later system, then the earlier one, whose value is subtracted."""
    overall: DifferenceRow
    p_corrected: float
    """The p value of the difference over all classes, corrected for the number of pairs."""
    per_class: Sequence[DifferenceRow]
    p_texts: Sequence[str]
    """The p values as the tables show them: of each class, then the corrected one of all classes."""


@dataclass(frozen=True)
class SystemsData(PanelData):
    """The differences by metric, for each pair of systems; None without a comparison."""

    differences: Sequence[Sequence[PairEntry]] | None
    about: str | None
    """How intervals and p values were made, and whether the resamples are enough."""


def build(source: ReportSource) -> PanelContent | None:
    """Pack the differences that a comparison measured; nothing for a single system."""
    if len(source.systems) < 2:
        return None
    comparison = source.comparison
    if comparison is None:
        return PanelContent(SystemsData(None, None))
    differences = [
        [
            _pair_entry(comparison, pair, difference)
            for pair, difference in comparison.differences[metric].items()
            if comparison.evaluations.keys() >= {*pair}
        ]
        for metric in comparison.metrics
    ]
    return PanelContent(SystemsData(differences, comparison.about()))


def _pair_entry(comparison: Comparison, pair: tuple[str, str], difference: PairDifference) -> PairEntry:
    later, earlier = pair
    systems = [*comparison.evaluations]
    of_classes = [difference.per_class[label] for label in comparison.classes]
    return PairEntry(
        pair=(systems.index(later), systems.index(earlier)),
        overall=_row(difference),
        p_corrected=difference.p_corrected,
        per_class=[_row(of_class) for of_class in of_classes],
        p_texts=[of_class.p_text for of_class in (*of_classes, difference)],
    )


def _row(difference: Difference) -> DifferenceRow:
    return difference.value, difference.low, difference.high, difference.p, difference.verdict


PANEL = Panel("systems", "Systems", build)
