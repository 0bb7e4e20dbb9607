"""How a pass runs: ``Run``, which every function with a pass takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import SedscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from ..alignment.alignment import Alignment
    from ..progress import Progress, ProgressChoice
    from .engine import Engine


EngineName: TypeAlias = Literal["threads", "dask", "ray", "spark"]

ENGINES = {"threads": "engine", "dask": "dask", "ray": "ray", "spark": "spark"}
"""The module of each engine, by name. Its function ``open_engine(run)`` opens the engine."""


@dataclass(frozen=True)
class Run:
    """How a pass over the clips runs. Nothing of it changes a value.

    Parameters
    ----------
    threads : int, optional
        The number of threads; one per core unless given.
    engine : {"threads", "dask", "ray", "spark"}, default "threads"
        Where the pass runs: on threads of this process, or on a cluster. Large sets are then counted in
        blocks of classes on the workers. The result keeps only what the metrics read, and no deltas.
    scheduler : str, distributed.Client or SparkSession, optional
        The address of the cluster (of the scheduler, the head node or the master), or what is connected to
        it. Without it, a cluster is started on this machine, unless this process is connected to one of Ray
        or has an active Spark session.
    checkpoint : path or address, optional
        A folder that keeps finished parts, so that an interrupted run continues where it stopped. Several
        systems and evaluations may share it: parts are used only where everything is the same. On a cluster,
        all workers must be able to write to it; it may be an address of an object store.
    memory : str or float, optional
        A limit, e.g. ``"4GB"``, for :func:`~sedscope.evaluate`. The classes are counted in blocks that stay
        within it. With several blocks, the deltas go to a temporary file, whose folder the environment
        variable ``TMPDIR`` names, and the clips are still read once. Values and thresholds are the same,
        but the result keeps only the counts that the metrics read, and no deltas: curves, other averages
        and reports that need more are refused.
    progress : bool or callable, optional
        True shows a bar in a notebook or terminal, and writes a line every ten seconds elsewhere. A function
        is called with the number of steps done and of all steps: a step is a clip, or a resample of one
        metric. A clip or part that cannot be evaluated is also a warning of the logger ``sedscope`` while the
        others go on, if the pass takes longer than ten seconds; False keeps that silent, too.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sed.evaluate(scores, truth, "psds1", run=sed.Run(threads=1, memory="1GB"))["psds1"].value
    1.0
    """

    threads: int | None = None
    engine: EngineName = "threads"
    scheduler: object = None
    checkpoint: str | Path | None = None
    memory: str | float | None = None
    progress: ProgressChoice = None

    @classmethod
    def _of(cls, run: Run | None, title: str, *uses: str, unit: tuple[str, int] = ("", 1)) -> Run:
        """Return a run whose progress is a function; by default one on all cores.

        ``title``: what a progress bar says is being done. ``uses``: what the caller can use beside threads
        and progress; anything else is refused. ``unit``: what the bar counts, and the steps of each.
        """
        from ..progress import as_progress

        run = cls() if run is None else run
        if not isinstance(run, cls):
            raise SedscopeError(f"run={run!r} is not valid. Give a Run, such as run=Run(threads=2).")
        unused = [
            name
            for name in ("engine", "scheduler", "checkpoint", "memory")
            if name not in uses and getattr(run, name) != getattr(cls, name)
        ]
        if unused:
            raise SedscopeError(
                f"{title} cannot use {' and '.join(f'{name}=' for name in unused)} of a run."
            )
        return replace(run, progress=as_progress(run.progress, title, unit))

    @property
    def _steps(self) -> Progress | None:
        """What is called with the number of steps done and of all steps."""
        assert not isinstance(self.progress, bool)
        return self.progress

    def _before_pass(self, alignment: Alignment, metrics: Sequence[Any]) -> None:
        """Hear what will be evaluated. The command line announces how much memory that takes."""

    def _memory_limit(self) -> int | None:
        """Return the limit on memory in bytes; None if there is none."""
        if self.memory is None:
            return None
        from ..data.choices import parse_bytes

        return parse_bytes(self.memory)

    def _open_engine(self) -> AbstractContextManager[Engine]:
        """Open the engine, and close it at the end of the ``with`` block."""
        if self.engine not in ENGINES:
            names = " or ".join(map(repr, ENGINES))
            raise SedscopeError(f"engine={self.engine!r} is not valid. Choose {names}.")
        if self.scheduler is not None and self.engine == "threads":
            raise SedscopeError(
                "A scheduler only applies to `engine='dask'`, `engine='ray'` or `engine='spark'`."
            )
        kept = self.engine == "threads" and self.checkpoint is not None
        module = import_module(f".{'checkpoint' if kept else ENGINES[self.engine]}", __package__)
        opener: Callable[[Run], AbstractContextManager[Engine]] = module.open_engine
        return opener(self)
