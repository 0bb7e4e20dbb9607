"""Upper bounds of false alarms per hour, and thresholds that keep a limit with confidence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.tuning.false_alarm_bounds import (
    FalseAlarmBounds,
    most_events_below,
    poisson_at_most,
    poisson_lower_limit,
    poisson_upper_limit,
)

from ..support.command_line import run, table_rows

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

IOU = sed.IoU(0.1)


@pytest.mark.parametrize("number", [0, 1, 7, 100, 20_000])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.9999])
def test_poisson_limits_are_quantiles_of_chi_square(number: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    limit = poisson_upper_limit(number, confidence)
    assert limit == pytest.approx(stats.chi2.ppf(confidence, 2 * (number + 1)) / 2, rel=1e-11)
    assert poisson_at_most(number, limit) == pytest.approx(stats.poisson.cdf(number, limit), rel=1e-10)
    assert most_events_below(limit * (1 + 1e-10), confidence) == number
    assert most_events_below(limit * (1 - 1e-10), confidence) == number - 1
    lower = stats.chi2.ppf(1 - confidence, 2 * number) / 2 if number else 0.0
    assert poisson_lower_limit(number, confidence) == pytest.approx(lower, rel=1e-9)


@pytest.mark.parametrize("number", [0, 2, 20, 100, 5000])
def test_a_poisson_limit_is_met_exactly(number: int) -> None:
    limit = poisson_upper_limit(number, 0.95)
    for hours in (1.0, 7 / 6, 13.7, 65 / 3600, *np.linspace(3, 40, 30).tolist()):
        assert most_events_below(limit / hours * hours, 0.95) == number


def test_poisson_limits_of_a_table() -> None:
    # Garwood (1936): one-sided 95 % limits of 0, 1, 2, … events
    limits = [round(poisson_upper_limit(number, 0.95), 3) for number in (0, 1, 2, 3, 10)]
    assert limits == [2.996, 4.744, 6.296, 7.754, 16.962]
    assert poisson_at_most(-1, 3.0) == 0
    assert poisson_at_most(5, 0.0) == 1
    assert poisson_at_most(10**6, 10.0) == pytest.approx(1)


@pytest.mark.parametrize("groups", [None, 12])
def test_resampled_bounds_are_those_of_each_resample(groups: int | None) -> None:
    truth = sed.simulate.ground_truth(40, classes=3, seconds=5)
    scores = sed.Scores.from_arrays(
        {clip: np.round(sed.simulate.scores(truth, seed=2)[clip].values, 1) for clip in truth.clips},
        classes=truth.labels,
        frame=0.02,
    )  # rounded, so that scores of many clips are equal
    deltas = sed.deltas(scores, truth, IOU)
    of_clip = None if groups is None else {clip: i % groups for i, clip in enumerate(deltas.clips)}
    resampling = sed.Resampling(n=150, groups=of_clip)
    counts, confidence, limit = deltas.counts(), 0.75, 1500.0
    bounds = FalseAlarmBounds(counts, confidence, deltas, resampling)
    drawn = sed.Resampling(n=200, groups=of_clip).draw(deltas.clips)  # 50 / (1 − 0.75)
    resamples = [deltas.counts(weights=weights) for weights in drawn]
    place = math.ceil(0.75 * 201) - 1
    for label, of_class in counts.items():
        met = bounds.meet(label, limit)
        for row in range(len(of_class.scores) + 1):
            threshold = of_class.threshold(row)
            rates = [
                of_resample[label].tally_at(threshold).false_alarms_per_hour(of_resample.duration / 3600)
                for of_resample in resamples
            ]
            false_alarms = int(of_class.tally()[row].fp)
            poisson = poisson_upper_limit(false_alarms, confidence) / (counts.hours)
            bound = bounds.at(label, threshold)
            assert bound.resampled == pytest.approx(np.sort(rates)[place])
            assert bound.poisson == pytest.approx(poisson)
            assert met[row] == (bound.upper <= limit)
        assert 1 < np.count_nonzero(met) < len(met)


def test_the_bound_is_that_of_the_confidence_as_it_is_written() -> None:
    # clips of other durations, so that hardly any two resamples have the same rate
    seconds = {f"clip{i:02}": 7 + i * i for i in range(12)}
    values = {clip: np.arange(length)[:, None] % 3 / 2 for clip, length in seconds.items()}
    scores = sed.Scores.from_arrays(values, classes=["Dog"], frame=1.0)
    truth = sed.GroundTruth.from_dict({clip: [(0, 1, "Dog")] for clip in seconds}, durations=seconds)
    deltas = sed.deltas(scores, truth, IOU)
    resampling = sed.Resampling(n=999)
    resamples = [deltas.counts(weights=weights) for weights in resampling.draw(deltas.clips)]
    rates = np.sort([of["Dog"].tally_at(0.7).false_alarms_per_hour(of.hours) for of in resamples])
    assert rates[899] < rates[900]
    bounds = FalseAlarmBounds(deltas.counts(), 0.9, deltas, resampling)
    assert bounds.at("Dog", 0.7).resampled == rates[899]  # 0.9 · (999 + 1) = 900


def night(hours: float, false_alarms: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """One recording at one frame per second: a reference at 0.5, above some false alarms and below none."""
    frames = round(3600 * hours)
    values = np.zeros((frames, 1))
    values[10:15] = 0.5
    values[20 : 20 + 4 * false_alarms : 4, 0] = np.linspace(0.6, 0.9, false_alarms)
    truth = sed.GroundTruth.from_dict({"night": [(10, 15, "Dog")]}, durations={"night": frames})
    return sed.Scores.from_arrays({"night": values}, classes=["Dog"], frame=1.0), truth


@pytest.mark.parametrize(
    ("hours", "false_alarms", "limit", "met"),
    [
        (30, 0, 0.1, True),  # 2.9957 / 30 = 0.09986
        (29.9, 0, 0.1, False),
        (10, 1, 0.475, True),  # 4.7439 / 10
        (10, 1, 0.474, False),
        (10, 1, 0.3, False),  # nothing but the threshold without detections keeps it
    ],
)
def test_a_promise_is_kept_by_the_upper_bound(
    hours: float, false_alarms: int, limit: float, met: bool
) -> None:
    scores, truth = night(hours, false_alarms)
    deltas = sed.deltas(scores, truth, IOU)
    points = sed.choose(deltas, "recall", max_false_alarms_per_hour=limit, confidence=0.95)
    assert (points.thresholds["Dog"] < 0.5) == (met or hours == 29.9)
    assert ("Dog" in points.unmet) == (hours == 29.9)
    assert "exact Poisson limits" in points.provenance["false_alarms"]
    if hours == 29.9:  # too short for any threshold; the one that is best in these clips is taken
        text = (
            "at most 0.1 false alarms per hour with 95 % confidence (even without any false alarm, that "
            "takes 29.96 hours"
        )
        assert points.unmet["Dog"].startswith(text)
        assert points.thresholds == sed.choose(deltas, "recall").thresholds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 0.95}, "Give max_false_alarms_per_hour"),
        ({"confidence": 0.95, "max_false_alarms_per_hour": 0}, "No recording is long enough"),
        ({"confidence": 1, "max_false_alarms_per_hour": 1}, "at least 0.5 and at most 0.9999"),
        ({"confidence": True, "max_false_alarms_per_hour": 1}, "must be a number"),
        ({"resampling": sed.Resampling()}, "Give confidence"),
        (
            {"confidence": 0.9, "max_false_alarms_per_hour": 1, "resampling": sed.Resampling()},
            "Counts cannot be resampled",
        ),
    ],
)
def test_confidence_that_means_nothing(options: dict[str, Any], message: str) -> None:
    counts = sed.deltas(*night(1, 0), IOU).counts()
    with pytest.raises(sed.SedscopeError, match=message):
        sed.choose(counts, **options)


def test_tune_prints_the_bound_and_the_hours_that_it_takes(tmp_path: Path) -> None:
    scores, truth = night(10, 1)
    sed.write_scores(scores, tmp_path / "scores.npz")
    sed.write_ground_truth(truth, tmp_path / "truth.tsv")
    (tmp_path / "durations.tsv").write_text("filename\tduration\nnight\t36000\n")
    command = [
        *("tune", tmp_path / "scores.npz", tmp_path / "truth.tsv", "-o", tmp_path / "points.toml"),
        *("--durations", tmp_path / "durations.tsv", "--criterion", "IoU(0.1)", "--confidence", "0.95"),
    ]
    enough = run(*command, "--max-false-alarms-per-hour", "0.5")
    assert table_rows(enough.out)["Dog"][-3:] == ["0.1", "0.005129", "0.4744"]
    assert "95 % confidence for each class: exact Poisson limits" in enough.out
    short = run(*command, "--max-false-alarms-per-hour", "0.1")
    assert "even without any false alarm, that takes 29.96 hours of recordings" in short.err


@pytest.mark.parametrize("per_hour", [1e15, 1.7e308])
def test_a_limit_beyond_all_false_alarms_is_kept(per_hour: float) -> None:
    truth = sed.simulate.ground_truth(12, classes=2)
    counts = sed.deltas(sed.simulate.scores(truth), truth, sed.Collar()).counts()
    points = sed.choose(counts, "recall", max_false_alarms_per_hour=per_hour, confidence=0.95)
    assert points.unmet == {}
    assert points.thresholds == sed.choose(counts, "recall").thresholds
