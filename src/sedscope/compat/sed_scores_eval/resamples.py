"""Resamples of the clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Resamples:
    """Resamples that leave out one fold of the clips each.

    The clips are shuffled ``n_iterations`` times and cut into ``n_folds``. With
    ``n_bootstrap_samples``, each resample draws as many clips as there are, with replacement, so that
    all clips are drawn equally often in total. The draws are the same in every call.
    """

    n_folds: int = 5
    n_iterations: int = 20
    n_bootstrap_samples: int | None = None

    def weights(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return (resamples × clips) how many times each clip counts."""
        position = {name: i for i, name in enumerate(names)}
        ordered = sorted(names)
        if self.n_bootstrap_samples is not None:
            drawn = [position[name] for name in ordered] * self.n_bootstrap_samples
            np.random.RandomState(0).shuffle(drawn)
            blocks = np.array(drawn).reshape(self.n_bootstrap_samples, len(names))
            return np.stack([np.bincount(block, minlength=len(names)) for block in blocks])
        bounds = np.linspace(0, len(names), self.n_folds + 1).astype(int)
        weights = np.ones((self.n_iterations * self.n_folds, len(names)), np.int64)
        for iteration in range(self.n_iterations):
            np.random.RandomState(iteration).shuffle(ordered)
            for fold in range(self.n_folds):
                left_out = [position[name] for name in ordered[bounds[fold] : bounds[fold + 1]]]
                weights[iteration * self.n_folds + fold, left_out] = 0
        return weights
