"""Scores that are uniform where the class is present, in the same order as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from ..counting.clip_reader import RecordingOpened, read_clips
from ..counting.threads import thread_count
from ..data.alignment import ClipChoice, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.recordings import needs_whole
from ..data.scores import ClipScores, ScoreArray, Scores, refuse_nans
from ..errors import SedscopeError, SedscopeWarning, counted, listing, raise_together
from ..io.atomic_write import replacing
from .postprocessing import PostProcessing

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, init=False, eq=False)
class ScoreTransform(PostProcessing):
    """The monotone map per class that makes the scores during reference events uniform on [0, 1] (Ebbers
    et al., "Threshold Independent Evaluation of Sound Event Detection Scores", ICASSP 2022).

    It is fitted to scores and ground truth, saved, and read from the file that its definition names. On
    the set that it was fitted to the order of all scores stays the same, equal ones stay equal, and so
    does everything that is exact over all thresholds. On other scores it never turns the order round.
    ``-inf`` stays ``-inf``; a class without reference events keeps its scores. The result is float64.
    """

    path: str | None
    """The file; None if it is not saved."""
    maps: Mapping[str, ScoreMap] = field(init=False)
    """The map of each class."""

    def __init__(self, path: str | Path) -> None:
        """Read a transform from the file that :meth:`save` wrote."""
        if not isinstance(path, (str, Path)):
            raise SedscopeError(f"ScoreTransform needs the name of a file, not {path!r}")
        self._hold(_read(path), str(path))

    @classmethod
    def fit(
        cls,
        scores: Scores,
        truth: GroundTruth,
        *,
        clips: ClipChoice = None,
        missing: Missing = "error",
    ) -> ScoreTransform:
        """Fit to scores with their ground truth; ``clips`` and ``missing`` as in ``evaluate``.

        >>> scores = Scores.from_arrays({"a": [[0.1], [0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1)
        >>> truth = GroundTruth.from_dict({"a": [(1, 3, "Dog")]}, durations={"a": 4})
        >>> transform = ScoreTransform.fit(scores, truth)
        >>> transform(scores)["a"].values[1:3, 0].tolist()
        [0.25, 0.75]
        """
        alignment = align(scores, truth, clips=clips, missing=missing)
        values: list[ScoreArray] = []
        weights: list[NDArray[np.int64]] = []
        for loaded in read_clips(scores, alignment.clips, thread_count(None)):
            if isinstance(loaded, RecordingOpened):
                raise needs_whole(alignment.clips[loaded.number])
            raise_together(loaded.failures)
            for number, clip in enumerate(loaded.scores, loaded.first):
                refuse_nans(alignment.clips[number], clip, scores.classes)
                events = slice(*alignment.starts[number : number + 2])
                values.append(clip.values)
                weights.append(_reference_time(clip, alignment.events[events], alignment.labels[events]))
        maps: dict[str, ScoreMap] = {}
        for column, label in enumerate(scores.classes):
            of_class = np.concatenate([array[:, column].astype(np.float64) for array in values])
            maps[label] = ScoreMap.fit(of_class, np.concatenate([array[:, column] for array in weights]))
        absent = [label for label, of_class in maps.items() if not len(of_class.knots)]
        if absent:
            without = f"{counted(len(absent), 'class')} without reference events"
            said = f"ScoreTransform: {without}, left as they are: {listing(absent)}"
            warn(said, SedscopeWarning, stacklevel=2)
        made = cls.__new__(cls)
        made._hold(maps, None)
        return made

    @classmethod
    def load(cls, path: str | Path) -> ScoreTransform:
        """Read a transform from a file."""
        return cls(path)

    def save(self, path: str | Path) -> ScoreTransform:
        """Write the transform to a file, and give the one whose definition names it."""
        arrays: dict[str, Any] = {"classes": np.array([*self.maps], dtype=np.str_)}
        for i, of_class in enumerate(self.maps.values()):
            arrays[f"knots_{i}"], arrays[f"values_{i}"] = of_class.knots, of_class.values
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
        return type(self)(path)

    def __repr__(self) -> str:
        return f"ScoreTransform({'<not saved>' if self.path is None else repr(self.path)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTransform) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def problems(self, classes: Sequence[str]) -> list[str]:
        """See :class:`PostProcessing`."""
        unknown = [label for label in classes if label not in self.maps]
        return [f"not fitted to {listing(unknown)}"] if unknown else []

    def process(self, clip: ClipScores, classes: Sequence[str]) -> ClipScores:
        """See :class:`PostProcessing`."""
        columns = [
            self.maps[label](clip.values[:, column].astype(np.float64))
            for column, label in enumerate(classes)
        ]
        return ClipScores.unchecked(np.array(columns).T, clip.ticks)

    def _hold(self, maps: Mapping[str, ScoreMap], path: str | None) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "maps", maps)

    @cached_property
    def _digest(self) -> bytes:
        """What tells transforms with different maps apart."""
        digest = sha256()
        for label in sorted(self.maps):
            of_class = self.maps[label]
            for part in (label.encode(), of_class.knots.tobytes(), of_class.values.tobytes()):
                digest.update(len(part).to_bytes(8, "little") + part)
        return digest.digest()


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """A rising map of one class: ``values`` at the ``knots``; without any, all stays as it is.

    Between two knots it is linear in the number of floating-point numbers from one to the score, which
    tells small scores apart as well as large ones, and reaches to infinity.
    """

    knots: Floats
    values: Floats

    @classmethod
    def fit(cls, scores: Floats, weights: NDArray[np.int64]) -> ScoreMap:
        """The value is the part of the weight with lower scores, and half of that with equal ones."""
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
        return cls(knots, values)._separating(levels[levels > -np.inf])

    def _separating(self, levels: Floats) -> ScoreMap:
        """With more knots where rounding would make some of these rising scores equal."""
        rises = np.diff(self(levels)) > 0
        if rises.all():
            return self
        segments = self._segments(levels)
        knots, values = [self.knots], [self.values]
        for segment in np.union1d(segments[:-1][~rises], segments[1:][~rises]):
            low, high = self.knots[segment], self.knots[segment + 1]
            inside = levels[(levels > low) & (levels < high)]
            knots.append(inside)
            between = self.values[segment : segment + 2]
            values.append(np.linspace(between[0], between[1], len(inside) + 2)[1:-1])
        all_knots = np.concatenate(knots)
        order = np.argsort(all_knots)
        return ScoreMap(all_knots[order], np.concatenate(values)[order])

    @cached_property
    def _knot_places(self) -> NDArray[np.uint64]:
        return _places(self.knots)

    @cached_property
    def _steps(self) -> NDArray[np.uint64]:
        return self._knot_places[1:] - self._knot_places[:-1]

    def _segments(self, scores: Floats) -> NDArray[np.intp]:
        """The knot below each score; the one before the last for the last."""
        below = np.searchsorted(self.knots, scores, side="right") - 1
        return np.clip(below, 0, len(self.knots) - 2)

    def __call__(self, scores: Floats) -> Floats:
        if not len(self.knots):
            return scores
        segment = self._segments(scores)
        share = (_places(scores) - self._knot_places[segment]) / self._steps[segment]
        low, high = self.values[segment], self.values[segment + 1]
        found = np.minimum(low + share * (high - low), high)
        found[scores == self.knots[segment + 1]] = self.values[-1]  # of the last knot
        found[scores == -np.inf] = -np.inf
        return found


def _places(scores: Floats) -> NDArray[np.uint64]:
    """The place of each score among all floating-point numbers."""
    bits = (scores + 0.0).view(np.uint64)  # one zero
    top = np.uint64(1 << 63)
    return np.where(bits & top, ~bits, bits | top)


def _reference_time(
    clip: ClipScores, events: NDArray[np.int64], labels: NDArray[np.int32]
) -> NDArray[np.int64]:
    """(frames × classes) the time that frames share with references."""
    shared = np.zeros(clip.values.shape, np.int64)
    for (onset, offset), label in zip(events.tolist(), labels.tolist(), strict=True):
        ends = np.clip(clip.ticks, onset, offset)
        shared[:, label] += ends[1:] - ends[:-1]
    return shared


def _read(path: str | Path) -> dict[str, ScoreMap]:
    try:
        with np.load(path, allow_pickle=False) as file:
            maps = {
                str(label): ScoreMap(file[f"knots_{i}"], file[f"values_{i}"])
                for i, label in enumerate(file["classes"])
            }
    except FileNotFoundError:
        raise SedscopeError(f"{path}: there is no such file") from None
    except Exception as error:  # a broken file fails in many ways
        raise SedscopeError(f"{path} is not a saved ScoreTransform: {error}") from None
    if not all(map(_is_rising, maps.values())):
        raise SedscopeError(f"{path} is not a saved ScoreTransform: its maps do not rise")
    return maps


def _is_rising(of_class: ScoreMap) -> bool:
    knots, values = of_class.knots, of_class.values
    if knots.dtype != np.float64 or values.dtype != np.float64 or knots.shape != values.shape:
        return False
    rising = bool(np.all(np.diff(knots) > 0) and np.all(np.diff(values) > 0))
    return knots.ndim == 1 and rising and len(knots) != 1
