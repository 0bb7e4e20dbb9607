"""Long recordings: the scores of a clip that come in pieces because they do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SedscopeError, counted
from .arrays import FloatArray, ScoreArray
from .score_arrays import ClipScores, as_scores, check_shape, frame_grid
from .times import Ticks, to_seconds


class ClipPieces:
    """The scores of one clip, piece by piece.

    Use it for a recording whose scores do not fit into memory.

    Parameters
    ----------
    read : callable
        Takes no arguments and returns an iterable of consecutive (frames × classes) arrays. They may
        have any number of frames, but must all be of one float type. Each evaluation calls it anew and
        lets go of a piece before it asks for the next one.
    frames : int, optional
        Number of frames of the whole clip. Needs `frame`.
    frame : float, optional
        Length of all frames in seconds.
    edges : array_like, shape (frames + 1,), optional
        Frame boundaries of the whole clip in seconds, instead of `frames` and `frame`.

    Attributes
    ----------
    ticks : ndarray of int64, shape (frames + 1,)
        Frame boundaries in microseconds.

    Examples
    --------
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

    def __init__(
        self,
        read: Callable[[], Iterable[ArrayLike]],
        *,
        frames: int | None = None,
        frame: float | None = None,
        edges: ArrayLike | None = None,
    ) -> None:
        if not callable(read):
            raise SedscopeError(
                f"read must be a function that returns pieces, not {type(read).__name__}."
            )
        if (frames is None) != (frame is None):
            raise SedscopeError("frame= (the frame length) and frames= (their number) go together.")
        if frames is not None and not (isinstance(frames, (int, np.integer)) and frames >= 0):
            raise SedscopeError(f"frames={frames!r} must be a whole number, at least 0.")
        self.read = read
        self.ticks = frame_grid(frame, edges)("", int(frames or 0))
        # a clip with these boundaries and no classes runs all checks of boundaries
        ClipScores.from_ticks(np.empty((max(len(self.ticks) - 1, 0), 0)), self.ticks)

    def changed(self, read: Callable[[], Iterable[ArrayLike]]) -> ClipPieces:
        """Return a clip with the same boundaries and other pieces.

        Parameters
        ----------
        read : callable
            As for the class.

        Returns
        -------
        ClipPieces
        """
        clip = ClipPieces.__new__(ClipPieces)
        clip.read, clip.ticks = read, self.ticks
        return clip

    @property
    def edges(self) -> FloatArray:
        """Frame boundaries in seconds."""
        return to_seconds(self.ticks)

    def pieces(self, classes: int) -> Iterator[ScoreArray]:
        """Iterate over the pieces that have frames, in order, and check each one.

        Parameters
        ----------
        classes : int
            Number of columns that every piece must have.

        Yields
        ------
        ndarray of float32 or float64, shape (frames of the piece, classes)

        Examples
        --------
        >>> pieces = ClipPieces(lambda: iter([np.zeros((3, 1)), np.ones((2, 1))]), frame=1.0, frames=5)
        >>> [len(piece) for piece in pieces.pieces(classes=1)]
        [3, 2]
        """
        expected = len(self.ticks) - 1
        number, frames, dtype = 0, 0, None
        for values in _iterate(self.read()):
            number += 1  # enumerate would keep a reference to the piece
            try:
                piece = as_scores(values)
                check_shape(piece, classes)
                if len(piece) == 0:
                    continue
                if dtype not in (None, piece.dtype):
                    raise SedscopeError(f"{piece.dtype} follows {dtype}. All pieces must have one type.")
            except SedscopeError as error:
                raise SedscopeError(f"piece {number}, from frame {frames} on: {error}") from None
            dtype = piece.dtype
            frames += len(piece)
            if frames > expected:
                break
            yield piece
            del piece, values  # before the next ones are made
        if frames != expected:
            more = " or more" if frames > expected else ""
            raise SedscopeError(
                f"Its pieces have {counted(frames, 'frame')}{more}, but its boundaries are those of "
                f"{counted(expected, 'frame')}. The function is called for each evaluation and must "
                "return all pieces each time."
            )

    def __repr__(self) -> str:
        return f"<ClipPieces: {counted(len(self.ticks) - 1, 'frame')}>"


def _iterate(pieces: Iterable[ArrayLike]) -> Iterator[ArrayLike]:
    try:
        return iter(pieces)
    except TypeError:
        raise SedscopeError(
            f"The function must return an iterable of arrays, not {type(pieces).__name__}."
        ) from None


def whole_clip_error(clip: str) -> SedscopeError:
    """Return the error of an operation that cannot use a clip in pieces."""
    return SedscopeError(
        f"Clip {clip} comes in pieces, but this operation needs all of its scores at once. "
        "Give it as one array."
    )
