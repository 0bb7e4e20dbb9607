"""Values that are not defined, or not reliable: what stands beside them, and which notes say so."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.command_line import run
from ..support.files import SCORES, table, write_files

PRECISION = sed.Precision(sed.Collar())


def small_set() -> tuple[sed.Scores, sed.GroundTruth]:
    #       0   1   2   3   4 s
    # Dog     .1  .9  .8  .2    one reference, found
    # Cat     .1  .1  .1  .1    one reference, never detected at 0.5
    # Emu     .9  .1  .9  .1    no reference, two false alarms in 4 s
    columns = [[0.1, 0.9, 0.8, 0.2], [0.1, 0.1, 0.1, 0.1], [0.9, 0.1, 0.9, 0.1]]
    scores = sed.Scores.from_arrays({"a": np.array(columns).T}, classes=["Dog", "Cat", "Emu"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 3, "Dog"), (0, 1, "Cat")]}, durations={"a": 4})
    return scores, truth


def test_a_class_that_is_never_detected_is_left_out_of_precision() -> None:
    with pytest.warns(sed.SedscopeWarning) as caught:
        result = sed.evaluate(*small_set(), PRECISION)[PRECISION]
    note = str(caught[-1].message)
    assert note.startswith("1 class is not detected at the threshold of collar_precision")
    assert note.endswith("so it is left out of its average: Cat.")
    assert result.per_class["Dog"].value == 1
    assert math.isnan(result.per_class["Cat"].value)
    assert result.value == result.average("weighted") == 1


def test_precision_counts_wrong_detections_of_other_classes() -> None:
    scores, truth = small_set()
    values = scores["a"].values.copy()
    values[3, 0] = 0.9  # Dog ends too late, so it is a false detection
    other = sed.Scores.from_arrays({"a": values}, classes=scores.classes, frame=1.0)
    with pytest.warns(sed.SedscopeWarning):
        assert sed.evaluate(other, truth, PRECISION)[PRECISION].value == 0  # 0.5 with a 1 for Cat


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_curves_keep_a_precision_of_one() -> None:
    counts = sed.deltas(*small_set(), sed.Collar()).counts()
    assert counts["Cat"].tally_at(0.5).precision == 1


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize(
    "metric",
    [
        PRECISION,
        sed.FScore(sed.Collar(), threshold=0.5),
        sed.BestFScore(sed.Intersection(0.7, 0.7)),
        sed.FScore(sed.Segment(1.0)),
    ],
    ids=repr,
)
def test_false_alarms_stand_in_place_of_missing_values(metric: sed.Metric[Any]) -> None:
    result = sed.evaluate(*small_set(), metric)
    [row] = [line for line in result.table().splitlines() if line.startswith("Emu")]
    assert row.endswith("  (1800/h)")
    assert "(…/h) false alarms per hour" in result.table()
    [entry] = result.to_dict()["metrics"]
    assert entry["per_class"]["Emu"] is None
    assert entry["false_alarms_per_hour"] == {"threshold": 0.5, "per_class": {"Emu": 1800.0}}


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
def test_a_limit_on_memory_gives_no_other_false_alarms() -> None:
    metrics = [sed.FScore(sed.Collar(), threshold=0.3), sed.BestFScore(sed.Intersection(0.7, 0.7))]
    unlimited = sed.evaluate(*small_set(), metrics).false_alarms_per_hour
    limited = sed.evaluate(*small_set(), metrics, run=sed.Run(memory="1MB")).false_alarms_per_hour
    assert limited[metrics[0]].per_class == {"Emu": 1800.0}
    assert {metric: unlimited[metric] for metric in limited} == limited


FEW = "The intervals come from only 3 clips"


def set_of_clips(number: int) -> tuple[sed.Scores, sed.GroundTruth]:
    truth = sed.simulate.ground_truth(number)
    return sed.simulate.scores(truth), truth


@pytest.mark.parametrize(("number", "cautioned"), [(3, True), (10, False)])
def test_intervals_from_few_clips_come_with_a_caution(number: int, cautioned: bool) -> None:
    best = sed.BestFScore(sed.Collar())
    scores, truth = set_of_clips(number)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        deltas = sed.deltas(scores, truth, best.criterion)
        sed.bootstrap(deltas, best, resampling=10)
        sed.evaluate_deltas(deltas, best, resampling=10)
        sed.evaluate(scores, truth, best, resampling=10)
        comparison = sed.compare({"x": scores, "y": scores}, truth, best, resampling=10)
        sed.evaluate(scores, truth, best)
    cautions = [warning for warning in caught if FEW in str(warning.message)]
    assert len(cautions) == 4 * cautioned
    for notes in (comparison.warnings, comparison.evaluations["x"].warnings):
        assert any(FEW in note for note in notes) == cautioned


@pytest.mark.parametrize(
    ("criterion", "advised"),
    [(sed.Collar(), True), (sed.AnyOverlap(before=1), False), (sed.Clip(), False)],
)
def test_blocks_are_advised_where_they_can_be_drawn(criterion: Any, advised: bool) -> None:
    best = sed.BestFScore(criterion)
    with pytest.warns(sed.SedscopeWarning):
        notes = sed.evaluate(*set_of_clips(3), best, resampling=10).warnings
    (note,) = [note for note in notes if FEW in note]
    assert ("blocks of time" in note) == advised


def test_the_caution_counts_groups() -> None:
    scores, truth = set_of_clips(12)
    groups = {clip: i % 4 for i, clip in enumerate(truth.clips)}
    resampling = sed.Resampling(10, groups=groups)
    best = sed.BestFScore(sed.Collar())
    with pytest.warns(sed.SedscopeWarning):
        notes = sed.evaluate(scores, truth, best, resampling=resampling).warnings
    assert any("from only 4 groups of clips" in note for note in notes)


def test_the_caution_on_the_command_line(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    arguments = [files.scores, files.truth, "--durations", files.durations, "--bootstrap", "10"]
    outcome = run("evaluate", *arguments, "--metric", repr(sed.FScore(sed.Collar())))
    assert "warning: The intervals come from only 2 clips" in outcome.err
    assert outcome.code == 0
    options = [
        "--metric",
        repr(sed.BestFScore(sed.Collar())),
        "--folds",
        3,
        "-o",
        tmp_path / "points.json",
    ]
    outcome = run("tune", *arguments[:4], *options)
    assert (outcome.code, "at most the number of clips: 2" in outcome.err) == (2, True)


def test_overlapping_windows_have_three_ways_out(tmp_path: Path) -> None:
    """Keeping, averaging and merging may give different values, so the message offers all of them."""
    events = table(
        "filename onset offset event_label confidence", "a 0 2 Dog .2", "a 1 3 Dog .9", "b 0 1 Cat .9"
    )
    files = write_files(tmp_path, {"events.tsv": events, "scores/a.tsv": SCORES["a"]})
    arguments = ["evaluate", files.folder / "events.tsv", files.truth, "--durations", files.durations]
    arguments += ["--metric", repr(sed.FScore(sed.Collar(), threshold=0.5))]
    refused = run(*arguments)
    assert refused.code == 2
    ways = ("keep", "average", "merge")
    assert all(f"--overlaps {way}" in refused.err for way in ways)
    outcomes = [run(*arguments, "--overlaps", way) for way in ways]
    assert [outcome.code for outcome in outcomes] == [0, 0, 0]
    assert outcomes[2].out not in {outcome.out for outcome in outcomes[:2]}
    stitched = run(*arguments, "--stitch", "seconds")
    assert (stitched.code, "--overlaps average" in stitched.err) == (2, True)
