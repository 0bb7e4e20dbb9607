"""What invalid files get: a message that says where, exit code 2, and nothing written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sedscope as sed

from ..support.command_line import run
from ..support.files import DURATIONS, SCORES, TRUTH, Content, table, write_files
from ..support.refusals import assert_refused

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

HEADER = "onset offset Dog Cat"
EVENTS = "filename onset offset event_label"
A, B = "scores/a.tsv", "scores/b.tsv"
JUNK = bytes(range(128, 256)) * 8
PSDS = sed.PSDS(sed.Intersection(0.7, 0.7))


BAD_SCORES: dict[str, tuple[dict[str, Content], list[str]]] = {
    "NaN": (
        {
            A: table(HEADER, "0 1 .1 .1", "1 2 nan .1"),
            B: table(HEADER, "0 1 .1 .1", "1 2 .1 .1", "2 4 NaN NaN"),
        },
        ["3 scores", "clip a, class Dog, frame 1", "clip b, class Dog, frame 2", "class Cat, frame 2"],
    ),
    "rows of unequal length": (
        {A: table(HEADER, "0 1 .1 .1", "1 2 .1"), B: table(HEADER, "0 1 .1 .1 .1", "1 2 .1 .1", "2 3")},
        ["a.tsv", "line 3 has 3 cells", "b.tsv", "line 2 has 5 cells", "line 4 has 2 cells"],
    ),
    "cells that are no numbers": (
        {A: table(HEADER, "0 1 loud .1", "1 2 .1 0,5"), B: table(HEADER, "0 1 · 0x1")},
        [
            *("a.tsv", "line 2, column Dog: 'loud'", "line 3, column Cat: '0,5'"),
            *("b.tsv", "line 2, column Dog: ''", "line 2, column Cat: '0x1'"),
        ],
    ),
    "digits with an underscore": (
        {A: table(HEADER, "0 1 1_0 .1")},
        ["a.tsv", "line 2, column Dog: '1_0'"],
    ),
    "overlapping frames": (
        {A: table(HEADER, "0 1 .1 .1", "0.5 2 .1 .1", "1.9 3 .1 .1")},
        ["a.tsv", "2 frames", "overlap", "line 3 (0.5–2 s)", "line 4 (1.9–3 s)"],
    ),
    "unsorted frames": (
        {A: table(HEADER, "1 2 .1 .1", "0 1 .1 .1"), B: table(HEADER, "2 3 .1 .1", "0 1 .1 .1")},
        ["a.tsv", "b.tsv", "not in order of time", "line 3 (0–1 s)"],
    ),
    "frames of no length or a negative one": (
        {A: table(HEADER, "1 1 .1 .1", "3 2 .1 .1")},
        ["a.tsv", "2 frames", "line 2 (1–1 s)", "line 3 (3–2 s)"],
    ),
    "frame times that are no times": (
        {A: table(HEADER, "0 1 .1 .1", "1 nan .1 .1", "2 inf .1 .1")},
        ["a.tsv", "line 3", "line 4"],
    ),
    "an empty onset": ({A: table(HEADER, "· 1 .1 .1")}, ["a.tsv", "line 2, column onset: ''"]),
    "other classes": (
        {B: SCORES["b"].replace("Cat", "Cow")},
        ["b.tsv", "the classes differ", "Cat", "Cow"],
    ),
    "a class less, a class more": (
        {
            B: table("onset offset Dog", "0 1 .1"),
            "scores/c.tsv": table(f"{HEADER} Cow", "0 1 .1 .1 .1"),
            "truth.tsv": TRUTH + table("c · · ·"),
            "durations.tsv": DURATIONS + table("c 4"),
        },
        ["b.tsv", "Cat", "c.tsv", "Cow"],
    ),
    "a class named twice": ({A: table("onset offset Dog Dog", "0 1 .1 .1")}, ["a.tsv", "twice: Dog"]),
    "a class without a name": (
        {A: table("onset offset Dog Cat ·", "0 1 .1 .1 .1"), B: table(f"{HEADER} ·", "0 1 1 1 1")},
        ["a.tsv"],
    ),
    "a class without a name in another file": ({B: table(f"{HEADER} ·", "0 1 1 1 1")}, ["b.tsv", "''"]),
    "a class named onset": ({A: table("onset offset onset", "0 1 .1")}, ["a.tsv", "twice: onset"]),
    "no class": ({A: table("onset offset", "0 1")}, ["a.tsv", "onset, offset and one per class"]),
    "no header": ({B: table("0 1 .1 .2")}, ["b.tsv", "this one has '0', '1', '.1', '.2'"]),
    "commas for tabs": (
        {A: SCORES["a"].replace("\t", ",")},
        ["a.tsv", "this one has 'onset,offset,Dog,Cat'"],
    ),
    "an index column": ({A: table(f"· {HEADER}", "0 0 1 .1 .1")}, ["a.tsv", "this one has '', 'onset'"]),
    "empty files": ({A: "", B: "\n \n"}, ["a.tsv is empty", "b.tsv is empty"]),
    "an empty file among others": ({B: ""}, ["b.tsv is empty"]),
    "binary junk": ({A: JUNK}, ["a.tsv", "line 1 is not UTF-8"]),
    "binary junk in the middle": ({B: SCORES["b"].encode() + JUNK}, ["b.tsv", "line 6 is not UTF-8"]),
    "UTF-16": ({A: SCORES["a"].encode("utf-16")}, ["a.tsv", "line 1 is not UTF-8"]),
    "one endless line": ({A: "x" * 200_000}, ["a.tsv"]),
    "an endless cell": ({A: SCORES["a"] + "x" * 200_000}, ["a.tsv"]),
    "NUL bytes": ({A: SCORES["a"] + table("4 5 \0 .1")}, ["a.tsv", "line 6"]),
    "cut in the middle of a row": ({B: SCORES["b"][:-4]}, ["b.tsv", "line 5 has 3 cells"]),
    "cut before a cell": ({B: SCORES["b"][:-3]}, ["b.tsv", "line 5, column Cat: ''"]),
    "an open quote": ({A: table(HEADER, "0 1 .1 .1", '1 2 ".1 .1')}, ["a.tsv", "line 3"]),
    "a cell below blank lines": (
        {A: "\n".join([HEADER.replace(" ", "\t"), "", "", "0\t1\tloud\t.1"])},
        ["a.tsv", "line 4, column Dog: 'loud'"],
    ),
    "one clip twice": ({"scores/a.wav.tsv": SCORES["a"]}, ["duplicate clip", "'a' and 'a.wav'"]),
    "a clip without a name": ({"scores/.wav.tsv": SCORES["a"]}, ["'.wav' is not the name of a clip"]),
}


@pytest.mark.parametrize(("changes", "message"), BAD_SCORES.values(), ids=BAD_SCORES)
def test_bad_scores(changes: Mapping[str, Content], message: list[str], tmp_path: Path) -> None:
    assert_refused(write_files(tmp_path, changes), message)


BAD_TRUTH: dict[str, tuple[str | bytes, list[str]]] = {
    "times that are no times": (
        table(EVENTS, "a 0 x Dog", "a nan 3 Dog", "b 0 inf Cat", "b 1,5 2 Cat", "b · 2 Cat"),
        ["5 rows", "truth.tsv line 2", "'x'", "line 3", "line 4", "line 5", "'1,5'", "line 6"],
    ),
    "digits with an underscore": (table(EVENTS, "a 0 1_0 Dog", "b · · ·"), ["line 2", "'1_0'"]),
    "no label, no name": (
        table(EVENTS, "a 1 3 ·", "· 0 1 Cat", "· · · ·"),
        ["truth.tsv line 2: no label", "truth.tsv line 3: no file name", "line 4: no file name"],
    ),
    "a row that is wrong in two ways": (table(EVENTS, "a x 3 ·"), ["1 row", "truth.tsv line 2"]),
    "events of a negative length": (
        table(EVENTS, "a 2 1 Dog", "b 0 1 Cat", "b 3 2 Cat"),
        ["2 events", "line 2 (a: Dog 2–1 s)", "line 4 (b: Cat 3–2 s)", "--invalid drop"],
    ),
    "events of no length": (
        table(EVENTS, "a 1 1 Dog", "b 0 1 Cat"),
        ["1 reference has no length", "clip a, Dog at 1 s", "Onset(0.05)", "--invalid drop"],
    ),
    "events after the end of their clip": (
        table(EVENTS, "a 4 5 Dog", "b 0 1 Cat", "b 7 8 Cat"),
        ["2 events", "line 2 (a: Dog 4–5 s)", "line 4 (b: Cat 7–8 s)", "--invalid drop"],
    ),
    "overlapping events of a class": (
        # a, Dog:  0 [-------) 2
        #              1 [-) 2          inside the one before
        #              1 [-------) 3    both overlap the first
        table(EVENTS, "a 0 2 Dog", "a 1 2 Dog", "a 1 3 Dog", "b 0 1 Cat"),
        ["2 events", "line 3 (a: Dog 1–2 s)", "line 4 (a: Dog 1–3 s)", "--overlaps merge"],
    ),
    "an overlap across an event between": (
        # a, Dog:  0 [---------------) 4
        #              1 [-) 2
        #                     3 [----) 4
        table(EVENTS, "a 0 4 Dog", "a 1 2 Dog", "a 3 4 Dog", "b 0 1 Cat"),
        ["2 events", "line 3 (a: Dog 1–2 s)", "line 4 (a: Dog 3–4 s)"],
    ),
    "labels without scores": (
        table(EVENTS, "a 1 3 Dog", "b 0 1 cat", "b 2 3 Cow"),
        ["2 labels", "Cow", "cat (did you mean Cat?)", "Only the scores have Cat", "--classes"],
    ),
    "one clip under two names": (
        table(EVENTS, "a 1 3 Dog", "eval/a.wav 3 4 Dog", "b 0 1 Cat"),
        ["duplicate clip", "'a' (truth.tsv line 2) and 'eval/a.wav' (truth.tsv line 3)"],
    ),
    "a clip without scores": (
        TRUTH + table("c · · ·", "d 0 1 Dog"),
        ["durations", "2 clips", "truth.tsv"],
    ),
    "a clip less": (table(EVENTS, "a 1 3 Dog") + table("c · · ·"), ["c"]),
    "rows of unequal length": (
        table(EVENTS, "a 1 3 Dog", "b 0 1", "b 0 1 Cat x"),
        ["truth.tsv", "4 columns", "line 3 has 3 cells", "line 4 has 5 cells"],
    ),
    "cut in the middle of a row": (TRUTH[:-5], ["truth.tsv", "line 3 has 3 cells"]),
    "no column of that name": (table("file onset offset label", "a 1 3 Dog"), ["'filename'", "'file'"]),
    "a column twice": (table("filename onset onset offset event_label"), ["truth.tsv", "twice: onset"]),
    "empty": ("", ["truth.tsv is empty"]),
    "binary junk": (JUNK, ["truth.tsv", "line 1 is not UTF-8"]),
    "Latin-1": (
        TRUTH.encode() + "b\t2\t3\tChèvre\n".encode("latin-1"),
        ["truth.tsv", "line 4 is not UTF-8"],
    ),
    "one endless line": ("x" * 200_000, ["truth.tsv"]),
    "an endless cell": (TRUTH + "x" * 200_000, ["truth.tsv"]),
    "an open quote": (TRUTH + 'b\t2\t3\t"Cat\n', ["truth.tsv", "line 4"]),
    "text after a quote": (TRUTH + 'b\t2\t3\t"big" Cat\n', ["truth.tsv", "line 4"]),
    "a row below blank lines": (TRUTH + "\n\nb\tx\t3\tCat\n", ["truth.tsv line 6", "'x'"]),
    "a row below a label of two lines": (
        TRUTH + 'b\t2\t3\t"C\nat"\nb\tx\t3\tCat\n',
        ["truth.tsv line 6", "'x'"],
    ),
}


@pytest.mark.parametrize(("truth", "message"), BAD_TRUTH.values(), ids=BAD_TRUTH)
def test_bad_ground_truth(truth: Content, message: list[str], tmp_path: Path) -> None:
    assert_refused(write_files(tmp_path, {"truth.tsv": truth}), message)


BAD_DETECTIONS = {
    "onset and offset swapped": ("b 2 1 Cat", ["detections.tsv:4: (2.0, 1.0, 'Cat')"]),
    "two bad rows": (
        "b 2 1 Cat\na -2 -1 Dog",
        ["2 detections are not usable", "detections.tsv:4:", "detections.tsv:5:"],
    ),
    "a row without a file name": (
        "· 1 2 Cat\nb 2 1 Cat",
        ["2 detections are not usable", "detections.tsv:4: no file name", "detections.tsv:5:"],
    ),
    "an overlap": ("a 2 4 Dog", ["detections.tsv line 4 (a: Dog 2–4 s)", "--overlaps merge"]),
    "one clip under two names": (
        "x/a.wav 5 6 Dog",
        ["'a' (detections.tsv line 2) and 'x/a.wav' (detections.tsv line 4)"],
    ),
}


@pytest.mark.parametrize(("rows", "message"), BAD_DETECTIONS.values(), ids=BAD_DETECTIONS)
def test_bad_detections(rows: str, message: list[str], tmp_path: Path) -> None:
    content = table(EVENTS, "a 1 3 Dog", "b 0 1 Cat", *rows.split("\n"))
    files = write_files(tmp_path, {"detections.tsv": content})
    assert_refused(replace(files, scores=files.folder / "detections.tsv"), message)


def test_bad_detections_at_thresholds(tmp_path: Path) -> None:
    files = write_files(tmp_path, {f"scores/{clip}.tsv": None for clip in SCORES})
    for row, message in (
        ("b 2 1 Cat", "0.5.tsv:4: (2.0, 1.0, 'Cat')"),
        ("a 2 4 Dog", "threshold 0.5: "),
    ):
        content = table(EVENTS, "a 1 3 Dog", "b 0 1 Cat", row)
        (files.scores / "0.5.tsv").write_text(content)
        assert_refused(files, [message])


BAD_DURATIONS: dict[str, tuple[str | bytes, list[str]]] = {
    "no numbers": (
        table("filename duration", "a ten", "b ·"),
        ["durations.tsv", "line 2, column duration: 'ten'", "line 3, column duration: ''"],
    ),
    "below blank lines": ("filename\tduration\n\n\na\tten\n", ["durations.tsv", "line 4", "'ten'"]),
    "not finite": (table("filename duration", "a nan", "b inf"), ["durations", "a", "nan", "b", "inf"]),
    "not above zero": (
        table("filename duration", "a 0", "b -1"),
        ["durations.tsv", "2 rows state no duration: line 2: a: ", "above zero, not 0", "line 3: b: "],
    ),
    "a clip twice": (DURATIONS + table("a 4"), ["1 row repeats a clip: line 4: a is in line 2"]),
    "a clip under two names": (
        DURATIONS + table("audio/a.flac 4"),
        ["durations.tsv", "'a' (line 2) and 'audio/a.flac' (line 4)"],
    ),
    "clips missing": (table("filename duration", "c 4"), ["durations", "2 clips", "a, b", "truth.tsv"]),
    "a clip without scores": (DURATIONS + table("c 4"), ["no scores", "c", "--clips scored"]),
    "no name": (DURATIONS + table("· 4"), ["durations", "''"]),
    "no column of that name": (table("filename length", "a 4"), ["durations.tsv", "'duration'"]),
    "cut": (DURATIONS[:-3], ["durations.tsv", "line 3 has 1 cell"]),
    "empty": ("", ["durations.tsv is empty"]),
    "binary junk": (JUNK, ["durations.tsv", "line 1 is not UTF-8"]),
}


@pytest.mark.parametrize(("durations", "message"), BAD_DURATIONS.values(), ids=BAD_DURATIONS)
def test_bad_durations(durations: Content, message: list[str], tmp_path: Path) -> None:
    assert_refused(write_files(tmp_path, {"durations.tsv": durations}), message)


def test_events_after_the_end_of_the_scores(tmp_path: Path) -> None:
    # scores end at 4 s, and no durations are given
    truth = table(EVENTS, "a 1 3 Dog", "a 4 5 Dog", "b 9 10 Cat")
    files = write_files(tmp_path, {"truth.tsv": truth, "durations.tsv": None})
    assert_refused(files, ["2 reference events", "clip a, Dog", "clip b, Cat", "--invalid drop"])


def test_scores_that_end_before_zero_give_no_duration(tmp_path: Path) -> None:
    changes = {A: table(HEADER, "-2 -1 .1 .1"), "truth.tsv": table(EVENTS, "a · · ·", "b 0 1 Cat")}
    files = write_files(tmp_path, {**changes, "durations.tsv": None})
    assert_refused(files, ["a"])


@pytest.mark.parametrize(
    ("truth", "durations", "message"),
    [
        (TRUTH + table("c 0 1 Dog"), DURATIONS + table("c 4"), ["no scores", "c", "3 clips"]),
        (table(EVENTS, "a 1 3 Dog"), table("filename duration", "a 4"), ["1 clip", "b", "empty"]),
        (table(EVENTS), None, ["2 clips", "a, b", "--missing empty"]),
    ],
)
def test_clips_missing_on_either_side(
    truth: str, durations: Content, message: list[str], tmp_path: Path
) -> None:
    files = write_files(tmp_path, {"truth.tsv": truth, "durations.tsv": durations})
    assert_refused(files, message)


def test_folders_and_files_that_are_not_there(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    empty, other = tmp_path / "empty", tmp_path / "other"
    for folder in (empty, other, other / "a.tsv"):
        folder.mkdir()
    (other / "a.csv").write_text(SCORES["a"])
    nowhere = tmp_path / "nowhere"
    for scores, truth, message in (
        (nowhere, files.truth, "nowhere: there is no such file or folder"),
        (files.truth, files.scores, "Are scores and ground truth swapped?"),
        (empty, files.truth, "empty holds no score tables"),
        (other, files.truth, "other holds no score tables"),
        (files.scores, nowhere, "Cannot read"),
        (files.scores, files.scores, "holds scores"),
        (files.scores, empty, "empty is a folder that holds no files of events"),
    ):
        outcome = run("evaluate", scores, truth)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("error: ")
        assert message in outcome.err
    for durations in (nowhere, files.scores):
        assert_refused(files, [f"Cannot read {durations}"], "--durations", durations)


def test_many_bad_files_are_counted_and_some_named(tmp_path: Path) -> None:
    changes = {f"scores/c{i:02}.tsv": table(HEADER, "0 1 loud .1") for i in range(50)}
    truth = TRUTH + table(*(f"c{i:02} · · ·" for i in range(50)))
    files = write_files(tmp_path, {**changes, "truth.tsv": truth, "durations.tsv": None})
    outcome = run("evaluate", files.scores, files.truth)
    assert (outcome.code, outcome.out) == (2, "")
    assert "c00.tsv" in outcome.err
    assert "(and 19 more like this)" in outcome.err
    assert "50 problems" in outcome.err or "At least" in outcome.err
    assert outcome.err.count("\n") < 30


# what a broken disk, editor or script may do to a file
BROKEN = [bytes([byte]) for byte in b"\t\n\r\0\xff\x0c ,-_.ex9#\"'"]
BROKEN += [b"\r\n", b"\xef\xbb\xbf", b"nan", b"inf", b"1e400", b"9" * 400, b".wav", b"\xe2\x80\xa8"]
edits = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 8), st.sampled_from([b"", *BROKEN])),
    min_size=1,
    max_size=3,
)


@settings(max_examples=300)
@given(st.sampled_from([A, B, "truth.tsv", "durations.tsv"]), edits)
@example(A, [(5, 0, b"\r")])
@example("truth.tsv", [(0, 100, b"")])
def test_any_edit_of_a_file_gives_a_result_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, edits: list[tuple[int, int, bytes]]
) -> None:
    contents: dict[str, Any] = {A: SCORES["a"], B: SCORES["b"]}
    contents |= {"truth.tsv": TRUTH, "durations.tsv": DURATIONS}
    data = contents[name].encode()
    for position, length, new in edits:
        data = data[:position] + new + data[position + length :]
    files = write_files(tmp_path_factory.mktemp("edited"), {name: data})
    try:
        truth = sed.read_ground_truth(files.truth, durations=files.durations)
        result = sed.evaluate(sed.read_scores(files.scores), truth, PSDS, run=sed.Run(threads=1))
    except sed.SedscopeError:
        return
    assert 0 <= result[PSDS].value <= 1 or result.warnings


def test_other_speakers_in_rttm_files_may_be_one_voice_activity(tmp_path: Path) -> None:
    for name, speaker in (("system", "spk1"), ("truth", "anna")):
        (tmp_path / f"{name}.rttm").write_text(f"SPEAKER a 1 0 1.5 <NA> <NA> {speaker} <NA> <NA>\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t4\n")
    files = [
        tmp_path / "system.rttm",
        tmp_path / "truth.rttm",
        "--durations",
        tmp_path / "durations.tsv",
    ]
    refused = run("evaluate", *files, "--metric", "time_f1")
    assert refused.code == 2
    assert "system.rttm: No label of the system is a label of the ground truth" in refused.err
    assert "To evaluate voice activity, give all speakers one label: --label speech." in refused.err
    assert run("evaluate", *files, "--metric", "time_f1", "--label", "speech").code == 0


def test_one_clip_that_the_ground_truth_lacks(tmp_path: Path) -> None:
    header = "filename\tonset\toffset\tevent_label"
    (tmp_path / "list.tsv").write_text(f"{header}\na\t0\t1\tDog\nb\t0\t1\tDog\n")
    (tmp_path / "truth.tsv").write_text(f"{header}\na\t0\t1\tDog\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na\t4\n")
    files = [tmp_path / "list.tsv", tmp_path / "truth.tsv", "--durations", tmp_path / "durations.tsv"]
    assert "If it has no events, say so with --missing empty" in run("evaluate", *files).err


def test_references_that_overlap_beside_averaged_windows(tmp_path: Path) -> None:
    truth, system, durations = (
        tmp_path / name for name in ("truth.tsv", "windows.tsv", "durations.tsv")
    )
    truth.write_text("filename\tonset\toffset\tevent_label\na\t0\t2\tDog\na\t1\t3\tDog\n")
    rows = "a\t0\t3\tDog\t0.9\na\t1.5\t4.5\tDog\t0.5\n"
    system.write_text(f"filename\tonset\toffset\tevent_label\tconfidence\n{rows}")
    durations.write_text("filename\tduration\na\t10\n")
    metric = ("--durations", durations, "--metric", "AveragePrecision(Segment(length=1))")
    refused = run("evaluate", system, truth, *metric, "--overlaps", "average")
    assert refused.code == 2
    assert "sedscope convert DETECTIONS windows.store --overlaps average" in refused.err
    assert run("convert", system, tmp_path / "windows.store", "--overlaps", "average").code == 0
    assert run("evaluate", tmp_path / "windows.store", truth, *metric, "--overlaps", "merge").code == 0


@pytest.mark.parametrize("durations", [{"a": 10.0}, None])
def test_references_in_milliseconds(durations: dict[str, float] | None) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]] * 10}, classes=["Dog"], frame=1.0)
    events = {"a": [(1000.0 * second, 1000.0 * second + 500, "Dog") for second in range(9)]}

    def evaluated() -> object:
        truth = sed.GroundTruth.from_dict(events, durations=durations)
        return sed.evaluate(scores, truth, "collar_f1")

    with pytest.raises(sed.SedscopeError, match=r"These are 8 of 9 events: are all times .*in seconds"):
        evaluated()
