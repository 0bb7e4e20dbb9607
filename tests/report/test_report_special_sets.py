"""Reports of sets that are special: one class, no references, one score, large values, long names."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.page import check_table
from ..support.report.sets import METRICS, simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

TEXTS = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"


def opened(page: Browser, folder: Path, evaluation: sed.Evaluation, **options: Any) -> None:
    evaluation.report(folder / "report.html", **options)
    page.open(folder / "report.html")


def test_the_slider_moves_the_only_class(page: Browser, tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(40, classes=1, seed=1)
    scores = sed.simulate.scores(truth, quality=0.6, seed=1)
    opened(page, tmp_path, sed.evaluate(scores, truth, METRICS[0]))
    counts = sed.deltas(scores, truth, METRICS[0].criterion).counts()
    own = "#table input[type=range]"
    last = page.run(f"return document.querySelector('{own}').max")
    assert page.run("return document.querySelector('#slider').max") == last
    assert "shared" not in page.text("#positions")
    for position in (0, int(last) // 2, int(last)):
        page.choose("#slider", position)
        assert page.run(f"return document.querySelector('{own}').value") == str(position)
        assert page.run("return document.querySelector('#threshold').value") != ""
        check_table(page, counts)
    assert page.run(TEXTS, "#psd_roc .legend li") == ["class_0"]
    page.click("#psd_roc input")
    assert page.run(TEXTS, "#psd_roc .legend li") == ["class_0", "class_0, 50 thresholds"]
    assert page.problems() == []


def test_an_empty_field_becomes_the_threshold_again(page: Browser, tmp_path: Path) -> None:
    opened(page, tmp_path, sed.evaluate(*simulated_set(10), METRICS[0]))
    page.choose("#slider", 3)
    threshold = page.run("return document.querySelector('#threshold').value")
    page.choose("#threshold", "")
    assert page.run("return document.querySelector('#threshold').value") == threshold != ""


def test_without_references_no_picture_has_a_curve(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set(10)
    empty = sed.GroundTruth.from_dict(
        {clip: [] for clip in truth.clips}, durations=dict.fromkeys(truth.clips, 10.0)
    )
    opened(page, tmp_path, sed.evaluate(scores, empty, METRICS))
    pictures = page.run(TEXTS, ".chart")
    assert len(pictures) == 5
    assert all("There are no references, so there is no curve." in picture for picture in pictures)
    assert page.run(TEXTS, ".legend li") == []
    assert page.problems() == []


def test_bars_of_values_above_one_have_a_scale_of_their_own(page: Browser, tmp_path: Path) -> None:
    metrics = {"ER": sed.ErrorRate(sed.Collar(), 0.02), "F": sed.FScore(sed.Collar(), 0.5)}
    result = sed.evaluate(*simulated_set(), metrics)
    opened(page, tmp_path, result)
    widths = """return [...document.querySelectorAll(`#table tbody tr td:nth-child(${arguments[0]}) .filled`)]
        .map((bar) => Number(bar.getAttribute("width")))"""
    for column, name in enumerate(metrics, start=3):
        values = np.array([of_class.value for of_class in result[name].per_class.values()])
        assert page.run(widths, column) == pytest.approx(64 * values / max(1, values.max()))
    assert max(page.run(widths, 4)) < 64


def test_systems_that_were_not_compared_have_no_columns_for_it(page: Browser, tmp_path: Path) -> None:
    result = sed.evaluate(*simulated_set(), METRICS[0])
    other = sed.evaluate(*simulated_set(quality=0.5), METRICS[0])
    opened(page, tmp_path, result, name="one", others={"two": other})
    headings = page.run(TEXTS, "#systems th[scope=col]")
    assert headings[:-1] == ["class", "one", "two", "difference"]
    assert all(page.run(TEXTS, "#systems th[scope=col]"))
    assert {len(row) for row in page.rows("#systems table", foot=True)} == {5}


def test_a_single_score_lies_inside_of_the_picture(page: Browser, tmp_path: Path) -> None:
    _, truth = simulated_set(20)
    events = {clip: truth.events(clip)[:2] for clip in truth.clips}
    system = sed.Scores.from_events(events, classes=truth.labels)
    opened(page, tmp_path, sed.evaluate(system, truth, METRICS[2]))
    fscore, froc = "#curves figure:nth-child(2)", "#curves figure:nth-child(3)"
    ticks = page.run(TEXTS, f"{fscore} .axes text[text-anchor=middle]:not(.label)")
    assert len(ticks) > 2
    assert float(ticks[0]) < 1 < float(ticks[-1])
    # no false alarm is at the end of the axis, which says so
    assert page.run(TEXTS, f"{froc} .axes text[text-anchor=middle]:not(.label)")[0] == "0"


def test_curves_do_not_run_along_the_edges(page: Browser, tmp_path: Path) -> None:
    opened(page, tmp_path, sed.evaluate(*simulated_set(), METRICS[3]))
    find = "return document.querySelector('#curves figure:last-child').querySelector(arguments[0])"
    axis = page.run(find + ".getAttribute('d')", ".axis")
    left, top, bottom, right = map(float, re.findall(r"[\d.]+", axis))
    paths = page.run(
        "return [...document.querySelectorAll('#curves figure:last-child .chart .curve')]"
        ".map((one) => one.getAttribute('d'))"
    )
    assert len(paths) == 10
    for path in paths:
        for piece in path.split("M")[1:]:
            vertices = [tuple(map(float, vertex.split())) for vertex in piece.split("L")]
            for (x, y), (to_x, to_y) in itertools.pairwise(vertices):
                assert not (x == to_x and x in (left, right) and y != to_y)
                assert not (y == to_y and y in (top, bottom) and x != to_x)
    shapes = page.run(
        "return [...document.querySelectorAll('#curves figure:last-child .chart .shape')]"
        ".map((shape) => shape.getAttribute('transform'))"
    )
    assert shapes
    for shape in shapes:
        x, y = map(float, re.findall(r"-?[\d.]+", shape)[:2])
        assert left < x < right
        assert top < y < bottom


def test_names_of_clips_are_shown_whole(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set(5)
    names = {clip: f"{'recorder_' * 20}{clip}" for clip in truth.clips}
    events = {names[clip]: truth.events(clip) for clip in truth.clips}
    arrays = {names[clip]: scores[clip].values for clip in scores}
    system = sed.Scores.from_arrays(arrays, classes=scores.classes, frame=0.02)
    renamed = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 10.0))
    opened(page, tmp_path, sed.evaluate(system, renamed, METRICS[0]))
    cut = page.run(
        "return [...document.querySelectorAll('.clip-list .name, .clip-view h3 .name')]"
        ".filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)"
        ".map((one) => one.textContent)"
    )
    assert cut == []
    assert page.run(
        "return getComputedStyle(document.querySelector('.clip-list .name')).whiteSpace"
    ) == ("normal")
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
