"""How commands declare arguments and options; groups of options are dataclasses, which commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, get_args, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand
from typer.models import OptionInfo

from ...errors import SedscopeError, collected_warnings

if TYPE_CHECKING:
    from ...io.atomic_write import OutputKind
    from ...io.locations import Location

PathTexts: TypeAlias = "Iterable[str | Location]"
Reads: TypeAlias = Callable[[Any], PathTexts]
"""Returns the files that a value names."""


def option(
    default: Any,
    help: str,
    *names: str,
    reads: Reads | None = None,
    writes: OutputKind | None = None,
    **settings: Any,
) -> Any:
    """Declare an option: as the default of a parameter of a command, or of a field of a group.

    ``default``: ``...`` if it is needed. ``reads``: for a value that is no path but names files.
    ``writes``: what it names is written. ``settings``: those of typer.
    """
    info = typer.Option(*names, help=help, **settings)
    return _declared(default, info, reads, writes)


def argument(
    help: str,
    *,
    default: Any = ...,
    reads: Reads | None = None,
    writes: OutputKind | None = None,
    **settings: Any,
) -> Any:
    """Declare an argument as the default of a parameter of a command; see :func:`option`."""
    return _declared(default, typer.Argument(help=help, **settings), reads, writes)


def output_option(default: Any, help: str, kind: OutputKind = "file") -> Any:
    """Declare the option ``--output``. ``kind``: what it may name."""
    return option(default, help, "--output", "-o", writes=kind)


def _declared(default: Any, info: Any, reads: Reads | None, writes: OutputKind | None) -> Any:
    return field(default=default, metadata={"info": info, "reads": reads, "writes": writes})


def as_location(text: str | Location) -> Location:
    """Return the path or address that a text names."""
    from ...io.locations import location

    if text == "":
        raise typer.BadParameter("The name of the file or folder is empty.")
    return location(text)


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


_WORDS: dict[Any, str] = {
    **dict.fromkeys((int, float), "NUMBER"),
    **dict.fromkeys((str, list[str]), "TEXT"),
    **dict.fromkeys((Path, list[Path]), "PATH"),
}
"""What the help calls the values of options, by their type."""


@dataclass(frozen=True)
class OptionGroup:
    """Options that belong together. All of them have a default."""

    panel: ClassVar[str]
    """The title of the part of the help that lists the group."""

    def changed_options(self) -> list[str]:
        """Return the options that differ from their default, as they are typed."""
        return [
            next(iter(part.metadata["info"].param_decls or ()), f"--{part.name.replace('_', '-')}")
            for part in fields(self)
            if getattr(self, part.name) != part.default
        ]


def options_given(*groups: OptionGroup, **others: object) -> list[str]:
    """Return the options that were given, as they are typed. ``others``: options of no group, with values."""
    options = [option for group in groups for option in group.changed_options()]
    return [*options, *(f"--{name.replace('_', '-')}" for name, value in others.items() if value)]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace what a command declares by parameters that typer reads, those of groups one by one.

    Files are checked before the command runs. Warnings of the library are printed after what it prints.
    """
    parameters: list[Parameter] = []
    groups: dict[str, type[OptionGroup]] = {}
    declared: dict[str, Any] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        group = parameter.annotation
        if isinstance(group, type) and issubclass(group, OptionGroup):
            groups[name] = group
            hints = get_type_hints(group)
            own = [(part.name, hints[part.name], part, group.panel) for part in fields(group)]
        else:
            own = [(name, group, parameter.default, "")]
        for each, kind, part, panel in own:
            declared[each] = part.metadata
            parameters.append(_parameter(each, kind, part, panel))

    @wraps(command)
    def run(**values: object) -> None:
        _check_files([(value, declared[name]) for name, value in values.items() if value is not None])
        for name, group in groups.items():
            values[name] = group(**{part.name: values.pop(part.name) for part in fields(group)})
        with _shown_warnings():
            command(**values)

    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, kind: Any, part: Any, panel: str) -> Parameter:
    """Return what typer reads. Paths are parsed, flags have no opposite, and the help says what to give."""
    info, kinds = copy(part.metadata["info"]), {kind, *get_args(kind)}
    if kinds & {Path, list[Path]}:
        info.parser = as_location
    if isinstance(info, OptionInfo):
        info.metavar = info.metavar or next((word for of, word in _WORDS.items() if of in kinds), None)
        info.rich_help_panel = panel or None
        if part.default is False and not info.param_decls:
            info.param_decls = (f"--{name.replace('_', '-')}",)
    default = Parameter.empty if part.default is ... else part.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


@contextmanager
def _shown_warnings() -> Iterator[None]:
    """Print warnings of the library as the command prints its own, at the end.

    If the command fails, its error is all that is printed.
    """
    with collected_warnings() as texts:
        yield
    for text in texts:
        typer.echo(f"warning: {text}", err=True)


def _check_files(parameters: Iterable[tuple[Any, Any]]) -> None:
    """Check what a command reads and writes, before any work is done.

    An output needs a folder, and must not be an input or another output. ``parameters``: the value of
    each parameter, and what it declares.
    """
    inputs: list[tuple[Any, Reads]] = []
    outputs: list[Location] = []
    for value, declared in parameters:
        if declared["writes"] is None:
            inputs.append((value, declared["reads"] or _paths))
        else:
            outputs += [
                _checked_output(path, declared["writes"]) for path in _as_list(value) if path != "-"
            ]
    if outputs:
        from ...io.output_checks import refuse_overwriting

        named = [path for value, paths in inputs for path in paths(value)]
        refuse_overwriting(outputs, [path for path in named if path != ""])  # that is refused later


def _checked_output(path: str | Location, kind: OutputKind) -> Location:
    """Return the location of an output. Refuse one that cannot be written."""
    from ...io.atomic_write import check_output

    if path == "":
        raise SedscopeError("The name of an output file is empty.")
    target = as_location(path)
    if str(target) == "-":
        raise SedscopeError("Cannot write -: this output cannot be printed. Give the name of a file.")
    check_output(target, kind)
    return target


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _paths(value: Any) -> list[Location]:
    """Return the value of a parameter that holds one or several paths; other values name no files."""
    from ...io.locations import Address

    return [item for item in _as_list(value) if isinstance(item, (Path, Address))]
