"""The command line: tuning with post-processings, and evaluating at the points that it finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sedscope as sed
from sedscope.data.clips import clip_list_digest
from sedscope.postprocessing import MedianFilter, MinimumDuration

from ..support.command_line import run, table_rows
from ..support.three_systems import PSDS, SWEEP, command, evaluated, groups_of, metric_of, read, refused

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_tune_a_sweep_with_folds(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    best = "BestFScore(Collar(onset=0.5))"
    options = ["--metric", best, "--sweep", "MedianFilter(0|0.3)", "--sweep", "MedianFilter(0.7)"]
    outcome = command(folder, "tune", *options, "--folds", 4, "--seed", 2, "-o", points)
    assert outcome.code == 0
    scores, truth = read(folder)
    expected = sed.tune(scores, truth, metric_of(best), SWEEP, folds=sed.Folds(4, seed=2))
    overall = table_rows(outcome.out)["overall"]
    validated = expected.cross_validated
    assert validated is not None
    assert overall == [
        f"{expected.value:.4f}",
        f"{validated.value:.4f}",
        f"({validated.low:.4f}–{validated.high:.4f})",
    ]
    for label, tuned in expected.per_class.items():
        assert table_rows(outcome.out)[label][-1] == repr(tuned.postprocessing)
    loaded = sed.OperatingPoints.load(points)
    assert loaded.detect(scores) == expected.points.detect(scores)
    assert loaded.thresholds == expected.points.shortened(scores).thresholds
    assert loaded.postprocessing == expected.points.postprocessing
    assert loaded.provenance["scores"] == str(folder / "good")
    assert loaded.provenance["chosen_from"] == "3 post-processings"
    assert loaded.provenance["folds"] == "4 (seed 2)"
    assert loaded.provenance["cross_validated"] == f"{validated.value:.6g}"
    assert loaded.provenance["clips_sha256"] == clip_list_digest(truth.clips)
    assert "note: Each class" not in outcome.err

    fixed = "FScore(Collar(onset=0.5))"
    got = evaluated(folder, "--metric", fixed, "--points", points)["metrics"][0]
    assert got["value"] == expected.value
    events = tmp_path / "events.tsv"
    assert run("detect", folder / "good", "--points", points, "-o", events).code == 0
    arguments = [events, folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    all_events = "FScore(Collar(onset=0.5), threshold=0)"
    as_events = run("evaluate", *arguments, "--metric", all_events, "--json", "-")
    assert json.loads(as_events.out)["metrics"][0]["value"] == expected.value


def test_points_with_intervals(folder: Path, tmp_path: Path) -> None:
    points = tmp_path / "points.toml"
    assert command(folder, "tune", "--sweep", SWEEP, "-o", points).code == 0
    options = ["--metric", "FScore(Collar())", "--points", points, "--bootstrap", 20]
    got = evaluated(folder, *options)["metrics"][0]
    scores, truth = read(folder)
    metric = sed.FScore(sed.Collar())
    applied = sed.OperatingPoints.load(points).apply(scores)
    expected = sed.evaluate(applied, truth, metric, resampling=20)
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
    assert table_rows(outcome.out)[label][:5] == ["inf", "nan", "0.0000", "0.0000", "0"]
    assert "would never be detected, with a threshold of inf: " in outcome.err


def test_the_mean_recall_leaves_out_classes_without_references(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "truth.tsv").read_text().splitlines(keepends=True)
    truth = tmp_path / "truth.tsv"
    truth.write_text("".join(line for line in lines if not line.endswith("\tDog\n")))
    files = [folder / "good", truth, "--durations", folder / "durations.tsv"]
    outcome = run("tune", *files, "-o", tmp_path / "points.toml")
    assert "Dog: no reference events" in outcome.err
    header, *rows = (line.split() for line in outcome.out.split("\n\n")[0].splitlines())
    *classes, total = rows
    assert header[-5:] == ["new", "recall", "new", "false", "alarms/h"]
    recalls = [float(row[-2]) for row in classes]
    assert len(recalls) > 5
    assert float(total[-2]) == pytest.approx(sum(recalls) / len(recalls), abs=1e-4)


def test_a_curve_of_an_event_list_is_pointed_out(folder: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.tsv"
    assert (
        run("detect", folder / "good", "--threshold", "0.5", "--no-confidences", "-o", events).code == 0
    )
    files = [folder / "truth.tsv", "--durations", folder / "durations.tsv"]
    alone = run("evaluate", events, *files, "--metric", "psds1", "--metric", "collar_f1")
    assert "use all of them: psds1. Compare" in alone.err
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
    expected = sed.tune(scores, truth, metric, SWEEP, folds=sed.Folds(3, groups=groups_of(folder)))
    assert expected.cross_validated is not None
    assert table_rows(outcome.out)["overall"][1] == f"{expected.cross_validated.value:.4f}"


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
        (["--sweep", SWEEP, "--groups", "groups.tsv"], "Give the number of folds as well (--folds)"),
        (["--sweep", SWEEP, "--folds", "2", "--seed", "-1"], "seed=-1"),
    ],
)
def test_tune_refuses(options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
    arguments = [folder / option if option == "groups.tsv" else option for option in options]
    assert message in refused(command(folder, "tune", *arguments, "-o", tmp_path / "points.toml"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [[], ["--metric", "best_collar_f1"]])
def test_tune_warns_of_odd_input(folder: Path, tmp_path: Path, options: list[str]) -> None:
    arguments = (folder / "good", folder / "truth.tsv", "-o", tmp_path / "points.toml")
    outcome = run("tune", *arguments, *options)
    assert outcome.code == 0
    assert outcome.err.count("clips have no stated duration") == 1


def test_the_post_processing_of_a_file_serves_metrics_at_every_threshold(
    folder: Path, tmp_path: Path
) -> None:
    points, plain = tmp_path / "points.toml", tmp_path / "plain.toml"
    best = "BestFScore(Collar(onset=0.5))"
    sweep = ["--metric", best, "--sweep", "MedianFilter(0.3|0.7)"]
    assert command(folder, "tune", *sweep, "-o", points).code == 0
    outcome = command(folder, "evaluate", "--postprocess", points, "--metric", "psds1", "--json", "-")
    scores, truth = read(folder)
    expected = sed.evaluate(sed.OperatingPoints.load(points).process(scores), truth, "psds1")
    assert f'"value": {expected["psds1"].value!r}' in outcome.out
    refused = command(folder, "evaluate", "--points", points, "--metric", "psds1")
    assert "--postprocess FILE instead of --points" in refused.err
    assert command(folder, "tune", "-o", plain).code == 0
    without = command(folder, "evaluate", "--postprocess", plain, "--metric", "psds1")
    assert "the file has thresholds, but no post-processing" in without.err
