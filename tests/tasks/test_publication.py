"""Participants check submissions without the reference events, and get the same problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.files import write_durations
from .layout import dataset

CLASSES = ["Cat", "Dog"]
TASK = sed.tasks.Task(
    "mine",
    {
        "home": dataset("psds1", classes=CLASSES),
        "street": dataset("collar_f1", classes=CLASSES, labels=sed.tasks.LabelRule(system="names.tsv")),
    },
    "home.psds1 + street.collar_f1",
)
EVENTS = {"a": [(1.0, 2.0, "Dog")], "b": [(0.0, 3.0, "Cat")], "c": []}
TRUTH = sed.GroundTruth.from_dict(EVENTS, durations=dict.fromkeys(EVENTS, 5.0))


def write_scores(
    folder: Path, classes: list[str] = CLASSES, frames: int = 10, clips: str = "abc"
) -> None:
    rng = np.random.default_rng(0)
    arrays = {clip: rng.random((frames, len(classes))).astype(np.float32) for clip in clips}
    sed.write_scores(sed.Scores.from_arrays(arrays, classes=classes, frame=0.5), folder)


def write_list(file: Path, *rows: str) -> None:
    header = "filename\tonset\toffset\tevent_label"
    file.write_text("\n".join([header, *("\t".join(row.split()) for row in rows)]) + "\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sed.tasks.write_task(TASK, "mine.toml")
    for name in TASK.datasets:
        part = tmp_path / "data" / name
        part.mkdir(parents=True)
        sed.write_ground_truth(TRUTH, part / "ground_truth.tsv")
        write_durations(TRUTH, part / "durations.tsv")
    (tmp_path / "data" / "street" / "names.tsv").write_text("from\tto\nbark\tDog\nmeow\tCat\n")
    done = run("tasks", "publish", "mine.toml", "--data", "data", "-o", "public")
    assert done.code == 0, done.err
    return tmp_path


def test_nothing_of_the_references_is_published(folder: Path) -> None:
    files = sorted(path.relative_to("public").as_posix() for path in Path("public").rglob("*.*"))
    assert files == ["home/clips.tsv", "street/clips.tsv", "street/names.tsv", "task.toml"]
    assert Path("public/home/clips.tsv").read_text().splitlines()[1] == "a\t5.000000"
    again = run("tasks", "publish", "mine.toml", "--data", "data", "-o", "public")
    assert again.code == 2
    assert "not empty" in again.err


GOOD_LIST = ("a 1 2 bark", "b 0 1 meow")

SUBMISSIONS: dict[str, tuple[Callable[[Path], None], tuple[str, ...], list[str]]] = {
    "good": (write_scores, GOOD_LIST, []),
    "a clip too few": (
        lambda home: write_scores(home, clips="ab"),
        GOOD_LIST,
        ["the clip c is missing"],
    ),
    "a clip too many": (
        lambda home: write_scores(home, clips="abcd"),
        GOOD_LIST,
        ["the clip d is not in the ground truth"],
    ),
    "a class too few": (
        lambda home: write_scores(home, ["Dog"]),
        GOOD_LIST,
        ["the class Cat has no scores"],
    ),
    "another case": (
        lambda home: write_scores(home, ["Dog", "cat"]),
        GOOD_LIST,
        ["class Cat (did you mean cat?) has no scores"],
    ),
    "a list": (
        write_scores,
        ("a 1 2 bark", "b 3 2 meow", "d 0 1 bark", "a x 1 bark", "c 0 1 cow"),
        ["street.tsv:3", "street.tsv:5", "cow is not a class"],
    ),
}


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_the_verdict_is_the_same_with_and_without_the_references(name: str, folder: Path) -> None:
    write_home, rows, expected = SUBMISSIONS[name]
    write_home(folder / "ours" / "home")
    write_list(folder / "ours" / "street.tsv", *rows)
    hidden = run("check", "ours", "--task", "public/task.toml")
    known = run("check", "ours", "--task", "mine.toml", "--data", "data")
    assert (hidden.code, hidden.out) == (known.code, known.out)
    assert hidden.code == bool(expected)
    for text in expected:
        assert text in hidden.out


def test_times_beyond_the_clips_are_noted_without_the_references(folder: Path) -> None:
    write_scores(folder / "ours" / "home", frames=15)
    write_list(folder / "ours" / "street.tsv", *GOOD_LIST, "b 4 9 bark")
    for options in (("public/task.toml",), ("mine.toml", "--data", "data")):
        done = run("check", "ours", "--task", *options)
        assert "home: The scores of 3 clips go on more than 10 % beyond the end" in done.err
        assert "ours/street.tsv:4: b: bark 4–9 s goes on after the end of the clip, at 5 s" in done.err


def test_nan_is_found_without_the_references(folder: Path) -> None:
    write_scores(folder / "ours" / "home")
    write_list(folder / "ours" / "street.tsv", *GOOD_LIST)
    table = folder / "ours" / "home" / "b.tsv"
    lines = table.read_text().splitlines()
    lines[3] = "\t".join([*lines[3].split("\t")[:-1], "nan"])
    table.write_text("\n".join(lines) + "\n")
    for options in (("public/task.toml",), ("mine.toml", "--data", "data")):
        done = run("check", "ours", "--task", *options)
        assert done.code == 1
        assert done.out.splitlines()[0].startswith("ours/home/b.tsv:4: ")


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_a_clip_table_of_the_task_serves_with_the_references_too(folder: Path) -> None:
    write_scores(folder / "ours" / "home")
    write_list(folder / "ours" / "street.tsv", *GOOD_LIST)
    for name in TASK.datasets:
        (folder / "data" / name / "durations.tsv").unlink()
        (folder / "data" / name / "clips.tsv").write_text(Path(f"public/{name}/clips.tsv").read_text())
    score = sed.tasks.evaluate_task(sed.tasks.read_task("public/task.toml"), "ours", "data").score
    assert np.isfinite(score)
    (folder / "data" / "home" / "clips.tsv").write_text("filename\na\nb\n")
    with pytest.raises(sed.SedscopeError, match="do not have the same clips: c"):
        sed.tasks.evaluate_task(sed.tasks.read_task("public/task.toml"), "ours", "data")


@pytest.mark.parametrize("unreferenced", ["keep", "drop"])
def test_chunks_are_published_with_their_recordings(
    unreferenced: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    task = sed.tasks.Task(
        "chunks",
        {
            "home": dataset(
                "segment_f1",
                classes=["Dog"],
                chunks=sed.tasks.ChunkRule(segment=1.0, unreferenced=unreferenced, uncovered=0.0),
            )
        },
        "home.segment_f1",
    )
    (tmp_path / "data").mkdir()
    events = {"x-0-5": [(1, 2, "Dog")], "x-5-10": []}
    sed.write_ground_truth(sed.GroundTruth.from_dict(events), tmp_path / "data" / "ground_truth.tsv")
    (tmp_path / "data" / "durations.tsv").write_text("filename\tduration\nx\t10\n")
    sed.tasks.publish_task(task, "data", "public")
    arrays = {clip: np.linspace(0.1, 0.9, 10).reshape(10, 1) for clip in events}
    sed.write_scores(sed.Scores.from_arrays(arrays, classes=["Dog"], frame=0.5), "ours/home")
    assert sed.tasks.check_submission(task, "ours", "data").problems == []
    assert sed.tasks.check_submission("public/task.toml", "ours").problems == []
    (tmp_path / "ours" / "home" / "x-5-10.tsv").unlink()
    hidden = sed.tasks.check_submission("public/task.toml", "ours").problems
    assert hidden == sed.tasks.check_submission(task, "ours", "data").problems
    assert hidden


def test_a_check_never_shows_reference_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    task = sed.tasks.Task("mine", {"home": dataset("psds1", classes=["Dog"])}, "home.psds1")
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog"), (7.125, 8.25, "Dog")], "b": []})
    (tmp_path / "data").mkdir()
    sed.write_ground_truth(truth, tmp_path / "data" / "ground_truth.tsv")
    arrays = {clip: np.linspace(0.1, 0.9, 10).reshape(10, 1) for clip in truth.clips}
    sed.write_scores(sed.Scores.from_arrays(arrays, classes=["Dog"], frame=0.5), "ours/home")
    check = sed.tasks.check_submission(task, "ours", "data")  # nothing states that clips end later
    assert [problem.rpartition("home: ")[2] for problem in check.problems] == [
        "1 reference event begins after the last score of the clip"
    ]
    assert not any("7.125" in text or "8.25" in text for text in (*check.problems, *check.warnings))


def test_regions_get_the_same_verdict(folder: Path) -> None:
    write = (folder / "data" / "home" / "regions.tsv").write_text
    write("filename\tonset\toffset\na\t0\t1.5\nb\t0\t3\nc\t0\t3\n")
    task = sed.tasks.read_task("mine.toml")
    home = replace(task.datasets["home"], regions="regions.tsv")
    sed.tasks.write_task(replace(task, datasets={**task.datasets, "home": home}), "regions.toml")
    sed.tasks.publish_task("regions.toml", "data", "public_regions")
    hidden = sed.tasks.check_submission("public_regions/task.toml", "ours")
    known = sed.tasks.check_submission("regions.toml", "ours", "data")
    assert (hidden.problems, hidden.warnings) == (known.problems, known.warnings)


def test_what_needs_the_references_is_refused(folder: Path) -> None:
    task = sed.tasks.Task("other", {"home": dataset("psds1")}, "home.psds1")
    with pytest.raises(sed.SedscopeError, match=r"home: it does not list its classes"):
        sed.tasks.publish_task(task, "data", "elsewhere")
    assert not Path("elsewhere").exists()
    assert run("check", "ours", "--task", "dcase2021_task4").code == 2
    assert run("tasks", "publish", "mine.toml").code == 2
