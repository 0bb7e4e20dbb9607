"""The help of a command: plain text in sections, in which no name is ever cut."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand


class CommandWithSections(TyperCommand):
    """A command whose help has a section for its arguments and for each group of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if isinstance(parameter, TyperArgument):
                name, meaning = parameter.metavar or str(parameter.name).upper(), record[1]
                sections.setdefault("Arguments", []).append((name, meaning))
            else:
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(panel, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
