"""Lists of all that is public: names, signatures, members of classes, commands and options."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, GenericAlias, ModuleType, NoneType, UnionType
from typing import Any, ForwardRef, Protocol, Union, get_args, get_origin

from typer.models import ArgumentInfo

import sedscope as sed
from sedscope.cli import program

from ..support.project import ROOT

COMMANDS = "commands"
PUBLIC_MODULES: list[str] = re.findall(
    r"^\| `(sedscope[\w.]*)` \|", (ROOT / "docs/stability.md").read_text(encoding="utf-8"), re.MULTILINE
)
PARTS = (*PUBLIC_MODULES, COMMANDS)
NEEDED = {
    "sedscope.compat.psds_eval": ("pandas",),
    "sedscope.compat.sed_scores_eval": ("pandas",),
    "sedscope.torch": ("torch", "torchmetrics"),
}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def stored_file(part: str) -> Path:
    """Return the file that keeps the list of a part."""
    return Path(__file__).parent / f"{part}.txt"


def listing(part: str) -> str:
    """Return the list of a module, or of all commands, as a text."""
    lines = _command_lines() if part == COMMANDS else _module_lines(part)
    return "\n".join(lines) + "\n"


def missing_packages(part: str) -> list[str]:
    """Return the optional packages that a part needs and that are not installed."""
    return [package for package in NEEDED.get(part, ()) if find_spec(package) is None]


def load(module: str) -> ModuleType:
    """Import a module, or one that ``sedscope`` has under a shorter name."""
    shorter = getattr(sed, module.removeprefix("sedscope."), None)
    return shorter if isinstance(shorter, ModuleType) else import_module(module)


def public_names(module: ModuleType) -> list[str]:
    """Return the public names of a module, as type checkers see them."""
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    assert module.__file__ is not None
    names: set[str] = set()
    for statement in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom):
            names |= {alias.name for alias in statement.names if alias.name == alias.asname}
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return sorted(name for name in names if not name.startswith("_"))


def _module_lines(module: str) -> Iterator[str]:
    loaded = load(module)
    for name in public_names(loaded):
        value = getattr(loaded, name)
        if module != "sedscope" and name in sed.__all__ and getattr(sed, name) is value:
            yield f"{name}: as in sedscope"
        elif isinstance(value, ModuleType) and module == "sedscope":
            yield f"{name}: a module"
        elif isinstance(value, ModuleType):
            yield from (f"{name}.{line}" for line in _module_lines(value.__name__))
        elif isinstance(value, type) and not isinstance(value, GenericAlias):  # both, in Python 3.10
            yield from _class_lines(name, value)
        elif isinstance(value, FunctionType):
            yield f"{name}{_signature(value)}"
        else:
            yield f"{name}: {type(value).__name__}"


@cache
def _listed_classes() -> set[type]:
    """Return all public classes that need no optional package."""
    modules = [load(module) for module in PUBLIC_MODULES if module not in NEEDED]
    values = [getattr(module, name) for module in modules for name in public_names(module)]
    return {value for value in values if isinstance(value, type)}


def _class_lines(name: str, cls: type) -> Iterator[str]:
    """Iterate over the lines of a class: how to make one, and the members that no listed base has."""
    bases = ", ".join(base.__name__ for base in cls.__bases__ if base is not object)
    yield f"class {name}{f'({bases})' if bases else ''}"
    makers = [getattr(cls, maker) for maker in ("__init__", "__new__")]
    if Protocol not in cls.__bases__ and any(isinstance(maker, FunctionType) for maker in makers):
        yield f"    {_signature(cls)}"
    members: dict[str, str] = {}
    elsewhere = {home for base in cls.__mro__[1:] if base in _listed_classes() for home in base.__mro__}
    for home in reversed(cls.__mro__):
        if home.__module__.startswith("sedscope") and home not in elsewhere:
            members |= _members(home)
    yield from (f"    .{member}{kind}" for member, kind in sorted(members.items()))


def _members(cls: type) -> dict[str, str]:
    """Return the public members that a class defines, each with its signature or its type."""
    members = {member: f": {kind}" for member, kind in inspect.get_annotations(cls).items()}
    for member, value in vars(cls).items():
        function = getattr(value, "__func__", value)
        if isinstance(value, (property, cached_property)):
            getter = value.fget if isinstance(value, property) else value.func
            returned = inspect.signature(getter).return_annotation if getter else "Any"
            members[member] = f": {returned}"
        elif isinstance(function, FunctionType):
            members[member] = _signature(function)
    return {member: kind for member, kind in members.items() if not member.startswith("_")}


class _Unquoted(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Any) -> str:
    """Return a signature with its annotations as they are written, and without addresses."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_unquoted(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returned = _unquoted(signature.return_annotation)
    return _ADDRESS.sub("", str(signature.replace(parameters=parameters, return_annotation=returned)))


def _unquoted(annotation: object) -> object:
    if isinstance(annotation, ForwardRef):  # of a NamedTuple
        annotation = annotation.__forward_arg__
    return _Unquoted(annotation) if isinstance(annotation, str) else annotation


def _command_lines() -> Iterator[str]:
    for command in sorted(program().registered_commands, key=lambda command: command.name or ""):
        yield f"sedscope {command.name}"
        assert command.callback is not None
        for name, parameter in inspect.signature(command.callback).parameters.items():
            yield f"    {_parameter_line(name, parameter)}"


def _parameter_line(name: str, parameter: inspect.Parameter) -> str:
    """Describe an argument or an option of a command: how it is typed, its type and its default."""
    kind, option, *_ = get_args(parameter.annotation)
    spelling = ", ".join(option.param_decls or [f"--{name.replace('_', '-')}"])
    if isinstance(option, ArgumentInfo):
        spelling = option.metavar or name.upper()
    required = parameter.default in (inspect.Parameter.empty, ...)
    return f"{spelling}: {_type_name(kind)}{'' if required else f' = {parameter.default!r}'}"


def _type_name(kind: Any) -> str:
    """Write a type in the same way in all versions of Python."""
    arguments = get_args(kind)
    if get_origin(kind) in (Union, UnionType):
        return " | ".join(map(_type_name, arguments))
    if get_origin(kind) is list:
        return f"list[{_type_name(arguments[0])}]"
    if kind is NoneType:
        return "None"
    return kind.__name__ if isinstance(kind, type) else str(kind).removeprefix("typing.")
