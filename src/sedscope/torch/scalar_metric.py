"""A single metric for training, whose value is a scalar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..data.ground_truth import GroundTruth
from ..errors import SedscopeError
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.names import MetricLike, as_metric
from .metric import SEDMetrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SEDMetric(SEDMetrics):
    """One metric as a torchmetric whose value is a scalar.

    Parameters
    ----------
    metric : Metric or str
        The metric, its short name, or its definition.
    classes : iterable of str
        The classes, in the order of the columns of the scores.
    frame : float
        The length of a frame in seconds.
    truth : GroundTruth, optional
        The reference events. Without it, pass targets to :meth:`update`.
    **options
        The other options of :class:`SEDMetrics` and of ``torchmetrics.Metric``.

    Examples
    --------
    >>> import torch
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> metric = SEDMetric(sed.presets.PSDS1, ["Dog"], frame=1.0, truth=truth)
    >>> metric.update(torch.tensor([[[0.2], [0.9], [0.4]]]), ["a.wav"])
    >>> metric.compute()
    tensor(1.)
    """

    def __init__(
        self,
        metric: MetricLike,
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(metric, (Metric, str)):
            raise SedscopeError(f"{metric!r} is not a metric. For several metrics, use SEDMetrics.")
        self.metric = as_metric(metric)
        super().__init__(self.metric, classes, frame=frame, truth=truth, **options)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is better."""
        return self.metric.higher_is_better

    def plot(self, val: Any = None, ax: Axes | None = None) -> tuple[Any, Axes]:
        """Draw the curves that the value comes from.

        Parameters
        ----------
        val : optional
            Values to draw instead of the curves, such as those of all epochs.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure.

        Returns
        -------
        tuple
            The figure and its axes.
        """
        if val is not None:
            return super().plot(val, ax)
        axes: Axes = self.result()[self.metric].plot(ax)
        return axes.figure, axes

    def _values(self, result: Evaluation) -> Any:
        return self._scalar(result[self.metric].value)
