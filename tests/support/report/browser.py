"""A real browser without a window: Debian's chromium, driven by selenium."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """A page in the browser."""

    def __init__(self, driver: Any, downloads: Path) -> None:
        self.driver = driver
        self.downloads = downloads

    def open(self, page: Path, *, width: int = 1400, scheme: str = "light", media: str = "") -> None:
        """Load a page, and wait until its script is done."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        self.problems(), self.requests()  # those of the page before
        self.driver.get(page.as_uri())
        self.wait(lambda: self.run("return document.body.dataset.ready"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; what it changes has been drawn when it returns."""
        found = self.driver.execute_script(script, *arguments)
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )
        return found

    def wait(self, condition: Callable[[], Any]) -> Any:
        """Wait for something to become true."""
        end = time.monotonic() + 30
        while not (found := condition()):
            assert time.monotonic() < end, "it does not happen"
            time.sleep(0.02)
        return found

    def click(self, selector: str) -> None:
        self.run("document.querySelector(arguments[0]).click()", selector)

    def touch(self, element: Any) -> None:
        """A click with the mouse in the middle of an element."""
        self._actions().move_to_element(element).click().perform()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other; see selenium's Keys."""
        self._actions().send_keys(*keys).perform()
        self.run("return 0")

    def _actions(self) -> Any:
        from selenium.webdriver import ActionChains

        return ActionChains(self.driver, duration=0)

    def choose(self, selector: str, value: Any) -> None:
        """Set a field, as a user does."""
        self.run(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "for (const name of ['input', 'change']) field.dispatchEvent(new Event(name))",
            selector,
            str(value),
        )

    def text(self, selector: str) -> str:
        found: str = self.run("return document.querySelector(arguments[0]).textContent", selector)
        return found

    def rows(self, selector: str = "#table", *, foot: bool = False) -> list[dict[str, str]]:
        """The rows of a table, by the names of its columns, with those of its foot or without."""
        script = """
            const table = document.querySelector(arguments[0]);
            const read = (row) => [...row.children].map((cell) => cell.textContent);
            const rows = [...table.tBodies[0].rows, ...(arguments[1] ? table.tFoot.rows : [])];
            return [read(table.tHead.rows[0]), ...rows.filter((row) => !row.matches(".room")).map(read)];
        """
        names, *rows = self.run(script, selector, foot)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def saved(self, name: str, save: Callable[[], None]) -> str:
        """The file that a button saves."""
        file = self.downloads / name
        saved = f"{file.stem}*{file.suffix}"  # the browser may number files of one name
        for old in self.downloads.glob(saved):
            old.unlink()
        time.sleep(0.2)  # the browser drops downloads that follow each other too quickly
        save()
        files = self.wait(lambda: [new for new in self.downloads.glob(saved) if new.stat().st_size])
        files[0].replace(file)
        return file.read_text(encoding="utf-8")

    def problems(self) -> list[str]:
        """What the browser complained of since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that the page asked for since then."""
        addresses = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return addresses


@contextmanager
def browser(downloads: Path) -> Iterator[Browser]:
    """A browser, closed at the end; without one the tests are skipped."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    programs = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("needs a browser: install chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    preferences = {
        "download.default_directory": str(downloads),
        "profile.default_content_setting_values.automatic_downloads": 1,
    }
    options.add_experimental_option("prefs", preferences)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    try:
        yield Browser(driver, downloads)
    finally:
        driver.quit()
