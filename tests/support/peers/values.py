"""Values and counts of a case by the peers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Arrays, psds_options, references


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

    verdict: Arrays = {}
    counts = statistics.accumulated_intermediate_statistics_from_deltas(deltas, truth)
    for label, (at_scores, of_class) in counts.items():
        verdict[f"counts/{label}/scores"] = at_scores
        for name in ("tps", "fps", "n_ref", "t_ref"):
            verdict[f"counts/{label}/{name}"] = np.asarray(of_class[name])
        if case["cttc"] is not None:
            for other, cross_triggers in of_class["cts"].items():
                verdict[f"counts/{label}/cts/{other}"] = cross_triggers

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
        verdict[f"psds/{i}/value"] = np.asarray(value)
        verdict[f"psds/{i}/efpr"], verdict[f"psds/{i}/etpr"] = efpr, etpr
        for label, (class_tpr, class_efpr, _) in class_curves.items():
            verdict[f"psds/{i}/{label}/value"] = np.asarray(class_values[label])
            verdict[f"psds/{i}/{label}/efpr"] = class_efpr
            verdict[f"psds/{i}/{label}/tpr"] = class_tpr
    return verdict


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
    verdict: Arrays = {
        "classes": np.array(sorted(name for name in some.class_names if name != world)),
        "points": np.stack([*some.operating_points.counts])[:, :-1],
    }
    for i, psds in enumerate(case["psds"]):
        result = peers[psds["unit"]].psds(psds["alpha_ct"], psds["alpha_st"], psds["max_efpr"])
        verdict[f"psds/{i}/value"] = np.asarray(result.value)
    return verdict


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

    verdict: Arrays = {}

    def tell(what: str, **columns: Any) -> None:
        for name, column in columns.items():
            verdict[f"{what}/{name}"] = np.asarray(column)

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
    return verdict


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
    verdict: Arrays = {}
    for clip, table in peer.medfilt(scores, case["window"]).items():
        verdict[f"{clip}/values"] = table[case["classes"]].to_numpy()
        verdict[f"{clip}/edges"] = np.append(table["onset"].to_numpy(), table["offset"].to_numpy()[-1:])
    return verdict


def median_filter_independent(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """The PSDS over operating points of several median filters, by sed_scores_eval.

    ``windows``: their lengths in seconds; ``dtc``, ``gtc``, ``cttc``, ``alpha_ct``, ``alpha_st``,
    ``max_efpr`` and ``unit`` say of what.
    ``value``; ``label/…``: value, efpr, tpr, and window, that of each vertex.
    """
    peer = import_module("sed_scores_eval.intersection_based")
    durations = {clip: of_clip["duration"] for clip, of_clip in case["clips"].items()}
    value, class_values, _, class_curves, *_ = peer.median_filter_independent_psds(
        scores,
        references(case),
        durations,
        median_filter_lengths_in_sec=case["windows"],
        **psds_options(case),
    )
    verdict: Arrays = {"value": np.asarray(value)}
    for label, (tpr, efpr, _, window) in class_curves.items():
        verdict[f"{label}/value"] = np.asarray(class_values[label])
        verdict[f"{label}/efpr"], verdict[f"{label}/tpr"] = efpr, tpr
        verdict[f"{label}/window"] = np.asarray(case["windows"])[window]
    return verdict


def bootstrapped(case: Mapping[str, Any], scores: Mapping[str, Any]) -> Arrays:
    """PSDS and F-scores of subsets of the clips, by sed_scores_eval, with ``folds`` and ``iterations``.

    ``dtc`` … ``unit`` are those of the PSDS; ``onset``, ``offset``, ``offset_rate`` and ``threshold``
    those of the F-score, of which there is none without a threshold.
    ``psds/…``, ``fscore/…``: for the value over all classes and for each label, one for each subset.
    """
    intersection = import_module("sed_scores_eval.intersection_based")
    collar = import_module("sed_scores_eval.collar_based")
    truth = references(case)
    durations = {clip: of_clip["duration"] for clip, of_clip in case["clips"].items()}
    draws = {"n_folds": case["folds"], "n_iterations": case["iterations"]}
    values, class_values, *_ = intersection.bootstrapped_psds(
        scores, truth, durations, **psds_options(case), **draws
    )
    verdict: Arrays = {"psds/value": np.asarray(values)}
    for label in case["classes"]:
        verdict[f"psds/{label}"] = np.array([of_classes[label] for of_classes in class_values])
    if "threshold" not in case:
        return verdict
    fscores, *_ = collar.bootstrapped_fscore(
        scores,
        truth,
        case["threshold"],
        onset_collar=case["onset"],
        offset_collar=case["offset"],
        offset_collar_rate=case["offset_rate"],
        **draws,
    )
    for name in fscores[0]:
        verdict[f"fscore/{name}"] = np.array([of_classes[name] for of_classes in fscores])
    return verdict
