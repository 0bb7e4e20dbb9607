"""Let the peers judge a batch of cases.

Runs in the peers' Python, which has no sedscope: ``python judge.py FOLDER``. It reads
``FOLDER/cases.json`` and ``FOLDER/scores.npz`` and writes ``FOLDER/verdicts.npz``.

A case is ``{"name", "classes", "clips", "judge", …}``: the clips as ``{clip: {"duration", "events":
[(onset, offset, label), …]}}``, the scores as arrays ``name/clip/values`` and ``name/clip/edges``, times
in seconds. The judge is one of `JUDGES`, and what else it wants to know is told there. All verdicts are
arrays, ``name/…``.

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
            found = JUDGES[case["judge"]](case, score_tables(case, arrays))
            for key, array in found.items():
                verdicts[f"{case['name']}/{key}"] = array
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


def references(case: Mapping[str, Any]) -> dict[str, Any]:
    """The events of each clip as sed_scores_eval takes them."""
    # It refuses references of a class that touch. What it counts is well defined for them, too.
    checks: Any = import_module("sed_scores_eval.base_modules.io")
    checks.assert_non_connected_events = lambda _: None
    return {clip: [tuple(e) for e in of_clip["events"]] for clip, of_clip in case["clips"].items()}


def psds_of_scores(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Counts, curves and PSDS at every threshold, by sed_scores_eval.

    ``dtc``, ``gtc``, ``cttc`` (or None) and ``psds``, a list of ``{"alpha_ct", "alpha_st", "max_efpr",
    "unit"}``, say of what.
    ``counts/label/…``: scores (rising, the last one inf), tps, fps, ``cts/other``, n_ref, t_ref.
    ``psds/i/…``: value, efpr, etpr, and value, efpr, tpr of each label.
    """
    peer = import_module("sed_scores_eval.intersection_based")
    statistics = import_module("sed_scores_eval.intersection_based.intermediate_statistics")

    truth = references(case)
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


def psds_of_detections(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Counts of the detections at each threshold, and the PSDS over these thresholds, by psds_eval.

    Asked as `psds_of_scores`, with ``thresholds``.
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


def by_criterion(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Counts and what is read off them, for one criterion, by sed_scores_eval.

    ``criterion`` is the name of its package and ``options`` are what its functions take, ``beta`` is of
    the F-scores, ``threshold`` where they and error rates are read, ``max_fpr`` of the partial area,
    ``max_insertion_rate`` of the last item. For each label, and where there is one for an average:

    - ``counts/label/…``: scores (rising, the last one inf), tps, fps, n_ref, for segments and clips tns
    - ``pr/label/…``: scores, precision, recall; ``f/label/…`` and ``er/label/…``: scores, values
    - ``best_f/label/…`` and ``best_er/label/…``: value, threshold, tps, fps
    - ``f_at/…``, ``er_at/…``, ``ap/…``: label
    - ``roc/label/…``: scores, tpr, fpr; ``auroc/…``, ``pauroc/…``: label; of segments and clips
    - ``limited/label/…``: value, insertions (per reference) of the best error rate with a limit
    """
    statistics = import_module(f"sed_scores_eval.{case['criterion']}.intermediate_statistics")
    precision_recall = import_module("sed_scores_eval.base_modules.precision_recall")
    error_rate = import_module("sed_scores_eval.base_modules.error_rate")
    truth: Any = references(case)
    inputs: list[Any] = [scores, truth]
    if case["criterion"] == "clip_based":  # takes tags
        inputs[1] = {clip: sorted({event[2] for event in events}) for clip, events in truth.items()}
    if case["criterion"] == "segment_based":
        inputs.append({clip: of_clip["duration"] for clip, of_clip in case["clips"].items()})
    counted, _ = statistics.accumulated_intermediate_statistics(*inputs, **case["options"])
    # its error rate at a threshold fails on what the intersection counts beside these
    names = ("tps", "fps", "tns", "n_ref")
    counts = {
        label: (at_scores, {name: columns[name] for name in names if name in columns})
        for label, (at_scores, columns) in counted.items()
    }

    found: Arrays = {}

    def tell(what: str, **columns: Any) -> None:
        for name, column in columns.items():
            found[f"{what}/{name}"] = np.asarray(column)

    for label, (at_scores, of_class) in counts.items():
        tell(f"counts/{label}", scores=at_scores, **of_class)
    curves = precision_recall.precision_recall_curve_from_intermediate_statistics(counts)
    for label, (precision, recall, at_scores, _) in curves.items():
        tell(f"pr/{label}", scores=at_scores, precision=precision, recall=recall)
    curves = precision_recall.fscore_curve_from_intermediate_statistics(counts, beta=case["beta"])
    for label, (values, _, _, at_scores, _) in curves.items():
        tell(f"f/{label}", scores=at_scores, values=values)
    curves = error_rate.error_rate_curve_from_intermediate_statistics(counts)
    for label, (values, _, _, at_scores, _) in curves.items():
        tell(f"er/{label}", scores=at_scores, values=values)

    best = precision_recall.best_fscore_from_intermediate_statistics(counts, beta=case["beta"])
    best_er = error_rate.best_error_rate_from_intermediate_statistics(counts)
    for what, (values, _, _, thresholds, at_best) in (("best_f", best), ("best_er", best_er)):
        for label, value in values.items():
            tell(f"{what}/{label}", value=value)
            if label in counts:
                tps, fps = at_best[label]["tps"], at_best[label]["fps"]
                tell(f"{what}/{label}", threshold=thresholds[label], tps=tps, fps=fps)
    tell(
        "f_at",
        **precision_recall.single_fscore_from_intermediate_statistics(
            counts, case["threshold"], beta=case["beta"]
        )[0],
    )
    tell(
        "er_at",
        **error_rate.single_error_rate_from_intermediate_statistics(counts, case["threshold"])[0],
    )
    tell("ap", **precision_recall.average_precision_from_intermediate_statistics(counts)[0])
    limited, insertions, *_ = error_rate.best_error_rate_from_intermediate_statistics(
        counts, max_insertion_rate=case["max_insertion_rate"]
    )
    for label in counts:
        tell(f"limited/{label}", value=limited[label], insertions=insertions[label])
    if case["criterion"] in ("segment_based", "clip_based"):
        with_a_stable_sort()
        roc = import_module("sed_scores_eval.base_modules.roc")
        areas, curves = roc.auroc_from_intermediate_statistics(counts)
        for label, (tpr, fpr, at_scores, _) in curves.items():
            tell(f"roc/{label}", scores=at_scores, tpr=tpr, fpr=fpr)
        tell("auroc", **areas)
        tell("pauroc", **roc.auroc_from_intermediate_statistics(counts, max_fpr=case["max_fpr"])[0])
    return found


def with_a_stable_sort() -> None:
    """Let sed_scores_eval keep the order of the points of a curve that lie above each other.

    It sorts the points of an ROC by both rates, and then for the area once more by the false positive
    rate alone, in a way that may shuffle points that have the same one.
    """

    class Stable:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def argsort(self, array: NDArray[Any]) -> NDArray[Any]:
            return np.argsort(array, kind="stable")

    curves: Any = import_module("sed_scores_eval.base_modules.curves")
    curves.np = Stable()


def median_filtered(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """Scores after the median filter of sed_scores_eval, with a window of ``window`` seconds.

    ``clip/values``: frames × classes; ``clip/edges``: seconds.
    """
    peer = import_module("sed_scores_eval.base_modules.postprocessing")
    found: Arrays = {}
    for clip, table in peer.medfilt(scores, case["window"]).items():
        found[f"{clip}/values"] = table[case["classes"]].to_numpy()
        found[f"{clip}/edges"] = np.append(table["onset"].to_numpy(), table["offset"].to_numpy()[-1:])
    return found


JUDGES = {
    "psds": psds_of_scores,
    "psds_eval": psds_of_detections,
    "criterion": by_criterion,
    "median": median_filtered,
}

if __name__ == "__main__":
    judge(Path(sys.argv[1]))
