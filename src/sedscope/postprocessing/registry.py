"""The registry of post-processings, and their definitions as text."""

from __future__ import annotations

from ..definitions import Registry
from .postprocessing import PostProcessing

POSTPROCESSINGS: Registry[PostProcessing] = Registry(
    "post-processing", PostProcessing, package=__package__
)
"""All post-processings by name. Each registers itself in the module that defines it."""


def parse_postprocessing(text: str) -> PostProcessing:
    """Read a post-processing from its definition.

    Parameters
    ----------
    text : str
        The definition, as ``repr`` writes it. Parameters that are left out take their defaults.

    Returns
    -------
    PostProcessing
        The post-processing.

    Raises
    ------
    SedscopeError
        If the text is not the definition of a post-processing.

    Examples
    --------
    >>> parse_postprocessing("PerClass({'Dog': MedianFilter(0.3)})")
    PerClass({'Dog': MedianFilter(seconds=0.3)})
    """
    return POSTPROCESSINGS.parse(text)
