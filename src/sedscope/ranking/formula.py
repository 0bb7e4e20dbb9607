"""Formulas over named values, such as ``desed.psds1 + maestro.mpauc``. They are parsed, never executed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from ..data.arrays import FloatArray
from ..errors import SedscopeError, near_names, shortened

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
    return np.where(_least(*values) < 0, np.nan, mean)


def _least(*values: FloatArray) -> FloatArray:
    return reduce(np.minimum, values)  # NaN if one is NaN


def _greatest(*values: FloatArray) -> FloatArray:
    return reduce(np.maximum, values)


_FUNCTIONS: dict[str, Callable[..., FloatArray]] = {
    "mean": _mean,
    "harmonic_mean": _harmonic_mean,
    "min": _least,
    "max": _greatest,
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
        shown = shortened(self.text)
        try:
            tree = ast.parse(self.text.strip(), mode="eval").body
            if self.dataset is not None:
                tree = _InDataset(self.dataset).visit(tree)
            names = tuple(dict.fromkeys(_names(tree)))
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            if isinstance(error, SedscopeError):
                raise SedscopeError(f"{shown!r}: {error}") from None
            example = "desed.psds1 + maestro.mpauc" if self.dataset is None else "psds1 + psds2"
            raise SedscopeError(f"{shown!r} is not a formula. Write it as in '{example}'.") from None
        if not names:
            raise SedscopeError(f"{shown!r}: the formula names no value.")
        object.__setattr__(self, "_tree", tree)
        object.__setattr__(self, "_named", names)

    @property
    def names(self) -> tuple[Name, ...]:
        """The values that the formula reads: data set and metric, each once."""
        named: tuple[Name, ...] = vars(self)["_named"]
        return named

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
            result = _evaluated(vars(self)["_tree"], values)
        return float(result) if np.ndim(result) == 0 else result


def _shown(dataset: str, metric: str) -> str:
    return f"{dataset}.{metric}" if dataset else metric


class _InDataset(ast.NodeTransformer):
    """Names the data set of values that are named without one."""

    def __init__(self, dataset: str) -> None:
        self.dataset = dataset

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Attribute(ast.Name(self.dataset), node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return node  # it names its data set

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(argument) for argument in node.args]
        return node


def _names(node: ast.expr, depth: int = 0) -> list[Name]:
    """Return the values that a formula names, and refuse what is not a formula."""
    if depth > _DEEPEST:
        raise SedscopeError("the formula is too long.")
    depth += 1
    if isinstance(node, ast.Constant):
        _number(node.value)
        return []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return [(node.value.id, node.attr)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return _names(node.operand, depth)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return [*_names(node.left, depth), *_names(node.right, depth)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in _FUNCTIONS:
            raise SedscopeError(
                f"there is no function {node.func.id}. The functions are {', '.join(_FUNCTIONS)}."
            )
        if not node.args or node.keywords:
            raise SedscopeError(f"{node.func.id} takes values, as in {node.func.id}(a.x, b.y).")
        return [name for argument in node.args for name in _names(argument, depth)]
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


def _evaluated(node: ast.expr, values: Values) -> Any:
    if isinstance(node, ast.Constant):
        return np.float64(_number(node.value))
    if isinstance(node, ast.Attribute):
        assert isinstance(node.value, ast.Name)
        return np.asarray(values[node.value.id][node.attr], np.float64)[()]
    if isinstance(node, ast.UnaryOp):
        operand = _evaluated(node.operand, values)
        return -operand if isinstance(node.op, ast.USub) else operand
    if isinstance(node, ast.BinOp):
        left, right = _evaluated(node.left, values), _evaluated(node.right, values)
        return _OPERATORS[type(node.op)](left, right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id](*(_evaluated(argument, values) for argument in node.args))
