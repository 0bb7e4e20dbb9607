"""The page shows the digits that the command line prints."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.metrics import Tally

from ..support.report.browser import Browser
from ..support.report.sets import METRICS
from .conftest import page, report

__all__ = ["page", "report"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def halfway_values() -> list[float]:
    """Values between two decimals: exactly, or as near as numbers get."""
    exact = [i / 2**bits for bits in range(1, 8) for i in range(1, 2**bits, 2)]
    near = [(2 * i + 1) / 2e4 for i in range(0, 10_000, 97)]
    beside = [float(np.nextafter(value, side)) for value in near for side in (0, 1)]
    short = [0.32985, 0.3298499999, 0.3298500001, 0.32984999999999998, 1612.5, 1613.5, 125000.0, 2.5]
    sizes = [*exact, *near, *beside, *short, 0.0, 1.0, 1e-7, 1e-300, 999.95, 99995.0]
    return [*sizes, *(-size for size in sizes)]


def test_numbers_are_rounded_as_python_rounds_them(page: Browser, report: Path) -> None:
    page.open(report)
    module = (files("sedscope.report") / "static" / "format.js").read_text(encoding="utf-8")
    values = halfway_values()
    for function, digits, expected in (
        ("fixed", 4, "{:.4f}"),
        ("fixed", 3, "{:.3f}"),
        ("fixed", 0, "{:.0f}"),
        ("signed", 4, "{:+.4f}"),
    ):
        script = (
            f"{module.replace('export ', '')}; return arguments[0].map((v) => {function}(v, {digits}))"
        )
        shown = [text.replace("−", "-") for text in page.run(script, values)]
        assert [text for text in shown if float(text)] == [
            text for text in map(expected.format, values) if float(text)
        ]
    for digits in (1, 2, 4, 5):
        script = f"{module.replace('export ', '')}; return arguments[0].map((v) => short(v, {digits}))"
        assert [float(text) for text in page.run(script, values)] == [
            float(f"{value:.{digits}g}") for value in values
        ]


def test_false_alarm_rates_are_those_of_python(page: Browser, report: Path) -> None:
    page.open(report)
    module = (files("sedscope.report") / "static" / "model.js").read_text(encoding="utf-8")
    tally = module[module.index("export class Tally") : module.index("function unpackCounts")]
    cases = [(number, seconds) for number in (1, 3, 7, 1000) for seconds in (6, 65, 1e-6, 1.1, 86401)]
    rate = "([number, seconds]) => new Tally(0, number, 0, seconds / 3600).falseAlarms"
    script = f"{tally.replace('export ', '')}; return arguments[0].map({rate})"
    rates = [Tally(0, number, 0).false_alarms_per_hour(seconds / 3600) for number, seconds in cases]
    assert page.run(script, cases) == rates
    assert 1800 in rates


def doctored(comparison: sed.Comparison) -> sed.Comparison:
    """The comparison with values that are hard to round."""
    values = itertools.cycle(halfway_values())

    def other(interval: Any, **more: Any) -> Any:
        low, value, high = sorted(next(values) for _ in range(3))
        more |= {"p": abs(next(values))} if hasattr(interval, "p") else {}
        return replace(interval, low=low, value=value, high=high, **more)

    def pair(difference: Any) -> Any:
        per_class = {label: other(of_class) for label, of_class in difference.per_class.items()}
        more = {"p_corrected": abs(next(values))} if hasattr(difference, "p") else {}
        return other(difference, per_class=per_class, **more)

    systems = {m: {s: pair(v) for s, v in of.items()} for m, of in comparison.values.items()}
    evaluations = {
        name: replace(evaluation, intervals={metric: of[name] for metric, of in systems.items()})
        for name, evaluation in comparison.evaluations.items()
    }
    differences = {m: {s: pair(v) for s, v in of.items()} for m, of in comparison.differences.items()}
    return replace(comparison, values=systems, differences=differences, evaluations=evaluations)


@pytest.mark.parametrize(
    "change", [lambda comparison: comparison, doctored], ids=["measured", "halfway"]
)
def test_a_comparison_shows_the_numbers_of_the_command_line(
    page: Browser, tmp_path: Path, change: Callable[[sed.Comparison], sed.Comparison]
) -> None:
    truth = sed.simulate.ground_truth(30, seed=3)
    scores = {f"s{q}": sed.simulate.scores(truth, quality=q / 10, seed=q) for q in (4, 5, 6)}
    comparison = change(sed.compare(scores, truth, METRICS[:3:2], resampling=60))
    comparison.report(tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    systems, pairs, *_ = comparison.table().split("\n\n")
    printed_pairs = {tuple(line[:2]): line for line in map(cells_of, pairs.splitlines())}
    for m, metric in enumerate(comparison.metrics):
        section = f".metric:nth-child({m + 1})"
        for line, shown in zip(
            map(cells_of, systems.splitlines()[1:]), page.text(section).split("\n")[-4:-1], strict=True
        ):
            assert shown == f"{line[0]} {line[1 + m]}"
        page.choose("#systems .row label:nth-child(1) select", m)
        header, *table = map(cells_of, comparison.class_table(metric).splitlines())
        for i, name in enumerate(header[4:]):
            page.choose("#systems .row label:nth-child(2) select", i)
            first, second = name.split(" − ")
            rows = page.rows("#systems table", foot=True)
            for line, row in zip(table, rows, strict=True):
                by_name = dict(zip(header, line, strict=True))
                difference = f"{row['difference']} ({row['interval']})".replace("−", "-")
                signs = {"better": ">", "worse": "<"}
                sign = signs.get(row["verdict"], "≈")
                expected = [row[first], row[second], f"{difference} {sign}"]
                assert [by_name[first], by_name[second], by_name[name]] == expected
            latex = page.saved("differences.tex", lambda: page.click("#systems .tools button + button"))
            best = max if metric.higher_is_better else min
            overall = best(comparison.values[metric][system].value for system in (first, second))
            assert rf"\textbf{{{overall:.3f}}}" in latex.splitlines()[-3]
            assert rows[-1]["p"] == printed_pairs[name, comparison.names[metric]][-4]
    page.choose("#system", 1)
    headings = comparison.names
    for row in page.rows():
        for metric in comparison.metrics:
            value = comparison.values[metric]["s5"].per_class[row["class"]].value
            assert row[headings[metric]] == f"{value:.4f}"
    assert page.problems() == []


def cells_of(line: str) -> list[str]:
    """The cells of a line of a printed table."""
    return re.split(r"\s{2,}", line.strip())
