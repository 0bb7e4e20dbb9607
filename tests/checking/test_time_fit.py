"""Another unit or origin of times that fits much better, and no false alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.alignment.alignment import align
from sedscope.alignment.time_agreement import TimeSample

from ..support.real_data import desed_scores, desed_truth, excerpt_scores, excerpt_truth

TRUTH = sed.simulate.ground_truth(45, seed=1)
SCORES = sed.simulate.scores(TRUTH, quality=0.9, seed=1)
METRIC = sed.BestFScore(sed.Clip())

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def moved(change: Callable[[float], float]) -> sed.GroundTruth:
    """Return the ground truth with other times, without events that then begin before 0 s."""
    events = {
        clip: [(change(onset), change(offset), label) for onset, offset, label in TRUTH.events(clip)]
        for clip in TRUTH.clips
    }
    return sed.GroundTruth.from_dict(events, invalid="drop")


def noted_by_validate(scores: sed.Scores, truth: sed.GroundTruth) -> list[str]:
    findings = sed.validate(
        scores, truth, truth_reading=sed.TruthReading(invalid="drop"), clips="scored", missing="empty"
    ).findings
    return [finding.what for finding in findings if finding.kind == "time-fit"]


def noted_by_evaluate(scores: sed.Scores, truth: sed.GroundTruth) -> list[str]:
    result = sed.evaluate(scores, truth, METRIC, clips="scored", missing="empty")
    return [warning for warning in result.warnings if "correlation of scores and references" in warning]


both = pytest.mark.parametrize("noted", [noted_by_validate, noted_by_evaluate])
Noted = Callable[[sed.Scores, sed.GroundTruth], list[str]]


@both
@pytest.mark.parametrize("quality", [0.3, 0.9])
def test_times_that_fit(noted: Noted, quality: float) -> None:
    assert noted(sed.simulate.scores(TRUTH, quality=quality), TRUTH) == []


@both
@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        (lambda time: time / 60, "as if those of the references were minutes"),
        (lambda time: time * 1000, "as if those of the references were milliseconds"),
        (lambda time: time / 0.02, "the times of the references are numbers of frames"),
        (lambda time: time * 2, "multiplied by about 0.5"),
        (lambda time: time * 1.1, "multiplied by about 0.92"),
        (lambda time: time * 1.3, "multiplied by about 0.77"),
        (lambda time: time / 1.3, "multiplied by about 1.3"),
        (lambda time: time + 2, "The scores look about 2 s early"),
        (lambda time: time + 0.001 - 1, "The scores look about 1 s late"),
        (lambda time: time + 0.25, "The scores look about 0.25 s early"),
        (lambda time: time + 0.001 - 0.25, "The scores look about 0.25 s late"),
    ],
)
def test_another_unit_or_origin(noted: Noted, change: Callable[[float], float], phrase: str) -> None:
    (note,) = noted(SCORES, moved(change))
    assert phrase in note
    assert "the correlation of scores and references is 0.8" in note


@both
def test_frames_of_the_wrong_length(noted: Noted) -> None:
    """Without stated durations, the references end where half of the scores do."""
    arrays = {clip: SCORES[clip].values for clip in SCORES}
    scores = sed.Scores.from_arrays(arrays, classes=SCORES.classes, frame=0.02 * 0.13 / 0.064)
    (note,) = noted(scores, moved(lambda time: time))
    assert "the times of the references are multiplied by about 2:" in note


@both
@pytest.mark.parametrize("clips", [5, 15, 45])
@pytest.mark.parametrize("kind", ["noise", "middle", "energy", "whole clip", "lag", "constant"])
def test_poor_systems_give_no_alarm(noted: Noted, kind: str, clips: int) -> None:
    rng = np.random.default_rng(clips)
    arrays = {}
    for clip in TRUTH.clips[:clips]:
        values = SCORES[clip].values
        active = np.zeros(values.shape)
        centres = (SCORES[clip].edges[1:] + SCORES[clip].edges[:-1]) / 2
        for onset, offset, label in TRUTH.events(clip):
            active[(centres >= onset) & (centres < offset), SCORES.classes.index(label)] = 1
        noise = rng.normal(size=values.shape)
        arrays[clip] = {
            "noise": np.cumsum(noise, axis=0),
            "middle": noise + 5 * np.hanning(len(values))[:, None],
            "energy": active.max(axis=1, keepdims=True) + noise,
            "whole clip": active.max(axis=0) + 0.2 * noise,
            "lag": np.roll(active, 5, axis=0) + 0.3 * noise,
            "constant": np.full(values.shape, 0.3),
        }[kind]
    edges = {clip: SCORES[clip].edges for clip in arrays}
    scores = sed.Scores.from_arrays(arrays, classes=SCORES.classes, edges=edges)
    truth = sed.GroundTruth.from_dict({clip: TRUTH.events(clip) for clip in arrays})
    assert noted(scores, truth) == []


@both
def test_real_systems_give_no_alarm(noted: Noted, data: Path) -> None:
    truth = desed_truth(data)
    list_of_detections = sed.Scores.from_events(
        sed.read_events(data / "desed_validation" / "dcase2021_baseline_student_at_0.5.tsv"),
        classes=truth.labels,
        clips=truth.clips,
    )
    for scores in (desed_scores(data), list_of_detections):
        assert noted(scores, truth) == []
    assert noted(excerpt_scores(data), excerpt_truth(data)) == []


def test_a_list_of_detections_in_another_unit() -> None:
    detections = sed.detect(SCORES, 0.5)
    in_minutes = {
        clip: [(onset / 60, offset / 60, label) for onset, offset, label in events]
        for clip, events in detections.items()
    }
    for events, number in ((detections, 0), (in_minutes, 1)):
        scores = sed.Scores.from_events(events, classes=TRUTH.labels, clips=TRUTH.clips)
        notes = noted_by_evaluate(scores, TRUTH)
        assert len(notes) == number
        assert all("as if those of the scores were minutes" in note for note in notes)


def test_evaluate_reads_no_clip_for_this() -> None:
    """Scores that are not in memory are looked at when the pass reads them."""
    read: Counter[str] = Counter()

    def load(clip: str) -> sed.ClipScores:
        read[clip] += 1
        return SCORES[clip]

    scores = sed.Scores(TRUTH.clips, load, classes=SCORES.classes, thread_safe=True)
    late = moved(lambda time: time + 0.25)
    assert len(noted_by_evaluate(scores, late)) == 1
    assert read == Counter(TRUTH.clips)


@pytest.mark.parametrize("way", ["compare", "checkpoint", "memory"])
def test_other_ways_of_evaluating_notice_it(way: str, tmp_path: Path) -> None:
    late = moved(lambda time: time + 0.25)
    if way == "compare":
        warnings = sed.compare([SCORES, SCORES], late, METRIC, resampling=10).warnings
    elif way == "checkpoint":
        warnings = sed.evaluate(
            SCORES, late, METRIC, run=sed.Run(checkpoint=tmp_path / "parts")
        ).warnings
    else:
        warnings = sed.evaluate(SCORES, late, METRIC, run=sed.Run(memory="1GB")).warnings
    (warning,) = [text for text in warnings if "correlation of scores and references" in text]
    assert warning.startswith("system 1, system 2: ") == (way == "compare")


def test_watched_scores_travel_without_the_clips_that_are_kept() -> None:
    sample = TimeSample(align(SCORES, TRUTH))
    part = sample.alignment.scores.only(TRUTH.clips[:2])
    for clip in part:
        part.open(clip)
    cloudpickle = pytest.importorskip("cloudpickle", reason="needs dask: pip install 'sedscope[dask]'")
    travelled = cloudpickle.loads(cloudpickle.dumps(part))
    assert np.array_equal(travelled[TRUTH.clips[1]].values, SCORES[TRUTH.clips[1]].values)
