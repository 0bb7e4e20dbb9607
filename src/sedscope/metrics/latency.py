"""The latency of alarms, as a metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..counting.counts import ClassCounts
from ..counting.tally import Tally
from ..criteria import AlarmLatency, Criterion, OfLength
from ..criteria.alarm_latency import quantile_rank
from ..criteria.criterion import as_share
from ..definitions import require_number
from .classwise import ClassValue, ClasswiseMetric
from .metric import METRICS


@METRICS.register
@dataclass(frozen=True, repr=False)
class Latency(ClasswiseMetric[None]):
    """A quantile of the time from the onset of a reference to its first alarm, at one threshold.

    It is the smallest latency, in seconds, that at least this share of the references that are found does not
    exceed. References that are not found have no latency, so read the share that is found beside it: it is
    the recall of the ``tally`` of each class. The latency is not defined (NaN) where none is found.

    Parameters
    ----------
    alarm : Alarm, or OfLength of one
        What raises alarms and finds references.
    quantile : float, default 0.9
        The share of the references that are found, above 0 and at most 1.
    threshold : float, default 0.5
        Frames with ``score > threshold`` are active. For a threshold per class, measure
        :func:`~sedscope.at_thresholds` of the scores.
    average : {"micro", "macro", "weighted"}, default "micro"
        ``micro``: the quantile over the references of all classes. ``macro``: the mean over the classes in
        which a reference is found.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(10, 20, "Siren"), (90, 95, "Siren")]}, durations={"a": 99})
    >>> system = sed.Scores.from_events({"a": [(11.5, 14, "Siren"), (40, 41, "Siren")]})
    >>> latency = sed.Latency(sed.Alarm(cooldown=20))
    >>> latency
    Latency(Alarm(cooldown=20, before=0, after=2), quantile=0.9, threshold=0.5, average='micro')
    >>> result = sed.evaluate(system, truth, latency)[latency]
    >>> result.value, result["Siren"].tally.recall
    (1.5, 0.5)
    """

    alarm: Criterion
    quantile: float = 0.9
    threshold: float = 0.5
    average: str = "micro"

    higher_is_better: ClassVar[bool] = False
    reads_queries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "quantile", above=0, at_most=1)
        object.__setattr__(self, "criterion", AlarmLatency(self.alarm, self.threshold))
        super().__post_init__()

    @property
    def operating_criterion(self) -> Criterion:
        """The one that raises the alarms."""
        return self.alarm

    def of_lengths(self, shortest: float, longest: float) -> Latency:
        return replace(self, alarm=OfLength(self.alarm, shortest, longest))

    def of_class(self, counts: ClassCounts, hours: float) -> ClassValue[None]:
        found = int(counts.tp[-1]) if len(counts.tp) else 0
        tally = Tally(found, 0, counts.references)
        if not found:
            return ClassValue(np.nan, tally=tally)
        row = np.searchsorted(counts.tp, quantile_rank(found, Fraction(*as_share(self.quantile))))
        return ClassValue(0.0 - float(counts.scores[row]), tally=tally)
