"""``sedscope check``: all problems of a submission, a line each."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.files import DURATIONS, SCORES, TRUTH, table
from .layout import dataset

TASK = sed.tasks.Task(
    "mine",
    {
        "home": dataset("segment_f1", classes=["Dog", "Cat"]),
        "street": dataset("segment_f1", classes=["Dog", "Cat"]),
    },
    "mean(home.segment_f1, street.segment_f1)",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two data sets, a task file, and a submission without problems: scores and a list of events."""
    monkeypatch.chdir(tmp_path)
    sed.tasks.write_task(TASK, "mine.toml")
    for name in TASK.datasets:
        (tmp_path / "data" / name).mkdir(parents=True)
        (tmp_path / "data" / name / "ground_truth.tsv").write_text(TRUTH)
        (tmp_path / "data" / name / "durations.tsv").write_text(DURATIONS)
    (tmp_path / "ours" / "home").mkdir(parents=True)
    for clip, text in SCORES.items():
        (tmp_path / "ours" / "home" / f"{clip}.tsv").write_text(text)
    (tmp_path / "ours" / "street").mkdir()
    (tmp_path / "ours" / "street" / "events.csv").write_text(
        table("filename onset offset event_label", "a 1 3 Dog", "b 0 1 Cat").replace("\t", ",")
    )
    return tmp_path


def check() -> tuple[int, list[str]]:
    outcome = run("check", "ours", "--task", "mine.toml", "--data", "data")
    return outcome.code, outcome.out.splitlines()


def test_a_good_submission(folder: Path) -> None:
    assert check() == (0, ["no problems"])


def test_a_file_may_have_a_suffix(folder: Path) -> None:
    (folder / "ours" / "street" / "events.csv").rename(folder / "ours" / "street.csv")
    (folder / "ours" / "street").rmdir()
    assert check() == (0, ["no problems"])
    (folder / "ours" / "street.tsv").write_text("filename\tonset\toffset\tevent_label\n")
    code, lines = check()
    assert code == 1
    assert lines[0] == "ours/street: several files or folders have this name: street.csv, street.tsv"


def test_a_folder_may_have_a_suffix(folder: Path) -> None:
    home = folder / "ours" / "home"
    sed.write_scores(sed.read_scores(home), folder / "ours" / "home.store", format="store")
    shutil.rmtree(home)
    assert check() == (0, ["no problems"])


def test_no_advice_that_participants_cannot_follow(folder: Path) -> None:
    table = folder / "ours" / "home" / "a.tsv"
    for path in (table, table.with_name("b.tsv")):
        path.write_text(path.read_text().replace("Dog", "DOG"))
    code, lines = check()
    assert code == 1
    assert any("DOG" in line for line in lines)
    assert not any("map" in line for line in lines), lines


def test_a_task_says_what_is_cut_off(folder: Path) -> None:
    table = folder / "ours" / "home" / "a.tsv"
    rows = table.read_text().splitlines()
    *_, last = rows
    _, end, *scores = last.split("\t")
    late = [[str(float(end) + second), str(float(end) + second + 1), *scores] for second in range(9)]
    table.write_text("\n".join([*rows, *map("\t".join, late), ""]))
    commands = [("check", "ours"), ("evaluate", "ours")]
    for command in commands:
        outcome = run(*command, "--task", "mine.toml", "--data", "data")
        assert "beyond the end of the clip; detections there count: a (" in outcome.err
        assert "--coverage" not in outcome.err


def test_all_problems_at_once(folder: Path) -> None:
    (folder / "ours" / "home" / "a.tsv").write_text(SCORES["a"].replace(".9", "nan"))
    (folder / "ours" / "home" / "b.tsv").unlink()
    (folder / "ours" / "street" / "events.csv").write_text(
        "filename,onset,offset,event_label\na,1,3,Dog\na,3,2,Dog\nb,x,1,Cat\nb,0,1,Horse\n"
    )
    code, lines = check()
    assert code == 1
    assert lines[-1] == f"{len(lines) - 1} problems"
    for expected in (
        "ours/home/a.tsv:3: ",
        "ours/home: the clip b is missing",
        "ours/street/events.csv:3: ",
        "ours/street/events.csv:4: ",
        "ours/street/events.csv:5: Horse is not a class of the task",
    ):
        assert sum(line.startswith(expected) for line in lines) == 1, (expected, lines)
    assert len(lines) == 6
    assert all(line.startswith("ours/") for line in lines[:-1])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda ours: (ours / "home").rename(ours / "Home"),
            ["ours/home: the output for the data set home is missing. There is Home"],
        ),
        (lambda ours: ours.rename("theirs"), ["ours: there is no such file or folder"]),
        (
            lambda ours: [file.unlink() for file in (ours / "home").iterdir()],
            ["ours/home: holds no score tables (*.tsv)"],
        ),
        (
            lambda ours: (ours / "home" / "c.tsv").write_text(SCORES["a"]),
            ["ours/home: the clip c is not in the ground truth"],
        ),
        (
            lambda ours: [
                (ours / "home" / f"{clip}.tsv").write_text(SCORES[clip].replace("Cat", "Cow"))
                for clip in SCORES
            ],
            ["ours/home: the class Cat has no scores"],
        ),
    ],
)
def test_single_problems(change: object, expected: list[str], folder: Path) -> None:
    assert callable(change)
    change(Path("ours"))
    code, lines = check()
    assert (code, lines) == (1, [*expected, "1 problem"])


def test_what_check_refuses_evaluate_refuses_too(folder: Path) -> None:
    (folder / "ours" / "home" / "b.tsv").unlink()
    with pytest.raises(sed.SedscopeError, match="home: "):
        sed.tasks.evaluate_task(TASK, "ours", "data")


def test_the_data_must_be_there(folder: Path) -> None:
    outcome = run("check", "ours", "--task", "mine.toml", "--data", "nowhere")
    assert (outcome.code, outcome.out) == (2, "")
    assert "The data of the task mine is not complete" in outcome.err
    assert "Give the task (--task)" in run("check", "ours", "--data", "data").err


def test_links_that_lead_out_of_a_submission_are_problems(folder: Path) -> None:
    (folder / "secret.tsv").write_text("password\n")
    linked = folder / "ours" / "street" / "events.csv"
    linked.rename(folder / "ours" / "kept.csv")
    linked.symlink_to(folder / "ours" / "kept.csv")  # stays inside
    assert check() == (0, ["no problems"])
    for target in ("secret.tsv", "absent.tsv"):
        linked.unlink()
        linked.symlink_to(folder / target)
        message = "this is a link that leads out of the submission. Replace it with what it leads to"
        assert check() == (1, [f"ours/street/events.csv: {message}", "1 problem"])


def test_a_submission_and_data_may_be_links(folder: Path) -> None:
    for name in ("ours", "data"):
        (folder / name).rename(folder / f"{name} elsewhere")
        (folder / name).symlink_to(f"{name} elsewhere")
    truth = folder / "data" / "home" / "ground_truth.tsv"
    truth.rename(folder / "truth.tsv")
    truth.symlink_to(folder / "truth.tsv")
    assert check() == (0, ["no problems"])


@pytest.mark.parametrize("kind", ["zip", "gztar"])
@pytest.mark.parametrize("around", [True, False])
def test_an_archive_is_checked_like_its_folder(kind: str, around: bool, folder: Path) -> None:
    (folder / "ours" / "home" / "a.tsv").write_text("")
    expected = check()
    base = folder if around else folder / "ours"
    shutil.make_archive(str(folder / "packed"), kind, base, "ours" if around else ".")
    name = "packed.zip" if kind == "zip" else "packed.tar.gz"
    outcome = run("check", name, "--task", "mine.toml", "--data", "data")
    assert expected[0] == outcome.code == 1
    inside = f"{name}/ours/" if around else f"{name}/"
    assert outcome.out.splitlines() == [line.replace("ours/", inside) for line in expected[1]]


def test_an_archive_that_leads_out_is_a_problem(folder: Path) -> None:
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("../home", "x")
    outcome = run("check", "packed.zip", "--task", "mine.toml", "--data", "data")
    assert outcome.code == 1
    assert "'../home' is a name that could lead out of the archive" in outcome.out
