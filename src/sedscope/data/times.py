"""Times are integers: seconds become microseconds (ticks) on arrival, and so do frame boundaries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, SedscopeWarning, agreeing, counted, listing, subject
from .arrays import FloatArray, refuse_masked
from .choices import Gaps, refuse_beyond_memory

Ticks = NDArray[np.int64]

TICKS_PER_SECOND = 1_000_000
SECONDS_PER_UNIT = {"second": 1, "minute": 60, "hour": 3600}
LONGEST_SECONDS = 10 * 365 * 24 * 3600
"""Times, and lengths of collars, segments and windows, are at most ten years, so that no sum or
difference of a few of them overflows."""
LONGEST_TICKS = LONGEST_SECONDS * TICKS_PER_SECOND
_BLOCK_FRAMES = 2**18


def to_ticks(seconds: ArrayLike) -> Ticks:
    """Convert seconds to microseconds, rounded to the nearest. Refuse times beyond ten years.

    >>> to_ticks([0.0, 0.448, 10])
    array([       0,   448000, 10000000])
    """
    refuse_masked(seconds, "times")
    values = np.asarray(seconds)
    if values.dtype.kind == "c":
        raise ValueError("Times must be real numbers of seconds, not complex ones.")
    values = values.astype(np.float64, copy=False)
    wrong = np.flatnonzero(~(np.abs(values) <= LONGEST_SECONDS))  # also finds NaN
    if len(wrong):
        examples = ", ".join(f"{values.flat[i]:g} at {i}" for i in wrong[:5])
        raise ValueError(f"Times must be finite numbers of seconds within ten years, not {examples}.")
    return np.rint(values * TICKS_PER_SECOND).astype(np.int64)


def check_ticks(ticks: Ticks) -> None:
    """Refuse microseconds beyond ten years."""
    if ticks.size and (int(ticks.min()) < -LONGEST_TICKS or int(ticks.max()) > LONGEST_TICKS):
        wrong = np.flatnonzero((ticks < -LONGEST_TICKS) | (ticks > LONGEST_TICKS))
        examples = [f"{ticks.flat[i]} at {i}" for i in wrong[:6]]
        raise SedscopeError(
            f"{subject(len(wrong), 'time', 'is')} more than ten years from 0: "
            f"{listing(examples, total=len(wrong))} (in microseconds). The data may be damaged."
        )


def to_seconds(ticks: Ticks) -> FloatArray:
    """Convert microseconds to seconds."""
    return ticks / TICKS_PER_SECOND


def lies_within(onsets: Ticks, offsets: Ticks, start: int, end: int) -> NDArray[np.bool_]:
    """Return which events share time with ``[start, end)``, or are points in time inside it."""
    return (onsets < end) & ((offsets > start) | (onsets >= start))


def frame_ticks(frames: int, frame: float) -> Ticks:
    """Return the boundaries of frames of equal length, starting at 0, as a read-only array.

    Short arrays are shared between callers, because most clips of a set have the same boundaries.
    """
    if not frames * frame <= LONGEST_SECONDS:
        raise SedscopeError(f"{counted(frames, 'frame')} of {frame:g} s take more than ten years.")
    refuse_beyond_memory(
        2 * 8 * frames,  # there must be room for the scores, too
        f"Boundaries and scores of {counted(frames, 'frame')} need more than",
        "Use longer frames, or cut the recording into several clips.",
    )
    if frames > _BLOCK_FRAMES:
        return _frame_ticks(frames, frame)
    return _shared_frame_ticks(frames, frame)


def _frame_ticks(frames: int, frame: float) -> Ticks:
    ticks = np.empty(frames + 1, np.int64)
    for first in range(0, frames + 1, _BLOCK_FRAMES):  # in blocks, to keep temporary arrays small
        last = min(first + _BLOCK_FRAMES, frames + 1)
        ticks[first:last] = to_ticks(np.arange(first, last) * frame)
    ticks.flags.writeable = False
    return ticks


_shared_frame_ticks = lru_cache(maxsize=64)(_frame_ticks)

_SAME_SHARE = 100  # times that differ by at most 1/100 of a frame are the same boundary
_ROUNDED_SHARE = 4  # rounded times, by at most 1/4 of a frame
_NAMED = 1000  # frames that an error names
_FLOAT32_STEPS = 2**22  # a float32 in [2^n, 2^(n+1)) has steps of 2^(n-23); two of them are t / 2^22


class FrameError(SedscopeError):
    """Some frames are not usable."""

    def __init__(self, message: str, problems: Iterable[tuple[int, str]] = (), advice: str = "") -> None:
        """``problems``: frames by their number, and what is wrong with each."""
        super().__init__(message, advice=advice)
        self.problems = tuple(problems)


def number_frame(frame: int) -> str:
    """Name a frame by its number."""
    return f"frame {frame}"


def frame_times(seconds: ArrayLike, name: Callable[[int], str] = number_frame) -> Ticks:
    """Convert the onsets or offsets of frames, and list those that are not finite."""
    refuse_masked(seconds, "times")
    try:
        values = np.asarray(seconds, np.float64)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None
    if not np.isfinite(values).all():
        wrong = np.flatnonzero(~np.isfinite(values))
        frames = [f"{name(row)} ({values.flat[row]:g} s)" for row in wrong.tolist()]
        raise FrameError(
            f"{subject(len(wrong), 'frame', 'has')} no finite time: {listing(frames)}.",
            [(row, f"the frame has the time {values.flat[row]:g} s") for row in wrong.tolist()],
        )
    return boundary_ticks(values)


def boundary_ticks(seconds: ArrayLike) -> Ticks:
    """Convert frame boundaries to microseconds."""
    try:
        return to_ticks(seconds)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None


def join_frames(
    onsets: Ticks, offsets: Ticks, gaps: Gaps, name: Callable[[int], str] = number_frame
) -> tuple[Ticks, NDArray[np.intp]]:
    """Return the boundaries of frames, and the frames before which there is a gap.

    Where one frame ends within rounding errors of the onset of the next one, this onset is the
    boundary of both. The boundaries include both ends of each gap. Frames that overlap by more are
    refused, and gaps as well unless they are ``"silent"``.
    """
    nowhere = np.empty(0, np.intp)
    if np.array_equal(onsets[1:], offsets[:-1]):
        check_order(onsets, offsets, name)
        return np.concatenate([onsets, offsets[-1:]]), nowhere
    refuse_frames(onsets, offsets, offsets <= onsets, _NO_LENGTH, name)
    refuse_frames(onsets, offsets, _after_first(onsets[1:] < onsets[:-1]), _UNSORTED, name)
    steps = onsets[1:] - offsets[:-1]
    rounding = rounding_errors(onsets, offsets)
    refuse_frames(onsets, offsets, _after_first(steps < -rounding), _OVERLAP, name)
    before = np.flatnonzero(steps > rounding) + 1
    if len(before) and gaps == "error":
        spans = {
            row: f"({offsets[row - 1] / 1e6:.10g}–{onsets[row] / 1e6:.10g} s)"
            for row in before[:_NAMED].tolist()
        }
        where = [f"before {name(row)} {span}" for row, span in islice(spans.items(), 5)]
        advice = (
            "If rows are missing, add them. To take gaps as frames in which nothing is active, use "
            "`gaps='silent'`."
        )
        raise FrameError(
            f"There {'is' if len(before) == 1 else 'are'} {counted(len(before), 'gap')} between frames: "
            f"{listing(where, total=len(before))}. {advice}",
            [(row, f"there is a gap before this frame {span}") for row, span in spans.items()],
            advice,
        )
    return np.concatenate([np.insert(onsets, before, offsets[before - 1]), offsets[-1:]]), before


def rounding_errors(onsets: Ticks, offsets: Ticks) -> NDArray[np.float64]:
    """Return how far apart the end of a frame and the onset of the next may be to count as one time.

    That is 1 % of the shorter of the two frames, or what rounding to microseconds or 32-bit floats may
    cause at that time, but never more than a quarter of the shorter frame.
    """
    lengths = offsets - onsets
    shorter = np.minimum(lengths[1:], lengths[:-1])
    rounding = np.maximum(1, np.abs(onsets[1:]) / _FLOAT32_STEPS)
    return np.maximum(shorter / _SAME_SHARE, np.minimum(rounding, shorter / _ROUNDED_SHARE))


_NO_LENGTH = "ends before (it begins or has|they begin or have) no length"
_UNSORTED = "is not in order of time"
_OVERLAP = "overlaps the frame before (it|them)"


def check_order(onsets: Ticks, offsets: Ticks, name: Callable[[int], str] = number_frame) -> None:
    """Refuse frames that touch but have no length or are not in order."""
    if not np.all(offsets > onsets):
        refuse_frames(onsets, offsets, offsets <= onsets, _NO_LENGTH, name)


def refuse_frames(
    onsets: Ticks, offsets: Ticks, wrong: NDArray[np.bool_], phrase: str, name: Callable[[int], str]
) -> None:
    """Refuse the frames that are marked as wrong, if there are any."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        spans = {
            row: f"({onsets[row] / 1e6:.10g}–{offsets[row] / 1e6:.10g} s)"
            for row in rows[:_NAMED].tolist()
        }
        frames = [f"{name(row)} {span}" for row, span in islice(spans.items(), 5)]
        raise FrameError(
            f"{subject(len(rows), 'frame', phrase)}: {listing(frames, total=len(rows))}.",
            [(row, f"the frame {span} {agreeing(1, phrase)}") for row, span in spans.items()],
        )


def _after_first(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.concatenate([[False], wrong])


_FEW_FRAMES, _LONG_FRAME = 10, 5  # frames, seconds


def warn_of_milliseconds(ticks: Ticks, where: str) -> None:
    """Warn of boundaries that are whole numbers far apart, as those in milliseconds are."""
    if len(ticks) <= _FEW_FRAMES:
        return
    frame = float(np.median(np.diff(ticks))) / TICKS_PER_SECOND
    if frame >= _LONG_FRAME and not np.any(ticks % TICKS_PER_SECOND):
        warnings.warn(
            f"{where}: frames are {frame:g} s long and all boundaries are whole numbers. Boundaries must be "
            "in seconds. If these are in milliseconds, divide them by 1000.",
            SedscopeWarning,
            stacklevel=2,
        )
