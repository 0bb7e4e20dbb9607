"""A report with thousands of classes, and the files that it saves."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.sets import METRICS, simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

CLASSES = [f"class {i:04}" for i in range(5000)]

MEASURE = """
const [selector, value, done] = arguments;
const begin = performance.now();
const field = document.querySelector(selector);
if (value === null) field.click();
else {
  field.value = value;
  field.dispatchEvent(new Event("input"));
}
requestAnimationFrame(() => {
  document.body.getBoundingClientRect();
  done(performance.now() - begin);
});
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a report with 5,000 classes."""
    rng = np.random.default_rng(0)
    values = {f"{i}": rng.random((20, len(CLASSES)), dtype=np.float32) ** 3 for i in range(12)}
    events = {}
    for clip, of_clip in values.items():
        chosen = rng.choice(len(CLASSES), 200, replace=False)
        of_clip[4:12, chosen] = rng.uniform(0.3, 1, len(chosen))
        events[clip] = [(2.0, 6.0, CLASSES[c]) for c in chosen]
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 10.0))
    scores = sed.Scores.from_arrays(values, classes=CLASSES, frame=0.5)
    file = tmp_path_factory.mktemp("many") / "report.html"
    sed.evaluate(scores, truth, sed.BestFScore(sed.Collar())).report(file, clips_shown=6)
    return file


def shown(page: Browser) -> list[str]:
    """The classes whose rows are in the page."""
    return [row["class"] for row in page.rows()]


def test_a_long_table_shows_every_class(page: Browser, many: Path) -> None:
    page.open(many)
    assert shown(page)[:20] == CLASSES[:20]
    assert len(shown(page)) < 100
    page.run("document.querySelector('.long').scrollTop = 1e9")
    assert shown(page)[-20:] == CLASSES[-20:]
    page.run("const table = document.querySelector('.long'); table.scrollTop = table.scrollHeight / 2")
    assert "class 2500" in shown(page)
    assert len(shown(page)) < 100
    heights = (
        "return [...new Set([...document.querySelector(arguments[0]).rows].map((r) => r.offsetHeight))]"
    )
    assert page.run(heights, "#table tbody").count(40) == 1
    page.run("document.querySelectorAll('#table thead button')[1].click()")
    order = [int(row["references"]) for row in page.rows()]
    assert order == sorted(order, reverse=True)
    assert order[0] > 1
    table = page.saved("classes.csv", lambda: page.click("#classes .tools button"))
    numbers = [int(row["references"]) for row in csv.DictReader(io.StringIO(table))]
    assert len(numbers) == len(CLASSES)
    assert numbers == sorted(numbers, reverse=True)
    page.choose("#classes input[type=search]", "CLASS 123")
    assert sorted(shown(page)) == [f"class 123{i}" for i in range(10)]
    page.choose("#classes input[type=search]", "")
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert sorted(shown(page)) == CLASSES
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert len(shown(page)) < 100
    assert page.problems() == []


def test_thousands_of_classes_do_not_slow_it_down(page: Browser, many: Path) -> None:
    page.open(many)
    page.run("document.querySelectorAll('#table thead button')[1].click()")
    for selector, values in (
        ("#slider", range(1, 6)),
        ("#table tbody input", range(1, 6)),
        ("#table thead th:nth-child(2) button", [None] * 5),
        ("#table thead th:nth-child(3) button", [None] * 5),
    ):
        times = [page.driver.execute_async_script(MEASURE, selector, value) for value in values]
        assert min(times) < 100, (selector, times)


def test_saved_files_are_safe_for_other_programs(page: Browser, tmp_path: Path) -> None:
    names = {
        "Cat": '=HYPERLINK("http://example.org")',
        "Dog": "-2+3",
        "Dishes": "@SUM(A1)",
        "Speech": "\x01bell\x0b\ufffe",
        "Frying": "-7",
    }
    scores, truth = simulated_set(20)
    renamed = [names.get(label, label) for label in scores.classes]
    arrays = {clip: scores[clip].values for clip in scores}
    events = {
        clip: [(on, off, names.get(label, label)) for on, off, label in truth.events(clip)]
        for clip in truth.clips
    }
    scores = sed.Scores.from_arrays(arrays, classes=renamed, frame=0.02)
    truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 10.0))
    sed.evaluate(scores, truth, METRICS[:2]).report(tmp_path / "report.html")
    page.open(tmp_path / "report.html")
    table = page.saved("classes.csv", lambda: page.click("#classes .tools button"))
    labels = {row["class"] for row in csv.DictReader(io.StringIO(table))}
    assert {'\'=HYPERLINK("http://example.org")', "'-2+3", "'@SUM(A1)", "-7"} <= labels
    for name, button in (
        ("psd_roc_1.svg", "#psd_roc .tools button"),
        ("errors.svg", "#errors .tools button:last-child"),
    ):
        picture = page.saved(name, lambda button=button: page.click(button))  # type: ignore[misc]
        texts = [
            text.text
            for text in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")
        ]
        assert "\\x01bell\\x0b\ufffd" in texts
