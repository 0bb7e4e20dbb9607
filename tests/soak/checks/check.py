"""What a check is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import sedscope as sed

from ..case import Case, Mismatch


@dataclass(frozen=True)
class Check:
    """A check: it draws cases and judges them."""

    name: str
    share: float
    """Of the time, relative to the others."""
    draw: Callable[[Random, str], Case]
    """Takes random numbers and the seed that they come from."""
    judge: Callable[[Case], Mapping[str, int]]
    """Raises if something is wrong. Returns how many things of each kind were compared; ``clips`` are
    those judged against the brute force or the oracle."""
    needs: tuple[str, ...] = ()
    """Optional packages."""


def require(holds: bool, what: str, detail: object = "") -> None:
    """Raise a mismatch unless something holds."""
    if not holds:
        raise Mismatch(what, f"{detail}"[:2000])


def require_equal(got: object, expected: object, what: str, where: object = "") -> None:
    """Raise a mismatch unless two things are equal."""
    if got != expected:
        place = f"{where}: " if where != "" else ""
        raise Mismatch(what, f"{place}{got!r:.800} instead of {expected!r:.800}")


def kind_of(criterion: object) -> str:
    """The kind of a criterion, for messages that go without its parameters."""
    aggregation = getattr(criterion, "aggregation", "")
    return f"{type(criterion).__name__} {aggregation}".strip()


def same_number(a: float, b: float) -> bool:
    """Whether two numbers are equal, or both not defined."""
    return a == b or (a != a and b != b)


def require_same_result(got: sed.Evaluation, plain: sed.Evaluation) -> None:
    """Values, thresholds, and the counts at all thresholds that both cover have the same bits."""
    require_same_values(got, plain)
    for criterion, expected in plain.counts.items():
        require_same_counts(got.counts[criterion], expected)


def require_same_values(got: sed.Evaluation, plain: sed.Evaluation) -> None:
    """Values and thresholds have the same bits."""
    found, wanted = got.scalars(), plain.scalars()
    require_equal(sorted(found), sorted(wanted), "names of values")
    for key, value in wanted.items():
        require(same_number(found[key], value), "value", f"{key}: {found[key]!r} not {value!r}")
    for metric in plain:
        of_plain = dict(getattr(plain[metric], "thresholds", {}))
        require_equal(dict(getattr(got[metric], "thresholds", {})), of_plain, "thresholds", metric)


def require_same_counts(got: sed.Counts, expected: sed.Counts) -> None:
    """The same counts above the floors of both."""
    require_equal(dict(got.references), dict(expected.references), "references")
    require_equal(got.duration, expected.duration, "duration")
    for label in expected:
        floor = max(got[label].floor, expected[label].floor)
        columns = [_columns(counts[label], floor, counts) for counts in (got, expected)]
        require_equal(columns[0], columns[1], f"counts of {kind_of(expected.criterion)}", (label, floor))


def _columns(counts: Any, floor: float, of_all: sed.Counts) -> dict[str, list[float]]:
    rows = counts.scores > floor
    columns = {"scores": counts.scores, "tp": counts.tp, "fp": counts.fp}
    columns |= {f"ct {other}": counts.ct(other) for other in of_all}
    if counts.errors is not None:
        columns |= {"onset errors": counts.errors[:, 0], "offset errors": counts.errors[:, 1]}
    return {name: np.asarray(column)[rows].tolist() for name, column in columns.items()}
