"""A report in a real browser, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sedscope as sed

from ..report.test_report import METRICS, simulated
from .browser import Browser, browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser."""
    with browser(tmp_path_factory.mktemp("downloads")) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    scores, truth = simulated()
    sed.evaluate(scores, truth, METRICS, bootstrap=20).report(file, name="our system")
    return file


@pytest.fixture
def opened(page: Browser, report: Path) -> Iterator[Browser]:
    """The report, about which the browser must not complain, and which must ask for nothing."""
    page.open(report)
    yield page
    assert page.problems() == []
    assert [address for address in page.requests() if not address.startswith("blob:")] == [
        report.as_uri()
    ]


def number(text: str) -> float:
    """A number as the page shows it."""
    return float(text.replace("\u2009", "").replace("−", "-"))


def thresholds(opened: Browser) -> dict[str, float]:
    """The thresholds that are chosen, from the file that the page saves."""
    opened.saved("points.toml", lambda: opened.click("#save"))
    return dict(sed.OperatingPoints.load(opened.downloads / "points.toml").thresholds)
