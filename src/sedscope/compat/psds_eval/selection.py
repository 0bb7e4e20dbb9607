"""Choose operating points that meet a constraint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .results import FloatArray, PSDSEvalError


class ClassRates(NamedTuple):
    """The values of one class at all operating points. At the last one, nothing is detected."""

    TPR: FloatArray
    FPR: FloatArray
    eFPR: FloatArray
    Fscore: FloatArray

    def best(self, constraint: str, value: Any) -> int | None:
        """Return the best operating point that meets a constraint; None if none detects anything."""
        met, goodness = self._judged(constraint, value)
        points = np.flatnonzero(met & ~np.isnan(goodness))
        if not len(points):
            return None
        point = int(points[np.argmax(goodness[points])])
        return None if point == len(self.TPR) - 1 else point

    def _judged(self, constraint: str, value: Any) -> tuple[Any, FloatArray]:
        """Return which operating points meet the constraint, and how good they are."""
        tpr, fpr, efpr, fscore = self
        match constraint:
            case "tpr":
                return tpr >= value, -efpr
            case "fpr":
                return fpr <= value, tpr
            case "efpr":
                return efpr <= value, tpr
            case "fscore":
                return np.ones(len(fscore), bool), fscore
        raise PSDSEvalError(
            f"The constraint has to be one of tpr, fpr, efpr or fscore, instead it is {constraint}."
        )
