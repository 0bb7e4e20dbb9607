"""Parts of audio files, with and without a decoder."""

from __future__ import annotations

import struct
import sys
import wave
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import sedscope as sed
from sedscope.io.audio import open_cutter


def wav(form: bytes, samples: bytes, *, before: bytes = b"") -> bytes:
    """A WAV file, with chunks before the samples."""
    content = b"WAVE" + chunk(b"fmt ", form) + before + chunk(b"data", samples)
    return chunk(b"RIFF", content)


def chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def form(tag: int, channels: int, rate: int, bits: int) -> bytes:
    frame = channels * bits // 8
    return struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits)


@pytest.mark.parametrize(
    ("tag", "channels", "bits"), [(1, 1, 8), (1, 1, 16), (1, 2, 24), (3, 2, 32), (0xFFFE, 1, 16)]
)
def test_a_part_of_a_wav_file_has_the_same_samples(
    tmp_path: Path, tag: int, channels: int, bits: int
) -> None:
    rate, frame = 1000, channels * bits // 8
    samples = np.random.default_rng(0).bytes(frame * 5000)
    header = form(tag, channels, rate, bits) + (b"\x16\0" + b"x" * 22 if tag == 0xFFFE else b"")
    file = tmp_path / "a.wav"
    file.write_bytes(wav(header, samples, before=chunk(b"LIST", b"odd")))
    cutter = open_cutter(file)
    assert cutter.bytes_per_second == rate * frame
    assert cutter.media_type == "audio/wav"
    assert cutter.cut(1.5, 2.25) == wav(header, samples[1500 * frame : 2250 * frame])
    assert cutter.cut(4.9, 7.0) == wav(header, samples[4900 * frame :])
    if tag == 1:
        with wave.open(BytesIO(cutter.cut(1.5, 2.25))) as part:
            assert (part.getframerate(), part.getnframes()) == (1000, 750)


def test_a_recording_may_be_cut_off_or_beyond_32_bits(tmp_path: Path) -> None:
    whole = wav(form(1, 1, 1000, 16), b"ab" * 4000)
    endless = whole.replace(b"data" + struct.pack("<I", 8000), b"data\xff\xff\xff\xff")
    for content in (whole[:-1000], endless[:-1000], b"RF64" + endless[4:-1000]):
        (tmp_path / "a.wav").write_bytes(content)
        assert open_cutter(tmp_path / "a.wav").cut(3.0, 9.0) == wav(form(1, 1, 1000, 16), b"ab" * 500)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "does not begin with RIFF"),
        (b"RIFF\0\0\0\0WAVE", "holds no samples"),
        (b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 5000, "holds no samples"),
        (b"RIFF\0\0\0\0WAVEdata\0\0\0\0", "does not say how samples are stored"),
        (wav(form(1, 1, 0, 16), b"abcd"), "does not say how samples are stored"),
        (wav(form(1, 0, 8000, 16), b"abcd"), "does not say how samples are stored"),
        (wav(form(2, 1, 8000, 16), b"abcd"), "compressed samples"),
    ],
)
def test_what_is_not_a_wav_file_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(sed.SedscopeError, match=rf"a\.wav: .*{problem}"):
        open_cutter(tmp_path / "a.wav")


@pytest.mark.parametrize("suffix", ["flac", "ogg", "mp3"])
def test_other_formats_are_decoded(tmp_path: Path, suffix: str) -> None:
    soundfile = pytest.importorskip("soundfile", reason="needs soundfile: pip install 'sedscope[audio]'")
    samples = 0.5 * np.sin(np.arange(48000) ** 1.2 / 50)
    soundfile.write(tmp_path / f"a.{suffix}", samples, 16000)
    cutter = open_cutter(tmp_path / f"a.{suffix}")
    assert cutter.media_type == "audio/flac"
    whole = soundfile.read(tmp_path / f"a.{suffix}")[0]
    part, rate = soundfile.read(BytesIO(cutter.cut(1.0, 2.5)))
    assert rate == 16000
    assert len(part) == 24000
    assert np.abs(part - whole[16000:40000]).max() < 1e-3
    (tmp_path / f"b.{suffix}").write_bytes(b"noise" * 100)
    with pytest.raises(sed.SedscopeError, match=rf"b\.{suffix}: soundfile cannot decode this file"):
        open_cutter(tmp_path / f"b.{suffix}")


def test_without_a_decoder_only_wav_files_can_be_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    (tmp_path / "a.flac").write_bytes(b"fLaC")
    with pytest.raises(sed.SedscopeError, match=r"a\.flac: cutting .* pip install 'sedscope\[audio\]'"):
        open_cutter(tmp_path / "a.flac")
