"""The scores of one clip: (frames × classes) values between frame boundaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, counted, listing, subject
from .arrays import FloatArray, ScoreArray
from .clip_ids import clip_id, clip_ids
from .times import Ticks, frame_ticks, to_seconds, to_ticks


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
        self.ticks = _boundaries(edges)
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
        clip.ticks = np.asarray(ticks)
        if clip.ticks.dtype.kind not in "iu":
            raise SedscopeError(f"Ticks must be whole numbers of microseconds, not {clip.ticks.dtype}.")
        clip.ticks = clip.ticks.astype(np.int64, copy=False)
        clip._check()
        return clip

    @classmethod
    def from_frames(cls, values: ArrayLike, onsets: ArrayLike, offsets: ArrayLike) -> ClipScores:
        """Make the scores of a clip from the onset and offset of each frame.

        A gap between two frames becomes a frame with the score ``-inf``.

        Parameters
        ----------
        values : array_like, shape (frames, classes)
            Scores.
        onsets, offsets : array_like, shape (frames,)
            Times in seconds, in order. Frames must not overlap.

        Returns
        -------
        ClipScores

        Examples
        --------
        >>> ClipScores.from_frames([[0.2], [0.9]], onsets=[0, 0.5], offsets=[0.5, 1]).edges.tolist()
        [0.0, 0.5, 1.0]
        """
        scores = as_scores(values)
        starts, ends = _frame_times(onsets), _frame_times(offsets)
        if scores.ndim != 2 or not (starts.shape == ends.shape == scores.shape[:1]):
            raise SedscopeError("Each frame needs one onset, one offset and one row of scores.")
        if len(starts) == 0:
            return cls.from_ticks(scores, np.zeros(1, np.int64))
        _check_frames(starts, ends)
        gaps = np.flatnonzero(starts[1:] > ends[:-1]) + 1
        if len(gaps):
            scores = np.insert(scores, gaps, -np.inf, axis=0)
        return cls.from_ticks(scores, np.concatenate([starts[:1], np.insert(ends, gaps, starts[gaps])]))

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
        if not np.all(self.ticks[1:] > self.ticks[:-1]):
            _check_frames(self.ticks[:-1], self.ticks[1:])


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
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise SedscopeError("Some scores are missing (masked). Fill them first.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise SedscopeError(f"Scores must be an array of frames × classes: {error}") from None
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
            return _boundaries(edges_by_clip[clip_id(name)])

        return clip_boundaries
    assert edges is not None
    ticks = _boundaries(edges)
    return lambda _name, _frames: ticks


def _boundaries(edges: ArrayLike) -> Ticks:
    try:
        return to_ticks(edges)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None


def _frame_times(seconds: ArrayLike) -> Ticks:
    """Convert the onsets or offsets of frames, and list those that are not finite."""
    try:
        values = np.asarray(seconds, np.float64)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        frames = [f"frame {row} ({values.flat[row]:g} s)" for row in wrong]
        raise SedscopeError(f"{subject(len(wrong), 'frame', 'has')} no finite time: {listing(frames)}.")
    return _boundaries(values)


def _check_frames(onsets: Ticks, offsets: Ticks) -> None:
    def refuse(wrong: NDArray[np.bool_], singular: str, plural: str) -> None:
        rows = np.flatnonzero(wrong)
        if len(rows):
            frames = [f"frame {row} ({onsets[row] / 1e6:g}–{offsets[row] / 1e6:g} s)" for row in rows]
            what = singular if len(rows) == 1 else plural
            raise SedscopeError(f"{counted(len(rows), 'frame')} {what}: {listing(frames)}.")

    refuse(
        offsets <= onsets,
        "ends before it begins or has no length",
        "end before they begin or have no length",
    )
    refuse(
        np.concatenate([[False], onsets[1:] < onsets[:-1]]),
        "is not in order of time",
        "are not in order of time",
    )
    refuse(
        np.concatenate([[False], onsets[1:] < offsets[:-1]]),
        "overlaps the frame before it",
        "overlap the frame before them",
    )
