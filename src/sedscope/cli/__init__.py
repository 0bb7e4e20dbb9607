"""The command line: ``sedscope COMMAND``. What a command needs is imported when it runs."""

from __future__ import annotations

import io
import sys

import typer

from ..errors import SedscopeError
from . import compare, convert, deltas, demo, evaluate, report, validate
from . import tune as points
from .option_groups import with_options

app = typer.Typer(
    name="sedscope",
    help="Exact evaluation of sound event detection, at every decision threshold at once.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("evaluate")(with_options(evaluate.evaluate))
app.command("report")(with_options(report.report))
app.command("compare")(with_options(compare.compare))
app.command("deltas")(with_options(deltas.deltas))
app.command("tune")(with_options(points.tune))
app.command("detect")(with_options(points.detect))
app.command("presets")(with_options(points.presets))
app.command("validate")(with_options(validate.validate))
app.command("convert")(with_options(convert.convert))
app.command("formats")(with_options(convert.formats))
app.command("demo")(with_options(demo.demo))


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"sedscope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the command line; bad input ends with one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # what a console cannot show is no reason to fail
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if stream is sys.stdout else "backslashreplace")
    try:
        app(prog_name="sedscope")
    except SedscopeError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
