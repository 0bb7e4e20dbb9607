"""Ways to go through all clips: on the threads of this process, in parts that are kept, on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import SedscopeError
from .floor_search import Engine

EngineChoice: TypeAlias = Literal["threads", "dask"]


@contextmanager
def chosen_engine(
    engine: EngineChoice,
    scheduler: Any = None,
    checkpoint: str | Path | None = None,
    threads: int | None = None,
) -> Iterator[Engine | None]:
    """The engine of a name; None for the threads of this process."""
    if engine not in ("threads", "dask"):
        raise SedscopeError(f"engine={engine!r}: choose 'threads' or 'dask'")
    if engine == "dask":
        from .dask import DaskEngine
        from .dask_client import client_of

        if checkpoint is not None:
            raise SedscopeError("a checkpoint is for one machine: choose engine='threads' with it")
        with client_of(scheduler, threads) as client:
            yield DaskEngine(client)
        return
    if scheduler is not None:
        raise SedscopeError("a scheduler is for engine='dask'")
    if checkpoint is None:
        yield None
        return
    from .checkpoint import CheckpointEngine

    yield CheckpointEngine(checkpoint)
