"""The allocation of false alarms to classes: the best mean recall within a limit for all classes together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..counting.tally import Tally
from ..data.arrays import FloatArray, IntArray

_SAME = 1e-12  # recalls that differ by less are equal but for rounding


class Frontier:
    """The operating points of a class with the fewest false positives for their recall."""

    def __init__(self, tally: Tally, rows: NDArray[np.intp]) -> None:
        """``tally``: of the operating points to choose from. ``rows``: what they are called."""
        tp, fp = np.asarray(tally.tp), np.asarray(tally.fp)
        order = np.lexsort((rows, -tp, fp))
        best = np.maximum.accumulate(tp[order])
        kept = order[np.concatenate([[True], best[1:] > best[:-1]])] if len(order) else order
        self.rows, self.fp, self.recall = rows[kept], fp[kept], tp[kept] / max(tally.references, 1)

    def within(self, budget: int) -> Frontier:
        """Return the points with at most so many false positives."""
        return self.where(self.fp <= budget)

    def where(self, kept: NDArray[np.bool_]) -> Frontier:
        """Return some of the points."""
        chosen = object.__new__(Frontier)
        chosen.rows, chosen.fp, chosen.recall = self.rows[kept], self.fp[kept], self.recall[kept]
        return chosen


def allocate(frontiers: Mapping[str, Frontier], budget: int) -> dict[str, int] | None:
    """Return the row of each class with the best sum of recalls within so many false positives together.

    It is exact: points that cannot belong to a better allocation, by the bound of the concave hulls, are
    dropped, and all combinations of the others are compared, class by class. It is None if even the fewest
    false positives are too many.
    """
    points = [frontier.within(budget) for frontier in frontiers.values()]
    if not points or any(not len(part.rows) for part in points):
        return None
    if sum(int(part.fp[0]) for part in points) > budget:
        return None
    hulls = [_Hull(part) for part in points]
    least = _greedy(hulls, budget) - _SAME
    kept = []
    for c, part in enumerate(points):
        bound = _bound(hulls[:c] + hulls[c + 1 :], budget - part.fp)
        kept.append(part.where(part.recall + bound >= least))
    fp, recall = np.zeros(1, np.int64), np.zeros(1)
    steps: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    for c, part in enumerate(kept):
        together_fp = (fp[:, None] + part.fp).ravel()
        together = (recall[:, None] + part.recall).ravel()
        rest = _bound(hulls[c + 1 :], budget - together_fp)
        order = np.flatnonzero(together + rest >= least)
        order = order[np.lexsort((-together[order], together_fp[order]))]
        best = np.maximum.accumulate(together[order])
        order = order[np.concatenate([[True], best[1:] > best[:-1]])]
        fp, recall = together_fp[order], together[order]
        steps.append((order // len(part.rows), order % len(part.rows)))
    state = len(recall) - 1  # the last has the best sum
    rows: list[int] = []
    for part, (before, chosen) in zip(reversed(kept), reversed(steps), strict=True):
        rows.append(int(part.rows[chosen[state]]))
        state = int(before[state])
    return dict(zip(frontiers, reversed(rows), strict=True))


class _Hull:
    """The vertices of the concave hull of the recall of a class over its false positives."""

    def __init__(self, part: Frontier) -> None:
        vertices: list[int] = []
        fp, recall = part.fp.tolist(), part.recall.tolist()
        for point in range(len(fp)):
            while len(vertices) > 1:
                a, b = vertices[-2:]
                rise, run = recall[point] - recall[a], fp[point] - fp[a]
                if (recall[b] - recall[a]) * run > rise * (fp[b] - fp[a]):
                    break
                vertices.pop()
            vertices.append(point)
        self.fp, self.recall = part.fp[vertices], part.recall[vertices]


def _segments(hulls: Sequence[_Hull]) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
    """Return the steps of all hulls, the steepest first: whose they are, and their width and height."""
    owners = np.repeat(np.arange(len(hulls)), [len(hull.fp) - 1 for hull in hulls])
    widths = np.concatenate([np.zeros(0, np.int64), *(np.diff(hull.fp) for hull in hulls)])
    heights = np.concatenate([np.zeros(0), *(np.diff(hull.recall) for hull in hulls)])
    order = np.argsort(-heights / np.maximum(widths, 1), kind="stable")
    return owners[order], widths[order], heights[order]


def _bound(hulls: Sequence[_Hull], budgets: IntArray) -> FloatArray:
    """Return at most how much recall some classes reach together within each number of false positives."""
    _, widths, heights = _segments(hulls)
    most_fp = np.cumsum([sum(int(hull.fp[0]) for hull in hulls), *widths])
    most = np.cumsum([sum(float(hull.recall[0]) for hull in hulls), *heights])
    return np.where(budgets < most_fp[0], -math.inf, np.interp(budgets, most_fp, most))


def _greedy(hulls: Sequence[_Hull], budget: int) -> float:
    """Return the sum of recalls that is reached by taking the steepest steps that fit."""
    left = budget - sum(int(hull.fp[0]) for hull in hulls)
    total = sum(float(hull.recall[0]) for hull in hulls)
    stopped: set[int] = set()
    for owner, width, height in zip(*(column.tolist() for column in _segments(hulls)), strict=True):
        if owner in stopped or width > left:
            stopped.add(owner)
            continue
        left, total = left - width, total + height
    return total
