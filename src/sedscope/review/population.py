"""What a review is about: the detections of each class, best first, and windows without any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.clip_events import ClipEvents
from ..data.clips import clip_id
from ..data.scores import Scores
from ..data.thresholds import detect
from ..data.times import Ticks, to_ticks
from ..errors import SedscopeError, counted, listing

LOWEST_SCORE = 0.1
"""What frames must exceed to be detected, unless the user says otherwise."""
WINDOW = 3.0
"""The length of windows in seconds, unless the detections are windows of one length."""
_MOST_WINDOWS_AT_ONCE = 30
"""How many windows of a system may share an instant. Onsets with a smaller step are those of events."""


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
    """Windows of all clips, from the beginning of each clip.

    If the detections are windows, these are all windows that the system judged, which may overlap. Else, each
    window begins where the one before ends.
    """

    clips: list[str]
    numbers: IntArray
    """Of each clip, how many windows it has."""
    length: int
    """In microseconds."""
    hop: int
    """From the onset of a window to the next one, in microseconds."""
    of_system: bool
    """Whether the detections are some of these windows."""

    @classmethod
    def of(cls, scores: Scores, durations: Mapping[str, float] | None, length: float | None) -> Windows:
        """Cut clips into windows. ``length``: in seconds; by default that of the detections."""
        if length is not None and not length > 0:
            raise SedscopeError(f"window={length} is not valid. Give a length in seconds above 0.")
        onsets, own, hop = _system_windows(scores)
        ticks = (own or int(to_ticks(WINDOW))) if length is None else int(to_ticks(length))
        of_system = hop > 0 and ticks == own
        hop = hop if of_system else ticks
        ends = _ends(scores, durations)
        last = {clip: int(onsets[clip].max(initial=-hop)) // hop if of_system else -1 for clip in onsets}
        numbers = [max((end - ticks) // hop, last.get(clip, -1), -1) + 1 for clip, end in ends.items()]
        return cls([*ends], np.array(numbers, np.int64), ticks, hop, of_system)

    def __len__(self) -> int:
        return int(self.numbers.sum())

    @cached_property
    def _starts(self) -> dict[str, int]:
        """The number of the first window of each clip."""
        return dict(zip(self.clips, (np.cumsum(self.numbers) - self.numbers).tolist(), strict=True))

    def silent(self, detections: ClassDetections) -> IntArray:
        """Return the numbers of the windows that are not detections. Those of no system overlap none."""
        starts = self._starts
        free = np.ones(len(self), bool)
        first = detections.times[:, 0] // self.hop
        last = first + 1
        if not self.of_system:
            last = np.maximum(-(-detections.times[:, 1] // self.hop), last)
        sizes = dict(zip(self.clips, self.numbers.tolist(), strict=True))
        for clip, a, b in zip(detections.clips, first.tolist(), last.tolist(), strict=True):
            free[starts[clip] + max(a, 0) : starts[clip] + min(b, sizes[clip])] = False
        return np.flatnonzero(free)

    def number(self, clip: str, onset: int, offset: int) -> int:
        """Return the number of a window, or -1 if it is none."""
        number, rest = divmod(onset, self.hop)
        is_window = clip in self._starts and not rest and offset - onset == self.length
        return self._starts[clip] + number if is_window else -1

    def place(self, number: int) -> tuple[str, int, int]:
        """Return clip, onset and offset of a window, in microseconds."""
        ends = np.cumsum(self.numbers)
        clip = int(np.searchsorted(ends, number, side="right"))
        first = (number - int(ends[clip] - self.numbers[clip])) * self.hop
        return self.clips[clip], first, first + self.length


def _system_windows(scores: Scores) -> tuple[dict[str, IntArray], int, int]:
    """Return the onsets of the detections by clip, and length and hop of the windows that they are.

    In microseconds; the length is 0 if the detections have several, the hop if their onsets fit no hop.
    """
    if not scores.holds_events:
        return {}, 0, 0
    opened = {clip: scores.open(clip) for clip in scores}
    times = {clip: events.times for clip, events in opened.items() if isinstance(events, ClipEvents)}
    onsets = {clip: of_clip[:, 0] for clip, of_clip in times.items()}
    lengths = np.unique(np.concatenate([of_clip[:, 1] - of_clip[:, 0] for of_clip in times.values()]))
    if len(lengths) != 1 or lengths[0] <= 0:
        return onsets, 0, 0
    length = int(lengths[0])
    hop = int(np.gcd.reduce(np.concatenate([*onsets.values()])))
    hop = hop if 0 < hop <= length else math.gcd(hop, length)
    return onsets, length, hop if hop * _MOST_WINDOWS_AT_ONCE >= length else 0


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
