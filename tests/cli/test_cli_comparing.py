"""The command line: intervals, tuning with post-processings, comparing systems."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.data.clip_ids import clip_list_digest
from sedscope.io.durations import write_durations
from sedscope.postprocessing import MedianFilter, MinimumDuration

from ..support.command_line import Outcome, run, table_rows
from ..support.systems import posix_only

PSDS = "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"
COLLAR = "FScore(Collar(onset=0.5), threshold=0.4)"
ERRORS = "ErrorRate(Segment(length=1), threshold=0.4)"
SWEEP = "MedianFilter(0|0.3|0.7)"

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, one of them with a second run, on the same clips."""
    place = tmp_path_factory.mktemp("comparing")
    truth = sed.simulate.ground_truth(24, seed=7)
    for name, quality, seed in (("good", 0.8, 0), ("again", 0.8, 5), ("bad", 0.4, 0)):
        scores = sed.simulate.scores(truth, frame=0.1, quality=quality, seed=seed)
        sed.write_scores(scores, place / name)
    sed.write_ground_truth(truth, place / "truth.tsv")
    write_durations(truth, place / "durations.tsv")
    lines = [f"{clip}\tsite{i // 4}" for i, clip in enumerate(truth.clips)]
    (place / "groups.tsv").write_text("\n".join(["filename\tgroup", *lines, ""]))
    return place


def read(folder: Path, name: str = "good") -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    return sed.read_scores(folder / name), truth


def groups_of(folder: Path) -> dict[str, str]:
    lines = (folder / "groups.tsv").read_text().splitlines()[1:]
    return {clip: group for clip, _, group in (line.partition("\t") for line in lines)}


def command(folder: Path, name: str, *arguments: object) -> Outcome:
    """Run a command on the first system, or on those of the arguments."""
    given = [folder / "good"] if name in ("evaluate", "tune") else []
    truth = [folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    if name == "compare":
        systems = [argument for argument in arguments if isinstance(argument, Path)]
        options = [argument for argument in arguments if not isinstance(argument, Path)]
        return run(name, *systems, *truth, *options)
    return run(name, *given, *truth, *arguments)


def evaluated(folder: Path, *options: object) -> dict[str, Any]:
    outcome = command(folder, "evaluate", *options, "--json", "-")
    assert (outcome.code, outcome.err) == (0, "")
    result: dict[str, Any] = json.loads(outcome.out)
    return result


def metric_of(text: str) -> Any:
    return sed.parse_metric(text)


def refused(outcome: Outcome) -> str:
    """What a command says that does nothing."""
    assert (outcome.code, outcome.out) == (2, ""), outcome
    assert "Traceback" not in outcome.err
    lines = outcome.err.strip().splitlines()
    assert len(lines) == 1, outcome.err
    return lines[0]


# sedscope evaluate


@pytest.mark.parametrize(
    ("options", "resampling"),
    [
        ([], {}),
        (["--seed", 3, "--confidence", 0.8], {"seed": 3, "confidence": 0.8}),
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
    expected = sed.evaluate(*read(folder), metrics, bootstrap=sed.Resampling(40, **resampling))
    for entry, metric in zip(got["metrics"], metrics, strict=True):
        interval = expected.intervals[metric]
        found = entry["interval"]
        assert [found["low"], found["high"]] == [interval.low, interval.high]
        assert found["undefined_resamples"] == interval.undefined == 0
        assert found["resampling"] == interval.resampling.about()
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
    interval = sed.evaluate(*read(folder), metric, bootstrap=resampling).intervals[metric]
    text = f"{interval.value:.4f} ({interval.low:.4f}–{interval.high:.4f})"
    assert " ".join(table_rows(outcome.out)["overall"][1:]) == text
    assert "in brackets 95 % percentile intervals from 20 balanced resamples of clips" in outcome.out


def test_without_intervals_there_are_none(folder: Path) -> None:
    (entry,) = evaluated(folder, "--metric", COLLAR)["metrics"]
    assert "interval" not in entry


def test_post_processed_scores(folder: Path) -> None:
    scores, truth = read(folder)
    options = ["--postprocess", "MedianFilter(0.3)", "--postprocess", "MinimumDuration(0.2)"]
    got = evaluated(folder, "--metric", PSDS, *options, "--bootstrap", 10)["metrics"][0]
    metric = metric_of(PSDS)
    chain = sed.postprocessing.parse_postprocessing("Chain(MedianFilter(0.3), MinimumDuration(0.2))")
    expected = sed.evaluate(chain(scores), truth, metric, bootstrap=10)
    assert got["value"] == expected[metric].value
    assert got["interval"]["low"] == expected.intervals[metric].low


def test_postprocessing_independent_psds(folder: Path) -> None:
    text = f"PiPSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1, postprocessing='{SWEEP}')"
    got = evaluated(folder, "--metric", text, "--metric", PSDS, "--bootstrap", 10)
    pi, psds = got["metrics"]
    assert sed.parse_metric(pi["metric"]) == sed.parse_metric(text)
    assert all(pi["per_class"][label] >= value for label, value in psds["per_class"].items())
    assert pi["interval"]["low"] < pi["interval"]["high"]


# sedscope tune, detect, evaluate --points


def test_tune_a_sweep_with_folds(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    best = "BestFScore(Collar(onset=0.5))"
    options = ["--metric", best, "--sweep", "MedianFilter(0|0.3)", "--sweep", "MedianFilter(0.7)"]
    outcome = command(folder, "tune", *options, "--folds", 4, "--seed", 2, "-o", points)
    assert outcome.code == 0
    scores, truth = read(folder)
    expected = sed.tune(scores, truth, metric_of(best), SWEEP, folds=4, seed=2)
    overall = table_rows(outcome.out)["overall"]
    assert overall == [f"{expected.value:.4f}", f"{expected.cross_validated:.4f}"]
    for label, tuned in expected.per_class.items():
        assert table_rows(outcome.out)[label][-1] == repr(tuned.postprocessing)
    loaded = sed.OperatingPoints.load(points)
    assert loaded.detect(scores) == expected.points.detect(scores)
    assert loaded.thresholds == expected.points.shortened(scores).thresholds
    assert loaded.postprocessing == expected.points.postprocessing
    assert loaded.provenance["scores"] == str(folder / "good")
    assert loaded.provenance["chosen_from"] == "3 post-processings"
    assert loaded.provenance["folds"] == "4 (seed 2)"
    assert loaded.provenance["cross_validated"] == f"{expected.cross_validated:.6g}"
    assert loaded.provenance["clips_sha256"] == clip_list_digest(truth.clips)
    assert "note: Each class" not in outcome.err

    fixed = "FScore(Collar(onset=0.5))"
    got = evaluated(folder, "--metric", fixed, "--points", points)["metrics"][0]
    assert got["value"] == expected.value
    events = tmp_path / "events.tsv"
    assert run("detect", folder / "good", "--points", points, "-o", events).code == 0
    arguments = [events, folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    as_events = run("evaluate", *arguments, "--metric", fixed, "--json", "-")
    assert json.loads(as_events.out)["metrics"][0]["value"] == expected.value


def test_points_with_intervals(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    assert command(folder, "tune", "--sweep", SWEEP, "-o", points).code == 0
    options = ["--metric", "FScore(Collar())", "--points", points, "--bootstrap", 20]
    got = evaluated(folder, *options)["metrics"][0]
    scores, truth = read(folder)
    metric = sed.FScore(sed.Collar())
    applied = sed.OperatingPoints.load(points).apply(scores)
    expected = sed.evaluate(applied, truth, metric, bootstrap=20)
    assert got["value"] == expected[metric].value
    assert got["interval"]["high"] == expected.intervals[metric].high


def test_tune_for_a_curve(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    outcome = command(folder, "tune", "--metric", PSDS, "--sweep", SWEEP, "-o", points)
    assert outcome.code == 0
    assert "note: Each class is tuned for its own PSDS" in outcome.err
    got = evaluated(folder, "--metric", PSDS, "--points", points)["metrics"][0]
    assert f"{got['value']:.4f}" == table_rows(outcome.out)["overall"][0]
    message = refused(run("detect", folder / "good", "--points", points))
    assert "There are post-processings, but no thresholds" in message


@pytest.mark.parametrize("sweep", [[], ["--sweep", SWEEP]])
def test_files_of_points_are_complete(sweep: list[str], folder: Path, tmp_path: Path) -> None:
    points, events = tmp_path / "points.toml", tmp_path / "events.tsv"
    before = ["--postprocess", "MinimumDuration(0.4)", "--postprocess", "MedianFilter(0.3)"]
    assert command(folder, "tune", *before, *sweep, "-o", points).code == 0
    scores, truth = read(folder)
    processed = MedianFilter(0.3)(MinimumDuration(0.4)(scores))
    best = sed.BestFScore(sed.Collar())
    expected = sed.tune(processed, truth, best, SWEEP if sweep else ())
    assert run("detect", folder / "good", "--points", points, "-o", events).code == 0
    detected = {clip: [event[:3] for event in found] for clip, found in sed.read_events(events).items()}
    assert detected == expected.points.detect(processed)
    got = evaluated(folder, "--points", points)["metrics"]
    names = ["precision", "recall", "fscore", "error_rate", "false_alarms_per_hour"]
    assert [entry["name"] for entry in got] == names
    assert got[2]["value"] == expected.value
    assert got[2]["thresholds"] == sed.OperatingPoints.load(points).thresholds
    if not sweep:
        same = ["--postprocess", "Chain(MinimumDuration(0.4), MedianFilter(0.3))"]
        assert evaluated(folder, "--points", points, *same)["metrics"] == got
    other = ["--points", points, "--postprocess", "MedianFilter(0.3)"]
    for outcome in (command(folder, "evaluate", *other), run("detect", folder / "good", *other)):
        assert "--postprocess differs from the post-processing that" in refused(outcome)


def test_metrics_over_all_thresholds_are_refused_at_points(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    assert command(folder, "tune", "-o", points).code == 0
    message = refused(command(folder, "evaluate", "--metric", "psds1", "--points", points))
    assert "look at many thresholds: psds1." in message
    shown = command(folder, "evaluate", "--metric", "FScore(Collar())", "--points", points).out
    assert "threshold='points'" in shown
    assert "0.5," not in shown


def test_points_of_each_system(folder: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.toml" for name in ("good", "bad")}
    for name, file in files.items():
        arguments = [folder / name, folder / "truth.tsv", "--durations", folder / "durations.tsv"]
        assert run("tune", *arguments, "--sweep", SWEEP, "-o", file).code == 0
    options = [item for name, file in files.items() for item in ("--points", f"{name}={file}")]
    systems = [folder / name for name in files]
    shown = command(folder, "compare", *systems, *options, "--bootstrap", "2").out.splitlines()
    for name, file in files.items():
        scores, truth = read(folder, name)
        points = sed.OperatingPoints.load(file)
        result = sed.evaluate(scores, truth, points.metrics(), points=points)
        row = next(line for line in shown if line.startswith(f"{name} "))
        values = [cell for cell in row.split()[1:] if not cell.startswith("(")]
        assert values == [f"{of_metric.value:.4f}" for of_metric in result.values()]
    for wrong, message in (
        ([f"god={files['good']}"], "there is no system god (did you mean good?)"),
        ([str(files["good"]), f"good={files['good']}"], "good has two files of operating points"),
    ):
        chosen = [item for text in wrong for item in ("--points", text)]
        assert message in refused(command(folder, "compare", *systems, *chosen))


def test_tune_by_objective_and_sweep(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    options = ["--criterion", "Segment(length=1)", "--objective", "error_rate", "--sweep", SWEEP]
    outcome = command(folder, "tune", *options, "-o", points)
    assert outcome.code == 0
    assert "BestErrorRate(Segment(length=1" in outcome.out
    assert "BestErrorRate" in sed.OperatingPoints.load(points).provenance["metric"]


def test_tune_names_the_metric_and_shows_no_empty_column(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    outcome = command(folder, "tune", "--metric", "mine=best_collar_f1", "-o", points)
    rows = table_rows(outcome.out)
    assert rows["class"] == ["mine", "threshold"]
    assert f"mine: {sed.parse_metric('best_collar_f1')!r}" in outcome.out
    swept = command(folder, "tune", "--sweep", SWEEP, "-o", points).out
    assert table_rows(swept)["class"] == ["best_collar_f1", "threshold", "post-processing"]


def test_tune_names_classes_that_are_never_detected(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    options = ["--objective", "cost", "--false-alarm-cost", "1e9", "--miss-cost", "0"]
    outcome = command(folder, "tune", *options, "-o", points)
    label = next(iter(sed.OperatingPoints.load(points).thresholds))
    assert table_rows(outcome.out)[label] == ["inf", "nan", "0.0000", "0.0000", "0"]
    assert "would never be detected, with a threshold of inf: " in outcome.err


def test_a_curve_of_an_event_list_is_pointed_out(folder: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.tsv"
    assert run("detect", folder / "good", "--threshold", "0.5", "-o", events).code == 0
    files = [folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    alone = run("evaluate", events, *files, "--metric", "psds1", "--metric", "collar_f1")
    assert "judged at many by psds1. Compare" in alone.err
    beside = ["compare", f"list={events}", f"scored={folder / 'good'}", *files, "--bootstrap", 20]
    assert "event lists without confidences have: list." in run(*beside, "--metric", "psds1").err
    assert "event list" not in run(*beside, "--metric", "collar_f1").err
    assert "event list" not in run(*beside, "--at-false-alarms", "list").err


def test_groups_of_folds(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    options = ["--sweep", SWEEP, "--folds", 3, "--groups", folder / "groups.tsv"]
    outcome = command(folder, "tune", *options, "-o", points)
    scores, truth = read(folder)
    metric = sed.BestFScore(sed.Collar())
    expected = sed.tune(scores, truth, metric, SWEEP, folds=3, groups=groups_of(folder))
    assert table_rows(outcome.out)["overall"][1] == f"{expected.cross_validated:.4f}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sweep", ""], "cannot be read"),
        (["--sweep", "MedianFilter(1..0/0.1)"], "is empty"),
        (["--sweep", "Cow(1)"], "Cow"),
        (["--folds", "1"], "folds=1 must be at least 2"),
        (["--folds", "100"], "at most the number of clips: 24"),
        (["--metric", PSDS], "give post-processings to choose from (--sweep)"),
        (["--metric", "BestFScore(Collar(), average='micro')"], "no class can be tuned by itself"),
        (["--metric", f"PiPSDS(Intersection(0.7, 0.7), postprocessing='{SWEEP}')"], "takes the best"),
        (["--metric", "BestFScore()"], "BestFScore"),
        (["--metric", PSDS, "--sweep", SWEEP, "--criterion", "Clip()"], "--criterion cannot be"),
        (["--metric", PSDS, "--objective", "error_rate", "--beta", "2"], "--objective, --beta cannot"),
        (["--sweep", SWEEP, "--min-recall", "0.5"], "--min-recall cannot be combined"),
        (["--sweep", SWEEP, "--objective", "cost"], "--objective cost cannot be combined"),
        (["--sweep", SWEEP, "--groups", "groups.tsv"], "give the number of folds (--folds)"),
        (["--sweep", SWEEP, "--folds", "2", "--seed", "-1"], "seed=-1"),
    ],
)
def test_tune_refuses(options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
    arguments = [folder / option if option == "groups.tsv" else option for option in options]
    assert message in refused(command(folder, "tune", *arguments, "-o", tmp_path / "points.toml"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bootstrap", "0"], "--bootstrap 0 must be from 1"),
        (["--bootstrap", "10", "--confidence", "1.5"], "confidence=1.5"),
        (["--bootstrap", "10", "--seed", "-1"], "seed=-1"),
        (["--bootstrap", "10", "--groups", "nowhere.tsv"], "Cannot read"),
        (["--bootstrap", "10", "--groups", "truth.tsv"], "second group"),
        (["--bootstrap", "10", "--groups", "few.tsv"], "23 clips have no group"),
        (["--bootstrap", "10", "--groups", "one_column.tsv"], "one_column.tsv needs two columns"),
        (["--bootstrap", "10", "--groups", "bare.tsv"], "bare.tsv line 3"),
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


# sedscope compare


def test_compare(folder: Path, tmp_path: Path) -> None:
    options = ["--metric", PSDS, "--metric", ERRORS, "--bootstrap", 30, "--interval", "bca"]
    files = [option for kind in ("md", "tex", "csv") for option in ("-o", str(tmp_path / f"x.{kind}"))]
    outcome = command(folder, "compare", folder / "good", folder / "bad", *options, *files)
    assert outcome.code == 0
    systems = {name: read(folder, name)[0] for name in ("good", "bad")}
    metrics = [metric_of(text) for text in (PSDS, ERRORS)]
    expected = sed.compare(systems, read(folder)[1], metrics, n=30, interval="bca")
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
    assert float(pair["value"]) == expected.differences[metrics[0]]["bad", "good"].value
    assert (pair["system"], pair["less"], pair["verdict"]) == ("bad", "good", "0")


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
    expected = sed.compare(systems, read(folder)[1], metric_of(COLLAR), n=20)
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
        n=20,
        confidence=0.5,
        seed=4,
        balanced=True,
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
        n=40,
        at_false_alarms="list",
    )
    assert expected.table() in outcome.out
    points = outcome.out.split("false alarms per hour (threshold)")[1].splitlines()[2:]
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
        (["-o", "x.html"], "x.html: the name must end with .md, .tex or .csv"),
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
