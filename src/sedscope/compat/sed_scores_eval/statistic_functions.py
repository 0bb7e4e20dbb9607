"""Functions of scores, made from functions of statistics.

Each value that is read off the statistics has one function for all criteria, and each criterion has one
function that counts. A combination of the two takes the arguments of both. `add_statistics` makes all of them
for the package of a criterion.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ...criteria import Clip, Criterion
from ..submodules import add_submodule
from .arguments import batched, bind_arguments, transpose, with_name, with_options
from .base_modules import rates
from .base_modules.bootstrap import Resamples
from .counting import NamedDeltas, Statistics, statistics_of, warn_of_threshold
from .criteria import by_events
from .delta_tables import DeltaTable, delta_table, deltas_from_table
from .utils.nested import flatten

Count = Callable[..., NamedDeltas]
Read = Callable[..., Any]

STATISTICS: dict[str, dict[str, Read]] = {
    "precision_recall": {
        "precision_recall_curve": rates.precision_recall_curve_from_intermediate_statistics,
        "fscore_curve": rates.fscore_curve_from_intermediate_statistics,
        "fscore": rates.single_fscore_from_intermediate_statistics,
        "best_fscore": rates.best_fscore_from_intermediate_statistics,
        "average_precision": rates.average_precision_from_intermediate_statistics,
    },
    "error_rate": {
        "error_rate_curve": rates.error_rate_curve_from_intermediate_statistics,
        "error_rate": rates.single_error_rate_from_intermediate_statistics,
        "best_error_rate": rates.best_error_rate_from_intermediate_statistics,
    },
    "roc": {
        "roc_curve": rates.roc_curve_from_intermediate_statistics,
        "auroc": rates.auroc_from_intermediate_statistics,
    },
}
"""What is read off statistics, by the module of a criterion's package that has it."""
OF_NEGATIVES = ("average_precision", "roc_curve", "auroc")
"""What only criteria with negatives have."""
RESAMPLED = ("fscore", "best_fscore", "auroc")
"""What can be bootstrapped."""


def add_statistics(
    package: str,
    count: Count,
    *,
    criterion: Callable[[set[str]], Criterion] | None = None,
    metrics: Read | None = None,
    positional: bool = False,
) -> None:
    """Add the functions of a criterion to its package, and to those modules of it that sed_scores_eval has.

    ``criterion``: the criterion of deltas with these columns, whose references are not among them. Deltas of
    segments and clips, which have negatives, need none. ``metrics``: those of sed_eval, for the module
    ``reference``. ``positional``: whether all arguments that deltas need may be passed by position.
    """
    modules = {
        "intermediate_statistics": {
            "intermediate_statistics_deltas": deltas_function(count, positional),
            "accumulated_intermediate_statistics": accumulated_function(count),
            "accumulated_intermediate_statistics_from_deltas": from_deltas_function(criterion),
        }
    }
    for module, statistics in STATISTICS.items():
        chosen = {
            name: statistics[name] for name in statistics if not (criterion and name in OF_NEGATIVES)
        }
        functions = {name: statistic_function(name, count, read) for name, read in chosen.items()}
        if "fscore" in functions:
            functions["fscore"] = batched(functions["fscore"])
        for name in RESAMPLED:
            if name in chosen:
                resampled = bootstrapped_function(f"bootstrapped_{name}", count, chosen[name])
                functions[f"bootstrapped_{name}"] = batched(resampled)
        if functions:
            modules[module] = functions
    for module, functions in modules.items():
        for function in functions.values():
            function.__module__ = f"{package}.{module}"
        add_submodule(package, module, f"{module.replace('_', ' ').capitalize()}.", functions)
    if metrics:
        add_submodule(package, "reference", "Metrics of sed_eval.", {"metrics": metrics})
    names = vars(sys.modules[package])
    for (
        functions
    ) in modules.values():  # of a module and a function with the same name, the function stays
        names.update(functions)
    own = [name for name in names if getattr(names[name], "__module__", "").startswith(f"{package}.")]
    names["__all__"] = sorted([*own, "reference"])


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


def deltas_function(count: Count, positional: bool) -> Callable[..., DeltaTable]:
    """Return how the counts of each clip and class change at its scores."""

    def of_scores(*args: Any, **options: Any) -> DeltaTable:
        return delta_table(count(**bind_arguments(signature, name, args, options)))

    parameters = [
        parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) if positional else parameter
        for parameter in inspect.signature(count).parameters.values()
        if parameter.name != "deltas"
    ]
    signature = inspect.Signature(parameters, return_annotation="DeltaTable")
    name = "intermediate_statistics_deltas"
    return with_name(of_scores, signature, name, deltas_function.__doc__)


def from_deltas_function(criterion: Callable[[set[str]], Criterion] | None) -> Callable[..., Statistics]:
    """Return the statistics that deltas add up to."""

    def with_references(deltas: Any) -> Statistics:
        return statistics_of(deltas_from_table(deltas, Clip(), None).counts())

    def of_events(deltas: Any, ground_truth: Any) -> Statistics:
        of_clip = next(iter(deltas.values()))
        columns = {name for _, changes in of_clip.values() for name in flatten(changes, sep="\\")}
        assert criterion is not None
        return statistics_of(by_events(None, ground_truth, criterion(columns), deltas=deltas).counts())

    function = of_events if criterion else with_references
    name = "accumulated_intermediate_statistics_from_deltas"
    return with_name(function, inspect.signature(function), name, from_deltas_function.__doc__)


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
