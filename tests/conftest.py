"""Fixtures of all tests, and the rule that nothing is skipped where everything is installed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# a failing assertion in a helper shows the values, as in a test
pytest.register_assert_rewrite("tests.support")

REQUIRE_ALL = os.environ.get("SEDSCOPE_REQUIRE_ALL") == "1"
NO_GPU = "needs a GPU that torch can use"  # the only reason for a skip that no installation can mend

hypothesis.settings.register_profile("default", deadline=None, derandomize=REQUIRE_ALL)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=10)
hypothesis.settings.load_profile("default")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """With SEDSCOPE_REQUIRE_ALL=1 a skip is a failure: an optional part is missing.

    A machine without a GPU is no failure.
    """
    report = yield
    skipped = report.skipped and not hasattr(report, "wasxfail")
    if REQUIRE_ALL and skipped and report.longrepr[-1] != f"Skipped: {NO_GPU}":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """The same for modules that are skipped as a whole."""
    report = yield
    if REQUIRE_ALL and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def no_open_figures() -> Iterator[None]:
    """Close the figures of a test, because matplotlib warns of many open ones."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def data(pytestconfig: pytest.Config) -> Path:
    """The folder of real data, which is not part of the project."""
    folder = Path(os.environ.get("SEDSCOPE_DATA", pytestconfig.rootpath.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the real data sets: no folder {folder} (set SEDSCOPE_DATA)")
    return folder


@pytest.fixture(scope="session")
def reference_values(data: Path) -> dict[str, Any]:
    """Values of the peers on the real data, measured once."""
    values: dict[str, Any] = json.loads((data / "reference_values.json").read_text())
    return values


@pytest.fixture(scope="session")
def peers_python(pytestconfig: pytest.Config) -> Path:
    """The Python of the environment in which the peers are installed."""
    python = pytestconfig.rootpath / ".venv-peers" / "bin" / "python"
    if not python.exists():
        pytest.skip("needs the peers' environment: run 'make peers'")
    return python
