"""Assertions that two results hold the same values, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

import sedscope as sed
from sedscope import Evaluation
from sedscope.counting.counts import ClassCounts

from . import oracle
from .strategies import LABELS


def assert_equal_scores(actual: sed.Scores, expected: sed.Scores) -> None:
    """The same classes, clips, values and frame boundaries, in the same order."""
    assert actual.classes == expected.classes
    assert list(actual) == list(expected)
    for clip in expected:
        assert np.array_equal(actual[clip].values, expected[clip].values)
        assert np.array_equal(actual[clip].ticks, expected[clip].ticks)


def count_columns(
    counts: sed.Counts, *, scores: bool = True, floors: Mapping[str, float] | None = None
) -> Iterator[tuple[str, list[float]]]:
    """All arrays of the counts, by name; those of a class down to its floor, if there are any."""
    for label in sorted(counts):
        of_class = counts[label]
        above = slice(None if floors is None else np.count_nonzero(of_class.scores > floors[label]))
        if scores:
            yield f"{label} scores", of_class.scores[above].tolist()
        yield f"{label} tp", of_class.tp[above].tolist()
        yield f"{label} fp", of_class.fp[above].tolist()
        yield f"{label} references", [of_class.references, of_class.reference_time]
        for other in sorted(counts):
            yield f"{label} ct {other}", of_class.ct(other)[above].tolist()
    yield "duration", [counts.duration]


def assert_equal_evaluations(a: Evaluation, b: Evaluation, *, scores: bool = True) -> None:
    """The same values, and the same counts: above both floors at the same scores, if ``scores``."""
    assert dict(_evaluation_columns(a, b, scores)) == dict(_evaluation_columns(b, a, scores))
    assert np.array_equal(
        [a.scalars()[key] for key in sorted(a.scalars())],
        [b.scalars()[key] for key in sorted(b.scalars())],
        equal_nan=True,
    )


def _evaluation_columns(
    result: Evaluation, other: Evaluation, scores: bool
) -> Iterator[tuple[str, list[float]]]:
    for criterion, counts in result.counts.items():
        others = other.counts[criterion]
        floors = {label: max(counts[label].floor, others[label].floor) for label in counts}
        columns = count_columns(counts, scores=scores, floors=floors if scores else None)
        yield from ((f"{criterion} {key}", column) for key, column in columns)


def assert_equal_to_oracle(counts: ClassCounts, expected: dict[float, oracle.Count], label: str) -> None:
    """At each distinct score the row that holds there has the oracle's counts."""
    assert np.all(np.diff(counts.scores) < 0)
    assert set(counts.scores.tolist()) <= set(expected)
    cross = {other: counts.ct(other) for other in LABELS if other != label}
    for score, count in expected.items():
        row = np.count_nonzero(counts.scores >= score) - 1
        actual = (
            (0, 0, dict.fromkeys(cross, 0))
            if row < 0
            else (counts.tp[row], counts.fp[row], {m: ct[row] for m, ct in cross.items()})
        )
        assert actual == (count.tp, count.fp, {m: count.ct.get(m, 0) for m in cross}), score
