"""Every public function and method documents its parameters and what it returns, in numpydoc's sections."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import pytest

import sedscope as sed


def _functions_of(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Iterate over the public methods that a class introduces; an override is documented by its base."""
    for name, attribute in vars(cls).items():
        method = getattr(attribute, "__func__", attribute)
        introduced = not any(name in vars(base) for base in cls.__mro__[1:])
        if isinstance(method, FunctionType) and not name.startswith("_") and introduced:
            yield f"{cls.__name__}.{name}", method


def _public_functions() -> dict[str, FunctionType]:
    functions: dict[str, FunctionType] = {}
    for name in sed.__all__:
        thing = getattr(sed, name)
        if isinstance(thing, FunctionType):
            functions[name] = thing
        for cls in inspect.getmro(thing) if isinstance(thing, type) else ():
            if cls.__module__.startswith("sedscope.") and not cls.__name__.startswith("_"):
                functions.update(_functions_of(cls))
    return functions


FUNCTIONS = _public_functions()


def _has(section: str, function: Callable[..., Any]) -> bool:
    return f"{section}\n{'-' * len(section)}\n" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_documents_its_parameters_and_what_it_returns(name: str) -> None:
    function = FUNCTIONS[name]
    signature = inspect.signature(function)
    if set(signature.parameters) - {"self", "cls"}:
        assert _has("Parameters", function)
    if signature.return_annotation not in (None, "None"):
        assert _has("Returns", function) or _has("Yields", function)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "." not in name])
def test_a_function_has_an_example(name: str) -> None:
    assert _has("Examples", FUNCTIONS[name])


@pytest.mark.parametrize("name", [name for name in sed.__all__ if isinstance(getattr(sed, name), type)])
def test_a_class_documents_its_fields_and_has_an_example(name: str) -> None:
    thing = getattr(sed, name)
    if not issubclass(thing, (Exception, Warning)):
        # a base class, which others give their fields, or a definition without parameters
        no_parameters = is_dataclass(thing) and not fields(thing)
        fieldless = thing.__init__ is object.__init__ or no_parameters
        assert fieldless or _has("Parameters", thing) or _has("Attributes", thing)
        assert _has("Examples", thing)
