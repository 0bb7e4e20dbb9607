"""The leaderboard in a real browser: it shows what the ranking says, whatever the names are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.escaping import printable
from sedscope.ranking.ranking import (
    Estimate,
    MeasuredSystem,
    MetricEstimate,
    RankedMetric,
    RankedSet,
    RejectedSystem,
    rank_systems,
)
from sedscope.report.leaderboard import render_leaderboard
from sedscope.resampling.intervals import Interval

from ..support.report.browser import Browser
from ..support.report.sets import HOSTILE
from .conftest import page

__all__ = ["page"]


def made_ranking(systems: int, classes: int, names: tuple[str, ...] = ()) -> sed.Ranking:
    """A ranking of made-up values. The first systems, teams and classes have these names."""
    rng = np.random.default_rng(4)
    labels = [*names, *(f"class {c}" for c in range(classes - len(names)))]

    def metric(value: float) -> MetricEstimate:
        numbers = np.clip(value + rng.normal(0, 0.1, classes), 0, 1).tolist()
        per_class = {
            label: Estimate(number, number, number)
            for label, number in zip(labels, numbers, strict=True)
        }
        return MetricEstimate(value, value - 0.06, value + 0.06, (value,), per_class)

    measured = []
    for i in range(systems):
        value = 0.9 - 0.6 * (i // 3) / systems - 0.001 * i
        name = names[i] if i < len(names) else f"system {i:03d}"
        team = names[-1 - i] if i < len(names) else f"team {i // 2}"
        resampled = value + rng.normal(0, 0.002, 999)
        score = Interval(value, value - 0.06, value + 0.06, resampled)
        metrics = {"psds1": metric(value), "team": metric(1 - value)}
        measured.append(MeasuredSystem(name, team, score, metrics, (f"about {name}",) if names else ()))
    ranked, pairs = rank_systems(measured, higher_is_better=True, confidence=0.95)
    kinds = (RankedMetric("psds1", "PSDS 1", True), RankedMetric("team", "of that name", False))
    rejected = tuple(RejectedSystem(name, name, (f"{name} is broken",) * 60) for name in names)
    return sed.Ranking(
        *(ranked, rejected, kinds[0], kinds, tuple(labels), 1168, 3.2, pairs),
        *(sed.Resampling(999), names, _no_evaluation),
    )


def _no_evaluation(*_: Any) -> sed.Evaluation:
    raise AssertionError("the page needs no evaluation")


def of_a_task(ranking: sed.Ranking) -> sed.Ranking:
    """The ranking as if its metrics were of two data sets, and a formula the score."""
    kinds = (
        RankedMetric("score", "home.psds1 - street.team", True),
        replace(ranking.metrics[0], name="home.psds1"),
        replace(ranking.metrics[1], name="street.team"),
    )
    systems = []
    for system in ranking.systems:
        score, other = system.metrics.values()
        few = dict([*other.per_class.items()][::2])  # classes of the data sets differ
        metrics = {
            "score": replace(score, per_class={}),
            "home.psds1": score,
            "street.team": replace(other, per_class=few),
        }
        systems.append(replace(system, metrics=metrics))
    labels = ranking.classes
    sets = {"home": RankedSet(1168, 3.2, labels), "street": RankedSet(7, 0.1, labels[::2])}
    return replace(
        ranking, systems=tuple(systems), score=kinds[0], metrics=kinds, task="Our <task>", datasets=sets
    )


def opened_board(page: Browser, ranking: sed.Ranking, folder: Path, **options: Any) -> Path:
    file = folder / "board" / "index.html"
    ranking.site(folder / "board", title="Leaderboard <1>")
    page.open(file, **options)
    return file


def check_quiet(page: Browser, file: Path) -> None:
    """The page logs no problem and requests nothing else."""
    assert page.problems() == []
    assert page.requests() == [file.as_uri()]


def test_the_page_shows_the_ranking(page: Browser, tmp_path: Path) -> None:
    ranking = made_ranking(12, 5)
    file = opened_board(page, ranking, tmp_path)
    rows = page.rows()
    assert [row["system"] for row in rows] == [system.name for system in ranking.systems]
    for row, system in zip(rows, ranking.systems, strict=True):
        assert (row["rank"], row["tie group"]) == (str(system.rank), str(system.group))
        low, high = system.rank_low, system.rank_high
        assert row["ranks"] == (str(low) if low == high else f"{low}–{high}")
        score = system.score
        assert row["psds1"] == f"{score.value:.4f} ({score.low:.4f}–{score.high:.4f})"
    groups = [system.group for system in ranking.systems]
    starts = page.run(
        "return [...document.querySelectorAll('#table .new-group th')].map((c) => c.textContent)"
    )
    assert starts == [
        system.name
        for place, system in enumerate(ranking.systems)
        if place and groups[place] != groups[place - 1]
    ]
    heat = page.rows(".heat", foot=True)
    for label, row in zip((*ranking.classes, "overall"), heat, strict=True):
        for system in ranking.systems:
            metric = system.metrics["psds1"]
            value = metric.value if label == "overall" else metric.per_class[label].value
            assert float(row[system.full_name]) == pytest.approx(value, abs=0.0051)
    signs = [[*row.values()][1:] for row in page.rows(".sparse")]
    for (better, worse), pair in ranking.pairs.items():
        expected = (">", "<") if pair.significant else ("≈", "≈")
        assert (signs[better][worse], signs[worse][better]) == expected
    check_quiet(page, file)


def test_sorting_and_the_best_of_each_team(page: Browser, tmp_path: Path) -> None:
    ranking = made_ranking(12, 5)
    file = opened_board(page, ranking, tmp_path)
    page.click("#table th:last-child button")  # a metric of which less is better
    values = [system.metrics["team"].value for system in ranking.systems]
    shown = [row["system"] for row in page.rows()]
    assert shown == [ranking.systems[i].name for i in np.argsort(values)]
    page.click("#table th:first-child button")
    page.click("#best-only")
    best = [system for system in ranking.systems if system.best_of_team]
    assert [row["system"] for row in page.rows()] == [system.name for system in best]
    for table in (".heat", ".sparse"):
        assert [*page.rows(table)[0]][1:] == [system.full_name for system in best]
    page.choose("#class-order", "hardest")
    means = {
        label: np.mean([system.metrics["psds1"].per_class[label].value for system in best])
        for label in ranking.classes
    }
    assert [row["class"] for row in page.rows(".heat")] == sorted(means, key=lambda label: means[label])
    page.choose("#class-metric", 1)
    assert float(page.rows(".heat", foot=True)[-1][best[0].full_name]) == pytest.approx(
        best[0].metrics["team"].value, abs=0.0051
    )
    check_quiet(page, file)


def test_systems_without_a_value_are_last_in_both_orders(page: Browser, tmp_path: Path) -> None:
    ranking = made_ranking(6, 3)
    first, *others = ranking.systems
    undefined = replace(first.metrics["team"], value=np.nan, low=np.nan, high=np.nan)
    without = replace(first, metrics={**first.metrics, "team": undefined})
    opened_board(page, replace(ranking, systems=(without, *others)), tmp_path)
    for _ in range(2):
        page.click("#table th:last-child button")
        assert page.rows()[-1]["system"] == first.name


@pytest.mark.parametrize(
    ("width", "scheme", "media"), [(1400, "light", ""), (390, "dark", ""), (700, "light", "print")]
)
def test_names_are_data(page: Browser, tmp_path: Path, width: int, scheme: str, media: str) -> None:
    ranking = made_ranking(8, 8, tuple(HOSTILE))
    file = opened_board(page, ranking, tmp_path, width=width, scheme=scheme, media=media)
    assert page.run("return document.title") == "Leaderboard <1>"
    assert page.run("return document.images.length + document.scripts.length") == 2
    assert {row["system"] for row in page.rows()} == {
        printable(system.name) for system in ranking.systems
    }
    assert {row["class"] for row in page.rows(".heat")} == {*map(printable, ranking.classes)}
    reasons = page.run("return [...document.querySelectorAll('#rejected dd')].map((c) => c.textContent)")
    assert set(reasons) == {
        *(f"{printable(name)} is broken" for name in HOSTILE),
        "and 10 more, see ranking.json",
    }
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    check_quiet(page, file)


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_a_task_with_two_data_sets(page: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    ranking = of_a_task(made_ranking(12, 8, tuple(HOSTILE)))
    file = tmp_path / "index.html"
    first, second, *_ = ranking.systems
    pages = {(first.team, first.name): [("home", "reports/a.html"), ("street", "reports/b.html")]}
    unmade = {(second.team, second.name): ["There is no report of home: <b>events</b> overlap."]}
    file.write_text(render_leaderboard(ranking, "Leaderboard <1>", pages, unmade), encoding="utf-8")
    page.open(file, width=width, scheme=scheme)
    assert page.run("return document.title") == "Leaderboard <1>"
    assert "Task Our <task>" in page.text("header")
    assert "".join(page.text("#datasets").split()) == (
        "home:1168clips·3.20hours·8classesstreet:7clips·0.10hours·4classes"
    )
    rows = page.rows()
    assert [row["score"] for row in rows] == [
        f"{system.score.value:.4f} ({system.score.low:.4f}–{system.score.high:.4f})"
        for system in ranking.systems
    ]
    assert rows[0]["system"] == f"{printable(first.name)}report: home · street"
    links = "return [...document.querySelectorAll('#table a')].map((a) => a.getAttribute('href'))"
    assert page.run(links) == ["reports/a.html", "reports/b.html"]
    assert "There is no report of home: <b>events</b> overlap." in page.text("#notes")
    assert {row["class"] for row in page.rows(".heat")} == {*map(printable, ranking.classes)}
    page.choose("#class-metric", 2)
    heat = page.rows(".heat", foot=True)
    assert {row["class"] for row in heat} == {*map(printable, ranking.classes[::2]), "overall"}
    of_classes = first.metrics["street.team"].per_class
    for row in heat[:-1]:
        value = {printable(label): of_classes[label] for label in of_classes}[row["class"]].value
        assert float(row[printable(first.full_name)]) == pytest.approx(value, abs=0.0051)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    check_quiet(page, file)


def test_a_hundred_systems_and_four_hundred_classes(page: Browser, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(render_leaderboard(made_ranking(100, 400), "Leaderboard"), encoding="utf-8")
    page.open(file)
    assert file.stat().st_size < 5_000_000
    assert len(page.rows()) == 100
    assert len(page.rows(".sparse")) == 100
    assert len(page.rows(".heat")) < 200  # those that can be seen
    page.choose("#class_values input[type=search]", "class 399")
    assert [row["class"] for row in page.rows(".heat")] == ["class 399"]
    check_quiet(page, file)
