"""Suspected annotation errors: evidence by a slow computation, several systems, and planted errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from benchmarks.annotation_errors import plant, precision
from sedscope.diagnosis import apply_corrections, list_errors, read_corrections, suspected_annotations

from ..support.command_line import run
from ..support.real_data import desed_scores, desed_truth
from ..support.three_systems import refused

CLASSES = ("a", "b")
Frames = list[list[float]]
Event = tuple[float, float, str]


def odds_of(clips: dict[str, Frames], events: dict[str, list[Event]]) -> dict[str, Frames]:
    """Log odds of each frame of a second, by scikit-learn's isotonic regression."""
    isotonic = pytest.importorskip("sklearn.isotonic").IsotonicRegression
    odds: dict[str, Frames] = {clip: [[0.0] * 2 for _ in frames] for clip, frames in clips.items()}
    for c, label in enumerate(CLASSES):
        x = [frame[c] for frames in clips.values() for frame in frames]
        y = [
            any(e[2] == label and e[0] <= i < e[1] for e in events[clip])
            for clip, frames in clips.items()
            for i in range(len(frames))
        ]
        shares = iter(isotonic(out_of_bounds="clip").fit(x, y).predict(x))
        for of_clip in odds.values():
            for frame in of_clip:
                share = float(next(shares))
                raw = math.log(share / (1 - share)) if 0 < share < 1 else math.inf * (share - 0.5)
                frame[c] = min(6.9, max(-6.9, raw))
    return odds


def evidence_of(odds: Frames, events: list[Event]) -> dict[tuple[Any, ...], float]:
    """All suspicions of a clip: kind, proposed event and reference, with their evidence."""
    found: dict[tuple[Any, ...], float] = {}
    n = len(odds)
    proposals = []
    for c, label in enumerate(CLASSES):
        for i in range(n):
            for j in range(i + 1, n + 1):
                inside = all(odds[k][c] > 0 for k in range(i, j))
                if inside and (i == 0 or odds[i - 1][c] <= 0) and (j == n or odds[j][c] <= 0):
                    proposals.append((i, j, label))
    for i, j, label in proposals:
        c = CLASSES.index(label)
        if not any(e[2] == label and e[0] < j and e[1] > i for e in events):
            mean = sum(odds[k][c] for k in range(i, j)) / (j - i)
            found["overlooked", (i, j, label), None] = mean
    for event in events:
        on, off, own = int(event[0]), int(event[1]), CLASSES.index(event[2])
        means = [sum(odds[k][c] for k in range(on, off)) / (off - on) for c in (0, 1)]
        other = CLASSES[1 - own]
        covered = any(e[2] == other and e[0] < off and e[1] > on for e in events)
        if means[own] < 0 < means[1 - own] and not covered:
            found["swapped", (on, off, other), event] = means[1 - own] - means[own]
        for i, j, label in proposals:
            others = [e for e in events if e != event and e[2] == label]
            gap = max(on, i) - min(off, j)
            if label != event[2] or gap > max(off - on, j - i):
                continue
            if any(min(e[1], j) > max(e[0], i) for e in others):
                continue
            before, after = {*range(on, off)}, {*range(i, j)}
            gains = [odds[k][own] for k in after - before] + [-odds[k][own] for k in before - after]
            if gains:
                shared = len(before & after) / len(before | after)
                shape = min(off - on, j - i) / max(off - on, j - i)
                gain = sum(gains) / len(gains) * (1 - shared) * shape
                if gain > 0:
                    found["misplaced", (i, j, label), event] = gain
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Frames], dict[str, list[Event]]]:
    clips: dict[str, Frames] = {}
    events: dict[str, list[Event]] = {}
    for k in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 9))
        score = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])
        clips[f"clip{k}"] = draw(
            st.lists(st.lists(score, min_size=2, max_size=2), min_size=n, max_size=n)
        )
        of_clip: list[Event] = []
        for label in CLASSES:
            bounds = draw(st.lists(st.integers(0, n), max_size=4, unique=True).map(sorted))
            of_clip += [
                (float(on), float(off), label)
                for on, off in zip(bounds[::2], bounds[1::2], strict=False)
            ]
        events[f"clip{k}"] = of_clip
    return clips, events


@settings(max_examples=300, deadline=None)
@given(cases())
def test_evidence_and_turns(case: tuple[dict[str, Frames], dict[str, list[Event]]]) -> None:
    clips, events = case
    scores = sed.Scores.from_arrays(clips, classes=CLASSES, frame=1.0)
    truth = sed.GroundTruth.from_dict(
        events, durations={clip: len(frames) for clip, frames in clips.items()}
    )
    listed = suspected_annotations(scores, truth, classes=CLASSES)
    odds = odds_of(clips, events)
    expected = {
        (clip, *key): value
        for clip in clips
        for key, value in evidence_of(odds[clip], events[clip]).items()
    }
    rows = [
        (e.clip, e.error_type, (e.onset, e.offset, e.label), e.reference, e.score or 0.0) for e in listed
    ]
    for *key, evidence in rows:
        assert expected[tuple(key)] == pytest.approx(evidence, abs=1e-9)
    left = dict(expected)
    for clip, kind, event, reference, evidence in rows:
        best = max(value for (_, of_kind, *_), value in left.items() if of_kind == kind)
        assert evidence == pytest.approx(best, abs=1e-9)  # none that is left is more suspicious
        for key in [*left]:
            same_reference = reference is not None and (key[0], key[3]) == (clip, reference)
            shares = key[0] == clip and key[2][2] == event[2]
            if same_reference or (shares and min(key[2][1], event[1]) > max(key[2][0], event[0])):
                del left[key]
    assert not left
    kinds = [row[1] for row in rows]
    for kind in ("overlooked", "swapped", "misplaced"):
        own = [row[4] for row in rows if row[1] == kind]
        assert own == sorted(own, reverse=True)
        assert kinds.count(kind) == len(own)


def test_several_systems_count_alike() -> None:
    truth = sed.simulate.ground_truth(30, classes=3, seed=2)
    changed, _ = plant(truth, 0)
    good, bad = (sed.simulate.scores(truth, quality=quality, seed=4) for quality in (0.9, 0.5))
    once = suspected_annotations(good, changed)
    assert [*suspected_annotations([good, good], changed)] == [*once]
    both = suspected_annotations([good, bad], changed)
    assert [*both] == [*suspected_annotations([bad, good], changed)]
    assert [*both] != [*once]
    coarse = sed.simulate.scores(truth, quality=0.9, frame=0.25, seed=4)
    assert len(suspected_annotations([good, coarse], changed))
    with pytest.raises(sed.SedscopeError, match="at least one"):
        suspected_annotations([], changed)


def test_kept_windows_and_ignored_references() -> None:
    windows = {
        f"clip{k}": [(0.0, 3.0, "Song", 0.2), (3.0, 6.0, "Song", 0.9), (4.5, 7.5, "Song", 0.8)]
        for k in range(9)
    }
    events = {clip: [(3.0, 7.5, "Song")] for clip in windows} | {"clip4": [], "clip6": []}
    truth = sed.GroundTruth.from_dict(
        events, durations=dict.fromkeys(windows, 12), ignored={"clip6": [(2, 5, "Song")]}
    )
    system = sed.Scores.from_events(windows, overlaps="keep")
    listed = suspected_annotations(system, truth)
    assert [(e.error_type, e.clip, e.onset, e.offset, e.label) for e in listed] == [
        ("overlooked", "clip4", 3.0, 7.5, "Song")
    ]


def test_planted_errors_come_first(data: Path) -> None:
    scores, truth = desed_scores(data), desed_truth(data)
    changed, planted = plant(truth, 1)
    listed = suspected_annotations(scores, changed)
    errors = list_errors(scores, changed, sed.Intersection(0.5, 0.5))
    false = [error for error in errors if error.side == "detection"]
    assert precision(listed.errors[:100], planted) > 0.1 + precision(false[:100], planted)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    truth = sed.simulate.ground_truth(60, classes=3, seed=2)
    changed, _ = plant(truth, 0)
    sed.write_ground_truth(changed, "truth.tsv")
    for name, quality in (("good.npz", 0.9), ("bad.npz", 0.6)):
        sed.write_scores(sed.simulate.scores(truth, quality=quality, frame=0.1), name)
    lengths = "".join(f"{clip}\t10\n" for clip in truth.clips)
    Path("durations.tsv").write_text(f"filename\tduration\n{lengths}", encoding="utf-8")
    command = ("errors", "good.npz", "truth.tsv", "--durations", "durations.tsv")
    outcome = run(*command, "--suspected", "--also", "bad.npz", "-o", "suspected.csv", "--json", "-")
    assert outcome.code == 0, outcome.err
    rows = json.loads(outcome.out)["rows"]
    systems = [sed.read_scores(name) for name in ("good.npz", "bad.npz")]
    read = sed.read_ground_truth("truth.tsv", durations="durations.tsv")
    expected = suspected_annotations(systems, read)
    assert [(row["filename"], row["onset"], row["error_type"]) for row in rows] == [
        (error.clip, error.onset, error.error_type) for error in expected
    ]
    text = Path("suspected.csv").read_text(encoding="utf-8").splitlines()
    swapped = next(i for i, line in enumerate(text) if ",swapped," in line)
    cells = text[swapped].split(",")
    cells[text[0].split(",").index("answer")] = "replace"
    Path("suspected.csv").write_text("\n".join([text[0], ",".join(cells)]), encoding="utf-8")
    (change,) = apply_corrections(read, read_corrections("suspected.csv")).changes
    assert change.event[2] == cells[3] != (change.reference or change.event)[2]
    ordered = run(*command, "--order", "suspicion", "--threshold", "0.5", "--json", "-")
    errors = list_errors(systems[0], read, sed.Collar(), 0.5)
    suspects = suspected_annotations(systems[0], read)
    first = json.loads(ordered.out)["rows"]
    assert len(first) == len(errors)
    assert [(row["filename"], row["onset"], row["side"]) for row in first] == [
        (error.clip, error.onset, error.side) for error in errors.most_suspicious_first(suspects)
    ]
    named = {(error.clip, error.reference) for error in suspects}
    assert (first[0]["filename"], first[0]["reference_onset"]) in {
        (clip, reference and reference[0]) for clip, reference in named
    }
    assert "give --suspected" in refused(run(*command, "--also", "bad.npz", "--threshold", "0.5"))
    assert "leave out --points" in refused(run(*command, "--suspected", "--threshold", "0.5"))
