"""Operating points: one threshold per class, perhaps after a post-processing; saved and loaded."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..counting.counts import ClassCounts, Counts
from ..counting.tally import Tally
from ..data.detections import at_thresholds, detect
from ..data.scores import Scores
from ..errors import SedscopeError, listing
from ..io.atomic_write import write_text
from ..io.locations import place
from ..postprocessing import PerClass, PostProcessing, parse_postprocessing

OBJECTIVES = ("fscore", "error_rate", "cost", "precision", "recall")


@dataclass(frozen=True)
class OperatingPoints:
    """One threshold per class (active: ``score > threshold``), and where they come from."""

    thresholds: Mapping[str, float]
    """May be empty: then the scores stay scores."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    unmet: Mapping[str, str] = field(default_factory=dict)
    """Per class the need that no threshold meets; its threshold is then the best regardless."""
    postprocessing: Mapping[str, PostProcessing] = field(default_factory=dict)
    """Per class how its scores are post-processed before the threshold; the others are not."""

    def process(self, scores: Scores) -> Scores:
        """The post-processed scores."""
        return PerClass(self.postprocessing)(scores) if self.postprocessing else scores

    def apply(self, scores: Scores) -> Scores:
        """The post-processed scores at the thresholds: 1 where detected, else never. Without thresholds
        the scores stay scores."""
        processed = self.process(scores)
        return at_thresholds(processed, self.thresholds) if self.thresholds else processed

    def detect(self, scores: Scores) -> dict[str, list[tuple[float, float, str]]]:
        """The events of each clip."""
        if not self.thresholds:
            raise SedscopeError("there are no thresholds, only post-processings: nothing is detected")
        return detect(self.process(scores), self.thresholds)

    def save(self, path: str | Path) -> None:
        """Write a small TOML file, which :meth:`load` reads."""
        tables: dict[str, Mapping[str, Any]] = {
            "thresholds": self.thresholds,
            "provenance": self.provenance,
            "unmet": self.unmet,
            "postprocessing": {label: repr(chosen) for label, chosen in self.postprocessing.items()},
        }
        lines = []
        for name, table in tables.items():
            if not table and name != "thresholds":
                continue
            lines += [f"[{name}]", *(f"{_quoted(k)} = {_toml(v)}" for k, v in table.items()), ""]
        write_text(path, "\n".join(lines))

    @staticmethod
    def load(path: str | Path) -> OperatingPoints:
        """Read a file that :meth:`save` wrote."""
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib

        try:
            content = tomllib.loads(place(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise SedscopeError(f"cannot read {path}: {error.strerror or error}") from None
        except ValueError as error:
            raise SedscopeError(f"{path} is not a file of operating points: {error}") from None
        texts = content.get("postprocessing", {})
        thresholds = content.get("thresholds", {} if texts else None)
        if not isinstance(thresholds, dict):
            raise SedscopeError(f"{path} has no table [thresholds]")
        wrong = [
            f"{label} = {value!r}"
            for label, value in thresholds.items()
            if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value)
        ]
        if wrong:
            raise SedscopeError(f"{path}: thresholds must be numbers: {listing(wrong)}")
        provenance, unmet = content.get("provenance", {}), content.get("unmet", {})
        if not all(isinstance(table, dict) for table in (provenance, unmet, texts)):
            raise SedscopeError(f"{path}: [provenance], [unmet] and [postprocessing] must be tables")
        try:
            chosen = {label: parse_postprocessing(str(text)) for label, text in texts.items()}
        except SedscopeError as error:
            raise SedscopeError(f"{path}: [postprocessing]: {error}") from None
        return OperatingPoints(thresholds, provenance, unmet, chosen)


def choose(
    counts: Counts,
    objective: str = "fscore",
    *,
    beta: float = 1.0,
    miss_cost: float = 1.0,
    false_alarm_cost: float = 1.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    max_false_alarms_per_hour: float | None = None,
) -> OperatingPoints:
    """Per class the threshold that is best for an objective among those that meet the needs.

    ``objective``: the largest ``fscore`` (with ``beta``), ``precision`` or ``recall``, the smallest
    ``error_rate``, or the smallest ``cost``: ``miss_cost`` per missed reference plus
    ``false_alarm_cost`` per false positive. A class for which no threshold meets the needs is named
    in ``unmet``. Classes without references get no threshold.

    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
    >>> round(choose(counts).thresholds["Dog"], 2)
    0.65
    """
    if objective not in OBJECTIVES:
        raise SedscopeError(f"objective={objective!r}: choose {' or '.join(OBJECTIVES)}")
    _require_at_least_zero(
        beta=beta,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
        max_false_alarms_per_hour=max_false_alarms_per_hour,
    )
    for name, share in (("min_precision", min_precision), ("min_recall", min_recall)):
        if share is not None and not 0 <= share <= 1:
            raise SedscopeError(f"{name}={share!r} must be a number from 0 to 1")
    hours = counts.duration / 3600
    thresholds: dict[str, float] = {}
    unmet: dict[str, str] = {}
    for label, of_class in counts.items():
        if not of_class.references:
            continue
        tally = of_class.tally()
        goodness = _goodness(tally, objective, beta, miss_cost, false_alarm_cost)
        needs = {
            f"precision >= {min_precision}": _holds(tally.precision, min_precision),
            f"recall >= {min_recall}": _holds(tally.recall, min_recall),
            f"at most {max_false_alarms_per_hour} false alarms per hour": _holds(
                -tally.false_alarms_per_hour(hours),
                None if max_false_alarms_per_hour is None else -max_false_alarms_per_hour,
            ),
        }
        met = np.all(list(needs.values()), axis=0)
        if not met.any():
            unmet[label] = " and ".join(need for need, held in needs.items() if not held.all())
        thresholds[label] = _best(of_class, goodness, met if met.any() else ~met)
    wanted = {
        "beta": beta if objective == "fscore" else None,
        "miss_cost": miss_cost if objective == "cost" else None,
        "false_alarm_cost": false_alarm_cost if objective == "cost" else None,
        "min_precision": min_precision,
        "min_recall": min_recall,
        "max_false_alarms_per_hour": max_false_alarms_per_hour,
    }
    return OperatingPoints(thresholds, _provenance(counts, objective, wanted), unmet)


def _goodness(
    tally: Tally, objective: str, beta: float, miss_cost: float, false_alarm_cost: float
) -> Any:
    if objective == "fscore":
        return tally.fscore(beta)
    if objective == "error_rate":
        return -tally.error_rate
    if objective == "cost":
        return -(miss_cost * tally.fn + false_alarm_cost * tally.fp)
    return tally.precision if objective == "precision" else tally.recall


def _holds(values: Any, least: float | None) -> Any:
    return np.ones(len(values), bool) if least is None else values >= least


def _best(counts: ClassCounts, goodness: Any, allowed: Any) -> float:
    rows = np.flatnonzero(allowed)
    return counts.threshold(int(rows[np.argmax(goodness[rows])]))


def _provenance(counts: Counts, objective: str, wanted: Mapping[str, Any]) -> dict[str, str]:
    from .. import __version__

    given = ", ".join(f"{name}={value}" for name, value in wanted.items() if value is not None)
    return {
        "sedscope": __version__,
        "criterion": repr(counts.criterion),
        "objective": f"{objective} ({given})" if given else objective,
        "clips": str(counts.clips),
        "hours": f"{counts.duration / 3600:.4f}",
    }


def _require_at_least_zero(**parameters: float | None) -> None:
    for name, value in parameters.items():
        if value is not None and not 0 <= value < math.inf:
            raise SedscopeError(f"{name}={value!r} must be a number, at least 0")


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\u{ord(c):04X}" if ord(c) < 32 or c == "\x7f" else "\\" + c if c in '\\"' else c for c in text
    )
    return f'"{escaped}"'


def _toml(value: str | float) -> str:
    return _quoted(value) if isinstance(value, str) else repr(float(value))
