"""Where the pass over the clips runs, and how much memory it may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ...engines.run import EngineName, Run
from ...errors import SedscopeError
from .groups import OptionGroup, option

if TYPE_CHECKING:
    from ...alignment.alignment import Alignment
    from ...metrics import Metric
    from ...progress import Progress

_LARGE_SET = 1_000_000
"""Clips × classes of a set whose memory is worth estimating before the run."""


@dataclass(frozen=True)
class ThreadOptions(OptionGroup):
    """The number of threads, for commands that always run in this process."""

    panel: ClassVar[str] = "Engine"

    threads: int | None = option(None, "Number of threads. [default: one per core]")


@dataclass(frozen=True)
class EngineOptions(ThreadOptions):
    """Where the pass over the clips runs. None of the options changes a value."""

    engine: EngineName = option(
        "threads",
        "Where to count: on 'threads' of this process, or on a cluster of 'dask', 'ray' or 'spark'.",
    )
    scheduler: str | None = option(None, "Address of the cluster. [default: a cluster on this machine]")
    checkpoint: Path | None = option(
        None,
        "Folder that keeps finished parts, so that an interrupted run continues where it "
        "stopped. Several systems may share it.",
        writes="folder",
    )

    def run(self, progress: Progress | None = None, memory: str | None = None) -> Run:
        """Return how the library runs a pass."""
        return Run(self.threads, self.engine, self.scheduler, self.checkpoint, memory, progress)


@dataclass(frozen=True)
class MemoryOptions(OptionGroup):
    """How much memory an evaluation may take, and whether it says how much it takes."""

    panel: ClassVar[str] = "Engine"

    memory: str | None = option(
        None, "Memory limit, e.g. 4GB. The classes are counted in blocks that stay within it."
    )
    verbose: bool = option(False, "Print the expected and the used memory.")

    def announce(
        self, alignment: Alignment, metrics: Sequence[Metric[Any]], threads: int | None
    ) -> None:
        """Print how much memory is expected, if that was asked for or if the machine has less.

        Small sets, and runs with a limit, are estimated only if that was asked for.
        """
        large = len(alignment.scores) * len(alignment.scores.classes) > _LARGE_SET
        if not self.verbose and (self.memory is not None or not large):
            return
        from ...evaluation.class_blocks import estimate_memory, machine_memory
        from ...metrics.metric import delta_requests

        try:
            expected = estimate_memory(alignment, delta_requests(metrics), threads).bytes
        except SedscopeError:
            return  # the pass over all clips reports every problem
        available = machine_memory()
        if self.verbose or expected > available:
            _print(f"about {expected / 1e9:.2g} GB expected for deltas and counts")
        if expected > available:
            limit = max(1, int(available / 2e9))
            _print(
                f"this machine has {available / 1e9:.2g} GB; --memory {limit}GB counts classes in blocks"
            )

    def print_peak(self) -> None:
        """Print how much memory was used, if that was asked for."""
        if not self.verbose:
            return
        peak = _peak_memory()
        if peak is None:
            _print("this system does not tell how much was used at the peak")
        else:
            _print(f"{peak / 1e9:.2g} GB used at the peak, including the program itself")


@dataclass(frozen=True)
class AnnouncedRun(Run):
    """A run that announces the memory that it takes."""

    options: MemoryOptions = MemoryOptions()

    def _before_pass(self, alignment: Alignment, metrics: Sequence[Any]) -> None:
        self.options.announce(alignment, metrics, self.threads)


def _print(message: str) -> None:
    typer.echo(f"memory: {message}", err=True)


def _peak_memory() -> float | None:
    """Return the largest memory of this process so far, in bytes; None if the system does not tell."""
    import sys

    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024.0 * peak
