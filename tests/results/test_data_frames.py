"""Data frames hold the numbers of the objects, under plain names."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import sedscope as sed

PSDS = sed.PSDS(sed.Intersection(0.7, 0.7))
BEST = sed.BestFScore(sed.Collar())
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(40)


@pytest.fixture(scope="module")
def scores(truth: sed.GroundTruth) -> sed.Scores:
    return sed.simulate.scores(truth)


def rows_of(thing: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = thing.to_polars().rows(named=True)
    return rows


def test_an_evaluation_has_a_row_per_metric_and_class(
    scores: sed.Scores, truth: sed.GroundTruth
) -> None:
    result = sed.evaluate(scores, truth, [PSDS, BEST], resampling=20)
    rows = rows_of(result)
    assert len(rows) == 2 * (1 + len(result.classes))
    for row in rows:
        metric = next(metric for metric in result if repr(metric) == row["definition"])
        assert row["metric"] == result.names[metric]
        label, bootstrap = row["class"], result.intervals[metric]
        expected = (
            (result[metric].value, bootstrap.low, bootstrap.high, None, len(truth))
            if label is None
            else (
                result[metric].per_class[label].value,
                bootstrap.per_class[label].low,
                bootstrap.per_class[label].high,
                result[metric].thresholds.get(label),
                result.references[label],
            )
        )
        assert tuple(row[k] for k in ("value", "low", "high", "threshold", "references")) == expected
    one_metric = [
        (row["class"], row["value"], row["threshold"]) for row in rows if "Best" in row["definition"]
    ]
    assert result[BEST].to_polars().rows() == one_metric


def test_values_that_are_not_defined_are_null() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.2, 0.1], [0.9, 0.3]]}, classes=["Dog", "Cat"], frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 2})
    result = sed.evaluate(scores, truth, PSDS)
    assert math.isnan(result[PSDS].per_class["Cat"].value)
    frame = result.to_polars()
    assert frame["value"].to_list() == [1.0, 1.0, None]
    assert frame["value"].mean() == 1.0
    assert frame["low"].dtype == frame["value"].dtype  # also where a column is empty
    assert np.isnan(result.to_pandas()["value"][2])


def test_a_comparison_has_the_rows_of_its_csv(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    comparison = sed.compare([scores, sed.simulate.scores(truth, seed=5)], truth, BEST, resampling=10)
    header, *lines = comparison.to_csv().splitlines()
    frame = comparison.to_polars()
    assert frame.columns == header.split(",")
    assert len(frame) == len(lines)
    (pair,) = comparison.differences[BEST].values()
    row = next(row for row in rows_of(comparison) if row["less"] and row["class"] is None)
    assert (row["value"], row["p"], row["p_corrected"]) == (pair.value, pair.p, pair.p_corrected)
    assert row["verdict"] == pair.verdict


def test_counts_and_curves_have_a_row_per_operating_point(
    scores: sed.Scores, truth: sed.GroundTruth
) -> None:
    counts = sed.deltas(scores, truth, sed.Segment(1.0)).counts()
    speech = counts["Speech"]
    frame = counts.to_polars()
    assert len(frame) == sum(len(of_class.scores) for of_class in counts.values())
    of_speech = frame.filter(frame["class"] == "Speech")
    assert of_speech["score"].to_list() == speech.scores.tolist()
    assert of_speech["true_positives"].to_list() == speech.tp.tolist()
    tally = speech.tally()
    assert of_speech["precision"].to_list() == tally.precision[1:].tolist()
    assert of_speech["false_negatives"].to_list() == tally.fn[1:].tolist()
    assert counts.at([0.3, 0.5]).to_polars()["threshold"].unique().to_list() == [0.3, 0.5]
    roc = sed.curves.roc_curve(speech)
    assert roc.to_polars().columns == ["score", "false_positive_rate", "true_positive_rate"]
    assert roc.to_polars()["true_positive_rate"].to_list() == roc.tpr.tolist()
    det = sed.curves.det_curve(speech)
    assert det.to_polars()["false_negative_rate"].to_list() == det.fnr.tolist()
    fscore = sed.curves.fscore_curve(speech)
    assert fscore.to_polars().rows()[0] == (math.inf, 0.0)
    froc = sed.curves.froc_curve(speech, counts.hours).to_polars()
    assert froc.columns == ["score", "false_alarms_per_hour", "recall"]


def test_a_psd_roc_has_the_curves_of_the_classes(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    independent = sed.PiPSDS(PSDS.criterion, postprocessing="MedianFilter(0|0.2)")
    result = sed.evaluate(scores, truth, [PSDS, independent])
    curve = result[PSDS].curve
    rows = rows_of(curve)
    overall = [row for row in rows if row["class"] is None]
    assert [row["true_positive_rate"] for row in overall] == curve.etpr.tolist()
    speech = [row["effective_false_positive_rate"] for row in rows if row["class"] == "Speech"]
    assert speech == curve.per_class["Speech"].efpr.tolist()
    of_class = result[independent].per_class["Speech"].curve
    assert rows_of(of_class)[-1]["postprocessing"] == repr((of_class.postprocessing or ())[-1])


def test_counts_that_lack_rows_are_refused(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    counts = sed.deltas(scores, truth, sed.Collar()).counts()["Speech"].leanest()
    with pytest.raises(sed.SedscopeError, match="A data frame needs all counts of Speech"):
        counts.to_polars()
    assert "references" in counts._repr_html_()


def test_events_and_ground_truth_are_read_back(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    detected = sed.detect(scores, 0.5)
    with_events = {clip: events for clip, events in detected.items() if events}
    for table in (detected.to_polars(), detected.to_pandas()):
        assert sed.read_events(table) == with_events
    scored: sed.Events[tuple[Any, ...]] = sed.Events(
        {"a": [(0.0, 1.0, "Dog", 0.7)], "b": [(0.5, 1.0, "Cat")]}
    )
    assert scored.to_polars()["confidence"].to_list() == [0.7, None]
    assert truth.durations is not None
    durations = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    for table in (truth.to_polars(), truth.to_pandas()):
        again = sed.GroundTruth.from_table(table, durations=durations)
        assert {clip: again.events(clip) for clip in truth.clips} == {
            clip: truth.events(clip) for clip in truth.clips
        }


def test_pandas_has_the_same_table(scores: sed.Scores, truth: sed.GroundTruth) -> None:
    pytest.importorskip("pandas", reason="needs pandas")
    result = sed.evaluate(scores, truth, BEST)
    ours, theirs = result.to_pandas(), result.to_polars()
    assert list(ours.columns) == theirs.columns
    assert ours["value"].tolist() == theirs["value"].to_list()
    assert ours["class"][1:].tolist() == theirs["class"].to_list()[1:]
    assert ours["class"].isna().tolist() == theirs["class"].is_null().to_list()


def test_without_pandas_the_error_says_what_to_install(
    truth: sed.GroundTruth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sed.SedscopeError, match="pip install pandas"):
        truth.to_pandas()


def test_pyarrow_is_not_needed(truth: sed.GroundTruth, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="needs pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(truth.to_pandas()) == len(truth)
