"""Option groups: a command takes a dataclass as a parameter, and gets one option for each of its fields."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

from .options import check_files
from .progress import shown_warnings


@dataclass(frozen=True)
class OptionGroup:
    """Options that belong together. All of them have a default."""

    panel: ClassVar[str]
    """The title of the part of the help that lists the group."""

    def changed_options(self) -> list[str]:
        """Return the options that differ from their default, as they are typed."""
        changed = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return [_option_name(type(self), field.name) for field in changed]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the groups in the signature of a command by their options, for typer to read.

    Warnings of the library are printed after what the command prints.
    """
    parameters: list[Parameter] = []
    groups: dict[str, type[OptionGroup]] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, type) and issubclass(annotation, OptionGroup):
            groups[name] = annotation
            parameters += _options(annotation)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    marks = {parameter.name: get_args(parameter.annotation)[2:] for parameter in parameters}

    @wraps(command)
    def run(**values: object) -> None:
        check_files([(values[name], marks[name]) for name in values])
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        with shown_warnings():
            command(**values)

    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(group: type[OptionGroup]) -> list[Parameter]:
    """Return one parameter for each field, with its option in the panel of the group."""
    parameters = []
    hints = _hints(group)
    for field in fields(group):
        kind, option, *marks = get_args(hints[field.name])
        in_panel = copy(option)
        in_panel.rich_help_panel = group.panel
        annotation: Any = Annotated[kind, in_panel]
        for mark in marks:
            annotation = Annotated[annotation, mark]
        parameters.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
        )
    return parameters


def _option_name(group: type[OptionGroup], name: str) -> str:
    """Return the option of a field as it is typed."""
    _, option, *_marks = get_args(_hints(group)[name])
    names: tuple[str, ...] = option.param_decls or ()
    return next(iter(names), f"--{name.replace('_', '-')}")


def _hints(group: type[OptionGroup]) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)
