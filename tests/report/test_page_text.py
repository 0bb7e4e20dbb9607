"""What a page is written with: packed numbers, curves without visible loss, JSON, and joined scripts."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedscope.report.html import IMPORT, as_json, join_modules, json_text, script_modules
from sedscope.report.packing import HEIGHT, WIDTH, pack_steps, short_between, visible_vertices
from sedscope.report.panels import PANELS

from ..support.report.packing import unpacked
from ..support.report.sets import HOSTILE

positions = st.floats(0, 1) | st.integers(0, 8).map(lambda pixel: (pixel + 0.5) / WIDTH)


@given(st.lists(st.tuples(positions, positions), min_size=1, max_size=200))
def test_visible_vertices_keep_every_pixel_of_the_curve(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T
    vertices = visible_vertices(x, y)

    pixels = [(int(px), int(py)) for px, py in zip(x * WIDTH, y * HEIGHT, strict=True)]
    drawn = [pixels[vertex] for vertex in vertices]
    passed = set(drawn)
    for (left, low), (right, high) in pairwise(drawn):
        if left == right:
            passed |= {(left, py) for py in range(min(low, high), max(low, high))}
        if low == high:
            passed |= {(px, low) for px in range(min(left, right), max(left, right))}
    assert set(pixels) <= passed
    assert vertices[0] == 0
    assert vertices[-1] == len(x) - 1


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e3))
def test_short_numbers_lie_in_their_range(low: float, width: float) -> None:
    high = low + width
    short = float(short_between(np.array([low]), np.array([high]))[0])
    assert low <= short
    assert short < high or low == high


@given(st.lists(st.integers(-(2**40), 2**40)))
def test_packed_steps_add_up(values: list[int]) -> None:
    assert unpacked(pack_steps(values)) == values


def test_data_cannot_end_its_element() -> None:
    text = json_text(dict.fromkeys(HOSTILE, "\u2028\u2029 \ud800"))
    assert not re.search("[<>&\u2028\u2029]", text)
    assert set(json.loads(text)) == set(HOSTILE)


def test_numbers_that_json_lacks() -> None:
    @dataclass(frozen=True)
    class Entry:
        values: tuple[float, ...]
        by_class: dict[int, None]

    entry = Entry((0.5, np.inf, -np.inf, np.nan), {3: None})
    assert as_json(entry) == {"values": [0.5, "inf", "-inf", None], "by_class": {"3": None}}
    with pytest.raises(TypeError, match="cannot hold a ndarray"):
        as_json(np.zeros(2))


def test_every_panel_has_a_script() -> None:
    scripts = {file.name for file in (files("sedscope.report") / "static" / "panels").iterdir()}
    assert scripts == {f"{panel.name}.js" for panel in PANELS}


MODULES = {
    "main.js": 'import { a } from "./panels/a.js";\nimport { b } from "./b.js";\na(b);\n',
    "panels/a.js": 'import { b } from "../b.js";\nexport function a() {\n  return b;\n}\n',
    "panels/c.js": 'import { b } from "../b.js";\nconst c = b;\n',
    "b.js": "export const b = 1;\n",
}
ENTRIES = ["panels/c.js", "main.js"]


def test_modules_are_joined_in_the_order_of_need() -> None:
    script = join_modules(MODULES, ENTRIES)
    order = re.findall(r"^// (\S+)$", script, re.MULTILINE)
    assert order == ["b.js", "panels/c.js", "panels/a.js", "main.js"]
    assert "import" not in script
    assert "export" not in script


DECLARATION = re.compile(
    r"^(export )?(?:async function|function|class|const|let)\s+(\w+|\{[^}]*\}|\[[^\]]*\])", re.MULTILINE
)


@pytest.mark.parametrize("page", ["", "leaderboard/"])
def test_modules_share_one_scope(page: str) -> None:
    """No two modules of a page declare the same name, and each exports what others import."""
    modules = script_modules()
    panels = [] if page else [module for module in modules if module.startswith("panels/")]
    script = join_modules(modules, [*panels, f"{page}main.js"])
    declared: list[str] = []
    exported: dict[str, set[str]] = {}
    texts = {name: modules[name] for name in re.findall(r"^// (\S+\.js)$", script, re.MULTILINE)}
    assert f"{page}main.js" in texts
    for module, text in texts.items():
        found = [
            (bool(export), re.findall(r"\w+", names)) for export, names in DECLARATION.findall(text)
        ]
        declared += [name for _, names in found for name in names]
        exported[module] = {name for export, names in found if export for name in names}
        for imported, path in IMPORT.findall(text):
            source = posixpath.normpath(posixpath.join(posixpath.dirname(module), path))
            assert {*re.findall(r"\w+", imported)} <= exported[source], (module, source)
    assert sorted(declared) == sorted({*declared})
