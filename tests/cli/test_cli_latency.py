"""``sedscope latency``: the table, the picture, and what is refused."""

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


def test_what_is_refused(folder: Path) -> None:
    command = ("latency", folder / "detected.tsv", folder / "truth.tsv")
    assert "either --points or --threshold" in refused(run(*command))
    message = refused(run(*command, "--threshold", 0.5, "-o", folder / "latency.txt"))
    assert "the name of a picture ends in" in message
    options = ("--durations", folder / "durations.tsv", "--threshold", 0.5)
    message = refused(run(*command, *options, "--criterion", "Collar()"))
    assert "Latencies need an Alarm" in message
