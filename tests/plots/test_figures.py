"""Figures look as they did: the pictures are compared with stored ones. ``make figures`` draws them anew."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ..support.project import ROOT

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib")
STORED = Path(__file__).with_name("figures")


@pytest.fixture(scope="module")
def script() -> Iterator[dict[str, Any]]:
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("agg")
        yield runpy.run_path(str(ROOT / "docs" / "figures.py"))


@pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")
@pytest.mark.parametrize("name", sorted(path.stem for path in STORED.glob("*.png")))
def test_figure_looks_as_it_did(name: str, script: dict[str, Any], tmp_path: Path) -> None:
    from matplotlib.testing.compare import compare_images

    drawn = tmp_path / f"{name}.png"
    script["draw_without_text"](name, drawn)
    assert compare_images(str(STORED / drawn.name), str(drawn), tol=0.5) is None


def test_every_figure_is_stored_and_shown(script: dict[str, Any]) -> None:
    names = {*script["FIGURES"]}
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert {path.stem for path in STORED.glob("*.png")} == names
    assert {path.stem for path in (ROOT / "docs" / "figures").glob("*.png")} == names
    assert all(f"(figures/{name}.png)" in page for name in names)
