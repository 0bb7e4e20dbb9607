"""What a command prints: safe text, warnings, and a bar on a terminal."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from ..errors import SedscopeWarning
from ..errors import collected_warnings as collected_warnings
from ..escaping import one_line, printable

if TYPE_CHECKING:
    from ..data.progress import Progress


class PrintableStream(io.TextIOBase):
    """Standard output or error, without characters that control a terminal or cannot be seen.

    Everything that a command prints goes through it: tables, messages, usage errors and tracebacks.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()


def _unescaped(stream: Any) -> Any:
    """Return a standard stream as it was."""
    return getattr(stream, "stream", stream)


def print_data(text: str) -> None:
    """Print the content of a file: unchanged for a file or a program, but safe on a terminal."""
    stream = sys.stdout if sys.stdout.isatty() else _unescaped(sys.stdout)
    stream.write(text)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Show a bar, and yield the function that moves it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(file=_unescaped(sys.stderr), stderr=True)  # the bar moves the cursor
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(one_line(title), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def counting_progress(*, resampling: bool = False) -> Iterator[Progress]:
    """Show the progress of passes over the clips, and of their resamples.

    Python warnings are silenced: the result carries the same texts, and the command prints them.
    """
    title = "counting and resampling" if resampling else "reading and counting"
    with warnings.catch_warnings(), progress_bar(title) as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        yield progress


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print warnings of the library as the command prints its own, at the end.

    If the command fails, its error is all that is printed.
    """
    with collected_warnings() as texts:
        yield
    for text in texts:
        typer.echo(f"warning: {text}", err=True)
