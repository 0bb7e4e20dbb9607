"""Times sed_scores_eval on a set that it is handed. Runs in the peers' own environment.

Usage: peer.py FOLDER, with ``set.npz`` (scores: clips × frames × classes) and ``set.json`` in it.
Prints a JSON object of values and seconds by metric.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np


def main() -> None:
    """Read the set, then time each metric."""
    from sed_scores_eval import collar_based, intersection_based
    from sed_scores_eval.base_modules.postprocessing import medfilt
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    folder = Path(sys.argv[1])
    described = json.loads((folder / "set.json").read_text())
    values = np.load(folder / "set.npz")["scores"]
    edges = np.arange(values.shape[1] + 1) * described["frame"]
    scores = {
        clip: create_score_dataframe(array, edges, described["classes"])
        for clip, array in zip(described["clips"], values, strict=True)
    }
    truth = {clip: [tuple(event) for event in events] for clip, events in described["events"].items()}
    result = {}
    for name, options in described["psds"].items():
        start = time.perf_counter()
        value = intersection_based.psds(scores, truth, described["durations"], num_jobs=1, **options)[0]
        result[name] = {"value": float(value), "seconds": time.perf_counter() - start}
    for name, options in described["collar_fscore"].items():
        start = time.perf_counter()
        best = collar_based.best_fscore(scores, truth, num_jobs=1, **options)[0]
        seconds = time.perf_counter() - start
        result[name] = {"value": float(best["macro_average"]), "seconds": seconds}
    for name, options in described["independent_psds"].items():
        start = time.perf_counter()
        value = intersection_based.median_filter_independent_psds(
            scores, truth, described["durations"], num_jobs=1, **options
        )[0]
        result[name] = {"value": float(value), "seconds": time.perf_counter() - start}
    for name, (seconds, options) in described["filtered_fscore"].items():
        start = time.perf_counter()
        filtered = medfilt(scores, seconds)
        best = collar_based.best_fscore(filtered, truth, num_jobs=1, **options)[0]
        seconds = time.perf_counter() - start
        result[name] = {"value": float(best["macro_average"]), "seconds": seconds}
    for name, (package, options) in described["fscores"].items():
        fscore = {"collar": collar_based, "intersection": intersection_based}[package].fscore
        start = time.perf_counter()
        fscores = fscore(scores, truth, 0.5, num_jobs=1, **options)[0]
        seconds = time.perf_counter() - start
        result[name] = {"value": float(fscores["macro_average"]), "seconds": seconds}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
