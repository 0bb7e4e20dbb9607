"""Arguments that many functions share, said once.

A group of options is a frozen dataclass. A function that is :func:`taking` a group is called with the
options by name, and gets the group.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from ...errors import SedscopeError

P = ParamSpec("P")


def taking(**groups: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a function, each a group of options, by the options."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(function).parameters
        kept = [parameter for name, parameter in own.items() if name not in groups]
        fields = {name: dataclasses.fields(group) for name, group in groups.items()}
        options = [_parameter(field) for of_group in fields.values() for field in of_group]
        signature = inspect.Signature([*kept, *options])
        name = function.__name__.removeprefix("_")

        def call(*args: Any, **given: Any) -> Any:
            values = bound(signature, name, args, given)
            made = {
                name: group(**{field.name: values.pop(field.name) for field in fields[name]})
                for name, group in groups.items()
            }
            return function(**values, **made)

        return named(call, signature, name, function.__doc__)

    return decorate


def bound(
    signature: inspect.Signature, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by their names, with defaults; what does not fit is said of ``name``."""
    try:
        arguments = signature.bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    arguments.apply_defaults()
    return dict(arguments.arguments)


def _parameter(field: dataclasses.Field[Any]) -> inspect.Parameter:
    missing = field.default is dataclasses.MISSING
    default = inspect.Parameter.empty if missing else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default)


def batched(function: Callable[P, Any], of_lists: Collection[str] = ()) -> Callable[P, Any]:
    """Let a function take a list of scores, or of deltas: it is called for each, and for each value that
    it returns there is a tuple with those of all calls.

    ``of_lists``: arguments that are lists by themselves, so that a batch of them is a list of lists.
    """
    signature = inspect.signature(function)

    def is_batch(name: str, value: Any) -> bool:
        if not isinstance(value, (list, tuple)):
            return False
        if not value:
            raise SedscopeError(f"{name} is an empty list")
        return name not in of_lists or isinstance(value[0], (list, tuple))

    @wraps(function)
    def each(*args: P.args, **options: P.kwargs) -> Any:
        given = bound(signature, function.__name__, args, options)
        names = [
            name
            for name in ("scores", "scores_processed", "deltas")
            if name in given and is_batch(name, given[name])
        ]
        if not names:
            return function(*args, **options)
        call: Callable[..., Any] = function
        rows = zip(*(given[name] for name in names), strict=True)
        return transposed([call(**{**given, **dict(zip(names, row, strict=True))}) for row in rows])

    return each


def transposed(results: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """For each value of a result those of all results."""
    return list(zip(*results, strict=True))


def named(
    function: Callable[..., Any], signature: inspect.Signature, name: str, about: str | None
) -> Callable[..., Any]:
    """A function that is told apart from others like it."""
    made: Any = function
    made.__name__ = made.__qualname__ = name
    made.__doc__ = about
    made.__signature__ = signature
    typed: Callable[..., Any] = made
    return typed
