"""How a pass runs: the options that every command and function with a pass shares."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..errors import SedscopeError, shortened

if TYPE_CHECKING:  # the command line reads the options without the engines
    from pathlib import Path

    from ..data.progress import Progress
    from .engine import Engine

EngineName: TypeAlias = Literal["threads", "dask"]

ENGINES = {"threads": "threads", "dask": "dask"}
"""The module of each engine, by name. Its function ``open_engine(options)`` opens the engine."""


_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


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
        return None if self.memory is None else parse_bytes(self.memory)

    def open_engine(self) -> AbstractContextManager[Engine]:
        """Open the engine, and close it at the end of the ``with`` block."""
        if self.engine not in ENGINES:
            names = " or ".join(map(repr, ENGINES))
            raise SedscopeError(f"engine={self.engine!r} is not valid. Choose {names}.")
        module = import_module(f".{ENGINES[self.engine]}", __package__)
        opener: Callable[[RunOptions], AbstractContextManager[Engine]] = module.open_engine
        return opener(self)


def parse_bytes(text: str | float) -> int:
    """Read a number of bytes: ``GB`` are powers of 1000, ``GiB`` powers of 1024.

    >>> parse_bytes("4GB"), parse_bytes("500 MB"), parse_bytes("1GiB"), parse_bytes(1e6)
    (4000000000, 500000000, 1073741824, 1000000)
    """
    try:
        written, shown = str(text), repr(text)
    except ValueError:  # Python does not write integers of thousands of digits
        written = shown = "a number of thousands of digits"
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?(?:[eE]\+?\d+)?)\s*(?:([kKMGT])(i?))?B?\s*", written)
    number = 0.0
    if match is not None:
        number = float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[(match[2] or "").upper()]
    if not 1 <= number < math.inf:
        raise SedscopeError(
            f"memory={shortened(shown, 60)} is not a number of bytes. Give it as '4GB' or '500MB'."
        )
    return int(number)
