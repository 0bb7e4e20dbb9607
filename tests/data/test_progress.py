"""Progress: one total that is known in advance, and never backwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

import sedscope as sed
from sedscope.metrics import Metric
from sedscope.progress import StagedProgress

BEST = sed.BestFScore(sed.Collar())
METRICS: list[Metric[Any]] = [sed.presets.PSDS1, BEST]
pytestmark = pytest.mark.filterwarnings("ignore:Some classes are not defined:sedscope.SedscopeWarning")

WORK: dict[str, tuple[Callable[..., Any], int]] = {
    "evaluation": (lambda scores, truth, run: sed.evaluate(scores, truth, METRICS, run=run), 30),
    "intervals": (
        lambda scores, truth, run: sed.evaluate(scores, truth, METRICS, resampling=99, run=run),
        30 + 2 * (100 + 240),  # 40 times two halves and four quarters
    ),
    "bca intervals of deltas": (
        lambda scores, truth, run: sed.evaluate_deltas(
            [sed.deltas(scores, truth, metric.criterion) for metric in METRICS],
            METRICS,
            resampling=sed.Resampling(70, interval="bca"),
            run=run,
        ),
        2 * (71 + 30),
    ),
    "blocks of classes": (
        lambda scores, truth, run: sed.evaluate(scores, truth, BEST, run=replace(run, memory=2e5)),
        30,
    ),
    "tuning": (
        lambda scores, truth, run: sed.tune(
            scores, truth, BEST, "MedianFilter(0|0.2|0.5)", folds=4, run=run
        ),
        30 + 3 * 5,
    ),
}


@pytest.mark.parametrize(("work", "total"), WORK.values(), ids=WORK)
def test_progress_rises_to_a_total_known_in_advance(work: Callable[..., Any], total: int) -> None:
    truth = sed.simulate.ground_truth(30, classes=3)
    scores = sed.simulate.scores(truth, frame=0.1)
    reports: list[tuple[int, int]] = []
    work(scores, truth, run=sed.Run(progress=lambda *at: reports.append(at)))
    assert {of for _, of in reports} == {total}
    assert reports[-1] == (total, total)
    assert all(after > before for (before, _), (after, _) in pairwise(reports))


def test_a_stage_that_begins_again_waits() -> None:
    reports: list[tuple[int, int]] = []
    steps = StagedProgress(lambda *at: reports.append(at), 30)
    first, second = steps.stage(10), steps.stage(20)
    assert first is not None
    assert second is not None
    for done in (0, 50, 100, 0, 50, 100):
        first(done, 100)
    second(1, 2)
    second(0, 0)  # a stage without work is done
    assert reports == [(0, 30), (5, 30), (10, 30), (20, 30), (30, 30)]
