"""Formulas over named values, such as ``desed.psds1 + maestro.mpauc``. They are parsed, never executed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray
from ..errors import SedscopeError, near_names, shortened
from ..metrics import Metric
from ..resampling.subsampling import Behaviour

Value: TypeAlias = "float | FloatArray"
"""A number, or an array with a number for each resample."""
Values: TypeAlias = Mapping[str, Mapping[str, Value]]
"""The values of each data set, by the name of the metric."""
Name: TypeAlias = tuple[str, str]
"""A data set and a metric."""

_DEEPEST = 100  # levels of a formula; a sum has one for each term

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
}


def _mean(*values: FloatArray) -> FloatArray:
    return sum(values[1:], start=values[0]) / len(values)


def _harmonic_mean(*values: FloatArray) -> FloatArray:
    """Return the harmonic mean: 0 if a value is 0, not defined (NaN) if one is negative."""
    mean = len(values) / sum(1 / (value + 0.0) for value in values)  # -0.0 is 0, too
    return np.where(reduce(np.minimum, values) < 0, np.nan, mean)


_FUNCTIONS: dict[str, Callable[..., FloatArray]] = {
    "mean": _mean,
    "harmonic_mean": _harmonic_mean,
    "min": lambda *values: reduce(np.minimum, values),  # NaN if one is NaN
    "max": lambda *values: reduce(np.maximum, values),
}


@dataclass(frozen=True)
class Formula:
    """A formula over the values of data sets, which are named ``dataset.metric``.

    It may have numbers, ``+ - * /``, brackets, and the functions ``mean``, ``harmonic_mean``, ``min`` and
    ``max``.

    Parameters
    ----------
    text : str
        The formula.
    dataset : str, optional
        The data set of values that are named without one. By default, each value must name its own.

    Examples
    --------
    >>> formula = Formula("0.5 * desed.psds1 + max(maestro.mpauc, maestro.f1)")
    >>> formula.names
    (('desed', 'psds1'), ('maestro', 'mpauc'), ('maestro', 'f1'))
    >>> formula.value({"desed": {"psds1": 0.5}, "maestro": {"mpauc": 0.75, "f1": 0.25}})
    1.0
    >>> Formula("psds1 + psds2", dataset="").value({"": {"psds1": 0.25, "psds2": 0.5}})
    0.75
    """

    text: str
    dataset: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise SedscopeError(f"A formula must be a text, not {shortened(repr(self.text))}.")
        if not self.names:
            raise SedscopeError(f"{shortened(self.text)!r}: the formula names no value.")

    @cached_property
    def names(self) -> tuple[Name, ...]:
        """The values that the formula reads: data set and metric, each once."""
        names: dict[Name, None] = {}
        self._parsed(names)
        return tuple(names)

    def behaviour(
        self, metrics: Mapping[str, Mapping[str, Metric[Any]]], lower_is_better: bool
    ) -> Behaviour:
        """Return how the formula behaves on few clips: as the metric that it names, or as its slowest one.

        ``metrics``: by data set and name. ``lower_is_better``: whether lower values of the formula are.
        """
        of_values = [Behaviour.of(metrics[dataset][name]) for dataset, name in self.names]
        if len(of_values) == 1 and self.text.strip().replace(".", "").isidentifier():
            return of_values[0]
        return Behaviour(
            min(behaviour.rate for behaviour in of_values),
            costs_spread=any(behaviour.costs_spread for behaviour in of_values),
            higher_is_better=not lower_is_better,
        )

    def _parsed(self, names: dict[Name, None]) -> Callable[[Values], Any]:
        """Return the formula as a function of the values, and add their names to ``names``."""
        shown = shortened(self.text)
        try:
            return _parsed(ast.parse(self.text.strip(), mode="eval").body, self.dataset, names)
        except SedscopeError as error:
            raise SedscopeError(f"{shown!r}: {error}") from None
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            example = "desed.psds1 + maestro.mpauc" if self.dataset is None else "psds1 + psds2"
            raise SedscopeError(f"{shown!r} is not a formula. Write it as in '{example}'.") from None

    def check(self, known: Mapping[str, Mapping[str, object]]) -> None:
        """Refuse a formula that names a value which is not known. ``known``: data sets with their metrics."""
        for dataset, metric in self.names:
            if metric in known.get(dataset, {}):
                continue
            choices = [_shown(owner, name) for owner, metrics in known.items() for name in metrics]
            near = near_names(_shown(dataset, metric), choices) or choices
            raise SedscopeError(
                f"{shortened(self.text)!r}: there is no value {_shown(dataset, metric)}. "
                f"Did you mean {' or '.join(near)}?"
            )

    def value(self, values: Values) -> Any:
        """Return the value of the formula: a number for numbers, an array for arrays of equal length.

        It is NaN where a value that it reads is.
        """
        with np.errstate(all="ignore"):
            result = self._parsed({})(values)
        return float(result) if np.ndim(result) == 0 else result


def _shown(dataset: str, metric: str) -> str:
    return f"{dataset}.{metric}" if dataset else metric


def _parsed(
    node: ast.expr, dataset: str | None, names: dict[Name, None], depth: int = 0
) -> Callable[[Values], Any]:
    """Return a part of a formula as a function of the values, and refuse what is not a formula.

    ``dataset``: of values that are named without one. ``names``: collects the values that are named.
    """
    if depth > _DEEPEST:
        raise SedscopeError("the formula is too long.")

    def part(inner: ast.expr) -> Callable[[Values], Any]:
        return _parsed(inner, dataset, names, depth + 1)

    if isinstance(node, ast.Constant):
        number = np.float64(_number(node.value))
        return lambda _: number
    if isinstance(node, ast.Name) and dataset is not None:
        node = ast.Attribute(ast.Name(dataset), node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner, metric = node.value.id, node.attr
        names[owner, metric] = None
        return lambda values: np.asarray(values[owner][metric], np.float64)[()]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        sign, operand = (
            (operator.neg if isinstance(node.op, ast.USub) else operator.pos),
            part(node.operand),
        )
        return lambda values: sign(operand(values))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        operate, left, right = _OPERATORS[type(node.op)], part(node.left), part(node.right)
        return lambda values: operate(left(values), right(values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name not in _FUNCTIONS:
            raise SedscopeError(
                f"there is no function {name}. The functions are {', '.join(_FUNCTIONS)}."
            )
        if not node.args or node.keywords:
            raise SedscopeError(f"{name} takes values, as in {name}(a.x, b.y).")
        arguments = [part(argument) for argument in node.args]
        return lambda values: _FUNCTIONS[name](*(argument(values) for argument in arguments))
    if isinstance(node, ast.Name):
        raise SedscopeError(f"{node.id} has no data set. Write DATASET.{node.id}.")
    raise SedscopeError(
        f"{shortened(ast.unparse(node), 60)} cannot be used. A formula has values such as desed.psds1, "
        f"numbers, + - * /, brackets, and {', '.join(_FUNCTIONS)}."
    )


def _number(value: object) -> float:
    """Return the number of a formula."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SedscopeError(f"{shortened(repr(value), 60)} is not a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise SedscopeError("a number is too large.")
    return number
