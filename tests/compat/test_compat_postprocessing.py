"""The drop-in for sed_scores_eval: median filters and other post-processings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sedscope.compat.sed_scores_eval import intersection_based, io
from sedscope.compat.sed_scores_eval.base_modules.postprocessing import apply_postprocessing, medfilt

from ..support.compat.sets import GRID, SCORES, simulated


def test_median_filters_of_each_class() -> None:
    filtered = medfilt(SCORES, [3.0, 0.0])
    assert filtered["a"]["Cat"].tolist() == [0.1] * len(filtered["a"])
    assert filtered["a"]["Dog"].max() == 0.8
    lazy = medfilt(SCORES, 3.0, lazy=True)
    assert lazy["a"].equals(medfilt(SCORES, 3.0)["a"])
    assert [len(lazy[clip]) for clip in lazy.map(lambda table: table)] == [len(lazy[c]) for c in lazy]


def test_a_function_of_arrays_is_applied_and_stored(tmp_path: Path) -> None:
    doubled = apply_postprocessing(
        SCORES, lambda values, edges, times: (values * times, edges), times=2, storage_dir=tmp_path
    )
    assert doubled["a"]["Dog"].tolist() == [0.2, 1.8, 1.6, 0.4]
    assert io.read_sed_scores(tmp_path)["a"].equals(doubled["a"])


def test_median_filters_are_one_post_processing_among_others() -> None:
    frames, truth, durations = simulated()
    options = {**GRID, "alpha_st": 1.0}
    lengths = [0.06, 0.3]
    filtered = intersection_based.median_filter_independent_psds(
        frames, truth, durations, median_filter_lengths_in_sec=lengths, **options
    )
    functions = [partial(medfilt, filter_length_in_sec=length) for length in lengths]
    called = intersection_based.postprocessing_independent_psds(
        frames, truth, durations, postprocessing_functions=functions, **options
    )
    given = intersection_based.postprocessing_independent_psds_from_postprocessed_scores(
        [medfilt(frames, length) for length in lengths], truth, durations, **options
    )
    assert filtered[:2] == called[:2] == given[:2]
    deltas = [
        intersection_based.deltas_postprocessing(frames, truth, function, **GRID)
        for function in functions
    ]
    again = intersection_based.median_filter_independent_psds(
        None, truth, durations, median_filter_lengths_in_sec=lengths, deltas=deltas, **options
    )
    assert again[:2] == filtered[:2]
    several = intersection_based.psds([frames, frames], truth, durations, **GRID)
    assert [len(of_both) for of_both in several] == [2, 2, 2, 2]
