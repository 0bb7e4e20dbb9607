"""Score tables: pandas frames with the columns ``onset offset class…`` and one row per frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import SedscopeError, listing
from .ground_truth import onset_offset_times_to_indices


def create_score_dataframe(scores: ArrayLike, timestamps: ArrayLike, event_classes: Any) -> Any:
    """Make a score table from (frames × classes) scores and frames + 1 boundaries in seconds."""
    import pandas

    values, edges = np.asarray(scores), np.asarray(timestamps)
    if values.ndim != 2:
        raise SedscopeError(f"Scores must have the shape frames × classes, not {values.shape}.")
    if edges.shape != (len(values) + 1,):
        raise SedscopeError(
            f"{len(values)} frames need {len(values) + 1} timestamps, not shape {edges.shape}."
        )
    if not isinstance(event_classes, (list, tuple)) or len(event_classes) != values.shape[1]:
        raise SedscopeError(
            f"event_classes must be a list of {values.shape[1]} names, one per column of the scores."
        )
    wrong = [repr(label) for label in event_classes if not isinstance(label, (str, int))]
    if wrong:
        raise SedscopeError(f"Event classes must be names or whole numbers, not {listing(wrong)}.")
    table = np.concatenate([edges[:-1, None], edges[1:, None], values], axis=1)
    return pandas.DataFrame(table, columns=["onset", "offset", *event_classes])


def validate_score_dataframe(
    scores: Any, timestamps: ArrayLike | None = None, event_classes: Any = None
) -> tuple[NDArray[Any], list[Any]]:
    """Check a score table, and return its frame boundaries and classes.

    ``timestamps``, ``event_classes``: what these must be, if passed.
    """
    import pandas

    if not isinstance(scores, pandas.DataFrame):
        raise SedscopeError(f"A score table must be a pandas.DataFrame, not {type(scores).__name__}.")
    columns = scores.columns.tolist()
    if columns[:2] != ["onset", "offset"] or len(columns) < 3:
        names = listing([repr(name) for name in columns])
        raise SedscopeError(f"The columns must be onset, offset and one per class, not {names}.")
    classes = columns[2:]
    if event_classes is not None and classes != list(event_classes):
        raise SedscopeError(
            f"The classes of the score table are {listing(list(map(str, classes)))}, not "
            f"{listing(list(map(str, event_classes)))}."
        )
    onsets, offsets = scores["onset"].to_numpy(), scores["offset"].to_numpy()
    empty = np.flatnonzero(offsets == onsets)
    if len(empty):
        raise SedscopeError(f"Some frames have no length: {listing([str(row) for row in empty])}.")
    apart = np.flatnonzero(offsets[:-1] != onsets[1:])
    if len(apart):
        frames = listing([str(row + 1) for row in apart])
        raise SedscopeError(f"Some frames do not begin where the one before ends: {frames}.")
    edges = np.append(onsets, offsets[-1:])
    if timestamps is not None and not (
        np.shape(timestamps) == edges.shape and np.allclose(edges, timestamps)
    ):
        raise SedscopeError("The boundaries of the score table differ from the timestamps.")
    return edges, classes


def get_unique_thresholds(
    scores: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Return a threshold below each distinct score, the order of the scores, and the first index of
    each distinct score in this order.

    A threshold lies midway between a score and the next lower one.

    >>> thresholds, order, first = get_unique_thresholds(np.array([1, 3, 2, 3]))
    >>> thresholds.tolist(), order.tolist(), first.tolist()
    ([-inf, 1.5, 2.5], [0, 2, 1, 3], [0, 1, 2])
    """
    order = np.argsort(scores, kind="stable")
    distinct, first = np.unique(np.asarray(scores)[order], return_index=True)
    thresholds = np.append(-np.inf, (distinct[1:] + distinct[:-1]) / 2)
    return thresholds, order, first


def onset_offset_times_to_score_indices(
    onset_time: float, offset_time: float, timestamps: ArrayLike
) -> tuple[int, int]:
    """Return the first frame of an event, and the frame after its last one."""
    return onset_offset_times_to_indices(onset_time, offset_time, timestamps)
