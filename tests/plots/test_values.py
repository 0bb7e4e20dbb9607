"""Plots of results: a dot with its interval for each class and system."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import pytest

import sedscope as sed
from sedscope import progress

pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def truth() -> sed.GroundTruth:
    return sed.simulate.ground_truth(30, classes=3)


@pytest.fixture(scope="module")
def systems(truth: sed.GroundTruth) -> dict[str, Any]:
    return {name: sed.simulate.scores(truth, quality=q) for name, q in (("a", 0.8), ("b", 0.6))}


def names_of_rows(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def dots(axes: Any) -> list[list[float]]:
    return [[*line.get_xdata()] for line in axes.lines if line.get_marker() == "o"]


def test_an_evaluation_draws_curves_or_values(truth: sed.GroundTruth, systems: dict[str, Any]) -> None:
    result = sed.evaluate(systems["a"], truth, ["psds1", "collar_f1"], resampling=20)
    assert result.plot().get_title() == f"PSDS1 = {result['psds1'].value:.3f}"
    assert len(result.plot(per_class=False).lines) == 1
    axes: Any = result.plot("collar_f1")
    of_classes = [of_class.value for of_class in result["collar_f1"].per_class.values()]
    assert names_of_rows(axes) == [*result.classes, "overall"]
    assert dots(axes) == [[*of_classes, result["collar_f1"].value]]
    ends = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    interval = result.intervals[[*result][1]]
    assert ends[-1] == [interval.low, interval.high]
    assert names_of_rows(result.plot("collar_f1", per_class=False)) == ["overall"]
    own = pyplot.figure().add_subplot()
    assert result.plot("collar_f1", ax=own) is own
    with pytest.raises(sed.SedscopeError, match="psds2"):
        result.plot("psds2")


def test_a_comparison_draws_values_and_differences(
    truth: sed.GroundTruth, systems: dict[str, Any]
) -> None:
    comparison = sed.compare({**systems, "paper": 0.3}, truth, "psds1", resampling=20)
    compared = comparison["psds1"]
    values = dots(comparison.plot())
    assert [of_system[-1] for of_system in values] == [v.value for v in compared.values.values()]
    assert [len(of_system) for of_system in values] == [4, 4, 1]
    axes: Any = comparison.plot(differences=True)
    assert [of_pair[-1] for of_pair in dots(axes)] == [d.value for d in compared.differences.values()]
    assert axes.get_xlabel() == "difference in PSDS1"
    (legend,) = axes.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["b − a", "paper − a", "paper − b"]
    figure = axes.figure
    figure.draw_without_rendering()
    assert figure.get_tightbbox().x1 <= figure.get_size_inches()[0] + 0.01


def test_a_single_difference_says_of_which_systems(
    truth: sed.GroundTruth, systems: dict[str, Any]
) -> None:
    comparison = sed.compare(systems, truth, "psds1", resampling=20)
    (legend,) = comparison.plot(differences=True).figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["b − a"]


def test_a_tuning_draws_both_values(truth: sed.GroundTruth, systems: dict[str, Any]) -> None:
    tuned = sed.tune(systems["a"], truth, "best_collar_f1", folds=2)
    assert tuned.cross_validated is not None
    assert [of_kind[-1] for of_kind in dots(tuned.plot())] == [tuned.value, tuned.cross_validated.value]
    assert len(dots(sed.tune(systems["a"], truth, "best_collar_f1").plot())) == 1


def test_many_classes_have_no_names() -> None:
    labels = [f"class {number:03}" for number in range(90)]
    scores = sed.Scores.from_arrays({"a": np.ones((1, 90))}, classes=labels, frame=1.0)
    truth = sed.GroundTruth.from_dict({"a": [(0, 1, label) for label in labels]})
    axes: Any = sed.evaluate(scores, truth, "collar_f1").plot()
    assert names_of_rows(axes) == []
    assert axes.figure.get_size_inches()[1] < 12


def test_reports_are_shown_in_the_browser(
    truth: sed.GroundTruth, systems: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_address(address: str) -> bool:
        opened.append(address)
        return len(opened) == 1

    monkeypatch.setattr(webbrowser, "open", open_address)
    result = sed.evaluate(systems["a"], truth, "psds1")
    result.show(clips_shown=2)
    page = Path(url2pathname(urlparse(opened[0]).path)).read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    with pytest.warns(sed.SedscopeWarning, match="No browser could be opened. The report is "):
        sed.compare(systems, truth, "psds1", resampling=20).show()


def test_reports_are_shown_below_a_cell(
    truth: sed.GroundTruth, systems: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    display = pytest.importorskip("IPython.display", reason="needs IPython")
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(display, "display", lambda content, raw: shown.append(content))
    sed.evaluate(systems["a"], truth, "psds1").show(height=500)
    frame = shown[0]["text/html"]
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "height: 500px" in frame
    assert frame.count("<") == 2  # the page cannot end its attribute
