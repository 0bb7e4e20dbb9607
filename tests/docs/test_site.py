"""The site has every page, every public name and every option. ``make docs`` builds it."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import pytest
from typer.main import get_command

import sedscope as sed
from sedscope.cli import program

from ..support.project import ROOT

DOCS = ROOT / "docs"
API = (DOCS / "api.md").read_text(encoding="utf-8")
LISTED = {*re.findall(r"^   ([\w.]+)$", API, re.MULTILINE)}
MODULES = {name for name in sed.__all__ if isinstance(getattr(sed, name), ModuleType)}
SUBPACKAGES = ("criteria", "metrics", "plots", "postprocessing", "tasks")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that imports a script of the documentation."""
    monkeypatch.syspath_prepend(str(DOCS))
    before = {*sys.modules}
    yield importlib.import_module
    for name in {*sys.modules} - before:
        if (DOCS / f"{name}.py").exists():
            del sys.modules[name]


def test_every_page_is_in_one_toctree() -> None:
    entries: list[str] = []
    for page in DOCS.glob("*.md"):
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            entries += [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
    written = [entry for entry in entries if not entry.startswith("generated/")]
    assert sorted(written) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


def test_every_public_name_is_in_the_reference() -> None:
    assert {*sed.__all__} - MODULES - LISTED == set()
    assert all(f"`sedscope.{name}`" in API for name in MODULES)


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_every_name_of_a_subpackage_is_in_the_reference(name: str) -> None:
    module = importlib.import_module(f"sedscope.{name}")
    public = {
        public
        for public in dir(module)
        if callable(getattr(module, public)) and not public.startswith("_")
    }
    assert {public for public in public if not {public, f"{name}.{public}"} & LISTED} == set()


def test_the_reference_lists_nothing_that_does_not_exist() -> None:
    for name in LISTED:
        if not name.startswith(("torch.", "compat.")):  # need optional packages
            resolve_name(f"sedscope.{name}")


def test_every_command_has_a_page_with_its_options(script: Any, tmp_path: Path) -> None:
    script("command_pages").write_command_pages(tmp_path)
    index = (tmp_path / "index.rst").read_text(encoding="utf-8")
    tool: Any = get_command(program())
    for name, command in tool.commands.items():
        name = name.replace(" ", "_")
        assert f":doc:`{name}`" in index
        page = (tmp_path / f"{name}.rst").read_text(encoding="utf-8")
        options = [option for part in command.params for option in part.opts if option.startswith("-")]
        example = f"   $ sedscope {name.replace('_', ' ')}"
        assert page.index(example) < page.index(".. code-block:: text")
        for option in options:
            assert re.search(rf"^\.\. option:: .*{option}\b", page, re.MULTILINE), (name, option)


@pytest.mark.parametrize("name", ["component_tree.svg", "deltas.svg", "floor.svg"])
def test_a_drawing_is_up_to_date(name: str, script: Any) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == script("drawings").DRAWINGS[name]()


def test_the_figures_of_the_landing_page_are_measured() -> None:
    measured = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    figures = re.findall(r"\*\*([\d.]+ ×)\*\*", (DOCS / "index.md").read_text(encoding="utf-8"))
    assert len(figures) == 6  # of each tool, on a real and on a simulated set
    assert all(f"| {figure} |" in measured for figure in figures)


def test_the_gallery_has_an_order(script: Any) -> None:
    examples = {file.stem for file in (ROOT / "examples" / "gallery").glob("*.py")}
    assert {*script("gallery").ORDER} == examples


def test_the_first_screen_shows_the_picture_and_the_report_above_the_table() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    screen = [page.index(part) for part in ("(psd_roc.svg)", "(report.png)", "| instead of |")]
    assert screen == sorted(screen)


def test_broken_links_and_loads_from_elsewhere_are_reported(script: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html#end">1</a><a href="b.html#lost">2</a><a href="#top">3</a>'
        '<a href="c.html">4</a><a href="https://other.example">5</a><script src="//elsewhere.example/x.js">'
    )
    (tmp_path / "b.html").write_text('<p id="end"><a href="a.html"></a>')
    (tmp_path / "style.css").write_text(
        "@font-face { src: url('https://elsewhere.example/font.woff2') }"
    )
    assert script("check_links").problems(tmp_path) == [
        "a.html: there is no anchor b.html#lost",
        "a.html: there is no c.html",
        "a.html: loads //elsewhere.example/x.js",
        "style.css: loads https://elsewhere.example/font.woff2",
    ]
