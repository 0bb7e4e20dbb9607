"""Blocks of time: how long recordings are cut, and the intervals that they give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.alignment.cuts import block_ends, cut_into_blocks

from ..support.command_line import run

METRICS = (sed.BestFScore(sed.IoU(0.3)), sed.FalseAlarmRate(sed.IoU(0.3)), sed.FScore(sed.Segment(1.0)))


def nights(number: int = 2, *, frame: float = 0.1) -> tuple[sed.Scores, sed.GroundTruth]:
    """Some recordings of half an hour."""
    truth = sed.simulate.ground_truth(number, seconds=1800, classes=2, events_per_minute=4, seed=2)
    return sed.simulate.scores(truth, frame=frame, seed=3), truth


@given(
    st.integers(1, 2000),
    st.integers(8, 300),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 400)), max_size=20),
)
def test_ends_cut_no_reference(duration: int, length: int, events: Sequence[tuple[int, int]]) -> None:
    times = np.array([(on, on + extent) for on, extent in events], np.int64).reshape(-1, 2)
    ends = block_ends(duration, length, times)
    assert ends[-1] == duration
    assert (np.diff(ends, prepend=0) >= min(duration, length / 2) - 1).all()
    for end in ends[:-1]:
        assert not ((times[:, 0] < end) & (times[:, 1] > end)).any()
    if not events:
        assert (np.diff(ends, prepend=0) <= 1.5 * length + 1).all()


def test_segments_of_a_second_are_the_same_in_blocks() -> None:
    scores, truth = nights(frame=0.25)
    alignment = align(scores, truth)
    blocks = cut_into_blocks(alignment, 20)
    assert len(blocks.clips) > 100
    assert blocks.durations.sum() == alignment.durations.sum()
    assert len(blocks.events) == len(alignment.events)
    metric = METRICS[2]
    cut = sed.Scores(blocks.clips, blocks.scores.open, classes=scores.classes)
    events = {
        clip: [
            (on / 1e6, off / 1e6, blocks.classes[label])
            for (on, off), label, of in zip(
                blocks.events.tolist(), blocks.labels.tolist(), blocks.event_clips.tolist(), strict=True
            )
            if of == number
        ]
        for number, clip in enumerate(blocks.clips)
    }
    durations = dict(zip(blocks.clips, (blocks.durations / 1e6).tolist(), strict=True))
    again = sed.evaluate(cut, sed.GroundTruth.from_dict(events, durations=durations), metric)
    # pauses are long enough here to end all blocks at whole seconds
    assert (blocks.durations % 1_000_000 == 0).all()
    assert again[metric].value == sed.evaluate(scores, truth, metric)[metric].value


def test_intervals_of_blocks_are_around_the_values_of_the_recordings() -> None:
    scores, truth = nights()
    whole = sed.evaluate(scores, truth, METRICS)
    result = sed.evaluate(scores, truth, METRICS, resampling=sed.Resampling(200, blocks=60))
    for metric in METRICS:
        interval = result.intervals[metric]
        assert result[metric].value == interval.value == whole[metric].value
        assert interval.low < interval.value < interval.high
        assert interval.per_class["class_0"].value == whole[metric].per_class["class_0"].value
    assert "from 200 resamples of blocks of 60 s" in result.table()
    assert result.clips == 2
    (note,) = result.warnings
    assert "from only 60 blocks of 60 s. In sedscope's study of sets of 100" in note


def test_cuts_that_change_a_value_are_noted() -> None:
    values = np.full((3600, 1), 0.9)
    scores = sed.Scores.from_arrays({"a": values}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(5, 10, "Dog")]}, durations={"a": 3600})
    rate = sed.FalseAlarmRate(sed.IoU(0.5))
    with pytest.warns(sed.SedscopeWarning, match=r"give FalseAlarmRate.* = 60\.0000 instead of 1\.0000"):
        sed.evaluate(scores, truth, rate, resampling=sed.Resampling(50, blocks=60))


def test_few_clips_are_advised_to_be_cut() -> None:
    scores, truth = nights(1)
    with pytest.raises(
        sed.SedscopeError, match=r"at least 2 clips, not 1. evaluate can draw blocks of time"
    ):
        sed.evaluate(scores, truth, METRICS[0], resampling=10)
    scores, truth = nights(2)
    with pytest.warns(sed.SedscopeWarning, match=r"only 2 clips.*Resampling\(blocks=60\)"):
        sed.evaluate(scores, truth, METRICS[0], resampling=10)


def test_blocks_need_times() -> None:
    scores, truth = nights(2)
    deltas = sed.deltas(scores, truth, METRICS[0].criterion)
    with pytest.raises(sed.SedscopeError, match="cannot be cut into blocks"):
        sed.evaluate_deltas(deltas, METRICS[0], resampling=sed.Resampling(10, blocks=60))
    with pytest.raises(sed.SedscopeError, match="not both"):
        sed.Resampling(blocks=60, groups={"a": 1})


def test_whole_clips_have_no_blocks() -> None:
    metrics = (*METRICS, sed.AUROC(sed.Clip()))
    with pytest.raises(sed.SedscopeError, match=r"need whole clips.*: AUROC\(Clip\(.*Segment\(60\)"):
        sed.evaluate(*nights(2), metrics, resampling=sed.Resampling(10, blocks=60))


def test_blocks_on_the_command_line(tmp_path: Path) -> None:
    scores, truth = nights(2)
    sed.write_scores(scores, tmp_path / "scores.npz")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    command = ["evaluate", tmp_path / "scores.npz", tmp_path / "truth.tsv", "--metric", repr(METRICS[1])]
    outcome = run(*command, "--bootstrap", 50, "--resample", "blocks=60s")
    assert (outcome.code, outcome.out.count("resamples of blocks of 60 s")) == (0, 1)
    wrong = run(*command, "--bootstrap", 50, "--resample", "block=60s")
    assert "--resample 'block=60s' is not valid" in wrong.err
