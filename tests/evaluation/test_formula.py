"""The formula of a score: its value for numbers and arrays, and what is refused."""

from __future__ import annotations

import math
import statistics
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.ranking.formula import Formula
from sedscope.resampling.subsampling import Behaviour

from ..tasks.layout import dataset

LEAVES = st.one_of(
    st.sampled_from(["a.x", "a.y", "b.x"]), st.floats(0, 100).map(lambda number: f"{number!r}")
)
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"mean({', '.join(p)})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"min({', '.join(p)}, 7)"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"max({', '.join(p)}, -1)"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=8,
)
NUMBERS = st.floats(0, 1)


class _Set:
    def __init__(self, **values: float) -> None:
        self.__dict__.update(values)


def _mean(*values: float) -> float:
    return reduce(add, values) / len(values)  # since Python 3.12, sum() rounds otherwise


@given(FORMULAS, NUMBERS, NUMBERS, NUMBERS)
def test_a_formula_is_what_python_computes(text: str, ax: float, ay: float, bx: float) -> None:
    text += " + 0 * a.x"
    names = {"a": _Set(x=ax, y=ay), "b": _Set(x=bx), "mean": _mean}
    expected = eval(text, {"min": min, "max": max, **names})
    formula = Formula(text)
    assert formula.value({"a": {"x": ax, "y": ay}, "b": {"x": bx}}) == expected
    arrays = {
        "a": {"x": np.array([ax, 0.5]), "y": np.array([ay, 0.5])},
        "b": {"x": np.array([bx, 0.25])},
    }
    assert formula.value(arrays)[0] == expected


@given(st.lists(st.floats(1e-3, 1), min_size=1, max_size=4))
def test_the_harmonic_mean(values: list[float]) -> None:
    names = ", ".join(f"a.x{i}" for i in range(len(values)))
    value = Formula(f"harmonic_mean({names})").value({"a": {f"x{i}": v for i, v in enumerate(values)}})
    assert value == pytest.approx(statistics.harmonic_mean(values))


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("harmonic_mean(a.x, 1)", 0.0, 0.0),
        ("harmonic_mean(a.x, 1)", -0.0, 0.0),
        ("harmonic_mean(a.x, 1)", -0.5, math.nan),
        ("max(a.x, 1)", math.nan, math.nan),
        ("1 / a.x", 0.0, math.inf),
        ("a.x / 4 - -1", 2.0, 1.5),
    ],
)
def test_edges(text: str, x: float, expected: float) -> None:
    value = Formula(text).value({"a": {"x": x}})
    assert value == expected or (math.isnan(value) and math.isnan(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a formula"),
        ("a.x +", "is not a formula"),
        ("1 + 2", "names no value"),
        ("psds1", r"psds1 has no data set. Write DATASET\.psds1"),
        ("a.x ** 2", "cannot be used"),
        ("a.x if a.x else 1", "cannot be used"),
        ("a.x.y", "cannot be used"),
        ("a['x']", "cannot be used"),
        ("a.x + True", "True is not a number"),
        ("a.x + 'b'", "'b' is not a number"),
        ("a.x + 1e999", "a number is too large"),
        ("__import__('os').system('true')", "cannot be used"),
        ("open(a.x)", "there is no function open. The functions are mean"),
        ("mean()", r"mean takes values, as in mean\(a\.x, b\.y\)"),
        ("mean(a.x, key=1)", "mean takes values"),
        ("+".join(["a.x"] * 500), "the formula is too long"),
        ("-" * 5000 + "a.x", "too long|is not a formula"),
        ("(" * 500 + "a.x" + ")" * 500, "too long|is not a formula"),
    ],
)
def test_what_is_not_a_formula_is_refused(text: str, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        Formula(text)


def test_unknown_values_are_refused_when_the_task_is_made() -> None:
    with pytest.raises(sed.SedscopeError, match=r"no value home.psds2. Did you mean home.psds1\?"):
        sed.tasks.Task("mine", {"home": dataset("psds1")}, "home.psds2")


def test_values_without_a_data_set() -> None:
    formula = Formula("mean(x, 3 * y) + b.z", dataset="")
    assert formula.names == (("", "x"), ("", "y"), ("b", "z"))
    assert formula.value({"": {"x": 1.0, "y": 2.0}, "b": {"z": 0.5}}) == 4.0
    with pytest.raises(sed.SedscopeError, match=r"there is no value y\. Did you mean x"):
        formula.check({"": {"x": None}})
    with pytest.raises(sed.SedscopeError, match="as in 'psds1 \\+ psds2'"):
        Formula("x +", dataset="")
    with pytest.raises(sed.SedscopeError, match="x has no data set"):
        Formula("x")


def test_a_formula_is_too_good_in_its_own_direction() -> None:
    error_rate: Metric[Any] = sed.BestErrorRate(sed.Segment(1.0))
    metrics = {"": {"er": error_rate, "psds1": sed.presets.PSDS1}}
    alone = Formula("er", dataset="").behaviour(metrics, lower_is_better=True)
    assert alone == Behaviour.of(error_rate)
    assert not alone.higher_is_better
    doubled = Formula("2 * er", dataset="").behaviour(metrics, lower_is_better=True)
    assert (doubled.rate, doubled.higher_is_better, doubled.costs_spread) == (0.75, False, False)
    together = Formula("psds1 - er", dataset="").behaviour(metrics, lower_is_better=False)
    assert (together.higher_is_better, together.costs_spread) == (True, True)
