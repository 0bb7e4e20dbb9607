"""Calls that sed_scores_eval and its drop-in replacement both answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .comparison import (
    Leaves,
    same,
    same_approximation,
    same_areas,
    same_best,
    same_curves,
    same_deltas,
    same_independent,
    same_psds,
    same_resamples,
    same_rocs,
    same_statistics,
)


@dataclass(frozen=True)
class Call:
    """A function with its arguments; see ``peers.judge.results_of``."""

    function: str
    data: tuple[Any, ...]
    arguments: Mapping[str, Any]
    compare: Callable[[Leaves, Leaves], None]
    drop_in_options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments, which only the drop-in takes."""

    def described(self) -> dict[str, Any]:
        return {"function": self.function, "data": self.data, "arguments": self.arguments}

    def described_for_drop_in(self) -> dict[str, Any]:
        return {**self.described(), "arguments": {**self.arguments, **self.drop_in_options}}


INTERSECTION = {"dtc_threshold": 0.7, "gtc_threshold": 0.7}
LOOSE = {"dtc_threshold": 0.1, "gtc_threshold": 0.1}
COLLAR = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
SEGMENT = {"segment_length": 0.5}
CROSS = {**LOOSE, "cttc_threshold": 0.3}
PSDS1 = {**INTERSECTION, "alpha_st": 1.0}
PSDS2 = {**CROSS, "alpha_ct": 0.5, "alpha_st": 1.0}
FILTERS = [0.15, 0.45]
FEW = {"n_folds": 3, "n_iterations": 2}


def metric_calls(package: str, data: tuple[Any, ...], options: Mapping[str, Any]) -> list[Call]:
    """What all criteria have."""
    pr, f = same_curves("2", ("1", "0")), same_curves("3")
    at = (*data, 0.45)
    calls = [
        Call(f"{package}.accumulated_intermediate_statistics", data, options, same_statistics),
        Call(f"{package}.precision_recall_curve", data, options, pr),
        Call(f"{package}.fscore_curve", data, {**options, "beta": 2.0}, f),
        Call(f"{package}.fscore", at, options, same),
        Call(f"{package}.fscore", at, {**options, "beta": 0.5}, same),
        Call(f"{package}.best_fscore", data, options, same_best),
        Call(f"{package}.best_fscore", data, {**options, "min_precision": 0.4}, same_best),
        Call(f"{package}.best_fscore", data, {**options, "min_recall": 0.6, "beta": 2.0}, same_best),
        Call(f"{package}.error_rate_curve", data, options, f),
        Call(f"{package}.best_error_rate", data, options, same_best),
    ]
    if package != "intersection_based":  # it fails there
        calls.append(Call(f"{package}.error_rate", at, options, same))
    if package in ("segment_based", "clip_based"):
        calls += [
            Call(f"{package}.average_precision", data, options, same_areas("2", ("1", "0"))),
            Call(f"{package}.roc_curve", data, options, same_curves("2", ("1", "0"))),
            Call(f"{package}.auroc", data, options, same_rocs),
        ]
    return calls


def with_deltas(package: str, finder: Call, calls: list[Call]) -> list[Call]:
    """Deltas first, then calls that are given them."""
    arguments = [
        Call(call.function, (None, *call.data[1:]), {**call.arguments, "deltas": "$0"}, call.compare)
        for call in calls
    ]
    return [finder, *arguments]


EVENTS = ("$scores", "$truth")
DATA = (*EVENTS, "$durations")
PSDS_CALLS = [
    Call("intersection_based.psds", DATA, PSDS1, same_psds),
    Call("intersection_based.psds", DATA, PSDS2, same_psds),
    Call("intersection_based.psds", DATA, {**PSDS1, "max_efpr": 3, "unit_of_time": "minute"}, same_psds),
    Call("intersection_based.psd_roc", DATA, PSDS2, same_psds),
    Call("intersection_based.psd_roc", DATA, {**PSDS1, "max_efpr": None}, same_psds),
]
SEQUENCES: dict[str, list[Call]] = {
    "intersection": [*metric_calls("intersection_based", EVENTS, INTERSECTION), *PSDS_CALLS],
    "cross-triggers": [
        Call("intersection_based.accumulated_intermediate_statistics", EVENTS, CROSS, same_statistics)
    ],
    "intersection deltas": with_deltas(
        "intersection_based",
        Call("intersection_based.intermediate_statistics_deltas", EVENTS, INTERSECTION, same_deltas),
        [*metric_calls("intersection_based", EVENTS, INTERSECTION), PSDS_CALLS[0]],
    ),
    "cross-trigger deltas": with_deltas(
        "intersection_based",
        Call("intersection_based.intermediate_statistics_deltas", EVENTS, CROSS, same_deltas),
        [PSDS_CALLS[1], PSDS_CALLS[3]],
    ),
    "collar": [
        *metric_calls("collar_based", EVENTS, COLLAR),
        Call(
            "collar_based.accumulated_intermediate_statistics",
            EVENTS,
            {"onset_collar": 0.1, "offset_collar": 0.3},
            same_statistics,
        ),
    ],
    "errors of pairs": [
        Call(
            "collar_based.fscore",
            (*EVENTS, 0.45),
            {**COLLAR, "return_onset_offset_dist_sum": True},
            same,
        )
    ],
    "collar deltas": with_deltas(
        "collar_based",
        Call("collar_based.intermediate_statistics_deltas", EVENTS, COLLAR, same_deltas),
        metric_calls("collar_based", EVENTS, COLLAR),
    ),
    "segment": metric_calls("segment_based", DATA, SEGMENT),
    "segment deltas": with_deltas(
        "segment_based",
        Call(
            "segment_based.intermediate_statistics.intermediate_statistics_deltas",
            DATA,
            SEGMENT,
            same_deltas,
        ),
        metric_calls("segment_based", DATA, SEGMENT),
    ),
    "clip": metric_calls("clip_based", ("$scores", "$tags"), {}),
    "clip deltas": with_deltas(
        "clip_based",
        Call(
            "clip_based.intermediate_statistics.intermediate_statistics_deltas",
            ("$scores", "$tags"),
            {},
            same_deltas,
        ),
        metric_calls("clip_based", ("$scores", "$tags"), {}),
    ),
    "independent": [
        Call(
            "intersection_based.median_filter_independent_psds",
            DATA,
            {**PSDS1, "median_filter_lengths_in_sec": FILTERS},
            same_independent,
        ),
        Call(
            "intersection_based.postprocessing_independent_psds",
            DATA,
            {**PSDS2, "postprocessing_functions": [{"$median": seconds} for seconds in FILTERS]},
            same_independent,
        ),
        Call(
            "intersection_based.postprocessing_independent_psd_roc",
            DATA,
            {**PSDS1, "postprocessing_functions": None, "scores_processed": ["$scores"]},
            same_independent,
        ),
        Call("intersection_based.psds", (["$scores"], *DATA[1:]), PSDS1, same_psds),
        Call("collar_based.fscore", (["$scores"], "$truth", 0.45), COLLAR, same),
    ],
    "approximate": [
        Call("intersection_based.reference.approximate_psds", DATA, PSDS1, same_approximation),
        Call("intersection_based.reference.approximate_psds", DATA, PSDS2, same_approximation),
        Call("intersection_based.reference.fscore", (*EVENTS, 0.3), LOOSE, same),
    ],
    "detection": [
        Call("base_modules.detection.scores_to_event_list", ("$scores", 0.4), {}, same),
        Call("base_modules.postprocessing.medfilt", ("$scores", 0.0), {}, same),
    ],
    "median filter": [
        Call("base_modules.postprocessing.medfilt", ("$scores", 0.1), {}, same),
        Call("base_modules.postprocessing.medfilt", ("$scores", [0.1, 0.0, 0.3, 0.14]), {}, same),
    ],
    "resampled": [
        Call("intersection_based.bootstrapped_psds", DATA, {**PSDS1, **FEW}, same_resamples(same_psds)),
        Call("intersection_based.bootstrapped_psds", DATA, {**PSDS2, **FEW}, same_resamples(same_psds)),
        Call(
            "collar_based.bootstrapped_fscore", (*EVENTS, 0.45), {**COLLAR, **FEW}, same_resamples(same)
        ),
        Call(
            "intersection_based.bootstrapped_median_filter_independent_psds",
            DATA,
            {**PSDS1, **FEW, "median_filter_lengths_in_sec": FILTERS},
            same_resamples(same_independent),
        ),
        Call(
            "intersection_based.bootstrapped_postprocessing_independent_psds",
            DATA,
            {**PSDS1, **FEW, "postprocessing_functions": [{"$median": 0.15}]},
            same_resamples(same_independent),
        ),
    ],
    "full last segments": [
        Call(
            "segment_based.accumulated_intermediate_statistics",
            DATA,
            {"segment_length": length},
            same_statistics,
            {"full_last_segment": True},
        )
        for length in (0.5, 1.0)
    ],
    "fewer decimals": [
        *(
            Call("intersection_based.psds", DATA, {**options, "time_decimals": d}, same_psds)
            for options, d in ((PSDS1, 3), (PSDS2, 3))
        ),
        *(
            Call(
                "collar_based.accumulated_intermediate_statistics",
                EVENTS,
                {**COLLAR, "time_decimals": d},
                same_statistics,
            )
            for d in (1, 3)
        ),
        Call("segment_based.fscore", (*DATA, 0.45), {**SEGMENT, "time_decimals": 3}, same),
    ],
    "more decimals": [
        Call("intersection_based.psds", DATA, {**PSDS2, "time_decimals": 30}, same_psds),
        *(
            Call(
                "collar_based.accumulated_intermediate_statistics",
                EVENTS,
                {**COLLAR, "time_decimals": d},
                same_statistics,
            )
            for d in (9, 30)
        ),
    ],
}
