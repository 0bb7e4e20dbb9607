"""All criteria, by name, and how they are read from text."""

from __future__ import annotations

from ..definitions import Registry
from .criterion import Criterion

CRITERIA: Registry[Criterion] = Registry("criterion", Criterion, package=__package__)


def parse_criterion(text: str) -> Criterion:
    """Read a criterion from its definition. Parameters that are left out take their defaults.

    Parameters
    ----------
    text : str
        The definition, as ``repr`` spells it.

    Returns
    -------
    Criterion

    Examples
    --------
    >>> from sedscope.criteria import parse_criterion
    >>> parse_criterion("Collar(onset=0.5, offset=None)")
    Collar(onset=0.5, offset=None, offset_rate=0.2)
    """
    return CRITERIA.parse(text)
