"""How a pass runs: the options that every command and function with a pass shares."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..errors import SedscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.progress import Progress
    from .engine import Engine


EngineName: TypeAlias = Literal["threads", "dask"]

ENGINES = {"threads": "threads", "dask": "dask"}
"""The module of each engine, by name. Its function ``open_engine(options)`` opens the engine."""


@dataclass(frozen=True)
class RunOptions:
    """How a pass over the clips runs. None of the options changes a value."""

    threads: int | None = None
    """The number of threads; one per core unless given."""
    engine: str = "threads"
    """Where the pass runs: a name of ``ENGINES``."""
    scheduler: object = None
    """The address or client of a Dask scheduler; a cluster on this machine unless given."""
    checkpoint: str | Path | None = None
    """A folder that keeps finished parts, so that an interrupted run continues where it stopped."""
    memory: str | float | None = None
    """A limit on memory, e.g. ``"4GB"``: the classes are counted in blocks that stay within it."""
    progress: Progress | None = None
    """Called with the number of clips done and of all clips."""

    def memory_limit(self) -> int | None:
        """Return the limit on memory in bytes; None if there is none."""
        if self.memory is None:
            return None
        from ..data.size_limits import parse_bytes

        return parse_bytes(self.memory)

    def open_engine(self) -> AbstractContextManager[Engine]:
        """Open the engine, and close it at the end of the ``with`` block."""
        if self.engine not in ENGINES:
            names = " or ".join(map(repr, ENGINES))
            raise SedscopeError(f"engine={self.engine!r} is not valid. Choose {names}.")
        module = import_module(f".{ENGINES[self.engine]}", __package__)
        opener: Callable[[RunOptions], AbstractContextManager[Engine]] = module.open_engine
        return opener(self)
