"""Static plots: they draw the exact curves, on the axes that they get or on new ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import pytest

import sedscope as sed
from sedscope.plots.axes import STYLES, line_style, normal_probability, probit

Case: TypeAlias = tuple[sed.Scores, sed.GroundTruth]
pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

WITH_CURVES = ["psds1", "psds2", "best_collar_f1", "best_segment_f1", "segment_map", "auroc", "dprime"]


@pytest.fixture(autouse=True)
def without_screen() -> None:
    pyplot.switch_backend("agg")


@pytest.fixture(scope="module")
def case() -> Case:
    truth = sed.simulate.ground_truth(40)
    return sed.simulate.scores(truth), truth


@pytest.fixture(scope="module")
def results(case: Case) -> dict[str, sed.Evaluation]:
    _, truth = case
    return {
        name: sed.evaluate(
            sed.simulate.scores(truth, quality=quality), truth, [*WITH_CURVES, "collar_f1"]
        )
        for name, quality in (("ours", 0.8), ("theirs", 0.6))
    }


def drawn(axes: Any, line: int = -1) -> tuple[list[float], list[float]]:
    x, y = axes.lines[line].get_data()
    return list(x), list(y)


def legend_texts(axes: Any) -> list[str]:
    (legend,) = axes.figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_saved_files_embed_truetype_fonts(results: dict[str, sed.Evaluation], tmp_path: Path) -> None:
    pyplot.rcParams["pdf.fonttype"] = 3  # the default
    figure: Any = results["ours"]["psds1"].plot().figure
    figure.savefig(tmp_path / "figure.pdf")
    written = (tmp_path / "figure.pdf").read_bytes()
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written


def require_readable(axes: Any) -> None:
    """Nothing is cut, and the legend lies beside the curves."""
    figure = axes.figure
    figure.draw_without_rendering()
    outer = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(outer.x0, outer.y0) >= -0.01
    assert outer.x1 <= width + 0.01
    assert outer.y1 <= height + 0.01
    for legend in figure.legends:
        assert not legend.get_window_extent().overlaps(axes.get_tightbbox())


def test_psd_roc(results: dict[str, sed.Evaluation]) -> None:
    result = results["ours"][sed.presets.PSDS1]
    axes = result.plot(label="ours")
    efpr, etpr = drawn(axes)
    assert efpr == [*result.curve.efpr.tolist(), 100]
    assert etpr == [*result.curve.etpr.tolist(), result.curve.etpr[-1]]
    assert axes.lines[-1].get_drawstyle() == "steps-post"
    assert all(drawn(axes, line)[0][-1] == 100 for line in range(len(axes.lines)))
    assert legend_texts(axes) == [*result.per_class, "ours"]
    assert axes.get_title() == f"PSDS1 = {result.value:.3f}"
    assert axes.get_ylabel() == "true positive ratio"
    require_readable(axes)
    dog = result.per_class["Dog"]
    assert dog.plot(axes, color="red") is axes
    assert drawn(axes)[1][:-1] == dog.curve.tpr.tolist()


def test_psd_roc_reaches_the_largest_rate_in_its_unit() -> None:
    # the first class is perfect, so its curve has one vertex; the second needs false positives
    scores = sed.Scores.from_arrays(
        {"a": np.array([[0, 1, 0, 0, 0], [0, 0.9, 0, 0.5, 0]]).T}, classes=["Cat", "Dog"], frame=60
    )
    truth = sed.GroundTruth.from_dict({"a": [(60, 120, "Cat"), (180, 240, "Dog")]}, durations={"a": 300})
    metric = sed.PSDS(sed.Intersection(0.7, 0.7), max_efpr=0.5, unit="minute")
    result = sed.evaluate(scores, truth, metric)[metric]
    axes = result.plot()
    assert drawn(axes, 0) == ([0, 0.5], [1, 1])
    assert drawn(axes, 1) == ([0, 0.2, 0.5], [0, 1, 1])
    assert axes.get_xlim() == (0, 0.5)
    assert axes.get_xlabel() == "effective false positives per minute"
    alone = result.plot(per_class=False)
    assert len(alone.lines) == 1
    assert not alone.figure.legends


@pytest.mark.parametrize("name", WITH_CURVES)
def test_metrics_with_curves(name: str, results: dict[str, sed.Evaluation]) -> None:
    result = results["ours"][name]
    axes = result.plot()
    assert legend_texts(axes) == [*result.per_class, "all classes"]
    assert all(line.get_linestyle() != "None" for line in axes.lines)
    assert len(drawn(axes)[0]) > 2
    assert axes.get_title() == f"{name.replace('psds', 'PSDS')} = {result.value:.3f}"
    assert all(np.size(line.get_xdata()) > 1 for line in axes.lines)
    require_readable(axes)
    over_each_other = sed.plot(results, name)
    assert legend_texts(over_each_other) == [
        f"{system} ({evaluation[name].value:.3f})" for system, evaluation in results.items()
    ]
    assert over_each_other.get_title() == name.replace("psds", "PSDS")
    assert drawn(over_each_other, 0) == drawn(result.plot(per_class=False))
    require_readable(over_each_other)


def test_a_name_of_your_own_is_the_title(case: Case) -> None:
    recall = sed.RecallAtFalseAlarms(sed.Collar(), false_alarms=20)
    result = sed.evaluate(*case, {"strict": recall, "mine": "psds1"})
    for name in ("strict", "mine"):
        assert result[name].plot().get_title() == f"{name} = {result[name].value:.3f}"


def test_systems(results: dict[str, sed.Evaluation]) -> None:
    ours, theirs = results.values()
    axes = sed.plot([ours, theirs], sed.presets.PSDS1, label="Dog")
    values = [evaluation["psds1"].per_class["Dog"].value for evaluation in (ours, theirs)]
    assert legend_texts(axes) == [f"system {k} ({value:.3f})" for k, value in enumerate(values, 1)]
    assert axes.get_title() == "PSDS1, Dog"
    _, own = pyplot.subplots()
    assert sed.plot(ours, "psds1", per_class=False, ax=own) is own
    assert len(own.lines) == 1
    assert not own.figure.legends


@pytest.mark.parametrize(
    ("names", "metric", "options", "message"),
    [
        (["ours"], "collar_f1", {}, "no curve to plot: the value of collar_f1 belongs to one threshold"),
        (["ours", "theirs"], "collar_f1", {}, "no curve to plot"),
        (["ours"], "psds3", {}, "ours: There is no metric 'psds3' here. Did you mean psds"),
        (["ours"], "psds1", {"label": "Dogs"}, r"ours has no class Dogs \(did you mean Dog\?\)"),
        ([], "psds1", {}, "There is no system to plot"),
    ],
)
def test_what_cannot_be_plotted(
    names: list[str],
    metric: str,
    options: dict[str, str],
    message: str,
    results: dict[str, sed.Evaluation],
) -> None:
    with pytest.raises(sed.SedscopeError, match=message):
        sed.plot({name: results[name] for name in names}, metric, **options)  # type: ignore[arg-type]  # options of every kind
    assert not pyplot.get_fignums()


def test_metrics_of_the_same_name_that_differ_are_refused(case: Case) -> None:
    ours, theirs = (
        sed.evaluate(*case, {"mine": sed.BestFScore(sed.Collar(onset=onset))}) for onset in (0.1, 0.2)
    )
    with pytest.raises(sed.SedscopeError, match="not the same metric in all systems"):
        sed.plot([ours, theirs], "mine")
    with pytest.raises(sed.SedscopeError, match="system 2 is not an evaluation but ClasswiseResult"):
        sed.plot([ours, ours["mine"]], "mine")  # type: ignore[list-item]
    with pytest.raises(sed.SedscopeError, match="float is not an evaluation"):
        sed.plot(0.5, "mine")  # type: ignore[arg-type]  # what is not allowed
    assert sed.plot(ours, "mine").get_title().startswith("mine = ")


def test_classes_without_references_have_no_curve() -> None:
    truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    scores = sed.Scores.from_arrays(
        {"a": [[0.2, 0.1], [0.9, 0], [0.4, 0]]}, classes=["Dog", "$_Cat"], frame=1.0
    )
    result = sed.evaluate(scores, truth, ["psds1", "best_collar_f1"])
    for name in ("psds1", "best_collar_f1"):
        assert legend_texts(result[name].plot()) == ["Dog"]
        with pytest.raises(sed.SedscopeError, match="no reference events"):
            sed.plot(result, name, label="$_Cat")
    with pytest.raises(sed.SedscopeError, match="the class has no reference events"):
        result["best_collar_f1"].per_class["$_Cat"].plot()


def test_names_are_plain_text() -> None:
    labels = ["_hidden", "$x", "a_{b}$c$"]
    truth = sed.GroundTruth.from_dict(
        {"a": [(k, k + 1, label) for k, label in enumerate(labels)]}, durations={"a": 3}
    )
    scores = sed.Scores.from_arrays({"a": np.eye(3)}, classes=labels, frame=1.0)
    axes = sed.plot(sed.evaluate(scores, truth, {"$m": sed.presets.PSDS2}), "$m")
    assert legend_texts(axes) == [" _hidden", r"\$x", r"a_{b}\$c\$", "all classes"]
    require_readable(axes)
    require_readable(
        sed.deltas(scores, truth, sed.presets.PSDS2.criterion).counts().plot_cross_triggers(0.5)
    )


def test_colours_and_dashes_differ() -> None:
    styles = [line_style(number) for number in range(STYLES)]
    assert len({(style["color"], style["linestyle"]) for style in styles}) == STYLES
    assert len({style["color"] for style in styles[:20]}) == 20


def test_more_classes_than_styles_are_grey() -> None:
    truth = sed.simulate.ground_truth(20, classes=STYLES + 1, events_per_minute=100)
    result = sed.evaluate(sed.simulate.scores(truth), truth, "psds1")["psds1"]
    with_references = sum(not np.isnan(of_class.value) for of_class in result.per_class.values())
    assert with_references > STYLES
    assert legend_texts(result.plot()) == [f"{with_references} classes", "all classes"]


def test_curves_of_segments(case: Case) -> None:
    counts = sed.deltas(*case, sed.Segment(1.0)).counts()["Speech"]
    _, axes = pyplot.subplots()
    pr = sed.curves.precision_recall_curve(counts)
    assert pr.plot(axes) is axes
    assert drawn(axes) == (pr.recall.tolist(), pr.precision.tolist())
    roc = sed.curves.roc_curve(counts)
    assert drawn(roc.plot()) == (roc.fpr.tolist(), roc.tpr.tolist())


@pytest.mark.parametrize(
    ("beta", "name"), [(1.0, "F1-score"), (2.0, "F-score (β = 2)"), (None, "error rate")]
)
def test_quantities_over_the_threshold(beta: float | None, name: str, case: Case) -> None:
    counts = sed.deltas(*case, sed.Collar()).counts()["Speech"]
    curve = (
        sed.curves.error_rate_curve(counts) if beta is None else sed.curves.fscore_curve(counts, beta)
    )
    axes = curve.plot()
    x, y = drawn(axes)
    assert x == [1, *curve.scores[1:].tolist(), 0]
    assert y == [*curve.values.tolist(), curve.values[-1]]
    assert axes.get_ylabel() == name
    assert axes.get_xlim() == (0, 1)
    # at a threshold, the drawn step has the value of the counts there
    at_half = counts.tally_at(0.5)
    step = y[np.flatnonzero(np.array(x) > 0.5)[-1]]
    assert step == (at_half.error_rate if beta is None else at_half.fscore(beta))


def test_recall_over_false_alarms(case: Case) -> None:
    metric = sed.RecallAtFalseAlarms(sed.IoU(0.3), false_alarms=100)
    result = sed.evaluate(*case, metric, resampling=sed.Resampling(20))[metric]
    axes = result.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("false alarms per hour", "recall")
    assert axes.get_xscale() == "log"
    assert (len(axes.lines), len(axes.collections)) == (10, 0)  # ten bands would cover each other
    for number, of_class in enumerate(result.per_class.values()):
        curve = of_class.curve
        assert curve is not None
        x, y = drawn(axes, number)
        assert y[:-1] == curve.recall.tolist()
        assert (x[0], x[1:-1]) == (0.5 / curve.hours, curve.per_hour[1:].tolist())
        assert x[-1] == axes.get_xlim()[1]  # all curves run to the edge
    assert len(result.per_class["Speech"].plot().collections) == 1  # the band
    linear = result.per_class["Speech"].plot(log=False)
    assert (linear.get_xscale(), linear.get_xlim()[0]) == ("linear", 0)


def test_false_alarms_are_drawn_per_day_if_the_metric_counts_them_so(case: Case) -> None:
    metric = sed.RecallAtFalseAlarms(sed.IoU(0.3), 100, per="day")
    per_day = sed.evaluate(*case, metric)[metric]
    curve = per_day.per_class["Speech"].curve
    assert curve is not None
    axes = per_day.per_class["Speech"].plot()
    assert axes.get_xlabel() == "false alarms per day"
    assert drawn(axes)[0][1:-1] == (24 * curve.per_hour[1:]).tolist()
    assert per_day.per_class["Speech"].plot(per="hour").get_xlabel() == "false alarms per hour"


def test_a_ring_marks_where_a_detector_is_nearly_always_on(case: Case) -> None:
    metric = sed.RecallAtFalseAlarms(sed.AnyOverlap(), 100)
    curve = sed.evaluate(*case, metric)[metric].per_class["Dog"].curve
    assert curve is not None
    assert curve.always_on is not None
    assert curve.recall[curve.always_on :].min() > curve.recall[: curve.always_on].max()
    assert (curve.scores[curve.always_on :] < curve.scores[: curve.always_on].min()).all()
    (line,) = curve.plot().lines
    assert (line.get_marker(), line.get_markevery()) == ("o", [curve.always_on])
    metric = sed.RecallAtFalseAlarms(sed.Alarm(), 100)
    (line,) = sed.evaluate(*case, metric)[metric].per_class["Dog"].plot().lines
    assert line.get_marker() == "None"  # a clip is shorter than the cooldown


def test_an_event_list_without_confidences_is_a_point(case: Case) -> None:
    scores, truth = case
    events = sed.detect(scores, dict.fromkeys(scores.classes, 0.3))
    system = sed.Scores.from_events(events, classes=scores.classes)
    metrics: list[Any] = [
        sed.RecallAtFalseAlarms(sed.IoU(0.3), false_alarms=100),
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
    det = sed.curves.det_curve(result.counts[sed.Segment(1.0)]["Speech"]).plot()
    assert det.lines[0].get_linestyle() == "None"


def test_det_has_probit_axes(case: Case) -> None:
    counts = sed.deltas(*case, sed.Segment(1.0)).counts()
    det = sed.curves.det_curve(counts["Speech"])
    axes = det.plot()
    assert drawn(axes) == (det.fpr.tolist(), det.fnr.tolist())
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert names[-7:] == ["1", "2", "5", "10", "20", "40", "60"]
    assert np.allclose(axes.get_xticks(), np.array(names, float) / 100)
    rates = np.array([0.0001, 0.02, 0.3, 0.5, 0.999])
    exact = [NormalDist().inv_cdf(rate) for rate in rates.tolist()]
    assert np.allclose(probit(rates), exact, atol=1e-5)
    assert np.allclose(normal_probability(probit(rates)), rates)
    places = axes.transData.transform(np.stack([rates[1:4], rates[1:4]], axis=1))[:, 0]
    steps = np.diff(places) / np.diff(exact[1:4])
    assert steps[0] == pytest.approx(steps[1], rel=1e-4)
    lower = axes.get_xlim()[0]
    sed.curves.det_curve(counts["Dishes"]).plot(axes)
    assert axes.get_xlim()[0] <= lower


@pytest.mark.parametrize("classes", [2, 12])
def test_cross_trigger_matrix(classes: int) -> None:
    truth = sed.simulate.ground_truth(40, classes=classes)
    counts = sed.deltas(sed.simulate.scores(truth), truth, sed.presets.PSDS2.criterion).counts()
    axes = counts.plot_cross_triggers(0.3)
    texts = np.array([int(text.get_text()) for text in axes.texts]).reshape(len(counts), -1)
    assert np.array_equal(texts, counts.cross_trigger_matrix(0.3))
    assert [text.get_text() for text in axes.get_yticklabels()] == list(counts)
    assert axes.get_title().startswith("Cross-triggers at threshold 0.3")
    assert axes.figure.axes[1].get_ylabel() == "cross-triggers"
    require_readable(axes)


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


def test_groups_are_drawn_in_order() -> None:
    truth = sed.simulate.ground_truth(100, classes=2, seconds=5, events_per_minute=30)
    scores = sed.simulate.scores(truth, frame=0.25)
    sites = {clip: f"site {number % 3}" for number, clip in enumerate(truth.clips)}
    kinds = dict(zip(scores.classes, ("common", "rare"), strict=True))
    result = sed.evaluate(
        scores, truth, "collar_f1", by=sed.By(clips=sites, classes=kinds), resampling=10
    )
    axes = sed.plots.plot_groups(result, "collar_f1", kind="clips", sort="value")
    values: list[float] = np.asarray(axes.lines[-1].get_xdata()).tolist()
    assert values == sorted(values, reverse=True)
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert [result.groups["clips"][name]["collar_f1"].value for name in names] == values
    low, high = axes.get_xlim()
    assert sum(low <= tick <= high for tick in axes.get_xticks()) <= 6  # so that labels do not touch
    with pytest.raises(sed.SedscopeError, match="kind="):
        sed.plots.plot_groups(result, "collar_f1")
    with pytest.raises(sed.SedscopeError, match="'lengths' is not valid"):
        sed.plots.plot_groups(result, "collar_f1", kind="lengths")
    each = {clip: clip for clip in truth.clips}
    many = sed.evaluate(scores, truth, "collar_f1", by=each)
    assert not len(sed.plots.plot_groups(many, "collar_f1").get_yticks())
