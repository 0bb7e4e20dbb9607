"""Options in groups: a command takes a dataclass, and has an option for each of its fields. All have a
default. ``panel`` names the part of the help in which the group stands."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in the place of the groups, for typer to read."""
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            parameters += _options(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(group: Any) -> list[Parameter]:
    """An option for each field, in the part of the help that the group has."""
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        kind, option = get_args(hints[field.name])
        shown = copy(option)
        shown.rich_help_panel = group.panel
        parameters.append(
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[kind, shown],
            )
        )
    return parameters
