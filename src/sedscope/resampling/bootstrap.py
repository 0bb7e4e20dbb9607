"""Bootstrap: the interval of a metric from deltas that were found before."""

from __future__ import annotations

import warnings

from numpy.typing import ArrayLike

from ..counting.deltas import Deltas
from ..engines.run import Run
from ..errors import SedscopeWarning
from ..metrics.names import MetricLike, as_metric
from .draws import Draws
from .intervals import Bootstrap
from .resampling import Resampling
from .subsampling import Behaviour


def bootstrap(
    deltas: Deltas,
    metric: MetricLike,
    resampling: Resampling | int | None = None,
    *,
    weights: ArrayLike | None = None,
    run: Run | None = None,
) -> Bootstrap:
    """Resample the clips, and return the interval of a metric and of each class.

    Parameters
    ----------
    deltas : Deltas
        What :func:`~sedscope.deltas` found for the criterion of the metric.
    metric : Metric or str
        What to measure.
    resampling : int or Resampling, optional
        How clips are drawn, and which interval is made: a number of resamples, or more.
    weights : array of (resamples × clips), optional
        How many times each clip counts in each resample, instead of drawing.
    run : Run, optional
        How the resamples are measured. A checkpoint keeps the values of finished resamples.

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
    >>> bootstrap(deltas, psds, 200)
    <Bootstrap: 0.5906 (0.4009–0.6333)>
    """
    metric = as_metric(metric)
    run = Run._of(run, "Resampling", "engine", "scheduler", "checkpoint")
    draws = Draws(Resampling._of(resampling), deltas.clips, weights)
    with run._open_engine() as opened:
        of_parts = dict.fromkeys((part.criterion for part in metric.parts), deltas)
        values = draws.measure(of_parts, metric, opened, run._steps)
    for caution in draws.cautions([metric]):
        warnings.warn(caution, SedscopeWarning, stacklevel=2)
    return draws.summary(deltas.classes, values, Behaviour.of(metric))
