"""Objectives: what the best operating point of a class is best at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..counting.tally import Tally, first_best_row
from ..data.arrays import FloatArray

OBJECTIVES = ("fscore", "error_rate", "cost", "precision", "recall")


@dataclass(frozen=True)
class Objective:
    """One of the ``OBJECTIVES``, with its parameters."""

    name: str
    beta: float
    """The weight of recall in the F-score."""
    miss_cost: float
    false_alarm_cost: float

    def best_row(self, tally: Tally) -> int:
        """Return the first of the best operating points."""
        goodness, exact = self._goodness(tally), self._exact_goodness(tally)
        return int(np.argmax(goodness)) if exact is None else first_best_row(goodness, exact)

    def parameters(self) -> dict[str, float]:
        """Return the parameters that matter for this objective."""
        if self.name == "fscore":
            return {"beta": self.beta}
        if self.name == "cost":
            return {"miss_cost": self.miss_cost, "false_alarm_cost": self.false_alarm_cost}
        return {}

    def _goodness(self, tally: Tally) -> FloatArray:
        values: FloatArray
        if self.name == "fscore":
            values = tally.fscore(self.beta)
        elif self.name == "error_rate":
            values = -tally.error_rate
        elif self.name == "cost":
            values = -(self.miss_cost * tally.fn + self.false_alarm_cost * tally.fp)
        else:
            values = tally.precision if self.name == "precision" else tally.recall
        return values

    def _exact_goodness(self, tally: Tally) -> Callable[[int], Fraction] | None:
        """Return what computes the goodness of an operating point without rounding.

        It is None where rounding cannot make unequal operating points look equal, or the other way round.
        """
        if self.name == "fscore":
            return lambda row: tally.exact_fscore(row, self.beta)
        if self.name == "cost":
            of_miss, of_false_alarm = Fraction(str(self.miss_cost)), Fraction(str(self.false_alarm_cost))
            return lambda row: -tally.exact_cost(row, of_miss, of_false_alarm)
        return None
