"""Bootstrap: the interval of a metric from deltas that were found before."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from ..counting.deltas import Deltas
from ..data.progress import ProgressChoice, as_progress
from ..engines.run import EngineName, RunOptions
from ..errors import SedscopeWarning
from ..metrics.names import MetricLike, as_metric
from .draws import Draws
from .intervals import Bootstrap
from .resampling import Resampling


def bootstrap(
    deltas: Deltas,
    metric: MetricLike,
    n: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    interval: str = "percentile",
    balanced: bool = False,
    groups: Mapping[str, Hashable] | None = None,
    weights: ArrayLike | None = None,
    engine: EngineName = "threads",
    scheduler: object = None,
    checkpoint: str | Path | None = None,
    threads: int | None = None,
    progress: ProgressChoice = None,
) -> Bootstrap:
    """Resample the clips, and return the interval of a metric and of each class.

    Parameters
    ----------
    deltas : Deltas
        What :func:`~sedscope.deltas` found for the criterion of the metric.
    metric : Metric or str
        What to measure.
    n, confidence, seed, interval, balanced, groups
        How clips are drawn, and which interval is made; see :class:`~sedscope.Resampling`.
    weights : array of (resamples × clips), optional
        How many times each clip counts in each resample, instead of drawing.
    engine : {"threads", "dask"}, default "threads"
        Where the resamples are measured: on threads of this process, or on a Dask cluster.
    scheduler : str or distributed.Client, optional
        The address or client of the Dask cluster. Without it, one is started on this machine.
    checkpoint : path, optional
        A folder that keeps the values of finished resamples, so that an interrupted run continues where
        it stopped.
    threads : int, optional
        The number of threads; one per core unless given.
    progress : bool or callable, optional
        True shows a bar in a notebook or terminal. A function is called with the number of resamples done
        and of all, the clips as they are included.

    Returns
    -------
    Bootstrap
        Resamples in which a value is not defined are left out of its interval, and counted.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> psds = sed.PSDS(sed.Intersection(0.7, 0.7))
    >>> deltas = sed.deltas(sed.simulate.scores(truth), truth, psds.criterion)
    >>> bootstrap(deltas, psds, n=200)
    <Bootstrap: 0.5906 (0.5336–0.6740)>
    """
    metric = as_metric(metric)
    progress = as_progress(progress, "Resampling")
    options = RunOptions(threads, engine, scheduler, checkpoint, progress=progress)
    resampling = Resampling(n, confidence, seed, interval, balanced, groups)
    draws = Draws(resampling, deltas.clips, weights)
    with options.open_engine() as opened:
        of_parts = dict.fromkeys((part.criterion for part in metric.parts), deltas)
        values = draws.measure(of_parts, metric, opened, progress)
    for caution in draws.cautions([metric]):
        warnings.warn(caution, SedscopeWarning, stacklevel=2)
    return draws.summary(deltas.classes, values)
