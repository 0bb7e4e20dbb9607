"""``sedscope diagnose`` and ``sedscope latency``: tables, the picture, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..support.command_line import run
from ..support.files import write_files
from ..support.three_systems import refused

FILES = {
    "detected.tsv": "filename\tonset\toffset\tevent_label\tconfidence\n"
    "a.wav\t11.5\t14\tSiren\t0.9\n"
    "a.wav\t91\t92\tSiren\t0.3\n",
    "truth.tsv": "filename\tonset\toffset\tevent_label\na.wav\t10\t20\tSiren\na.wav\t90\t95\tSiren\n",
    "durations.tsv": "filename\tduration\na.wav\t99\n",
    "points.toml": "[thresholds]\nSiren = 0.5\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES)
    return tmp_path


def test_latencies_at_operating_points_and_a_picture(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("latency", folder / "detected.tsv", folder / "truth.tsv")
    options = ("--durations", folder / "durations.tsv", "--criterion", "Alarm(cooldown=20)")
    picture = folder / "latency.svg"
    outcome = run(*command, *options, "--points", folder / "points.toml", "-o", picture)
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[2].split() == ["Siren", "2", "0.500", *["1.500"] * 4]
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    outcome = run(*command, *options, "--threshold", 0.2, "--json", "-")
    assert json.loads(outcome.out)["Siren"]["latency_50"] == 1.0


def test_error_types_worst_clips_and_confusions(folder: Path) -> None:
    command = ("diagnose", folder / "detected.tsv", folder / "truth.tsv")
    options = ("--durations", folder / "durations.tsv", "--criterion", "IoU(0.1)")
    at_points = ("--points", folder / "points.toml")
    types = run(*command, *options, *at_points, "--json", "-")
    [row] = json.loads(types.out)["rows"]
    assert (row["reference_found"], row["reference_missed"], row["detection_true"]) == (1, 1, 1)
    worst = run(*command, *options, "--threshold", 0.5, "--worst", 3, "-o", folder / "worst.csv")
    assert worst.out.splitlines()[2].split() == ["a", "0", "1"]
    rows = (folder / "worst.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1:] == ["a,Siren,0,1"]
    confusions = run(*command, *options, "--threshold", 0.2, "--confusions")
    assert confusions.out.splitlines()[2].split() == ["Siren", "2", "0", "0"]
    message = refused(run(*command, *options, *at_points, "--worst", 3, "--confusions"))
    assert "either --worst or --confusions" in message


def test_pictures_and_thresholds_of_the_best_fscore(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("diagnose", folder / "detected.tsv", folder / "truth.tsv")
    options = ("--durations", folder / "durations.tsv", "--criterion", "IoU(0.1)")
    picture, table = folder / "confusions.svg", folder / "confusions.tex"
    outcome = run(*command, *options, "--confusions", "-o", picture, "-o", table, "--caption", "Ours")
    assert outcome.out.splitlines()[2].split() == ["Siren", "2", "0", "0"]
    assert "warning: Errors are those at the best F-score of each class on these clips." in outcome.err
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    assert r"\caption{Ours}" in table.read_text(encoding="utf-8")
    message = refused(run(*command, *options, "-o", folder / "types.png"))
    assert "pictures of --worst and --confusions" in message
    message = refused(run(*command, *options, "--worst", 3, "--table-intervals", "below"))
    assert "--table-intervals is for tables in LaTeX" in message


def test_what_is_refused(folder: Path) -> None:
    command = ("latency", folder / "detected.tsv", folder / "truth.tsv")
    assert "either --points or --threshold" in refused(run(*command))
    message = refused(run(*command, "--threshold", 0.5, "-o", folder / "latency.txt"))
    assert "the name of a picture ends in" in message
    options = ("--durations", folder / "durations.tsv", "--threshold", 0.5)
    message = refused(run(*command, *options, "--criterion", "Collar()"))
    assert "Latencies need an Alarm" in message
