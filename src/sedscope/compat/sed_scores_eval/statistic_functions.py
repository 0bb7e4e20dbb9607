"""Functions made from parts.

Each value that is read off the statistics has one function for all criteria, and each criterion has one
function that counts. A combination of the two takes the arguments of both. `add_statistics` makes all of them
for the package of a criterion. Options that many functions share are frozen dataclasses: a function decorated
by `with_options` takes the options by name and receives the group.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Collection
from typing import Any

from ...criteria import Clip, Criterion
from ...errors import SedscopeError
from ..submodules import add_submodule
from .base_modules import rates
from .base_modules.bootstrap import Resamples, transpose
from .counting import NamedDeltas, Statistics, statistics_of, warn_of_threshold
from .criteria import by_events
from .delta_tables import DeltaTable, delta_table, deltas_from_table
from .utils.nested import flatten

Count = Callable[..., NamedDeltas]

OF_NEGATIVES = ("average_precision", "roc_curve", "auroc")
"""What only criteria with negatives have."""
RESAMPLED = ("fscore", "best_fscore", "auroc")
"""What can be bootstrapped."""


def add_statistics(
    package: str,
    count: Count,
    *,
    criterion: Callable[[set[str]], Criterion] | None = None,
    metrics: rates.Read | None = None,
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
    for module, statistics in rates.STATISTICS.items():
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
    for functions in modules.values():  # a function hides the module with the same name
        names.update(functions)
    own = [name for name in names if getattr(names[name], "__module__", "").startswith(f"{package}.")]
    names["__all__"] = sorted([*own, "reference"])


def statistic_function(name: str, count: Count, read: rates.Read) -> Callable[..., Any]:
    """Make a function of scores that applies ``read`` to the statistics that ``count`` counts."""
    signature = _signature(count, read)
    return make_function(read, _of_scores(count, read), name=name, signature=signature)


def bootstrapped_function(name: str, count: Count, read: rates.Read) -> Callable[..., Any]:
    """Return the values for resamples of the clips: a list with one tuple per value."""
    resamples = inspect.Parameter("resamples", inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.Signature([*_signature(count, read).parameters.values(), resamples])
    function = make_function(
        bootstrapped_function, _of_scores(count, read), name=name, signature=signature
    )
    return with_options(resamples=Resamples)(function)


def _of_scores(count: Count, read: rates.Read) -> Callable[..., Any]:
    counting = inspect.signature(count).parameters

    def of_scores(resamples: Resamples | None = None, **given: Any) -> Any:
        named = count(**{option: given.pop(option) for option in counting})
        warn_of_threshold(named, given.get("threshold"))
        if resamples is None:
            return read(statistics_of(named.counts()), **given)
        weights = resamples.weights(named.names)
        return transpose([read(statistics_of(named.counts(row)), **given) for row in weights])

    return of_scores


def accumulated_function(count: Count) -> Callable[..., tuple[Statistics, list[str]]]:
    """Return all statistics, and the clips."""

    def of_scores(**given: Any) -> tuple[Statistics, list[str]]:
        named = count(**given)
        return statistics_of(named.counts()), sorted(named.names)

    name, signature = "accumulated_intermediate_statistics", inspect.signature(count)
    return make_function(accumulated_function, of_scores, name=name, signature=signature)


def deltas_function(count: Count, positional: bool) -> Callable[..., DeltaTable]:
    """Return how the counts of each clip and class change at its scores."""
    parameters = [
        parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) if positional else parameter
        for parameter in inspect.signature(count).parameters.values()
        if parameter.name != "deltas"
    ]
    signature = inspect.Signature(parameters, return_annotation="DeltaTable")

    def of_scores(**given: Any) -> DeltaTable:
        return delta_table(count(**given))

    name = "intermediate_statistics_deltas"
    return make_function(deltas_function, of_scores, name=name, signature=signature)


def from_deltas_function(criterion: Callable[[set[str]], Criterion] | None) -> Callable[..., Statistics]:
    """Return the statistics that deltas add up to."""

    def with_references(deltas: Any) -> Statistics:
        return statistics_of(deltas_from_table(deltas, Clip(), None).counts())

    def of_events(deltas: Any, ground_truth: Any) -> Statistics:
        of_clip = next(iter(deltas.values()))
        columns = {name for _, changes in of_clip.values() for name in flatten(changes, sep="\\")}
        assert criterion is not None
        return statistics_of(by_events(None, ground_truth, criterion(columns), deltas=deltas).counts())

    function: Callable[..., Any] = of_events if criterion else with_references
    name, signature = "accumulated_intermediate_statistics_from_deltas", inspect.signature(function)
    return make_function(from_deltas_function, function, name=name, signature=signature)


def _signature(count: Count, read: rates.Read) -> inspect.Signature:
    """Return the parameters: data, then a threshold if there is one, then options by name."""
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    own = [
        parameter if parameter.name == "threshold" else parameter.replace(kind=keyword_only)
        for parameter in [*inspect.signature(read).parameters.values()][1:]
    ]
    parameters = [*inspect.signature(count).parameters.values(), *own]
    return inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind is keyword_only))


def with_options(**groups: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a function that are groups of options by the options themselves."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(function).parameters
        kept = [parameter for name, parameter in own.items() if name not in groups]
        fields = {name: dataclasses.fields(group) for name, group in groups.items()}
        options = [_parameter(field) for group_fields in fields.values() for field in group_fields]

        def call(**values: Any) -> Any:
            group_values = {
                name: group(**{field.name: values.pop(field.name) for field in fields[name]})
                for name, group in groups.items()
            }
            return function(**values, **group_values)

        name, signature = function.__name__.removeprefix("_"), inspect.Signature([*kept, *options])
        return make_function(function, call, name=name, signature=signature)

    return decorate


def _parameter(field: dataclasses.Field[Any]) -> inspect.Parameter:
    missing = field.default is dataclasses.MISSING
    default = inspect.Parameter.empty if missing else field.default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default)


def make_function(
    model: Callable[..., Any],
    call: Callable[..., Any],
    *,
    name: str | None = None,
    signature: inspect.Signature | None = None,
) -> Callable[..., Any]:
    """Make a function that passes all its arguments by name to ``call``.

    It has the docstring of the ``model``, and the name and signature of it unless others are given.
    """
    title, parameters = name or model.__name__, signature or inspect.signature(model)

    def function(*args: Any, **options: Any) -> Any:
        try:
            arguments = parameters.bind(*args, **options)
        except TypeError as error:
            raise TypeError(f"{title}() {error}") from None
        arguments.apply_defaults()
        return call(**arguments.arguments)

    made: Any = function
    made.__name__ = made.__qualname__ = title
    made.__module__, made.__doc__, made.__signature__ = model.__module__, model.__doc__, parameters
    return made


def batched(function: Callable[..., Any], of_lists: Collection[str] = ()) -> Callable[..., Any]:
    """Let a function take a list of scores or deltas.

    The function is called for each element. For each value that it returns, the result has a tuple with
    the values of all calls. ``of_lists``: arguments that are lists anyway, so that a batch of them is a
    list of lists.
    """

    def is_batch(name: str, value: Any) -> bool:
        if not isinstance(value, (list, tuple)):
            return False
        if not value:
            raise SedscopeError(f"{name} is an empty list.")
        return name not in of_lists or isinstance(value[0], (list, tuple))

    def each(**given: Any) -> Any:
        data = [name for name in ("scores", "scores_processed", "deltas") if name in given]
        names = [name for name in data if is_batch(name, given[name])]
        if not names:
            return function(**given)
        rows = zip(*(given[name] for name in names), strict=True)
        return transpose([function(**{**given, **dict(zip(names, row, strict=True))}) for row in rows])

    return make_function(function, each)
