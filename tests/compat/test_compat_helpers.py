"""The drop-in for sed_scores_eval: helpers and plots."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import collar_based, intersection_based
from sedscope.compat.sed_scores_eval.base_modules import bootstrap, curves, detection, ground_truth
from sedscope.compat.sed_scores_eval.base_modules.scores import get_unique_thresholds
from sedscope.compat.sed_scores_eval.utils import array_ops, nested, parallel, visualization
from sedscope.compat.sed_scores_eval.utils.test import assert_roc_geq_roc_ref

from ..support.compat.sets import COLLAR, DURATIONS, GRID, SCORES, TRUTH, simulated


def test_helpers_do_what_they_say() -> None:
    assert curves.staircase_auc(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 2, 3]), max_x=2.5) == 2
    assert curves.linear_auc(np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 2, 3]), max_x=2.5) == 3.125
    assert curves.get_curve_idx_for_threshold(np.array([0.2, 0.5, np.inf]), 0.5) == 2
    assert curves.get_curve_idx_for_threshold(np.array([0.2, 0.5, np.inf]), np.inf) == 2
    assert array_ops.get_first_index_where(np.array([1, 2, 3]), "gt", 5) == 3
    tree = {"a": 1, "b": {"c": 2, "d": {}}}
    assert nested.deflatten(nested.flatten(tree)) == tree
    assert nested.deflatten({"a.b.c": 1}, maxdepth=1) == {"a": {"b.c": 1}}
    single = ground_truth.multi_label_to_single_label_ground_truths(TRUTH, ["Dog", "Cat"])
    assert single == {"Dog": {"a": [(1.0, 3.0)], "b": []}, "Cat": {"a": [], "b": [(0.0, 1.0)]}}
    counts, seconds = ground_truth.event_counts_and_durations(TRUTH, ["Dog", "Cat"])
    assert (counts, seconds) == ({"Dog": 1, "Cat": 1}, {"Dog": 2.0, "Cat": 1.0})
    assert ground_truth.onset_offset_times_to_indices(0.5, 1.5, [0, 1, 2, 3]) == (0, 2)
    assert get_unique_thresholds(np.array([2.0, 1.0]))[0].tolist() == [-np.inf, 1.5]
    assert detection.scores_to_event_list(SCORES["a"], 0.5) == [(1.0, 3.0, "Dog")]
    mean, low, high = bootstrap.confidence_interval([0.0, 1.0, 2.0, 3.0, 4.0], confidence=0.5)
    assert (mean, low, high) == (2, 1, 3)
    assert bootstrap.confidence_interval([{"Dog": 1.0}, {"Dog": 1.0}]) == {"Dog": (1, 1, 1)}


def test_parts_of_deltas_are_resampled() -> None:
    frames, truth, _ = simulated()
    deltas = collar_based.intermediate_statistics_deltas(frames, truth, 0.2, 0.2)
    options = {**COLLAR, "n_folds": 2, "n_iterations": 2}
    measure = partial(collar_based.fscore, None, truth, 0.5)
    parts = bootstrap.bootstrap_from_deltas(measure, deltas, n_folds=2, n_iterations=2, **COLLAR)
    assert parts == collar_based.bootstrapped_fscore(frames, truth, 0.5, **options)


def test_a_curve_is_drawn(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    value, _, roc, _ = intersection_based.psds(SCORES, TRUTH, DURATIONS, **GRID)
    _, axes = pyplot.subplots()
    options: dict[str, Any] = {**GRID, "cttc_threshold": None, "alpha_ct": 0.0, "alpha_st": 0.0}
    visualization.plot_psd_roc(
        roc,
        **options,
        unit_of_time="hour",
        max_efpr=100.0,
        psds=value,
        axes=axes,
        filename=tmp_path / "a.png",
    )
    assert axes.get_title().startswith(f"PSDS: {value:.5f}\ndtc: 0.50, gtc: 0.50, cttc: na")
    assert (tmp_path / "a.png").exists()


@pytest.mark.parametrize("max_jobs", [1, 3])
def test_a_function_is_called_for_each_value(max_jobs: int) -> None:
    def add(a: int, b: int | None = None, c: int = 0) -> int:
        return 100 * a + 10 * (b or 0) + c

    assert parallel.map([1, 2], "a", add, max_jobs, c=3) == [103, 203]
    assert parallel.map([[1, 2], [5, 6]], ["a", "b"], add, max_jobs) == [150, 260]
    assert parallel.map([[1, 2], None], ["a", "b"], add, max_jobs) == [100, 200]
    with pytest.raises(sed.SedscopeError, match="must have the same length"):
        parallel.map([[1], [1, 2]], ["a", "b"], add, max_jobs)
    with pytest.raises(sed.SedscopeError, match="1 lists of values for 2 arguments"):
        parallel.map([[1]], ["a", "b"], add, max_jobs)


def test_curves_are_compared_as_steps() -> None:
    curve, lower = ([0.2, 0.5, 0.9], [0.0, 1.0, 2.0]), ([0.2, 0.4], [0.5, 3.0])
    assert_roc_geq_roc_ref(curve, lower)
    assert_roc_geq_roc_ref(curve, lower, upper_bound=0.6)
    with pytest.raises(AssertionError, match=r"Dog is above the reference by up to 0.5, .* below 0.5"):
        assert_roc_geq_roc_ref(curve, lower, "Dog", upper_bound=0.5)
    with pytest.raises(AssertionError, match=r"is below the reference at 1 of 2 points, by up to 0.1"):
        assert_roc_geq_roc_ref(curve, ([0.3, 0.4], [0.5, 3.0]))
