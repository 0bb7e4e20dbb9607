"""The registry of post-processings, and their definitions as text."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ..definitions import Registry
from ..errors import SedscopeError
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


def known_steps(processing: Iterable[str]) -> list[PostProcessing]:
    """Return the post-processings of this package among the steps that made scores.

    Other steps, such as stitching and post-processings of your own, are left out.

    >>> known_steps(["stitch()", "MedianFilter(seconds=0.3)"])
    [MedianFilter(seconds=0.3)]
    """
    steps = []
    for text in processing:
        with suppress(SedscopeError):
            steps.append(parse_postprocessing(text))
    return steps
