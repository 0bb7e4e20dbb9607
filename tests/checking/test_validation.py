"""``validate``: reports everything that is wrong or odd at once, and where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.checking.findings import Finding

from ..support.command_line import run
from ..support.files import ARRAYS, DURATIONS, SCORES, TRUTH, Content, Files, table, write_files

EVENTS = "filename onset offset event_label"
HEADER = "onset offset Dog Cat"


def findings_by_kind(files: Files, *, durations: bool = True, **options: Any) -> dict[str, Finding]:
    """Validate files, and return the findings by their kind."""
    ends = files.durations if durations and files.durations.exists() else None
    overlaps, invalid = options.pop("overlaps", "error"), options.pop("invalid", "error")
    gaps = options.pop("gaps", "error")
    validation = sed.validate(
        files.scores,
        files.truth,
        system_reading=sed.SystemReading(gaps=gaps, overlaps=overlaps),
        truth_reading=sed.TruthReading(durations=ends, invalid=invalid, overlaps=overlaps),
        **options,
    )
    assert len({finding.kind for finding in validation.findings}) == len(validation.findings)
    return {finding.kind: finding for finding in validation.findings}


def test_a_set_without_fault(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    validation = sed.validate(
        files.scores, files.truth, truth_reading=sed.TruthReading(durations=files.durations)
    )
    assert validation.findings == ()
    assert validation.summary == {
        "listed clips": 2,
        "reference events": 2,
        "scored clips": 2,
        "frames": 8,
        "classes": ["Dog", "Cat"],
        "types": ["float64"],
        "evaluated clips": 2,
        "evaluated hours": 0.0022,
        "evaluated events": 2,
    }
    assert str(validation).startswith("found: 0 errors, 0 warnings\nlisted clips: 2\n")


CASES: dict[str, tuple[dict[str, Content], dict[str, tuple[str, list[str]]]]] = {
    "NaN": (
        {"scores/a.tsv": table(HEADER, "0 1 nan .1", "1 2 .1 nan", "2 4 .1 .1")},
        {
            "nan": (
                "error",
                [
                    "2 scores are not a number",
                    "a.tsv:2: the score of Dog is NaN",
                    "a.tsv:3: the score of Cat is NaN",
                ],
            )
        },
    ),
    "files that cannot be read": (
        {"scores/a.tsv": table(HEADER, "0 1 x .1"), "scores/b.tsv": "", "truth.tsv": TRUTH},
        {
            "unreadable": (
                "error",
                ["2 clips", "a.tsv:2: column Dog: 'x' is not a number", "b.tsv is empty"],
            )
        },
    ),
    "rows that are no events": (
        {"truth.tsv": table(EVENTS, "a 1 3 Dog", "b 0 x Cat", "b 0 1 ·", "b 0 1 Cat")},
        {
            "rows": (
                "error",
                [
                    "2 rows are not events",
                    "truth.tsv:3: onset '0', offset 'x'\n",
                    "truth.tsv:4: no label",
                ],
            )
        },
    ),
    "events of no length and overlaps": (
        {"truth.tsv": table(EVENTS, "a 1 1 Dog", "a 1 3 Dog", "a 2 4 Dog", "b 0 1 Cat")},
        {
            "points": ("warning", ["Onset(0.05)", "truth.tsv:2: a: Dog 1–1 s has no length"]),
            "overlaps": (
                "error",
                ["1 event overlaps", "truth.tsv:4: a: Dog 2–4 s overlaps another one"],
            ),
        },
    ),
    "references beyond the end": (
        {"truth.tsv": table(EVENTS, "a 1 3 Dog", "a 3 5 Dog", "b 0 1 Cat", "b 5 6 Cat")},
        {
            "events": ("error", ["truth.tsv:5: b: Cat 5–6 s begins at or after the end of its clip"]),
            "late-ends": ("warning", ["1 reference event ends after its clip does", "clip 'a'"]),
        },
    ),
    "references beyond the last score": (
        {"truth.tsv": table(EVENTS, "a 3 5.5 Dog", "b 0 4.5 Cat", "b 5 6 Cat"), "durations.tsv": None},
        {
            "no-durations": (
                "warning",
                ["2 clips have no stated duration, so sedscope assumes that each clip ends"],
            ),
            "late-events": ("error", ["1 reference event begins after the last score", "b: Cat 5–6 s"]),
            "late-ends": ("warning", ["1 reference event ends after the last score", "a: Dog 3–5.5 s"]),
        },
    ),
    "labels and classes": (
        {"truth.tsv": table(EVENTS, "a 1 3 dog", "b 0 1 Cow", "b 2 3 Cat")},
        {
            "labels": (
                "error",
                [
                    "2 labels of the ground truth are not among the classes of the scores",
                    "Cow",
                    "dog (did you mean Dog?)",
                ],
            ),
            "no-references": (
                "warning",
                ["1 class has no reference events", "so it is left out of averages", "Dog"],
            ),
        },
    ),
    "clips without scores": (
        {"truth.tsv": TRUTH + table("c · · ·"), "durations.tsv": DURATIONS + table("c 4")},
        {
            "clips-without-scores": (
                "error",
                ["1 of the 3 clips in the ground truth has no scores", "clips='scored'", "c"],
            )
        },
    ),
    "clips not listed": (
        {"scores/c.tsv": SCORES["a"].replace(".9", ".91")},
        {"clips-not-listed": ("error", ["1 clip has scores but is not in", "missing='empty'", "c"])},
    ),
    "other clips altogether": (
        {
            "truth.tsv": table(EVENTS, "x 1 3 Dog", "y 0 1 Cat"),
            "durations.tsv": table("filename duration", "x 4", "y 4"),
        },
        {
            "no-common-clip": ("error", ["No clip of the system is in", "system has a", "truth has x"]),
            "clips-not-listed": ("error", ["2 clips"]),
        },
    ),
    "identical clips": (
        {"scores/b.tsv": SCORES["a"]},
        {
            "identical": ("warning", ["2 clips have the same scores", "a = b"]),
            "constant": ("warning", ["Cat"]),
        },
    ),
    "constant classes": (
        {
            "scores/a.tsv": table(HEADER, "0 2 .1 .5", "2 4 .2 .5"),
            "scores/b.tsv": table(HEADER, "0 2 .3 .5", "2 4 .2 .5"),
        },
        {"constant": ("warning", ["1 class has the same score in every frame", "Cat"])},
    ),
    "classes never scored": (
        {
            "scores/a.tsv": table(HEADER, "0 2 .1 -inf", "2 4 .2 -inf"),
            "scores/b.tsv": table(HEADER, "0 2 .3 -inf", "2 4 .2 -inf"),
        },
        {"never-scored": ("warning", ["1 class has only scores of -inf", "Cat"])},
    ),
    "grids that differ": (
        {
            "scores/b.tsv": table(
                HEADER, "0 .5 .1 .2", ".5 1 .3 .2", "1 3 .3 .2", "3 3.5 .3 .2", "3.5 4 0 0"
            )
        },
        {
            "grids": (
                "warning",
                ["frames of different lengths", "1000 ms in 1 clip (a)", "500 ms in 1 clip"],
            )
        },
    ),
    "scores that end early": (
        {"durations.tsv": table("filename duration", "a 10", "b 4.5")},
        {
            "ends": (
                "warning",
                ["The scores of 1 clip cover less than 90 % of the clip", "a (0–4 s of 10 s)"],
            )
        },
    ),
    "a table without rows": (
        {
            "scores/b.tsv": table(HEADER),
            "durations.tsv": None,
            "truth.tsv": table(EVENTS, "a 1 3 Dog", "b · · ·"),
        },
        {
            "unreadable": ("error", ["b.tsv: the score table has no rows"]),
            "no-references": ("warning", ["Cat"]),
            "constant": ("warning", ["Cat"]),
            "no-durations": ("warning", ["1 clip has no stated duration"]),
        },
    ),
    "milliseconds": (
        {"truth.tsv": table(EVENTS, "a 1000 3000 Dog", "b 10.5 1000.5 Cat")},
        {
            "unit": ("warning", ["2 of 2 events lie far beyond", "look like milliseconds"]),
            "events": (
                "error",
                ["truth.tsv:2: a: Dog 1000–3000 s begins at or after the end of its clip"],
            ),
        },
    ),
    "a missing file of scores": (
        {"scores/a.tsv": None, "scores/b.tsv": None},
        {"scores": ("error", ["scores"])},
    ),
    "bad durations": (
        {"durations.tsv": table("filename duration", "a ten", "b 4")},
        {"durations": ("error", ["durations.tsv:2: column duration: 'ten' is not a number"])},
    ),
    "durations of other clips": (
        {"durations.tsv": table("filename duration", "x 4")},
        {"ground-truth": ("error", ["2 clips have no duration", "a, b"])},
    ),
    "no ground truth": ({"truth.tsv": "\0"}, {"ground-truth": ("error", ["truth.tsv"])}),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_findings(
    changes: dict[str, Content], expected: dict[str, tuple[str, list[str]]], tmp_path: Path
) -> None:
    findings = findings_by_kind(write_files(tmp_path, changes))
    assert set(findings) == set(expected)
    for kind, (severity, phrases) in expected.items():
        assert findings[kind].severity == severity
        for phrase in phrases:
            assert phrase in str(findings[kind])


def test_onsets_that_look_like_frames(tmp_path: Path) -> None:
    #   a, b: 200 frames of 20 ms; events at frames 50–150 and 0–50
    rng = np.random.default_rng(0)
    scores = sed.Scores.from_arrays(
        {clip: rng.random((200, 2)) for clip in "ab"}, classes=["Dog", "Cat"], frame=0.02
    )
    truth = tmp_path / "truth.tsv"
    truth.write_text(table(EVENTS, "a 50 150 Dog", "b 0 50 Cat"))
    findings = {finding.kind: finding for finding in sed.validate(scores, truth).findings}
    assert "look like frame numbers" in findings["unit"].what


def test_options_make_warnings_of_errors(tmp_path: Path) -> None:
    rows = [EVENTS, "a 1 0 Dog", "a 1 3 Dog", "a 2 4 Dog", "b 0 1 Cat", "b 2 3 Cow"]
    files = write_files(tmp_path, {"truth.tsv": table(*rows), "scores/c.tsv": SCORES["a"]})
    strict = findings_by_kind(files)
    kinds = {"events", "overlaps", "labels", "clips-not-listed"}
    assert {kind for kind, finding in strict.items() if finding.severity == "error"} == kinds
    lenient = findings_by_kind(
        files, invalid="drop", overlaps="merge", missing="empty", classes=["Dog", "Cat"]
    )
    assert kinds <= set(lenient)
    assert not [finding for finding in lenient.values() if finding.severity == "error"]
    assert findings_by_kind(files, classes=["Emu"])["classes"].severity == "error"
    chosen = sed.validate(
        files.scores,
        files.truth,
        truth_reading=sed.TruthReading(invalid="drop", overlaps="merge"),
        system_reading=sed.SystemReading(overlaps="merge"),
        classes=["Cat"],
        missing="empty",
    )
    assert chosen.summary["evaluated clips"] == 3
    assert chosen.summary["evaluated events"] == 1


def test_objects_in_memory() -> None:
    values = np.array(ARRAYS["a"], np.float32)
    scores = sed.Scores.from_arrays(
        {"a": values, "b": values.astype(np.float64)}, classes=["Dog", "Cat"], frame=1.0
    )
    truth = sed.GroundTruth.from_dict(
        {"a": [(1, 5, "Dog")], "b": [(0, 1, "Cat")]}, durations={"a": 4, "b": 4}
    )
    validation = sed.validate(scores, truth)
    kinds = [finding.kind for finding in validation.warnings]
    assert kinds == ["ground-truth", "constant", "types"]
    assert validation.errors == ()


def test_advice_follows_what_it_is_about() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1], [0.9]]}, classes=["Dogs"], frame=1.0)
    truth = sed.GroundTruth.from_dict(
        {"a": [(0, 1, "Dog")], "b": [(1, 2, "Dogs")]}, durations={"a": 2, "b": 2}
    )
    clips, labels = map(str, sed.validate(scores, truth).errors)
    assert clips == (
        "error: 1 of the 2 clips in the ground truth has no scores: b. Evaluate the others with "
        "`clips='scored'`."
    )
    assert (
        "not among the classes of the scores: Dog (did you mean Dogs?). The scores have Dogs." in labels
    )
    assert sed.validate(scores, truth).to_dict()["findings"][0]["advice"].startswith("Evaluate the")


def test_clips_without_frames() -> None:
    arrays: dict[str, Any] = {"a": [[0.1], [0.9]], "b": np.empty((0, 1))}
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")], "b": []})
    findings = {finding.kind: str(finding) for finding in sed.validate(scores, truth).findings}
    assert "1 clip has no frames: b" in findings["no-frames"]


def test_objects_have_their_own_durations() -> None:
    scores = sed.Scores.from_arrays({"a-0": [[0.1], [0.2]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    assert sed.validate(scores, truth, system_reading=sed.SystemReading(stitch=None)).findings == ()
    with pytest.raises(
        sed.SedscopeError, match="in memory, so durations of truth_reading= cannot be used"
    ):
        sed.validate(scores, truth, truth_reading=sed.TruthReading(durations={"a": 2}))


def test_ground_truth_without_events(tmp_path: Path) -> None:
    changes = {
        "truth.tsv": table(EVENTS, "a · · ·", "b · · ·"),
        "events.tsv": table(EVENTS, "a 1 3 Dog"),
    }
    files = write_files(tmp_path, changes)
    validation = sed.validate(
        files.folder / "events.tsv",
        files.truth,
        truth_reading=sed.TruthReading(durations=files.durations),
    )
    assert [finding.kind for finding in validation.findings] == ["no-references", "silent"]
    assert validation.summary["evaluated clips"] == 2


def test_lists_of_detections(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"events.tsv": table(EVENTS, "a 1 3 Dog", "b 0 1 Cat")})
    validation = sed.validate(
        files.folder / "events.tsv",
        files.truth,
        truth_reading=sed.TruthReading(durations=files.durations),
    )
    assert validation.findings == ()
    assert validation.summary["evaluated clips"] == 2


def test_validate_on_the_command_line(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, "a 1 0 Dog", "a 1 3 Dog", "b 0 1 Cat")})
    outcome = run("validate", files.scores, files.truth, "--durations", files.durations)
    assert (outcome.code, outcome.err) == (1, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[1] == f"{files.truth}:2: a: Dog 1–0 s has no positive length"
    assert "found: 1 error, 0 warnings" in lines
    arguments = ["--durations", files.durations, "--invalid", "drop"]
    outcome = run("validate", files.scores, files.truth, *arguments)
    assert outcome.code == 0
    assert outcome.out.startswith("warning: ")
    outcome = run("validate", files.scores, files.truth, *arguments, "--json", "-")
    result = json.loads(outcome.out)
    assert (result["errors"], result["warnings"]) == (0, 1)
    assert result["findings"][0]["kind"] == "events"
    assert result["summary"]["evaluated clips"] == 2
    run("validate", files.scores, files.truth, *arguments, "--json", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == result


def test_errors_come_first(tmp_path: Path) -> None:
    changes = {"truth.tsv": table(EVENTS, "a 1 3 dog", "b 0 1 Cat"), "scores/b.tsv": SCORES["a"]}
    files = write_files(tmp_path, changes)
    validation = sed.validate(
        files.scores, files.truth, truth_reading=sed.TruthReading(durations=files.durations)
    )
    severities = [finding.severity for finding in validation.findings]
    assert severities == sorted(severities)
    assert set(severities) == {"error", "warning"}


def test_the_excerpt_lists_more_clips_than_have_scores(data: Path) -> None:
    folder = data / "dcase2023_excerpt"
    validation = sed.validate(
        folder / "scores",
        folder / "ground_truth.tsv",
        truth_reading=sed.TruthReading(durations=folder / "audio_durations.tsv"),
        clips="scored",
    )
    assert validation.errors == ()
    [warning] = validation.warnings
    number = "672 of the 692 clips in the ground truth"
    assert warning.what == f"{number} have no scores and were left out"
    assert len(warning.where) == 672
    assert validation.summary["evaluated clips"] == 20
    assert validation.summary["listed clips"] == 692


def test_the_validation_set(data: Path) -> None:
    from ..support.real_data import desed_scores

    folder = data / "desed_validation"
    validation = sed.validate(
        desed_scores(data),
        folder / "ground_truth.tsv",
        truth_reading=sed.TruthReading(durations=folder / "durations.tsv", overlaps="merge"),
        system_reading=sed.SystemReading(overlaps="merge"),
    )
    assert validation.errors == ()
    assert validation.summary["evaluated clips"] == 1168


LOCATED: dict[str, tuple[dict[str, Content], list[str]]] = {
    "gap": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "2 3 .1 .2", "3 4 .1 .1")},
        ["scores/a.tsv:3: there is a gap before this frame (1–2 s)"],
    ),
    "overlap": (
        {"scores/a.tsv": table(HEADER, "0 2 .1 .1", "1 3 .1 .2", "3 4 .1 .1")},
        ["scores/a.tsv:3: the frame (1–3 s) overlaps the frame before it"],
    ),
    "order": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "2 3 .1 .2", "1 2 .1 .1")},
        ["scores/a.tsv:4: the frame (1–2 s) is not in order of time"],
    ),
    "swapped times": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "2 1 .1 .2", "2 4 .1 .1")},
        ["scores/a.tsv:3: the frame (2–1 s) ends before it begins or has no length"],
    ),
    "infinite time": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "1 inf .1 .2")},
        ["scores/a.tsv:3: the frame has the time inf s"],
    ),
    "cells": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "1 2 .1", "2 4 .1 .1")},
        ["scores/a.tsv:3: the row has 3 cells instead of 4"],
    ),
    "text": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1").encode() + b"1\t2\t\xff\t.1\n"},
        ["scores/a.tsv:3: the line is not UTF-8 text"],
    ),
    "NaN after a blank line": (
        {"scores/a.tsv": table(HEADER, "0 1 .1 .1") + "\n" + table("1 2 nan .2", "2 4 .1 .1")},
        ["scores/a.tsv:4: the score of Dog is NaN"],
    ),
    "no last line break": (
        {"scores/b.tsv": SCORES["b"][:-1]},
        ["scores/b.tsv:5: this line, the last one, does not end with a line break"],
    ),
    "durations of zero and NaN": (
        {"durations.tsv": table("filename duration", "a 0", "b nan")},
        [
            "durations.tsv:2: a: a duration must be a number of seconds above zero, not 0",
            "durations.tsv:3: b: a duration must be a number of seconds above zero, not nan",
        ],
    ),
    "durations twice": (
        {"durations.tsv": table("filename duration", "a 4", "b 4", "a 5")},
        ["durations.tsv:4: a is in line 2 as well"],
    ),
}


@pytest.mark.parametrize(("changes", "lines"), LOCATED.values(), ids=LOCATED)
def test_rows_are_named_by_file_and_line(
    changes: dict[str, Content], lines: list[str], tmp_path: Path
) -> None:
    files = write_files(tmp_path, changes)
    outcome = run("validate", files.scores, files.truth, "--durations", files.durations)
    assert outcome.code == 1
    for line in lines:
        assert f"\n{tmp_path}/{line}" in outcome.out


def test_lines_of_scores_with_silent_gaps(tmp_path: Path) -> None:
    changes = {"scores/a.tsv": table(HEADER, "0 1 .1 .1", "2 3 .1 nan", "3 4 .1 .1")}
    finding = findings_by_kind(write_files(tmp_path, changes), gaps="silent")["nan"]
    assert finding.where == (f"{tmp_path}/scores/a.tsv:3: the score of Cat is NaN",)


def test_all_bad_rows_of_detections(tmp_path: Path) -> None:
    rows = ["a x 1 Dog", "a 1 3 Dog", "a 2 4 Dog", "b 0 Cat", "b 3 2 Cat", "b 0 1 Cat"]
    files = write_files(tmp_path, {"events.tsv": table(EVENTS, *rows)})
    outcome = run("validate", files.folder / "events.tsv", files.truth, "--durations", files.durations)
    lines = outcome.out.splitlines()
    where = f"{files.folder}/events.tsv"
    assert f"error: {where}: 3 rows are not events:" in lines
    assert f"{where}:2: onset 'x', offset '1'" in lines
    assert f"{where}:5: the row has 3 cells instead of 4" in lines
    assert f"{where}:6: (3.0, 2.0, 'Cat') ends before it begins" in lines
    assert f"{where}:4: a: Dog 2–4 s overlaps another one" in lines
    assert "found: 2 errors, 0 warnings" in lines
    assert "evaluated clips: 2" in lines
    outcome = run("evaluate", files.folder / "events.tsv", files.truth)
    assert outcome.code == 2
    assert f"error: {where}: " in outcome.err


def test_many_problems_are_grouped_by_kind(tmp_path: Path) -> None:
    commas = [f"a 0,{i} 1 Dog" for i in range(300)]
    swapped = [f"b {i + 2} {i + 1} Cat" for i in range(20)]
    nameless = ["a 1 2 ·", "b 1 2 ·"]
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, *commas, *nameless, *swapped)})
    outcome = run("validate", files.truth)
    assert [line.removeprefix(f"{files.truth}:") for line in outcome.out.splitlines()[1:6]] == [
        "2: onset '0,0' (write decimals with a point), offset '1' (and 299 more like this)",
        "302: no label",
        "303: no label",
        f"error: {files.truth}: 20 events have no positive length, or begin before or after the clip. 20 of "
        "them end before they begin: are onset and offset swapped? Correct them, or leave them out with "
        "--invalid drop:",
        "304: b: Cat 2–1 s has no positive length (and 19 more like this)",
    ]
    findings = json.loads(run("validate", files.truth, "--json", "-").out)["findings"]
    assert [len(finding["where"]) for finding in findings if finding["severity"] == "error"] == [302, 20]
    error = run("evaluate", files.scores, files.truth).err
    assert "offset '1' (and 299 more like this), " in error
    assert error.count("no label") == 2


def test_many_unreadable_clips_are_grouped_by_kind(tmp_path: Path) -> None:
    clips = {f"scores/{i}.tsv": table(HEADER, "0 1 .1 x", "1 2 x .1") for i in range(40)}
    files = write_files(tmp_path, clips)
    missing = ("--missing", "empty", "--clips", "scored")
    error = run("evaluate", files.scores, files.truth, *missing).err
    assert error.count("are not numbers: line ") == 1
    assert error.count("column Cat: 'x'") == 1
    assert error.rstrip().endswith("more like this).")


def test_many_empty_files_are_one_problem(tmp_path: Path) -> None:
    clips = dict.fromkeys((f"scores/{i}.tsv" for i in range(9)), "")
    files = write_files(tmp_path, {**clips, "scores/whole.tsv": table(HEADER, "0 1 .1 .2")})
    _, line = str(findings_by_kind(files)["scores"]).splitlines()
    assert line.endswith("0.tsv is empty (and 8 more like this).")


def test_warnings_of_reading_are_findings(tmp_path: Path) -> None:
    changes: dict[str, Content] = {f"scores/{clip}.tsv": text[:-1] for clip, text in SCORES.items()}
    files = write_files(tmp_path, changes)
    outcome = run("validate", files.scores, files.truth, "--durations", files.durations)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"warning: {files.scores}/a.tsv does not end with a line break")
    assert "found: 0 errors, 1 warning" in outcome.out


def test_labels_of_reference_events_that_are_spelled_alike(tmp_path: Path) -> None:
    files = write_files(tmp_path, {"truth.tsv": table(EVENTS, "a 1 3 Dog", "b 0 1 dog")})
    validation = sed.validate(truth=files.truth)
    assert [finding.kind for finding in validation.findings] == ["spelling"]
    assert "Dog and dog" in str(validation)


def test_options_in_use_are_not_advised(tmp_path: Path) -> None:
    rows = [EVENTS, "a 1 1 Dog", "a 1 3 Dog", "a 2 4 Dog", "b 0 1 Cat", "d 0 1 Cat"]
    changes = {"truth.tsv": table(*rows), "scores/c.tsv": SCORES["a"], "durations.tsv": None}
    files = write_files(tmp_path, changes)
    options = {"--invalid": "drop", "--overlaps": "merge", "--missing": "empty", "--clips": "scored"}
    before = run("validate", files.scores, files.truth).out
    assert [f"{name} {value}" in before for name, value in options.items()] == [True] * 4
    after = run(
        "validate", files.scores, files.truth, *(part for pair in options.items() for part in pair)
    )
    assert after.code == 0
    assert not [name for name in options if name in after.out]
