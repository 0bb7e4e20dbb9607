"""Spectrograms of a report: the numbers of its script, and what a reader sees."""

from __future__ import annotations

import struct
import time
import wave
from base64 import b64encode
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.plots.clip_picture import BANDS, band_edges, mel_spectrogram
from sedscope.report.html import join_modules

from ..support.report.browser import Browser
from ..support.report.sets import METRICS, simulated_set
from .conftest import page

__all__ = ["page"]

pytestmark = pytest.mark.filterwarnings("ignore::sedscope.SedscopeWarning")


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


@pytest.mark.parametrize(
    ("seconds", "rate", "spectra"), [(10, 44100, 960), (120, 16000, 1920), (600, 16000, 3840)]
)
def test_the_script_computes_at_most_four_spectra_a_column(
    page: Browser, seconds: int, rate: int, spectra: int
) -> None:
    pairs = run_module(
        page,
        "mel_spectrogram.js",
        """let pairs = 0;
        const { of } = PowerSpectra.prototype;
        PowerSpectra.prototype.of = function (...signal) {
          pairs += 1;
          return of.apply(this, signal);
        };
        melSpectrogram(new Float32Array(arguments[0] * arguments[1]), arguments[1], 0, arguments[0], 960);
        return pairs;""",
        seconds,
        rate,
    )
    assert pairs == spectra / 2


def write_wav(file: Path, samples: Any, rate: int) -> None:
    with wave.open(str(file), "wb") as audio:
        audio.setnchannels(1)
        audio.setsampwidth(2)
        audio.setframerate(rate)
        audio.writeframes(np.round(samples * 32767).astype("<i2").tobytes())


def rising_tone(seconds: int, rate: int) -> Any:
    """A tone that rises from 500 Hz to 2500 Hz, loudest at the end."""
    times = np.arange(seconds * rate) / rate
    return times / seconds * np.sin(2 * np.pi * (500 + 1000 * times / seconds) * times)


def pictures(page: Browser) -> list[Any]:
    """The images of the spectrogram: position, width, and the loudest row of each column from the top."""
    page.wait(lambda: page.run("return document.querySelector('.spectrogram image')"))
    time.sleep(0.3)  # until the window rests
    images = page.driver.execute_async_script(
        """const done = arguments[0];
        Promise.all([...document.querySelectorAll(".spectrogram image")].map(async (image) => {
          const picture = new Image();
          picture.src = image.getAttribute("href");
          await picture.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [picture.width, picture.height];
          const context = canvas.getContext("2d");
          context.drawImage(picture, 0, 0);
          const { data } = context.getImageData(0, 0, picture.width, picture.height);
          const loudest = Array.from({ length: picture.width }, (_, x) => {
            const greenAt = (_, y) => data[4 * (y * picture.width + x) + 1];
            const green = Array.from({ length: picture.height }, greenAt);
            return green.indexOf(Math.max(...green));
          });
          return [Number(image.getAttribute("x")), Number(image.getAttribute("width")), loudest];
        })).then(done)"""
    )
    return list(images)


def band_of(hertz: float, rate: int) -> int:
    """The row of a frequency, from the top."""
    return BANDS - int(np.searchsorted(band_edges(rate), hertz))


def test_clips_show_their_spectrogram(page: Browser, tmp_path: Path) -> None:
    scores, truth = simulated_set(3)
    clips = list(truth.clips)
    write_wav(tmp_path / f"{clips[0]}.wav", rising_tone(10, 16000), 16000)
    (tmp_path / f"{clips[1]}.wav").write_bytes(b"RIFF\0\0\0\0WAVEfmt \xff\xff\xff\xff")
    sed.evaluate(scores, truth, METRICS[0]).report(
        tmp_path / "report.html", clips_shown=clips, audio=tmp_path
    )
    page.open(tmp_path / "report.html")
    names = page.run(
        "return [...document.querySelectorAll('.clip-list bdi')].map((one) => one.textContent)"
    )

    def open_clip(clip: str) -> None:
        button = names.index(clip)
        page.run("document.querySelectorAll('.clip-list button')[arguments[0]].click()", button)

    open_clip(clips[0])
    ((left, width, loudest),) = pictures(page)
    assert (left, width, len(loudest)) == (0, pytest.approx(964), 964)
    assert loudest[482] == band_of(1500, 16000)  # the frequency after 5 s
    assert loudest[900] == pytest.approx(band_of(500 + 2000 * 900 / 964, 16000), abs=1)
    assert page.run("return document.querySelectorAll('.lane use.backdrop').length") == page.run(
        "return document.querySelectorAll('.part .lane:not(.time)').length"
    )

    # a shorter window has its own columns
    plus = (
        "[...document.querySelectorAll('.zoom button')].find((one) => one.textContent === '+').click()"
    )
    page.run(plus)
    ((left, width, loudest),) = pictures(page)
    assert (left, width, len(loudest)) == (pytest.approx(0), pytest.approx(964), 964)
    assert loudest[10] == pytest.approx(band_of(500 + 2000 * 0.255, 16000), abs=1)

    # it is part of the saved picture
    saved = page.saved("clip.svg", lambda: page.click(".clip-view .tools button"))
    assert 'href="data:image/png;base64,' in saved
    assert saved.count('href="#spectrogram"') == saved.count("threshold ")

    # what cannot be decoded is said in words, and everything else works
    open_clip(clips[1])
    page.wait(lambda: "cannot decode the audio of this clip" in page.text(".clip-view"))
    page.choose("#slider", 3)
    assert page.run("return document.querySelectorAll('.spectrogram, .backdrop').length") == 0
    assert page.run("return document.querySelectorAll('.part .lane').length") > 1
    open_clip(clips[2])
    assert "This clip has no audio." in page.text(".clip-view")
    open_clip(clips[0])
    assert len(pictures(page)) == 1
    assert page.problems() == []


def test_a_long_recording_is_heard_around_its_errors(
    page: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors at 33 s and 60 s; 15 s is right."""
    rate = 8000
    truth = sed.GroundTruth.from_dict(
        {"a": [(14.0, 16.0, "x"), (32.0, 34.0, "x")]}, durations={"a": 120.0}
    )
    values = np.full((1200, 1), 0.1)
    values[140:160] = 0.9
    values[590:610] = 0.95
    scores = sed.Scores.from_arrays({"a": values}, classes=["x"], frame=0.1)
    write_wav(tmp_path / "a.wav", rising_tone(120, rate), rate)
    monkeypatch.setattr("sedscope.report.audio.MAX_BYTES", 2_000_000)
    sed.evaluate(scores, truth, sed.BestFScore(sed.Collar())).report(
        tmp_path / "report.html", audio=tmp_path
    )
    page.open(tmp_path / "report.html")
    seconds = [(30, 40), (50, 70)]
    shown = pictures(page)
    assert [(left, width) for left, width, _ in shown] == [
        pytest.approx((964 * start / 120, 964 * (end - start) / 120)) for start, end in seconds
    ]
    for (start, end), (_, _, loudest) in zip(seconds, shown, strict=True):
        middle = band_of(500 + 2000 * (start + end) / 240, rate)
        assert loudest[len(loudest) // 2] == pytest.approx(middle, abs=1)
    assert "audio around some errors" in page.text(".clip-view")

    player = page.run("return document.querySelector('audio')")
    played = "return [arguments[0].paused, arguments[0].currentTime]"
    page.run(
        """const picture = document.querySelector(".spectrogram");
        picture.scrollIntoView({ block: "center" });
        const clientX = picture.getBoundingClientRect().left + 100;  // nothing to hear there
        picture.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX }))"""
    )
    assert page.run(played, player) == [True, 0]
    page.touch(page.run("return document.querySelector('.spectrogram')"))  # in the middle, at 60 s
    page.wait(lambda: page.run(played, player)[1] > 10.05)
    page.run("arguments[0].pause()", player)
    line = page.run("return Number(document.querySelector('.spectrogram .playhead').getAttribute('x1'))")
    time_in_part = page.run(played, player)[1]
    assert 10 < time_in_part < 19
    assert line == pytest.approx(8 + 964 * (50 + time_in_part) / 120, abs=2)
    assert page.problems() == []


def decoded(page: Browser, content: bytes) -> Any:
    """What the page decodes: the sample rate and the samples, or None."""
    return run_module(
        page,
        "audio_decoding.js",
        """const address = `data:audio/wav;base64,${arguments[0]}`;
        return decodeAudio(address).then(({ samples, rate }) => [rate, [...samples]], () => null)""",
        b64encode(content).decode(),
    )


@pytest.mark.parametrize(
    ("kind", "subtype", "channels", "rate"),
    [
        ("WAV", "PCM_16", 1, 16000),
        ("WAV", "PCM_24", 2, 96000),
        ("WAVEX", "PCM_16", 3, 22050),
        ("WAV", "FLOAT", 1, 8000),
        ("FLAC", "PCM_16", 2, 32000),
    ],
)
def test_audio_is_decoded_at_its_own_rate(
    page: Browser, kind: str, subtype: str, channels: int, rate: int
) -> None:
    soundfile = pytest.importorskip("soundfile", reason="needs soundfile: pip install 'sedscope[audio]'")
    samples = np.random.default_rng(0).uniform(-0.9, 0.9, size=(500, channels))
    file = BytesIO()
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    rate_in_page, samples_in_page = decoded(page, file.getvalue())
    assert rate_in_page == rate
    assert np.abs(np.array(samples_in_page) - samples.mean(axis=1)).max() < 1e-4


def test_no_bytes_break_the_decoder(page: Browser) -> None:
    header = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0"
    rates = [struct.pack("<II", rate, 2 * rate) for rate in (0, 1, 2**32 // 3)]
    contents = [b"", b"fLaC", b"RIFF\0\0\0\0WAVE", *(header + rate + b"\2\0\x10\0" for rate in rates)]
    assert [decoded(page, content) for content in contents] == [None] * len(contents)
    assert page.problems() == []
