"""Calibration: maps from the scores of each class to the probability to be right, cross-validated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..criteria import Criterion, Segment, Window
from ..data.arrays import FloatArray, IntArray
from ..data.choices import ClipChoice, Coverage, Missing, check_choice
from ..data.probability_fits import IsotonicFit, LogisticFit, isotonic_fit, logistic_fit
from ..engines.run import Run
from ..errors import SedscopeError, counted
from ..evaluation.evaluate import deltas
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..metrics.calibration import Items
from ..postprocessing import IsotonicMap, LogisticMap, PostProcessing
from ..results.text import Form, Line, Part, Records, Table
from ..tabular import TabularResult
from .operating_points import OperatingPoints

if TYPE_CHECKING:
    from typing_extensions import Unpack

CalibrationMethod: TypeAlias = Literal["auto", "logistic", "isotonic"]
_FITS: Mapping[str, Callable[..., LogisticFit | IsotonicFit]] = {
    "logistic": logistic_fit,
    "isotonic": isotonic_fit,
}
_SHRINKAGES = (1000.0, 100.0, 10.0, 1.0)
"""For how many items of a class the curve of all classes may stand. Of equally good ones, the first."""
_LEVELS = 200  # to which the scores of a class are reduced: curves change less than their errors
_FLATTEST = 1e-3  # slope of a logistic map, over the standard deviation of the scores


class ClassItems(NamedTuple):
    """The items of one class: segments, windows or detections.

    Attributes
    ----------
    scores : array of float
        Finite scores.
    right : array of float
        1 for each item that is right, 0 for those that are wrong, or a share between.
    weights : array of float
        How many items each row stands for.
    folds : array of int
        The fold of each row.
    """

    scores: FloatArray
    right: FloatArray
    weights: FloatArray
    folds: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(TabularResult):
    """A map from scores to probabilities for each class. Tables have a row per class.

    Attributes
    ----------
    points : OperatingPoints
        The maps as post-processings, without thresholds. Save it, and give the file to ``--postprocess``.
    method : str
        What was fitted: ``logistic`` or ``isotonic``.
    shrinkages : mapping of str to float
        For how many items of each class the curve of all classes stands.
    items : mapping of str to float
        The items of each class.
    brier_before, brier_after : mapping of str to float
        The Brier score of the scores as they are, and of the probabilities on held-out folds. NaN without
        items, and for scores that cannot be probabilities.
    """

    points: OperatingPoints
    method: str
    shrinkages: Mapping[str, float]
    items: Mapping[str, float]
    brier_before: Mapping[str, float]
    brier_after: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<Calibration of {counted(len(self.items), 'class')}: {self.method}>"

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        rows = [
            [str(label), f"{items:g}", f"{shrinkage:g}", *(f"{value:.{digits}f}" for value in briers)]
            for label, items, shrinkage, *briers in self._rows()
        ]
        header = ["class", "items", "drawn by", "Brier score before", "after"]
        notes: list[Line] = [
            f"{self.method} maps",
            "drawn by: for how many items the curve of all classes stands",
            "after: on held-out folds",
        ]
        return [Table(header, rows, by_class=True), notes]

    def _records(self) -> Records:
        columns: dict[str, type] = {"class": str, "items": float, "shrinkage": float}
        return {**columns, "brier_before": float, "brier_after": float}, self._rows()

    def _rows(self) -> list[tuple[str, float, float, float, float]]:
        briers = (self.brier_before, self.brier_after)
        return [
            (label, items, self.shrinkages[label], briers[0][label], briers[1][label])
            for label, items in self.items.items()
        ]


def calibrate(
    scores: SystemLike,
    truth: TruthLike,
    criterion: Criterion | None = None,
    *,
    method: CalibrationMethod = "auto",
    folds: int = 5,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Calibration:
    """Fit a map from the scores of each class to the probability to be right.

    The maps rise, so metrics over all thresholds stay the same, and as post-processings they can be saved.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Criterion, optional
        What is right: see :class:`~sedscope.metrics.CalibrationError`. By default ``Segment(1)``, and
        ``Window()`` for events that are kept as they are.
    method : {"auto", "logistic", "isotonic"}, default "auto"
        The curve. ``"auto"`` takes the one with the lower Brier score on held-out folds. They also choose how
        much the curve of a class is drawn towards that of all classes.
    folds : int, default 5
        How many folds of clips.
    classes, clips, missing, coverage
        What to fit to; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> import sedscope as sed
    >>> from sedscope.metrics import CalibrationError
    >>> from sedscope.tuning import calibrate
    >>> truth = sed.simulate.ground_truth(60, classes=2)
    >>> scores = sed.simulate.scores(truth)
    >>> calibration = calibrate(scores, truth)
    >>> probabilities = calibration.points.process(scores)
    >>> ece = {"ece": CalibrationError(sed.Segment(1))}
    >>> before, after = (sed.evaluate(of, truth, ece)["ece"].value for of in (scores, probabilities))
    >>> after < before
    True
    """
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    judge = criterion or (Window() if scores.holds_events else Segment(1.0))
    choice: dict[str, Any] = {"classes": classes, "clips": clips, "missing": missing}
    table = deltas(scores, truth, judge, **choice, coverage=coverage, run=run)
    if not 2 <= folds <= len(table.clips):
        raise SedscopeError(f"folds={folds!r} must be at least 2, and at most the number of clips.")
    fold_of = np.random.default_rng(0).permutation(np.arange(len(table.clips)) % folds)
    parts: dict[str, list[ClassItems]] = {label: [] for label in table.classes}
    for fold in range(folds):
        counts = table.of_clips(fold_of == fold).counts()
        for label in table.classes:
            items = Items.of(counts[label])
            total = (items.right + items.wrong).astype(np.float64)
            used = (total > 0) & np.isfinite(items.scores)
            right, weights = items.right[used] / total[used], total[used]
            rows = np.full(len(weights), fold)
            parts[label].append(ClassItems(items.scores[used], right, weights, rows))
    joined = {
        label: ClassItems(*(np.concatenate(column) for column in zip(*of_class, strict=True)))
        for label, of_class in parts.items()
    }
    return calibrate_items(joined, method, {"criterion": repr(judge)})


def items_of_answers(
    clips: Sequence[str],
    labels: Sequence[str],
    scores: FloatArray,
    answers: NDArray[np.int8],
    weights: FloatArray,
    *,
    classes: Sequence[str],
    folds: int = 5,
) -> dict[str, ClassItems]:
    """Return the items of reviewed detections: those with a score and an answer.

    The weights of a class are scaled so that they are 1 on average: they say how the items compare, not how
    many were reviewed.

    Parameters
    ----------
    clips, labels, scores, answers, weights : sequences
        A row per detection. An answer is 1, 0, or negative if there is none.
    classes : sequence of str
        All classes of the system.
    folds : int, default 5
        How many folds of clips.

    Returns
    -------
    dict of str to ClassItems
    """
    names = sorted({*clips})
    shuffled = np.random.default_rng(0).permutation(np.arange(len(names)) % folds)
    fold_of = dict(zip(names, shuffled.tolist(), strict=True))
    rows_of = np.array([fold_of[clip] for clip in clips], np.int64)
    used = (answers >= 0) & np.isfinite(scores) & (weights > 0)
    items = {}
    for label in classes:
        rows = used & (np.array(labels, dtype=object) == label)
        mean = weights[rows].mean() if rows.any() else 1.0
        right = answers[rows].astype(np.float64)
        items[label] = ClassItems(scores[rows], right, weights[rows] / mean, rows_of[rows])
    return items


def calibrate_items(
    items: Mapping[str, ClassItems], method: CalibrationMethod, provenance: Mapping[str, str]
) -> Calibration:
    """Fit the maps to items, whatever they come from.

    Parameters
    ----------
    items : mapping of str to ClassItems
        The items of each class.
    method : {"auto", "logistic", "isotonic"}
        The curve.
    provenance : mapping of str to str
        What the file of the maps says of the data.

    Returns
    -------
    Calibration
    """
    check_choice(CalibrationMethod, method=method)
    if not any(len(of_class.scores) for of_class in items.values()):
        raise SedscopeError("There is nothing to calibrate: no class has an item with a score.")
    levels = {label: _Levels.of(of_class) for label, of_class in items.items()}
    pooled = _Levels.of(
        ClassItems(*(np.concatenate(column) for column in zip(*items.values(), strict=True)))
    )
    methods = [*_FITS] if method == "auto" else [method]
    errors: dict[str, dict[str, FloatArray]] = {}
    for name in methods:
        of_folds = [_fitted(name, pooled, fold) for fold in range(pooled.number)]
        errors[name] = {
            label: np.array([of_class.held_out(name, items, of_folds) for items in _SHRINKAGES])
            for label, of_class in levels.items()
        }
    best = min(errors, key=lambda name: sum(float(of.min()) for of in errors[name].values()))
    common = _fitted(best, pooled)
    chosen = {label: _SHRINKAGES[int(of.argmin())] for label, of in errors[best].items()}
    maps = {
        label: _as_map(of_class.fit(best, chosen[label], common), of_class.scores)
        for label, of_class in levels.items()
    }
    numbers = {label: float(of_class.weights.sum()) for label, of_class in levels.items()}
    return Calibration(
        OperatingPoints({}, {"calibration": best, **provenance}, postprocessing=maps),
        method=best,
        shrinkages=chosen,
        items=numbers,
        brier_before={label: _brier(of_class) for label, of_class in items.items()},
        brier_after={
            label: float(of.min()) / numbers[label] if numbers[label] else np.nan
            for label, of in errors[best].items()
        },
    )


@dataclass(frozen=True, eq=False)
class _Levels:
    """The items of a class at few scores, by fold."""

    scores: FloatArray
    weights: FloatArray
    """(folds × scores) how many items."""
    right: FloatArray
    """(folds × scores) how many are right."""

    @property
    def number(self) -> int:
        """The number of folds."""
        return len(self.weights)

    @classmethod
    def of(cls, items: ClassItems, folds: int = 5) -> _Levels:
        """Join scores that lie next to each other, to levels of about as many items each."""
        order = np.argsort(items.scores, kind="stable")
        scores, right, weights = (column[order] for column in items[:3])
        folds = max(folds, int(items.folds.max(initial=0)) + 1)
        starts = np.flatnonzero(np.diff(scores, prepend=np.nan) != 0)
        mass = np.add.reduceat(weights, starts) if len(starts) else weights
        before = np.cumsum(mass) - mass
        level = np.floor(before / (mass.sum() or 1) * _LEVELS).astype(np.int64)
        level = np.unique(level, return_inverse=True)[1].reshape(-1)
        level = np.repeat(level, np.diff(np.append(starts, len(scores))))
        number = int(level.max(initial=-1)) + 1
        cell = items.folds[order] * number + level
        shape = folds, number
        totals, hits = (
            np.bincount(cell, column, minlength=folds * number).astype(np.float64).reshape(shape)
            for column in (weights, weights * right)
        )
        means = np.bincount(level, weights * scores, minlength=number) / (totals.sum(axis=0) + 1e-300)
        return cls(means, totals, hits)

    def fit(
        self, method: str, shrinkage: float, common: LogisticFit | IsotonicFit, fold: int = -1
    ) -> LogisticFit | IsotonicFit:
        """Fit a curve to all folds but one, drawn towards the curve of all classes."""
        others = np.arange(self.number) != fold
        weights, right = self.weights[others].sum(axis=0), self.right[others].sum(axis=0)
        total = weights.sum()
        if not total:
            return common
        prior = shrinkage * weights / total
        mass = weights + prior
        used = mass > 0
        shares = (right + prior * common(self.scores))[used] / mass[used]
        return _FITS[method](self.scores[used], np.clip(shares, 0, 1), mass[used])

    def held_out(
        self, method: str, shrinkage: float, common: Sequence[LogisticFit | IsotonicFit]
    ) -> float:
        """Return the sum of squared errors of held-out folds. ``common``: of all classes, by fold."""
        error = 0.0
        for fold in range(self.number):
            weights, right = self.weights[fold], self.right[fold]
            if weights.any():
                shares = self.fit(method, shrinkage, common[fold], fold)(self.scores)
                error += float(right @ (1 - shares) ** 2 + (weights - right) @ shares**2)
        return error


def _fitted(method: str, levels: _Levels, fold: int = -1) -> LogisticFit | IsotonicFit:
    """Fit the curve of all classes to all folds but one."""
    others = np.arange(levels.number) != fold
    weights, right = levels.weights[others].sum(axis=0), levels.right[others].sum(axis=0)
    used = weights > 0
    if not used.any():
        raise SedscopeError("All items are in one fold of clips. There must be items in several.")
    return _FITS[method](levels.scores[used], right[used] / weights[used], weights[used])


def _as_map(fit: LogisticFit | IsotonicFit, scores: FloatArray) -> PostProcessing:
    if isinstance(fit, IsotonicFit):
        return IsotonicMap(tuple(fit.scores.tolist()), tuple(fit.values.tolist()))
    spread = float(scores.std()) if len(scores) else 0.0
    slope = max(fit.slope, _FLATTEST / (spread or 1.0))
    centre = float(scores.mean()) if len(scores) else 0.0
    return LogisticMap(slope, fit.intercept - (slope - fit.slope) * centre)


def _brier(items: ClassItems) -> float:
    """Return the Brier score of the scores as they are; NaN if they cannot be probabilities."""
    scores, right, weights, _ = items
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return np.nan
    return float(np.average(right * (1 - scores) ** 2 + (1 - right) * scores**2, weights=weights))
