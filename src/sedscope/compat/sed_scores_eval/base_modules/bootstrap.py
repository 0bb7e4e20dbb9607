"""Resamples of the clips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....errors import SedscopeError
from ..arguments import transpose
from ..resamples import Resamples


def bootstrap_from_deltas(
    metric_fn: Callable[..., Any],
    deltas: Any,
    *,
    n_folds: int = 5,
    n_iterations: int = 20,
    n_bootstrap_samples: int | None = None,
    num_jobs: int = 1,
    **metric_fn_kwargs: Any,
) -> list[Any]:
    """Call ``metric_fn(deltas=…, **metric_fn_kwargs)`` for resamples of the clips.

    Each fold of the clips, in several random orders, is left out once. ``deltas``: one table, or a list
    of tables for the same clips. To draw clips more than once, use the functions named
    ``bootstrapped_…``.
    """
    if n_bootstrap_samples is not None:
        raise SedscopeError(
            "n_bootstrap_samples is not supported here. Call a function named bootstrapped_…."
        )
    tables: Sequence[Mapping[str, Any]] = deltas if isinstance(deltas, (list, tuple)) else [deltas]
    names = sorted(tables[0])
    results = []
    for row in Resamples(n_folds, n_iterations).weights(names):
        kept = [name for name, weight in zip(names, row, strict=True) if weight]
        parts = [{name: table[name] for name in kept} for table in tables]
        part = parts if isinstance(deltas, (list, tuple)) else parts[0]
        results.append(metric_fn(deltas=part, **metric_fn_kwargs))
    return transpose(results)


def confidence_interval(
    bootstrapped_outputs: Sequence[Any], confidence: float = 0.9, axis: int | None = None
) -> Any:
    """Return the mean and the limits of resampled values, or of those of each class."""
    if isinstance(bootstrapped_outputs[0], dict):
        return {
            label: confidence_interval(
                [output[label] for output in bootstrapped_outputs], confidence, axis
            )
            for label in bootstrapped_outputs[0]
        }
    tail = (1 - confidence) / 2 * 100
    low, high = np.percentile(bootstrapped_outputs, [tail, 100 - tail], axis=axis)
    return float(np.mean(bootstrapped_outputs, axis=axis)), float(low), float(high)
