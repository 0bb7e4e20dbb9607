"""What a review says about each class, as a result: values, intervals, tables and promised thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.probability_fits import IsotonicFit, LogisticFit
from ..errors import SedscopeError, counted
from ..resampling.exact_limits import binomial_at_most
from ..results.text import Form, Part, Records, Table, shortest_between
from ..tabular import ResultTable
from ..tuning.guarantees import tested_in_order
from ..tuning.operating_points import OperatingPoints
from .stratified import Strata, evidence

Hold: TypeAlias = Literal["pointwise", "simultaneous"]
"""Whether intervals hold for one threshold, or for all thresholds of a class together."""

_STEP = 1.05  # from one number of detections that is tested to the next
_STARTS = (1.5, 3, 6)  # where tests begin, as multiples of the fewest detections that could pass


class Estimated(NamedTuple):
    """A value and its interval: numbers, or arrays with a value per threshold."""

    value: Any
    low: Any
    high: Any


@dataclass(frozen=True, eq=False, repr=False)
class ClassEstimate:
    """What a review says about one class.

    Attributes
    ----------
    thresholds : array of float
        The distinct scores of the detections, decreasing. Values at a threshold are those of all detections
        with a score of at least this one.
    detections : array of int
        How many these are.
    precision : Estimated
        Their share that is right: arrays ``value``, ``low`` and ``high``.
    right : Estimated
        How many of them are right.
    recall : Estimated or None
        The right ones of them, divided by all right detections and missed calls. It needs windows without a
        detection.
    density : Estimated or None
        The share of the windows of all clips with a call.
    reviewed : int
        How many detections have an answer.
    silent_windows : int or None
        How many windows without a detection have an answer.
    unsure : int
        For how many detections and windows the reviewer could not tell.
    logistic, isotonic : LogisticFit and IsotonicFit
        Curves of the probability to be right over the score.
    """

    thresholds: FloatArray
    detections: IntArray
    precision: Estimated
    right: Estimated
    recall: Estimated | None
    density: Estimated | None
    reviewed: int
    silent_windows: int | None
    unsure: int
    logistic: LogisticFit
    isotonic: IsotonicFit
    strata: Strata
    """Those above each threshold: (thresholds × strata) arrays."""

    def __repr__(self) -> str:
        return f"<ClassEstimate: {counted(int(self.detections[-1]), 'detection')}, {self.reviewed} reviewed>"

    def at(self, threshold: float) -> Estimated:
        """Return the precision of the detections with a score of at least a threshold.

        Parameters
        ----------
        threshold : float
            Any number that is not above the highest score.

        Returns
        -------
        Estimated
        """
        row = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        if row < 0:
            raise SedscopeError(f"No detection has a score of at least {threshold:g}.")
        return Estimated(*(float(column[row]) for column in self.precision))

    def lowest_threshold(self, min_precision: float, confidence: float) -> int | None:
        """Return the number of the lowest threshold that keeps a precision with confidence, if one does."""
        numbers, wrong = evidence(self.strata, min_precision)
        level = 1 - confidence

        def passes(row: int, share: float) -> bool:
            return _proves(numbers[row], wrong[row], min_precision, share)

        perfect = Strata(self.strata.sizes, self.strata.reviewed, self.strata.reviewed)
        flawless, _ = evidence(perfect, min_precision)
        exact = np.isinf(flawless)  # everything above was reviewed
        rows = [row for row in _sequence(self.detections) if not exact[row]]
        starts: set[int] = set()
        for number in (len(_STARTS), 1):
            able = (row for row in rows if _proves(flawless[row], 0.0, min_precision, level / number))
            first = next(able, None)
            if first is not None:
                least = [self.detections[first] * factor for factor in _STARTS[:number]]
                places = np.searchsorted(self.detections[rows], least)
                starts = {rows[min(place, len(rows) - 1)] for place in places.tolist()}
                break
        passed = tested_in_order(rows, passes, starts, level, len(self.thresholds))
        passed |= exact & (self.precision.value >= min_precision)
        return int(np.flatnonzero(passed)[-1]) if passed.any() else None


@dataclass(frozen=True, eq=False, repr=False)
class ReviewEstimate(ResultTable[ClassEstimate]):
    """What a review says about each class, by label.

    Tables have a row per class, with the values of all its detections; :meth:`to_polars` has a row per class
    and threshold.

    Attributes
    ----------
    per_class : mapping of str to ClassEstimate
        The estimates of each class.
    level : float
        The level of the intervals.
    hold : {"pointwise", "simultaneous"}
        Whether an interval holds for one threshold that is fixed beforehand, or all intervals of a class hold
        together.
    """

    per_class: Mapping[str, ClassEstimate]
    level: float
    hold: Hold

    def __repr__(self) -> str:
        return f"<ReviewEstimate: {counted(len(self.per_class), 'class')}, {self.hold} intervals>"

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        def shown(estimated: Estimated | None) -> str:
            if estimated is None:
                return ""
            value, low, high = (np.ravel(part)[-1] for part in estimated)
            return f"{value:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"

        silent = any(of_class.silent_windows is not None for of_class in self.per_class.values())
        header = ["class", "detections", "reviewed", *["silent"] * silent, "unsure", "precision"]
        rows = []
        for label, of_class in self.per_class.items():
            windows = [of_class.silent_windows] if silent else []
            numbers = (of_class.detections[-1], of_class.reviewed, *windows, of_class.unsure)
            row = [label, *map(str, numbers), shown(of_class.precision)]
            rows.append([*row, shown(of_class.recall), shown(of_class.density)] if silent else row)
        header += ["recall", "density"] if silent else []
        return [Table(header, rows, ruled=False, by_class=True), [self._legend()]]

    def _legend(self) -> str:
        holds = (
            "one threshold, fixed beforehand" if self.hold == "pointwise" else "all thresholds together"
        )
        return f"values of all detections; {self.level * 100:g} % intervals, which hold for {holds}"

    def _records(self) -> Records:
        names = [
            f"{name}{part}"
            for name in ("precision", "right", "recall")
            for part in ("", "_low", "_high")
        ]
        rows: list[tuple[str | float | None, ...]] = []
        for label, of_class in self.per_class.items():
            curves = (of_class.precision, of_class.right, of_class.recall)
            columns = [
                column.tolist()
                for curve in curves
                for column in (
                    [np.full(len(of_class.thresholds), np.nan)] * 3 if curve is None else curve
                )
            ]
            numbers = (of_class.thresholds.tolist(), of_class.detections.tolist())
            rows += [(label, *row) for row in zip(*numbers, *columns, strict=True)]
        return {"class": str, "threshold": float, "detections": int, **dict.fromkeys(names, float)}, rows

    def _values(self) -> dict[str, Any]:
        classes = {label: _class_values(of_class) for label, of_class in self.per_class.items()}
        return {"level": self.level, "intervals": self.hold, "classes": classes}

    def choose(self, min_precision: float, confidence: float = 0.95) -> OperatingPoints:
        """Choose the lowest threshold of each class that keeps a precision with confidence.

        Thresholds are tested in a fixed order, from high to low ones, so the promise holds although the
        threshold is searched for.

        Parameters
        ----------
        min_precision : float
            The precision of the detections above the threshold, among those of the plan.
        confidence : float, default 0.95
            How certain it is to be kept, for each class by itself.

        Returns
        -------
        OperatingPoints
            ``unmet`` names the classes for which nothing can be promised. Their threshold is that with the
            highest lower limit of the precision.
        """
        for name, value in {"min_precision": min_precision, "confidence": confidence}.items():
            if not 0 < value < 1:
                raise SedscopeError(f"{name}={value} is not valid. Give a number between 0 and 1.")
        thresholds, unmet = {}, {}
        for label, of_class in self.per_class.items():
            row = of_class.lowest_threshold(min_precision, confidence)
            if row is None:
                unmet[label] = f"precision >= {min_precision:g} with {confidence * 100:g} % confidence"
                row = int(np.argmax(of_class.precision.low))
            thresholds[label] = _threshold_below(of_class.thresholds, row)
        provenance = {
            "min_precision": f"{min_precision:g}",
            "confidence": f"{confidence:g}",
            "reviewed": str(sum(of_class.reviewed for of_class in self.per_class.values())),
            "guarantee": (
                f"The precision holds with {confidence * 100:g} % confidence for each class, among the "
                "detections of the review: exact binomial limits of effective counts, tested in order."
            ),
        }
        return OperatingPoints(thresholds, provenance, unmet)


def _proves(answers: float, wrong: float, min_precision: float, level: float) -> bool:
    """Return whether so few wrong ones of some independent answers prove a precision, at a level."""
    errors, trials = math.ceil(wrong - 1e-9), math.floor(answers)
    return trials > 0 and binomial_at_most(errors, trials, 1 - min_precision) <= level


def _sequence(detections: IntArray) -> list[int]:
    """Return the thresholds that are tested, from high to low ones."""
    rows = [0]
    while rows[-1] < len(detections) - 1:
        row = int(np.searchsorted(detections, detections[rows[-1]] * _STEP))
        rows.append(min(max(row, rows[-1] + 1), len(detections) - 1))
    return rows


def _threshold_below(thresholds: FloatArray, row: int) -> float:
    """Return a short number between a score and the next lower one: what is above it is detected."""
    score = float(thresholds[row])
    lower = (
        float(thresholds[row + 1]) if row + 1 < len(thresholds) else score - max(1e-6, abs(score) / 100)
    )
    return shortest_between(lower, score, (lower + score) / 2)


def _class_values(of_class: ClassEstimate) -> dict[str, Any]:
    """Return the values of a class for JSON."""

    def curve(estimated: Estimated | None) -> list[dict[str, float]] | None:
        if estimated is None:
            return None
        columns = (of_class.thresholds, *estimated)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [dict(zip(("threshold", "value", "low", "high"), row, strict=True)) for row in rows]

    return {
        "detections": int(of_class.detections[-1]),
        "reviewed": of_class.reviewed,
        "silent_windows": of_class.silent_windows,
        "unsure": of_class.unsure,
        "precision": curve(of_class.precision),
        "right": curve(of_class.right),
        "recall": curve(of_class.recall),
        "density": None if of_class.density is None else of_class.density._asdict(),
        "logistic": {"slope": of_class.logistic.slope, "intercept": of_class.logistic.intercept},
        "isotonic": {
            "scores": of_class.isotonic.scores.tolist(),
            "values": of_class.isotonic.values.tolist(),
        },
    }
