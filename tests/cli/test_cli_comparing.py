"""The command line: comparing systems."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import sedscope as sed
from sedscope.postprocessing import MedianFilter

from ..support.command_line import run
from ..support.systems import posix_only
from ..support.three_systems import COLLAR, ERRORS, PSDS, command, metric_of, read, refused

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_compare(folder: Path, tmp_path: Path) -> None:
    options = ["--metric", PSDS, "--metric", ERRORS, "--bootstrap", 30, "--interval", "bca"]
    files = [option for kind in ("md", "tex", "csv") for option in ("-o", str(tmp_path / f"x.{kind}"))]
    outcome = command(folder, "compare", folder / "good", folder / "bad", *options, *files)
    assert outcome.code == 0
    systems = {name: read(folder, name)[0] for name in ("good", "bad")}
    metrics = [metric_of(text) for text in (PSDS, ERRORS)]
    expected = sed.compare(
        systems, read(folder)[1], metrics, resampling=sed.Resampling(n=30, interval="bca")
    )
    assert expected.table() in outcome.out
    for metric in metrics:
        assert expected.class_table(metric) in outcome.out
    assert outcome.out.startswith("24 clips, 0.07 hours\n")
    texts = {kind: (tmp_path / f"x.{kind}").read_text(encoding="utf-8") for kind in ("md", "tex")}
    assert texts == {"md": expected.to_markdown(), "tex": expected.to_latex()}
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        numbers = list(csv.DictReader(file))
    (pair,) = [
        r for r in numbers if r["less"] and not r["class"] and r["definition"] == repr(metrics[0])
    ]
    difference = expected.differences[metrics[0]]["bad", "good"]
    assert float(pair["value"]) == difference.value
    assert (pair["system"], pair["less"], pair["verdict"]) == ("bad", "good", str(difference.verdict))


def test_a_published_value(folder: Path, tmp_path: Path) -> None:
    table, page = tmp_path / "x.csv", tmp_path / "x.html"
    rest = (folder / "truth.tsv", "--durations", folder / "durations.tsv", "--metric", PSDS)
    systems = (f"ours={folder / 'good'}", "baseline=0.342", folder / "bad")
    outcome = run("compare", *systems, *rest, "--bootstrap", 30, "-o", table, "--report", page)
    assert outcome.code == 0, outcome.err
    assert "0.3420 (published)" in outcome.out
    assert "baseline − ours" in outcome.out
    with table.open(encoding="utf-8", newline="") as file:
        (pair,) = [r for r in csv.DictReader(file) if (r["system"], r["less"]) == ("baseline", "ours")]
    ours = sed.compare({"ours": read(folder, "good")[0], "b": 0.342}, read(folder)[1], metric_of(PSDS))
    assert float(pair["value"]) == ours.differences[metric_of(PSDS)]["b", "ours"].value
    assert page.stat().st_size > 0
    assert "All systems are published values" in refused(run("compare", "a=0.1", "b=0.2", *rest))


def test_captions_of_tables(folder: Path, tmp_path: Path) -> None:
    table = str(tmp_path / "x.tex")
    arguments = ("compare", folder / "good", folder / "bad", "--metric", COLLAR)
    outcome = command(folder, *arguments, "-o", table, "--caption", "Ours")
    assert outcome.code == 0
    systems = {name: read(folder, name)[0] for name in ("good", "bad")}
    expected = sed.compare(systems, read(folder)[1], metric_of(COLLAR))
    assert Path(table).read_text(encoding="utf-8") == expected.to_latex(caption="Ours")
    outcome = command(folder, *arguments, "--caption", "Ours")
    assert outcome.code == 2
    assert "-o table.tex" in outcome.err


def test_compare_runs(folder: Path) -> None:
    runs = f"mine={folder / 'good'},{folder / 'again'}"
    other = f"a/b={folder / 'bad'}"
    arguments = [folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    outcome = run("compare", runs, other, *arguments, "--metric", COLLAR, "--bootstrap", 20)
    assert outcome.code == 0
    systems: dict[str, Any] = {
        "mine": [read(folder, "good")[0], read(folder, "again")[0]],
        "a/b": read(folder, "bad")[0],
    }
    expected = sed.compare(systems, read(folder)[1], metric_of(COLLAR), resampling=20)
    assert expected.table() in outcome.out
    assert " ± " in outcome.out


def test_compare_post_processed_choices(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "clips.txt").write_text("\n".join(list(read(folder)[0])[:12]))
    options = ["--metric", COLLAR, "--bootstrap", 20, "--postprocess", "MedianFilter(0.3)"]
    choice = ["--classes", "Dog,Speech", "--clips", str(tmp_path / "clips.txt"), "--seed", 4]
    more = ["--balanced", "--confidence", 0.5]
    outcome = command(folder, "compare", folder / "good", folder / "bad", *options, *choice, *more)
    systems = {name: MedianFilter(0.3)(read(folder, name)[0]) for name in ("good", "bad")}
    expected = sed.compare(
        systems,
        read(folder)[1],
        metric_of(COLLAR),
        resampling=sed.Resampling(n=20, confidence=0.5, seed=4, balanced=True),
        classes=["Dog", "Speech"],
        clips=list(read(folder)[0])[:12],
    )
    assert expected.table() in outcome.out
    assert outcome.out.startswith("12 clips")


def test_compare_at_false_alarms(folder: Path, tmp_path: Path) -> None:
    scores, truth = read(folder, "bad")
    detected = sed.detect(scores, 0.5)
    rows = [
        f"{clip}.wav\t{on}\t{off}\t{label}" for clip in detected for on, off, label in detected[clip]
    ]
    (tmp_path / "list.tsv").write_text("\n".join(["filename\tonset\toffset\tevent_label", *rows]))
    systems = [f"old={tmp_path / 'list.tsv'}", f"new={folder / 'good'}", str(folder / "truth.tsv")]
    options = ["--durations", folder / "durations.tsv", "--bootstrap", 40, "--at-false-alarms"]
    outcome = run("compare", *systems, *options, "list")
    assert outcome.code == 0
    events = sed.Scores.from_events(detected, classes=scores.classes, clips=truth.clips)
    expected = sed.compare(
        {"old": events, "new": read(folder, "good")[0]},
        truth,
        [sed.Recall(sed.Collar()), sed.FScore(sed.Collar())],
        resampling=40,
        at_false_alarms="list",
    )
    assert expected.table() in outcome.out
    points = outcome.out.split("false alarms per hour (threshold)")[1].splitlines()[3:]
    assert [line.split()[0] for line in points] == list(expected.classes)
    metric = expected.metrics[0]
    for line, label in zip(points, expected.classes, strict=True):
        old, new = (expected.evaluations[name][metric].per_class[label] for name in ("old", "new"))
        assert old.tally is not None
        assert new.tally is not None
        assert new.tally.fp <= old.tally.fp
        assert f"{old.tally.fp / expected.hours:.4g} " in line
    rate = run("compare", *systems, *options, "7.5")
    assert "at 7.5 false alarms per hour and class" in rate.out
    per_day = run("compare", *systems, *options, "180/day")
    assert "at 180 false alarms per day and class" in per_day.out
    assert "false alarms per day (threshold), first run" in per_day.out


@posix_only
def test_names_of_systems(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = ["truth.tsv", "--durations", "durations.tsv", "--metric", COLLAR, "--bootstrap", 5]
    monkeypatch.chdir(folder)
    (tmp_path / "good").symlink_to(folder / "bad")
    same = run("compare", "good/", tmp_path / "good", *options)  # the paths tell them apart
    assert same.code == 0
    assert f"{tmp_path / 'good'} − good" in same.out
    for wrong, message in [
        (["good", "good"], "Two systems are called good"),
        (["x=good", "x=bad"], "Two systems are called x"),
        (["good"], "Give at least two systems"),
        (["good", "x="], "x=: write NAME=FOLDER"),
        (["good", "x=bad,"], "x=bad,: write NAME=FOLDER"),
        (["good", "=bad"], "=bad: write NAME=FOLDER"),
        (["good", "x=bad,nowhere"], "nowhere"),
        (["good", "nowhere"], "nowhere"),
        (["good", "truth.tsv"], "truth.tsv"),
    ]:
        outcome = run("compare", *wrong, *options)
        if wrong[-1] == "truth.tsv":  # detections are a system, too
            assert outcome.code == 0
        else:
            assert message in refused(outcome)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "x.html"], "x.html: the name must end with .md, .tex, .csv, .png, .svg or .pdf"),
        (["-o", "x.html"], "For a page, use 'sedscope report', or --report of 'sedscope compare'."),
        (["-o", "x"], "the name must end with"),
        (["-o", "nowhere/x.md"], "nowhere"),
        (["--bootstrap", "0"], "--bootstrap 0 must be"),
        (["--metric", "PSDS"], "PSDS"),
        (["--confidence", "0"], "confidence=0"),
        (["--classes", "Cow"], "1 class has no scores: Cow"),
        (["--groups", "nowhere.tsv"], "Cannot read"),
        (["--clips", "nowhere"], "neither 'scored' nor a file"),
    ],
)
def test_compare_refuses(
    options: list[str], message: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--bootstrap", 5, *options]
    assert message in refused(command(folder, "compare", folder / "good", folder / "bad", *arguments))
    assert not list(tmp_path.iterdir())


def test_clips_that_not_all_have_scored(folder: Path, tmp_path: Path) -> None:
    clips = sorted((folder / "bad").glob("*.tsv"))
    for file in clips[:20]:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    options = ["--metric", COLLAR, "--bootstrap", 10]
    message = refused(command(folder, "compare", folder / "good", tmp_path, *options))
    assert "Not all systems have scores for 4 clips" in message
    assert "--clips scored" in message
    outcome = command(folder, "compare", folder / "good", tmp_path, *options, "--clips", "scored")
    assert outcome.code == 0
    assert outcome.out.startswith("20 clips")
