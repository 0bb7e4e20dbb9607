"""Criteria and metrics as text: a value's ``repr`` is its full definition, and can be read back.

The text looks like a Python call, but is parsed, never evaluated.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from .errors import SedscopeError, listing, shortened


def definition(value: Any) -> str:
    """The definition of a criterion or metric, or the shortest spelling of a plain value.

    Fields at a default of None, True or False are left out, all others are spelled out.

    >>> definition(1.0), definition("hour"), definition(0.7)
    ('1', "'hour'", '0.7')
    """
    if not dataclasses.is_dataclass(value):
        is_whole = isinstance(value, float) and value.is_integer()
        return repr(int(value) if is_whole else value)
    parts = []
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        if part is field.default and (part is None or isinstance(part, bool)):
            continue
        text = repr(part) if isinstance(part, Defined) else definition(part)
        parts.append(text if dataclasses.is_dataclass(part) else f"{field.name}={text}")
    return f"{type(value).__name__}({', '.join(parts)})"


class Defined:
    """A value whose ``repr`` is its full definition."""

    def __repr__(self) -> str:
        return definition(self)


Kind = TypeVar("Kind")
Registered = TypeVar("Registered", bound=type)


class Registry(Mapping[str, type], Generic[Kind]):
    """All classes of one kind, by name. A class registers itself where it is defined.

    From here the class reaches the parser, the command line, the documentation and the tests that
    go through all classes of the kind.

    >>> colours: Registry[object] = Registry("colour")
    >>> @colours.register
    ... class Red: ...
    >>> list(colours)
    ['Red']
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type] = {}

    def register(self, cls: Registered) -> Registered:
        """Add a class under its own name. Use it as a decorator."""
        if cls.__name__ in self._classes:
            raise ValueError(
                f"There are two classes named {cls.__name__} in the registry of {self.kind}."
            )
        self._classes[cls.__name__] = cls
        return cls

    def __getitem__(self, name: str) -> type:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


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
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_build(element, names) for element in node.elts)
    if isinstance(node, ast.Dict):
        labels = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if not all(isinstance(label, str) for label in labels):
            raise SedscopeError("only a text in quotes can stand before a colon")
        twice = sorted({str(label) for label in labels if labels.count(label) > 1})
        if twice:
            raise SedscopeError(f"given twice: {listing(twice)}")
        return dict(zip(labels, (_build(value, names) for value in node.values), strict=True))
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


def require_number(
    owner: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Refuse a field that is not a number in its range. Numbers of numpy become Python's, whose
    ``repr`` can be read back."""
    value = getattr(owner, name)
    if isinstance(value, np.number):
        value = value.item()
        object.__setattr__(owner, name, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SedscopeError(f"{name}={value!r} must be a number")
    try:
        float(value)
    except OverflowError:
        raise SedscopeError(f"{name} must be finite: it is too large") from None
    limits = [(abs(value) < float("inf"), "finite")]
    if above is not None:
        limits.insert(0, (value > above, f"above {above:g}"))
    if at_least is not None:
        limits.insert(0, (value >= at_least, f"at least {at_least:g}"))
    if at_most is not None:
        limits.insert(1, (value <= at_most, f"at most {at_most:g}"))
    if not all(held for held, _ in limits):
        raise SedscopeError(f"{name}={value!r} must be {' and '.join(text for _, text in limits)}")


def optional_number(owner: Any, name: str, **limits: float) -> None:
    """Refuse a field that is neither None nor a number in its range."""
    if getattr(owner, name) is not None:
        require_number(owner, name, **limits)


def require_flag(owner: Any, name: str) -> None:
    """Refuse a field that is neither True nor False."""
    if not isinstance(getattr(owner, name), bool):
        raise SedscopeError(f"{name}={getattr(owner, name)!r} must be True or False")


def require_choice(owner: Any, name: str, choices: Iterable[str]) -> None:
    """Refuse a field that is none of some words."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in choices:
        raise SedscopeError(f"{name}={value!r}: choose {' or '.join(map(repr, choices))}")
