"""Post-processings: values that make scores from scores, before any threshold."""

from __future__ import annotations

from collections.abc import Mapping

from ..definitions import parse
from ..errors import SedscopeError, listing, shortened
from .combining import Chain, PerClass
from .durations import MaximumGap, MinimumDuration
from .event_boxes import EventBoxes
from .hysteresis import Hysteresis
from .median import MedianFilter
from .moving_average import MovingAverage
from .postprocessing import PostProcessing
from .score_transform import ScoreTransform
from .sweeps import spellings

__all__ = [
    "POSTPROCESSINGS",
    "Chain",
    "EventBoxes",
    "Hysteresis",
    "MaximumGap",
    "MedianFilter",
    "MinimumDuration",
    "MovingAverage",
    "PerClass",
    "PostProcessing",
    "ScoreTransform",
    "parse_postprocessing",
    "parse_sweep",
]

POSTPROCESSINGS: Mapping[str, type] = {
    postprocessing.__name__: postprocessing
    for postprocessing in (
        MedianFilter,
        MovingAverage,
        MinimumDuration,
        MaximumGap,
        Hysteresis,
        EventBoxes,
        ScoreTransform,
        Chain,
        PerClass,
    )
}


def parse_postprocessing(text: str) -> PostProcessing:
    """Read a post-processing from its definition; what is left out takes its default.

    >>> parse_postprocessing("PerClass({'Dog': MedianFilter(0.3)})")
    PerClass({'Dog': MedianFilter(seconds=0.3)})
    """
    postprocessing = parse(text, POSTPROCESSINGS)
    if not isinstance(postprocessing, PostProcessing):
        known = listing([*POSTPROCESSINGS], limit=30)
        raise SedscopeError(f"{shortened(text)!r} is not a post-processing; there are {known}")
    return postprocessing


def parse_sweep(text: str) -> list[PostProcessing]:
    """Read all post-processings that a text with ranges and alternatives stands for, in order.

    >>> parse_sweep("MedianFilter(0.1..0.25/0.1|1)")
    [MedianFilter(seconds=0.1), MedianFilter(seconds=0.2), MedianFilter(seconds=1)]
    """
    return [parse_postprocessing(spelling) for spelling in spellings(text)]
