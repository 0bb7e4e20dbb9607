"""Scores made into probabilities: rising maps of single scores, as ``sedscope calibrate`` fits them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.arrays import FloatArray, ScoreArray
from ..data.clip_scores import ClipScores
from ..data.probability_fits import LogisticFit
from ..definitions import require_number
from ..errors import SedscopeError
from .postprocessing import POSTPROCESSINGS, PostProcessing
from .score_transform import float_ranks

_SHARE = 1e-4
"""How much of a value is a rank, so that different scores stay different."""


class ProbabilityMap(PostProcessing):
    """Base of the rising maps of single scores to probabilities.

    The order of the scores stays, so metrics over all thresholds do not change. A ten-thousandth of each
    value is the rank of the score among all floating-point numbers: different scores of single precision
    stay different, even where the fitted curve is flat. The result is float64, and ``-inf`` stays ``-inf``.
    """

    @property
    def maps_single_scores(self) -> bool:
        return True

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        scores = clip.values.astype(np.float64)
        rising = float_ranks(scores) / 2.0**64  # among all floating-point numbers
        values = (1 - _SHARE) * self.probabilities(scores) + _SHARE * rising
        return ClipScores.unchecked(np.where(np.isneginf(scores), -np.inf, values), clip.ticks)

    @abstractmethod
    def probabilities(self, scores: ScoreArray) -> FloatArray:
        """Return the fitted curve at some scores.

        Parameters
        ----------
        scores : array
            The scores.

        Returns
        -------
        array of float
        """


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class LogisticMap(ProbabilityMap):
    """The probability ``1 / (1 + exp(-(slope · score + intercept)))``.

    Parameters
    ----------
    slope : float
        Above 0.
    intercept : float
        The log odds at a score of 0.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[-4.0], [0.0], [2.0]]}, classes=["Dog"], frame=0.5)
    >>> LogisticMap(slope=1, intercept=-1)(scores)["a"].values.round(3).ravel().tolist()
    [0.007, 0.269, 0.731]
    """

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        require_number(self, "slope", above=0)
        require_number(self, "intercept")

    def probabilities(self, scores: ScoreArray) -> FloatArray:
        return LogisticFit(self.slope, self.intercept)(scores)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False)
class IsotonicMap(ProbabilityMap):
    """The probability by a curve that never falls: linear between its knots, constant beyond them.

    Parameters
    ----------
    scores : tuple of float
        The scores of the knots, rising.
    values : tuple of float
        The probability at each of them, from 0 to 1, never falling.

    Examples
    --------
    >>> from sedscope import Scores
    >>> scores = Scores.from_arrays({"a": [[0.2], [0.5], [0.8]]}, classes=["Dog"], frame=0.5)
    >>> IsotonicMap((0.4, 0.6), (0.1, 0.9))(scores)["a"].values.round(3).ravel().tolist()
    [0.1, 0.5, 0.9]
    """

    scores: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("scores", "values"):
            try:
                numbers = tuple(map(float, getattr(self, name)))
            except (TypeError, ValueError):
                raise SedscopeError(f"{name}={getattr(self, name)!r:.80} must be numbers.") from None
            object.__setattr__(self, name, numbers)
        knots, values = np.array(self.scores), np.array(self.values)
        if len(knots) != len(values) or not len(knots):
            raise SedscopeError("IsotonicMap needs as many scores as probabilities, at least one.")
        if not (np.isfinite(knots).all() and (np.diff(knots) > 0).all()):
            raise SedscopeError("The scores of an IsotonicMap must be finite and rise.")
        if not ((values >= 0) & (values <= 1)).all() or (np.diff(values) < 0).any():
            raise SedscopeError(
                "The probabilities of an IsotonicMap must lie from 0 to 1 and never fall."
            )

    def probabilities(self, scores: ScoreArray) -> FloatArray:
        return np.interp(scores, self.scores, self.values)
