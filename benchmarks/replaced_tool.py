"""Do the work of another tool, with the tool itself or with what replaces it: CPU time and memory.

Usage: replaced_tool.py TOOL {peer,sedscope} FOLDER, with the files of ``side_by_side.py`` in the folder. Runs
in the peers' environment or in that of sedscope. Prints value, seconds of the first call and of later ones,
and megabytes as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Work = tuple[Callable[[], Any], Callable[[Any], float]]
"""What is timed, and how its value is read."""


def sed_scores_eval(folder: Path, described: dict[str, Any], ours: bool) -> Work:
    """PSDS 1 of a score table per clip."""
    package = "sedscope.compat.sed_scores_eval" if ours else "sed_scores_eval"
    intersection_based = import_module(f"{package}.intersection_based")
    create_score_dataframe = import_module(f"{package}.base_modules.scores").create_score_dataframe
    values = np.load(folder / "scores.npy")
    edges = np.arange(values.shape[1] + 1) * described["frame"]
    scores = {
        clip: create_score_dataframe(array, edges, described["classes"])
        for clip, array in zip(described["clips"], values, strict=True)
    }
    truth = {clip: [tuple(event) for event in events] for clip, events in described["events"].items()}
    options: dict[str, Any] = {"dtc_threshold": 0.7, "gtc_threshold": 0.7, "cttc_threshold": None}
    options |= {"alpha_ct": 0.0, "alpha_st": 1.0, "unit_of_time": "hour", "max_efpr": 100}

    def work() -> Any:
        return intersection_based.psds(scores, truth, described["durations"], num_jobs=1, **options)

    return work, lambda result: result[0]


def psds_eval(folder: Path, described: dict[str, Any], ours: bool) -> Work:
    """PSDS 1 of detections at some thresholds."""
    import pandas

    PSDSEval = import_module("sedscope.compat.psds_eval" if ours else "psds_eval").PSDSEval
    columns = ["filename", "onset", "offset", "event_label"]

    def table(rows: list[Any]) -> Any:
        return pandas.DataFrame([(f"{clip}.wav", *event) for clip, *event in rows], columns=columns)

    sets = [table(rows) for rows in described["detections"]]
    truth = table([(clip, *event) for clip, events in described["events"].items() for event in events])
    durations = pandas.DataFrame(
        [(f"{clip}.wav", seconds) for clip, seconds in described["durations"].items()],
        columns=["filename", "duration"],
    )

    def work() -> Any:
        judge = PSDSEval(dtc_threshold=0.7, gtc_threshold=0.7, ground_truth=truth, metadata=durations)
        for detections in sets:
            judge.add_operating_point(detections)
        return judge.psds(alpha_ct=0.0, alpha_st=1.0, max_efpr=100)

    return work, lambda result: result.value


def sed_eval(folder: Path, described: dict[str, Any], ours: bool) -> Work:
    """Collar F-score of all classes together, of detections at one threshold."""
    lists: dict[str, list[Any]] = {clip: [] for clip in described["clips"]}
    for clip, *event in described["one_threshold"]:
        lists[clip].append(tuple(event))
    tool = "sedscope.compat.sed_eval" if ours else "sed_eval"
    EventBasedMetrics = import_module(f"{tool}.sound_event").EventBasedMetrics

    def as_list(events: list[Any]) -> list[dict[str, Any]]:
        return [
            {"event_onset": onset, "event_offset": offset, "event_label": label}
            for onset, offset, label in events
        ]

    references = {clip: as_list(events) for clip, events in described["events"].items()}
    estimates = {clip: as_list(events) for clip, events in lists.items()}

    def work() -> Any:
        judge = EventBasedMetrics(
            described["classes"], t_collar=0.2, percentage_of_length=0.2, event_matching_type="optimal"
        )
        for clip in described["clips"]:
            judge.evaluate(references[clip], estimates[clip])
        return judge.results_overall_metrics()

    return work, lambda result: result["f_measure"]["f_measure"]


LONG = 1.0  # seconds
TOOLS = {work.__name__: work for work in (sed_scores_eval, psds_eval, sed_eval)}


def main() -> None:
    """Prepare the work of a tool, then do it: as a script does, and again if it is short."""
    tool, side, folder = sys.argv[1:]
    described = json.loads((Path(folder) / "set.json").read_text())
    work, value_of = TOOLS[tool](Path(folder), described, side == "sedscope")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, result = _timed(work)
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    later = min(_timed(work)[0] for _ in range(5)) if seconds < LONG else seconds
    measured = {"value": float(value_of(result)), "first": seconds, "later": later, "megabytes": added}
    print(json.dumps(measured))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of all threads, on which other work of the machine has little effect."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
