"""Points in time: references and detections of no length, compared with a brute force."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.postprocessing import Peaks

from ..support import oracle
from ..support.command_line import run
from ..support.equality import assert_equal_to_oracle
from ..support.oracle import diagnosis as oracle_diagnosis
from ..support.strategies import LABELS, for_oracle, to_scores

END = 12
DURATIONS = {"x": 2 * END / 1e6}
Times = tuple[int, int, str]

points = st.tuples(st.integers(0, END - 1), st.sampled_from([0, 0, 0, 2]), st.sampled_from(LABELS)).map(
    lambda event: (event[0], event[0] + event[1], event[2])
)
scored_points = st.tuples(points, st.sampled_from([0.2, 0.5, 0.5, 0.8])).map(
    lambda pair: (*pair[0], pair[1])
)
ticks = st.integers(0, 4)
criteria = st.builds(lambda t, cross: sed.Onset(t / 1e6, cross), ticks, st.booleans()) | st.builds(
    lambda t: sed.Collar(None, t / 1e6, offset_rate=0), ticks
)


def pairable(criterion: sed.Onset | sed.Collar) -> oracle.pairs.Pairable:
    if isinstance(criterion, sed.Onset):
        onset: int | None = round(criterion.tolerance * 1e6)
        return oracle.pairs.collar(onset=onset, offset=None, offset_rate=0)
    assert criterion.offset is not None
    return oracle.pairs.collar(onset=None, offset=round(criterion.offset * 1e6), offset_rate=0)


def in_seconds(events: Any) -> Any:
    return {"x": [(onset / 1e6, offset / 1e6, *rest) for onset, offset, *rest in events]}


@settings(max_examples=200)
@given(st.lists(points, max_size=7), st.lists(scored_points, max_size=7), criteria)
def test_as_many_pairs_as_possible(
    references: list[Times], detected: list[Any], criterion: sed.Onset | sed.Collar
) -> None:
    # those of one class may not overlap where cross-triggers are counted
    references = [*dict.fromkeys(reference for reference in references if reference[0] == reference[1])]
    truth = sed.GroundTruth.from_dict(in_seconds(references), durations=DURATIONS)
    system = sed.ScoredEvents.from_events(in_seconds(detected), classes=LABELS)
    counts = sed.deltas(system, truth, criterion, run=sed.Run(threads=1)).counts()
    can_pair = pairable(criterion)
    targets = {label: [event[:2] for event in references if event[2] == label] for label in LABELS}
    for label in LABELS:
        expected = {}
        for score in sorted({event[3] for event in detected if event[2] == label}, reverse=True):
            present = [event[:2] for event in detected if event[2] == label and event[3] >= score]
            pairs = oracle.pairs.largest_matching(present, targets[label], can_pair)
            alone = [
                event
                for event in present
                if criterion.cross_triggers and not any(can_pair(event, own) for own in targets[label])
            ]
            crossing = {
                other: sum(any(can_pair(event, target) for target in targets[other]) for event in alone)
                for other in LABELS
                if other != label
            }
            expected[score] = oracle.Count(pairs, len(present) - pairs, crossing)
        assert_equal_to_oracle(counts[label], expected, label)


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([-1.0, 0.2, 0.5, 0.8]), min_size=END, max_size=END),
    st.lists(points, max_size=6),
    ticks,
)
def test_frames_are_judged_against_points(
    scores: list[float], references: list[Times], tolerance: int
) -> None:
    clip = oracle.Clip(
        list(range(END + 1)),
        {"a": scores, **dict.fromkeys(LABELS[1:], [-1.0] * END)},
        references,
        2 * END,
    )
    frames = to_scores([clip])
    events = dict.fromkeys(frames, in_seconds(references)["x"])
    durations = dict.fromkeys(frames, DURATIONS["x"])
    truth = sed.GroundTruth.from_dict(events, durations=durations, overlaps="keep")
    counts = sed.deltas(frames, truth, sed.Onset(tolerance / 1e6), run=sed.Run(threads=1)).counts()
    can_pair = oracle.pairs.collar(onset=tolerance, offset=None, offset_rate=0)
    expected = {
        score: oracle.pairs.matching_count([clip], "a", score, can_pair, cross_triggers=False)
        for score in sorted({*scores}, reverse=True)
    }
    assert_equal_to_oracle(counts["a"], expected, "a")


def apart(events: list[Times]) -> list[Times]:
    """Those of the events that do not overlap an earlier one of their class."""
    kept: list[Times] = []
    for onset, offset, label in sorted(events):
        ends = [end for begin, end, other in kept if other == label and (end > onset or begin == onset)]
        if not ends:
            kept.append((onset, offset, label))
    return kept


@settings(max_examples=300)
@given(st.lists(points, max_size=6), st.lists(scored_points, max_size=6), criteria)
def test_error_types_of_points(
    references: list[Times], detected: list[Any], criterion: sed.Onset | sed.Collar
) -> None:
    references = apart(references)
    detected = [*{event[:3]: event for event in detected}.values()]  # all different
    clip = oracle.Clip([0, 2 * END], {label: [0.0] for label in LABELS}, references, 2 * END)
    truth = sed.GroundTruth.from_dict(in_seconds(references), durations=DURATIONS)
    system = sed.ScoredEvents.from_events(in_seconds(detected), classes=LABELS)
    thresholds = [0.1, 0.4, 0.7]
    diagnosis = sed.diagnose(system, truth, criterion, thresholds)
    counts = sed.deltas(system, truth, criterion).counts()
    if isinstance(criterion, sed.Onset):
        criterion = sed.Collar(criterion.tolerance, None, cross_triggers=criterion.cross_triggers)
    for label in LABELS:
        of_class = diagnosis[label]
        assert (
            np.asarray(of_class.tally().tp).tolist() == counts[label].at(of_class.thresholds).tp.tolist()
        )
        for row, threshold in enumerate(of_class.thresholds.tolist()):
            present = sorted(
                event[:2] for event in detected if event[2] == label and event[3] > threshold
            )
            found = {
                side: {name: int(rows[row]) for name, rows in of_side.items() if rows[row]}
                for side, of_side in (
                    ("references", of_class.references),
                    ("detections", of_class.detections),
                )
            }
            possible = [
                {"references": Counter(bins.references), "detections": Counter(bins.detections)}
                for bins in oracle_diagnosis.bins_of(present, clip, label, for_oracle(criterion))
            ]
            assert found in possible


def test_a_long_detection_of_a_point_begins_at_the_wrong_time() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(2, 2, "hit"), (5, 5, "hit")]}, durations={"a": 9})
    system = sed.ScoredEvents.from_events({"a": [(1, 3, "hit"), (4, 5, "hit")]})
    types = sed.diagnose(system, truth, sed.Onset(0.1), 0.5)["hit"]
    assert {name: rows.tolist() for name, rows in types.references.items() if rows.any()} == {
        "onset": [1],
        "missed": [1],  # the second detection has ended
    }
    errors = sed.boundary_errors(system, truth, sed.Onset(2), 0.5)["hit"]
    assert (errors.onset.tolist(), errors.offset.tolist()) == ([-1.0, -1.0], [1.0, 0.0])


def drums() -> tuple[sed.Scores, sed.GroundTruth]:
    """Scores of frames of 0.1 s with peaks near most hits."""
    frames = {"x": [0.1] * 100, "y": [0.1] * 100}
    for clip, frame, score in (("x", 20, 0.9), ("x", 23, 0.6), ("x", 70, 0.4), ("y", 50, 0.8)):
        frames[clip][frame] = score
    arrays = {clip: [[score] for score in scores] for clip, scores in frames.items()}
    times = {"x": (2.0, 7.2), "y": (1.0, 4.98)}  # peaks at 2.05, 2.35, 7.05; 5.05
    hits = {clip: [(time, time, "hit") for time in of_clip] for clip, of_clip in times.items()}
    scores = sed.Scores.from_arrays(arrays, classes=["hit"], frame=0.1)
    return scores, sed.GroundTruth.from_dict(hits, durations={"x": 10, "y": 10})


LONG_HITS = sed.GroundTruth.from_dict({"x": [(2, 3, "hit")], "y": []}, durations={"x": 10, "y": 10})
NEEDING_LENGTHS: list[Any] = [
    sed.presets.PSDS1,
    sed.FScore(sed.IoU(0.5)),
    sed.FScore(sed.Segment(1.0)),
    sed.FScore(sed.Clip()),
    sed.FScore(sed.Time()),
    sed.FScore(sed.Collar()),
    sed.FScore(sed.OfLength(sed.Collar(), longest=1)),
    sed.MeanAveragePrecision(),
]


@pytest.mark.parametrize("metric", NEEDING_LENGTHS, ids=repr)
def test_other_criteria_refuse_points(metric: Any) -> None:
    scores, truth = drums()
    if not isinstance(metric, sed.MeanAveragePrecision):  # which takes no frames
        message = r"4 references have no length.*clip x, hit at 2 s.*Onset\(0.05\).*invalid='drop'"
        with pytest.raises(sed.SedscopeError, match=message):
            sed.evaluate(scores, truth, metric)
    message = r"Some detections have no length \(the first: clip x, hit at 2\.\d+ s\).*Onset\(0.05\)"
    with pytest.raises(sed.SedscopeError, match=message):
        sed.evaluate(Peaks(0.5)(scores), LONG_HITS, metric)


def test_bins_of_lengths_are_not_for_points() -> None:
    scores, truth = drums()
    metric = sed.FScore(sed.Onset(0.2))
    advice = r"leave out `by=By\(lengths=…\)` or OfLength\.$"
    with pytest.raises(sed.SedscopeError, match=rf"4 references have no length.*{advice}"):
        sed.evaluate(Peaks()(scores), truth, metric, by=sed.By(lengths=(1, 3)))
    with pytest.raises(sed.SedscopeError, match=rf"Some detections have no length.*{advice}"):
        sed.evaluate(Peaks()(scores), LONG_HITS, metric, by=sed.By(lengths=(1, 3)))


@pytest.mark.parametrize(
    "work",
    [
        lambda scores, truth: sed.diagnose(scores, truth, sed.IoU(0.5), 0.5),
        lambda scores, truth: sed.diagnose(scores, truth, sed.Intersection(0.5, 0.5), 0.5),
        lambda scores, truth: sed.boundary_errors(scores, truth, sed.Collar(), 0.5),
        lambda scores, _: sed.diagnose(Peaks()(scores), LONG_HITS, sed.IoU(0.5), 0.5),
        lambda scores, _: sed.boundary_errors(Peaks()(scores), LONG_HITS, sed.Collar(), 0.5),
    ],
)
def test_other_criteria_have_no_error_types_of_points(work: Callable[..., Any]) -> None:
    with pytest.raises(sed.SedscopeError, match=r"no length.*needs events with a length"):
        work(*drums())


@pytest.mark.filterwarnings("ignore:The intervals come from only 2 clips")
def test_all_ways_of_evaluating_agree(tmp_path: Path) -> None:
    scores, truth = drums()
    best = sed.BestFScore(sed.Onset(0.2))
    peaks = Peaks(min_distance=0.5)(scores)
    listed = sed.ScoredEvents.from_events(peaks.events(), classes=["hit"])
    expected = sed.evaluate(listed, truth, best)[best]
    assert expected.value == pytest.approx(6 / 7)  # 3 of 4 hits, no false alarm
    in_blocks = sed.Resampling(20, blocks=2)
    for options in (
        {},
        {"run": sed.Run(checkpoint=tmp_path)},
        {"resampling": 20},
        {"resampling": in_blocks},
    ):
        assert sed.evaluate(peaks, truth, best, **options)[best].value == expected.value
    compared = sed.compare({"kept": peaks, "listed": listed}, truth, best, resampling=20)
    assert {value.value for value in compared.values[best].values()} == {expected.value}
    tuned = sed.tune(scores, truth, best, "Peaks(0|0.5)")
    assert (tuned.value, tuned.per_class["hit"].postprocessing) == (expected.value, Peaks(0.5))
    at_points = sed.FScore(sed.Onset(0.2), "points")
    assert sed.evaluate(scores, truth, at_points, points=tuned.points)[at_points].value == expected.value
    regions: dict[str, list[tuple[float, float]]] = {"x": [(0, 2.05), (2.05, 10)], "y": [(3, 10)]}
    cut_scores, cut_truth = sed.cut_to_regions(scores, truth, regions)
    by_region = sed.evaluate(Peaks(0.5)(cut_scores), cut_truth, best)
    assert len(cut_truth) == 3
    assert by_region[best].value == pytest.approx(2 / 3)  # the peak at 2.05 s is in the next region


def test_clips_end_with_their_frames() -> None:
    scores, truth = drums()
    hits = {clip: truth.events(clip) for clip in truth.clips}
    recall = sed.Recall(sed.Onset(0.2), 0.5)
    with pytest.warns(sed.SedscopeWarning, match="no stated duration"):
        result = sed.evaluate(Peaks()(scores), sed.GroundTruth.from_dict(hits), recall)
    assert result[recall].value == 0.5
    late = sed.GroundTruth.from_dict({**hits, "y": [(10, 10, "hit")]})
    with pytest.raises(sed.SedscopeError, match="at or after the last boundary of the scores: clip y"):
        sed.evaluate(Peaks()(scores), late, recall)


def test_mean_over_tolerances() -> None:
    scores, truth = drums()
    peaks = Peaks()(scores)
    parts = [sed.AveragePrecision(sed.Onset(t), interpolation="voc") for t in (0.2, 0.1, 0.05)]
    mean = sed.MeanAveragePrecision(tolerances=(0.1, 0.05, 0.2))
    assert repr(mean) == "MeanAveragePrecision(tious=None, over='class', tolerances=(0.05, 0.1, 0.2))"
    assert sed.metrics.parse_metric(repr(mean)) == mean
    result = sed.evaluate(peaks, truth, [mean, *parts])
    values = [result[part].value for part in parts]
    assert len({*values}) == 3
    assert result[mean].value == pytest.approx(sum(values) / 3)
    assert [*result[mean].parts] == ["within 0.2 s", "within 0.1 s", "within 0.05 s"]
    with pytest.raises(sed.SedscopeError, match="either tious= or tolerances="):
        sed.MeanAveragePrecision(0.5, tolerances=0.02)
    with pytest.raises(sed.SedscopeError, match=r"tolerances=\(0, 1\) must be numbers above 0"):
        sed.MeanAveragePrecision(tolerances=(0, 1))


def test_files_of_points_on_the_command_line(tmp_path: Path) -> None:
    scores, truth = drums()
    sed.write_scores(scores, tmp_path / "scores")
    onsets = [f"{clip}\t{event[0]}\thit" for clip in truth.clips for event in truth.events(clip)]
    (tmp_path / "onsets.tsv").write_text("\n".join(["filename\tonset\tevent_label", *onsets, ""]))
    files: list[Any] = [tmp_path / "scores", tmp_path / "onsets.tsv"]
    assert ": --columns offset=onset." in run("evaluate", *files).err
    named = run("evaluate", *files, "--columns", "filename=filename,onset=onset,label=event_label")
    assert "no column is named for offset" in named.err
    assert ": --columns offset=onset." in named.err
    points = [tmp_path / "onsets.tsv", tmp_path / "onsets.tsv", "--columns", "offset=onset"]
    for command in ("evaluate", "validate"):
        outcome = run(command, *points, "--overlaps", "keep")
        assert ": --scores-columns offset=onset." in outcome.err + outcome.out
    (tmp_path / "durations.tsv").write_text("filename\tduration\nx\t10\ny\t10\n")
    files += ["--durations", tmp_path / "durations.tsv", "--columns", "offset=onset"]
    options = ["--postprocess", "Peaks(min_distance=0.5)", "--metric", "BestFScore(Onset(0.2))"]
    (metric,) = json.loads(run("evaluate", *files, *options, "--json", "-").out)["metrics"]
    assert metric["value"] == pytest.approx(6 / 7)
    assert "2 references" not in run("validate", *files).err
    assert "4 events have no length" in run("validate", *files).out
    refused = run("evaluate", *files, "--metric", "psds1")
    assert (refused.code, "4 references have no length" in refused.err) == (2, True)
