"""Spectrograms of a report: the numbers of its script, and what a reader sees."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from sedscope.plots.mel_spectrogram import mel_spectrogram
from sedscope.report.script_bundle import join_modules

from ..support.report.browser import Browser
from .conftest import page

__all__ = ["page"]


def run_module(page: Browser, module: str, script: str, *arguments: Any) -> Any:
    """Run a script that can use what a module of the page declares."""
    folder = files("sedscope.report") / "static"
    modules = {
        file.name: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".js")
    }
    return page.run(join_modules(modules, [module]) + script, *arguments)


@pytest.mark.parametrize(
    ("rate", "start", "end", "columns"),
    [
        (44100, 0.1, 0.9, 37),  # one window for each column, and they overlap
        (16000, 0.0, 1.1, 5),  # four windows for each column
        (8000, 0.30, 0.31, 10),  # columns shorter than a window; the signal ends inside
        (4000, -0.1, 1.2, 3),
        (96000, 0.5, 0.6, 8),
    ],
)
def test_the_script_computes_what_numpy_does(
    page: Browser, rate: int, start: float, end: float, columns: int
) -> None:
    times = np.arange(rate) / rate
    noise = np.random.default_rng(rate).normal(size=rate)
    signal = 0.5 * np.sin(2 * np.pi * (100 + 0.2 * rate * times) * times) + 0.01 * noise
    signal = np.round(signal * 32767).astype(np.int16)[: int(0.95 * rate)] / 32768
    levels = run_module(
        page,
        "mel_spectrogram.js",
        "return [...melSpectrogram(Float32Array.from(arguments[0]), ...arguments[1])]",
        signal.tolist(),
        [rate, start, end, columns],
    )
    expected = mel_spectrogram(signal, rate, start, end, columns, most_spectra=4)
    assert np.array(levels).reshape(columns, -1) == pytest.approx(expected, abs=1e-4)
    assert np.ptp(expected) > 20


@pytest.mark.parametrize(("seconds", "rate"), [(10, 44100), (600, 16000)])
def test_the_script_is_quick(page: Browser, seconds: int, rate: int) -> None:
    elapsed = run_module(
        page,
        "mel_spectrogram.js",
        """const samples = new Float32Array(arguments[0] * arguments[1]).map((_, i) => Math.sin(i * i));
        const times = [1, 2, 3].map(() => {
          const before = performance.now();
          melSpectrogram(samples, arguments[1], 0, arguments[0], 960);
          return performance.now() - before;
        });
        return Math.min(...times);""",
        seconds,
        rate,
    )
    assert elapsed < 500
