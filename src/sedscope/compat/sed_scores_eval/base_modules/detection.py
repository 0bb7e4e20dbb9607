"""Events from scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....data.scores import ClipScores, refuse_nans
from ....errors import SedscopeError, listing
from .scores import validate_score_dataframe


def scores_to_event_list(scores: Any, thresholds: Any, event_classes: list[str] | None = None) -> Any:
    """Return the events (onset, offset, label) where ``score > threshold``, in order.

    ``scores``: one score table, or a mapping from clips to score tables. ``thresholds``: one for all
    classes, one for each class in the order of the columns, or one by label.
    """
    if hasattr(scores, "keys") and not hasattr(scores, "columns"):
        return {
            name: _events(scores[name], thresholds, event_classes, name)
            for name in sorted(scores.keys())
        }
    return _events(scores, thresholds, event_classes, "the score table")


def _events(
    table: Any, thresholds: Any, event_classes: list[str] | None, name: str
) -> list[tuple[float, float, str]]:
    edges, classes = validate_score_dataframe(table, event_classes=event_classes)
    values = table[classes].to_numpy()
    refuse_nans(name, ClipScores.unchecked(values, np.empty(0, np.int64)), classes)
    active = np.zeros((len(values) + 2, len(classes)), np.int8)
    active[1:-1] = values > _limits(thresholds, classes)
    steps = np.diff(active, axis=0).T
    label, first = np.nonzero(steps == 1)
    _, last = np.nonzero(steps == -1)
    onsets, offsets = edges[first].tolist(), edges[last].tolist()
    return sorted(zip(onsets, offsets, [classes[c] for c in label], strict=True))


def _limits(thresholds: Any, classes: list[str]) -> Any:
    if not isinstance(thresholds, Mapping):
        return np.asarray(thresholds)
    missing = [label for label in classes if label not in thresholds]
    if missing:
        raise SedscopeError(f"There is no threshold for {listing(missing)}.")
    return np.array([thresholds[label] for label in classes])


def onset_deltas(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return how the number of events changes when the threshold falls below each frame's score.

    >>> onset_deltas(np.array([1, 2, 1, 3, 3])).tolist()
    [0, 1, -1, 1, 0]
    """
    around = np.concatenate([[-np.inf], scores, [-np.inf]])
    begins, merges = scores > around[:-2], around[2:] > scores
    return (begins.astype(np.int64) - merges) * (scores > -np.inf)


def onset_offset_curves(
    scores: NDArray[Any], timestamps: NDArray[Any], change_point_candidates: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Return the events at each distinct score, or at some candidates.

    The result is the scores, and (scores × events) onsets and offsets. Where a score has fewer events
    than others, the remaining ones are 0. At ``scores[i]``, frames with ``score >= scores[i]`` are
    active.

    >>> scores, onsets, offsets = onset_offset_curves(np.array([2, 1, 2]), np.array([0, 1, 2, 3]))
    >>> scores.tolist(), onsets.tolist(), offsets.tolist()
    ([1, 2], [[0.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [1.0, 3.0]])
    """
    values, edges = np.asarray(scores), np.asarray(timestamps, np.float64)
    if values.ndim != 1 or edges.shape != (len(values) + 1,):
        raise SedscopeError(
            "Pass the scores of one class, and one more timestamp than there are scores."
        )
    at = np.unique(values) if change_point_candidates is None else change_point_candidates
    active = np.zeros((len(at), len(values) + 2), np.int8)
    active[:, 1:-1] = values >= at[:, None]
    steps = np.diff(active, axis=1)
    row, first = np.nonzero(steps == 1)
    _, last = np.nonzero(steps == -1)
    number = np.bincount(row, minlength=len(at))
    column = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
    onsets, offsets = np.zeros((2, len(at), number.max(initial=0)))
    onsets[row, column], offsets[row, column] = edges[first], edges[last]
    return at, onsets, offsets
