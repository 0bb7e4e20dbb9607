"""What an evaluation is told and tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError

WORLD = "injected_psds_world_label"
"""Stands for the whole recording, last among the classes of a confusion matrix."""

FloatArray = NDArray[np.float64]


class PSDSEvalError(SedscopeError):
    """Input that cannot be evaluated."""


@contextmanager
def own_errors() -> Iterator[None]:
    """Every :class:`~sedscope.SedscopeError` becomes a :class:`PSDSEvalError`."""
    try:
        yield
    except SedscopeError as error:
        raise PSDSEvalError(str(error)) from None


class PSDROC(NamedTuple):
    """Curves over a common axis: those of each class, or one; and mean and deviation over classes."""

    yp: FloatArray
    xp: FloatArray
    mean: FloatArray
    std: FloatArray


class PSDS(NamedTuple):
    """The score, the curve it comes from, and what it is the score of."""

    value: float
    plt: PSDROC
    alpha_st: float
    alpha_ct: float
    max_efpr: float
    duration_unit: str


class Thresholds(NamedTuple):
    """Shares that are needed."""

    gtc: float
    dtc: float
    cttc: float
