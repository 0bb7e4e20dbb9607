"""Audio in a report: which parts of long recordings, and what is said of the others."""

from __future__ import annotations

import sys
import wave
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.report.audio import EmbeddedAudio, embed_audio

SECOND = 1_000_000
RATE = 1000
MINUTE_BYTES = 60 * RATE * 2 * 4 // 3
"""Of a minute of audio, as base64 text."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings of two minutes: a whole number of samples counts the milliseconds."""
    for name in ("a", "b"):
        with wave.open(str(tmp_path / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes((np.arange(120 * RATE) % 30000).astype("<i2").tobytes())
    return tmp_path


def times(audio: EmbeddedAudio, clip: str) -> list[tuple[float, float]]:
    """Start and end of the parts of a clip, whose samples must be those of the recording."""
    for part in audio.parts.get(clip, []):
        head, content = part.url.split(",")
        assert head == "data:audio/wav;base64"
        with wave.open(BytesIO(b64decode(content))) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        first, last = part.start * RATE // SECOND, part.end * RATE // SECOND
        assert np.array_equal(samples, np.arange(first, last) % 30000)
    return [(part.start / SECOND, part.end / SECOND) for part in audio.parts.get(clip, [])]


@pytest.mark.parametrize(
    ("room", "errors", "expected"),
    [
        (2.1, [(5, 6)], [(0, 120)]),  # there is room for all
        (1.9, [(5, 6), (31, 38), (115, 120)], [(0, 10), (20, 40), (110, 120)]),  # 2 s before and after
        (1.9, [(35, 75)], [(30, 80)]),
        (
            0.5,
            [(5, 6), (44, 45), (45, 46), (75, 76), (74, 76)],
            [(40, 50), (70, 80)],
        ),  # most errors first
        (0.1, [(5, 6)], []),
        (0.5, [], [(0, 20)]),  # nothing to look for: its beginning
    ],
)
def test_a_long_recording_has_audio_around_its_errors(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    room: float,
    errors: list[tuple[int, int]],
    expected: list[tuple[float, float]],
) -> None:
    monkeypatch.setattr("sedscope.report.audio.MAX_BYTES", int(room * MINUTE_BYTES))
    ticks = [(onset * SECOND, offset * SECOND) for onset, offset in errors]
    audio = embed_audio(folder, {"a": 120 * SECOND}, lambda _: ticks)
    assert times(audio, "a") == expected
    if not expected:
        assert audio.notes[0].startswith("The audio of 1 clip is left out, because a page holds at most")
    elif expected != [(0, 120)]:
        assert "Long recordings have audio only around errors" in audio.notes[0]
    assert sum(len(part.url) for parts in audio.parts.values() for part in parts) < room * MINUTE_BYTES


def test_long_recordings_share_the_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.report.audio.MAX_BYTES", int(1.1 * MINUTE_BYTES))
    everywhere = [(0, 120 * SECOND)]
    audio = embed_audio(folder, {"a": 120 * SECOND, "b": 120 * SECOND}, lambda _: everywhere)
    assert [times(audio, clip) for clip in "ab"] == [[(0, 30)], [(0, 30)]]
    assert audio.notes == (
        "Long recordings have audio only around errors: in 6 of 24 blocks of 10 s, those with the most "
        "errors first.",
    )


def test_what_cannot_be_cut_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sedscope.report.audio.MAX_BYTES", MINUTE_BYTES)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    (folder / "c.flac").write_bytes(b"fLaC" * MINUTE_BYTES)
    lengths = {"c": 120 * SECOND, "a": 120 * SECOND}
    with pytest.warns(
        sed.SedscopeWarning, match=r"cannot be cut: c\. .* pip install 'sedscope\[audio\]'"
    ):
        audio = embed_audio(folder, lengths, lambda _: [(0, SECOND)])
    assert times(audio, "a") == [(0, 10)]
    assert "c" not in audio.parts
    assert "The audio of 1 clip is left out" in audio.notes[0]
