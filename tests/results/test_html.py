"""What notebooks show: small tables whatever the size of an object, and a repr of one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sedscope as sed

CLASSES = [f"<b>{'long name & ' * 20}{i}" for i in range(5000)]
RATE = sed.FScore(sed.Clip())
BEST = sed.BestFScore(sed.Clip())
FEW = 10_000  # characters


def _objects() -> dict[str, Any]:
    """Make an object of each type, of as many classes, clips or events as are ever too many."""
    rng = np.random.default_rng(0)
    arrays = {f"clip {i}": rng.random((3, len(CLASSES)), np.float32) for i in range(2)}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=1.0)
    events = {clip: [(0.0, 1.0, label) for label in CLASSES] for clip in arrays}
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(arrays, 3.0))
    evaluation = sed.evaluate(scores, truth, BEST)
    counts = evaluation.counts[BEST.criterion]
    points = sed.OperatingPoints(evaluation[BEST].thresholds)
    few = sed.simulate.ground_truth(30, seed=3)
    systems = {f"<i>system {i}": sed.simulate.scores(few, seed=i) for i in range(8)}
    psds = sed.evaluate(systems["<i>system 0"], few, sed.presets.PSDS1)[sed.presets.PSDS1]
    many_rows = sed.deltas(systems["<i>system 0"], few, sed.Segment(1.0)).counts()["Speech"]
    return {
        "Evaluation": evaluation,
        "Comparison": sed.compare(systems, few, RATE, resampling=5),
        "Scores": scores,
        "GroundTruth": truth,
        "Events": sed.detect(scores, 0.5),
        "Deltas": sed.deltas(scores, truth, sed.Clip()),
        "Counts": counts,
        "ClassCounts": many_rows,
        "ClassCounts without rows": counts[CLASSES[0]].at([]),
        "OperatingPoints": points,
        "Tuning": sed.tune(systems["<i>system 0"], few, BEST, "MedianFilter(0|0.2)"),
        "ClasswiseResult": evaluation[BEST],
        "PSDSResult": psds,
        "PSDROC": psds.curve,
        "ClassPSDROC": psds.curve.per_class["Speech"],
        "PrecisionRecallCurve": sed.curves.precision_recall_curve(many_rows),
        "ROCCurve": sed.curves.roc_curve(many_rows),
        "DETCurve": sed.curves.det_curve(many_rows),
        "FROCCurve": sed.curves.froc_curve(many_rows, hours=1.0),
        "ThresholdCurve": sed.curves.fscore_curve(many_rows),
    }


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sed.SedscopeWarning)
        return _objects()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Evaluation",
            "Comparison",
            "Scores",
            "GroundTruth",
            "Events",
            "Deltas",
            "Counts",
            "ClassCounts",
        ),
        *("ClassCounts without rows", "OperatingPoints", "Tuning", "ClasswiseResult", "PSDSResult"),
        *("PSDROC", "ClassPSDROC", "PrecisionRecallCurve", "ROCCurve", "DETCurve"),
        *("FROCCurve", "ThresholdCurve"),
    ],
)
def test_a_table_is_small_and_escaped(name: str, objects: dict[str, Any]) -> None:
    html = objects[name]._repr_html_()
    assert html.count("<table") == html.count("</table>") >= 1
    assert len(html) < FEW
    assert "<b>" not in html
    assert "<i>" not in html


@pytest.mark.parametrize(
    "name", ["Evaluation", "GroundTruth", "Counts", "OperatingPoints", "ClasswiseResult"]
)
def test_a_line_says_how_many_classes_are_left_out(name: str, objects: dict[str, Any]) -> None:
    assert "… and 4980 more classes<" in objects[name]._repr_html_()


def test_pairs_of_systems_are_left_out(objects: dict[str, Any]) -> None:
    assert "… and 8 more differences<" in objects["Comparison"]._repr_html_()


def test_the_overall_value_is_shown(objects: dict[str, Any]) -> None:
    html = objects["Evaluation"]._repr_html_()
    value = objects["Evaluation"][BEST].value
    assert f">{value:.4f}</th></tr></tbody>" in html
    assert "BestFScore: BestFScore(Clip(" in html


def _public_results(objects: dict[str, Any]) -> dict[str, Any]:
    """Return the objects, and those inside of them that users meet as well."""
    evaluation, comparison, tuning = (objects[name] for name in ("Evaluation", "Comparison", "Tuning"))
    diagnosis = sed.diagnose(
        objects["Scores"], objects["GroundTruth"], sed.Collar(), 0.5, classes=CLASSES[:50]
    )
    boundaries = sed.boundary_errors(
        objects["Scores"], objects["GroundTruth"], sed.IoU(0.1), 0.5, classes=CLASSES[:50]
    )
    latencies = sed.alarm_latencies(
        objects["Scores"], objects["GroundTruth"], sed.Alarm(), 0.5, classes=CLASSES[:50]
    )
    (pair, *_) = comparison.differences[RATE].values()
    return {
        **{name: thing for name, thing in objects.items() if name != "Events"},
        "ClassValue": evaluation[BEST].per_class[CLASSES[0]],
        "ClassPSDS": objects["PSDSResult"].per_class["Speech"],
        "Alignment": evaluation.alignment,
        "SystemValue": comparison.values[RATE]["<i>system 0"],
        "PairDifference": pair,
        "ClassTuning": tuning.per_class["Speech"],
        "Diagnosis": diagnosis,
        "ClassDiagnosis": diagnosis[CLASSES[0]],
        "BoundaryErrors": boundaries,
        "ClassBoundaryErrors": boundaries[CLASSES[0]],
        "AlarmLatencies": latencies,
        "ClassLatencies": latencies[CLASSES[0]],
        "Validation": sed.validate(None, sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]})),
    }


def test_every_repr_is_one_line(objects: dict[str, Any]) -> None:
    for name, result in _public_results(objects).items():
        text = repr(result)
        assert text.startswith(f"<{name.split()[0]}"), name
        assert "\n" not in text, name
        assert len(text) < 400, name


def test_no_clip_is_read_to_show_scores() -> None:
    scores = sed.Scores(["a"], lambda _: pytest.fail("a clip was read"), classes=["Dog"])
    assert "read clip by clip when needed" in scores._repr_html_()


def test_what_a_ground_truth_shows() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(0, 1.5, "Dog"), (2, 3, "Dog")]}, durations={"a": 3})
    assert "Dog</td><td>2</td><td>2.5</td>" in truth._repr_html_()
    assert '<table style="text-align:right;white-space:nowrap">' in truth._repr_html_()
