"""Moment retrieval and ActivityNet as tasks: values by hand, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.event_files.json_files import answer, query

TASK = "dcase2026_task6"
REFERENCES = [
    query(1, [[0, 100], [120, 150]], duration=160),
    query(2, [[8, 14]], duration=160),
    query(3, [[30, 40]], duration=160),
]
ANSWERS = [
    # intersections over union: 0.9 with the first reference; 0.8 with the second
    answer(1, [[0, 90, 0.9], [40, 60, 0.7], [126, 150, 0.5]]),
    # 0.6, then exact, but behind nine others
    answer(2, [[4, 14, 0.9], *([100 + i, 110 + i, 0.8 - i / 100] for i in range(9)), [8, 14, 0.1]]),
    answer(3, []),
]
# at 0.5 to 0.8 both references of the first query are found: precisions 1 and 2/3; up to 0.9, the first
FIRST = [5 / 6] * 7 + [0.5] * 2 + [0]
SECOND = [1.0] * 3 + [0] * 7


def write(folder: Path, answers: list[Any] = ANSWERS) -> tuple[Path, Path]:
    paths = folder / "predictions.jsonl", folder / "references.jsonl"
    for path, lines in zip(paths, (answers, REFERENCES), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return paths


def test_moment_retrieval(tmp_path: Path) -> None:
    printed = run("evaluate", *write(tmp_path), "--task", TASK, "--json", "-")
    values = json.loads(printed.out)["datasets"]["castella"]
    assert values == {
        "r1_50": pytest.approx(2 / 3),
        "r1_70": pytest.approx(1 / 3),
        "map_50": pytest.approx((5 / 6 + 1) / 3),
        "map_75": pytest.approx(5 / 6 / 3),
        "map": pytest.approx(sum(FIRST + SECOND) / 10 / 3),
        "false_answers": None,  # every query has a moment
        "pooled_map_50": values["pooled_map_50"],
    }
    assert json.loads(printed.out)["score"] == values["r1_70"]


def test_answers_to_queries_without_moments(tmp_path: Path) -> None:
    """They change the metrics that count them, and not the official ones."""
    absent = [query(4, [], duration=160), query(5, [], duration=160)]
    false = [answer(4, [[0, 90, 0.95]]), answer(5, [])]
    predictions, references = write(tmp_path)
    values = {}
    for name, added in (("without", []), ("silent", [answer(4, []), answer(5, [])]), ("false", false)):
        lines = (ANSWERS + added, REFERENCES + (absent if added else []))
        for path, rows in zip((predictions, references), lines, strict=True):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        result = sed.tasks.evaluate_task(TASK, predictions, truth=references)
        values[name] = dict(result.values["castella"])
    official = ("r1_50", "r1_70", "map_50", "map_75", "map")
    for name in official:
        assert values["without"][name] == values["silent"][name] == values["false"][name]
    assert (values["silent"]["false_answers"], values["false"]["false_answers"]) == (0, 0.5)
    assert values["false"]["pooled_map_50"] < values["silent"]["pooled_map_50"]


def test_moments_by_length(tmp_path: Path) -> None:
    """A query belongs to each length that one of its references has; all its answers count there."""
    predictions, references = write(tmp_path)
    [result] = sed.tasks.evaluate_task(TASK, predictions, truth=references).datasets.values()
    bins = result.groups["lengths"].evaluations
    values = {
        name: {of_bin.names[metric]: of_bin[metric].value for metric in of_bin}
        for name, of_bin in bins.items()
    }
    assert [*values] == ["≤ 10 s", "10–30 s", "> 30 s"]
    assert [of_bin["r1_50"] for of_bin in values.values()] == [0.5, 0, 1]
    # the answer to the long reference stands before the one to the middle reference, and a false one between
    assert [of_bin["map_50"] for of_bin in values.values()] == [0.5, pytest.approx(1 / 3), 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (answer(3, [], vid="b"), "the clip b_3 is not in the ground truth"),
        (answer(4, []), "the clip a_4 is not in the ground truth"),
        (
            answer(3, [[0, 1, 0.5], [160, 161, 0.4]]),
            "a_3: moment 160–161 s begins after the clip has ended, at 160 s",
        ),
        (answer(3, [[5, 4, 0.5]]), "(5.0, 4.0, 'moment', 0.5) ends before it begins"),
        (answer(3, [[0, 1, 0.5], [5, 5, 0.4]]), "a_3: moment 5–5 s has no length"),
        (answer(3, [[4, 5]]), "window 1 must be [start, end, score] in numbers, not [4, 5]"),
        ("no JSON", "this is not a JSON object"),
    ],
)
def test_wrong_lines_are_refused(line: object, message: str, tmp_path: Path) -> None:
    predictions, references = write(tmp_path, [*ANSWERS[:2], line])
    checked = run("check", predictions, references, "--task", TASK)
    assert (checked.code, checked.out) == (1, f"{predictions}:3: {message}\n1 problem\n")
    evaluated = run("evaluate", predictions, references, "--task", TASK)
    assert evaluated.code == 2
    assert f"line 3: {message}" in evaluated.err or f":3: {message}" in evaluated.err


def test_check_lists_the_problems_of_all_kinds(tmp_path: Path) -> None:
    lines = [
        answer(1, [[0, 1], [9, 8, 0.5]]),
        answer(2, [[200, 210, 0.5]]),
        answer(3, [], vid="b"),
        answer(4, [[0, 1, 0.5]]),
    ]
    predictions, references = write(tmp_path, lines)
    checked = run("check", predictions, references, "--task", TASK)
    assert (checked.code, checked.out.splitlines()) == (
        1,
        [
            f"{predictions}:1: window 1 must be [start, end, score] in numbers, not [0, 1]",
            f"{predictions}:1: (9.0, 8.0, 'moment', 0.5) ends before it begins",
            f"{predictions}:3: the clip b_3 is not in the ground truth",
            f"{predictions}:4: the clip a_4 is not in the ground truth",
            f"{predictions}:2: a_2: moment 200–210 s begins after the clip has ended, at 160 s",
            "5 problems",
        ],
    )


def test_predictions_are_not_taken_for_references(tmp_path: Path) -> None:
    predictions, _ = write(tmp_path)
    outcome = run("evaluate", predictions, predictions, "--task", TASK)
    assert outcome.code == 2
    assert "holds predictions (pred_relevant_windows), not references" in outcome.err


def test_options_for_groups_are_refused(tmp_path: Path) -> None:
    outcome = run("evaluate", *write(tmp_path), "--task", TASK, "--by-length", "10,30")
    assert (outcome.code, "--by-length cannot be combined with --task" in outcome.err) == (2, True)


def test_activitynet(tmp_path: Path) -> None:
    #  reference  [0  Run  10)      [30 Jump 40)  of v;  [0 Jump 10) of w
    #             [5   Run   20)
    database = {
        "v": {
            "duration": 60,
            "subset": "validation",
            "annotations": [
                {"segment": segment, "label": label}
                for segment, label in (([0, 10], "Run"), ([5, 20], "Run"), ([30, 40], "Jump"))
            ],
        },
        "w": {
            "duration": 60,
            "subset": "validation",
            "annotations": [{"segment": [0, 10], "label": "Jump"}],
        },
        "x": {
            "duration": 60,
            "subset": "training",
            "annotations": [{"segment": [0, 10], "label": "Swim"}],
        },
    }
    results = {
        "v": [
            {"label": "Run", "segment": [0, 10], "score": 0.9},
            {"label": "Run", "segment": [0, 12], "score": 0.8},  # a second one of a reference: false
            {"label": "Run", "segment": [6, 20], "score": 0.7},  # 14 / 15
            {"label": "Jump", "segment": [30, 38], "score": 0.2},  # 8 / 10
        ],
        "w": [{"label": "Jump", "segment": [0, 6], "score": 0.3}],  # 6 / 10
    }
    (tmp_path / "ground_truth.json").write_text(json.dumps({"database": database}))
    (tmp_path / "results.json").write_text(json.dumps({"results": results}))
    result = sed.tasks.evaluate_task("activitynet", tmp_path / "results.json", tmp_path)
    # at 0.5 both jumps are found; from 0.65 on only the second one, behind a false one; above 0.8 none
    jumps, runs = [1] * 3 + [0.25] * 4 + [0] * 3, [5 / 6] * 9 + [0.5]
    levels = [(jump + of_run) / 2 for jump, of_run in zip(jumps, runs, strict=True)]
    assert result.values["activitynet"] == {
        "map_50": pytest.approx(levels[0]),
        "map_75": pytest.approx(levels[5]),
        "map_95": pytest.approx(levels[9]),
        "map": pytest.approx(sum(levels) / 10),
    }
