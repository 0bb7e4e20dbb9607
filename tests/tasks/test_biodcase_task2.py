"""BioDCASE Task 2, calls of baleen whales: classes are merged, sites are groups, pairs are one to one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import sedscope as sed

from ..support.command_line import run

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
HEADER = "dataset,filename,annotation,start_datetime,end_datetime"
Call = tuple[str, int, int, str, int]
"""Site, start and end in seconds, annotation, and the day on which the file begins."""
CALLS: list[Call] = [
    ("north", 10, 20, "bma", 18),
    ("north", 15, 25, "bmb", 18),  # overlaps the first, of the same class
    ("north", 70, 80, "bmd", 18),
    ("south", 10, 20, "bp20", 18),  # the file has the same name as that in the north
    ("south", 70, 80, "bp20plus", 18),
    ("south", 90, 95, "bmz", 18),
]
DETECTED: list[Call] = [
    ("north", 10, 20, "bmz", 18),
    ("north", 10, 19, "bmabz", 18),  # paired with 15–25, because its IoU is 4/15
    ("north", 16, 24, "bmabz", 18),
    ("north", 10, 20, "bp", 18),
    ("south", 10, 20, "bp", 18),
    ("south", 70, 73, "bp20", 18),  # IoU of 0.3 is not above it
    ("south", 1, 2, "d", 19),  # the file has no annotations
]


def rows(calls: Iterable[Call]) -> str:
    def time(day: int, second: int) -> str:
        return f"2014-02-{day}T21:{second // 60:02}:{second % 60:02}.000000+00:00"

    lines = [
        f"{site},2014-02-{day}T21-00-00_000.wav,{label},{time(day, start)},{time(day, end)}"
        for site, start, end, label, day in calls
    ]
    return "\n".join([HEADER, *lines, ""])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table for each site, and one of all detections."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "annotations").mkdir(parents=True)
    for site in ("north", "south"):
        of_site = [call for call in CALLS if call[0] == site]
        (tmp_path / "data" / "annotations" / f"{site}.csv").write_text(rows(of_site))
    (tmp_path / "detected.csv").write_text(rows(DETECTED))
    return tmp_path


def counts(evaluation: sed.Evaluation) -> dict[str, tuple[int, int, int]]:
    tables = next(iter(evaluation.counts.values()))
    tallies = {label: tables[label].tally_at(0.5) for label in tables}
    return {label: (int(tally.tp), int(tally.fp), int(tally.fn)) for label, tally in tallies.items()}


def test_counts_of_classes_and_sites(folder: Path) -> None:
    result = sed.tasks.evaluate_task("biodcase_task2", "detected.csv", "data")
    whales = result.datasets["whales"]
    assert counts(whales) == {"bmabz": (2, 1, 1), "d": (0, 1, 1), "bp": (1, 2, 1)}
    sites = {site: counts(evaluation) for site, evaluation in whales.groups["clips"].items()}
    assert sites == {
        "north": {"bmabz": (2, 1, 0), "d": (0, 0, 1), "bp": (0, 1, 0)},
        "south": {"bmabz": (0, 0, 1), "d": (0, 1, 0), "bp": (1, 1, 1)},
    }
    # the mean over the classes of all sites
    assert result.score == pytest.approx((4 / 6 + 0 + 2 / 5) / 3)


def test_layouts_and_the_command(folder: Path) -> None:
    expected = sed.tasks.evaluate_task("biodcase_task2", "detected.csv", "data").score
    task = ("--task", "biodcase_task2")
    assert run("check", "detected.csv", *task, "--data", "data").out == "no problems\n"
    printed = run("evaluate", "detected.csv", *task, "--data", "data", "--json", "-")
    plain = json.loads(printed.out)
    assert plain["score"] == plain["datasets"]["whales"]["f1"] == expected
    assert [*plain["details"]["whales"]["groups"]["clips"]["groups"]] == ["north", "south"]
    # one table for all sites; predictions in a folder
    Path("one").mkdir()
    Path("one", "ground_truth.csv").write_text(rows(CALLS))
    Path("ours").mkdir()
    Path("ours", "north.csv").write_text(rows(DETECTED[:4]))
    Path("ours", "south.csv").write_text(rows(DETECTED[4:]))
    assert sed.tasks.evaluate_task("biodcase_task2", "ours", "one").score == expected
    assert sed.tasks.evaluate_task("biodcase_task2", "ours", "data/annotations").score == expected
    both = run("evaluate", "ours", "one/ground_truth.csv", *task, "--json", "-")
    assert json.loads(both.out)["score"] == expected


def test_several_detections_of_one_reference(folder: Path) -> None:
    """One is right and two are false. The public evaluator finds no false one: its precision is 1."""
    Path("one.csv").write_text(rows(CALLS[2:3]))
    Path("three.csv").write_text(rows([("north", 70 + i, 80, "d", 18) for i in range(3)]))
    task = sed.tasks.read_task("biodcase_task2")
    only = sed.tasks.Dataset(**{**vars(task.datasets["whales"]), "classes": ("d",)})
    result = sed.tasks.evaluate_task(
        sed.tasks.Task("one", {"whales": only}, "whales.precision"), "three.csv", truth="one.csv"
    )
    assert counts(result.datasets["whales"]) == {"d": (1, 2, 0)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("north,2014", ",2014", "1 clip has no group, because the pattern .* does not match the name"),
        (",bp,", ",whale,", "whale"),
        ("2014-02-18T21-00-00_000.wav", "first.wav", "2014-02-18T21-00-00_000.wav"),
    ],
)
def test_what_is_refused(old: str, new: str, message: str, folder: Path) -> None:
    text = Path("detected.csv").read_text()
    Path("detected.csv").write_text(text.replace(old, new))
    checked = run("check", "detected.csv", "--task", "biodcase_task2", "--data", "data")
    if new != ",whale,":  # a class that the task does not have is left out of it
        with pytest.raises(sed.SedscopeError, match=message):
            sed.tasks.evaluate_task("biodcase_task2", "detected.csv", "data")
    assert checked.code == 1
    assert checked.out.startswith("detected.csv:")
    assert re.search(message, checked.out)
