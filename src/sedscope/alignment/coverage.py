"""Coverage: whether the frames of the scores, and the reference events, span their clips.

Times in another unit, a wrong frame length or wrong durations make scores end long before or long after
their clips. Such scores can be evaluated, but the values mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import IntArray
from ..data.times import Ticks
from ..errors import SedscopeError, counted, listing, subject

_NOTED = 0.1  # the share of a clip that scores may lack or exceed without a word
_NOTED_OF_MOST = 0.03  # the same for most clips of a set: then it is no accident
_REFUSED = 2.0  # the factor beyond which a set is refused

_TOLERANCE = 10_000  # microseconds that never matter

_SQUEEZED = 50  # if all events end before this part of their clips, some times look wrong ...
MANY_EVENTS, MANY_CLIPS = 20, 10  # ... in at least this many events and clips

ACCEPT = "To evaluate them as they are, use `coverage='any'`."
UNLESS_TRIMMED = " unless they are cut off with `coverage='trim'`"
"""Advice in notes, which tasks leave out: they say themselves what is cut off."""
TRIM = "To cut scores to their clips, use `coverage='trim'`."
_FITS = 0.02  # how much the frame lengths that would fit may differ from clip to clip

_UNITS = {1000: "seconds and milliseconds", 60: "minutes and seconds", 1e6: "seconds and microseconds"}


def extents_of(grids: Sequence[Ticks]) -> Ticks:
    """Return (clips × 3) where the first frame begins, and where the last one begins and ends.

    All three are the same for a clip without frames.
    """
    numbers = np.fromiter(map(id, grids), np.uint64, len(grids))
    _, first, grid = np.unique(numbers, return_index=True, return_inverse=True)  # many clips share one
    extents = [
        (ticks.item(0), ticks.item(-2 if len(ticks) > 1 else 0), ticks.item(-1))
        for ticks in (grids[i] for i in first.tolist())
    ]
    return np.array(extents, np.int64).reshape(-1, 3)[grid]


def squeezed_references_note(
    offsets: Ticks, event_clips: NDArray[np.integer[Any]], durations: Ticks, *, stated: bool = True
) -> list[str]:
    """Note that all reference events lie at the very beginning of their clips, as times in minutes do.

    ``event_clips``: the clip of each event, as an index into ``durations``; a duration of 0 is not known.
    ``stated``: whether the durations are stated, or clips end with their scores.
    """
    of_events = durations[event_clips]
    if len(offsets) < MANY_EVENTS or not (_SQUEEZED * offsets <= of_events).all():
        return []
    clips = int(np.count_nonzero(np.bincount(event_clips)))
    if clips < MANY_CLIPS or not of_events.all():
        return []
    share = f"first {100 / _SQUEEZED:g} %"
    if stated:
        where = f"{share} of their {counted(clips, 'clip')}"
        advice = "Check that the times of the events and the durations of the clips are all in seconds"
    else:
        where = f"{share} of the scores of their {counted(clips, 'clip')}"
        advice = "Check that the times of the events and of the frames are all in seconds"
    return [f"All {counted(len(offsets), 'reference event')} lie in the {where}. {advice}."]


def late_ends_note(
    clips: Sequence[str], events: Ticks, event_clips: IntArray, extents: Ticks
) -> list[str]:
    """Note reference events that end more than a frame after the scores of their clip.

    ``events``: (events × 2) onsets and offsets; ``event_clips``: the clip of each. Events that begin after
    the last frame have a note of their own.
    """
    begin, end = extents[event_clips, 1], extents[event_clips, 2]
    late = np.flatnonzero((events[:, 1] > end + (end - begin)) & (events[:, 0] < end))
    if not len(late):
        return []
    first = late[0]
    onset, offset, last = events[first, 0] / 1e6, events[first, 1] / 1e6, end[first] / 1e6
    kept = "its clip and was kept" if len(late) == 1 else "their clips and were kept"
    return [
        f"{subject(len(late), 'reference event', 'ends')} after the scores of {kept} (first: clip "
        f"{clips[event_clips[first]]!r}, {onset:g}–{offset:g} s of {last:g} s)."
    ]


@dataclass(frozen=True, eq=False)
class CoveredClips:
    """How much of each clip its frames cover.

    ``whole_clips``: whether the scores should cover the clips. Lists of detections need not, but they
    must not go on after the clips either.
    """

    clips: Sequence[str]
    durations: Ticks
    extents: Ticks
    """As :func:`extents_of` returns them."""
    whole_clips: bool

    def refuse(self, advice: str = ACCEPT) -> None:
        """Raise an error if the scores of most clips, or of all clips together, cannot belong to them.

        ``advice``: what to do if they do.
        """
        problem = self.problem()
        if problem:
            raise SedscopeError(f"{problem} {advice}")

    def refuse_frames(self) -> None:
        """Raise an error if the frames of most clips are too short or too long, and say which would fit."""
        problem = self.frame_problem()
        if problem:
            raise SedscopeError(f"{problem} {ACCEPT}")

    def frame_problem(self) -> str | None:
        """Say that the frames of most clips are too short or too long, and which would fit; None if not.

        Only sets of many clips have this problem: in a small one it may be an accident.
        """
        short, long = self.short(), self.long()
        rows, what, trim = long, "go on more than 10 % beyond the end of their clips", f" {TRIM}"
        if len(short) > len(long):
            rows, what, trim = short, "cover less than 90 % of their clips", ""
        if len(self.clips) < MANY_CLIPS or len(rows) <= len(self.clips) / 2 or not self.whole_clips:
            return None
        advice = self._fitting_frames(rows) or " Check the frame length, and the durations of the clips."
        return (
            f"The scores of {len(rows)} of {counted(len(self.clips), 'clip')} {what}: "
            f"{listing(self._named(rows[:5]), total=len(rows))}.{advice}{trim}"
        )

    def _fitting_frames(self, rows: NDArray[np.intp]) -> str:
        """Say which frame length would fit some clips, if it is about the same for nearly all of them."""
        if not len(rows) or not self.whole_clips:
            return ""
        scale = self.durations[rows] / np.maximum(self.extents[rows, 2], 1)
        factor = float(np.median(scale))
        if (abs(scale / max(factor, 1e-9) - 1) < _FITS).mean() <= 1 - _NOTED:
            return ""
        frame = float(np.median((self.extents[:, 2] - self.extents[:, 1])[rows])) / 1e6
        return f" Their frames last {frame:.4g} s; frames of {frame * factor:.4g} s would fit."

    def problem(self) -> str | None:
        """Say why the scores cannot belong to the clips; None if they can."""
        judged = np.ones(len(self.clips), bool) if self.whole_clips else self._detected()
        covered, last = self._covered(), self._last_begin()
        too_long = judged & (last > _REFUSED * self.durations + _TOLERANCE)
        too_short = judged & (_REFUSED * covered + _TOLERANCE < self.durations) & self.whole_clips
        number, total = np.count_nonzero(judged), self.durations[judged].sum()
        tolerance = number * _TOLERANCE
        if last[judged].sum() > _REFUSED * total + tolerance or np.count_nonzero(too_long) > number / 2:
            rows, what = np.flatnonzero(too_long), "go on far beyond the end of their clips"
        elif (self.whole_clips and _REFUSED * covered.sum() + tolerance < total) or np.count_nonzero(
            too_short
        ) > number / 2:
            rows, what = np.flatnonzero(too_short), "cover less than half of their clips"
        else:
            return None
        things = "scores" if self.whole_clips else "detections"
        guess = self._unit_guess() or self._fitting_frames(rows)
        return (
            f"The {things} of {len(rows)} of {counted(int(number), 'clip')} {what}: "
            f"{listing(self._named(rows[:5]), total=len(rows))}.{guess} Check "
            f"the frame length and the times of the {things}, and the durations of the clips: all are in "
            "seconds."
        )

    def notes(self) -> list[str]:
        """Say which clips are covered badly."""
        return [f"{what}: {listing(where)}." if where else f"{what}." for what, where in self.findings()]

    def findings(self) -> list[tuple[str, list[str]]]:
        """Say what is odd, as sentences without full stop, each with the clips it is about."""
        findings: list[tuple[str, list[str]]] = []
        short, long = self.short(), self.long()
        things = "scores" if self.whole_clips else "detections"
        if len(short):
            what = f"The {things} of {counted(len(short), 'clip')} cover less than "
            what += f"{100 * (1 - _NOTED):.0f} % of the clip; nothing is detected in the rest"
            findings.append((what, self._named(short)))
        if len(long):
            what = f"The {things} of {counted(len(long), 'clip')} go on more than {100 * _NOTED:.0f} % "
            what += f"beyond the end of the clip; detections there count{UNLESS_TRIMMED}"
            findings.append((what, self._named(long)))
        findings += [(what, []) for what in self._squeezed()]
        if len(short) + len(long) <= len(self.clips) / 2:
            findings += [(what, []) for what in self._stretched()]
        return findings

    def _stretched(self) -> list[str]:
        """Note that the scores of most clips are too long or too short, if only by a little."""
        if not self.whole_clips:
            return []
        excess = self.extents[:, 2] - self.durations
        frames = self.extents[:, 2] - self.extents[:, 1]
        odd = (abs(excess) > frames + _TOLERANCE) & (abs(excess) > _NOTED_OF_MOST * self.durations)
        for rows, longer in ((odd & (excess > 0), "longer"), (odd & (excess < 0), "shorter")):
            if np.count_nonzero(rows) > len(self.clips) / 2:
                what = f"The scores of {np.count_nonzero(rows)} of {counted(len(self.clips), 'clip')} "
                begin = float(np.median(self.extents[rows, 0]))
                if abs(excess - self.extents[:, 0])[rows].mean() < abs(excess[rows]).mean() / 2:
                    side = "after" if begin > 0 else "before"
                    shift = f"{abs(begin) / 1e6:.3g} s"
                    return [
                        f"{what}begin and end about {shift} {side} their clip. Check where time 0 is"
                    ]
                percent = 100 * float(np.median(abs(excess[rows]) / self.durations[rows]))
                what += f"are {longer} than their clip, mostly by {percent:.2g} %"
                return [f"{what}. Check the frame length"]
        return []

    def _squeezed(self) -> list[str]:
        """Note that all detections of a list lie at the very beginning of their clips."""
        ends, detected = self.extents[:, 2], self._detected()
        number = int(np.count_nonzero(detected))
        if self.whole_clips or number < MANY_CLIPS:
            return []
        if not (_SQUEEZED * ends <= self.durations)[detected].all():
            return []
        return [
            f"All detections lie in the first {100 / _SQUEEZED:g} % of their {counted(number, 'clip')}. "
            "Check that the times of the detections and the durations of the clips are all in seconds"
        ]

    def short(self) -> NDArray[np.intp]:
        """Return the clips that lack more frames than one, and more than a tenth."""
        if not self.whole_clips:
            return np.empty(0, np.intp)
        frame = self.extents[:, 2] - self.extents[:, 1]
        lacking = self.durations - self._covered()
        return np.flatnonzero((lacking > _NOTED * self.durations) & (lacking > frame + _TOLERANCE))

    def long(self) -> NDArray[np.intp]:
        """Return the clips with frames that begin more than a tenth after the end."""
        return np.flatnonzero(self._last_begin() > (1 + _NOTED) * self.durations + _TOLERANCE)

    def _covered(self) -> Ticks:
        first, last = np.maximum(self.extents[:, 0], 0), np.minimum(self.extents[:, 2], self.durations)
        return np.maximum(last - first, 0)

    def _detected(self) -> NDArray[np.bool_]:
        """Return in which clips of a list something is detected, be it a single point in time."""
        return self.extents[:, 2] > np.minimum(self.extents[:, 0], 0)

    def _last_begin(self) -> Ticks:
        return self.extents[:, 1]

    def _named(self, rows: NDArray[np.intp]) -> list[str]:
        return [
            f"{self.clips[i]} ({self.extents[i, 0] / 1e6:g}–{self.extents[i, 2] / 1e6:g} s of "
            f"{self.durations[i] / 1e6:g} s)"
            for i in rows.tolist()
        ]

    def _unit_guess(self) -> str:
        """Say which units were mixed up, if the scores are longer or shorter by just such a factor."""
        has_frames = self.extents[:, 2] > 0
        if not self.whole_clips or not has_frames.any():
            return ""
        ratio = float(np.median(self.extents[has_frames, 2] / np.maximum(self.durations[has_frames], 1)))
        for factor, units in _UNITS.items():
            if 0.9 < ratio / factor < 1.1 or 0.9 < ratio * factor < 1.1:
                return f" They differ by a factor of {factor:g}, as between {units}."
        return ""
