"""The progress of a command: a bar on a terminal, and nothing when the output goes elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from ..errors import SedscopeWarning
from ..errors import collected_warnings as collected_warnings

if TYPE_CHECKING:
    from ..data.progress import Progress


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

    console = Console(stderr=True)
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
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
