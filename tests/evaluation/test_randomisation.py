"""The paired randomisation test: swapped systems, measured by swapping their scores by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.ranking.significance import draw_swaps

from ..support.command_line import run

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
METRICS: list[Metric[Any]] = [
    sed.presets.PSDS1,
    sed.presets.PSDS2,
    sed.BestFScore(sed.Collar()),
    sed.AveragePrecision(sed.Segment(1.0)),
    sed.FScore(sed.Collar(), threshold=0.4),
    sed.ErrorRate(sed.Segment(1.0), threshold=0.4, average="micro"),
]
FRAME, DRAWS = 0.1, 25


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(30, classes=3)


def scores_of(truth: sed.GroundTruth, quality: float, seed: int) -> sed.Scores:
    scores = sed.simulate.scores(truth, frame=FRAME, quality=quality, seed=seed)
    arrays = {clip: scores[clip].values for clip in scores}
    return sed.Scores.from_arrays(arrays, classes=scores.classes, frame=FRAME)


def mixed(chosen: dict[str, sed.Scores]) -> sed.Scores:
    """Scores whose clips come from different systems."""
    arrays = {clip: scores[clip].values for clip, scores in chosen.items()}
    return sed.Scores.from_arrays(arrays, classes=next(iter(chosen.values())).classes, frame=FRAME)


def swapped_by_hand(
    first: sed.Scores, second: sed.Scores, truth: sed.GroundTruth, metric: Metric[Any], swaps: Any
) -> list[list[float]]:
    rows = []
    for swapped in swaps:
        clips = [*zip(truth.clips, swapped, strict=True)]
        pair = [
            mixed({clip: (other if at else own) for clip, at in clips})
            for own, other in ((first, second), (second, first))
        ]
        one, two = (sed.evaluate(scores, truth, metric)[metric] for scores in pair)
        of_classes = [two.per_class[label].value - one.per_class[label].value for label in truth.labels]
        rows.append([two.value - one.value, *of_classes])
    return rows


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_p_values_are_those_of_swapping_by_hand(metric: Metric[Any], truth: sed.GroundTruth) -> None:
    first, second = scores_of(truth, 0.7, 1), scores_of(truth, 0.8, 2)
    resampling = sed.Resampling(DRAWS, test="randomisation", seed=4)
    comparison = sed.compare({"a": first, "b": second}, truth, metric, resampling=resampling)
    swaps = draw_swaps(resampling, truth.clips)
    by_hand = np.array(swapped_by_hand(first, second, truth, metric, swaps))
    difference = comparison.differences[metric]["b", "a"]
    values = [difference.value, *(difference.per_class[label].value for label in truth.labels)]
    p_values = [difference.p, *(difference.per_class[label].p for label in truth.labels)]
    for value, column, p in zip(values, by_hand.T, p_values, strict=True):
        beyond = np.count_nonzero(np.abs(column) >= abs(value) * (1 - 1e-9))
        assert p == (1 + beyond) / (1 + DRAWS)
    assert "25 random swaps of the systems in single clips" in comparison.about()


def test_values_and_intervals_stay(truth: sed.GroundTruth) -> None:
    systems = {"a": scores_of(truth, 0.7, 1), "b": scores_of(truth, 0.8, 2)}
    comparisons = [
        sed.compare(systems, truth, "psds1", resampling=sed.Resampling(30, test=test))
        for test in ("bootstrap", "randomisation")
    ]
    tables = [
        [(row["value"], row["low"], row["high"]) for row in comparison.to_polars().to_dicts()]
        for comparison in comparisons
    ]
    np.testing.assert_array_equal(tables[0], tables[1])


def test_runs_are_swapped_with_each_other(truth: sed.GroundTruth) -> None:
    runs = [scores_of(truth, 0.7, seed) for seed in range(3)]
    same = {"a": [runs[0], runs[1]], "b": [runs[0], runs[1]]}
    resampling = sed.Resampling(20, test="randomisation")
    comparison = sed.compare(same, truth, "psds1", resampling=resampling)
    assert comparison.differences[comparison.metrics[0]]["b", "a"].p == 1
    with pytest.raises(sed.SedscopeError, match="need as many runs"):
        sed.compare({"a": runs[:2], "b": runs[2]}, truth, "psds1", resampling=resampling)


def test_groups_are_swapped_as_a_whole(truth: sed.GroundTruth) -> None:
    groups = {clip: number // 10 for number, clip in enumerate(truth.clips)}
    swaps = draw_swaps(sed.Resampling(50, groups=groups), truth.clips)
    assert all(len({*row[start : start + 10]}) == 1 for row in swaps.tolist() for start in (0, 10, 20))
    assert len(np.unique(swaps, axis=0)) == 8


def test_draws_do_not_depend_on_the_order_of_clips(truth: sed.GroundTruth) -> None:
    clips = [*truth.clips]
    forward, backward = (draw_swaps(sed.Resampling(20), names) for names in (clips, clips[::-1]))
    np.testing.assert_array_equal(forward, backward[:, ::-1])


def test_refusals(truth: sed.GroundTruth) -> None:
    first, second = scores_of(truth, 0.7, 1), scores_of(truth, 0.8, 2)
    resampling = sed.Resampling(20, test="randomisation")
    with pytest.raises(sed.SedscopeError, match="Published values have no clips to swap: b"):
        sed.compare({"a": first, "b": 0.5}, truth, "psds1", resampling=resampling)
    with pytest.raises(sed.SedscopeError, match="same false alarms cannot be swapped"):
        sed.compare(
            {"a": first, "b": second},
            truth,
            sed.Recall(sed.Collar()),
            resampling=resampling,
            at_false_alarms=5,
        )
    with pytest.raises(sed.SedscopeError, match="A ranking has p values from resamples"):
        sed.rank({"a": first, "b": second}, truth, "psds1", resampling=resampling)
    with pytest.raises(sed.SedscopeError, match="test='chance' is not valid"):
        sed.Resampling(test="chance")


def test_on_the_command_line(truth: sed.GroundTruth, tmp_path: Any) -> None:
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    for name, quality in (("a", 0.5), ("b", 0.9)):
        sed.write_scores(scores_of(truth, quality, 1), tmp_path / f"{name}.npz")
    done = run(
        *("compare", tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "truth.tsv"),
        *("--metric", "segment_f1", "--bootstrap", 50, "--test", "randomisation"),
    )
    assert done.code == 0, done.err
    assert "p values from 50 random swaps of the systems in single clips" in done.out
