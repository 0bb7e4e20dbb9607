"""The groups in a report, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sedscope as sed
from sedscope.escaping import printable

from ..support.report.browser import Browser
from ..support.report.contents import build_page, panel
from ..support.report.page import number
from ..support.report.sets import HOSTILE, simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.fixture(scope="module")
def grouped() -> sed.Evaluation:
    """Sites with hostile names, groups of classes, and averages."""
    scores, truth = simulated_set()
    names = [*[*HOSTILE][:3], "site2", "site10"]
    sites = {clip: names[i % len(names)] for i, clip in enumerate(truth.clips)}
    kinds = {label: "common" if i % 2 else "rare" for i, label in enumerate(scores.classes)}
    return sed.evaluate(
        scores,
        truth,
        ["psds1", "collar_f1"],
        by=sed.By(clips=sed.Groups(sites, average="mean"), classes=kinds),
        resampling=20,
    )


@pytest.fixture
def opened(page: Browser, grouped: sed.Evaluation, tmp_path: Path) -> Iterator[Browser]:
    file = tmp_path / "report.html"
    grouped.report(file)
    page.open(file)
    yield page
    assert page.problems() == []


def test_groups_have_the_values_of_the_library(opened: Browser, grouped: sed.Evaluation) -> None:
    rows = opened.rows("[data-kind=clips]")
    results = grouped.groups["clips"]
    named = {printable(group): evaluation for group, evaluation in results.items()}
    assert [row["group"] for row in rows] == [*named]
    for row in rows:
        evaluation = named[row["group"]]
        assert number(row["clips"]) == evaluation.clips
        assert row["psds1"] == f"{evaluation['psds1'].value:.4f}"
    average = opened.rows("[data-kind=clips]", foot=True)[-1]
    assert average["group"] == "mean"
    assert average["psds1"] == f"{results.averages['psds1'].value:.4f}"
    opened.choose("#groups select", 1)
    (common, rare) = opened.rows("[data-kind=clips]")[-2:]
    assert common["collar_f1"] == f"{results[common['group']]['collar_f1'].value:.4f}"
    assert rare["interval"]
    kinds = opened.rows("[data-kind=classes]")
    assert [row["group"] for row in kinds] == ["common", "rare"]


def test_groups_are_sorted_by_value(opened: Browser, grouped: sed.Evaluation) -> None:
    opened.click("[data-kind=clips] th:nth-child(5) button")
    values = [number(row["psds1"]) for row in opened.rows("[data-kind=clips]")]
    assert values == sorted(values, reverse=True)


def test_500_groups_scroll(page: Browser, tmp_path: Path) -> None:
    truth = sed.simulate.ground_truth(500, classes=2, seconds=2, events_per_minute=60)
    scores = sed.simulate.scores(truth, frame=0.5)
    sites = {clip: f"site{i}" for i, clip in enumerate(truth.clips)}
    result = sed.evaluate(scores, truth, "collar_f1", by=sites)
    file = tmp_path / "report.html"
    result.report(file)
    assert file.stat().st_size < 2_000_000
    page.open(file)
    assert 0 < len(page.rows("[data-kind=clips]")) < 100
    page.choose("#groups input[type=search]", "site499")
    (row,) = page.rows("[data-kind=clips]")
    assert row["group"] == "site499"
    assert page.problems() == []


def test_groups_of_several_systems_must_be_the_same(grouped: sed.Evaluation) -> None:
    scores, truth = simulated_set()
    other = sed.evaluate(scores, truth, ["psds1", "collar_f1"])
    built = build_page({"a": grouped, "b": other}, clips_shown=1)
    data = panel(built, "groups")
    assert not data.groupings
    assert [sentence.split(" of a ")[0] for sentence in data.left_out] == [
        "The 5 groups of clips",
        "The 2 groups of classes",
    ]
