"""Score tables: pandas frames ``onset offset class…``, a row a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import SedscopeError, listing
from .ground_truth import onset_offset_times_to_indices


def create_score_dataframe(scores: ArrayLike, timestamps: ArrayLike, event_classes: Any) -> Any:
    """A score table from (frames × classes) scores and the frames + 1 boundaries in seconds."""
    import pandas

    values, edges = np.asarray(scores), np.asarray(timestamps)
    if values.ndim != 2:
        raise SedscopeError(f"scores must be frames × classes, not of shape {values.shape}")
    if edges.shape != (len(values) + 1,):
        raise SedscopeError(
            f"{len(values)} frames need {len(values) + 1} timestamps, not of shape {edges.shape}"
        )
    if not isinstance(event_classes, (list, tuple)) or len(event_classes) != values.shape[1]:
        raise SedscopeError(
            f"event_classes must be a list of {values.shape[1]} names, one a column of the scores"
        )
    wrong = [repr(label) for label in event_classes if not isinstance(label, (str, int))]
    if wrong:
        raise SedscopeError(f"event classes must be names or whole numbers, not {listing(wrong)}")
    table = np.concatenate([edges[:-1, None], edges[1:, None], values], axis=1)
    return pandas.DataFrame(table, columns=["onset", "offset", *event_classes])


def validate_score_dataframe(
    scores: Any, timestamps: ArrayLike | None = None, event_classes: Any = None
) -> tuple[NDArray[Any], list[Any]]:
    """The frame boundaries and the classes of a score table; one that is none is refused.

    ``timestamps``, ``event_classes``: what they must be, if given.
    """
    import pandas

    if not isinstance(scores, pandas.DataFrame):
        raise SedscopeError(f"a score table must be a pandas.DataFrame, not {type(scores).__name__}")
    columns = scores.columns.tolist()
    if columns[:2] != ["onset", "offset"] or len(columns) < 3:
        found = listing([repr(name) for name in columns])
        raise SedscopeError(f"expected the columns onset, offset and one per class, found {found}")
    classes = columns[2:]
    if event_classes is not None and classes != list(event_classes):
        raise SedscopeError(
            f"the classes of the score table are {listing(list(map(str, classes)))}, not "
            f"{listing(list(map(str, event_classes)))}"
        )
    onsets, offsets = scores["onset"].to_numpy(), scores["offset"].to_numpy()
    empty = np.flatnonzero(offsets == onsets)
    if len(empty):
        raise SedscopeError(f"frames of no length: {listing([str(row) for row in empty])}")
    apart = np.flatnonzero(offsets[:-1] != onsets[1:])
    if len(apart):
        places = listing([str(row + 1) for row in apart])
        raise SedscopeError(f"frames that do not begin where the one before ends: {places}")
    edges = np.append(onsets, offsets[-1:])
    if timestamps is not None and not (
        np.shape(timestamps) == edges.shape and np.allclose(edges, timestamps)
    ):
        raise SedscopeError("the boundaries of the score table are not the given timestamps")
    return edges, classes


def get_unique_thresholds(
    scores: NDArray[Any],
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Thresholds below each distinct score, midway to the next lower one; the order of the scores; and
    where in it the distinct ones begin.

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
    """The frames in which an event lies, from the first to before the last."""
    return onset_offset_times_to_indices(onset_time, offset_time, timestamps)
