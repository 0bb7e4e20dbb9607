"""Operating points: chosen under constraints, saved, loaded, and used by the commands."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sedscope as sed
from sedscope.postprocessing import Chain, MedianFilter, MinimumDuration, MovingAverage, PerClass
from sedscope.results.text import shortest_between

from ..support.command_line import run
from ..support.files import write_durations

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def counts() -> sed.Counts:
    truth = sed.simulate.ground_truth(80, seed=1)
    return sed.deltas(sed.simulate.scores(truth, seed=1), truth, sed.Collar()).counts()


def every_point(counts: Any) -> list[Any]:
    """The operating points one by one."""
    tally = counts.tally()
    return [tally[row] for row in range(len(counts.scores) + 1)]


@pytest.mark.parametrize(
    ("options", "goodness", "needs"),
    [
        ({}, lambda t: t.fscore(), lambda t: True),
        ({"objective": "fscore", "beta": 2}, lambda t: t.fscore(2), lambda t: True),
        ({"objective": "error_rate"}, lambda t: -t.error_rate, lambda t: True),
        (
            {"objective": "cost", "miss_cost": 3, "false_alarm_cost": 0.5},
            lambda t: -(3 * t.fn + 0.5 * t.fp),
            lambda t: True,
        ),
        (
            {"objective": "recall", "min_precision": 0.6},
            lambda t: t.recall,
            lambda t: t.precision >= 0.6,
        ),
        (
            {"objective": "precision", "min_recall": 0.2},
            lambda t: t.precision,
            lambda t: t.recall >= 0.2,
        ),
    ],
)
def test_the_best_threshold_that_meets_the_constraints(
    counts: sed.Counts, options: Any, goodness: Any, needs: Any
) -> None:
    points = sed.choose(counts, **options)
    for label, threshold in points.thresholds.items():
        if label in points.unmet:
            assert not any(needs(tally) for tally in every_point(counts[label]))
            continue
        chosen = counts[label].tally_at(threshold)
        assert needs(chosen)
        best = max(goodness(tally) for tally in every_point(counts[label]) if needs(tally))
        assert goodness(chosen) == pytest.approx(best)


def test_false_alarms_per_hour(counts: sed.Counts) -> None:
    points = sed.choose(counts, "recall", max_false_alarms=20)
    for label, threshold in points.thresholds.items():
        assert counts[label].tally_at(threshold).fp <= 20 * counts.hours
    assert not points.unmet


def test_constraints_that_cannot_be_met_are_reported(counts: sed.Counts) -> None:
    points = sed.choose(counts, min_precision=0.999, min_recall=0.999)
    assert "Dishes" in points.unmet
    assert points.unmet["Dishes"] == "precision >= 0.999 and recall >= 0.999"
    assert points.thresholds["Dishes"] == sed.choose(counts).thresholds["Dishes"]


def test_points_are_read_back_as_they_were(tmp_path: Path) -> None:
    labels = ["Dog", 'say "hi"', "tab\there", "back\\slash", "Schön ☃", "a.b", "]=["]
    points = sed.OperatingPoints(
        {label: 0.1 * i for i, label in enumerate(labels)} | {"never": np.inf},
        {"criterion": "Collar()"},
        {"Dog": "recall >= 2"},
    )
    points.save(tmp_path / "points.toml")
    assert sed.OperatingPoints.load(tmp_path / "points.toml") == points


def test_points_without_thresholds_leave_scores(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    for text in ("[thresholds]\n", "[postprocessing]\nDog = 'MedianFilter(0)'\n"):
        (tmp_path / "points.toml").write_text(text)
        points = sed.OperatingPoints.load(tmp_path / "points.toml")
        assert points.apply(scores)["a"].values.tolist() == scores["a"].values.tolist()
        with pytest.raises(sed.SedscopeError, match="no thresholds to detect events with"):
            points.detect(scores)


@given(st.lists(st.floats(-3, 3, width=16), min_size=2, max_size=2, unique=True), st.floats(0, 0.99))
def test_the_shortest_number_between_two_others(ends: list[float], share: float) -> None:
    low, high = sorted(ends)
    near = min(max(low + share * (high - low), low), float(np.nextafter(high, low)))
    short = shortest_between(low, high, near)
    assert low <= short < high
    decimals = max(0, -Decimal(repr(short)).normalize().as_tuple().exponent)  # type: ignore[operator]
    if decimals:  # no multiple of the next larger unit lies between them
        scale = 10 ** (decimals - 1)
        assert math.ceil(Fraction(low) * scale) >= Fraction(high) * scale


def test_short_thresholds_detect_the_same() -> None:
    truth = sed.simulate.ground_truth(20, seed=2)
    scores = sed.simulate.scores(truth, seed=2)
    points = sed.tune(scores, truth, sed.BestFScore(sed.Collar()), "MovingAverage(0.2|0.5)").points
    short = points.shortened(scores)
    assert short.detect(scores) == points.detect(scores)
    assert all(len(repr(short.thresholds[k])) <= len(repr(v)) for k, v in points.thresholds.items())
    never = sed.OperatingPoints({"Dog": np.inf})
    assert never.shortened(scores) == never


def test_points_after_a_post_processing() -> None:
    truth = sed.simulate.ground_truth(10, seed=2)
    scores = sed.simulate.scores(truth, seed=2)
    before = Chain(MedianFilter(0.3), PerClass({"Dog": MinimumDuration(0.5)}))
    points = sed.OperatingPoints(
        dict.fromkeys(scores.classes, 0.4), postprocessing={"Cat": MovingAverage(0.2)}
    )
    complete = points.after(before, scores.classes)
    assert complete.postprocessing["Dog"] == Chain(MedianFilter(0.3), MinimumDuration(0.5))
    assert complete.postprocessing["Cat"] == Chain(MedianFilter(0.3), MovingAverage(0.2))
    assert complete.postprocessing["Speech"] == MedianFilter(0.3)
    assert complete.detect(scores) == points.detect(before(scores))
    with pytest.raises(sed.SedscopeError, match="The scores have no class Dog"):
        points.after(before, ["Cat"])


@pytest.mark.parametrize(
    ("provenance", "criterion"),
    [
        ({}, sed.Collar()),
        ({"criterion": "Segment(length=2)"}, sed.Segment(2.0)),
        ({"metric": "BestFScore(IoU(0.5))"}, sed.IoU(0.5)),
    ],
)
def test_what_is_measured_at_points(provenance: dict[str, str], criterion: Any) -> None:
    metrics = sed.OperatingPoints({"Dog": 0.5}, provenance).metrics()
    assert {metric.criterion for metric in metrics.values()} == {criterion}
    with pytest.raises(sed.SedscopeError, match=r"by which criterion they were chosen.*`metrics=`"):
        sed.OperatingPoints({"Dog": 0.5}, {"criterion": "Mine()"}).metrics()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no table \[thresholds\]"),
        ("x =", "not a file of operating points"),
        ("[thresholds]\nDog = 'high'\nCat = true\nCow = nan\n", "Dog = 'high', Cat = True, Cow = nan"),
        ("thresholds = 3", r"no table \[thresholds\]"),
    ],
)
def test_bad_files_of_points(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "points.toml").write_text(text)
    with pytest.raises(sed.SedscopeError, match=message):
        sed.OperatingPoints.load(tmp_path / "points.toml")
    with pytest.raises(sed.SedscopeError, match="Cannot read"):
        sed.OperatingPoints.load(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("options", [{"objective": "luck"}, {"beta": -1}, {"min_recall": float("nan")}])
def test_invalid_constraints(counts: sed.Counts, options: Any) -> None:
    with pytest.raises(sed.SedscopeError, match=next(iter(options))):
        sed.choose(counts, **options)


# The commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("points")
    truth = sed.simulate.ground_truth(40, seed=7)
    sed.write_scores(sed.simulate.scores(truth, seed=8), place / "scores")
    sed.write_ground_truth(truth, place / "truth.tsv")
    write_durations(truth, place / "durations.tsv")
    return place


def evaluated(folder: Path, system: Path, *options: object) -> dict[str, Any]:
    arguments = [system, folder / "truth.tsv", "--durations", folder / "durations.tsv", *options]
    outcome = run("evaluate", *arguments, "--json", "-")
    assert outcome.code == 0, outcome.err
    result: dict[str, Any] = json.loads(outcome.out)
    return result


def test_tune_detect_and_evaluate(folder: Path) -> None:
    points, events = folder / "points.toml", folder / "events.tsv"
    tuned = run(
        "tune",
        folder / "scores",
        folder / "truth.tsv",
        "--durations",
        folder / "durations.tsv",
        "-o",
        points,
    )
    assert tuned.code == 0
    assert "Speech" in tuned.out
    best = evaluated(folder, folder / "scores", "--metric", "BestFScore(Collar())")["metrics"][0]
    for_points = evaluated(folder, folder / "scores", "--points", points, "--metric", "FScore(Collar())")
    assert for_points["metrics"][0]["value"] == pytest.approx(best["value"])
    scores, thresholds = sed.read_scores(folder / "scores"), sed.OperatingPoints.load(points).thresholds
    assert sed.detect(scores, thresholds) == sed.detect(scores, best["thresholds"])
    assert sum(len(repr(number)) for number in thresholds.values()) < 7 * len(thresholds)

    assert run("detect", folder / "scores", "--points", points, "-o", events).code == 0
    as_events = evaluated(folder, events, "--metric", "FScore(Collar(), threshold=0)")["metrics"][0]
    assert as_events["value"] == pytest.approx(best["value"])
    untuned = evaluated(folder, folder / "scores", "--metric", "FScore(Collar())")["metrics"][0]
    assert untuned["value"] < best["value"]


def test_detect_to_standard_output(folder: Path) -> None:
    outcome = run("detect", folder / "scores", "--threshold", "0.5")
    assert outcome.code == 0
    assert outcome.out.startswith("filename\tonset\toffset\tevent_label\tconfidence\n")
    assert run("detect", folder / "scores").code == 2
    assert run("detect", folder / "scores", "--threshold", "0.5", "--points", "x").code == 2


def test_detect_in_some_clips(folder: Path) -> None:
    clips = [*sed.read_scores(folder / "scores")][3:5]
    (folder / "clips.txt").write_text(f"{clips[0]}.wav\n{clips[1]}\n")
    outcome = run(
        "detect",
        folder / "scores",
        "--threshold",
        "0.5",
        "--clips",
        folder / "clips.txt",
        "-o",
        folder / "some.tsv",
    )
    assert outcome.code == 0
    assert {*sed.read_events(folder / "some.tsv")} == {*clips}
    (folder / "clips.txt").write_text("elsewhere\n")
    outcome = run("detect", folder / "scores", "--threshold", "0.5", "--clips", folder / "clips.txt")
    assert "--clips lists 1 clip without scores: elsewhere" in outcome.err


def test_detect_in_events_with_a_confidence(tmp_path: Path) -> None:
    lines = [
        "filename\tonset\toffset\tevent_label\tconfidence",
        "a\t0\t1\tDog\t0.9",
        "a\t2\t3\tDog\t0.3",
    ]
    (tmp_path / "boxes.tsv").write_text("\n".join([*lines, ""]))
    sed.OperatingPoints({"Dog": 0.5, "Cat": 0.4}).save(tmp_path / "points.toml")
    outcome = run("detect", tmp_path / "boxes.tsv", "--points", tmp_path / "points.toml")
    assert outcome.out.splitlines()[1:] == ["a\t0.000000\t1.000000\tDog\t0.9"]


def test_a_folder_of_detections_per_threshold(folder: Path) -> None:
    sets = folder / "sets"
    sets.mkdir()
    scores, thresholds = sed.read_scores(folder / "scores"), [0.2, 0.5, 0.8]
    for threshold in thresholds:
        sed.write_events(sed.detect(scores, threshold), sets / f"at_{threshold}.tsv")
    psds = "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"
    got = evaluated(folder, sets, "--metric", psds)["metrics"][0]["value"]
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=folder / "durations.tsv")
    metric: Any = sed.parse_metric(psds)
    counts = sed.deltas(scores, truth, metric.criterion).counts()
    assert got == pytest.approx(metric.measure(counts.at(thresholds)).value)
    refused = run("tune", sets, folder / "truth.tsv", "-o", folder / "no.toml")
    assert (refused.code, refused.out) == (2, "")
    assert "needs scores" in refused.err
    assert not (folder / "no.toml").exists()


def test_presets(folder: Path) -> None:
    listed = run("presets")
    assert listed.code == 0
    assert "dcase2021_task4: " in listed.out
    got = evaluated(folder, folder / "scores", "--preset", "dcase2021_task4")
    assert [entry["metric"] for entry in got["metrics"]] == [
        repr(metric) for metric in sed.presets.PRESETS["dcase2021_task4"]
    ]
    wrong = run("evaluate", folder / "scores", folder / "truth.tsv", "--preset", "dcase1999")
    assert wrong.code == 2
    assert "Unknown preset: dcase1999. 'sedscope presets' lists all" in wrong.err


@pytest.mark.parametrize(
    ("need", "limits"),
    [
        ({"min_precision": 99}, "min_precision=99 must be at least 0 and at most 1"),
        ({"min_recall": 99}, "min_recall=99 must be at least 0 and at most 1"),
        ({"max_false_alarms": -1}, "max_false_alarms=-1 must be at least 0"),
    ],
)
def test_constraints_have_limits(need: dict[str, Any], limits: str) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.9]]}, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 1})
    counts = sed.deltas(scores, truth, sed.Collar()).counts()
    with pytest.raises(sed.SedscopeError, match=limits):
        sed.choose(counts, **need)


def _clips_with(counts: dict[float, tuple[int, int]]) -> tuple[sed.Scores, sed.GroundTruth]:
    """Clips of one frame: how many with and without the class have each score."""
    arrays, events = {}, {}
    for score, numbers in counts.items():
        for present, number in zip((True, False), numbers, strict=True):
            for i in range(number):
                clip = f"{score}-{present}-{i}"
                arrays[clip] = [[score]]
                events[clip] = [(0.0, 1.0, "Dog")] if present else []
    scores = sed.Scores.from_arrays(arrays, classes=["Dog"], frame=1.0)
    return scores, sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 1.0))


def test_rounding_does_not_decide_between_equal_points() -> None:
    """With 20 references, 1 true and 3 false positives are as good as 6 and 27 for a beta of 0.3; with
    costs of 0.1 and 0.3, 3 misses are as bad as 1 false alarm. Rounded, the second point is better."""
    scores, truth = _clips_with({0.9: (1, 3), 0.8: (5, 24), 0.1: (14, 100)})
    metric = sed.BestFScore(sed.Clip(), beta=0.3)
    result = sed.evaluate(scores, truth, metric)
    value = result[metric].per_class["Dog"]
    assert value.threshold == pytest.approx(0.85)
    assert value.tally is not None
    assert (value.tally.tp, value.tally.fp) == (1, 3)
    chosen = sed.choose(result.counts[sed.Clip()], objective="fscore", beta=0.3)
    assert chosen.thresholds["Dog"] == pytest.approx(0.85)

    scores, truth = _clips_with({0.9: (3, 1), 0.1: (0, 5)})
    counts = sed.evaluate(scores, truth, metric).counts[sed.Clip()]
    chosen = sed.choose(counts, objective="cost", miss_cost=0.1, false_alarm_cost=0.3)
    assert chosen.thresholds["Dog"] >= 0.9  # nothing is detected
