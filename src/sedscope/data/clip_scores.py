"""The scores of one clip: (frames × classes) values between frame boundaries, whole or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import SedscopeError, counted, listing, located, subject
from .arrays import FloatArray, ScoreArray, refuse_masked
from .choices import Gaps, check_choice
from .clips import clip_id, clip_ids
from .times import (
    Ticks,
    boundary_ticks,
    check_order,
    check_ticks,
    frame_ticks,
    frame_times,
    join_frames,
    number_frame,
    to_seconds,
    to_ticks,
)


class ClipScores:
    """The scores of one clip.

    Parameters
    ----------
    values : array_like, shape (frames, classes)
        Scores, higher is more confident. float32 and float64 are kept as they are; integers and
        float16 are widened without loss. A frame is active at a threshold where ``score > threshold``;
        ``-inf`` is never active.
    edges : array_like, shape (frames + 1,)
        Frame boundaries in seconds, increasing.

    Attributes
    ----------
    values : ndarray of float32 or float64, shape (frames, classes)
        The scores.
    ticks : ndarray of int64, shape (frames + 1,)
        Frame boundaries in microseconds.

    Examples
    --------
    >>> clip = ClipScores([[0.1], [0.9]], edges=[0.0, 0.5, 1.0])
    >>> clip
    <ClipScores: 2 frames × 1 class>
    >>> clip.ticks
    array([      0,  500000, 1000000])
    """

    __slots__ = ("ticks", "values")

    values: ScoreArray
    ticks: Ticks

    def __init__(self, values: ArrayLike, edges: ArrayLike) -> None:
        self.values = as_scores(values)
        self.ticks = boundary_ticks(edges)
        self._check()

    @classmethod
    def from_ticks(cls, values: ArrayLike, ticks: Ticks) -> ClipScores:
        """Make the scores of a clip from boundaries in microseconds.

        Parameters
        ----------
        values : array_like, shape (frames, classes)
            Scores.
        ticks : ndarray of int, shape (frames + 1,)
            Frame boundaries in microseconds, increasing.

        Returns
        -------
        ClipScores

        Examples
        --------
        >>> ClipScores.from_ticks([[0.2], [0.9]], np.array([0, 500_000, 1_000_000])).edges.tolist()
        [0.0, 0.5, 1.0]
        """
        clip = cls.__new__(cls)
        clip.values = as_scores(values)
        refuse_masked(ticks, "boundaries")
        clip.ticks = np.asarray(ticks)
        if clip.ticks.dtype.kind not in "iu":
            raise SedscopeError(f"Ticks must be whole numbers of microseconds, not {clip.ticks.dtype}.")
        check_ticks(clip.ticks)  # before a large unsigned number wraps around
        clip.ticks = clip.ticks.astype(np.int64, copy=False)
        clip._check()
        return clip

    @classmethod
    def from_frames(
        cls, values: ArrayLike, onsets: ArrayLike, offsets: ArrayLike, *, gaps: Gaps = "error"
    ) -> ClipScores:
        """Make the scores of a clip from the onset and offset of each frame.

        Where a frame ends within rounding errors of the onset of the next one, this onset is the
        boundary of both. Rounding errors are up to 1 % of the shorter frame, and for times that were
        32-bit floats two steps of such a number, but never more than a quarter of the shorter frame.

        Parameters
        ----------
        values : array_like, shape (frames, classes)
            Scores.
        onsets, offsets : array_like, shape (frames,)
            Times in seconds, in order. Frames must not overlap.
        gaps : {'error', 'silent'}, default 'error'
            Whether a gap between two frames is an error or becomes a frame with the score ``-inf``.

        Returns
        -------
        ClipScores

        Examples
        --------
        >>> ClipScores.from_frames([[0.2], [0.9]], onsets=[0, 0.5], offsets=[0.5, 1]).edges.tolist()
        [0.0, 0.5, 1.0]
        """
        return cls.from_named_frames(values, onsets, offsets, gaps, number_frame)

    @classmethod
    def from_named_frames(
        cls,
        values: ArrayLike,
        onsets: ArrayLike,
        offsets: ArrayLike,
        gaps: Gaps,
        name: Callable[[int], str],
    ) -> ClipScores:
        """Do what :meth:`from_frames` does, with messages that name frames in their own way.

        Parameters
        ----------
        values, onsets, offsets, gaps
            As for :meth:`from_frames`.
        name : callable
            Takes the index of a frame, and returns what messages call it, such as its line in a file.

        Returns
        -------
        ClipScores
        """
        scores = as_scores(values)
        starts, ends = frame_times(onsets, name), frame_times(offsets, name)
        if scores.ndim != 2 or not (starts.shape == ends.shape == scores.shape[:1]):
            raise SedscopeError("Each frame needs one onset, one offset and one row of scores.")
        check_choice(Gaps, gaps=gaps)
        if len(starts) == 0:
            return cls.from_ticks(scores, np.zeros(1, np.int64))
        ticks, before = join_frames(starts, ends, gaps, name)
        if len(before):
            scores = np.insert(scores, before, -np.inf, axis=0)
        return cls.unchecked(scores, ticks)

    @classmethod
    def unchecked(cls, values: ScoreArray, ticks: Ticks) -> ClipScores:
        """Make the scores of a clip from arrays that are known to be valid.

        Only this way can a frame have no length. Such a frame keeps two detections apart that touch.

        Parameters
        ----------
        values : ndarray of float32 or float64, shape (frames, classes)
            Scores.
        ticks : ndarray of int64, shape (frames + 1,)
            Frame boundaries in microseconds, not decreasing.

        Returns
        -------
        ClipScores
        """
        clip = cls.__new__(cls)
        clip.values, clip.ticks = values, ticks
        return clip

    @property
    def edges(self) -> FloatArray:
        """Frame boundaries in seconds."""
        return to_seconds(self.ticks)

    def __repr__(self) -> str:
        frames, classes = self.values.shape
        return f"<ClipScores: {counted(frames, 'frame')} × {counted(classes, 'class')}>"

    def _check(self) -> None:
        check_shape(self.values)
        if self.ticks.shape != (len(self.values) + 1,):
            raise SedscopeError(
                f"{subject(len(self.values), 'frame', 'needs')} {len(self.values) + 1} boundaries, "
                f"not {self.ticks.size}."
            )
        check_order(self.ticks[:-1], self.ticks[1:])


class ChecksummedClip(ClipScores):
    """The scores of a clip with their checksum, which the core has just computed."""

    __slots__ = ("checksum",)

    checksum: int

    @classmethod
    def of(cls, values: ScoreArray, ticks: Ticks, checksum: int) -> ChecksummedClip:
        """Make the scores of a clip from arrays that are known to be valid."""
        clip = cls.__new__(cls)
        clip.values, clip.ticks, clip.checksum = values, ticks, checksum
        return clip


def refuse_nans(name: str, clip: ClipScores, classes: Sequence[str]) -> None:
    """Refuse the scores of a clip if some are NaN, and list them."""
    nans = np.isnan(clip.values)
    if nans.any():
        frames = [f"class {classes[c]}, frame {frame}" for frame, c in np.argwhere(nans)]
        raise SedscopeError(
            f"clip {name}: {subject(len(frames), 'score', 'is')} not a number (NaN): {listing(frames)}."
        )


def as_scores(values: ArrayLike) -> ScoreArray:
    """Return float32 and float64 arrays unchanged, widen what fits exactly, and refuse the rest."""
    refuse_masked(values, "scores")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise SedscopeError(f"Scores must be an array of frames × classes: {error}") from None
    except (TypeError, RuntimeError) as error:  # a tensor without values of its own
        raise SedscopeError(
            f"NumPy cannot read the scores: {error}. Convert them first; for a tensor of PyTorch, that is "
            "tensor.detach().cpu().float().numpy()."
        ) from None
    if array.dtype in (np.float32, np.float64):
        # the core steps through arrays by whole numbers of items
        odd = any(stride % array.itemsize for stride in array.strides) or not array.flags.aligned
        return array.copy() if odd else array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "biu" and (
        array.dtype.itemsize < 8 or not array.size or max(-int(array.min()), int(array.max())) <= 2**53
    ):
        return array.astype(np.float64)
    raise SedscopeError(f"Scores must be float32 or float64, not {array.dtype}. Convert them first.")


def check_shape(values: ScoreArray, classes: int | None = None) -> None:
    """Refuse an array that is not (frames × classes), or that has another number of classes."""
    if values.ndim != 2:
        raise SedscopeError(f"Scores must be frames × classes, not an array of shape {values.shape}.")
    if classes is not None and values.shape[1] != classes:
        raise SedscopeError(
            f"There {'is' if values.shape[1] == 1 else 'are'} {counted(values.shape[1], 'column')} for "
            f"{counted(classes, 'class')}."
        )


Grid: TypeAlias = Callable[[str, int], Ticks]
"""Takes a clip and its number of frames, and returns the frame boundaries."""


def frame_grid(frame: float | None, edges: ArrayLike | Mapping[str, ArrayLike] | None) -> Grid:
    """Return a function that gives the frame boundaries of a clip."""
    if (frame is None) == (edges is None):
        raise SedscopeError("Give either frame= (the frame length) or edges= (the frame boundaries).")
    if frame is not None:
        try:
            length = float(frame)
            to_ticks(length)
        except (TypeError, ValueError):
            length = 0
        if not length >= 1e-6:
            raise SedscopeError(f"frame={frame!r} must be a number of seconds, at least 1e-6.")
        return lambda _, frames: frame_ticks(frames, length)
    if isinstance(edges, Mapping):
        edges_by_clip = {clip: edges[name] for name, clip in clip_ids(edges, "edges").items()}

        def clip_boundaries(name: str, _: int) -> Ticks:
            if clip_id(name) not in edges_by_clip:
                raise SedscopeError("edges= has no boundaries for it.")
            return boundary_ticks(edges_by_clip[clip_id(name)])

        return clip_boundaries
    assert edges is not None
    ticks = boundary_ticks(edges)
    return lambda _name, _frames: ticks


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
            with located(f"piece {number}, from frame {frames} on"):
                piece = as_scores(values)
                check_shape(piece, classes)
                if len(piece) == 0:
                    continue
                if dtype not in (None, piece.dtype):
                    raise SedscopeError(f"{piece.dtype} follows {dtype}. All pieces must have one type.")
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
