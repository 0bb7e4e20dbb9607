"""Scores below which a clip with references has a false positive at any threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.counting.checked_clips import whole_clips
from sedscope.criteria.clip_batch import ClipBatch
from sedscope.criteria.delta_tables import FalseAlarmRows

from ..support.random_sets import KINDS, random_set

SHARES = st.sampled_from([0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])


def certain_rows(scores: sed.Scores, truth: sed.GroundTruth, dtc: float) -> FalseAlarmRows:
    (checked,) = whole_clips(align(scores, truth), 1, None)
    return sed.Intersection(dtc, 0.5).certain_false_alarms(checked.batch, 1)


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), dtc=SHARES)
def test_each_is_there_at_every_lower_threshold(seed: int, kind: str, dtc: float) -> None:
    scores, truth = random_set(np.random.default_rng(seed), kind)
    certain = certain_rows(scores, truth, dtc)
    deltas = sed.deltas(scores, truth, sed.Intersection(dtc, 0.5))
    for clip, label, score in zip(certain.clips, certain.labels, certain.scores, strict=True):
        of_clip = deltas.of_clips(np.arange(len(deltas.clips)) == clip)
        of_class = of_clip.counts()[deltas.classes[label]]
        just_below = int(np.count_nonzero(of_class.scores >= score))
        assert just_below > 0
        assert (of_class.fp[just_below - 1 :] >= 1).all()


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), data=st.data())
def test_maxima_outside_of_spans(seed: int, kind: str, data: st.DataObject) -> None:
    scores, truth = random_set(np.random.default_rng(seed), kind)
    (checked,) = whole_clips(align(scores, truth), 1, None)
    assert isinstance(checked.batch, ClipBatch)
    pairs = [(i, c) for i in range(len(truth.clips)) for c in range(len(scores.classes))]
    times = st.integers(-5, 45).map(lambda step: 10_000 * step)
    ends = [data.draw(st.lists(st.tuples(times, times).map(sorted), max_size=3)) for _ in pairs]
    spans = [sorted(of_pair) for of_pair in ends]
    shortest = data.draw(st.sampled_from([0, 10_001]))
    outside = checked.batch.clips.maxima_outside(
        np.array([span for of_pair in spans for span in of_pair], np.int64).reshape(-1, 2),
        np.cumsum([0, *map(len, spans)]),
        np.array([i for i, _ in pairs], np.int32),
        np.array([c for _, c in pairs], np.int32),
        shortest,
        1,
    )
    for (i, c), of_pair, highest in zip(pairs, spans, outside, strict=True):
        clip = scores[truth.clips[i]]
        expected = [
            score
            for score, begin, end in zip(clip.values[:, c], clip.ticks, clip.ticks[1:], strict=False)
            if end - begin >= shortest and all(end <= on or begin >= off for on, off in of_pair)
        ]
        assert highest == max(expected, default=-np.inf)


def test_reach_of_relevant_detections() -> None:
    #           0    1    2    3    4    5    6    7
    values = [0.1, 0.8, 0.2, 0.9, 0.3, 0.7, 0.6, 0.5]
    # reference              |--|  of a detection, half may lie outside: up to 1 s on either side
    scores = sed.Scores.from_arrays({"a": np.array(values)[:, None]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(3, 4, "Dog")]}, durations={"a": 8})
    assert certain_rows(scores, truth, 1.0).scores.tolist() == [0.8]
    assert certain_rows(scores, truth, 0.5).scores.tolist() == [0.6]
    assert certain_rows(scores, truth, 0.3).scores.tolist() == [0.5]
    assert certain_rows(scores, truth, 0.01).scores.tolist() == []


def test_ignored_references_leave_it_open() -> None:
    scores = sed.Scores.from_arrays({"a": np.ones((8, 1))}, classes=["Dog"], frame=1.0)
    events, durations = {"a": [(3, 4, "Dog")]}, {"a": 8}
    truth = sed.GroundTruth.from_dict(events, durations=durations)
    assert certain_rows(scores, truth, 0.9).scores.tolist() == [1]
    ignored = sed.GroundTruth.from_dict(events, ignored={"a": [(6, 7, "Dog")]}, durations=durations)
    assert certain_rows(scores, ignored, 0.9).scores.tolist() == []


def busy_set() -> tuple[sed.Scores, sed.GroundTruth]:
    """All clips have references, so that no clip shows a false alarm by its largest score alone."""
    truth = sed.simulate.ground_truth(40, seed=5)
    events = {
        clip: [*(event for event in truth.events(clip) if event[2] != "Speech"), (0.0, 0.5, "Speech")]
        for clip in truth.clips
    }
    full = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(truth.clips, 10.0))
    return sed.simulate.scores(truth, seed=5), full


@pytest.mark.parametrize("dtc", [0.3, 0.7])
def test_they_make_a_floor(dtc: float) -> None:
    scores, truth = busy_set()
    psds = sed.PSDS(sed.Intersection(dtc, 0.5))
    evaluation = sed.evaluate(scores, truth, psds)
    deltas = evaluation.deltas[psds.criterion]
    speech = deltas.classes.index("Speech")
    assert np.isfinite(deltas.floors[speech])
    complete = sed.evaluate_deltas(sed.deltas(scores, truth, psds.criterion), psds)
    assert evaluation.scalars() == complete.scalars()
    halves = [deltas.of_clips(np.arange(40) % 2 == i) for i in range(2)]
    assert halves[0].merge(halves[1]).counts()["Speech"].reaches(11) == deltas.counts()[
        "Speech"
    ].reaches(11)
