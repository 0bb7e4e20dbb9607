"""Resamples of the clips."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....errors import SedscopeError, SedscopeWarning, listing, subject
from ..inputs import durations_by_name, events_by_name

__all__ = ["bootstrap", "bootstrap_from_deltas", "confidence_interval"]

_SAMPLES = 100


@dataclass(frozen=True)
class Resamples:
    """Resamples of the clips, the same in every call.

    Each of ``n_bootstrap_samples`` resamples draws as many clips as there are, with replacement, so that
    all clips are drawn equally often in total. With ``n_folds`` or ``n_iterations``, resamples are those
    of version 0.0.4: the clips are shuffled ``n_iterations`` times and cut into ``n_folds``, and each
    resample leaves out one fold.
    """

    n_bootstrap_samples: int = _SAMPLES
    n_folds: int | None = None
    n_iterations: int | None = None

    usual_folds: ClassVar[int] = 5
    usual_iterations: ClassVar[int] = 20

    def __post_init__(self) -> None:
        for name, least in (("n_bootstrap_samples", 1), ("n_folds", 2), ("n_iterations", 1)):
            number = getattr(self, name)
            if number is not None and number < least:
                raise SedscopeError(f"{name}={number!r} must be at least {least}.")
        if self.leaves_out_folds and self.n_bootstrap_samples != _SAMPLES:
            raise SedscopeError(
                "Pass either n_bootstrap_samples, to draw clips with replacement, or n_folds and "
                "n_iterations, to leave out folds of the clips."
            )

    @property
    def leaves_out_folds(self) -> bool:
        """Whether each resample leaves out a fold of the clips."""
        return self.n_folds is not None or self.n_iterations is not None

    def weights(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return (resamples × clips) how many times each clip counts."""
        position = {name: i for i, name in enumerate(names)}
        ordered = [position[name] for name in sorted(names)]
        return self._folds(ordered) if self.leaves_out_folds else self._draws(ordered)

    def _draws(self, ordered: list[int]) -> NDArray[np.int64]:
        drawn = ordered * self.n_bootstrap_samples
        np.random.RandomState(0).shuffle(drawn)
        blocks = np.array(drawn).reshape(self.n_bootstrap_samples, len(ordered))
        return np.stack([np.bincount(block, minlength=len(ordered)) for block in blocks])

    def _folds(self, ordered: list[int]) -> NDArray[np.int64]:
        folds = self.usual_folds if self.n_folds is None else self.n_folds
        iterations = self.usual_iterations if self.n_iterations is None else self.n_iterations
        bounds = np.linspace(0, len(ordered), folds + 1).astype(int)
        weights = np.ones((iterations * folds, len(ordered)), np.int64)
        for iteration in range(iterations):
            np.random.RandomState(iteration).shuffle(ordered)
            for fold in range(folds):
                weights[iteration * folds + fold, ordered[bounds[fold] : bounds[fold + 1]]] = 0
        return weights


@dataclass(frozen=True)
class FewResamples(Resamples):
    """Resamples that leave out folds in fewer iterations, unless their number is passed."""

    usual_iterations: ClassVar[int] = 4


def bootstrap(
    eval_fn: Callable[..., Any],
    scores: Any = None,
    deltas: Any = None,
    deltas_fn: Callable[..., Any] | None = None,
    n_bootstrap_samples: int = 100,
    num_jobs: int = 1,
    deltas_fn_kwargs: Mapping[str, Any] | None = None,
    eval_fn_kwargs: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Call ``eval_fn`` for resamples of the clips, as :func:`bootstrap_from_deltas` does.

    Without ``deltas``, they are ``deltas_fn(scores=scores, **deltas_fn_kwargs)``. ``eval_fn`` gets the
    arguments of both functions.
    """
    finding = dict(deltas_fn_kwargs or {})
    if deltas is None:
        if scores is None or deltas_fn is None:
            raise SedscopeError("Pass deltas, or scores and deltas_fn to find them.")
        deltas = deltas_fn(scores=scores, num_jobs=num_jobs, **finding)
    return bootstrap_from_deltas(
        eval_fn,
        deltas,
        n_bootstrap_samples=n_bootstrap_samples,
        num_jobs=num_jobs,
        scores=None,
        **finding,
        **(eval_fn_kwargs or {}),
    )


def bootstrap_from_deltas(
    eval_fn: Callable[..., Any],
    deltas: Any,
    *,
    n_bootstrap_samples: int = 100,
    n_folds: int | None = None,
    n_iterations: int | None = None,
    num_jobs: int = 1,
    ground_truth: Any = None,
    audio_durations: Any = None,
    **eval_fn_kwargs: Any,
) -> list[Any]:
    """Call ``eval_fn(deltas=…, **eval_fn_kwargs)`` for resamples of the clips.

    ``deltas``: one table, or a list of tables for the same clips. A resample draws as many clips as there
    are, with replacement; each draw is a clip with a name of its own in ``deltas`` and, if passed, in
    ``ground_truth`` and ``audio_durations``, which ``eval_fn`` then gets as well. With ``n_folds`` or
    ``n_iterations``, each fold of the clips, in several random orders, is left out once.

    If ``eval_fn`` returns a tuple, the result has one tuple for each of its values.
    """
    resamples = Resamples(n_bootstrap_samples, n_folds, n_iterations)
    listed = isinstance(deltas, (list, tuple))
    tables: Sequence[Mapping[str, Any]] = deltas if listed else [deltas]
    others: dict[str, Mapping[str, Any]] = {}
    if ground_truth is not None:
        is_file = isinstance(ground_truth, (str, Path))
        others["ground_truth"] = events_by_name(ground_truth) if is_file else ground_truth
    if audio_durations is not None:
        others["audio_durations"] = durations_by_name(audio_durations)
    clips = sorted(tables[0])
    results = []
    for number, weights in enumerate(resamples.weights(clips)):
        drawn = np.repeat(clips, weights).tolist()
        names = {
            name if resamples.leaves_out_folds else f"{name}_bootstrap{number}_clip{draw}": name
            for draw, name in enumerate(drawn)
        }
        parts = [{new: table[name] for new, name in names.items()} for table in tables]
        of_draws = {
            argument: {new: values[name] for new, name in names.items()}
            for argument, values in others.items()
        }
        results.append(eval_fn(deltas=parts if listed else parts[0], **of_draws, **eval_fn_kwargs))
    return transpose(results) if isinstance(results[0], tuple) else results


def confidence_interval(
    bootstrapped_outputs: Sequence[Any], confidence: float = 0.9, axis: int | None = None
) -> Any:
    """Return the mean and the limits of resampled values, or of those of each class.

    Resamples without a value (NaN), such as those in which a class has no references, are left out with a
    warning.
    """
    if not 0 <= confidence <= 1:
        raise SedscopeError(f"confidence={confidence!r} must be between 0 and 1.")
    first, outputs = bootstrapped_outputs[0], bootstrapped_outputs
    if not isinstance(first, dict):
        first, outputs = {"": first}, [{"": output} for output in outputs]
    arrays = {label: np.asarray([output[label] for output in outputs], np.float64) for label in first}
    _warn_of_missing_values({label: _missing(values) for label, values in arrays.items()})
    intervals = {label: _interval(values, confidence, axis) for label, values in arrays.items()}
    return intervals if isinstance(bootstrapped_outputs[0], dict) else intervals[""]


def _interval(values: Any, confidence: float, axis: int | None) -> tuple[float, float, float]:
    defined = values[~_missing(values)]
    if not len(defined):
        return np.nan, np.nan, np.nan
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(defined, [tail, 100 - tail], axis=axis)
    return float(np.mean(defined, axis=axis)), float(low), float(high)


def _missing(values: Any) -> Any:
    """Return which resamples have a value that is not a number."""
    return np.isnan(values).reshape(len(values), -1).any(axis=1)


def _warn_of_missing_values(missing: Mapping[str, Any]) -> None:
    shares = {label: (int(lost.sum()), len(lost)) for label, lost in missing.items() if lost.any()}
    if "" in shares:
        lost, number = shares[""]
        text = f"{lost} of {subject(number, 'resample', 'has')} no value, which the interval leaves out."
    elif shares:
        classes = [f"{label} ({lost} of {number})" for label, (lost, number) in shares.items()]
        text = (
            f"{subject(len(shares), 'class', 'has')} no value in some resamples, because there are no "
            f"references among the clips that were drawn. Intervals leave them out: {listing(classes)}."
        )
    else:
        return
    warnings.warn(text, SedscopeWarning, stacklevel=3)


def transpose(results: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Turn a list of results into one tuple per value."""
    return list(zip(*results, strict=True))
