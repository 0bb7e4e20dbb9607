"""Criteria and metrics as text: a value's ``repr`` is its full definition, and can be read back.

The text looks like a Python call, but is parsed, never evaluated.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from .errors import SedscopeError, listing, shortened

_Class = TypeVar("_Class", bound=type)


def definition(value: Any) -> str:
    """The definition of a criterion or metric, or the shortest spelling of a plain value.

    Fields that are at a default of None or True are left out, all others are spelled out.

    >>> definition(1.0), definition("hour"), definition(0.7)
    ('1', "'hour'", '0.7')
    """
    if not dataclasses.is_dataclass(value):
        is_whole = isinstance(value, float) and value.is_integer()
        return repr(int(value) if is_whole else value)
    parts = []
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        if part == field.default and (part is None or part is True):
            continue
        text = definition(part)
        parts.append(text if dataclasses.is_dataclass(part) else f"{field.name}={text}")
    return f"{type(value).__name__}({', '.join(parts)})"


class Defined:
    """A value whose ``repr`` is its full definition."""

    def __repr__(self) -> str:
        return definition(self)


def parse(text: str, names: Mapping[str, type]) -> Any:
    """Read a definition back; ``names`` are the classes that it may use."""
    shown = shortened(text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise SedscopeError(f"{shown!r} cannot be read: is a bracket or a comma missing?") from None
    try:
        return _build(tree.body, names)
    except SedscopeError as error:
        raise SedscopeError(f"{shown!r}: {shortened(str(error), 500)}") from None
    except (RecursionError, MemoryError):
        raise SedscopeError(f"{shown!r} is nested too deep") from None


def _build(node: ast.expr, names: Mapping[str, type]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _build(node.operand, names)
        if isinstance(operand, (int, float)):
            return -operand
    if isinstance(node, ast.Name):
        known = listing([f"{name}(…)" for name in names], limit=30)
        raise SedscopeError(f"{node.id} alone is no definition; write {known}")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise SedscopeError(f"{ast.unparse(node)} is neither a number nor one of {listing([*names])}")
    made = names.get(node.func.id)
    if made is None:
        raise SedscopeError(f"{node.func.id} is not known; there are {listing([*names], limit=30)}")
    fields = [field.name for field in dataclasses.fields(made)]
    given = [keyword.arg for keyword in node.keywords]
    twice = sorted({str(name) for name in given if given.count(name) > 1})
    if twice:
        raise SedscopeError(f"{made.__name__}: given twice: {listing(twice)}")
    for keyword in node.keywords:
        if keyword.arg is None:
            raise SedscopeError(f"{made.__name__} takes no **{ast.unparse(keyword.value)}")
        if keyword.arg not in fields:
            raise SedscopeError(
                f"{made.__name__} has no {keyword.arg!r}; it has {listing(fields, limit=30)}"
            )
    try:
        return made(
            *(_build(argument, names) for argument in node.args),
            **{str(word.arg): _build(word.value, names) for word in node.keywords},
        )
    except TypeError as error:
        raise SedscopeError(str(error).replace("__init__()", "").strip()) from None


def plain_number(value: Any) -> Any:
    """A number of numpy as Python's, whose ``repr`` can be read back; anything else as it is."""
    is_numpy = isinstance(value, np.number)
    return value.item() if is_numpy else value


def require_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Refuse a parameter that is not a number in its range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SedscopeError(f"{name}={value!r} must be a number")
    try:
        float(value)
    except OverflowError:
        raise SedscopeError(f"{name} must be finite: it is too large") from None
    limits = []
    if above is not None:
        limits.append((value > above, f"above {above:g}"))
    if at_least is not None:
        limits.append((value >= at_least, f"at least {at_least:g}"))
    if at_most is not None:
        limits.append((value <= at_most, f"at most {at_most:g}"))
    limits.append((abs(value) < float("inf"), "finite"))
    if not all(held for held, _ in limits):
        raise SedscopeError(f"{name}={value!r} must be {' and '.join(text for _, text in limits)}")
