"""Criteria, metrics and post-processings as text: a value's ``repr`` is its full definition.

The text looks like a Python call. It is parsed, never executed.
"""

from __future__ import annotations

import ast
import dataclasses
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

import numpy as np

from .errors import SedscopeError, listing, near_names, shortened

Kind = TypeVar("Kind")
Registered = TypeVar("Registered", bound=type)


def definition(value: Any) -> str:
    """Spell a criterion or metric as its full definition, and a plain value in the shortest way.

    Fields at a default of None, True or False are left out, and those that are :func:`unstated`; all others
    are spelled out.

    >>> definition(1.0), definition("hour"), definition(0.7)
    ('1', "'hour'", '0.7')
    """
    if not dataclasses.is_dataclass(value):
        is_whole = isinstance(value, float) and value.is_integer()
        return repr(int(value) if is_whole else value)
    parts = []
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        plain = part is None or isinstance(part, bool)
        if (plain and part is field.default) or (_UNSTATED in field.metadata and part == field.default):
            continue
        text = repr(part) if isinstance(part, Defined) else definition(part)
        parts.append(text if dataclasses.is_dataclass(part) else f"{field.name}={text}")
    return f"{type(value).__name__}({', '.join(parts)})"


_UNSTATED = "unstated"


def unstated(default: Any) -> Any:
    """Return a field of a dataclass that definitions leave out at its default."""
    return dataclasses.field(default=default, metadata={_UNSTATED: True})


class Defined:
    """A value whose ``repr`` is its full definition."""

    def __repr__(self) -> str:
        return definition(self)


class Registry(Mapping[str, type], Generic[Kind]):
    """All classes of one kind, by name. A class registers itself where it is defined.

    From here the class reaches the parser, the command line, the documentation and the tests that
    go through all classes of the kind. The modules of a package are loaded when one of their names is looked
    up, and all of them before the names are listed.

    Parameters
    ----------
    kind : str
        What the classes are, in one word, for messages.
    base : type
        The class that all of them derive from.
    uses : iterable of registries
        Registries whose classes may stand inside a definition, as a criterion stands inside a metric.
    package : str, optional
        The package that has the classes among its public names.

    Examples
    --------
    >>> class Colour: ...
    >>> colours: Registry[Colour] = Registry("colour", Colour)
    >>> @colours.register
    ... @dataclasses.dataclass
    ... class Red(Colour):
    ...     depth: float = 1.0
    >>> list(colours)
    ['Red']
    >>> colours.parse("Red(depth=0.5)").depth
    0.5
    """

    def __init__(
        self, kind: str, base: type, uses: Iterable[Registry[Any]] = (), package: str | None = None
    ) -> None:
        self.kind = kind
        self._base = base
        self._uses = tuple(uses)
        self._package = package
        self._classes: dict[str, type] = {}

    def register(self, cls: Registered) -> Registered:
        """Add a class under its own name. Use it as a decorator."""
        if cls.__name__ in self._classes:
            raise ValueError(f"Two classes of the kind {self.kind} are named {cls.__name__}.")
        self._classes[cls.__name__] = cls
        return cls

    def parse(self, text: str) -> Kind:
        """Read a value of this kind from its definition. Parameters that are left out take their
        defaults."""
        registries = (*reversed(self._uses), self)  # a chain lists the names of its last mapping first
        value = parse(text, ChainMap(*registries))
        if not isinstance(value, self._base):
            raise SedscopeError(
                f"{shortened(text)!r} is not a {self.kind}. Choose from {listing([*self], limit=30)}."
            )
        return value  # type: ignore[return-value]  # _base is the run-time form of Kind

    def _load(self, *names: str) -> None:
        """Load public names of the package, or all of them. Their modules register the classes."""
        if self._package is not None:
            package = import_module(self._package)
            for name in names or package.__all__:
                getattr(package, name, None)

    def __getitem__(self, name: str) -> type:
        if name not in self._classes:
            self._load(name)
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        self._load()
        return len(self._classes)


def parse(text: str, classes: Mapping[str, type]) -> Any:
    """Read a definition that may use some classes, by name."""
    shown = shortened(text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise SedscopeError(f"{shown!r} cannot be read. Is a bracket or a comma missing?") from None
    try:
        return _build(tree.body, classes)
    except SedscopeError as error:
        raise SedscopeError(f"{shown!r}: {shortened(str(error), 500)}") from None
    except (RecursionError, MemoryError):
        raise SedscopeError(f"{shown!r} is nested too deeply.") from None


def _build(node: ast.expr, classes: Mapping[str, type]) -> Any:
    """Build the value of a node of the syntax tree."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, type(None))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _build(node.operand, classes)
        if isinstance(operand, (int, float)):
            return -operand
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_build(element, classes) for element in node.elts)
    if isinstance(node, ast.Dict):
        return _build_mapping(node, classes)
    if isinstance(node, ast.Name) and node.id == "inf":
        return float("inf")
    if isinstance(node, ast.Name):
        raise SedscopeError(f"{node.id} needs parameters in brackets. {_choices(node.id, classes)}")
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise SedscopeError(
            f"{ast.unparse(node)} is not a number, a string or one of {listing([*classes])}."
        )
    return _build_call(node, node.func.id, classes)


def _build_mapping(node: ast.Dict, classes: Mapping[str, type]) -> dict[str, Any]:
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    labels = [key for key in keys if isinstance(key, str)]
    if len(labels) < len(keys):
        raise SedscopeError("Only a string in quotes can stand before a colon.")
    _refuse_repeats(labels, "")
    return dict(zip(labels, (_build(value, classes) for value in node.values), strict=True))


def _build_call(node: ast.Call, name: str, classes: Mapping[str, type]) -> Any:
    cls = classes.get(name)
    if cls is None:
        raise SedscopeError(f"{name} is not known. {_choices(name, classes)}")
    fields = [field.name for field in dataclasses.fields(cls)]
    keywords: dict[str, ast.expr] = {}
    _refuse_repeats([str(keyword.arg) for keyword in node.keywords], f"{name}: ")
    for keyword in node.keywords:
        if keyword.arg is None:
            raise SedscopeError(f"{name} takes no **{ast.unparse(keyword.value)}.")
        if keyword.arg not in fields:
            raise SedscopeError(
                f"{name} has no {keyword.arg!r}. Its parameters are {listing(fields, limit=30)}."
            )
        keywords[keyword.arg] = keyword.value
    try:
        return cls(
            *(_build(argument, classes) for argument in node.args),
            **{field: _build(value, classes) for field, value in keywords.items()},
        )
    except TypeError as error:
        raise SedscopeError(str(error).replace("__init__()", "").strip()) from None


def _choices(name: str, classes: Mapping[str, type]) -> str:
    """Say what a name may have meant, or what there is to choose from."""
    near = near_names(name, classes)
    if near:
        return f"Did you mean {' or '.join(f'{other}(…)' for other in near)}?"
    return f"Choose from {listing([f'{known}(…)' for known in classes], limit=30)}."


def _refuse_repeats(names: Iterable[str], owner: str) -> None:
    listed = list(names)
    repeated = sorted({name for name in listed if listed.count(name) > 1})
    if repeated:
        raise SedscopeError(f"{owner}repeated: {listing(repeated)}. Give each once.")


LARGEST_WEIGHT = 1e100
"""The largest weight or cost that a metric takes: its products with counts stay finite."""


def require_number(
    owner: Any,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Refuse a field that is not a number in its range.

    A numpy number becomes a Python number, whose ``repr`` can be read back.
    """
    value = getattr(owner, name)
    if isinstance(value, np.number):
        value = value.item()
        object.__setattr__(owner, name, value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SedscopeError(f"{name}={value!r} must be a number.")
    limits = [] if at_most is not None else [(abs(value) < float("inf"), "finite")]
    if above is not None:
        limits.insert(0, (value > above, f"above {above:g}"))
    if at_least is not None:
        limits.insert(0, (value >= at_least, f"at least {at_least:g}"))
    if at_most is not None:
        limits.append((value <= at_most, f"at most {at_most:g}"))
    required = " and ".join(text for _, text in limits)
    try:
        float(value)
    except OverflowError:
        raise SedscopeError(f"{name} is too large: it must be {required}.") from None
    if not all(holds for holds, _ in limits):
        raise SedscopeError(f"{name}={value!r} must be {required}.")


def require_whole(owner: Any, name: str, *, at_least: int) -> None:
    """Refuse a field that is not a whole number of at least this."""
    require_number(owner, name, at_least=at_least)
    value = getattr(owner, name)
    if value != int(value):
        raise SedscopeError(f"{name}={value!r} must be a whole number.")
    object.__setattr__(owner, name, int(value))


def optional_number(owner: Any, name: str, **limits: float) -> None:
    """Refuse a field that is neither None nor a number in its range."""
    if getattr(owner, name) is not None:
        require_number(owner, name, **limits)


def require_flag(owner: Any, name: str) -> None:
    """Refuse a field that is neither True nor False."""
    if not isinstance(getattr(owner, name), bool):
        raise SedscopeError(f"{name}={getattr(owner, name)!r} must be True or False.")


def require_choice(owner: Any, name: str, choices: Iterable[str]) -> None:
    """Refuse a field that is none of some words."""
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in choices:
        raise SedscopeError(f"{name}={value!r} is not valid. Choose {' or '.join(map(repr, choices))}.")
