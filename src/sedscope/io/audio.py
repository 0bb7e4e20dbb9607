"""Audio files: their samples, and parts of them.

WAV files are cut here. Other formats need a decoder: soundfile (the extra ``audio``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from io import SEEK_END, BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias

from ..data.arrays import FloatArray
from ..data.choices import refuse_beyond_memory
from ..errors import SedscopeError
from .locations import Location, input_location, open_input

_CUTTABLE = {1, 3, 6, 7, 0xFFFE}  # sample formats in which every sample has the same number of bytes
_MOST_CHUNKS = 1000
_MOST_FORMAT_BYTES = 1000


def open_cutter(path: Location) -> AudioCutter:
    """Return what cuts parts out of an audio file. Refuse a file that cannot be cut."""
    if path.suffix.lower() == ".wav":
        return WavCutter.of(path)
    return SoundfileCutter.of(path)


@dataclass(frozen=True)
class WavCutter:
    """Cuts WAV files, without decoding them."""

    path: Location
    fmt: bytes
    """The content of the ``fmt`` chunk."""
    first: int
    """Where the samples begin in the file."""
    size: int
    """Of all samples in bytes."""

    media_type = "audio/wav"

    @classmethod
    def of(cls, path: Location) -> WavCutter:
        """Find the samples of a file."""
        with open_input(path) as file:
            length = file.seek(0, SEEK_END)
            fmt, first, size = _wav_chunks(file, length, path)
        if len(fmt) < 16 or 0 in struct.unpack("<IxxxxH", fmt[4:14]):
            raise SedscopeError(
                f"{path}: not a WAV file: its header does not say how samples are stored."
            )
        if int.from_bytes(fmt[:2], "little") not in _CUTTABLE:
            raise SedscopeError(
                f"{path}: sedscope cannot cut a WAV file with compressed samples. Convert it to PCM."
            )
        return cls(path, fmt, first, size)

    @property
    def _rate(self) -> int:
        return int.from_bytes(self.fmt[4:8], "little")

    @property
    def _frame_bytes(self) -> int:
        """The bytes of one sample of all channels."""
        return int.from_bytes(self.fmt[12:14], "little")

    @property
    def bytes_per_second(self) -> float:
        """How many bytes a second takes."""
        return self._rate * self._frame_bytes

    def cut(self, start: float, end: float) -> bytes:
        """Return a part of the file, as a WAV file."""
        frames = self.size // self._frame_bytes
        first, last = (min(frames, round(time * self._rate)) for time in (start, end))
        with open_input(self.path) as file:
            file.seek(self.first + first * self._frame_bytes)
            samples = file.read((last - first) * self._frame_bytes)
        chunks = _chunk(b"fmt ", self.fmt) + _chunk(b"data", samples)
        return _chunk(b"RIFF", b"WAVE" + chunks)


def _wav_chunks(file: IO[bytes], length: int, path: Location) -> tuple[bytes, int, int]:
    """Return the ``fmt`` chunk of a WAV file, where its samples begin, and their size."""
    file.seek(0)
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise SedscopeError(f"{path}: not a WAV file: it does not begin with RIFF and WAVE.")
    fmt, position = b"", 12
    for _ in range(_MOST_CHUNKS):
        file.seek(position)
        name, size = file.read(4), int.from_bytes(file.read(4), "little")
        position += 8
        if name == b"fmt ":
            fmt = file.read(min(size, _MOST_FORMAT_BYTES))
        if name == b"data" or position >= length:
            break
        position += size + size % 2
    if name != b"data":
        raise SedscopeError(f"{path}: not a WAV file: it holds no samples.")
    size = min(size, length - position)  # a file may be cut off, or too long for its 32-bit size
    return fmt, position, size


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + len(content).to_bytes(4, "little") + content + b"\0" * (len(content) % 2)


@dataclass(frozen=True)
class SoundfileCutter:
    """Cuts files of all formats that soundfile decodes. Parts are FLAC files with 16 bits."""

    path: Location
    rate: int
    channels: int

    media_type = "audio/flac"

    @classmethod
    def of(cls, path: Location) -> SoundfileCutter:
        """Read the header of a file."""
        soundfile = _soundfile(f"{path}: cutting a {path.suffix} file")
        with open_input(path) as file, _opened(soundfile, file, path) as sound:
            return cls(path, sound.samplerate, sound.channels)

    @property
    def bytes_per_second(self) -> float:
        """How many bytes a second takes at most."""
        return 2 * self.rate * self.channels

    def cut(self, start: float, end: float) -> bytes:
        """Return a part of the file, as a FLAC file."""
        soundfile = _soundfile(f"{self.path}: cutting a {self.path.suffix} file")
        part = BytesIO()
        with open_input(self.path) as file, _opened(soundfile, file, self.path) as sound:
            first, last = (min(sound.frames, round(time * self.rate)) for time in (start, end))
            try:
                lead = min(first, self.rate)  # the decoder of MP3 needs some frames to be right
                sound.seek(first - lead)
                samples = sound.read(last - first + lead, dtype="int16", always_2d=True)[lead:]
                soundfile.write(part, samples, self.rate, format="FLAC", subtype="PCM_16")
            except soundfile.SoundFileError as error:
                raise SedscopeError(f"{self.path}: cannot cut this audio: {error}") from None
        return part.getvalue()


AudioCutter: TypeAlias = WavCutter | SoundfileCutter
"""Cuts parts out of one audio file."""


def read_audio(path: str | Path) -> tuple[FloatArray, int]:
    """Return the samples of an audio file, between −1 and 1, and how many there are per second.

    Several channels are averaged. It needs soundfile (the extra ``audio``).
    """
    soundfile = _soundfile("Reading audio files")
    source = input_location(path)
    with open_input(source) as file, _opened(soundfile, file, source) as sound:
        refuse_beyond_memory(sound.frames * (sound.channels * 4 + 8), f"{source} needs")
        try:
            samples = sound.read(dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise SedscopeError(f"{source}: cannot read this audio: {error}") from None
        mono: FloatArray = samples.mean(axis=1, dtype="float64")
        return mono, int(sound.samplerate)


def _soundfile(user: str) -> Any:
    try:
        import soundfile
    except (ImportError, OSError):  # the latter if its library is missing
        raise SedscopeError(
            f"{user} needs soundfile. Install it with: pip install 'sedscope[audio]'"
        ) from None
    return soundfile


def _opened(soundfile: Any, file: IO[bytes], path: Location) -> Any:
    try:
        return soundfile.SoundFile(file)
    except soundfile.SoundFileError as error:
        raise SedscopeError(f"{path}: soundfile cannot decode this file: {error}") from None
