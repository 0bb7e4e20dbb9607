"""The tables of a comparison as rows of cells. The first row is the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import Metric
from ..resampling.intervals import Interval, interval_text
from ..results.text import Best
from .differences import Difference, SystemValue

if TYPE_CHECKING:
    from .comparison_result import Comparison


LONG_HEADER = (
    *("metric", "class", "system", "less", "value", "low", "high", "undefined_resamples"),
    *("deviation_of_runs", "p", "p_corrected", "verdict", "definition"),
)
TEXT_COLUMNS = ("metric", "class", "system", "less", "definition")
WHOLE_COLUMNS = ("undefined_resamples", "verdict")
PAIRS_BESIDE_CLASSES = 3
"""How many differences a row of a class has at most, to be readable."""
_SIGNS = {1: ">", 0: "≈", -1: "<"}


def system_rows(comparison: Comparison, digits: int = 4) -> list[list[str]]:
    """Return a row per system, with a column per metric."""
    columns = [
        _with_best(
            [_system_cell(value, digits) for value in comparison.values[metric].values()],
            [*comparison.values[metric].values()],
            metric.higher_is_better,
        )
        for metric in comparison.metrics
    ]
    rows = zip(comparison.systems, *columns, strict=True)
    return [["system", *comparison.names.values()], *map(list, rows)]


def pair_rows(comparison: Comparison, digits: int = 4) -> list[list[str]]:
    """Return a row per metric and pair of systems."""
    header = ["difference", "metric", "value", "interval", "", "p", "wins", "losses", "classes"]
    rows = [
        [
            f"{later} − {earlier}",
            comparison.names[metric],
            f"{pair.value:+.{digits}f}",
            interval_text(pair, digits, signed=True),
            _SIGNS[pair.verdict],
            pair.p_text,
            str(pair.wins),
            str(pair.losses),
            str(len(pair.per_class)),
        ]
        for metric in comparison.metrics
        for (later, earlier), pair in comparison.differences[metric].items()
    ]
    return [header, *rows]


def class_rows(comparison: Comparison, metric: Metric[Any], digits: int = 4) -> list[list[str]]:
    """Return a row per class, with a column per system and per pair, and a last row for all classes."""
    values = comparison.values[metric]
    pairs = comparison.differences[metric] if comparison.pairs <= PAIRS_BESIDE_CLASSES else {}
    header = ["class", *comparison.systems, *(f"{later} − {earlier}" for later, earlier in pairs)]

    def cells(of_systems: Sequence[Interval], differences: Sequence[Difference]) -> list[str]:
        numbers = [f"{interval.value:.{digits}f}" for interval in of_systems]
        return [
            *_with_best(numbers, of_systems, metric.higher_is_better),
            *(_difference_cell(difference, digits) for difference in differences),
        ]

    rows = [
        [
            label,
            *cells(
                [value.per_class[label] for value in values.values()],
                [pair.per_class[label] for pair in pairs.values()],
            ),
        ]
        for label in comparison.classes
    ]
    overall = ["overall", *cells([*values.values()], [*pairs.values()])]
    return [header, *rows, overall]


def long_rows(comparison: Comparison) -> Iterator[list[str | float | None]]:
    """Yield a row per number, with the columns of ``LONG_HEADER``. None where a column does not apply."""
    for metric in comparison.metrics:
        name, definition = comparison.names[metric], repr(metric)
        for system, value in comparison.values[metric].items():
            for label, interval in ((None, value), *value.per_class.items()):
                spread = value.spread if interval is value else np.nan
                yield [
                    *(name, label, system, None, *_numbers(interval), spread),
                    *(None, None, None, definition),
                ]
        for (later, earlier), pair in comparison.differences[metric].items():
            for label, difference in ((None, pair), *pair.per_class.items()):
                corrected = pair.p_corrected if difference is pair else None
                yield [
                    *(name, label, later, earlier, *_numbers(difference), None),
                    *(difference.p, corrected, difference.verdict, definition),
                ]


def _system_cell(value: SystemValue, digits: int) -> str:
    spread = "" if np.isnan(value.spread) else f" ± {value.spread:.{digits}f}"
    return f"{value.value:.{digits}f}{spread} {interval_text(value, digits)}"


def _difference_cell(difference: Difference, digits: int) -> str:
    if np.isnan(difference.value):
        return "nan"
    interval = interval_text(difference, digits, signed=True)
    return f"{difference.value:+.{digits}f} {interval} {_SIGNS[difference.verdict]}"


def _with_best(cells: Sequence[str], intervals: Sequence[Interval], higher_is_better: bool) -> list[str]:
    """Mark the best of several values, and all that look the same."""
    values = np.array([interval.value for interval in intervals]) * (1 if higher_is_better else -1)
    if not np.isfinite(values).any():
        return [*cells]
    best = cells[int(np.nanargmax(values))].partition(" ")[0]
    return [Best(cell) if cell.partition(" ")[0] == best else cell for cell in cells]


def _numbers(interval: Interval) -> list[float]:
    return [interval.value, interval.low, interval.high, interval.undefined]
