"""The scores of clips as the page draws them: their ranks among the slider positions.

In a long clip, neighbouring frames of equal rank are one run. Most scores of a long recording lie below
all slider positions, so there are far fewer runs than frames, and detections stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import FloatArray
from ..data.clip_events import ClipEvents
from ..data.scores import ClipScores
from ..data.times import Ticks
from .packing import pack, pack_bytes, pack_steps
from .source import Data

FEW_FRAMES = 2000
"""A clip with so few frames is stored frame by frame."""
MAX_RUNS = 1_500_000
"""Of all clips of a page, systems and classes together; a run takes about three bytes."""


def event_ranks(
    events: ClipEvents,
    highest: ClipScores,
    columns: Mapping[int, int],
    thresholds: Mapping[int, FloatArray],
) -> Data:
    """Rank the scored events of some classes.

    ``highest``: the highest confidences at each instant. The other arguments are those of
    :func:`score_ranks`.
    """
    ranked = {}
    for k, column in columns.items():
        rows = events.columns == column
        ranks = np.searchsorted(thresholds[k][::-1], events.confidences[rows])
        ranked[k] = sorted(
            (onset, offset, rank)
            for (onset, offset), rank in zip(events.times[rows].tolist(), ranks.tolist(), strict=True)
            if rank
        )
    return {**score_ranks(highest, columns, thresholds, MAX_RUNS), "events": ranked}


def score_ranks(
    scores: ClipScores, columns: Mapping[int, int], thresholds: Mapping[int, FloatArray], max_runs: int
) -> Data:
    """Rank the scores of some classes: how many thresholds of the class lie below each.

    So detections are exact at every slider position. ``ranks`` has a byte per run of columns in base64,
    ``runs`` the number of columns of each run, and ``events`` the onset, offset and rank of events that
    are kept as they are.

    Parameters
    ----------
    scores : ClipScores
        The scores of the clip.
    columns : mapping of int to int
        The detailed classes to draw, and their columns in the scores.
    thresholds : mapping of int to FloatArray
        For each of these classes the thresholds of its slider positions, decreasing.
    max_runs : int
        With more runs, neighbouring frames share a rank, but never more than needed for 2000 columns.
    """
    ranks = {
        k: np.searchsorted(thresholds[k][::-1], scores.values[:, column].astype(np.float64)).astype(
            np.uint8
        )
        for k, column in columns.items()
    }
    if len(scores.values) <= FEW_FRAMES:
        return {
            "edges": _edges(scores.ticks, scores.ticks[-1]),
            "frames_per_column": 1,
            "ranks": {k: pack_bytes(of_class) for k, of_class in ranks.items()},
            "runs": None,
            "events": None,
        }
    most = -(-len(scores.values) // FEW_FRAMES)
    frames, runs = 1, {k: _runs(of_class) for k, of_class in ranks.items()}
    while frames < most and sum(len(starts) for starts, _ in runs.values()) > max_runs:
        frames = min(2 * frames, most)
        runs = {k: _runs(_largest(of_class, frames)) for k, of_class in ranks.items()}
    number = -(-len(scores.values) // frames)
    return {
        "edges": _edges(scores.ticks[::frames], scores.ticks[-1]),
        "frames_per_column": frames,  # a rank is the largest of so many: with more than 1, not exact
        "ranks": {k: pack_bytes(of_runs) for k, (_, of_runs) in runs.items()},
        "runs": {k: pack(np.diff(starts, append=number)) for k, (starts, _) in runs.items()},
        "events": None,
    }


def _runs(ranks: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return where each run of equal ranks starts, and its rank."""
    starts = np.flatnonzero(np.concatenate([[True], ranks[1:] != ranks[:-1]]))
    return starts, ranks[starts]


def _largest(ranks: NDArray[np.uint8], frames: int) -> NDArray[np.uint8]:
    """Return the largest rank of each group of frames."""
    return np.maximum.reduceat(ranks, np.arange(0, len(ranks), frames))


def _edges(ticks: Ticks, end: int) -> tuple[int, float, int, int] | str:
    """Pack boundaries: the first, the length and number of columns and the last, or all of them."""
    edges = ticks if ticks[-1] == end else np.append(ticks, end)
    columns, regular = len(edges) - 1, edges[:-1]  # the last column may be shorter
    mean = (int(regular[-1]) - int(regular[0])) / (columns - 1) if columns > 1 else 0.0
    # where the length is no whole number of microseconds, the mean of rounded boundaries is a little off
    simple = (float(Fraction(mean).limit_denominator(limit)) for limit in (10, 100, 1000))
    for length in (mean, *simple):
        if np.array_equal(np.floor(edges[0] + np.arange(columns) * length + 0.5), regular):
            return int(edges[0]), length, columns, int(edges[-1])
    return pack_steps(edges)
