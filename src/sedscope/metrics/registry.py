"""All metrics, by name, and how they are read from text."""

from __future__ import annotations

from typing import Any

from ..criteria.registry import CRITERIA
from ..definitions import Registry
from ..postprocessing import POSTPROCESSINGS
from .metric import Metric

METRICS: Registry[Metric[Any]] = Registry("metric", Metric, uses=(CRITERIA, POSTPROCESSINGS))


def parse_metric(text: str) -> Metric[Any]:
    """Read a metric from its definition. Parameters that are left out take their defaults.

    Parameters
    ----------
    text : str
        The definition, as ``repr`` spells it.

    Returns
    -------
    Metric

    Examples
    --------
    >>> import sedscope as sed
    >>> sed.parse_metric("PSDS(Intersection(dtc=0.5, gtc=0.5), max_efpr=1, unit='minute')")
    PSDS(Intersection(dtc=0.5, gtc=0.5), alpha_ct=0, alpha_st=0, max_efpr=1, unit='minute')
    """
    return METRICS.parse(text)
