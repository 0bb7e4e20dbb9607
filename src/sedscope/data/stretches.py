"""Stretches of clips: the frames between two times, as a clip of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from .arrays import ScoreArray
from .clip_events import ClipEvents
from .recordings import ClipPieces
from .score_arrays import ClipScores, as_scores
from .scores import Scores
from .times import Ticks, to_seconds


def frames_between(ticks: Ticks, start: int, end: int) -> slice:
    """Return the frames that overlap a stretch of time.

    >>> frames_between(np.array([0, 10, 20, 30]), 15, 30)
    slice(1, 3, None)
    """
    first = max(0, int(np.searchsorted(ticks, start, side="right")) - 1)
    stop = min(len(ticks) - 1, int(np.searchsorted(ticks, end, side="left")))
    return slice(first, max(first, stop))


@dataclass(frozen=True)
class Stretch:
    """A stretch of a clip, in microseconds."""

    clip: str
    start: int
    end: int
    is_whole_clip: bool = False
    """Whether it is the whole clip, which is not cut at all."""

    def of(self, clip: ClipScores | ClipPieces | ClipEvents) -> ClipScores | ClipPieces | ClipEvents:
        """Return the frames within the stretch, with times from its start. Frames across its ends are cut.

        So are events that are kept as they are.
        """
        if self.is_whole_clip:
            return clip
        if isinstance(clip, ClipEvents):
            return clip.within(self.start, self.end)
        frames = frames_between(clip.ticks, self.start, self.end)
        ticks = np.zeros(1, np.int64)
        if frames.start < frames.stop:
            ticks = (
                np.clip(clip.ticks[frames.start : frames.stop + 1], self.start, self.end) - self.start
            )
        if isinstance(clip, ClipPieces):
            return ClipPieces(lambda: _pieces_within(clip, frames), edges=to_seconds(ticks))
        return ClipScores.unchecked(clip.values[frames], ticks)


def _pieces_within(clip: ClipPieces, frames: slice) -> Iterator[ScoreArray]:
    """Yield those parts of the pieces that hold some frames. Pieces after them are not read."""
    first = 0
    pieces = iter(clip.read())
    while first < frames.stop:
        piece = next(pieces, None)
        if piece is None:
            break
        array = as_scores(piece)
        inside = array[max(0, frames.start - first) : max(0, frames.stop - first)]
        first += len(array)
        del piece, array  # before the next one is made
        if len(inside):
            yield inside


class StretchLoader:
    """Loads stretches of clips. A clip that can be identified is read once for its consecutive stretches."""

    def __init__(self, scores: Scores, stretches: Mapping[str, Stretch]) -> None:
        self.scores, self.stretches = scores, stretches
        self._latest: tuple[str, str, ClipScores | ClipPieces | ClipEvents] | None = None

    def load(self, name: str) -> ClipScores | ClipPieces | ClipEvents:
        """Return the scores of a stretch."""
        stretch, latest = self.stretches[name], self._latest
        identity = self.scores.identity(stretch.clip)
        if identity is not None and latest is not None and latest[:2] == (stretch.clip, identity):
            return stretch.of(latest[2])
        clip = self.scores.open(stretch.clip)
        if identity is not None:
            self._latest = (stretch.clip, identity, clip)
        return stretch.of(clip)

    def identify(self, name: str) -> str | None:
        """Return a text that changes whenever the scores of a stretch do."""
        stretch = self.stretches[name]
        identity = self.scores.identity(stretch.clip)
        if stretch.is_whole_clip or identity is None:
            return identity
        return f"{identity} from {stretch.start} to {stretch.end}"

    def __getstate__(self) -> dict[str, object]:
        return {"scores": self.scores, "stretches": self.stretches, "_latest": None}
