"""Functions of scores, made from functions of statistics.

Each value that is read off the statistics has one function for all criteria, and each criterion has one
function that counts. A combination of the two takes the arguments of both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .arguments import bind_arguments, transpose, with_name, with_options
from .counting import NamedDeltas, Statistics, statistics_of, warn_of_threshold
from .resamples import Resamples

Count = Callable[..., NamedDeltas]
Read = Callable[..., Any]


def statistic_function(name: str, count: Count, read: Read) -> Callable[..., Any]:
    """Make a function of scores that applies ``read`` to the statistics that ``count`` counts."""

    def of_scores(*args: Any, **options: Any) -> Any:
        counting, own = _split(bind_arguments(signature, name, args, options), count)
        named = count(**counting)
        warn_of_threshold(named, own.get("threshold"))
        return read(statistics_of(named.counts()), **own)

    signature = _signature(count, read)
    return with_name(of_scores, signature, name, read.__doc__)


def bootstrapped_function(name: str, count: Count, read: Read) -> Callable[..., Any]:
    """Return the values for resamples of the clips: a list with one tuple per value."""

    def of_scores(*args: Any, resamples: Resamples, **options: Any) -> Any:
        counting, own = _split(bind_arguments(signature, name, args, options), count)
        named = count(**counting)
        warn_of_threshold(named, own.get("threshold"))
        weights = resamples.weights(named.names)
        return transpose([read(statistics_of(named.counts(row)), **own) for row in weights])

    signature = _signature(count, read)
    resamples = inspect.Parameter("resamples", inspect.Parameter.KEYWORD_ONLY)
    with_resamples = signature.replace(parameters=[*signature.parameters.values(), resamples])
    return with_options(resamples=Resamples)(
        with_name(of_scores, with_resamples, name, bootstrapped_function.__doc__)
    )


def accumulated_function(count: Count) -> Callable[..., tuple[Statistics, list[str]]]:
    """Return all statistics, and the clips."""

    def of_scores(*args: Any, **options: Any) -> tuple[Statistics, list[str]]:
        named = count(**bind_arguments(signature, name, args, options))
        return statistics_of(named.counts()), sorted(named.names)

    signature, name = inspect.signature(count), "accumulated_intermediate_statistics"
    return with_name(of_scores, signature, name, accumulated_function.__doc__)


def _signature(count: Count, read: Read) -> inspect.Signature:
    """Return the parameters: data, then a threshold if there is one, then options by name."""
    counting = list(inspect.signature(count).parameters.values())
    own = list(inspect.signature(read).parameters.values())[1:]
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    data = [parameter for parameter in counting if parameter.kind is not keyword_only]
    data += [parameter for parameter in own if parameter.name == "threshold"]
    options = [parameter for parameter in counting if parameter.kind is keyword_only]
    options += [
        parameter.replace(kind=keyword_only) for parameter in own if parameter.name != "threshold"
    ]
    return inspect.Signature([*data, *options])


def _split(arguments: Mapping[str, Any], count: Count) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate the arguments for counting from the others."""
    counting = inspect.signature(count).parameters
    return (
        {name: value for name, value in arguments.items() if name in counting},
        {name: value for name, value in arguments.items() if name not in counting},
    )
