"""Static plots: they draw the exact curves, on the axes that they get or on new ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import curves

Case: TypeAlias = tuple[sed.Scores, sed.GroundTruth]
pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def case() -> Case:
    truth = sed.simulate.ground_truth(40)
    return sed.simulate.scores(truth), truth


def drawn(axes: Any, line: int = -1) -> tuple[list[float], list[float]]:
    x, y = axes.lines[line].get_data()
    return list(x), list(y)


def test_psd_roc(case: Case) -> None:
    psds = sed.presets.PSDS1
    result = sed.evaluate(*case, psds)[psds]
    axes = result.plot(label="ours")
    assert drawn(axes) == (result.curve.efpr.tolist(), result.curve.etpr.tolist())
    assert axes.lines[-1].get_drawstyle() == "steps-post"
    assert [line.get_label() for line in axes.lines] == [*result.curve.per_class, "ours"]
    dog = result.per_class["Dog"]
    assert dog.plot(axes, color="red") is axes
    assert drawn(axes) == (dog.curve.efpr.tolist(), dog.curve.tpr.tolist())


def test_curves_of_segments(case: Case) -> None:
    counts = sed.deltas(*case, sed.Segment(1.0)).counts()["Speech"]
    _, axes = pyplot.subplots()
    pr = curves.precision_recall_curve(counts)
    assert pr.plot(axes) is axes
    assert drawn(axes) == (pr.recall.tolist(), pr.precision.tolist())
    roc = curves.roc_curve(counts)
    assert drawn(roc.plot()) == (roc.fpr.tolist(), roc.tpr.tolist())
    det = curves.det_curve(counts)
    x, y = drawn(det.plot())
    assert set(zip(x, y, strict=True)) <= set(zip(det.fpr.tolist(), det.fnr.tolist(), strict=True))
    assert min(x + y) > 0
    fscore = curves.fscore_curve(counts)
    assert drawn(fscore.plot()) == (fscore.scores[1:].tolist(), fscore.values[1:].tolist())


def test_recall_over_false_alarms(case: Case) -> None:
    metric = sed.RecallAtFalseAlarms(sed.IoU(0.3), per_hour=100)
    result = sed.evaluate(*case, metric, bootstrap=sed.Resampling(20))[metric]
    axes = result.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("false alarms per hour", "recall")
    assert axes.get_xscale() == "log"
    assert len(axes.collections) == len(axes.lines) == 10  # a band around each curve
    for number, of_class in enumerate(result.per_class.values()):
        curve = of_class.curve
        assert curve is not None
        x, y = drawn(axes, number)
        assert y[:-1] == curve.recall.tolist()
        assert (x[0], x[1:-1]) == (0.5 / curve.hours, curve.per_hour[1:].tolist())
        assert x[-1] == axes.get_xlim()[1]  # all curves run to the edge
    linear = result.per_class["Speech"].plot(log=False)
    assert (linear.get_xscale(), linear.get_xlim()[0]) == ("linear", 0)


def test_an_event_list_without_confidences_is_a_point(case: Case) -> None:
    scores, truth = case
    events = sed.detect(scores, dict.fromkeys(scores.classes, 0.3))
    system = sed.Scores.from_events(events, classes=scores.classes)
    metrics: list[Any] = [
        sed.RecallAtFalseAlarms(sed.IoU(0.3), per_hour=100),
        sed.AveragePrecision(sed.IoU(0.3)),
        sed.BestFScore(sed.IoU(0.3)),
        sed.AUROC(sed.Segment(1.0)),
        sed.PSDS(sed.Intersection(0.3, 0.3), max_efpr=1e6),
    ]
    result = sed.evaluate(system, truth, metrics)
    tally = result.counts[sed.IoU(0.3)]["Speech"].tally_at(0.5)
    points = {
        metrics[0]: (tally.false_alarms_per_hour(result.hours), tally.recall),
        metrics[1]: (tally.recall, tally.precision),
        metrics[2]: (1.0, tally.fscore()),
    }
    for metric in metrics:
        axes = result[metric].plot()
        assert {line.get_linestyle() for line in axes.lines} == {"None"}
        assert all(len(line.get_xdata()) == 1 for line in axes.lines)
        if metric in points:
            (x,), (y,) = drawn(axes, result.classes.index("Speech"))
            assert (x, y) == points[metric]
    det = curves.det_curve(result.counts[sed.Segment(1.0)]["Speech"]).plot()
    assert det.lines[0].get_linestyle() == "None"


def test_results_of_all_classes(case: Case) -> None:
    best, at_half = sed.BestFScore(sed.Collar()), sed.FScore(sed.Collar())
    result = sed.evaluate(*case, [best, at_half])
    axes = result[best].plot()
    assert [line.get_label() for line in axes.lines] == list(result.classes)
    with pytest.raises(sed.SedscopeError, match="no curve to plot"):
        result[at_half].plot()


def test_cross_trigger_matrix(case: Case) -> None:
    counts = sed.deltas(*case, sed.presets.PSDS2.criterion).counts()
    axes = counts.plot_cross_triggers(0.3)
    texts = np.array([int(text.get_text()) for text in axes.texts]).reshape(len(counts), -1)
    assert np.array_equal(texts, counts.cross_trigger_matrix(0.3))


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
import sedscope as sed
truth = sed.simulate.ground_truth(5)
counts = sed.deltas(sed.simulate.scores(truth), truth, sed.Collar()).counts()
try:
    sed.curves.fscore_curve(counts["Speech"]).plot()
except sed.SedscopeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "Plots need matplotlib. Install it with: pip install 'sedscope[plot]'" in done.stdout
