"""The report of a criterion that measures time: it shows seconds, not numbers of events."""

from __future__ import annotations

from pathlib import Path

import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.page import thresholds
from ..support.report.sets import simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


@pytest.mark.parametrize("alone", [True, False], ids=["time alone", "with events"])
def test_time_is_shown_in_seconds(page: Browser, tmp_path: Path, alone: bool) -> None:
    criterion = sed.Time(collar=0.5)
    metrics = [sed.ErrorRate(criterion), sed.BestDetectionCost(criterion)]
    if not alone:
        metrics.append(sed.BestFScore(sed.Collar()))
    scores, truth = simulated_set()
    sed.evaluate(scores, truth, metrics).report(tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    counts = sed.deltas(scores, truth, criterion).counts()
    hours = counts.hours
    page.choose("#criterion", 0)
    page.click("#best")
    chosen = thresholds(page)
    for row in page.rows():
        tally = counts[row["class"]].tally_at(chosen[row["class"]])
        amounts = {"positives": tally.references, "TP": tally.tp, "FP": tally.fp, "FN": tally.fn}
        for column, ticks in {**amounts, "FA/h": tally.fp / hours}.items():
            assert float(row[column].removesuffix(" s")) == pytest.approx(ticks / 1e6, abs=0.051)
    assert page.run("return document.querySelector('#rate select, select#rate').disabled")
    summary = page.run("return document.querySelector('#summary').textContent")
    assert summary.startswith("TP ")
    assert " s, FP " in summary
    if not alone:
        page.choose("#criterion", 1)
        assert not page.run("return document.querySelector('#rate select, select#rate').disabled")
        assert page.rows()[0]["TP"].isdigit()
    assert page.problems() == []
