"""Results, thresholds and errors of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError, without_options

WORLD = "injected_psds_world_label"
"""The last class of a confusion matrix, which stands for the whole recording."""

FloatArray = NDArray[np.float64]


class PSDSEvalError(SedscopeError):
    """The input cannot be evaluated. The message begins as that of psds_eval, and says what to do."""


@contextmanager
def as_psds_eval_errors() -> Iterator[None]:
    """Turn every :class:`~sedscope.SedscopeError` into a :class:`PSDSEvalError`."""
    try:
        with without_options():
            yield
    except SedscopeError as error:
        raise PSDSEvalError(str(error)) from None


class RatesPerClass(NamedTuple):
    """Rates of each class at each operating point. At the last point, nothing is detected."""

    tp_ratio: FloatArray
    """(classes × points) true positive rates; NaN without references."""
    fp_rate: FloatArray
    """(classes × points) false positives per unit of time."""
    ct_rate: FloatArray
    """(classes × classes × points) cross-triggers on another class per unit of time of that class."""
    effective_fp_rate: FloatArray
    """(classes × points) false positives, and cross-triggers as they are weighted."""
    id: NDArray[Any]
    """The ids of the operating points; that of the last one is ``"None"``."""


class PSDROC(NamedTuple):
    """One curve, or one for each class, over a common axis, with mean and deviation over classes."""

    yp: FloatArray
    xp: FloatArray
    mean: FloatArray
    std: FloatArray


class PSDS(NamedTuple):
    """The PSDS, the curve that it comes from, and its parameters."""

    value: float
    plt: PSDROC
    alpha_st: float
    alpha_ct: float
    max_efpr: float
    duration_unit: str


class Thresholds(NamedTuple):
    """The thresholds of the three criteria."""

    gtc: float
    dtc: float
    cttc: float
