"""Events that are kept as they are, even where they overlap, compared with a brute force."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.clip_events import ClipEvents

from ..support import oracle
from ..support.command_line import run
from ..support.equality import assert_equal_to_oracle
from ..support.strategies import LABELS, collar_criteria, parts, references, to_scores, to_truth
from ..support.strategies import criteria as intersections

Detection = tuple[int, int, str, float]
END = 12
events = st.tuples(st.integers(0, END - 1), st.integers(1, END), st.sampled_from(LABELS)).map(
    lambda event: (event[0], event[0] + event[1], event[2])
)
confidences = st.sampled_from([-1.0, 0.2, 0.5, 0.5, 0.8, 1.0])
detections = st.tuples(events, confidences).map(lambda pair: (*pair[0], pair[1]))
clips = st.lists(st.lists(detections, max_size=7), min_size=1, max_size=3)
criteria = collar_criteria() | st.builds(sed.IoU, parts, cross_triggers=st.booleans())


def pairable(criterion: sed.Collar | sed.IoU) -> oracle.pairs.Pairable:
    if isinstance(criterion, sed.IoU):
        return oracle.pairs.overlap_over_union(criterion.threshold)
    onset, offset = (
        None if seconds is None else round(seconds * 1e6)
        for seconds in (criterion.onset, criterion.offset)
    )
    return oracle.pairs.collar(onset=onset, offset=offset, offset_rate=criterion.offset_rate)


def separate(references: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Leave out references that overlap an earlier one of their class."""
    kept: list[tuple[int, int, str]] = []
    for onset, offset, label in sorted(references):
        if all(other[2] != label or other[1] <= onset for other in kept):
            kept.append((onset, offset, label))
    return kept


def count_at(
    score: float,
    label: str,
    detected: Sequence[Sequence[Detection]],
    references: Sequence[Sequence[tuple[int, int, str]]],
    criterion: sed.Collar | sed.IoU,
) -> oracle.Count:
    """The counts of all events with at least this confidence."""
    can_pair = pairable(criterion)
    tp = fp = 0
    ct = {other: 0 for other in LABELS if other != label}
    for of_clip, targets in zip(detected, references, strict=True):
        present = [event[:2] for event in of_clip if event[2] == label and event[3] >= score]
        by_label = {other: [target[:2] for target in targets if target[2] == other] for other in LABELS}
        pairs = oracle.pairs.largest_matching(present, by_label[label], can_pair)
        tp, fp = tp + pairs, fp + len(present) - pairs
        for event in present if criterion.cross_triggers else []:
            if not any(can_pair(event, target) for target in by_label[label]):
                for other in ct:
                    ct[other] += any(can_pair(event, target) for target in by_label[other])
    return oracle.Count(tp, fp, ct)


def in_seconds(of_clips: Sequence[Sequence[tuple[Any, ...]]]) -> Mapping[str, list[tuple[Any, ...]]]:
    return {
        f"clip{i}": [(event[0] / 1e6, event[1] / 1e6, *event[2:]) for event in of_clip]
        for i, of_clip in enumerate(of_clips)
    }


@settings(max_examples=300)
@given(clips, st.lists(st.lists(events, max_size=5), min_size=3, max_size=3), criteria)
def test_counts(
    detected: list[list[Detection]],
    all_references: list[list[tuple[int, int, str]]],
    criterion: sed.Collar | sed.IoU,
) -> None:
    references = all_references[: len(detected)]
    if criterion.cross_triggers:  # refused for references that overlap
        references = [separate(of_clip) for of_clip in references]
    durations = {f"clip{i}": 2 * END / 1e6 for i in range(len(detected))}
    truth = sed.GroundTruth.from_dict(in_seconds(references), durations=durations, overlaps="keep")
    scores = sed.Scores.from_events(in_seconds(detected), classes=LABELS, overlaps="keep")
    counts = sed.deltas(scores, truth, criterion, run=sed.Run(threads=1)).counts()
    for label in LABELS:
        levels = {event[3] for of_clip in detected for event in of_clip if event[2] == label}
        expected = {
            score: count_at(score, label, detected, references, criterion)
            for score in sorted(levels, reverse=True)
        }
        assert_equal_to_oracle(counts[label], expected, label)


@st.composite
def judged_clips(draw: st.DrawFn) -> list[tuple[oracle.Clip, list[Detection]]]:
    """Clips with references, ignored ones and scored events, which may begin before 0 and end late."""
    ignored = references(END, (*LABELS[:2], oracle.EVERY_LABEL)) if draw(st.booleans()) else st.just([])
    moved = detections.map(lambda event: (event[0] - 3, max(event[1] - 3, 1), *event[2:]))
    return [
        (
            oracle.Clip([0], dict.fromkeys(LABELS, ()), draw(references(END)), END, draw(ignored)),
            draw(st.lists(moved, max_size=8)),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


@settings(max_examples=200)
@given(judged_clips(), intersections(), st.sampled_from([1, 2, 5, 7, None]), st.booleans())
def test_counts_of_time(
    case: list[tuple[oracle.Clip, list[Detection]]],
    criterion: sed.Intersection,
    length: int | None,
    cross_triggers: bool,
) -> None:
    clips, detected = [clip for clip, _ in case], [of_clip for _, of_clip in case]
    scores = sed.Scores.from_events(in_seconds(detected), classes=LABELS, overlaps="keep")
    truth = to_truth(clips)
    segments = (
        sed.Clip(cross_triggers=cross_triggers)
        if length is None
        else sed.Segment(length / 1e6, cross_triggers=cross_triggers)
    )
    by_intersection, by_segment = (
        sed.deltas(scores, truth, chosen, run=sed.Run(threads=1)).counts()
        for chosen in (criterion, segments)
    )
    shares: dict[str, Any] = {name: getattr(criterion, name) for name in ("dtc", "gtc", "cttc")}
    for label in LABELS:
        levels = oracle.event_operating_points(detected, label)
        of_time = {
            score: oracle.event_intersection_count(clips, detected, label, score, **shares)
            for score in levels
        }
        assert_equal_to_oracle(by_intersection[label], of_time, label)
        of_segments = {
            score: oracle.event_segment_count(
                clips, detected, label, score, length=length, cross_triggers=cross_triggers
            )
            for score in levels
        }
        assert_equal_to_oracle(by_segment[label], of_segments, label)


@settings(max_examples=150)
@given(judged_clips(), st.sampled_from([0, 1, 3]))
def test_active_time(case: list[tuple[oracle.Clip, list[Detection]]], collar: int) -> None:
    clips, detected = [clip for clip, _ in case], [of_clip for _, of_clip in case]
    kept = sed.Scores.from_events(in_seconds(detected), classes=LABELS, overlaps="keep")
    counts = sed.deltas(kept, to_truth(clips), sed.Time(collar / 1e6), run=sed.Run(threads=1)).counts()
    instants = range(-3, 2 * END)  # a frame each, with the highest score of the events that cover it
    framed = [
        replace(
            clip,
            edges=[*instants, 2 * END],
            scores={
                label: [
                    max(
                        (s for on, off, name, s in of_clip if name == label and on <= t < off),
                        default=-inf,
                    )
                    for t in instants
                ]
                for label in LABELS
            },
        )
        for clip, of_clip in zip(clips, detected, strict=True)
    ]
    for label in LABELS:
        expected = oracle.time_counts(framed, label, collar=collar)
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([-1.0, 0.2, 0.5, 0.8]), min_size=END, max_size=END),
    st.lists(events, max_size=6),
    collar_criteria() | st.builds(sed.IoU, parts),
)
def test_scores_of_frames_with_overlapping_references(
    scores: list[float], references: list[tuple[int, int, str]], criterion: sed.Collar | sed.IoU
) -> None:
    criterion = replace(criterion, cross_triggers=False)
    by_label = {label: scores if label == "a" else [-1.0] * END for label in LABELS}
    clip = oracle.Clip(list(range(END + 1)), by_label, references, 2 * END)
    truth = sed.GroundTruth.from_dict(
        in_seconds([references]), durations={"clip0": 2 * END / 1e6}, overlaps="keep"
    )
    counts = sed.deltas(to_scores([clip]), truth, criterion, run=sed.Run(threads=1)).counts()
    expected = {
        score: oracle.pairs.matching_count([clip], "a", score, pairable(criterion), cross_triggers=False)
        for score in sorted({*scores}, reverse=True)
    }
    assert_equal_to_oracle(counts["a"], expected, "a")


@pytest.mark.parametrize(
    "metric",
    [
        sed.presets.PSDS1,
        sed.FScore(sed.Clip(cross_triggers=True)),
        sed.FScore(sed.Collar(cross_triggers=True)),
    ],
)
def test_overlapping_references_are_refused(metric: Any) -> None:
    truth = sed.GroundTruth.from_dict(
        {"x": [(1, 3, "a"), (2, 4, "a")]}, durations={"x": 9}, overlaps="keep"
    )
    scores = sed.Scores.from_arrays({"x": [[0.5]] * 9}, classes=["a"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"references of one class overlap.*overlaps='merge'"):
        sed.evaluate(scores, truth, metric)
    with pytest.raises(sed.SedscopeError, match="references of one class overlap"):
        sed.diagnose(scores, truth, sed.IoU(0.5), 0.2)


def overlapping_system() -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.GroundTruth.from_dict(
        {"x": [(1, 3, "a")], "y": [(1, 3, "a")]}, durations={"x": 9, "y": 9}
    )
    events: dict[str, list[Any]] = {
        "x": [(1, 3, "a", 0.9), (1.5, 3, "a", 0.8), (2, 5, "a", 0.7)],
        "y": [(1, 3, "a", 0.95)],
    }
    return sed.Scores.from_events(events, overlaps="keep"), truth


def test_all_ways_of_evaluating_agree(tmp_path: Any) -> None:
    scores, truth = overlapping_system()
    best = sed.BestFScore(sed.IoU(0.5))
    expected = sed.evaluate(scores, truth, best, resampling=20)
    again = sed.evaluate(scores, truth, best, resampling=20, run=sed.Run(checkpoint=tmp_path))
    assert expected[best].value == again[best].value == 1.0
    assert expected.table() == again.table()
    compared = sed.compare({"kept": scores, "same": scores}, truth, best, resampling=20)
    assert compared.values[best]["kept"].value == 1.0


@pytest.mark.filterwarnings("ignore:1 reference event crosses the border")
def test_regions_cut_them() -> None:
    scores, truth = overlapping_system()
    cut_scores, cut_truth = sed.cut_to_regions(scores, truth, {"x": [(2, 4)], "y": [(0, 9)]})
    events = cut_scores.open("x@2-4")
    assert isinstance(events, ClipEvents)
    assert events.times.tolist() == [[0, 10**6], [0, 10**6], [0, 2 * 10**6]]
    best = sed.BestFScore(sed.IoU(0.9))
    assert sed.evaluate(cut_scores, cut_truth, best)[best].value == 1.0


@settings(max_examples=150)
@given(judged_clips(), criteria | intersections())
def test_error_types_add_up_to_the_counts(
    case: list[tuple[oracle.Clip, list[Detection]]], criterion: sed.Collar | sed.IoU | sed.Intersection
) -> None:
    scores = sed.Scores.from_events(
        in_seconds([of_clip for _, of_clip in case]), classes=LABELS, overlaps="keep"
    )
    truth = to_truth([clip for clip, _ in case])
    points = [-2.0, 0.1, 0.2, 0.5, 0.9]
    diagnosis = sed.diagnose(scores, truth, criterion, points)
    counts = sed.deltas(scores, truth, criterion, run=sed.Run(threads=1)).counts()
    for label in LABELS:
        expected = counts[label].at(diagnosis[label].thresholds)
        assert diagnosis[label].references["found"].tolist() == expected.tp.tolist()
        assert np.asarray(diagnosis[label].tally().fp).tolist() == expected.fp.tolist()


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@settings(max_examples=100)
@given(st.lists(events, max_size=6), st.lists(detections, max_size=9), criteria | intersections())
def test_events_that_do_not_overlap_are_judged_as_scores(
    targets: list[tuple[int, int, str]],
    detected: list[Detection],
    criterion: sed.Collar | sed.IoU | sed.Intersection,
) -> None:
    confidence = {event[:3]: event[3] for event in detected}
    apart = [(*event, confidence[event]) for event in separate([event[:3] for event in detected])]
    truth = sed.GroundTruth.from_dict(
        in_seconds([separate(targets)]), durations={"clip0": 2 * END / 1e6}
    )
    kept, frames = (
        sed.Scores.from_events(in_seconds([apart]), classes=LABELS, overlaps=overlaps)
        for overlaps in ("keep", "error")
    )
    points = [0.1, 0.2, 0.5, 0.9]
    of_kept, of_frames = (sed.diagnose(system, truth, criterion, points) for system in (kept, frames))
    for label in LABELS:
        for side in ("references", "detections"):
            numbers = [getattr(of_system[label], side) for of_system in (of_kept, of_frames)]
            np.testing.assert_equal(*numbers)
    assert sed.detect(kept, 0.2) == sed.detect(frames, 0.2)


def test_operating_points_leave_events_above_the_threshold() -> None:
    scores, truth = overlapping_system()
    assert isinstance(scores, sed.ScoredEvents)
    assert sed.detect(scores, 0.75) == {"x": [(1, 3, "a"), (1.5, 3, "a")], "y": [(1, 3, "a")]}
    at_points = sed.at_thresholds(scores, 0.75)
    assert isinstance(at_points, sed.ScoredEvents)
    assert [event[3] for event in at_points.events()["x"]] == [1, 1]
    points = sed.OperatingPoints({"a": 0.75})
    (result,) = sed.evaluate(scores, truth, sed.FScore(sed.IoU(0.5)), points=points).values()
    assert result.value == pytest.approx(0.8)  # 2 pairs, 1 false positive


@pytest.mark.filterwarnings("ignore:Some classes are not defined in some resamples")
def test_blocks_of_time_cut_them() -> None:
    scores, truth = overlapping_system()
    best = sed.BestFScore(sed.IoU(0.5))
    blocks = sed.Resampling(n=20, blocks=4.5, seed=0)
    assert sed.evaluate(scores, truth, best, resampling=blocks)[best].value == 1.0


def test_post_processing_refuses_them() -> None:
    scores, _ = overlapping_system()
    with pytest.raises(sed.SedscopeError, match="needs scores of frames"):
        sed.postprocessing.MedianFilter(0.5)(scores)
    with pytest.raises(sed.SedscopeError, match="needs scores of frames"):
        scores["x"]


def test_lists_keep_them_under_new_labels(tmp_path: Path) -> None:
    header = "filename\tonset\toffset\tevent_label"
    detected = ["x\t1\t3\tdog\t0.9", "x\t2\t4\tdog\t0.8", "x\t2\t4\thound\t0.7"]
    (tmp_path / "system.tsv").write_text("\n".join([f"{header}\tconfidence", *detected, ""]))
    (tmp_path / "truth.tsv").write_text(f"{header}\nx\t1\t3\tDog\nx\t2\t4\tDog\nx\t5\t6\tCat\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\nx\t9\n")
    (tmp_path / "map.csv").write_text("from,to\ndog,Dog\nhound,Dog\n")
    files = [tmp_path / "system.tsv", tmp_path / "truth.tsv", "--durations", tmp_path / "durations.tsv"]
    options = ["--overlaps", "keep", "--labels", tmp_path / "map.csv"]
    evaluated = run("evaluate", *files, *options, "--metric", "collar_f1", "--json", "-")
    (metric,) = json.loads(evaluated.out)["metrics"]
    assert metric["per_class"]["Dog"] == 0.8  # 2 pairs, 1 false positive
    validated = run("validate", *files, *options)
    assert (validated.code, "0 errors" in validated.out) == (0, True)


def test_notes_about_some_clips_do_not_speak_of_merging() -> None:
    events = {"x": [(1, 3, "a"), (2, 4, "a"), (5, 5, "a")], "y": []}
    truth = sed.GroundTruth.from_dict(events, overlaps="keep", invalid="drop")
    (note,) = truth._warnings_about(["x"], ["a"])
    assert "no positive length" in note


def test_validation_takes_them_as_an_evaluation_does() -> None:
    scores, truth = overlapping_system()
    assert not sed.validate(scores, truth).errors
