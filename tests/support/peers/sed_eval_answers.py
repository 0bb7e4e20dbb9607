"""What sed_eval answers, the original or its drop-in.

The original runs in the peers' Python: ``python -m tests.support.peers.sed_eval_answers FOLDER`` reads
``FOLDER/cases.json`` and writes ``FOLDER/answers.json``. A case is ``{"kind", …}``: the kind is one of
`KINDS`, and the function says what else the case holds.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ORIGINAL, DROP_IN = "sed_eval", "sedscope.compat.sed_eval"
Case = Mapping[str, Any]


def answer(package: str, case: Case) -> Any:
    """Return the answer to a case, as it is after a journey through JSON."""
    return json.loads(json.dumps(_plain(KINDS[case["kind"]](import_module(package), case))))


def _events(sed_eval: Any, case: Case) -> Any:
    """All results and reports; ``event_based`` and ``segment_based`` are options, ``files`` lists of
    references, detections and evaluated lengths, ``precision`` is the type of times."""
    event_based = sed_eval.sound_event.EventBasedMetrics(case["labels"], **case["event_based"])
    segment_based = sed_eval.sound_event.SegmentBasedMetrics(case["labels"], **case["segment_based"])
    for references, detections, length in case["files"]:
        pair = [_typed(events, case["precision"]) for events in (references, detections)]
        event_based.evaluate(*pair)
        segment_based.evaluate(*pair, evaluated_length_seconds=length)
    return [[metrics.results(), str(metrics), str(metrics)] for metrics in (event_based, segment_based)]


def _typed(events: list[dict[str, Any]], precision: str) -> list[dict[str, Any]]:
    """Events whose times have a type that JSON does not know."""
    kind = np.dtype(precision).type
    return [
        {name: kind(value) if isinstance(value, float) else value for name, value in event.items()}
        for event in events
    ]


def _scenes(sed_eval: Any, case: Case) -> Any:
    metrics = sed_eval.scene.SceneClassificationMetrics(case["labels"])
    for reference, estimated in case["folds"]:
        metrics.evaluate(reference, estimated)
    return [metrics.results(), str(metrics)]


def _tags(sed_eval: Any, case: Case) -> Any:
    metrics = sed_eval.audio_tag.AudioTaggingMetrics(case["labels"])
    for fold in case["folds"]:
        metrics.evaluate(**fold)
    return [metrics.results(), str(metrics)]


def _matching(sed_eval: Any, case: Case) -> Any:
    """The pairs themselves: which ones of the possible pairs are formed decides about substitutions."""
    graph = dict(case["graph"])
    return sorted(sed_eval.util.bipartite_match(graph).items())


def _file(sed_eval: Any, case: Case) -> Any:
    """The events of ``text``, read from ``path``."""
    Path(case["path"]).write_text(case["text"], encoding="utf-8")
    try:
        events = sed_eval.io.load_event_list(case["path"])
    except OSError:
        return "refused"
    files = [list(map(dict, events.filter(filename=name))) for name in case["names"]]
    return [
        list(map(dict, events)),
        events.unique_files,
        events.unique_event_labels,
        events.max_offset,
        files,
    ]


def _signatures(sed_eval: Any, case: Case) -> Any:
    """The parameters of all functions and methods, by ``module.name`` or ``module.class.name``."""
    modules = {name: import_module(f"{sed_eval.__name__}.{name}") for name in case["modules"]}
    functions = {}
    for name, module in modules.items():
        for member, value in inspect.getmembers(module):
            if inspect.isclass(value) and value.__module__.startswith(sed_eval.__name__):
                functions[f"{name}.{member}"] = value.__init__
                for method, function in inspect.getmembers(value, inspect.isfunction):
                    functions[f"{name}.{member}.{method}"] = function
            elif inspect.isfunction(value):
                functions[f"{name}.{member}"] = value
    return {
        name: [
            parameter for parameter in inspect.signature(function).parameters if parameter != "kwargs"
        ]
        for name, function in functions.items()
        if not name.rpartition(".")[2].startswith("_")
    }


def _plain(tree: Any) -> Any:
    """Numbers become floats, whatever their type."""
    if isinstance(tree, Mapping):
        return {str(key): _plain(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_plain(value) for value in tree]
    return float(tree) if isinstance(tree, (int, float, np.number)) else tree


KINDS = {
    "events": _events,
    "scenes": _scenes,
    "tags": _tags,
    "matching": _matching,
    "file": _file,
    "signatures": _signatures,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    answers = [answer(ORIGINAL, case) for case in cases]
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
