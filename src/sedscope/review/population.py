"""What a review is about: the detections of each class, best first, and windows without any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.clip_events import ClipEvents, EventList
from ..data.clips import clip_id
from ..data.scores import Scores
from ..data.thresholds import detect
from ..data.times import Ticks, to_ticks
from ..errors import SedscopeError, counted, listing

LOWEST_SCORE = 0.1
"""What frames must exceed to be detected, unless the user says otherwise."""
WINDOW = 3.0
"""The length of windows in seconds, unless the detections are windows of one length."""


@dataclass(frozen=True, eq=False)
class ClassDetections:
    """The detections of one class, the highest score first; of equal ones, by clip and onset."""

    clips: list[str]
    times: Ticks
    """(detections × 2) onsets and offsets in microseconds."""
    scores: FloatArray

    def __len__(self) -> int:
        return len(self.clips)

    def at_least(self, thresholds: FloatArray) -> IntArray:
        """Return how many detections have a score of at least each threshold."""
        return np.searchsorted(-self.scores, -thresholds, side="right")


def detections_to_review(scores: Scores, above: float | None) -> dict[str, ClassDetections]:
    """Return the detections of each class, also of classes without any.

    ``above``: what their score must exceed; by default, frames 0.1 and listed events nothing.
    """
    if above is None:
        above = -np.inf if scores.holds_events else LOWEST_SCORE
    columns: dict[str, list[tuple[float, str, float, float]]] = {label: [] for label in scores.classes}
    for clip, events in detect(scores, above, confidences=True).items():
        for onset, offset, label, score in events:
            columns[label].append((-score, clip, onset, offset))
    by_class = {}
    for label, rows in columns.items():
        rows.sort()
        seconds = np.array([row[2:] for row in rows], np.float64).reshape(-1, 2)
        peaks = -np.array([row[0] for row in rows], np.float64)
        by_class[label] = ClassDetections([row[1] for row in rows], to_ticks(seconds), peaks)
        _refuse_unreviewable(label, by_class[label])
    return by_class


def _refuse_unreviewable(label: str, detections: ClassDetections) -> None:
    """Refuse detections that cannot be told apart, and scores that cannot be ordered."""
    if not np.isfinite(detections.scores).all():
        raise SedscopeError(f"Some detections of {label} have infinite scores, so they have no strata.")
    keys = [*zip(detections.clips, *detections.times.T.tolist(), strict=True)]
    if len({*keys}) < len(keys):
        twice = sorted({str(key[0]) for key in keys if keys.count(key) > 1})
        raise SedscopeError(
            f"{label}: {counted(len(keys) - len({*keys}), 'detection')} occur twice, with the same times, in "
            f"{listing(twice)}. Remove one of them."
        )


@dataclass(frozen=True, eq=False)
class Windows:
    """All whole windows of all clips, one after the other from the beginning of each clip."""

    clips: list[str]
    numbers: IntArray
    """Of each clip, how many windows it has."""
    length: int
    """In microseconds."""

    @classmethod
    def of(cls, scores: Scores, durations: Mapping[str, float] | None, length: float | None) -> Windows:
        """Cut clips into windows. ``length``: in seconds; by default that of the detections."""
        if length is not None and not length > 0:
            raise SedscopeError(f"window={length} is not valid. Give a length in seconds above 0.")
        ticks = int(to_ticks(window_length(scores) if length is None else length))
        ends = _ends(scores, durations)
        return cls([*ends], np.array([end // ticks for end in ends.values()], np.int64), ticks)

    def __len__(self) -> int:
        return int(self.numbers.sum())

    def silent(self, detections: ClassDetections) -> IntArray:
        """Return the numbers of the windows that overlap no detection."""
        starts = dict(zip(self.clips, (np.cumsum(self.numbers) - self.numbers).tolist(), strict=True))
        free = np.ones(len(self), bool)
        first = detections.times[:, 0] // self.length
        last = np.maximum(-(-detections.times[:, 1] // self.length), first + 1)
        sizes = dict(zip(self.clips, self.numbers.tolist(), strict=True))
        for clip, a, b in zip(detections.clips, first.tolist(), last.tolist(), strict=True):
            free[starts[clip] + max(a, 0) : starts[clip] + min(b, sizes[clip])] = False
        return np.flatnonzero(free)

    def place(self, number: int) -> tuple[str, int, int]:
        """Return clip, onset and offset of a window, in microseconds."""
        ends = np.cumsum(self.numbers)
        clip = int(np.searchsorted(ends, number, side="right"))
        first = (number - int(ends[clip] - self.numbers[clip])) * self.length
        return self.clips[clip], first, first + self.length


def window_length(scores: Scores) -> float:
    """Return the length of the detections in seconds if they are windows of one length, else 3."""
    if not scores.holds_events:
        return WINDOW
    opened = map(scores.open, scores)
    times = EventList.joined([clip for clip in opened if isinstance(clip, ClipEvents)]).times
    lengths = np.unique(times[:, 1] - times[:, 0])
    return float(lengths[0]) / 1e6 if len(lengths) == 1 and lengths[0] > 0 else WINDOW


def _ends(scores: Scores, durations: Mapping[str, float] | None) -> dict[str, int]:
    """Return the duration of each clip in microseconds."""
    if durations is not None:
        names = {clip_id(clip): clip for clip in scores}
        ends = {clip_id(clip): int(to_ticks(seconds)) for clip, seconds in durations.items()}
        missing = [clip for own_id, clip in names.items() if own_id not in ends]
        if missing:
            raise SedscopeError(
                f"The durations lack {counted(len(missing), 'clip')}: {listing(missing)}."
            )
        return {names.get(own_id, own_id): end for own_id, end in ends.items()}
    if scores.holds_events:
        raise SedscopeError(
            "Windows without a detection need to know how long each clip is. Give `durations=`."
        )
    return {clip: int(scores.open(clip).ticks[-1]) for clip in scores}
