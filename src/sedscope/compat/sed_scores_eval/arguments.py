"""Options that many functions share, each defined once.

A group of options is a frozen dataclass. A function decorated by :func:`with_options` takes the options
by name and receives the group.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec

from ...errors import SedscopeError

P = ParamSpec("P")


def with_options(**groups: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a function that are groups of options by the options themselves."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(function).parameters
        kept = [parameter for name, parameter in own.items() if name not in groups]
        fields = {name: dataclasses.fields(group) for name, group in groups.items()}
        options = [_parameter(field) for group_fields in fields.values() for field in group_fields]
        signature = inspect.Signature([*kept, *options])
        name = function.__name__.removeprefix("_")

        def call(*args: Any, **keywords: Any) -> Any:
            values = bind_arguments(signature, name, args, keywords)
            group_values = {
                name: group(**{field.name: values.pop(field.name) for field in fields[name]})
                for name, group in groups.items()
            }
            return function(**values, **group_values)

        call.__module__ = function.__module__
        return with_name(call, signature, name, function.__doc__)

    return decorate


def bind_arguments(
    signature: inspect.Signature, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call by name, with defaults. Errors mention the function ``name``."""
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
    """Let a function take a list of scores or deltas.

    The function is called for each element. For each value that it returns, the result has a tuple with
    the values of all calls. ``of_lists``: arguments that are lists anyway, so that a batch of them is a
    list of lists.
    """
    signature = inspect.signature(function)

    def is_batch(name: str, value: Any) -> bool:
        if not isinstance(value, (list, tuple)):
            return False
        if not value:
            raise SedscopeError(f"{name} is an empty list.")
        return name not in of_lists or isinstance(value[0], (list, tuple))

    @wraps(function)
    def each(*args: P.args, **options: P.kwargs) -> Any:
        arguments = bind_arguments(signature, function.__name__, args, options)
        names = [
            name
            for name in ("scores", "scores_processed", "deltas")
            if name in arguments and is_batch(name, arguments[name])
        ]
        if not names:
            return function(*args, **options)
        call: Callable[..., Any] = function
        rows = zip(*(arguments[name] for name in names), strict=True)
        return transpose([call(**{**arguments, **dict(zip(names, row, strict=True))}) for row in rows])

    return each


def transpose(results: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Turn a list of results into one tuple per value."""
    return list(zip(*results, strict=True))


def with_name(
    function: Callable[..., Any], signature: inspect.Signature, name: str, about: str | None
) -> Callable[..., Any]:
    """Give a generated function its name, signature and docstring."""
    generated: Any = function
    generated.__name__ = generated.__qualname__ = name
    generated.__doc__ = about
    generated.__signature__ = signature
    typed: Callable[..., Any] = generated
    return typed
