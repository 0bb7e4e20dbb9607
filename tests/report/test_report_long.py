"""Long recordings in the report: exact, with clock times, and a window in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.diagnosis import diagnose_clip
from sedscope.report.panels.clips import FEW_FRAMES, score_ranks

from ..support.report.browser import Browser
from ..support.report.contents import contents
from ..support.report.page import thresholds
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")

HOURS, FRAME = 6, 0.1
CRITERIA = (sed.Intersection(0.5, 0.5, cttc=0.3), sed.Collar(), sed.IoU(0.5))


def night() -> tuple[sed.Scores, sed.GroundTruth]:
    """A night with the calls of two birds, and a system that misses some and hears others."""
    rng = np.random.default_rng(4)
    end = HOURS * 3600
    scores = (rng.random((round(end / FRAME), 2)) ** 6 * 0.6).astype(np.float32)
    events = []
    for k, label in enumerate(("owl", "wren")):
        for start in range(20 * (k + 1), end - 60, 40):
            onset, length = start + rng.uniform(0, 10), rng.uniform(0.5, 8)
            events.append((float(onset), float(onset + length), label))
            heard = k if rng.random() < 0.9 else 1 - k
            first = round((onset + rng.normal(0, 0.2)) / FRAME)
            scores[first : first + round(length / FRAME), heard] = 0.6 + 0.4 * rng.random()
    durations = {"night": float(end)}
    truth = sed.GroundTruth.from_dict({"night": events}, durations=durations)
    return sed.Scores.from_arrays({"night": scores}, classes=["owl", "wren"], frame=FRAME), truth


@pytest.fixture(scope="module")
def opened(page: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The report of a night."""
    file = tmp_path_factory.mktemp("night") / "report.html"
    scores, truth = night()
    sed.evaluate(scores, truth, [sed.BestFScore(criterion) for criterion in CRITERIA]).report(file)
    assert file.stat().st_size < 1e6
    page.open(file)
    yield page
    assert page.problems() == []


def shown_window(opened: Browser) -> tuple[float, float]:
    """The part of the clip that is shown, in seconds."""
    start, end = (
        sum(float(part) * 60**i for i, part in enumerate(reversed(time.split(":"))))
        for time in opened.text(".zoom output").split(" to ")
    )
    return start, end


@pytest.mark.parametrize("q", range(len(CRITERIA)))
def test_a_long_recording_is_judged_as_the_library_does(opened: Browser, q: int) -> None:
    opened.choose("#criterion", q)
    opened.click("#best")
    scores, truth = night()
    judged = diagnose_clip(
        scores["night"], truth.events("night"), CRITERIA[q], thresholds(opened), classes=scores.classes
    )
    false = sum(event.error_type != "true" for event in judged.detections)
    missed = sum(event.error_type != "found" for event in judged.references)
    assert false > 20
    assert missed > 20
    assert opened.text(".clip-list .errors") == f"{false} false, {missed} missed"
    assert "not exact" not in opened.text(".clip-view")


def test_times_are_those_of_a_clock(opened: Browser) -> None:
    from selenium.webdriver import Keys

    assert opened.text(".clip-view h3").endswith("6:00:00")
    ticks = opened.run(
        "return [...document.querySelectorAll('.time text')].map((one) => one.textContent)"
    )
    assert ticks == [f"{hour}:00:00" for hour in range(HOURS + 1)]
    opened.run("document.querySelector('.lane').focus()")
    opened.press(Keys.ARROW_RIGHT)
    _, truth = night()
    first = next((on, off) for on, off, label in truth.events("night") if label == "owl")
    for time in first:
        assert f"0:00:{time:06.3f}" in opened.text("#tooltip")


def test_a_window_is_zoomed_and_moved(opened: Browser) -> None:
    from selenium.webdriver import ActionChains, Keys

    end = HOURS * 3600
    assert shown_window(opened) == (0, end)
    opened.click(".zoom [title^='zoom in']")
    assert shown_window(opened) == (end / 4, 3 * end / 4)
    opened.click(".zoom [title^=earlier]")
    assert shown_window(opened) == (end / 8, 5 * end / 8)
    opened.choose(".zoom input", 1000)
    assert shown_window(opened) == (end / 2, end)
    opened.click(".zoom [title^='show the whole']")
    assert shown_window(opened) == (0, end)

    opened.run(
        """const lane = document.querySelector(".lane");
        lane.scrollIntoView({ block: "center" });
        lane.focus()"""
    )
    opened.press("+", "+", "+")
    length = end / 8
    start = shown_window(opened)[0]
    opened.run(
        """document.activeElement.dispatchEvent(new KeyboardEvent(
            "keydown", { key: "ArrowRight", shiftKey: true, bubbles: true }))"""
    )
    assert shown_window(opened)[0] == start + length / 4
    opened.press(Keys.ARROW_LEFT)  # the last event of the class, far outside
    last = opened.run("return document.querySelector('.lane .current').textContent")
    assert opened.text("#tooltip").endswith(last)
    assert shown_window(opened)[1] == end
    opened.press("0")

    wheel = """const [lane, deltaX, deltaY, ctrlKey] = arguments;
        const box = lane.getBoundingClientRect();
        const event = new WheelEvent("wheel", { deltaX, deltaY, ctrlKey, bubbles: true, cancelable: true,
            clientX: box.left + box.width / 2, clientY: box.top + 20 });
        lane.dispatchEvent(event);
        return event.defaultPrevented"""
    lane = opened.run("return document.querySelector('.lane')")
    assert opened.run(wheel, lane, 0, -200, False) is False  # the page scrolls
    assert shown_window(opened) == (0, end)
    assert opened.run(wheel, lane, 0, -200, True)
    assert shown_window(opened) == pytest.approx((end / 4, 3 * end / 4), abs=30)

    lane = opened.run("return document.querySelector('.lane')")
    ActionChains(opened.driver, duration=0).click_and_hold(lane).move_by_offset(
        100, 0
    ).release().perform()
    width = opened.run("return document.querySelector('.lane').clientWidth")
    moved = end / 4 - shown_window(opened)[0]
    assert moved == pytest.approx(100 / width * end / 2, rel=0.05)


def decoded(text: str) -> Any:
    """The ranks in base64 text."""
    from base64 import b64decode

    return np.frombuffer(b64decode(text), np.uint8)


@pytest.mark.parametrize("frames", [FEW_FRAMES, FEW_FRAMES + 1, 3 * FEW_FRAMES + 7])
def test_ranks_of_noise_take_no_more_room_than_columns(frames: int) -> None:
    """Noise has as many runs as frames. Then frames share a column, and each column is the largest."""
    noise = np.random.default_rng(0).random((frames, 1))
    ticks = np.rint(np.arange(frames + 1) * 1024e6 / 48000).astype(np.int64)
    ticks[-1] -= 5  # the last frame is shorter
    thresholds = {0: np.linspace(1, 0, 200)}
    packed = contents(score_ranks(sed.ClipScores(noise, ticks / 1e6), {0: 0}, thresholds, 1000))
    assert not isinstance(packed.edges, str)
    columns = packed.edges[2]
    assert columns == len(decoded(packed.ranks[0])) if packed.runs is None else columns <= FEW_FRAMES
    assert packed.edges[3] == ticks[-1]
    assert packed.frames_per_column == -(-frames // columns)
    exact = np.searchsorted(np.linspace(0, 1, 200), noise[:, 0])
    assert max(decoded(packed.ranks[0])) == exact.max()
