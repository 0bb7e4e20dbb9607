"""The help of a command: plain text in sections, in which no name is ever cut."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand


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
