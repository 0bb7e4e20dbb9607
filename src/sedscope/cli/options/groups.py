"""Option groups: a command takes a dataclass as a parameter, and gets one option for each of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

from typer.core import TyperArgument, TyperCommand
from typer.models import OptionInfo

from .arguments import check_files, shown_warnings


class CommandWithSections(TyperCommand):
    """A command whose help has a section for its arguments and for each group of options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line: options, then arguments as their section names them."""
        arguments = [part for part in self.get_params(ctx) if isinstance(part, TyperArgument)]
        names = [(_argument_name(part), part.required) for part in arguments]
        return [self.options_metavar or "", *(name if needed else f"[{name}]" for name, needed in names)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if isinstance(parameter, TyperArgument):
                sections.setdefault("Arguments", []).append((_argument_name(parameter), record[1]))
            else:
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(panel, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _argument_name(argument: TyperArgument) -> str:
    return argument.metavar or str(argument.name).upper()


_WORDS = {int: "NUMBER", float: "NUMBER", str: "TEXT", list[str]: "TEXT"}
"""What the help calls the values of options, by their type."""


@dataclass(frozen=True)
class OptionGroup:
    """Options that belong together. All of them have a default."""

    panel: ClassVar[str]
    """The title of the part of the help that lists the group."""

    def changed_options(self) -> list[str]:
        """Return the options that differ from their default, as they are typed."""
        changed = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return [_option_name(type(self), field.name) for field in changed]


def options_given(*groups: OptionGroup, **others: object) -> list[str]:
    """Return the options that were given, as they are typed. ``others``: options of no group, with values."""
    options = [option for group in groups for option in group.changed_options()]
    return [*options, *(f"--{name.replace('_', '-')}" for name, value in others.items() if value)]


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
            kind, option, *file_marks = get_args(annotation)
            in_words = _annotated(kind, _with_word(option, kind), file_marks)
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=in_words))

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
        in_panel = _with_word(option, kind)
        in_panel.rich_help_panel = group.panel
        annotation = _annotated(kind, in_panel, marks)
        parameters.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
        )
    return parameters


def _annotated(kind: Any, option: Any, marks: Iterable[Any]) -> Any:
    annotation: Any = Annotated[kind, option]
    for mark in marks:
        annotation = Annotated[annotation, mark]
    return annotation


def _with_word(option: Any, kind: Any) -> Any:
    """Return a copy of an option whose help says in a word what to give."""
    in_words = copy(option)
    kinds = {kind, *get_args(kind)}
    word = next((word for of_kind, word in _WORDS.items() if of_kind in kinds), None)
    if isinstance(option, OptionInfo) and option.metavar is None:
        in_words.metavar = word
    return in_words


def _option_name(group: type[OptionGroup], name: str) -> str:
    """Return the option of a field as it is typed."""
    _, option, *_marks = get_args(_hints(group)[name])
    names: tuple[str, ...] = option.param_decls or ()
    return next(iter(names), f"--{name.replace('_', '-')}")


def _hints(group: type[OptionGroup]) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)
