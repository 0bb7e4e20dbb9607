"""Resamples of the clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError

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
