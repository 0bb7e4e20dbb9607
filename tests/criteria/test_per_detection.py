"""Right detections at every threshold, and windows judged as windows, compared with a brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support import oracle
from ..support.equality import assert_equal_to_oracle
from ..support.strategies import LABELS, clip_lists_with_ignored, dtypes, name, to_scores, to_truth
from ..support.strategies import criteria as intersections

SONGS = sed.GroundTruth.from_dict(
    {"a": [(0, 9, "Song")], "b": [(2, 5, "Song")]}, durations={"a": 20, "b": 20}
)
DETECTED = sed.Scores.from_events(
    {
        "a": [(0, 3, "Song", 0.9), (4, 7, "Song", 0.8), (12, 15, "Song", 0.7)],
        "b": [(10, 13, "Song", 0.95), (2, 4, "Song", 0.2)],
    }
)


def right_of(counts: Any) -> list[int]:
    assert counts.right is not None
    right: list[int] = counts.right.tolist()
    return right


def right_detections(case: list[oracle.Clip], label: str, score: float, dtc: float) -> int:
    """How many detections lie enough in references that count, whatever is ignored."""
    return sum(
        oracle.overlap(event, oracle.references(clip, label))
        >= oracle.requirement(dtc, event[1] - event[0])
        for clip in case
        for event in oracle.detections(clip.scores[label], clip.edges, score)
    )


@settings(max_examples=200)
@given(clip_lists_with_ignored, intersections(), dtypes)
def test_right_detections_of_intersections(
    case: list[oracle.Clip], criterion: sed.Intersection, dtype: type
) -> None:
    scores, truth = to_scores(case, dtype), to_truth(case)
    counts = sed.deltas(scores, truth, sed.PerDetection(criterion), coverage="any").counts()
    for label in LABELS:
        of_class = counts[label]
        expected = oracle.intersection_counts(
            case, label, dtc=criterion.dtc, gtc=criterion.gtc, cttc=criterion.cttc
        )
        assert_equal_to_oracle(of_class, expected, label)
        right = [0, *right_of(of_class)]
        for score in expected:
            row = int(np.count_nonzero(of_class.scores >= score))
            assert right[row] == right_detections(case, label, score, criterion.dtc)


@settings(max_examples=60)
@given(clip_lists_with_ignored, st.sampled_from([sed.Collar(1e-5), sed.Segment(3e-6), sed.IoU(0.3)]))
def test_pairs_and_segments_have_as_many_right_detections_as_references_found(
    case: list[oracle.Clip], criterion: sed.Criterion
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    counts = sed.deltas(scores, truth, sed.PerDetection(criterion), coverage="any").counts()
    plain = sed.deltas(scores, truth, criterion, coverage="any").counts()
    for label in LABELS:
        if not any(clip.ignored for clip in case):
            assert right_of(counts[label]) == counts[label].tp.tolist()
        for threshold in (-1.0, 0.0, 0.5):
            assert counts[label].tally_at(threshold).tp == plain[label].tally_at(threshold).tp


def test_precision_counts_detections() -> None:
    #  a  ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔ Song               b  ··▔▔▔▔ Song
    #     0.9   0.8          0.7                  0.2        0.95
    criterion = sed.Intersection(0.5, 0.1)
    metrics = [
        sed.Precision(criterion, 0.3),
        sed.DetectionPrecision(criterion, 0.3),
        sed.FScore(criterion, 0.1),
        sed.FScore(criterion, 0.1, precision="detections"),
    ]
    result = sed.evaluate(DETECTED, SONGS, metrics)
    values = [result[metric].value for metric in metrics]
    assert values == pytest.approx([1 / 3, 2 / 4, 2 * 2 / (2 * 2 + 2), 2 * (3 / 5) / (3 / 5 + 1)])
    assert metrics[3] == sed.FScore(sed.PerDetection(criterion), 0.1)
    assert sed.metrics.parse_metric(repr(metrics[3])) == metrics[3]
    with pytest.raises(sed.SedscopeError, match="precision='windows' is not valid"):
        sed.FScore(criterion, precision="windows")
    with pytest.raises(sed.SedscopeError, match="has no meaning for Time"):
        sed.PerDetection(sed.Time())


@settings(max_examples=40)
@given(clip_lists_with_ignored, st.integers(0, 2**32))
def test_resampled_merged_and_saved(case: list[oracle.Clip], seed: int) -> None:
    """Weights of clips, parts that are merged, and files give what clips repeated would give."""
    criterion = sed.PerDetection(sed.Intersection(0.3, 0.3))
    scores, truth = to_scores(case), to_truth(case)
    whole = sed.deltas(scores, truth, criterion, coverage="any")
    parts = [sed.deltas(scores, truth, criterion, coverage="any", clips=[clip]) for clip in truth.clips]
    merged = parts[0].merge(*parts[1:])
    weights = np.random.default_rng(seed).integers(0, 3, len(case))
    repeated = [clip for clip, number in zip(case, weights, strict=True) for _ in range(number)]
    for label in LABELS:
        assert right_of(whole.counts()[label]) == right_of(merged.counts()[label])
        weighted = whole.counts(weights=weights)[label].tally_at(0.3)
        assert weighted.right == sum(
            right_detections(repeated, label, s, 0.3) for s in _just_above(case, label)
        )


def _just_above(case: list[oracle.Clip], label: str) -> list[float]:
    scores = [score for clip in case for score in clip.scores[label] if score > 0.3]
    return [min(scores)] if scores else []


def test_files_of_deltas_hold_right_detections(tmp_path: Path) -> None:
    deltas = sed.deltas(DETECTED, SONGS, sed.PerDetection(sed.Intersection(0.5, 0.1)))
    sed.save_deltas(deltas, tmp_path / "deltas.npz")
    (loaded,) = sed.load_deltas(tmp_path / "deltas.npz")
    assert right_of(loaded.counts()["Song"]) == right_of(deltas.counts()["Song"])


def test_thresholds_are_chosen_and_bounded_by_right_detections() -> None:
    """A long song in nine windows: one reference found, but nine detections that are right."""
    clips = {f"c{i}": [(0.0, 27.0, "Song")] for i in range(40)}
    truth = sed.GroundTruth.from_dict(clips, durations=dict.fromkeys(clips, 60))
    windows = [(3.0 * k, 3.0 * k + 2.9, "Song", 0.9) for k in range(9)]
    detected = {clip: [*windows, (40.0, 43.0, "Song", 0.5)] for clip in clips}
    deltas = sed.deltas(
        sed.Scores.from_events(detected), truth, sed.PerDetection(sed.Intersection(0.5, 0.1))
    )
    points = sed.choose(deltas, "recall", min_precision=0.85, confidence=0.95)
    assert not points.unmet
    assert deltas.counts()["Song"].tally_at(0.1).precision == 0.9
    plain = sed.deltas(sed.Scores.from_events(detected), truth, sed.Intersection(0.5, 0.1))
    assert plain.counts()["Song"].tally_at(0.1).precision == 0.5


@st.composite
def windows_and_calls(draw: st.DrawFn) -> list[tuple[list[tuple[int, int, str, float]], oracle.Clip]]:
    time = st.integers(0, 20)
    event = st.tuples(time, st.integers(1, 9), st.sampled_from(LABELS[:2]))
    calls = event.map(lambda e: (e[0], e[0] + e[1], e[2]))
    window = st.tuples(event, st.sampled_from([0.1, 0.5, 0.5, 0.9])).map(
        lambda w: (w[0][0], w[0][0] + w[0][1], w[0][2], w[1])
    )
    return [
        (
            draw(st.lists(window, max_size=6)),
            oracle.Clip(
                [0], {}, draw(st.lists(calls, max_size=4)), 40, draw(st.lists(calls, max_size=2))
            ),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


@settings(max_examples=200)
@given(windows_and_calls(), st.integers(1, 6))
def test_windows(case: list[tuple[list[tuple[int, int, str, float]], oracle.Clip]], enough: int) -> None:
    clips = [clip for _, clip in case]
    detected = {
        name(i): [(on / 1e6, off / 1e6, label, score) for on, off, label, score in windows]
        for i, (windows, _) in enumerate(case)
    }
    truth = sed.GroundTruth.from_dict(
        {
            name(i): [(on / 1e6, off / 1e6, x) for on, off, x in c.references]
            for i, c in enumerate(clips)
        },
        durations={name(i): 4e-5 for i in range(len(clips))},
        ignored={
            name(i): [(on / 1e6, off / 1e6, x) for on, off, x in c.ignored] for i, c in enumerate(clips)
        },
        overlaps="keep",
    )
    system = sed.Scores.from_events(detected, classes=LABELS, overlaps="keep")
    counts = sed.deltas(system, truth, sed.Window(enough / 1e6)).counts()

    def holds(window: oracle.Event, call: oracle.Event) -> bool:
        return oracle.overlap(window, [call]) >= min(enough, call[1] - call[0])

    for label in LABELS:
        for threshold in (0.05, 0.3, 0.7, 0.95):
            tp = right = false = 0
            for windows, clip in case:
                there = [w[:2] for w in windows if w[2] == label and w[3] > threshold]
                calls, ignored = oracle.references(clip, label), oracle.ignored_references(clip, label)
                tp += sum(any(holds(window, call) for window in there) for call in calls)
                for window in there:
                    is_right = any(holds(window, call) for call in calls)
                    right += is_right
                    false += not is_right and not any(holds(window, call) for call in ignored)
            tally = counts[label].tally_at(threshold)
            assert (tally.tp, tally.right, tally.fp) == (tp, right, false)


def test_windows_need_events() -> None:
    with pytest.raises(sed.SedscopeError, match="overlaps='keep'"):
        sed.evaluate(DETECTED, SONGS, sed.DetectionPrecision(sed.Window(1), 0.5))


@pytest.mark.parametrize("overlaps", ["average", "keep"])
def test_windows_across_segments_of_their_length_are_noted(overlaps: Any) -> None:
    windows = [(1.5 * k, 1.5 * k + 3, "Song", 0.5) for k in range(10)]
    segments = sed.AveragePrecision(sed.Segment(3))
    shifted = sed.Scores.from_events({"a": windows, "b": []}, overlaps=overlaps)
    with pytest.warns(sed.SedscopeWarning, match=r"windows of 3 s .* lies in two segments"):
        sed.evaluate(shifted, SONGS, segments)
    aligned = sed.Scores.from_events({"a": windows[::2], "b": []}, overlaps=overlaps)
    assert not sed.evaluate(aligned, SONGS, segments).warnings
    if overlaps == "keep":
        assert not sed.evaluate(shifted, SONGS, sed.AveragePrecision(sed.Window(1))).warnings
