"""The command line: each command imports what it needs when it runs."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import typer

from ..data.choices import parse_bytes
from ..errors import SedscopeError, readable
from ..io.locations import DOWNLOAD_LIMIT
from .options.arguments import PrintableStream

COMMANDS = {
    "evaluate": "evaluate",
    "report": "evaluate",
    "compare": "compare",
    "rank": "rank",
    "deltas": "deltas",
    "tune": "tune",
    "calibrate": "calibrate",
    "detect": "detect",
    "diagnose": "diagnosis",
    "errors": "diagnosis",
    "errors apply": "diagnosis",
    "latency": "diagnosis",
    "review plan": "review",
    "review estimate": "review",
    "validate": "validate",
    "verify": "validate",
    "check": "tasks",
    "labels": "convert",
    "convert": "convert",
    "metrics": "tasks",
    "presets": "tasks",
    "tasks": "tasks",
    "formats": "tasks",
    "demo": "demo",
}
"""All commands, and the modules that define them. A command may have two words."""


def program(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the program with some of its commands: a command that is not asked for is not loaded."""
    from .options.groups import CommandWithSections, with_options

    app = typer.Typer(
        name="sedscope",
        help="Evaluate sound event detection exactly, at every decision threshold at once.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in commands:
        command = getattr(import_module(f".{COMMANDS[name]}", __name__), name.replace(" ", "_"))
        app.command(name, cls=CommandWithSections)(with_options(command))
    app.callback()(_program_options)
    return app


def _show_version(requested: bool) -> None:
    if requested:
        from .. import __version__

        typer.echo(f"sedscope {__version__}")
        raise typer.Exit


def _program_options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
    max_download: str | None = typer.Option(
        None,
        envvar=DOWNLOAD_LIMIT,
        help="How much of a file at an address may be read at once, e.g. 10GB. [default: 2GB]",
    ),
) -> None:
    """Options of the program itself."""
    if max_download is not None:
        parse_bytes(max_download, "--max-download")
        os.environ[DOWNLOAD_LIMIT] = max_download  # for the processes of a cluster, too


def main() -> None:
    """Run the command line. Invalid input ends with one message and exit code 2."""
    codecs.register_error("readable", _readable_characters)
    for name in ("stdout", "stderr"):  # print what the console can show, and never fail
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="readable")
        if stream is not None:  # Python has none if it is closed
            setattr(sys, name, PrintableStream(stream))
    if sys.stdout is None:
        _fail("Cannot write the output: standard output is closed. Send it to a file, or to /dev/null.")
    try:
        try:
            arguments = sys.argv[1:]
            if " ".join(arguments[:2]) in COMMANDS:
                arguments = [" ".join(arguments[:2]), *arguments[2:]]
            named = [name for name in arguments[:1] if name in COMMANDS]
            program(named or COMMANDS)(arguments, prog_name="sedscope")
        finally:
            sys.stdout.flush()
    except SedscopeError as error:
        _fail(str(error))
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        _fail(
            f"There is not enough memory{reason}. Use fewer clips, classes or resamples at a time, or "
            "limit the memory with --memory."
        )
    except OSError as error:
        # All files are opened and written where errors name them, so this is an output stream.
        where = "the output" if error.filename is None else error.filename
        _discard_output()
        _fail(f"Cannot {'write' if error.filename is None else 'use'} {where}: {error.strerror}.")
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of polars, which may not be loaded
            raise
        _fail(f"polars failed: {error}. There may be too little memory.")


def _readable_characters(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is printed instead of characters that the console cannot show.

    Bytes of file names that are not UTF-8 become ``�``, or ``?`` where that cannot be shown either. Other
    characters become their number, as in ``\\u2013``.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if all("\ud800" <= character <= "\udfff" for character in error.object[error.start : error.end]):
        return ("�" * (error.end - error.start)).encode(error.encoding, "replace"), error.end
    return codecs.backslashreplace_errors(error)


def _fail(message: str) -> NoReturn:
    """Print an error, and end with exit code 2."""
    with suppress(OSError):
        typer.echo(f"error: {readable(message)}", err=True)
    sys.exit(2)


def _discard_output() -> None:
    """Send what is still to be written to standard output nowhere, so that Python can close it."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (not a path)
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
