"""The command line: intervals and post-processed scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.command_line import table_rows
from ..support.three_systems import (
    COLLAR,
    PSDS,
    SWEEP,
    command,
    evaluated,
    groups_of,
    metric_of,
    read,
    refused,
)

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.mark.parametrize(
    ("options", "resampling"),
    [
        ([], {}),
        (["--seed", 3, "--confidence", 0.8], {"seed": 3, "confidence": 0.8}),
        (["--interval", "percentile"], {"interval": "percentile"}),
        (["--interval", "bca"], {"interval": "bca"}),
        (["--balanced"], {"balanced": True}),
        (["--groups", "groups.tsv"], {"groups": True}),
    ],
)
def test_intervals(options: list[Any], resampling: dict[str, Any], folder: Path) -> None:
    options = [folder / option if option == "groups.tsv" else option for option in options]
    if "groups" in resampling:
        resampling = {"groups": groups_of(folder)}
    got = evaluated(folder, "--metric", PSDS, "--metric", COLLAR, "--bootstrap", 40, *options)
    metrics = [metric_of(text) for text in (PSDS, COLLAR)]
    expected = sed.evaluate(*read(folder), metrics, resampling=sed.Resampling(40, **resampling))
    for entry, metric in zip(got["metrics"], metrics, strict=True):
        interval = expected.intervals[metric]
        found = entry["interval"]
        assert [found["low"], found["high"]] == [interval.low, interval.high]
        assert found["undefined_resamples"] == interval.undefined == 0
        assert found["resampling"] == interval.resampling.about()
        if interval.resampling.interval == "percentile":
            assert found["low"] <= entry["value"] <= found["high"]
        for label, of_class in found["per_class"].items():
            one = interval.per_class[label]
            limits = [None if np.isnan(x) else x for x in (one.low, one.high)]
            assert [of_class["low"], of_class["high"]] == limits
            assert of_class["undefined_resamples"] == one.undefined


def test_intervals_in_the_table(folder: Path) -> None:
    outcome = command(folder, "evaluate", "--metric", COLLAR, "--bootstrap", 20, "--balanced")
    assert outcome.code == 0
    metric = metric_of(COLLAR)
    resampling = sed.Resampling(20, balanced=True)
    interval = sed.evaluate(*read(folder), metric, resampling=resampling).intervals[metric]
    text = f"{interval.value:.4f} ({interval.low:.4f}–{interval.high:.4f})"
    assert " ".join(table_rows(outcome.out)["overall"][1:]) == text
    assert "in brackets 95 % subsampling intervals from 20 balanced resamples of clips" in outcome.out


def test_without_intervals_there_are_none(folder: Path) -> None:
    (entry,) = evaluated(folder, "--metric", COLLAR)["metrics"]
    assert "interval" not in entry


def test_post_processed_scores(folder: Path) -> None:
    scores, truth = read(folder)
    options = ["--postprocess", "MedianFilter(0.3)", "--postprocess", "MinimumDuration(0.2)"]
    got = evaluated(folder, "--metric", PSDS, *options, "--bootstrap", 10)["metrics"][0]
    metric = metric_of(PSDS)
    chain = sed.postprocessing.parse_postprocessing("Chain(MedianFilter(0.3), MinimumDuration(0.2))")
    expected = sed.evaluate(chain(scores), truth, metric, resampling=10)
    assert got["value"] == expected[metric].value
    assert got["interval"]["low"] == expected.intervals[metric].low


def test_postprocessing_independent_psds(folder: Path) -> None:
    text = f"PiPSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1, postprocessing='{SWEEP}')"
    got = evaluated(folder, "--metric", text, "--metric", PSDS, "--bootstrap", 10)
    pi, psds = got["metrics"]
    assert sed.parse_metric(pi["metric"]) == sed.parse_metric(text)
    assert all(pi["per_class"][label] >= value for label, value in psds["per_class"].items())
    assert pi["interval"]["low"] < pi["interval"]["high"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bootstrap", "0"], "--bootstrap 0 must be from 1"),
        (["--bootstrap", "10", "--confidence", "1.5"], "confidence=1.5"),
        (["--bootstrap", "10", "--seed", "-1"], "seed=-1"),
        (["--bootstrap", "10", "--groups", "nowhere.tsv"], "Cannot read"),
        (["--bootstrap", "10", "--groups", "truth.tsv"], "must name the columns"),
        (["--bootstrap", "10", "--groups", "few.tsv"], "23 clips have no group"),
        (
            ["--bootstrap", "10", "--groups", "one_column.tsv"],
            "one_column.tsv: the first line must name the columns",
        ),
        (
            ["--bootstrap", "10", "--groups", "bare.tsv"],
            "bare.tsv: 1 row does not name one group: line 3",
        ),
        (
            ["--groups", "groups.tsv"],
            "Without --bootstrap there are no intervals, so --groups cannot be used",
        ),
        (["--interval", "bca", "--balanced"], "no intervals, so --interval, --balanced cannot be used"),
        (["--confidence", "0.9"], "no intervals, so --confidence cannot be used"),
        (["--postprocess", "Median(1)"], "Median"),
        (["--postprocess", "PerClass({'Cow': MedianFilter(1)})"], "The scores have no class Cow"),
        (["--points", "nowhere.toml"], "Cannot read"),
        (["--points", "truth.tsv"], "not a file of operating points"),
    ],
)
def test_evaluate_refuses(options: list[str], message: str, folder: Path) -> None:
    first = next(iter(groups_of(folder)))
    (folder / "few.tsv").write_text(f"filename\tgroup\n{first}.wav\tx\n")
    (folder / "one_column.tsv").write_text("filename\na\n")
    (folder / "bare.tsv").write_text("filename\tgroup\na\tx\nb\t \n")
    arguments = [folder / option if option.endswith((".tsv", ".toml")) else option for option in options]
    assert message in refused(command(folder, "evaluate", *arguments))


def test_unknown_kinds_of_intervals_are_usage_errors(folder: Path) -> None:
    for name in ("evaluate", "compare"):
        outcome = command(folder, name, "--interval", "normal")
        assert (outcome.code, outcome.out) == (2, "")
        assert "normal" in outcome.err


def test_groups_are_read_without_spaces_and_case_of_extensions(folder: Path, tmp_path: Path) -> None:
    lines = [f" {clip}.wav\t{group} \tmore" for clip, group in groups_of(folder).items()]
    (tmp_path / "groups.tsv").write_text("\n".join(["filename\tgroup\tnote", *lines, lines[0], ""]))
    options = ["--metric", COLLAR, "--bootstrap", 20, "--groups"]
    got, expected = (evaluated(folder, *options, place / "groups.tsv") for place in (tmp_path, folder))
    assert got == expected
