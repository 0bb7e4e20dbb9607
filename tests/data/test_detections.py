"""Detections at thresholds, and event lists and scored events as systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import sedscope as sed
from sedscope.criteria import CustomCriterion, Detections, FoundChanges, Intervals

from ..support import oracle
from ..support.equality import count_columns
from ..support.strategies import LABELS, clip_lists, name, to_scores, to_truth

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CRITERIA: list[Any] = [
    sed.Intersection(0.5, 0.5, 0.3),
    sed.Collar(0.02, 0.02),
    sed.IoU(0.4),
    sed.Segment(0.03),
]


@settings(max_examples=80)
@given(clip_lists)
def test_detections_evaluated_as_events_have_the_counts_of_their_threshold(
    case: Sequence[oracle.Clip],
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    threshold = 0.3
    events = sed.detect(scores, threshold)
    system = sed.Scores.from_events(events, classes=LABELS, clips=truth.clips)
    binary = sed.at_thresholds(scores, threshold)
    for criterion in CRITERIA:
        counts = sed.deltas(scores, truth, criterion).counts()
        for other in (system, binary):
            again = sed.deltas(other, truth, criterion).counts()
            for label in LABELS:
                expected, got = counts[label].tally_at(threshold), again[label].tally_at(0.5)
                assert (got.tp, got.fp) == (expected.tp, expected.fp)


@settings(max_examples=80)
@given(clip_lists)
def test_detections_are_those_of_the_oracle(case: Sequence[oracle.Clip]) -> None:
    events = sed.detect(to_scores(case), dict.fromkeys(LABELS, 0.25))
    for i, clip in enumerate(case):
        above = np.nextafter(0.25, 1)  # score > 0.25 is score >= the next number
        expected = sorted(
            (on / 1e6, off / 1e6, label)
            for label in LABELS
            for on, off in oracle.detections(clip.scores[label], clip.edges, above)
        )
        assert sorted(events[name(i)]) == expected


def test_thresholds_of_unknown_classes_are_refused_with_a_guess() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.9]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"without scores: Dogg \(did you mean Dog\?\)"):
        sed.detect(scores, {"Dogg": 0.5})


def test_touching_events_are_not_merged() -> None:
    #      0    1    2    3 s
    #      [.9  )[.4 )          Dog; references 0–1 and 1–2
    #      [   .6    )          Cat goes through
    events = {"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4), (0, 2, "Cat", 0.6)]}
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog"), (1, 2, "Dog"), (0, 2, "Cat")]}, durations={"a": 3}
    )
    counts = sed.deltas(sed.Scores.from_events(events), truth, sed.IoU(0.9)).counts()
    assert counts["Dog"].scores.tolist() == [0.9, 0.4]
    assert counts["Dog"].tp.tolist() == [1, 2]
    assert (counts["Cat"].scores.tolist(), counts["Cat"].tp.tolist()) == ([0.6], [1])


def test_overlapping_events_are_refused_or_merged() -> None:
    events: dict[str, list[Any]] = {
        "a": [(0, 2, "Dog", 0.3), (1, 3, "Dog", 0.9)],
        "b": [(0, 2, "Dog"), (1, 3, "Dog")],
    }
    with pytest.raises(sed.SedscopeError, match=r"(?s)clip a.*Dog 1–3 s.*clip b.*overlaps='merge'"):
        sed.Scores.from_events(events)
    merged = sed.Scores.from_events(events, overlaps="merge")
    assert sed.detect(merged, 0.5) == {"a": [(0, 3, "Dog")], "b": [(0, 3, "Dog")]}


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"a": [(0, 1)]}, "clip a: 1 event is not usable"),
        ({"a": [(1, 1, "Dog")]}, "has no length.*overlaps='keep'"),
        ({"a": [(2, 1, "Dog")]}, "ends before it begins"),
        ({"a": [(0, 1, "")]}, "no label"),
        ({"a": [(0, 1, "Dog", float("nan"))]}, "NaN"),
        ({"a": [(0, 1, "Dog", "high")]}, "is not"),
        ({"a": 5}, "clip a"),
        ([], "mapping"),
    ],
)
def test_bad_events(events: Any, message: str) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.Scores.from_events(events)
    with pytest.raises(sed.SedscopeError, match="classes= does not list: Dog"):
        sed.Scores.from_events({"a": [(0, 1, "Dog")]}, classes=["Cat"])


@pytest.mark.parametrize("thresholds", [float("nan"), "high", {"Dog": None}, {"Cow": 0.5}])
def test_bad_thresholds(thresholds: Any) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"[Tt]hresholds"):
        sed.detect(scores, thresholds)


def test_events_are_read_back_as_they_were(tmp_path: Path) -> None:
    events = {"a": [(0.0, 1.5, 'say "hi"', 0.25)], "b": [], "c": [(0.1, 0.2, "Dög", 1e-9)]}
    sed.write_events(events, tmp_path / "events.tsv")
    assert sed.read_events(tmp_path / "events.tsv") == events
    plain = {clip: [event[:3] for event in of_clip] for clip, of_clip in events.items()}
    sed.write_events(plain, tmp_path / "plain.tsv")
    assert sed.read_events(tmp_path / "plain.tsv") == plain


def test_sets_are_the_counts_at_their_thresholds() -> None:
    truth = sed.simulate.ground_truth(30, seed=2)
    scores = sed.simulate.scores(truth, seed=3)
    thresholds = [0.1, 0.5, 0.9]
    sets = sed.approximate(scores, thresholds)
    metrics: list[Any] = [
        sed.presets.PSDS2,
        sed.FScore(sed.Collar(cross_triggers=True), threshold=0.5),
        sed.ErrorRate(sed.Collar(), threshold=0.9, average="micro"),
        sed.ErrorRate(sed.Segment(1.0), threshold=0.1, average="micro"),
    ]
    result = sed.evaluate_sets(sets, truth, metrics)
    exact = sed.evaluate(scores, truth, metrics[1:])
    for metric in metrics:
        every = sed.deltas(scores, truth, metric.criterion).counts().at(thresholds)
        got = dict(count_columns(result.counts[metric.criterion]))
        expected = dict(count_columns(every))
        assert got == expected
    for metric in metrics[1:]:
        assert result[metric].value == pytest.approx(exact[metric].value)
    counts = sed.deltas(scores, truth, metrics[0].criterion).counts()
    expected_psds = metrics[0].measure(counts.at(thresholds)).value
    assert result[metrics[0]].value == pytest.approx(expected_psds, abs=1e-12)
    best = sed.BestFScore(sed.Collar())
    assert set(sed.evaluate_sets(sets, truth, best)[best].thresholds.values()) <= {0.1, 0.5, 0.9, np.inf}
    dog = sed.evaluate_sets(sets, truth, best, classes=["Dog"], clips=truth.clips[:10])
    assert (dog.classes, dog.clips) == (("Dog",), 10)


def test_bad_sets() -> None:
    truth = sed.simulate.ground_truth(2)
    metric = sed.FScore(sed.Collar(), threshold=0.5)
    with pytest.raises(sed.SedscopeError, match="no set of detections"):
        sed.evaluate_sets({}, truth, metric)
    with pytest.raises(sed.SedscopeError, match="need the durations of the clips"):
        sed.evaluate_sets({0.5: {}}, sed.GroundTruth.from_dict({"a": []}), metric)
    with pytest.raises(sed.SedscopeError, match=r"was not counted at threshold 0\.5, only at 0\.4"):
        sed.evaluate_sets({0.4: {}}, truth, metric)


def test_a_list_of_events_needs_durations() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]})
    metric = sed.FScore(sed.Collar())
    with pytest.raises(sed.SedscopeError, match=r"how long its clips are.*no duration of 1 clip: a\."):
        sed.evaluate(sed.Scores.from_events({"a": [(0, 1, "Dog")]}), truth, metric)
    with pytest.raises(sed.SedscopeError, match=r"There are no events\. Name the classes"):
        sed.Scores.from_events({"a": []})


def test_means_of_segments_with_events_that_touch() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 2})
    events = sed.Scores.from_events({"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4)]})
    counts = sed.deltas(events, truth, sed.Clip("mean")).counts()["Dog"]
    assert counts.scores.tolist() == [pytest.approx(0.65)]


def test_scores_that_are_no_numbers_are_not_detected_silently() -> None:
    scores = sed.Scores.from_arrays({"a": [[np.nan], [0.9]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    with pytest.raises(sed.SedscopeError, match=r"clip a: 1 score .*class Dog, frame 0"):
        sed.detect(scores, 0.5)
    metric = sed.FScore(sed.Collar())
    with pytest.raises(sed.SedscopeError, match="clip a, class Dog, frame 0"):
        sed.evaluate(sed.at_thresholds(scores, 0.5), truth, metric)


def test_events_that_touch_are_not_written_as_scores(tmp_path: Path) -> None:
    events = sed.Scores.from_events({"a": [(0, 1, "Dog"), (1, 2, "Dog")]})
    with pytest.raises(sed.SedscopeError, match="write_events"):
        sed.write_scores(events, tmp_path / "scores")
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True, repr=False)
class IntersectionInPython(CustomCriterion):
    """The false positives of the intersection criterion, and references inside one detection."""

    dtc: float

    def clip_deltas(self, detections: Detections, references: Intervals, others: Any) -> FoundChanges:
        shared = np.minimum(detections.offset[:, None], references.offset) - np.maximum(
            detections.onset[:, None], references.onset
        )
        relevant = shared.clip(0).sum(axis=1) >= self.dtc * (detections.offset - detections.onset) - 1e-9
        scores, fp = detections.changes(~relevant)
        return FoundChanges(scores, np.zeros_like(fp), fp)


def test_a_criterion_of_ones_own() -> None:
    truth = sed.simulate.ground_truth(12, seed=4)
    scores = sed.simulate.scores(truth, seed=5)
    own = sed.deltas(scores, truth, IntersectionInPython(0.7)).counts()
    core = sed.deltas(scores, truth, sed.Intersection(0.7, 0.7)).counts()
    for label in scores.classes:
        for threshold in np.linspace(0, 1, 50):
            assert own[label].tally_at(threshold).fp == core[label].tally_at(threshold).fp
    assert repr(IntersectionInPython(0.7)) == "IntersectionInPython(dtc=0.7)"
    metric = sed.RecallAtFalseAlarms(IntersectionInPython(0.7), false_alarms=10)
    assert sed.evaluate(scores, truth, metric)[metric].value == 0
    parts = [
        sed.deltas(scores, truth, IntersectionInPython(0.7), clips=truth.clips[rows])
        for rows in (slice(0, 5), slice(5, 12))
    ]
    assert dict(count_columns(parts[0].merge(parts[1]).counts())) == dict(count_columns(own))


def test_a_criterion_without_its_method_is_refused() -> None:
    class Empty(CustomCriterion):
        pass

    with pytest.raises(TypeError, match="clip_deltas"):
        Empty()  # type: ignore[abstract]


def test_events_may_be_of_any_kind_of_row() -> None:
    given: Any = {"a": iter([[0, 1, "Dog"], iter([1, 2, "Cat"]), np.array([2, 3, "Dog", 0.5], object)])}
    plain = {"a": [(0, 1, "Dog"), (1, 2, "Cat"), (2, 3, "Dog", 0.5)]}
    assert np.array_equal(
        sed.Scores.from_events(given)["a"].values, sed.Scores.from_events(plain)["a"].values
    )


def test_all_unusable_events_of_a_clip_are_reported() -> None:
    events: Any = [(0, 1, "Dog"), ([0, 1], [1, 2], "Dog"), (0, 1, "Dog", 1, 2), "abc", (0, 1, None)]
    with pytest.raises(
        sed.SedscopeError, match=r"clip a: 4 events are not usable: \(\[0, 1\], .*has no label"
    ):
        sed.Scores.from_events({"a": events})


@pytest.mark.parametrize("new", [{}, {"Hound": "Dog"}])
def test_sets_of_detections_may_lack_a_class_that_is_named(new: dict[str, str]) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    sets: Any = {0.5: {"a": [(1, 2, "Hound" if new else "Dog")]}, 0.8: {"a": []}}
    alarms = sed.FalseAlarmRate(sed.Collar(), 0.5)
    with pytest.warns(sed.SedscopeWarning, match=r"no reference events.*: Wolf\."):
        result = sed.evaluate_sets(
            sets, truth, ["collar_f1", alarms], classes=["Dog", "Wolf "], label_map=new
        )
    assert result.classes == ("Dog", "Wolf")
    assert result["collar_f1"].value == 1.0
    assert result[alarms].per_class["Wolf"].value == 0.0


@pytest.mark.parametrize("classes", ["Dog", ["Dog", ""], ["Dog", 3], ["Dog", ["Wolf"]]])
def test_classes_of_sets_are_a_list_of_names(classes: Any) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    with pytest.raises(sed.SedscopeError, match=r"classes must be a list|1 class has no scores"):
        sed.evaluate_sets({0.5: {"a": [(1, 2, "Dog")]}}, truth, "collar_f1", classes=classes)
