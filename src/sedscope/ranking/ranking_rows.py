"""The tables of a ranking as rows of cells, of which the first is the header, and the ranking as a dict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.text import Best
from .ranking import Estimate, MetricEstimate, RankedSystem

if TYPE_CHECKING:
    from ..resampling.intervals import Interval
    from .ranking_result import Ranking


LONG_HEADER = (
    *("rank", "rank_low", "rank_high", "group", "team", "system", "best_of_team", "runs"),
    *("metric", "class", "value", "low", "high", "deviation_of_runs", "definition"),
)
TEXT_COLUMNS = ("team", "system", "metric", "class", "definition")
WHOLE_COLUMNS = ("rank", "rank_low", "rank_high", "group", "best_of_team", "runs")
PAIR_HEADER = (
    *("better_team", "better_system", "worse_team", "worse_system"),
    *("difference", "p", "p_corrected", "significant"),
)
_UNDEFINED = Estimate(math.nan, math.nan, math.nan)


def ranking_rows(ranking: Ranking, digits: int = 4) -> list[list[str]]:
    """Return a row per system, best first."""
    with_teams = any(system.team != system.name for system in ranking.systems)
    header = ["system", *(["team"] if with_teams else []), "rank", "ranks", "tie group"]
    columns = {column.name: _column(ranking, column.name, digits) for column in ranking.metrics}
    rows = [
        [
            system.name,
            *([system.team] if with_teams else []),
            str(system.rank),
            ranks_text(system),
            str(system.group),
            *(cells[place] for cells in columns.values()),
        ]
        for place, system in enumerate(ranking.systems)
    ]
    return [[*header, *columns], *rows]


def name_columns(rows: list[list[str]]) -> int:
    """Return how many columns hold names: that of the system, and perhaps that of the team."""
    return rows[0].index("rank")


def ranks_text(system: RankedSystem) -> str:
    """Return the interval of a rank as text."""
    low, high = system.rank_low, system.rank_high
    return str(low) if low == high else f"{low}–{high}"


def class_rows(ranking: Ranking, metric: str, digits: int = 4) -> list[list[str]]:
    """Return a row per class, with a column per system, best system first."""
    header = ["class", *(system.full_name for system in ranking.systems)]
    rows = []
    for label in classes_of(ranking, metric):
        values = [value_of_class(system, metric, label) for system in ranking.systems]
        rows.append(
            [label, *_with_best(values, [_number(v.value, digits) for v in values], ranking, metric)]
        )
    return [header, *rows]


def classes_of(ranking: Ranking, metric: str) -> list[str]:
    """Return the classes that a metric has values for, in one system at least."""
    return [
        *dict.fromkeys(label for system in ranking.systems for label in system.metrics[metric].per_class)
    ]


def value_of_class(system: RankedSystem, metric: str, label: str) -> Estimate:
    """Return the value of a class; it is not defined if the system does not have the class."""
    return system.metrics[metric].per_class.get(label, _UNDEFINED)


def long_rows(ranking: Ranking) -> Iterator[list[str | float | None]]:
    """Yield a row per system, metric and class, with the columns of ``LONG_HEADER``."""
    definitions = {metric.name: metric.definition for metric in ranking.metrics}
    for system in ranking.systems:
        place = (
            *(system.rank, system.rank_low, system.rank_high, system.group),
            *(system.team, system.name, int(system.best_of_team)),
        )
        for name, metric in system.metrics.items():
            estimates: list[tuple[str | None, Estimate]] = [(None, metric), *metric.per_class.items()]
            for label, estimate in estimates:
                spread = deviation(metric) if label is None else None
                numbers = (estimate.value, estimate.low, estimate.high, spread)
                yield [*place, len(metric.runs), name, label, *numbers, definitions[name]]


def pair_rows(ranking: Ranking) -> Iterator[list[str | float | None]]:
    """Yield a row per pair of systems, with the columns of ``PAIR_HEADER``."""
    for (first, second), pair in ranking.pairs.items():
        better, worse = ranking.systems[first], ranking.systems[second]
        yield [
            *(better.team, better.name, worse.team, worse.name),
            *(pair.difference, pair.p, pair.p_corrected, int(pair.significant)),
        ]


def deviation(metric: MetricEstimate) -> float | None:
    """Return the standard deviation between runs; None for a single run."""
    return float(np.std(metric.runs, ddof=1)) if len(metric.runs) > 1 else None


def ranking_dict(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as a dict of plain values."""
    from .. import __version__

    sets = {
        name: {"clips": of_set.clips, "hours": _finite(of_set.hours), "classes": list(of_set.classes)}
        for name, of_set in ranking.datasets.items()
    }
    return {
        "sedscope": __version__,
        **({"task": ranking.task, "datasets": sets} if ranking.task else {}),
        "score": _kind_dict(ranking.score),
        "metrics": [_kind_dict(metric) for metric in ranking.metrics],
        "clips": ranking.clips,
        "hours": _finite(ranking.hours),
        "classes": list(ranking.classes),
        "resampling": ranking.about(),
        "systems": [_system_dict(system) for system in ranking.systems],
        "pairs": [
            {
                "better": _name_dict(ranking.systems[first]),
                "worse": _name_dict(ranking.systems[second]),
                "difference": _finite(pair.difference),
                "p": _finite(pair.p),
                "p_corrected": _finite(pair.p_corrected),
                "significant": pair.significant,
            }
            for (first, second), pair in ranking.pairs.items()
        ],
        "rejected": [
            {**_name_dict(system), "reasons": list(system.reasons)} for system in ranking.rejected
        ],
        "warnings": list(ranking.warnings),
    }


def _system_dict(system: RankedSystem) -> dict[str, Any]:
    return {
        "rank": system.rank,
        "rank_interval": [system.rank_low, system.rank_high],
        "group": system.group,
        **_name_dict(system),
        "best_of_team": system.best_of_team,
        "score": _estimate_dict(system.score),
        "metrics": {
            name: {
                **_estimate_dict(metric),
                "runs": [_finite(value) for value in metric.runs],
                "per_class": {label: _estimate_dict(of) for label, of in metric.per_class.items()},
            }
            for name, metric in system.metrics.items()
        },
        "warnings": list(system.warnings),
    }


def _name_dict(system: Any) -> dict[str, str]:
    return {"team": system.team, "name": system.name}


def _kind_dict(metric: Any) -> dict[str, Any]:
    return {
        "name": metric.name,
        "definition": metric.definition,
        "higher_is_better": metric.higher_is_better,
    }


def _estimate_dict(estimate: Estimate | Interval) -> dict[str, float | None]:
    return {
        "value": _finite(estimate.value),
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _column(ranking: Ranking, name: str, digits: int) -> list[str]:
    """Return the cells of a metric, with intervals and the deviation between runs."""
    values = [system.metrics[name] for system in ranking.systems]
    cells = []
    for value in values:
        spread = deviation(value)
        between = "" if spread is None else f" ± {spread:.{digits}f}"
        limits = f"({_number(value.low, digits)}–{_number(value.high, digits)})"
        cells.append(f"{_number(value.value, digits)}{between} {limits}")
    return _with_best(values, cells, ranking, name)


def _with_best(values: list[Any], cells: list[str], ranking: Ranking, name: str) -> list[str]:
    """Mark the best of several values, and all that look the same."""
    higher = next(metric.higher_is_better for metric in ranking.metrics if metric.name == name)
    numbers = np.array([value.value for value in values]) * (1 if higher else -1)
    if not np.isfinite(numbers).any():
        return cells
    best = cells[int(np.nanargmax(numbers))].partition(" ")[0]
    return [Best(cell) if cell.partition(" ")[0] == best else cell for cell in cells]


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"
