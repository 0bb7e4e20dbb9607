"""Call the peers' functions by name, and list the arrays of what they return."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from .cases import Arrays, references


def called(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """What functions of a package return, one after the other: ``calls``, a list of ``{"function",
    "arguments"}``, in ``package``; see `results_of`. ``number/…``: the leaves of each result."""
    names = {
        "scores": scores,
        "truth": references(case),
        "tags": {
            clip: sorted({event[2] for event in of_clip["events"]})
            for clip, of_clip in case["clips"].items()
        },
        "durations": {clip: of_clip["duration"] for clip, of_clip in case["clips"].items()},
    }
    return leaves(results_of(case["package"], case["calls"], names))


def results_of(package: str, calls: Sequence[Mapping[str, Any]], names: Mapping[str, Any]) -> list[Any]:
    """Call functions of a package. In the arguments, ``$name`` stands for one of some values, ``$0`` for
    the result of the first call, and so on, and ``{"$median": seconds}`` for a function that filters."""
    results: list[Any] = []

    def value(described: Any) -> Any:
        if isinstance(described, str) and described.startswith("$"):
            name = described[1:]
            return results[int(name)] if name.isdigit() else names[name]
        if isinstance(described, list):
            return [value(part) for part in described]
        if isinstance(described, dict) and "$median" in described:
            postprocessing = import_module(f"{package}.base_modules.postprocessing")
            return partial(postprocessing.medfilt, filter_length_in_sec=described["$median"])
        return described

    for call in calls:
        module, _, name = call["function"].rpartition(".")
        function = getattr(import_module(f"{package}.{module}"), name)
        options = {option: value(part) for option, part in call["arguments"].items()}
        results.append(function(*map(value, call.get("data", ())), **options))
    return results


def leaves(tree: Any) -> Arrays:
    """The arrays and numbers in nested lists and dictionaries, by the path to them."""
    if isinstance(tree, Mapping):
        items = [(str(key), part) for key, part in tree.items()]
    elif isinstance(tree, (list, tuple)) and not (len(tree) == 1 and np.isscalar(tree[0])):
        items = [(str(i), part) for i, part in enumerate(tree)]
    elif hasattr(tree, "columns"):
        items = [(str(name), tree[name].to_numpy()) for name in tree.columns]
    else:
        array = np.asarray(tree)
        return {"": array.astype(str) if array.dtype.kind in "OT" else array}
    return {
        f"{key}/{path}".rstrip("/"): leaf for key, part in items for path, leaf in leaves(part).items()
    }


def signatures(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """The functions that ``modules`` of sed_scores_eval define, as JSON: ``[module, name, [[parameter,
    whether it can be given without its name, its default or None], …]]``."""
    functions = []
    for module in case["modules"]:
        for name, function in vars(import_module(f"sed_scores_eval.{module}")).items():
            public = inspect.isfunction(function) and not name.startswith("_")
            if public and function.__module__.startswith(f"sed_scores_eval.{module}"):
                functions.append(json.dumps([module, name, parameters(function)]))
    return {"functions": np.array(functions)}


def parameters(function: Any) -> list[Any]:
    """The parameters of a function."""
    return [
        [
            parameter.name,
            parameter.kind is not inspect.Parameter.KEYWORD_ONLY,
            None if parameter.default is inspect.Parameter.empty else repr(parameter.default),
        ]
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def psds_eval_points(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """All that psds_eval's class tells of the detections at some thresholds; see `points_of`."""
    return leaves(points_of("psds_eval", case, references(case), scores))


def points_of(
    package: str, case: Mapping[str, Any], truth: Mapping[str, Any], scores: Mapping[str, Any]
) -> dict[str, Any]:
    """Evaluate detections at ``thresholds`` with the ``PSDSEval`` of a package; ``options`` are its own,
    ``psds`` lists those of the score, ``constraints`` those of operating points."""
    pandas = import_module("pandas")
    module = "sed_scores_eval" if package == "psds_eval" else "sedscope.compat.sed_scores_eval"
    detect = import_module(f"{module}.base_modules.detection").scores_to_event_list
    columns = ["filename", "onset", "offset", "event_label"]

    def table(events: Mapping[str, Any]) -> Any:
        rows = [(f"{clip}.wav", *event) for clip, of_clip in events.items() for event in of_clip]
        return pandas.DataFrame(rows, columns=columns)

    durations = [(f"{clip}.wav", of_clip["duration"]) for clip, of_clip in case["clips"].items()]
    judge = import_module(package).PSDSEval(
        ground_truth=table(truth),
        metadata=pandas.DataFrame(durations, columns=["filename", "duration"]),
        **case["options"],
    )
    fscores = []
    for threshold in case["thresholds"]:
        detected = table(detect(scores, np.full(len(case["classes"]), threshold)))
        judge.add_operating_point(detected, info={"threshold": threshold})
        fscores.append(judge.compute_macro_f_score(detected, beta=case["beta"]))
    constraints = pandas.DataFrame(case["constraints"], columns=["class_name", "constraint", "value"])
    return {
        "classes": judge.class_names,
        "number": judge.num_operating_points(),
        "points": {
            name: list(judge.operating_points[name])
            for name in ("counts", "tpr", "fpr", "ctr", "threshold")
        },
        "fscores": fscores,
        "psds": [judge.psds(**options)._asdict() for options in case["psds"]],
        "curves": [curve._asdict() for curve in judge.psd_roc_curves(case["psds"][0]["alpha_ct"])],
        "chosen": judge.select_operating_points_per_class(constraints, alpha_ct=0.5),
    }
