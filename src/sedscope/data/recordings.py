"""A clip whose scores come in pieces: a recording too long for memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, counted
from .scores import ClipScores, ScoreArray, as_scores, frame_grid
from .times import Ticks, to_seconds


class ClipPieces:
    """The scores of one clip, piece by piece.

    ``read()`` gives consecutive (frames × classes) arrays, each with any number of frames and all of one
    float type. It is called whenever the clip is evaluated, and begins anew each time; a piece is let go
    when the next one is asked for. The frames are those of the whole clip: ``frames`` of the length
    ``frame`` in seconds, or between the boundaries ``edges``.

    >>> values = np.array([[0.1], [0.9], [0.8], [0.2]], np.float32)
    >>> clip = ClipPieces(lambda: [values[:3], values[3:]], frames=4, frame=0.5)
    >>> clip
    <ClipPieces: 4 frames>
    >>> clip.edges
    array([0. , 0.5, 1. , 1.5, 2. ])
    """

    __slots__ = ("read", "ticks")

    read: Callable[[], Iterable[ArrayLike]]
    ticks: Ticks
    """The frames + 1 frame boundaries in microseconds."""

    def __init__(
        self,
        read: Callable[[], Iterable[ArrayLike]],
        *,
        frames: int | None = None,
        frame: float | None = None,
        edges: ArrayLike | None = None,
    ) -> None:
        if not callable(read):
            raise SedscopeError(f"give a function that gives the pieces, not {type(read).__name__}")
        if (frames is None) != (frame is None):
            raise SedscopeError("frame=, the length of a frame, goes with frames=, their number")
        if frames is not None and not (isinstance(frames, (int, np.integer)) and frames >= 0):
            raise SedscopeError(f"frames={frames!r} must be a whole number, at least 0")
        self.read = read
        self.ticks = frame_grid(frame, edges)("", int(frames or 0))
        # a clip without classes has all that is to be checked of boundaries
        ClipScores.from_ticks(np.empty((max(len(self.ticks) - 1, 0), 0)), self.ticks)

    @property
    def edges(self) -> NDArray[np.float64]:
        """Frame boundaries in seconds."""
        return to_seconds(self.ticks)

    def pieces(self, classes: int) -> Iterator[ScoreArray]:
        """The pieces that have frames, in order; each is checked when it comes."""
        expected = len(self.ticks) - 1
        number, frames, kind = 0, 0, None
        for values in _iterated(self.read()):
            number += 1  # enumerate would hold on to the piece
            try:
                piece = as_scores(values)
                if piece.ndim != 2:
                    raise SedscopeError(f"scores must be frames × classes, not of shape {piece.shape}")
                if piece.shape[1] != classes:
                    raise SedscopeError(
                        f"{counted(piece.shape[1], 'column')} for {counted(classes, 'class')}"
                    )
                if len(piece) == 0:
                    continue
                if kind not in (None, piece.dtype):
                    raise SedscopeError(f"{piece.dtype} after {kind}: give all pieces one type")
            except SedscopeError as error:
                raise SedscopeError(f"piece {number}, from frame {frames} on: {error}") from None
            kind = piece.dtype
            frames += len(piece)
            if frames > expected:
                break
            yield piece
            del piece, values  # before the next ones are made
        if frames != expected:
            more = "or more " if frames > expected else ""
            raise SedscopeError(
                f"{counted(frames, 'frame')} {more}in its pieces, {expected} between its boundaries. "
                "The function is called for each evaluation and must give all pieces each time"
            )

    def __repr__(self) -> str:
        return f"<ClipPieces: {counted(len(self.ticks) - 1, 'frame')}>"


def _iterated(pieces: Any) -> Iterator[ArrayLike]:
    try:
        return iter(pieces)
    except TypeError:
        given = type(pieces).__name__
        raise SedscopeError(f"the function must give arrays one by one, not {given}") from None


def needs_whole(clip: str) -> SedscopeError:
    """Why something that needs all scores of a clip at once refuses one that comes in pieces."""
    return SedscopeError(
        f"clip {clip} comes in pieces, and this needs all of its scores at once: give it as one array"
    )
