"""Files of moment retrieval and ActivityNet: what clips are called, what is refused, what is written."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.io.events.files import read_event_table

from ..support.command_line import run
from ..support.event_files.json_files import MOMENTS, RANKED, answer, query


def write_lines(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(text + "\n" for text in texts))
    return path


@pytest.mark.parametrize(
    ("qid", "vid", "clip"),
    [
        (12, "1", "1_12"),
        (12, "12", "12"),
        (7, "dog", "dog_7"),
        ("dog_7", "dog", "dog_7"),
        ("q7", "audio/dog.wav", "dog_q7"),
        (7, "x_210.0_360.0", "x_210.0_360.0_7"),
    ],
)
def test_a_clip_is_a_query_of_a_recording(qid: object, vid: str, clip: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", query(qid, [[0, 1]], vid=vid))
    assert [*sed.read_events(path)] == [clip]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", r"this is not JSON \(Expecting property name enclosed in double quotes, column 2\)"),
        ("[1, 2]", "this is not a JSON object"),
        (answer(None, []), "there is no qid"),
        (answer(True, []), "the qid true is neither a text nor a whole number"),
        (answer(1.0, []), "the qid 1.0 is neither a text nor a whole number"),
        (answer(2, [], vid=" "), "there is no vid"),
        (answer(1, []), "the query 1 is already in line 1"),
        (answer("a_1", []), "the query a_1 is already in line 1"),
        (query(2, [[0, 1]]), "this line has relevant_windows, but line 1 has pred_relevant_windows"),
        (
            answer(2, [], relevant_windows=[]),
            "there must be either relevant_windows or pred_relevant_windows",
        ),
        (answer(2, {}), r"pred_relevant_windows must be a list of \[start, end, score\], not \{\}"),
        (
            answer(2, [[0, 1, 0.5], [0, 1]]),
            r"window 2 must be \[start, end, score\] in numbers, not \[0, 1\]",
        ),
        (answer(2, [[0, 1, "0.5"]]), r"window 1 must be .* not \[0, 1, \"0.5\"\]"),
        (answer(2, [[0, None, 0.5]]), r"window 1 must be .* not \[0, null, 0.5\]"),
        (answer(2, [], duration=0), "the duration 0 is not a number above 0"),
    ],
)
def test_a_wrong_line_is_refused(line: object, problem: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", answer(1, [[0, 1, 0.5]]), line)
    with pytest.raises(sed.SedscopeError, match=rf"1 problem: p.jsonl line 2: {problem}"):
        sed.read_events(path)
    problems: list[str] = []
    table = read_event_table(path, problems=problems)
    assert table.clip[0] == "a_1"
    assert [text.partition(": ")[0] for text in problems] == [f"{path}:2"]


def test_all_wrong_lines_are_refused_at_once(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl",
        "no JSON",
        answer(1, [[0, 1]]),
        answer(1, []),
        answer(2, [[0, 1], [2, 3]]),
        answer(None, [[0, 1]], vid=""),
    )
    with pytest.raises(sed.SedscopeError, match=r"p.jsonl: 8 problems: p.jsonl line 1: ") as error:
        sed.read_events(path)
    assert [line.split(":")[1] for line in error.value.lines] == ["1", "2", "3", *"44", *"555"]


def test_windows_that_are_reversed_are_refused_with_their_line(tmp_path: Path) -> None:
    references = write_lines(tmp_path / "r.jsonl", query(1, [[0, 1], [5, 4]]), query(2, [[3, 2]]))
    with pytest.raises(
        sed.SedscopeError, match=r"2 events have no positive length: r.jsonl line 1, window 2"
    ):
        sed.read_ground_truth(references)


def test_windows_in_another_order_than_their_scores_warn(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", answer(1, [[0, 1, 0.5], [2, 3, 0.7]]), answer(2, []))
    with pytest.warns(
        sed.SedscopeWarning, match=r"1 line has windows .* p.jsonl line 1\. sedscope ranks"
    ):
        sed.read_events(path)
    write_lines(path, answer(1, [[0, 1, 0.5], [2, 3, 0.5], [0, 4, 0.1]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sed.read_events(path)


def test_references_and_predictions_are_not_taken_for_each_other(tmp_path: Path) -> None:
    references = write_lines(tmp_path / "val.jsonl", query(1, [[0, 1]]))
    predictions = write_lines(tmp_path / "predictions.jsonl", answer(1, [[0, 1, 0.5]]))
    metric = ["--overlaps", "keep", "--metric", "r1_50"]
    assert run("evaluate", predictions, references, *metric).code == 0
    same = run("evaluate", references, references, *metric)
    assert same.code == 2
    assert (
        "val.jsonl holds references (relevant_windows), not predictions (pred_relevant_windows). Are the two "
        "files swapped?"
    ) in same.err
    for command in ("evaluate", "validate"):
        swapped = run(command, references, predictions, "--overlaps", "keep")
        assert swapped.code != 0
        assert "predictions.jsonl holds predictions (pred_relevant_windows), not references" in (
            swapped.err + swapped.out
        )
        assert "swapped?." not in swapped.err + swapped.out
    assert [*sed.read_events(references)] == [*sed.read_events(predictions)] == ["a_1"]


@pytest.mark.parametrize("name", ["val.json", "val.jsonl", "val.txt"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_json_array_is_refused_as_one(name: str, indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(json.dumps([query(1, [[0, 1]]), query(2, [[0, 1]])], indent=indent))
    with pytest.raises(
        sed.SedscopeError, match=f"{name} is a JSON array; .* are JSON Lines, with one obj"
    ):
        sed.read_ground_truth(path)


@pytest.mark.parametrize("events", [MOMENTS, RANKED], ids=["references", "predictions"])
def test_moments_are_written(events: dict[str, Any], tmp_path: Path) -> None:
    durations = dict.fromkeys(events, 12.5)
    sed.write_events(events, tmp_path / "a.jsonl", format="moments", durations=durations)
    assert sed.read_events(tmp_path / "a.jsonl") == events
    assert read_event_table(tmp_path / "a.jsonl").durations == durations
    assert sed.convert(tmp_path / "a.jsonl", tmp_path / "again.jsonl").target == "moments"
    assert sed.read_events(tmp_path / "again.jsonl") == events
    with pytest.raises(sed.SedscopeError, match="moments cannot hold the labels of events: 'Dog'"):
        sed.write_events({"a": [(0, 1, "Dog")]}, tmp_path / "b.jsonl", format="moments")


def test_subsets_of_activitynet(tmp_path: Path) -> None:
    video = {"duration": 9, "annotations": [{"segment": [0, 1], "label": "Run"}]}
    path = tmp_path / "anet.json"
    database = {"a": {**video, "subset": "training"}, "b": {**video, "subset": "validation"}}
    path.write_text(json.dumps({"database": database}))
    with pytest.raises(
        sed.SedscopeError, match=r"subsets training, validation\. Choose one with `columns="
    ):
        sed.read_ground_truth(path)
    with pytest.raises(sed.SedscopeError, match=r"subset 'test'\. There are training, validation"):
        sed.read_ground_truth(path, columns={"subset": "test"})
    assert sed.read_ground_truth(path, columns={"subset": "validation"}).clips == ("b",)
    path.write_text(json.dumps({"database": {"a": video}}))
    assert sed.read_ground_truth(path, columns={"subset": "validation"}).clips == ("a",)


def test_all_wrong_entries_of_activitynet_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    event = {"segment": [0, 1], "label": "Run", "score": 0.5}
    results = {
        "a": [event, {**event, "score": None}, {**event, "segment": [0]}, {**event, "label": " "}, 3],
        "b": {},
    }
    path.write_text(json.dumps({"results": results}))
    with pytest.raises(
        sed.SedscopeError, match=r"5 problems: results.json video a, event 2: the score must be a number"
    ) as error:
        sed.read_events(path)
    assert error.value.lines[-1] == f"{path}: video b: the events must be a list"
    path.write_text(json.dumps({"database": {"a": [], "b": {"duration": "long", "annotations": []}}}))
    with pytest.raises(
        sed.SedscopeError, match=r"2 problems: .* video a: this is not an object .* video b"
    ):
        sed.read_ground_truth(path)
    path.write_text(json.dumps({"database": {}, "results": {}}))
    with pytest.raises(sed.SedscopeError, match="Keep them in two files"):
        sed.read_events(path)
