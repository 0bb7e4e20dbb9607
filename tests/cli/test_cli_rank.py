"""The command line: rankings and leaderboards."""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.command_line import Outcome, run
from ..support.files import write_durations


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, one of them with a second run, a broken one, and a table of teams."""
    place = tmp_path_factory.mktemp("ranking")
    truth = sed.simulate.ground_truth(24, seed=7)
    for name, quality, seed in (("good", 0.8, 0), ("again", 0.8, 5), ("bad", 0.4, 0), ("mid", 0.6, 1)):
        scores = sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed)
        sed.write_scores(scores, place / "systems" / name)
    sed.write_ground_truth(truth, place / "truth.tsv")
    write_durations(truth, place / "durations.tsv")
    shutil.copytree(place / "systems" / "mid", place / "broken")
    first, second, *_ = sorted((place / "broken").iterdir())
    first.unlink()
    header, row, *rows = second.read_text().splitlines()
    cells = row.split("\t")
    second.write_text("\n".join([header, "\t".join([*cells[:2], "nan", *cells[3:]]), *rows, ""]))
    rows = [
        "Lab A,best,systems/good",
        "Lab A,best,systems/again",
        "Lab A,old,systems/bad",
        "Lab B,old,systems/mid",
        "Lab C,wrong,broken",
        "Lab C,gone,nowhere",
    ]
    (place / "teams.csv").write_text("\n".join(["team,name,path", *rows, ""]))
    return place


def rank(folder: Path, *arguments: object, bootstrap: int = 200) -> Outcome:
    files = (folder / "truth.tsv", "--durations", folder / "durations.tsv")
    return run("rank", *arguments, *files, "--metric", "psds1", "--bootstrap", bootstrap)


def read_json(board: Path) -> Any:
    return json.loads((board / "ranking.json").read_text(encoding="utf-8"))


def test_systems_have_the_names_that_are_written_with_them(folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    systems = folder / "systems"
    done = rank(folder, f"ours={systems / 'good'}", f"theirs={systems / 'bad'}", "-o", board)
    assert done.code == 0, done.err
    assert [entry["name"] for entry in read_json(board)["systems"]] == ["ours", "theirs"]


def test_two_systems_of_one_name_are_no_runs(folder: Path) -> None:
    good, bad = folder / "systems" / "good", folder / "systems" / "bad"
    for systems in ((f"bad={good}", bad), (f"mine={good}", f"mine={bad}")):
        refused = rank(folder, *systems)
        assert refused.code == 2
        assert "Two systems have the name" in refused.err


def test_a_table_of_teams_becomes_a_leaderboard(folder: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    done = rank(folder, folder / "teams.csv", "-o", board, "--title", "Our <task>")
    assert done.code == 0, done.err
    result = read_json(board)
    assert [(entry["team"], entry["name"]) for entry in result["systems"]] == [
        ("Lab A", "best"),
        ("Lab B", "old"),
        ("Lab A", "old"),
    ]
    assert [entry["best_of_team"] for entry in result["systems"]] == [True, True, False]
    assert len(result["systems"][0]["metrics"]["psds1"]["runs"]) == 2
    rejected = {entry["name"]: entry["reasons"] for entry in result["rejected"]}
    assert rejected.keys() == {"wrong", "gone"}
    assert any("clip_01.tsv:2: the score of" in reason for reason in rejected["wrong"])
    assert any("1 of the 24 clips in the ground truth has no" in reason for reason in rejected["wrong"])
    assert "--clips scored" not in " ".join(rejected["wrong"])  # which a ranking refuses
    assert all(str(folder) not in reason for reasons in rejected.values() for reason in reasons)
    for reason in rejected["wrong"]:
        assert reason in done.out
    page = (board / "index.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Our &lt;task&gt;</bdi></h1>" in page
    assert "clip_01.tsv:2" in page
    with (board / "ranking.csv").open(newline="") as file:
        overall = [row for row in csv.DictReader(file) if not row["class"]]
    assert [row["rank"] for row in overall] == ["1", "2", "3"]
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    alone = sed.evaluate(sed.read_scores(folder / "systems" / "mid"), truth, "psds1")["psds1"].value
    assert float(overall[1]["value"]) == alone


def test_a_pattern_is_a_list_of_systems_that_are_their_own_teams(folder: Path, tmp_path: Path) -> None:
    outcomes = [
        rank(folder, folder / "systems" / "*", "-o", tmp_path / "one", "--reports", "best"),
        rank(
            folder,
            *sorted((folder / "systems").iterdir(), reverse=True),
            "-o",
            tmp_path / "other",
            "--reports",
            "best",
            "--checkpoint",
            tmp_path / "kept",
        ),
    ]
    assert [done.code for done in outcomes] == [0, 0]
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 6 + 4  # each system is the best one of its team
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()
    assert len([*(tmp_path / "kept").iterdir()]) == 4
    page = (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    for file in files:
        if file.parts[0] == "reports":
            assert file.as_posix() in page


def test_systems_of_the_same_name_are_told_apart_by_their_folders(folder: Path, tmp_path: Path) -> None:
    for team in ("x", "y"):
        shutil.copytree(folder / "systems" / "mid", tmp_path / team / "scores")
    done = rank(folder, tmp_path / "x" / "scores", tmp_path / "y" / "scores")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines() if "/scores" in line] == [
        ["x/scores", "1"],
        ["y/scores", "1"],
    ]


def test_no_system_could_be_ranked(folder: Path, tmp_path: Path) -> None:
    done = rank(folder, folder / "broken", "-o", tmp_path / "board")
    assert done.code == 1
    assert "1 system rejected:\nbroken:" in done.out
    assert read_json(tmp_path / "board")["systems"] == []


def test_lists_of_events_are_ranked_and_sets_of_them_are_rejected(folder: Path, tmp_path: Path) -> None:
    scores = sed.read_scores(folder / "systems" / "mid")
    (tmp_path / "sets").mkdir()
    for file, threshold in (("sets/0.3.tsv", 0.3), ("sets/0.5.tsv", 0.5), ("events.tsv", 0.5)):
        sed.write_events(sed.detect(scores, threshold), tmp_path / file)
    done = rank(folder, tmp_path / "sets", tmp_path / "events.tsv", "--metric", "collar_f1")
    assert done.code == 0
    assert "\nsets:\n  sets holds detections at the thresholds 0.3, 0.5, but" in done.out
    assert "events.tsv" in done.out


def test_a_warning_about_several_systems_is_printed_once(folder: Path, tmp_path: Path) -> None:
    scores = sed.read_scores(folder / "systems" / "mid")
    frame = float(scores[next(iter(scores))].edges[1])
    short = sed.Scores.from_arrays(
        {clip: scores[clip].values[: int(9.2 / frame)] for clip in scores},
        classes=scores.classes,
        frame=frame,
    )
    for name in ("a", "b"):
        sed.write_scores(short, tmp_path / name)
    done = rank(folder, tmp_path / "a", tmp_path / "b")
    assert done.code == 0, done.err
    assert done.err.count("are shorter than their clip") == 1, done.err
    assert "warning: a, b: " in done.err


def test_a_formula_is_the_score(folder: Path, tmp_path: Path) -> None:
    options = ("--metric", "psds2", "--score", "psds1 + psds2", "-o", tmp_path / "board")
    done = rank(folder, folder / "systems" / "*", *options, bootstrap=50)
    assert done.code == 0, done.err
    result = read_json(tmp_path / "board")
    assert result["score"] == {"name": "score", "definition": "psds1 + psds2", "higher_is_better": True}
    for system in result["systems"]:
        values = {name: metric["value"] for name, metric in system["metrics"].items()}
        assert values["score"] == values["psds1"] + values["psds2"] == system["score"]["value"]


def test_a_log_says_how_many_systems_are_done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.progress._LOG_SECONDS", 0)
    lines = rank(folder, folder / "systems" / "*").err.splitlines()
    log = [line for line in lines if not line.startswith("warning: ")]
    assert log[0].startswith("counting and resampling: ")
    assert re.search(r"\(2 of 4 systems", "\n".join(log))
    assert log[-1].startswith("counting and resampling: 100 % (4 of 4 systems")


def test_a_public_page_has_no_options(folder: Path, tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(24, seed=7)
    scores = sed.simulate.scores(truth, frame=0.1, quality=0.7)
    arrays = {clip: np.hstack([scores[clip].values, scores[clip].values[:, :1]]) for clip in scores}
    more = sed.Scores.from_arrays(arrays, classes=[*scores.classes, "Zither"], frame=0.1)
    sed.write_scores(more, tmp_path / "more")
    board = tmp_path / "board"
    done = rank(folder, folder / "systems" / "good", tmp_path / "more", "-o", board)
    assert "The systems do not have the same classes" in done.err
    assert "Choose the classes to evaluate with --classes." in done.err
    for name in ("index.html", "ranking.json"):
        public = (board / name).read_text(encoding="utf-8")
        assert "The systems do not have the same classes" in public
        assert "Choose the classes" not in public


def test_reasons_for_each_team_alone(folder: Path, tmp_path: Path) -> None:
    board, private = tmp_path / "board", tmp_path / "private"
    for _ in range(2):  # the second time, both folders are replaced
        done = rank(folder, folder / "teams.csv", "-o", board, "--private-reasons", private)
        assert done.code == 0, done.err
    assert "clip_01.tsv:2" in done.out  # the organiser reads them
    for file in (path for path in board.rglob("*") if path.is_file()):
        assert "clip_01" not in file.read_text(encoding="utf-8")
    assert {entry["name"]: entry["reasons"] for entry in read_json(board)["rejected"]} == {
        "gone": ["The team was told what is wrong."],
        "wrong": ["The team was told what is wrong."],
    }
    (file,) = private.iterdir()
    assert file.name.startswith("Lab_C-")
    text = file.read_text(encoding="utf-8")
    assert "\nLab C: wrong:\n" in text
    assert "clip_01.tsv:2" in text


def test_reasons_replace_nothing_else(folder: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "notes.txt").write_text("mine")
    done = rank(folder, folder / "teams.csv", "-o", tmp_path / "board", "--private-reasons", private)
    assert done.code == 2
    assert "holds other files" in done.err
    assert (private / "notes.txt").read_text() == "mine"
    inside = tmp_path / "board" / "private"
    done = rank(folder, folder / "teams.csv", "-o", tmp_path / "board", "--private-reasons", inside)
    assert done.code == 2
    assert "inside the leaderboard" in done.err


def test_archives_are_unpacked(folder: Path, tmp_path: Path) -> None:
    systems = tmp_path / "systems"
    systems.mkdir()
    for name in ("good", "bad"):
        shutil.copytree(folder / "systems" / name, systems / name)
    shutil.make_archive(str(systems / "again"), "zip", folder / "systems", "again")
    shutil.make_archive(str(systems / "mid"), "gztar", folder / "systems" / "mid")
    with zipfile.ZipFile(systems / "evil.zip", "w") as archive:
        archive.writestr("../evil.tsv", "x")
    shutil.make_archive(str(systems / "broken"), "zip", folder / "broken")
    for place, board in ((systems, "packed"), (folder / "systems", "plain")):
        done = rank(folder, place / "*", "-o", tmp_path / board)
        assert done.code == 0, done.err
    packed, plain = read_json(tmp_path / "packed"), read_json(tmp_path / "plain")
    assert packed["systems"] == plain["systems"]
    reasons = {entry["name"]: entry["reasons"] for entry in packed["rejected"]}
    assert reasons.keys() == {"broken", "evil"}
    assert "'../evil.tsv' is a name that could lead out of the archive" in reasons["evil"][0]
    assert any(reason.startswith("broken.zip/clip_01.tsv:2: ") for reason in reasons["broken"])


def test_too_few_resamples_are_said(folder: Path) -> None:
    done = rank(folder, folder / "systems" / "*", bootstrap=10)
    assert "All systems tie" in done.err
    assert "That needs at least 19." in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--clips", "scored"], "same clips"),
        (["--missing", "empty"], "same clips"),
        (["--better", "more"], "is not one of 'higher', 'lower'"),
        (["--data", "{folder}"], "Give the task"),
        (["--reports", "best"], "Add -o FOLDER"),
        (["--reports", "some"], "is not one of 'all', 'best', 'none'"),
        (["--clips-shown", "3"], "--reports best"),
        (["-o", "{folder}/systems"], "not empty"),
    ],
)
def test_refused_options(folder: Path, arguments: list[str], message: str) -> None:
    options = [text.format(folder=folder) for text in arguments]
    done = rank(folder, folder / "systems" / "good", *options)
    assert done.code == 2
    assert message in done.err
    assert sorted(path.name for path in (folder / "systems").iterdir()) == [
        "again",
        "bad",
        "good",
        "mid",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("team,name,path\nA,,systems/good\n", "1 row lacks a team, a name or a path: line 2"),
        ("team,name,path\n", "lists no systems"),
    ],
)
def test_broken_tables(folder: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "teams.csv").write_text(text)
    done = rank(folder, tmp_path / "teams.csv")
    assert done.code == 2
    assert message in done.err


def test_a_pattern_that_matches_nothing(folder: Path) -> None:
    done = rank(folder, folder / "none*")
    assert done.code == 2
    assert "No file or folder matches" in done.err


def test_a_submission_that_links_to_the_ground_truth_is_rejected(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cheat").mkdir()
    (tmp_path / "cheat" / "events.tsv").symlink_to(folder / "truth.tsv")
    done = rank(folder, folder / "systems" / "good", tmp_path / "cheat", bootstrap=50)
    message = "cheat/events.tsv: this is a link that leads out of the submission."
    assert f"1 system rejected:\ncheat:\n  {message}" in done.out


@pytest.mark.parametrize(
    ("header", "message"),
    [("\ufeff\ufeffteam,name,path", ""), ("Team,Name,path", "there are no columns 'team', 'name'")],
)
def test_headers_of_tables_of_teams(folder: Path, tmp_path: Path, header: str, message: str) -> None:
    teams = tmp_path / "teams.csv"
    teams.write_text(f"{header}\nLab A,best,{folder / 'systems' / 'good'}\n", encoding="utf-8")
    done = rank(folder, teams, bootstrap=50)
    assert (done.code, message in done.err) == (2 if message else 0, True), done.err
    assert ("Lab A" in done.out) != bool(message)
