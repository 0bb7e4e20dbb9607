"""How results of sed_scores_eval and of what is offered in its place are compared.

What is known to differ (``docs/differences.md``) is put on equal terms: operating points of a curve at
which nothing changes are left out before curves are compared, and best operating points are compared by
their value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Leaves = Mapping[str, NDArray[Any]]
"""A result, its values by their places in it."""


def same(ours: Leaves, theirs: Leaves) -> None:
    """Everything is the same."""
    assert ours.keys() == theirs.keys()
    for path, column in theirs.items():
        equal(ours[path], column, path)


def equal(ours: NDArray[Any], theirs: NDArray[Any], what: str) -> None:
    assert ours.shape == theirs.shape, what
    if theirs.dtype.kind in "OUS":
        assert ours.tolist() == theirs.tolist(), what
    else:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9, err_msg=what)


def same_curves(
    scores_at: str, order: tuple[str, str] | None = None
) -> Callable[[Leaves, Leaves], None]:
    """Tuples with scores at one place: the same operating points, but for those where nothing changes.

    ``order``: the places of the rates by which ours are to be ordered, unless by score.
    """

    def compare(ours: Leaves, theirs: Leaves) -> None:
        for group, (our_columns, their_columns) in groups(ours, theirs).items():
            first, second = order or (scores_at, scores_at)
            rows = np.lexsort((our_columns[second], our_columns[first]))
            for place in (first, second):
                column = our_columns[place]
                assert np.array_equal(column[rows], column, equal_nan=True), f"{group}: order"
            equal_changes(our_columns, their_columns, scores_at, group)

    return compare


def groups(ours: Leaves, theirs: Leaves) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """The columns of each class, or of the class of each result."""
    by_prefix: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for side, tree in enumerate((ours, theirs)):
        for path, column in tree.items():
            group, _, place = path.partition("/")
            by_prefix.setdefault(group, ({}, {}))[side][place] = column
    return by_prefix


def equal_changes(ours: Leaves, theirs: Leaves, scores_at: str, what: str) -> None:
    assert ours.keys() == theirs.keys(), what
    sides = []
    for side in (ours, theirs):
        rows = np.argsort(side[scores_at], kind="stable")
        length = len(rows)
        columns = {
            place: column[rows]
            for place, column in sorted(side.items())
            if column.ndim and len(column) == length and place != scores_at
        }
        table = np.stack(list(columns.values()), axis=1)
        changed = np.append(np.any(np.abs(np.diff(table, axis=0)) > 1e-12, axis=1), True)
        sides.append((list(columns), side[scores_at][rows][changed], table[changed]))
        assert np.isposinf(side[scores_at][rows[-1]]), what
    assert sides[0][0] == sides[1][0], what
    equal(sides[0][1], sides[1][1], f"{what}: scores")
    equal(sides[0][2], sides[1][2], f"{what}: {sides[0][0]}")
    for place, column in theirs.items():
        if not column.ndim:
            equal(ours[place], column, f"{what}: {place}")


def same_statistics(ours: Leaves, theirs: Leaves) -> None:
    """``(statistics by class, clips)``."""
    same(within(ours, "1"), within(theirs, "1"))
    same_curves("0")(within(ours, "0"), within(theirs, "0"))


def within(tree: Leaves, *keys: str) -> dict[str, NDArray[Any]]:
    """The part of a tree below a path."""
    prefix = "/".join(keys) + "/"
    return {
        path.removeprefix(prefix): column for path, column in tree.items() if path.startswith(prefix)
    }


def same_areas(scores_at: str, order: tuple[str, str]) -> Callable[[Leaves, Leaves], None]:
    """``(values, curves)``."""

    def compare(ours: Leaves, theirs: Leaves) -> None:
        same(within(ours, "0"), within(theirs, "0"))
        same_curves(scores_at, order)(within(ours, "1"), within(theirs, "1"))

    return compare


def same_rocs(ours: Leaves, theirs: Leaves) -> None:
    """``(areas by class, curves)``: the curves; theirs has areas under steps."""
    assert within(ours, "0").keys() == within(theirs, "0").keys()
    same_curves("2", ("1", "0"))(within(ours, "1"), within(theirs, "1"))
    for label, (curve, _) in groups(within(ours, "1"), {}).items():
        tpr, fpr = curve["0"], curve["1"]
        lines = np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2)
        np.testing.assert_allclose(ours[f"0/{label}"], lines, atol=1e-12)


def same_best(ours: Leaves, theirs: Leaves) -> None:
    """The best value of each class and the macro average; other places may have it as well."""
    assert ours.keys() == theirs.keys()
    for path, value in within(theirs, "0").items():
        if path != "micro_average":
            equal(ours[f"0/{path}"], value, path)


def same_psds(ours: Leaves, theirs: Leaves) -> None:
    """Values and curves; of the scores of a curve only how many: several may have the same rates."""
    assert ours.keys() == theirs.keys()
    for path, column in theirs.items():
        is_score = path.endswith("/2") and column.ndim == 1
        if is_score:
            assert ours[path].shape == column.shape
        else:
            equal(ours[path], column, path)


def same_approximation(ours: Leaves, theirs: Leaves) -> None:
    """Values; and curves as steps, since theirs have points at which nothing changes."""
    same(*({p: c for p, c in tree.items() if p[0] in "01"} for tree in (ours, theirs)))
    assert within(ours, "3").keys() == within(theirs, "3").keys()
    for curve in ("2", *(path.rpartition("/")[0] for path in theirs if path.startswith("3/"))):
        tpr, efpr = theirs[f"{curve}/0"], theirs[f"{curve}/1"]
        steps = np.searchsorted(efpr, ours[f"{curve}/1"] + 1e-9, side="right") - 1
        equal(ours[f"{curve}/0"], tpr[steps], curve)


def same_independent(ours: Leaves, theirs: Leaves) -> None:
    """The same, without the scores and numbers of the post-processings of equally good points."""
    same_psds(
        *(
            {path: column for path, column in tree.items() if not path.endswith("/3")}
            for tree in (ours, theirs)
        )
    )


def same_resamples(compare: Callable[[Leaves, Leaves], None]) -> Callable[[Leaves, Leaves], None]:
    """A list with a tuple for each value: compared resample by resample."""

    def compare_each(ours: Leaves, theirs: Leaves) -> None:
        resampled = {path.split("/")[1] for path in theirs}
        assert resampled == {path.split("/")[1] for path in ours}
        for number in resampled:
            compare(of_resample(ours, number), of_resample(theirs, number))

    return compare_each


def of_resample(tree: Leaves, number: str) -> Leaves:
    parts = {path: path.split("/") for path in tree}
    return {
        "/".join([place[0], *place[2:]]): tree[path]
        for path, place in parts.items()
        if place[1] == number
    }


def same_deltas(ours: Leaves, theirs: Leaves) -> None:
    """Changes at distinct scores, summed up where theirs has a score several times, zeros left out."""

    def added_up(tree: Leaves) -> dict[str, dict[float, float]]:
        by_score: dict[str, dict[float, float]] = {}
        for path, changes in tree.items():
            clip, label, place, *name = path.split("/")
            if place == "1":
                scores = np.atleast_1d(tree[f"{clip}/{label}/0"])
                sums: dict[float, float] = {}
                for score, change in zip(scores.tolist(), np.atleast_1d(changes).tolist(), strict=True):
                    sums[score] = sums.get(score, 0) + change
                by_score["/".join([clip, label, *name])] = {
                    score: change for score, change in sums.items() if abs(change) > 1e-9
                }
        return by_score

    our_changes, their_changes = added_up(ours), added_up(theirs)
    assert our_changes.keys() == their_changes.keys()
    for path, changes in their_changes.items():
        assert our_changes[path] == pytest.approx(changes, abs=1e-9), path
