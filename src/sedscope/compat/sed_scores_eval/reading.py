"""Functions of scores made from functions of statistics.

What is read off the statistics has one definition for all criteria; each criterion has one function that
counts. Put together, they take the arguments of both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .arguments import bound, named, taking, transposed
from .counting import Found, Statistics, statistics_of
from .resamples import Drawing

Count = Callable[..., Found]
Read = Callable[..., Any]


def reading(name: str, count: Count, read: Read) -> Callable[..., Any]:
    """A function of scores: what ``read`` finds in the statistics of what ``count`` counts."""

    def of_scores(*args: Any, **options: Any) -> Any:
        counting, own = _split(bound(signature, name, args, options), count)
        return read(statistics_of(count(**counting).counts()), **own)

    signature = _signature(count, read)
    return named(of_scores, signature, name, read.__doc__)


def bootstrapped(name: str, count: Count, read: Read) -> Callable[..., Any]:
    """The same for resamples of the clips: a list with a tuple for each value that ``read`` returns."""

    def of_scores(*args: Any, drawing: Drawing, **options: Any) -> Any:
        counting, own = _split(bound(signature, name, args, options), count)
        found = count(**counting)
        weights = drawing.weights(found.names)
        return transposed([read(statistics_of(found.counts(row)), **own) for row in weights])

    signature = _signature(count, read)
    drawing = inspect.Parameter("drawing", inspect.Parameter.KEYWORD_ONLY)
    with_drawing = signature.replace(parameters=[*signature.parameters.values(), drawing])
    return taking(drawing=Drawing)(named(of_scores, with_drawing, name, bootstrapped.__doc__))


def accumulated(count: Count) -> Callable[..., tuple[Statistics, list[str]]]:
    """A function of scores that gives all statistics, and the clips."""

    def of_scores(*args: Any, **options: Any) -> tuple[Statistics, list[str]]:
        found = count(**bound(signature, name, args, options))
        return statistics_of(found.counts()), sorted(found.names)

    signature, name = inspect.signature(count), "accumulated_intermediate_statistics"
    return named(of_scores, signature, name, accumulated.__doc__)


def _signature(count: Count, read: Read) -> inspect.Signature:
    """The data, then a threshold if there is one, then all options by name."""
    counting = list(inspect.signature(count).parameters.values())
    own = list(inspect.signature(read).parameters.values())[1:]
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    data = [one for one in counting if one.kind is not keyword_only]
    data += [one for one in own if one.name == "threshold"]
    options = [one for one in counting if one.kind is keyword_only]
    options += [one.replace(kind=keyword_only) for one in own if one.name != "threshold"]
    return inspect.Signature([*data, *options])


def _split(arguments: Mapping[str, Any], count: Count) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments for counting, and the others."""
    counting = inspect.signature(count).parameters
    return (
        {name: value for name, value in arguments.items() if name in counting},
        {name: value for name, value in arguments.items() if name not in counting},
    )
