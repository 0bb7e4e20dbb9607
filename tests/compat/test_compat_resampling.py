"""The drop-in for sed_scores_eval: resamples of the clips and their intervals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.compat.sed_scores_eval import clip_based, collar_based, intersection_based, segment_based
from sedscope.compat.sed_scores_eval.base_modules.bootstrap import (
    bootstrap,
    bootstrap_from_deltas,
    confidence_interval,
)

from ..support.compat.sets import COLLAR, DURATIONS, GRID, SCORES, TRUTH, simulated

SAMPLES = 5


def draws(clips: list[str]) -> list[list[str]]:
    """All clips as often as there are samples, shuffled, and cut into samples."""
    drawn = sorted(clips) * SAMPLES
    np.random.RandomState(0).shuffle(drawn)
    return [drawn[len(clips) * i : len(clips) * (i + 1)] for i in range(SAMPLES)]


@pytest.mark.parametrize(
    ("package", "data", "options"),
    [
        (intersection_based, ("truth",), GRID),
        (collar_based, ("truth",), COLLAR),
        (segment_based, ("truth", "durations"), {"segment_length": 1.0}),
        (clip_based, ("tags",), {}),
    ],
)
def test_a_resample_is_a_set_of_the_drawn_clips(
    package: Any, data: tuple[str, ...], options: dict[str, Any]
) -> None:
    frames, truth, durations = simulated()
    tags = {clip: [event[2] for event in events] for clip, events in truth.items()}
    named = {"truth": truth, "durations": durations, "tags": tags}
    values, *_ = package.bootstrapped_fscore(
        frames, *(named[name] for name in data), 0.5, **options, n_bootstrap_samples=SAMPLES
    )
    for value, drawn in zip(values, draws([*frames]), strict=True):
        copies = {f"{clip} {i}": clip for i, clip in enumerate(drawn)}
        expected, *_ = package.fscore(
            {copy: frames[clip] for copy, clip in copies.items()},
            *({copy: named[name][clip] for copy, clip in copies.items()} for name in data),
            0.5,
            **options,
        )
        assert value == pytest.approx(expected)


def test_deltas_are_resampled_like_scores() -> None:
    frames, truth, durations = simulated()
    expected = intersection_based.bootstrapped_psds(
        frames, truth, durations, **GRID, n_bootstrap_samples=SAMPLES
    )
    deltas = intersection_based.intermediate_statistics_deltas(frames, truth, **GRID)
    resampled = bootstrap_from_deltas(
        partial(intersection_based.psds, None, **GRID),
        deltas,
        n_bootstrap_samples=SAMPLES,
        ground_truth=truth,
        audio_durations=durations,
    )
    found = bootstrap(
        intersection_based.psds,
        frames,
        deltas_fn=intersection_based.intermediate_statistics_deltas,
        n_bootstrap_samples=SAMPLES,
        deltas_fn_kwargs={"ground_truth": truth, **GRID},
        eval_fn_kwargs={"audio_durations": durations},
    )
    for values in (resampled, found):
        assert values[0] == pytest.approx(expected[0], abs=1e-12)
        assert values[1][0] == pytest.approx(expected[1][0], abs=1e-12)


def test_a_function_may_return_one_value() -> None:
    frames, truth, durations = simulated()
    deltas = segment_based.intermediate_statistics_deltas(frames, truth, durations)
    sizes = bootstrap_from_deltas(lambda deltas: len(deltas), deltas, n_bootstrap_samples=SAMPLES)
    assert sizes == [len(frames)] * SAMPLES


def test_a_hundred_resamples_unless_folds_are_left_out() -> None:
    frames, truth, _ = simulated()
    for options, number in (({}, 100), ({"n_folds": 3}, 60), ({"n_iterations": 2}, 10)):
        values, *_ = collar_based.bootstrapped_fscore(frames, truth, 0.5, **COLLAR, **options)
        assert len(values) == number


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: collar_based.bootstrapped_fscore(
                SCORES, TRUTH, 0.5, **COLLAR, n_folds=2, n_bootstrap_samples=3
            ),
            "Pass either n_bootstrap_samples",
        ),
        (
            lambda: collar_based.bootstrapped_fscore(SCORES, TRUTH, 0.5, **COLLAR, n_folds=1),
            "n_folds=1 must be at least 2",
        ),
        (lambda: bootstrap(collar_based.fscore), "Pass deltas, or scores and deltas_fn"),
        (lambda: confidence_interval([1.0], confidence=90), "confidence=90 must be between 0 and 1"),
    ],
)
def test_what_cannot_be_resampled_is_refused(act: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        act()


def test_resamples_without_a_class_are_left_out_of_its_interval() -> None:
    _, of_classes, *_ = intersection_based.bootstrapped_psds(
        SCORES, TRUTH, DURATIONS, **GRID, n_bootstrap_samples=20
    )
    values = [{"Dog": 1.0, "Cat": value["Cat"]} for value in of_classes]
    defined = [value["Cat"] for value in values if not np.isnan(value["Cat"])]
    assert 0 < len(defined) < 20
    left_out = rf"1 class has no value in some resamples.*: Cat \({20 - len(defined)} of 20\)\."
    with pytest.warns(sed.SedscopeWarning, match=left_out):
        intervals = confidence_interval(values)
    assert intervals["Cat"][0] == pytest.approx(np.mean(defined))
    assert intervals["Dog"] == (1, 1, 1)


def test_an_interval_of_nothing_is_not_a_number() -> None:
    with pytest.warns(sed.SedscopeWarning, match="2 of 2 resamples have no value"):
        assert np.isnan(confidence_interval([np.nan, np.nan])).all()
