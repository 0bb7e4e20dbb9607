"""Flatten nested dictionaries, and nest them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....errors import SedscopeError


def flatten(d: Mapping[Any, Any], sep: str | None = ".", *, flat_type: Any = dict) -> dict[Any, Any]:
    """Join nested keys by ``sep``; with None, keys become tuples.

    >>> flatten({"a": 1, "b": {"c": 2, "d": {"e": 3}}})
    {'a': 1, 'b.c': 2, 'b.d.e': 3}
    """
    flat: dict[Any, Any] = {}
    for key, value in d.items():
        if isinstance(value, flat_type) and value:
            deeper = flatten(value, None, flat_type=flat_type)
            flat.update({(key, *inner): leaf for inner, leaf in deeper.items()})
        else:
            flat[(key,)] = value
    return flat if sep is None else {sep.join(keys): value for keys, value in flat.items()}


def deflatten(d: Mapping[Any, Any], sep: str | None = ".", maxdepth: int = -1) -> dict[Any, Any]:
    """Nest flat keys again, at most ``maxdepth`` levels deep unless it is -1.

    >>> deflatten({"a": 1, "b.c": 2, "b.d.e": 3})
    {'a': 1, 'b': {'c': 2, 'd': {'e': 3}}}
    """
    nested: dict[Any, Any] = {}
    for key, value in d.items():
        *outer, last = key if sep is None else key.split(sep, maxdepth)
        inner = nested
        for part in outer:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise SedscopeError(f"{key!r} is below a key that has a value.")
        if last in inner:
            raise SedscopeError(f"{key!r} occurs twice, or has a value and keys below it.")
        inner[last] = value
    return nested
