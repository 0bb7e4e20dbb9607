"""The number of reference events that an evaluation states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Metric

COLLAR, SEGMENT, CLIP = (
    sed.BestFScore(criterion) for criterion in (sed.Collar(), sed.Segment(0.5), sed.Clip())
)


def two_long_events() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 3, "Dog"), (3.5, 4, "Dog")], "b": [(1, 2, "Cat")]}, durations={"a": 4, "b": 4}
    )
    rng = np.random.default_rng(3)
    values = {clip: rng.random((8, 2)) for clip in truth.clips}
    return sed.Scores.from_arrays(values, classes=["Cat", "Dog"], frame=0.5), truth


@pytest.mark.parametrize(
    "metrics", [[COLLAR, SEGMENT], [SEGMENT, COLLAR], [SEGMENT, CLIP], [CLIP]], ids=str
)
def test_references_are_events_whatever_comes_first(metrics: list[Metric[Any]]) -> None:
    scores, truth = two_long_events()
    result = sed.evaluate(scores, truth, metrics)
    assert result.references == {"Cat": 1, "Dog": 2}
    assert result.to_dict()["references"] == {"Cat": 1, "Dog": 2}
    assert (
        sed.evaluate(scores, truth, metrics, run=sed.Run(memory="1GB")).references == result.references
    )


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_events_after_the_end_do_not_count() -> None:
    scores, _ = two_long_events()
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 3, "Dog"), (4.5, 5, "Dog")], "b": [(1, 2, "Cat")]}, invalid="drop"
    )
    for metric in (SEGMENT, COLLAR):
        assert sed.evaluate(scores, truth, metric).references == {"Cat": 1, "Dog": 1}
