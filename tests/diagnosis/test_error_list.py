"""Lists of errors: the events of every clip's diagnosis, windows by brute force, and what is written."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.data.clip_events import ClipEvents
from sedscope.diagnosis import diagnose_clip, list_errors

from ..support import oracle
from ..support.command_line import run
from ..support.files import write_files
from ..support.real_data import desed_scores, desed_truth
from ..support.strategies import (
    LABELS,
    EventCriterion,
    collar_criteria,
    criteria,
    dtypes,
    mixed_clip_lists,
    name,
    to_scores,
    to_truth,
)
from ..support.three_systems import refused

Row = tuple[float, float, str]
time = st.integers(0, 20)
spans = st.tuples(time, st.integers(1, 9), st.sampled_from(LABELS[:2])).map(
    lambda span: (span[0] / 1.0, (span[0] + span[1]) / 1.0, span[2])
)
windows = st.tuples(spans, st.sampled_from([0.1, 0.5, 0.5, 0.9])).map(lambda w: (*w[0], w[1]))


@settings(max_examples=200)
@given(st.data(), mixed_clip_lists, criteria() | collar_criteria(), dtypes)
def test_the_list_has_the_events_of_every_clip_with_their_highest_scores(
    data: st.DataObject, case: Sequence[oracle.Clip], criterion: EventCriterion, dtype: type
) -> None:
    scores, truth = to_scores(case, dtype), to_truth(case)
    levels = {label: [s for clip in case for s in clip.scores[label]] for label in LABELS}
    thresholds = {
        label: data.draw(st.sampled_from([*levels[label], 0.3, -1.0, 2.0])) for label in LABELS
    }
    thresholds = {label: at if at > -np.inf else -1.0 for label, at in thresholds.items()}
    expected = []
    for i, clip in enumerate(case):
        judged = diagnose_clip(
            *(scores[name(i)], truth.events(name(i)), criterion, thresholds),
            classes=LABELS,
            duration=clip.duration / 1e6,
        )
        false = [event for event in judged.detections if event.error_type not in ("true", "ignored")]
        missed = [event for event in judged.references if event.error_type != "found"]
        for side, events in (("detection", false), ("reference", missed)):
            for event in events:
                during = [
                    float(dtype(score))
                    for score, on, off in zip(
                        clip.scores[event.label], clip.edges, clip.edges[1:], strict=False
                    )
                    if on < round(event.offset * 1e6) and off > round(event.onset * 1e6)
                ]
                peak = max(during, default=-np.inf)
                key = (name(i), event.onset, event.offset, event.label, event.error_type, side)
                expected.append((*key, None if peak == -np.inf else peak))
    errors = list_errors(scores, truth, criterion, thresholds)
    assert Counter(
        (e.clip, e.onset, e.offset, e.label, e.error_type, e.side, e.score) for e in errors
    ) == Counter(expected)
    assert [e.score or -np.inf for e in errors if e.score != 0] == sorted(
        (e.score or -np.inf for e in errors if e.score != 0), reverse=True
    )
    in_time = list_errors(scores, truth, criterion, thresholds, order="time")
    assert [(e.clip, e.onset) for e in in_time] == sorted((e.clip, e.onset) for e in errors)
    for error in errors:
        if error.reference is not None:
            assert error.reference in truth.events(error.clip)
            assert (error.reference[2] == error.label) is (error.error_type != "cross_trigger")


def kept(system: sed.Scores, clip: str) -> ClipEvents:
    assert isinstance(system, sed.ScoredEvents)
    return system.open(clip)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.lists(windows, max_size=6), st.lists(spans, max_size=4)), min_size=1),
    st.integers(1, 5),
    st.sampled_from([0.05, 0.3, 0.5]),
)
def test_windows(
    case: list[tuple[list[tuple[float, float, str, float]], list[Row]]], enough: int, threshold: float
) -> None:
    truth = sed.GroundTruth.from_dict(
        {name(i): calls for i, (_, calls) in enumerate(case)},
        durations=dict.fromkeys(map(name, range(len(case))), 40),
        overlaps="keep",
    )
    system = sed.Scores.from_events(
        {name(i): detected for i, (detected, _) in enumerate(case)}, classes=LABELS, overlaps="keep"
    )

    def holds(window: Sequence[object], call: Row) -> bool:
        onset, offset = (float(str(window[k])) for k in (0, 1))
        return min(offset, call[1]) - max(onset, call[0]) >= min(enough, call[1] - call[0])

    expected: Counter[tuple[str, float, float, str, str, float | None]] = Counter()
    for i, (detected, calls) in enumerate(case):
        above = [window for window in detected if window[3] > threshold]
        for window in above:
            held = {call[2] for call in calls if holds(window, call)}
            if window[2] not in held:
                kind = "cross_trigger" if held else "background"
                expected[name(i), window[0], window[1], window[2], kind, window[3]] += 1
        for call in calls:
            if not any(holds(window, call) for window in above if window[2] == call[2]):
                over = [w[3] for w in detected if w[2] == call[2] and w[0] < call[1] and w[1] > call[0]]
                missed = (name(i), *call, "missed", max(over, default=None))
                expected[missed] += 1
    errors = list_errors(system, truth, sed.Window(enough), threshold)
    assert (
        Counter((e.clip, e.onset, e.offset, e.label, e.error_type, e.score) for e in errors) == expected
    )
    counts = sed.deltas(system, truth, sed.Window(enough)).counts()
    sides = Counter((error.label, error.side) for error in errors)
    for label in LABELS:
        tally = counts[label].tally_at(threshold)
        assert sides[label, "detection"] == tally.fp
        assert sides[label, "reference"] == tally.references - tally.tp
    for i, (_, calls) in enumerate(case):
        judged = diagnose_clip(
            kept(system, name(i)), calls, sed.Window(enough), threshold, classes=LABELS, duration=40
        )
        types = Counter(event.error_type for event in (*judged.detections, *judged.references))
        listed = Counter(error.error_type for error in errors if error.clip == name(i))
        assert {kind: types[kind] for kind in ("missed", "background", "cross_trigger")} == {
            kind: listed[kind] for kind in ("missed", "background", "cross_trigger")
        }


@settings(max_examples=100)
@given(st.lists(windows, max_size=8), st.sampled_from([0.05, 0.3, 0.5]))
def test_kept_events_have_their_own_scores(
    detected: list[tuple[float, float, str, float]], threshold: float
) -> None:
    truth = sed.GroundTruth.from_dict({"a": [(2, 6, "a"), (9, 12, "b")]}, durations={"a": 40})
    system = sed.Scores.from_events({"a": detected}, classes=LABELS, overlaps="keep")
    criterion = sed.Intersection(0.5, 0.5)
    errors = list_errors(system, truth, criterion, threshold)
    diagnosis = sed.diagnose(system, truth, criterion, threshold)
    numbers = Counter((e.label, e.side, e.error_type) for e in errors)
    for label in LABELS:
        of_class = diagnosis[label]
        for kind, number in of_class.detections.items():
            assert kind in ("true", "ignored") or numbers[label, "detection", kind] == number[0]
        for kind, number in of_class.references.items():
            assert kind == "found" or numbers[label, "reference", kind] == number[0]
    false = Counter((e.onset, e.offset, e.label, e.score) for e in errors if e.side == "detection")
    assert false <= Counter(window for window in detected if window[3] > threshold)
    judged = diagnose_clip(
        kept(system, "a"), truth.events("a"), criterion, threshold, classes=LABELS, duration=40
    )
    assert len(judged.detections) == sum(window[3] > threshold for window in detected)


def test_an_evaluation_of_desed(data: Path) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    errors = list_errors(scores, truth)
    diagnosis = sed.diagnose(scores, truth)
    numbers = Counter((e.label, e.error_type) for e in errors if e.side == "detection")
    for label, of_class in diagnosis.items():
        for kind, number in of_class.detections.items():
            assert kind in ("true", "ignored") or numbers[label, kind] == number[0]


def test_windows_refuse_what_counts_types() -> None:
    system = sed.Scores.from_events({"a": [(0, 3, "Song", 0.9)]}, overlaps="keep")
    with pytest.raises(sed.SedscopeError, match="list errors"):
        sed.diagnose(system, {"a": [(0, 3, "Song")]}, sed.Window(1), 0.5, durations={"a": 9})
    frames = sed.Scores.from_arrays({"a": [[0.9]]}, classes=["Song"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="read them with `overlaps='keep'`"):
        list_errors(frames, {"a": [(0, 1, "Song")]}, sed.Window(1), 0.5)
    with pytest.raises(sed.SedscopeError, match="judges single events"):
        list_errors(frames, {"a": [(0, 1, "Song")]}, sed.Segment(1), 0.5)


FILES = {
    "detected.tsv": "filename\tonset\toffset\tevent_label\tconfidence\n"
    "a.wav\t11.5\t14\tSiren\t0.9\na.wav\t50\t52\tSiren\t0.6\nb.wav\t1\t2\tBell\t0.6\n",
    "truth.tsv": "filename\tonset\toffset\tevent_label\na.wav\t10\t20\tSiren\nb.wav\t1\t2.2\tSiren\n",
    "durations.tsv": "filename\tduration\na.wav\t99\nb.wav\t10\n",
    "points.toml": "[thresholds]\nSiren = 0.5\n",
}


def test_files_for_other_programs(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    command = ("errors", tmp_path / "detected.tsv", tmp_path / "truth.tsv")
    options = ("--durations", tmp_path / "durations.tsv")
    outcome = run(*command, *options, "--threshold", 0.2, "-o", tmp_path / "errors.csv")
    assert outcome.code == 0, outcome.err
    assert "5 errors" in outcome.out
    rows = [*csv.DictReader((tmp_path / "errors.csv").read_text(encoding="utf-8").splitlines())]
    assert [(row["filename"], row["event_label"], row["error_type"], row["side"]) for row in rows] == [
        ("a", "Siren", "too_short", "reference"),
        ("a", "Siren", "too_short", "detection"),
        ("a", "Siren", "background", "detection"),
        ("b", "Bell", "cross_trigger", "detection"),
        ("b", "Siren", "missed", "reference"),
    ]
    assert rows[3]["reference_label"] == "Siren"
    assert not any(row["answer"] for row in rows)
    run(*command, *options, "--points", tmp_path / "points.toml", "-o", tmp_path / "raven")
    siren = "Siren [?] too_short of Siren 10.000000-20.000000"
    table = tmp_path / "raven" / "a.Table.1.selections.txt"
    assert table.read_text(encoding="utf-8").splitlines()[1].endswith(siren)
    run(*command, *options, "--threshold", 0.2, "-o", tmp_path / "labels.audacity")
    labels = (tmp_path / "labels.audacity" / "b.txt").read_text(encoding="utf-8").splitlines()
    assert labels[0] == "1.000000\t2.000000\tBell [?] cross_trigger of Siren 1.000000-2.200000"
    windows = ("--overlaps", "keep", "--criterion", "Window(min_overlap=1)", "--order", "time")
    outcome = run(*command, *options, *windows, "--threshold", 0.2)
    assert [line.split()[:2] for line in outcome.out.splitlines()[-5:-2]] == [
        ["a", "Siren"],
        *([["b", "Bell"], ["b", "Siren"]]),
    ]
    assert "either --points or" in refused(
        run(*command, "--points", tmp_path / "points.toml", "--threshold", 0.5)
    )
