"""Numbers read off a report that a browser shows."""

from __future__ import annotations

import pytest

import sedscope as sed

from .browser import Browser


def number(text: str) -> float:
    """A number as the page shows it."""
    return float(text.replace("\u2009", "").replace("−", "-"))


def thresholds(opened: Browser) -> dict[str, float]:
    """The thresholds that are chosen, from the file that the page saves."""
    opened.saved("points.toml", lambda: opened.click("#save"))
    return dict(sed.OperatingPoints.load(opened.downloads / "points.toml").thresholds)


def check_table(opened: Browser, counts: sed.Counts) -> None:
    """Every count in the table is the library's at the chosen threshold."""
    chosen = thresholds(opened)
    for row in opened.rows():
        tally = counts[row["class"]].tally_at(chosen[row["class"]])
        assert [number(row[name]) for name in ("TP", "FP", "FN")] == [tally.tp, tally.fp, tally.fn]
        assert number(row["precision"]) == pytest.approx(tally.precision, abs=5.1e-4)
        assert number(row["recall"]) == pytest.approx(tally.recall, abs=5.1e-4)
        assert number(row["F1"]) == pytest.approx(tally.fscore(), abs=5.1e-4)
        assert number(row["ER"]) == pytest.approx(tally.error_rate, abs=5.1e-4)
        rate = tally.false_alarms_per_hour(counts.hours)
        assert number(row["FA/h"]) == pytest.approx(rate, rel=1e-3)
        crossed = counts[row["class"]].at([chosen[row["class"]]])
        if crossed.cross_changes.any():
            assert number(row["CT"]) == crossed.cross_changes.sum()
