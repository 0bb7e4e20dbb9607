"""Let sed_scores_eval and psds_eval judge a batch of cases.

Runs in the peers' Python, which has no sedscope: ``python judge.py FOLDER``. It reads
``FOLDER/cases.json`` and ``FOLDER/scores.npz`` and writes ``FOLDER/verdicts.npz``.

A case is ``{"name", "classes", "clips", "dtc", "gtc", "cttc", "psds", "thresholds"}``: the clips as
``{clip: {"duration", "events": [(onset, offset, label), …]}}``, the scores as arrays
``name/clip/values`` and ``name/clip/edges``, times in seconds. With thresholds it goes to psds_eval,
without to sed_scores_eval. All verdicts are arrays, ``name/…``; see the two functions.

The peers are imported where they are used, as this file is also read where they are not installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, Any]


def judge(folder: Path) -> None:
    """Judge all cases of a folder."""
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    verdicts: Arrays = {}
    with np.load(folder / "scores.npz", allow_pickle=False) as arrays:
        for case in cases:
            ask = by_psds_eval if case["thresholds"] else by_sed_scores_eval
            for key, found in ask(case, score_tables(case, arrays)).items():
                verdicts[f"{case['name']}/{key}"] = found
    np.savez(folder / "verdicts.npz", **verdicts)


def score_tables(case: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The scores of each clip as sed_scores_eval takes them. It widens float32, which is exact."""
    create = import_module("sed_scores_eval.base_modules.scores").create_score_dataframe
    return {
        clip: create(
            arrays[f"{case['name']}/{clip}/values"],
            arrays[f"{case['name']}/{clip}/edges"],
            case["classes"],
        )
        for clip in case["clips"]
    }


def by_sed_scores_eval(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Counts, curves and PSDS at every threshold.

    ``counts/label/…``: scores (rising, the last one inf), tps, fps, ``cts/other``, n_ref, t_ref.
    ``psds/i/…``: value, efpr, etpr, and value, efpr, tpr of each label.
    """
    # It refuses references of a class that touch. What it counts is well defined for them, too.
    checks: Any = import_module("sed_scores_eval.base_modules.io")
    checks.assert_non_connected_events = lambda _: None
    peer = import_module("sed_scores_eval.intersection_based")
    statistics = import_module("sed_scores_eval.intersection_based.intermediate_statistics")

    truth = {clip: [tuple(e) for e in of_clip["events"]] for clip, of_clip in case["clips"].items()}
    durations = {clip: of_clip["duration"] for clip, of_clip in case["clips"].items()}
    shares = {"dtc_threshold": case["dtc"], "gtc_threshold": case["gtc"]}
    deltas = statistics.intermediate_statistics_deltas(
        scores, truth, **shares, cttc_threshold=case["cttc"]
    )

    found: Arrays = {}
    counts = statistics.accumulated_intermediate_statistics_from_deltas(deltas, truth)
    for label, (at_scores, of_class) in counts.items():
        found[f"counts/{label}/scores"] = at_scores
        for name in ("tps", "fps", "n_ref", "t_ref"):
            found[f"counts/{label}/{name}"] = np.asarray(of_class[name])
        if case["cttc"] is not None:
            for other, cross_triggers in of_class["cts"].items():
                found[f"counts/{label}/cts/{other}"] = cross_triggers

    for i, psds in enumerate(case["psds"]):
        value, class_values, (etpr, efpr), class_curves = peer.psds(
            scores,
            truth,
            durations,
            deltas=deltas,
            **shares,
            # it wants to hear of cross-triggers only where they weigh something
            cttc_threshold=case["cttc"] if psds["alpha_ct"] else None,
            alpha_ct=psds["alpha_ct"],
            alpha_st=psds["alpha_st"],
            max_efpr=psds["max_efpr"],
            unit_of_time=psds["unit"],
        )
        found[f"psds/{i}/value"] = np.asarray(value)
        found[f"psds/{i}/efpr"], found[f"psds/{i}/etpr"] = efpr, etpr
        for label, (class_tpr, class_efpr, _) in class_curves.items():
            found[f"psds/{i}/{label}/value"] = np.asarray(class_values[label])
            found[f"psds/{i}/{label}/efpr"] = class_efpr
            found[f"psds/{i}/{label}/tpr"] = class_tpr
    return found


def by_psds_eval(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Counts of the detections at each threshold, and the PSDS over these thresholds.

    ``classes``: those with references. ``points``: thresholds × classes × (classes and, last, the
    world): true positives on the diagonal, cross-triggers beside it, false positives in the last
    column. ``psds/i/value``.
    """
    pandas = import_module("pandas")
    psds_eval = import_module("psds_eval")
    detect = import_module("sed_scores_eval.base_modules.detection").scores_to_event_list

    def table(events: Mapping[str, Any]) -> Any:
        rows = [(clip, *event) for clip, of_clip in events.items() for event in of_clip]
        return pandas.DataFrame(rows, columns=["filename", "onset", "offset", "event_label"])

    peers: dict[str, Any] = {}  # one for each unit of time
    for unit in {psds["unit"] for psds in case["psds"]}:
        peers[unit] = psds_eval.PSDSEval(
            dtc_threshold=case["dtc"],
            gtc_threshold=case["gtc"],
            cttc_threshold=case["cttc"],
            duration_unit=unit,
            ground_truth=table({clip: of_clip["events"] for clip, of_clip in case["clips"].items()}),
            metadata=pandas.DataFrame(
                [(clip, of_clip["duration"]) for clip, of_clip in case["clips"].items()],
                columns=["filename", "duration"],
            ),
        )
        for threshold in case["thresholds"]:
            every_class = np.full(len(case["classes"]), threshold)
            peers[unit].add_operating_point(table(detect(scores, every_class)))

    some = next(iter(peers.values()))
    world = psds_eval.psds.WORLD
    found: Arrays = {
        "classes": np.array(sorted(name for name in some.class_names if name != world)),
        "points": np.stack([*some.operating_points.counts])[:, :-1],
    }
    for i, psds in enumerate(case["psds"]):
        result = peers[psds["unit"]].psds(psds["alpha_ct"], psds["alpha_st"], psds["max_efpr"])
        found[f"psds/{i}/value"] = np.asarray(result.value)
    return found


if __name__ == "__main__":
    judge(Path(sys.argv[1]))
