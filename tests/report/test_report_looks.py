"""How the report looks, sounds, obeys the keyboard and prints."""

from __future__ import annotations

import csv
import io
import re
import wave
from base64 import b64decode
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sedscope as sed

from ..support.report.browser import Browser
from ..support.report.page import number, thresholds
from ..support.report.sets import METRICS, simulated_set
from .conftest import opened, page, report

__all__ = ["opened", "page", "report"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


def test_what_can_be_taken_away(opened: Browser) -> None:
    table = opened.saved("classes.csv", lambda: opened.click("#classes .tools button"))
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["class"] for row in rows] == [row["class"] for row in opened.rows()]
    latex = opened.saved("classes.tex", lambda: opened.click("#classes .tools button + button"))
    assert r"Alarm\_bell\_ringing & " in latex
    assert [line for line in latex.splitlines() if line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    assert not re.search(r"\d\.\d{4}|-\d", latex)  # three decimals, and a true minus
    picture = opened.saved("psd_roc_1.svg", lambda: opened.click("#psd_roc .tools button"))
    assert picture.startswith("<svg ")
    assert "class=" not in picture
    curves = opened.saved("psd_roc_1.csv", lambda: opened.click("#psd_roc .tools button + button"))
    dog = [row for row in csv.DictReader(io.StringIO(curves)) if row["curve"] == "Dog"]
    scores, truth = simulated_set()
    exact = sed.evaluate(scores, truth, METRICS[0])[METRICS[0]].per_class["Dog"].curve
    assert [float(row["true positive ratio"]) for row in dog] == pytest.approx(exact.tpr.tolist())
    rates = [float(row["effective false positives per hour"]) for row in dog]
    assert rates == pytest.approx(exact.efpr.tolist(), abs=1e-3)


@pytest.mark.parametrize(
    ("name", "button"),
    [
        ("psd_roc_1.svg", "#psd_roc .tools button"),
        ("errors.svg", "#errors .tools button:last-child"),
        ("clip.svg", ".clip-view .tools button"),
    ],
)
def test_saved_pictures_need_nothing_else(opened: Browser, name: str, button: str) -> None:
    picture = opened.saved(name, lambda: opened.click(button))
    root = ElementTree.fromstring(picture)
    patterns = {one.get("id") for one in root.iter("{http://www.w3.org/2000/svg}pattern")}
    used = set(re.findall(r"url\(&quot;#([\w-]+)&quot;\)", picture))
    assert patterns == used
    assert bool(used) == (name != "psd_roc_1.svg")
    assert "var(" not in picture
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"psd_roc_1.svg": "Dog", "errors.svg": "too long", "clip.svg": "false detection"}[
        name
    ] in texts


def test_nothing_differs_by_colour_alone(opened: Browser) -> None:
    curves = opened.run(
        """const samples = document.querySelectorAll("#psd_roc figure:first-child .legend .sample");
        return [...samples].map((sample) =>
            [sample.querySelector("line").getAttribute("stroke-dasharray"),
             sample.querySelector("path")?.getAttribute("d") ?? null])"""
    )
    assert len(curves) == 11
    assert len(set(map(tuple, curves))) == 11
    error_types = opened.run(
        """return [...document.querySelectorAll("#errors .key rect")].map((rect) => {
            const [, id] = getComputedStyle(rect).fill.match(/#([\\w-]+)/) ?? [];
            const pattern = id && document.getElementById(id);
            return id ? [pattern.matches(".light"), pattern.lastChild.getAttribute("d")] : null;
        })"""
    )
    plain = [pattern for pattern in error_types if pattern is None]
    assert len(plain) == 2  # right events are light, missed and background events are dark
    hatched = [str(pattern) for pattern in error_types if pattern is not None]
    assert len(hatched) == len(set(hatched)) == 7


def test_paper_is_light_and_whole(page: Browser, report: Path) -> None:
    page.open(report, width=700, scheme="dark", media="print")
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ink = page.run("return getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 60
    seen = """return [...document.querySelectorAll(arguments[0])].filter(
        (one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.run(seen, "input, audio, .tools button, #theme, #save, #best, .clip-list") == []
    assert len(page.run(seen, ".chart")) == 5
    assert page.run("return document.querySelector('#provenance').open")
    wide = page.run(
        """return [...document.querySelectorAll("table, svg, figure, p")].filter(
            (one) => one.getBoundingClientRect().right > 701).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert wide == []
    sizes = "return [...document.querySelectorAll('.chart')].map((one) => one.viewBox.baseVal.width)"
    assert set(page.run(sizes)) == {360}
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert not page.run("return document.querySelector('#provenance').open")


def test_a_printed_report_is_a_few_pages(page: Browser, report: Path) -> None:
    page.open(report, scheme="dark")
    printed = b64decode(page.driver.print_page())
    assert 3 <= len(re.findall(rb"/Type /Page\b", printed)) <= 5
    assert not page.run("return document.querySelector('#provenance').open")


def test_everything_can_be_done_with_keys(opened: Browser) -> None:
    from selenium.webdriver import Keys

    focused = "const one = document.activeElement; return one.id || one.textContent"
    reached = []
    panels = opened.run("return document.querySelectorAll('nav.contents a').length")
    for _ in range(10 + panels):
        opened.press(Keys.TAB)
        reached.append(opened.run(focused))
        assert opened.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert reached[3 + panels :] == ["criterion", "class", "slider", "threshold", "best", "rate", "save"]
    opened.run("document.querySelector('#slider').focus()")
    opened.press(Keys.ARROW_RIGHT)
    before = set(thresholds(opened).values())
    opened.run("document.querySelector('#slider').focus()")
    opened.press(Keys.ARROW_RIGHT)
    after = set(thresholds(opened).values())
    assert len(before) == len(after) == 1
    assert before < after or min(after) > min(before)
    assert opened.run("return document.querySelector('#slider').ariaValueText") == f"{min(after):g}"

    opened.run("document.querySelectorAll('#table thead button')[1].focus()")
    opened.press(Keys.ENTER)
    counted = [number(row["references"]) for row in opened.rows()]
    assert counted == sorted(counted, reverse=True)
    assert opened.run(focused) == "references"

    # the button of the selected class keeps the focus
    for group in ("#table tbody", "#psd_roc .legend"):
        opened.run("document.querySelectorAll(`${arguments[0]} button`)[2].focus()", group)
        label = opened.run(focused)
        opened.press(Keys.ENTER)
        assert opened.run("return document.querySelector('#class').selectedOptions[0].text") == label
        assert opened.run(focused) == label
        opened.press(Keys.ENTER)
        assert opened.run("return document.querySelector('#class').value") == ""

    opened.run("document.querySelector('#errors .stack').focus()")
    assert opened.text("#tooltip").startswith("Alarm_bell_ringing: references")
    opened.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert opened.text("#tooltip").startswith("Blender: detections")
    tab_stops = "return document.querySelectorAll(`${arguments[0]} [tabindex='0']`).length"
    groups = (".error-types", ".clip-list", "#psd_roc .legend")
    assert [opened.run(tab_stops, group) for group in groups] == [1, 1, 2]
    opened.run("document.querySelector('.clip-view .lane:has(rect)').focus()")
    opened.press(Keys.ARROW_RIGHT)
    bar = opened.run("return document.querySelector('.lane:focus rect').textContent")
    assert opened.text("#tooltip").endswith(bar)
    opened.press(Keys.ESCAPE)
    assert opened.run("return document.querySelector('#tooltip').hidden")


def test_clips_can_be_heard(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set(12)
    clips = list(truth.clips)[:10]
    for i, clip in enumerate(clips):
        with wave.open(str(tmp_path / f"{clip}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            tone = 8000 * np.sin(2 * np.pi * (200 + 50 * i) * np.arange(160000) / 16000)
            file.writeframes(tone.astype("<i2").tobytes())
    sed.evaluate(scores, truth, METRICS[0]).report(tmp_path / "report.html", audio=tmp_path)
    page.open(tmp_path / "report.html")
    names = page.run(
        "return [...document.querySelectorAll('.clip-list bdi')].map((one) => one.textContent)"
    )
    silent = next(i for i, name in enumerate(names) if name not in clips)
    page.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", silent)
    assert page.run("return document.querySelector('audio')") is None
    assert "This clip has no audio." in page.text(".clip-view")
    heard = next(i for i, name in enumerate(names) if name in clips)
    page.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", heard)
    player = page.run("return document.querySelector('audio')")
    page.wait(lambda: page.run("return arguments[0].readyState", player) == 4)
    assert page.run("return arguments[0].duration", player) == 10

    bar = page.run(
        """const bars = [...document.querySelectorAll(".lane rect")];
        bars[0].scrollIntoView({ block: "center" });
        return bars[0];"""
    )
    onset, offset = map(
        float, re.findall(r"([\d.]+) s", page.run("return arguments[0].textContent", bar))
    )
    page.touch(bar)
    page.wait(lambda: page.run("return arguments[0].currentTime > arguments[1]", player, onset))
    page.wait(lambda: page.run("return arguments[0].paused", player))  # at the end of the event
    assert offset <= page.run("return arguments[0].currentTime", player) < offset + 0.5

    page.touch(page.run("return document.querySelector('.lane')"))  # in the middle
    page.wait(lambda: page.run("return arguments[0].currentTime > 5.1", player))
    page.choose("#slider", 5)  # the audio plays on
    assert not page.run("return arguments[0].paused", player)
    page.run("arguments[0].pause()", player)
    at, line = page.run(
        """const line = document.querySelector(".playhead");
        return [arguments[0].currentTime,
            (line.getAttribute("x1") - 8) / (line.ownerSVGElement.viewBox.baseVal.width - 16)]""",
        player,
    )
    assert line == pytest.approx(at / 10, abs=0.01)
    assert page.problems() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_too(page: Browser, report: Path, scheme: str) -> None:
    page.open(report, width=390, scheme=scheme)
    assert page.run("return document.documentElement.scrollWidth") <= 390
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 24, 28)") == (scheme == "dark")
    page.click("#theme")
    assert page.run("return getComputedStyle(document.body).backgroundColor") != background


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_the_cards_of_metrics_fill_a_row(page: Browser, tmp_path: Path, number: int) -> None:
    scores, truth = simulated_set(12)
    metrics = [*METRICS, sed.FScore(sed.Segment(1.0))][:number]
    sed.evaluate(scores, truth, metrics).report(tmp_path / "report.html", clips_shown=1)
    page.open(tmp_path / "report.html", width=1280)
    cards = page.run(
        """return [...document.querySelectorAll(".metric")].map((card) => {
            const { top, left, right } = card.getBoundingClientRect();
            return [top, left, right];
        })"""
    )
    row = page.run(
        "const { left, right } = document.querySelector('.metrics').getBoundingClientRect();"
        "return [left, right]"
    )
    assert len({top for top, _, _ in cards}) == 1
    assert [cards[0][1], cards[-1][2]] == pytest.approx(row)
    assert len({round(right - left) for _, left, right in cards}) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_twenty_classes_differ_in_colour_and_forty_without(
    page: Browser, tmp_path: Path, scheme: str
) -> None:
    truth = sed.simulate.ground_truth(200, classes=40, seed=3)
    evaluation = sed.evaluate(sed.simulate.scores(truth), truth, sed.BestFScore(sed.Clip()))
    evaluation.report(tmp_path / "report.html", clips_shown=1)
    page.open(tmp_path / "report.html", scheme=scheme)
    samples = page.run(
        """return [...document.querySelectorAll("#table .sample")].map((sample) =>
            [getComputedStyle(sample.querySelector("line")).stroke,
             sample.querySelector("line").getAttribute("stroke-dasharray"),
             sample.querySelector("path").getAttribute("d")])"""
    )
    assert len(samples) == 40
    assert len({(dash, shape) for _, dash, shape in samples}) == 40
    colours = [tuple(map(int, re.findall(r"\d+", colour))) for colour, *_ in samples[:20]]
    panel = (255, 255, 255) if scheme == "light" else (27, 32, 37)
    for i, colour in enumerate(colours):
        assert contrast(colour, panel) > 3  # as accessible pictures need
        nearest = min(
            np.abs(np.subtract(colour, other)).sum() for other in colours[:i] + colours[i + 1 :]
        )
        assert nearest > 50


def contrast(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def luminance(colour: tuple[int, ...]) -> float:
        shares = np.array(colour) / 255
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 100, [0, 20, 40, 60, 80, 100]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 50, [0, 10, 20, 30, 40, 50]),
        (0, 150, [0, 50, 100, 150]),
        (0, 70, [0, 10, 20, 30, 40, 50, 60, 70]),
        (0, 24, [0, 5, 10, 15, 20, 24]),
        (0, 9.3, [0, 2, 4, 6, 8, 9.3]),
        (-10, 10, [-10, -5, 0, 5, 10]),
    ],
)
def test_axes_have_round_ticks_up_to_their_end(
    page: Browser, report: Path, low: float, high: float, ticks: list[float]
) -> None:
    page.open(report)
    module = (files("sedscope.report") / "static" / "scales.js").read_text(encoding="utf-8")
    script = f"{module.replace('export ', '')}; return evenTicks(arguments[0], arguments[1])"
    assert page.run(script, low, high) == ticks


def test_decimals_are_aligned(opened: Browser) -> None:
    metric = list(opened.rows()[0])[2]
    for name in (metric, "threshold", "precision", "recall", "F1", "ER", "FA/h"):
        texts = [row[name] for row in opened.rows() if row[name] != "–"]
        assert len({len(text.partition(".")[2]) for text in texts}) == 1
    assert "tabular-nums" in opened.run(
        "return getComputedStyle(document.querySelector('#table')).fontVariantNumeric"
    )
