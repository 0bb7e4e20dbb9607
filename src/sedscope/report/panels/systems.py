"""Several systems side by side: the differences between their values."""

from __future__ import annotations

from ...ranking.comparison_result import Comparison
from ...ranking.differences import Difference, PairDifference
from ..source import Data, Panel, PanelContent, ReportSource


def build(source: ReportSource) -> PanelContent | None:
    """Pack the differences that a comparison measured; nothing for a single system."""
    if len(source.systems) < 2:
        return None
    comparison = source.comparison
    if comparison is None:
        return {"differences": None, "about": None}, ()
    differences = [
        [
            _pair_entry(comparison, pair, difference)
            for pair, difference in comparison.differences[metric].items()
            if comparison.evaluations.keys() >= {*pair}
        ]
        for metric in comparison.metrics
    ]
    return {"differences": differences, "about": comparison.about()}, ()


def _pair_entry(comparison: Comparison, pair: tuple[str, str], difference: PairDifference) -> Data:
    """Return the differences between two systems in one metric."""
    later, earlier = pair
    systems = [*comparison.evaluations]
    of_classes = [difference.per_class[label] for label in comparison.classes]
    return {
        "pair": (systems.index(later), systems.index(earlier)),
        "overall": _row(difference),
        "p_corrected": difference.p_corrected,  # for the number of pairs
        "per_class": [_row(of_class) for of_class in of_classes],
        "p_texts": [of_class.p_text for of_class in (*of_classes, difference)],
    }


def _row(difference: Difference) -> tuple[float, float, float, float, int]:
    return difference.value, difference.low, difference.high, difference.p, difference.verdict


PANEL = Panel("systems", "Systems", build)
