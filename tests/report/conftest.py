"""A report, opened in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import sedscope as sed

from ..support.report.browser import Browser, browser
from ..support.report.sets import METRICS, simulated_set


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser."""
    with browser(tmp_path_factory.mktemp("downloads")) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a report."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    scores, truth = simulated_set()
    sed.evaluate(scores, truth, METRICS, resampling=20).report(file, name="our system")
    return file


@pytest.fixture
def opened(page: Browser, report: Path) -> Iterator[Browser]:
    """The report in the browser. It must log no problem and request no other address."""
    page.open(report)
    yield page
    assert page.problems() == []
    assert [address for address in page.requests() if not address.startswith("blob:")] == [
        report.as_uri()
    ]
