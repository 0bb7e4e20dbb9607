"""Diagnosis: each event has one error type, compared with the oracle and with the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.diagnosis import ClassDiagnosis, ClipDiagnosis, clip_costs, diagnose_clip
from sedscope.diagnosis.judging import CAUSES, DETECTION_TYPES, REFERENCE_TYPES

from ..support import oracle
from ..support.oracle import diagnosis as oracle_diagnosis
from ..support.passes import diagnosed
from ..support.real_data import desed_scores, desed_truth
from ..support.strategies import (
    LABELS,
    EventCriterion,
    clips,
    clips_with_ignored,
    collar_criteria,
    criteria,
    crowded_clips,
    dtypes,
    for_oracle,
    mixed_clip_lists,
    name,
    parts,
    to_scores,
    to_truth,
)

event_criteria: st.SearchStrategy[EventCriterion] = (
    criteria()
    | collar_criteria()
    | st.builds(sed.IoU, parts, cross_triggers=st.booleans())
    | st.builds(sed.IoU, st.sampled_from([0.0, 0.3, 0.5]), strict=st.just(True))
)
one_clip = clips() | crowded_clips()


@st.composite
def stops(draw: st.DrawFn, case: Sequence[oracle.Clip]) -> dict[str, list[float]]:
    """Thresholds at scores, beside them by less than float32 can tell, and beyond all."""
    thresholds: dict[str, list[float]] = {}
    for label in LABELS:
        scores = sorted({score for clip in case for score in clip.scores[label]})
        near = [float(np.nextafter(score, to)) for score in scores for to in (-np.inf, np.inf)]
        choices = st.sampled_from([*scores, *near, -np.inf, np.inf, 1e300, -1e300])
        thresholds[label] = draw(st.lists(choices, min_size=1, max_size=6))
    return thresholds


def numbers(of_class: ClassDiagnosis, row: int) -> tuple[Counter[str], Counter[str]]:
    """How many references and detections are in each bin; those with any."""
    sides = (of_class.references, of_class.detections)
    references, detections = (
        Counter({label: int(found[row]) for label, found in side.items() if found[row]})
        for side in sides
    )
    return references, detections


@settings(max_examples=500)
@given(st.data(), one_clip, event_criteria, dtypes)
def test_bins_are_those_of_the_definitions(
    data: st.DataObject, clip: oracle.Clip, criterion: EventCriterion, dtype: type
) -> None:
    thresholds = data.draw(stops([clip]))
    diagnosis = sed.diagnose(to_scores([clip], dtype), to_truth([clip]), criterion, thresholds)
    for label in LABELS:
        assert tuple(diagnosis[label].references) == REFERENCE_TYPES
        assert tuple(diagnosis[label].detections) == DETECTION_TYPES
        assert diagnosis[label].thresholds.tolist() == sorted(set(thresholds[label]), reverse=True)
        for row, threshold in enumerate(diagnosis[label].thresholds.tolist()):
            possible = [
                (Counter(bins.references), Counter(bins.detections))
                for bins in oracle_diagnosis.bins(clip, label, threshold, for_oracle(criterion))
            ]
            assert numbers(diagnosis[label], row) in possible


@settings(max_examples=100)
@given(st.data(), clips_with_ignored(), event_criteria)
def test_bins_with_ignored_references(
    data: st.DataObject, clip: oracle.Clip, criterion: EventCriterion
) -> None:
    assume(len(clip.references) + len(clip.ignored) < 12)
    thresholds = data.draw(stops([clip]))
    scores, truth = to_scores([clip]), to_truth([clip])
    diagnosis = sed.diagnose(scores, truth, criterion, thresholds)
    counts = sed.deltas(scores, truth, criterion).counts()
    for label in LABELS:
        points = diagnosis[label].thresholds
        assert np.asarray(diagnosis[label].tally().fp).tolist() == counts[label].at(points).fp.tolist()
        for row, threshold in enumerate(points.tolist()):
            possible = [
                (Counter(bins.references), Counter(bins.detections))
                for bins in oracle_diagnosis.bins(clip, label, threshold, for_oracle(criterion))
            ]
            assert numbers(diagnosis[label], row) in possible
        costs = clip_costs(scores, truth, criterion, {label: float(points[0])})
        assert costs.fp[0, LABELS.index(label)] == counts[label].at(points[:1]).fp[0]


@settings(max_examples=200)
@given(st.data(), mixed_clip_lists, event_criteria, dtypes)
def test_bins_add_up_to_the_counts(
    data: st.DataObject, case: Sequence[oracle.Clip], criterion: EventCriterion, dtype: type
) -> None:
    thresholds = data.draw(stops(case))
    scores, truth = to_scores(case, dtype), to_truth(case)
    counts = sed.deltas(scores, truth, criterion).counts()
    diagnosis = sed.diagnose(scores, truth, criterion, thresholds)
    for label in LABELS:
        tally, counted = diagnosis[label].tally(), counts[label].at(thresholds[label])
        assert diagnosis[label].references["found"].tolist() == counted.tp.tolist()
        assert np.asarray(tally.fp).tolist() == counted.fp.tolist()
        detected = sum(diagnosis[label].detections.values())
        assert (detected - diagnosis[label].detections["true"]).tolist() == counted.fp.tolist()
        references = sum(diagnosis[label].references.values())
        assert np.asarray(references).tolist() == [counts[label].references] * len(counted.tp)


@settings(max_examples=100)
@given(st.data(), mixed_clip_lists, event_criteria)
def test_any_grouping_gives_the_same(
    data: st.DataObject, case: Sequence[oracle.Clip], criterion: EventCriterion
) -> None:
    thresholds = data.draw(stops(case))
    scores, truth = to_scores(case), to_truth(case)
    read_one_by_one = sed.Scores(list(scores), scores.__getitem__, classes=LABELS)
    whole = sed.diagnose(scores, truth, criterion, thresholds, run=sed.Run(threads=1))
    of_clips = [sed.diagnose(scores, truth, criterion, thresholds, clips=[clip]) for clip in scores]
    for label in LABELS:
        for row in range(len(whole[label].thresholds)):
            expected = numbers(whole[label], row)
            again = sed.diagnose(read_one_by_one, truth, criterion, thresholds, run=sed.Run(threads=3))[
                label
            ]
            assert numbers(again, row) == expected
            alone = [numbers(one[label], row) for one in of_clips]
            added = tuple(sum(side, Counter[str]()) for side in zip(*alone, strict=True))
            assert added == expected


@settings(max_examples=200)
@given(st.data(), mixed_clip_lists, event_criteria, dtypes)
def test_clips_by_themselves(
    data: st.DataObject, case: Sequence[oracle.Clip], criterion: EventCriterion, dtype: type
) -> None:
    thresholds = {label: chosen[0] for label, chosen in data.draw(stops(case)).items()}
    scores, truth = to_scores(case, dtype), to_truth(case)
    costs = clip_costs(scores, truth, criterion, thresholds)
    assert costs.clips == tuple(scores)
    assert costs.classes == LABELS
    for i, clip in enumerate(case):
        diagnosis = diagnosed(scores, truth, name(i), criterion, thresholds)
        assert diagnosis == diagnose_clip(
            scores[name(i)],
            truth.events(name(i)),
            criterion,
            thresholds,
            classes=LABELS,
            duration=clip.duration / 1e6,
        )
        whole = sed.diagnose(scores, truth, criterion, thresholds, clips=[name(i)])
        for c, label in enumerate(LABELS):
            references, detections = numbers(whole[label], 0)
            assert of_label(diagnosis, label) == (references, detections)
            assert costs.fp[i, c] == detections.total() - detections["true"]
            assert costs.fn[i, c] == references.total() - references["found"]


@settings(max_examples=100)
@given(st.data(), mixed_clip_lists, event_criteria, dtypes)
def test_worst_clips_and_confusions(
    data: st.DataObject, case: Sequence[oracle.Clip], criterion: EventCriterion, dtype: type
) -> None:
    thresholds = {label: chosen[0] for label, chosen in data.draw(stops(case)).items()}
    scores, truth = to_scores(case, dtype), to_truth(case)
    diagnosis = sed.diagnose(scores, truth, criterion, thresholds)
    judged = [diagnosed(scores, truth, clip, criterion, thresholds) for clip in scores]

    confusions = diagnosis.confusions()
    expected: Counter[tuple[str | None, str | None, str]] = Counter()
    for event in (event for clip in judged for event in clip.detections):
        if event.error_type == "cross_trigger":
            expected.update((event.label, other, "cross_trigger") for other in event.triggers)
        elif event.error_type == "background":
            expected[event.label, None, "background"] += 1
        elif event.error_type != "ignored":
            kind = "true" if event.error_type == "true" else "inexact"
            expected[event.label, event.label, kind] += 1
    for event in (event for clip in judged for event in clip.references):
        expected[None, event.label, "missed"] += event.error_type == "missed"
    rows = confusions.to_polars().rows()
    assert len(rows) == len(LABELS) * (len(LABELS) + 3)
    assert {row[:3]: row[3] for row in rows if row[3]} == {k: n for k, n in expected.items() if n}

    costs = clip_costs(scores, truth, criterion, thresholds)
    errors = dict(zip(costs.clips, (costs.fp + costs.fn).sum(1).tolist(), strict=True))
    worst = [clip for clip in sorted(errors, key=lambda clip: -errors[clip]) if errors[clip]][:2]
    shown = diagnosis.worst_clips(2)
    assert [*shown.clips] == worst
    assert (shown.fp + shown.fn).sum(1).tolist() == [errors[clip] for clip in worst]


def test_thresholds_are_those_of_the_best_fscore_or_of_operating_points() -> None:
    truth = sed.simulate.ground_truth(20, classes=3)
    scores = sed.simulate.scores(truth)
    best = sed.evaluate(scores, truth, "best_collar_f1")["best_collar_f1"]
    diagnosis = sed.diagnose(scores, truth, classes=iter(truth.labels))
    for label in truth.labels:
        assert diagnosis[label].thresholds.tolist() == [best.thresholds[label]]
        assert diagnosis[label].tally().fscore().tolist() == [best.per_class[label].value]
    tuned = sed.tune(scores, truth, "best_collar_f1", "MedianFilter(0.2|0.5)")
    processed = tuned.points.process(scores)
    for function, criterion in ((sed.diagnose, sed.Collar()), (sed.boundary_errors, sed.Collar())):
        at_points = function(scores, truth, criterion, tuned.points)
        assert (
            at_points.to_dict()
            == function(processed, truth, criterion, tuned.points.thresholds).to_dict()
        )
    one = truth.labels[0]
    of_one = sed.diagnose(scores, truth, sed.Collar(), tuned.points, classes=[one])
    assert [*of_one] == [one]


def test_pictures_and_one_line() -> None:
    pytest.importorskip("matplotlib")
    truth = sed.simulate.ground_truth(20, classes=3)
    diagnosis = sed.diagnose(sed.simulate.scores(truth), truth)
    confusions, worst = diagnosis.confusions(), diagnosis.worst_clips(4)
    drawn = [text.get_text() for text in confusions.plot().texts]
    assert drawn == [str(number) for number in confusions.matrix.ravel().tolist()]
    bars: list[Any] = [*worst.plot().patches]
    errors = [*worst.fp.sum(1).tolist(), *worst.fn.sum(1).tolist()]
    assert [bar.get_width() for bar in bars] == errors
    assert [bar.get_x() for bar in bars] == [0] * 4 + errors[:4]
    assert repr(confusions) == "<Confusions of 3 classes>"
    assert repr(worst) == f"<ClipCosts of 4 clips: {sum(errors)} errors>"


def test_worst_clips_and_confusions_need_one_threshold() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.9]]}, classes=["Dog"], frame=1.0)
    diagnosis = sed.diagnose(scores, sed.GroundTruth.from_dict({"a": []}), sed.Collar(), [0.5, 0.3])
    for ask in (diagnosis.worst_clips, diagnosis.confusions):
        with pytest.raises(sed.SedscopeError, match="Diagnose at one threshold"):
            ask()


def of_label(diagnosis: ClipDiagnosis, label: str) -> tuple[Counter[str], Counter[str]]:
    references, detections = (
        Counter(event.error_type for event in side if event.label == label)
        for side in (diagnosis.references, diagnosis.detections)
    )
    return references, detections


@settings(max_examples=300)
@given(st.data(), one_clip, event_criteria)
def test_events_of_a_clip(data: st.DataObject, clip: oracle.Clip, criterion: EventCriterion) -> None:
    thresholds = {label: chosen[0] for label, chosen in data.draw(stops([clip])).items()}
    judged = diagnosed(to_scores([clip]), to_truth([clip]), name(0), criterion, thresholds)

    def times(event: Any) -> tuple[int, int]:
        return round(event.onset * 1e6), round(event.offset * 1e6)

    for side, other_side in (
        (judged.detections, judged.references),
        (judged.references, judged.detections),
    ):
        for place, event in enumerate(side):
            assert event.overlaps == tuple(
                other
                for other, candidate in enumerate(other_side)
                if candidate.label == event.label
                and oracle_diagnosis.share_time(times(event), times(candidate))
            )
            if event.partner is not None:
                assert other_side[event.partner].partner == place
    for label in LABELS:
        detections = [event for event in judged.detections if event.label == label]
        references = [event for event in judged.references if event.label == label]
        detected = oracle_diagnosis.detections(clip, label, thresholds[label])
        targets = sorted(oracle.references(clip, label))
        assert [times(event) for event in detections] == detected
        assert [times(event) for event in references] == targets
        possible = list(oracle_diagnosis.bins(clip, label, thresholds[label], for_oracle(criterion)))
        assert (
            oracle_diagnosis.Bins(
                [event.error_type for event in references], [event.error_type for event in detections]
            )
            in possible
        )
        pairs = [
            (times(event), times(judged.references[event.partner]))
            for event in detections
            if event.partner is not None
        ]
        assert pairs in [
            sorted(verdict.pairs)
            for verdict in oracle_diagnosis.verdicts(detected, targets, for_oracle(criterion))
        ]
        for event in detections:
            on = oracle_diagnosis.triggered(clip, label, times(event), for_oracle(criterion))
            assert list(event.triggers) == (on if event.error_type == "cross_trigger" else [])


@settings(max_examples=200)
@given(
    mixed_clip_lists,
    criteria(cross_triggers=True)
    | collar_criteria().map(lambda collar: replace(collar, cross_triggers=True))
    | st.builds(sed.IoU, parts, cross_triggers=st.just(True)),
)
def test_cross_triggers_are_those_of_the_criterion(
    case: Sequence[oracle.Clip], criterion: EventCriterion
) -> None:
    """With references of b alone, those of a in the bin are all that the criterion counts."""
    case = [replace(clip, references=[r for r in clip.references if r[2] == "b"]) for clip in case]
    scores, truth = to_scores(case), to_truth(case)
    counts = sed.deltas(scores, truth, criterion).counts()["a"]
    if len(counts.scores):
        at = counts.at(counts.scores)
        of_class = sed.diagnose(scores, truth, criterion, {"a": at.scores})["a"]
        assert of_class.detections["cross_trigger"].tolist() == at.ct("b").tolist()
        assert of_class.detections["background"].tolist() == (at.fp - at.ct("b")).tolist()


def events(line: str, label: str) -> list[tuple[float, float, str]]:
    """Runs of a letter, a second each; ``|`` parts two that touch."""
    times, now = [], 0
    for letter, run in groupby(line):
        length = 0 if letter == "|" else len(list(run))
        if letter.isalpha():
            times.append((float(now), float(now + length), label))
        now += length
    return times


OVERLAP, COLLAR = sed.Intersection(0.7, 0.7), sed.Collar(1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("criterion", "reference", "detected", "of_references", "of_detections"),
    [
        (OVERLAP, "·RRRR·", "·DDDD·", ["found"], ["true"]),
        (OVERLAP, "·RRRR·", "······", ["missed"], []),
        (OVERLAP, "······", "··D·D·", [], ["background"] * 2),
        # touching is not sharing time
        (OVERLAP, "··RR··", "DD··DD", ["missed"], ["background"] * 2),
        # in pieces, each of which is relevant
        (OVERLAP, "RRRRRR", "D·D·D·", ["fragmented"], ["true"] * 3),
        (OVERLAP, "RRRRRR", "DDD·DD", ["found"], ["true"] * 2),
        # in pieces that are too long: by either end they reach outside
        (OVERLAP, "··RRR···", "DDD·DDDD", ["fragmented"], ["fragment"] * 2),
        # one over several
        (OVERLAP, "R···R", "DDDDD", ["merged"] * 2, ["merged"]),
        (OVERLAP, "RR·RR", "DDDDD", ["found"] * 2, ["true"]),
        (OVERLAP, "··RR··", "DDDDDD", ["too_long"], ["too_long"]),
        (OVERLAP, "··RR··", "··DDDD", ["too_long"], ["too_long"]),
        (OVERLAP, "RRRRRR", "··DD··", ["too_short"], ["true"]),
        (OVERLAP, "RRRRRR", "DD····", ["too_short"], ["true"]),
        (OVERLAP, "··RRRR", "DDDD··", ["onset"], ["onset"]),
        (OVERLAP, "··RRRR··", "·DD·····", ["offset"], ["offset"]),
        (OVERLAP, "·RRRR····", "····DDDDD", ["offset"], ["offset"]),
        # a piece that a merging detection takes as well
        (OVERLAP, "RRRRRR···RR", "D··DDDDDDDD", ["fragmented", "merged"], ["true", "merged"]),
        # within the collars
        (COLLAR, "··RRRR··", "·DDDDDD·", ["found"], ["true"]),
        # one boundary too far off
        (COLLAR, "··RRRR··", "DDDDDDD·", ["onset"], ["onset"]),
        (COLLAR, "··RRRR··", "·DDDDDDD", ["offset"], ["offset"]),
        (COLLAR, "··RRRR··", "··DD····", ["offset"], ["offset"]),
        # both
        (COLLAR, "··RRRR··", "DDDDDDDD", ["too_long"], ["too_long"]),
        (COLLAR, "RRRRRRRR", "··DDDD··", ["too_short"], ["too_short"]),
        (COLLAR, "··RRRR··", "DDDD····", ["onset"], ["onset"]),
        (COLLAR, "···RRRR·", "·DDD····", ["offset"], ["offset"]),
        (COLLAR, "RRRRRRRR", "DDD·DDDD", ["fragmented"], ["fragment"] * 2),
        (COLLAR, "RRRRRRRR", "DDDDDD·D", ["fragmented"], ["fragment"] * 2),
        (COLLAR, "RRRRRRRR", "DDDDDDD|D", ["found"], ["true", "fragment"]),
        (COLLAR, "RRRR|RRRR", "DDDDDDDD", ["merged"] * 2, ["merged"]),
        (COLLAR, "RR|RRRRRR", "DDDDDDDD", ["merged", "merged"], ["merged"]),
        (COLLAR, "R|RRRRRRR", "DDDDDDDD", ["merged", "found"], ["true"]),
        (sed.Collar(1.0, None), "··RRRR··", "··D·····", ["found"], ["true"]),
        (sed.Collar(1.0, None), "··RRRR··", "·····DDD", ["onset"], ["onset"]),
        (sed.IoU(0.5), "··RRRR··", "··DD····", ["found"], ["true"]),
        (sed.IoU(0.5), "··RRRR··", "··D·····", ["too_short"], ["too_short"]),
    ],
)
def test_drawn(
    criterion: EventCriterion,
    reference: str,
    detected: str,
    of_references: list[str],
    of_detections: list[str],
) -> None:
    scores = sed.Scores.from_events({"a": events(detected, "x")}, classes=["x"])
    truth = sed.GroundTruth.from_dict({"a": events(reference, "x")}, durations={"a": 20})
    judged = diagnosed(scores, truth, "a", criterion, 0.5)
    assert [event.error_type for event in judged.references] == of_references
    assert [event.error_type for event in judged.detections] == of_detections


@pytest.mark.parametrize(
    ("criterion", "bins"),
    [
        # of the three detections the first lies in a reference of another class, the second shares
        # half of its time with one, the third is in a reference of its own as well
        (sed.Intersection(0.7, 0.7), ["cross_trigger", "cross_trigger", "too_long"]),
        (sed.Intersection(0.7, 0.7, 0.6), ["cross_trigger", "background", "too_long"]),
        (sed.Collar(0.5, 0.5, 0), ["cross_trigger", "cross_trigger", "offset"]),
        (sed.Collar(0.5, 0.5, 0, cross_triggers=True), ["cross_trigger", "background", "offset"]),
        (sed.IoU(0.6, cross_triggers=True), ["cross_trigger", "background", "too_long"]),
    ],
)
def test_cross_triggers_drawn(criterion: EventCriterion, bins: list[str]) -> None:
    detected, own, other = "·DD··DD··DDDD·", "·········DD···", "·OO··O···OOOO·"
    scores = sed.Scores.from_events({"a": events(detected, "x")}, classes=["x", "y"])
    truth = sed.GroundTruth.from_dict({"a": events(own, "x") + events(other, "y")}, durations={"a": 14})
    judged = diagnosed(scores, truth, "a", criterion, 0.5)
    assert [event.error_type for event in judged.detections] == bins
    assert [event.triggers for event in judged.detections] == [
        ("y",) if of == "cross_trigger" else () for of in bins
    ]


def test_what_fixing_would_give() -> None:
    detected = {"a": events("DD·DD·DD····", "x"), "b": events("··DDDD··DDDD", "x")}
    reference = {"a": events("RRRRR··RRRR·", "x"), "b": events("··RRRR······", "x")}
    scores = sed.Scores.from_events(detected, classes=["x"])
    truth = sed.GroundTruth.from_dict(reference, durations={"a": 12, "b": 12})
    of_class = sed.diagnose(scores, truth, sed.Collar(0.0, 0.0, 0.0), 0.5)["x"]
    #   a: two pieces of the first reference; the second detected early; b: found; background
    assert numbers(of_class, 0) == (
        Counter(found=1, fragmented=1, offset=1),
        Counter(true=1, fragment=2, offset=1, background=1),
    )
    now, fixed = of_class.tally(), of_class.fixed()
    assert tuple(fixed) == tuple(CAUSES)
    assert (now.precision[0], now.recall[0], now.error_rate[0]) == (1 / 5, 1 / 3, 6 / 3)

    def after(cause: str) -> tuple[int, int]:
        tally = fixed[cause][0]
        return int(tally.tp), int(tally.fp)

    assert {cause: after(cause) for cause in CAUSES if after(cause) != (1, 4)} == {
        "fragmented": (2, 2),
        "offset": (2, 3),
        "background": (1, 3),
    }
    assert fixed["fragmented"].fscore()[0] == 2 * 2 / (2 * 2 + 1 + 2)
    assert fixed["fragmented"].error_rate[0] == 1.0


def a_set() -> tuple[sed.Scores, sed.GroundTruth]:
    scores = sed.Scores.from_arrays({"a": [[0.9, 0.1], [0.2, 0.8]]}, classes=["Cat", "Dog"], frame=1.0)
    return scores, sed.GroundTruth.from_dict({"a": [(0, 1, "Cat")]}, durations={"a": 2})


def test_one_threshold_for_all_and_none_for_some() -> None:
    scores, truth = a_set()
    diagnosis = sed.diagnose(scores, truth, sed.Collar(), 0.5)
    assert {label: of.detections["true"].tolist() for label, of in diagnosis.items()} == {
        "Cat": [1],
        "Dog": [0],
    }
    diagnosis = sed.diagnose(scores, truth, sed.Collar(), {"Dog": [0.1, 0.9, 0.9]})
    assert diagnosis["Dog"].thresholds.tolist() == [0.9, 0.1]
    assert diagnosis["Dog"].detections["background"].tolist() == [0, 1]
    assert diagnosis["Cat"].thresholds.tolist() == [np.inf]
    assert diagnosis["Cat"].references["missed"].tolist() == [1]
    assert len(diagnosis) == 2


@pytest.mark.parametrize("criterion", [sed.Segment(1.0), sed.Clip()])
def test_criteria_without_events_are_refused(criterion: Any) -> None:
    scores, truth = a_set()
    with pytest.raises(sed.SedscopeError, match=r"judges single events .* not (Segment|Clip)\("):
        sed.diagnose(scores, truth, criterion, 0.5)


def test_greedy_matching_is_refused() -> None:
    scores, truth = a_set()
    with pytest.raises(
        sed.SedscopeError, match=r"IoU without matching='greedy'\), not IoU\(threshold=0.5, m"
    ):
        sed.diagnose(scores, truth, sed.IoU(0.5, matching="greedy"), 0.5)


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ({"Bird": 0.5}, "classes that are not evaluated: Bird"),
        ({"Dog": []}, "Dog: there is no threshold"),
        ({"Cat": float("nan"), "Dog": "high"}, r"(?s)Cat: .* not NaN.*Dog: Thresholds must be numbers"),
    ],
)
def test_bad_thresholds(thresholds: Mapping[str, Any], message: str) -> None:
    scores, truth = a_set()
    with pytest.raises(sed.SedscopeError, match=message):
        sed.diagnose(scores, truth, sed.Collar(), thresholds)


def test_clips_are_looked_at_by_one_threshold() -> None:
    scores, truth = a_set()
    several: Any = {"Dog": [0.1, 0.5]}
    with pytest.raises(sed.SedscopeError, match="Dog: give one threshold, not 2"):
        clip_costs(scores, truth, sed.Collar(), several)
    with pytest.raises(sed.SedscopeError, match="no clip 'b' among the 1 clip"):
        diagnosed(scores, truth, "b", sed.Collar(), 0.5)


def test_scores_that_are_not_numbers_are_refused() -> None:
    _, truth = a_set()
    scores = sed.Scores.from_arrays({"a": [[0.9, np.nan]]}, classes=["Cat", "Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="clip a, class Dog, frame 0"):
        sed.diagnose(scores, truth, sed.Collar(), 0.5)


def test_progress_is_reported() -> None:
    scores, truth = a_set()
    progress: list[tuple[int, int]] = []
    sed.diagnose(
        scores, truth, sed.Collar(), 0.5, run=sed.Run(progress=lambda *done: progress.append(done))
    )
    assert progress == [(0, 1), (1, 1)]


@pytest.mark.parametrize("criterion", [sed.Intersection(0.7, 0.7, 0.3), sed.Collar(), sed.IoU(0.5)])
def test_real_data(data: Path, criterion: EventCriterion) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    counts = sed.deltas(scores, truth, criterion).counts()
    thresholds = np.linspace(0.01, 0.99, 50)
    diagnosis = sed.diagnose(scores, truth, criterion, thresholds)
    for label, of_class in diagnosis.items():
        at = counts[label].at(thresholds)
        assert np.array_equal(of_class.tally().tp, at.tp)
        assert np.array_equal(of_class.tally().fp, at.fp)
        assert all((numbers >= 0).all() for numbers in of_class.detections.values())
    costs = clip_costs(scores, truth, criterion, 0.5)
    tallies = [of_class.tally_at(0.5) for of_class in counts.values()]
    assert costs.fp.sum(axis=0).tolist() == [tally.fp for tally in tallies]
    assert costs.fn.sum(axis=0).tolist() == [tally.fn for tally in tallies]
