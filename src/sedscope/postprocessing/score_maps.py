"""Rising maps of single scores: to probabilities, and to uniform scores where a class is present."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..data.choices import ClipChoice, Missing
from ..data.clip_scores import ClipScores
from ..data.ground_truth import GroundTruth
from ..data.probability_fits import LogisticFit
from ..data.scores import Scores
from ..definitions import require_number
from ..errors import SedscopeError, SedscopeWarning, listing, subject
from .postprocessing import POSTPROCESSINGS, PostProcessing


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """A rising map of the scores of one class.

    Between two knots the map is linear in the rank of the score among all floating-point numbers. This
    separates small scores as well as large ones, and it reaches to infinity. Without knots, the map
    changes nothing.

    Parameters
    ----------
    knots : float64 array
        Scores, increasing.
    values : float64 array
        What each of these scores becomes, increasing.
    """

    knots: FloatArray
    values: FloatArray

    @classmethod
    def fit(cls, scores: FloatArray, weights: IntArray) -> ScoreMap:
        """Map each score to the share of the weight below it, plus half of the weight at it."""
        levels, numbers = np.unique(scores, return_inverse=True)
        mass = np.bincount(numbers, weights, minlength=len(levels))
        total = mass.sum()
        if total == 0:
            return cls(np.empty(0), np.empty(0))
        present = mass > 0
        knots, values = levels[present], ((np.cumsum(mass) - mass / 2) / total)[present]
        if knots[0] > -np.inf:
            knots, values = np.append(-np.inf, knots), np.append(0, values)
        if knots[-1] < np.inf:
            knots, values = np.append(knots, np.inf), np.append(values, 1)
        return cls(knots, values)._separate(levels[levels > -np.inf])

    def is_valid(self) -> bool:
        """Tell whether knots and values rise and have the right type and shape."""
        knots, values = self.knots, self.values
        if knots.dtype != np.float64 or values.dtype != np.float64 or knots.shape != values.shape:
            return False
        rising = bool(np.all(np.diff(knots) > 0) and np.all(np.diff(values) > 0))
        return knots.ndim == 1 and rising and len(knots) != 1

    def __call__(self, scores: FloatArray) -> FloatArray:
        if not len(self.knots):
            return scores
        segment = self._segments(scores)
        share = (float_ranks(scores) - self._knot_ranks[segment]) / self._rank_steps[segment]
        low, high = self.values[segment], self.values[segment + 1]
        mapped = np.minimum(low + share * (high - low), high)
        mapped[scores == self.knots[segment + 1]] = self.values[-1]  # of the last knot
        mapped[scores == -np.inf] = -np.inf
        return mapped

    def _separate(self, levels: FloatArray) -> ScoreMap:
        """Add knots where rounding would make some of these rising scores equal."""
        rises = np.diff(self(levels)) > 0
        if rises.all():
            return self
        segments = self._segments(levels)
        knots, values = [self.knots], [self.values]
        for segment in np.union1d(segments[:-1][~rises], segments[1:][~rises]):
            low, high = self.knots[segment], self.knots[segment + 1]
            inside = levels[(levels > low) & (levels < high)]
            knots.append(inside)
            ends = self.values[segment : segment + 2]
            values.append(np.linspace(ends[0], ends[1], len(inside) + 2)[1:-1])
        all_knots = np.concatenate(knots)
        order = np.argsort(all_knots)
        return ScoreMap(all_knots[order], np.concatenate(values)[order])

    @cached_property
    def _knot_ranks(self) -> NDArray[np.uint64]:
        return float_ranks(self.knots)

    @cached_property
    def _rank_steps(self) -> NDArray[np.uint64]:
        return self._knot_ranks[1:] - self._knot_ranks[:-1]

    def _segments(self, scores: FloatArray) -> NDArray[np.intp]:
        """Return the number of the knot below each score; for the last knot, that of the one before."""
        below = np.searchsorted(self.knots, scores, side="right") - 1
        return np.clip(below, 0, len(self.knots) - 2)


def float_ranks(scores: FloatArray) -> NDArray[np.uint64]:
    """Return the rank of each score among all floating-point numbers."""
    bits = (scores + 0.0).view(np.uint64)  # turns -0.0 into 0.0
    sign = np.uint64(1 << 63)
    return np.where(bits & sign, ~bits, bits | sign)


@POSTPROCESSINGS.register
@dataclass(frozen=True, repr=False, init=False, eq=False)
class ScoreTransform(PostProcessing):
    """Make the scores during reference events uniform on [0, 1], with a rising map for each class.

    The transform is described by Ebbers et al., "Threshold Independent Evaluation of Sound Event
    Detection Scores", ICASSP 2022. Fit it with :meth:`fit` and save it with :meth:`save`; its
    definition names the file.

    On the set that it was fitted to, the transform keeps the order of all scores, and equal scores stay
    equal. Metrics that are exact over all thresholds therefore do not change. On other scores it
    never reverses the order. ``-inf`` stays ``-inf``, and a class without reference events keeps its
    scores. The result is float64.

    Parameters
    ----------
    path : str or Path
        A file that :meth:`save` wrote.

    Attributes
    ----------
    path : str or None
        The file, or None if the transform is not saved.
    maps : mapping of str to ScoreMap
        The map of each class.
    """

    path: str | None
    maps: Mapping[str, ScoreMap] = field(init=False)

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, (str, Path)):
            raise SedscopeError(f"ScoreTransform needs the name of a file, not {path!r}.")
        self._set(_read(path), str(path))

    @classmethod
    def fit(
        cls, scores: Scores, truth: GroundTruth, *, clips: ClipChoice = None, missing: Missing = "error"
    ) -> ScoreTransform:
        """Fit a transform to scores and their ground truth.

        Parameters
        ----------
        scores : Scores
            The scores of a system.
        truth : GroundTruth
            The reference events.
        clips : optional
            The clips to use, as in :func:`sedscope.evaluate`.
        missing : {"error", "empty"}
            What to do with clips that the ground truth does not list: raise an error, or assume that
            they have no events.

        Returns
        -------
        ScoreTransform
            The transform. It is not saved yet.

        Warns
        -----
        SedscopeWarning
            If classes have no reference events.

        Examples
        --------
        >>> scores = Scores.from_arrays({"a": [[0.1], [0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1)
        >>> truth = GroundTruth.from_dict({"a": [(1, 3, "Dog")]}, durations={"a": 4})
        >>> transform = ScoreTransform.fit(scores, truth)
        >>> transform(scores)["a"].values[1:3, 0].tolist()
        [0.25, 0.75]
        """
        from ..tuning.tune import fit_score_maps

        maps = fit_score_maps(scores, truth, clips=clips, missing=missing)
        absent = [label for label, score_map in maps.items() if not len(score_map.knots)]
        if absent:
            message = (
                f"{subject(len(absent), 'class', 'has')} no reference events, so the transform does not "
                f"change their scores: {listing(absent)}."
            )
            warn(message, SedscopeWarning, stacklevel=2)
        transform = cls.__new__(cls)
        transform._set(maps, None)
        return transform

    @classmethod
    def load(cls, path: str | Path) -> ScoreTransform:
        """Read a transform from a file.

        Parameters
        ----------
        path : str or Path
            A file that :meth:`save` wrote.

        Returns
        -------
        ScoreTransform
            The transform.
        """
        return cls(path)

    def save(self, path: str | Path) -> ScoreTransform:
        """Write the transform to a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        ScoreTransform
            The same transform, with a definition that names the file.
        """
        from ..io.atomic_write import replacing

        arrays: dict[str, Any] = {"classes": np.array([*self.maps], dtype=np.str_)}
        for i, score_map in enumerate(self.maps.values()):
            arrays |= {f"knots_{i}": score_map.knots, f"values_{i}": score_map.values}
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return type(self)(path)

    def __repr__(self) -> str:
        return f"ScoreTransform({'<not saved>' if self.path is None else repr(self.path)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTransform) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def identity(self) -> str:
        return f"ScoreTransform(SHA-256 {self._digest.hex()})"

    def problems(self, classes: Sequence[str]) -> list[str]:
        unknown = [label for label in classes if label not in self.maps]
        return [f"It was not fitted to {listing(unknown)}."] if unknown else []

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        columns = [
            self.maps[label](clip.values[:, column].astype(np.float64))
            for column, label in enumerate(classes)
        ]
        return ClipScores.unchecked(np.array(columns).T, clip.ticks)

    def _set(self, maps: Mapping[str, ScoreMap], path: str | None) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "maps", maps)

    @cached_property
    def _digest(self) -> bytes:
        """A digest of all maps. Transforms are equal if their maps are."""
        digest = sha256()
        for label in sorted(self.maps):
            score_map = self.maps[label]
            for data in (label.encode(), score_map.knots.tobytes(), score_map.values.tobytes()):
                digest.update(len(data).to_bytes(8, "little") + data)
        return digest.digest()


def _read(path: str | Path) -> dict[str, ScoreMap]:
    from ..io.locations import open_input

    try:
        with open_input(Path(path)) as opened, np.load(opened, allow_pickle=False) as file:
            maps = {
                str(label): ScoreMap(file[f"knots_{i}"], file[f"values_{i}"])
                for i, label in enumerate(file["classes"])
            }
    except SedscopeError:
        raise
    except Exception as error:  # a broken file fails in many ways
        raise SedscopeError(f"{path} is not a saved ScoreTransform: {error}") from None
    if not all(score_map.is_valid() for score_map in maps.values()):
        raise SedscopeError(f"{path} is not a saved ScoreTransform: its maps are not increasing.")
    return maps


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
