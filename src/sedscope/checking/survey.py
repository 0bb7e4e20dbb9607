"""One look at all scores: what is in them, without judging."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..counting.clip_reader import read_each
from ..counting.threads import thread_count
from ..data.recordings import ClipPieces
from ..data.scores import ClipScores, Scores
from ..errors import SedscopeError

_NAMED_NANS = 1000


@dataclass
class Survey:
    """What all clips together look like."""

    classes: Sequence[str]
    whole_clips: bool
    """Whether the last boundary of a clip's scores can stand for its end."""
    failures: list[SedscopeError] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    """The last boundary of each clip, in microseconds."""
    frames: dict[str, int] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    """Clips without frames."""
    types: set[str] = field(default_factory=set)
    grids: dict[int, list[str]] = field(default_factory=dict)
    """Clips by the usual length of their frames, in microseconds."""
    nans: list[str] = field(default_factory=list)
    nan_count: int = 0
    _digests: dict[bytes, list[str]] = field(default_factory=dict)
    _lowest: NDArray[np.float64] | None = None
    _highest: NDArray[np.float64] | None = None

    @property
    def never(self) -> list[str]:
        """Classes that are never scored above ``-inf``."""
        if self._highest is None:
            return []
        return [self.classes[c] for c in np.flatnonzero(self._highest == -np.inf).tolist()]

    @property
    def constant(self) -> list[str]:
        """Classes with one score in all frames of all clips, other than ``-inf``."""
        if self._highest is None or self._lowest is None or sum(self.frames.values()) < 2:
            return []
        same = (self._highest == self._lowest) & (self._highest > -np.inf)
        return [self.classes[c] for c in np.flatnonzero(same).tolist()]

    @property
    def identical(self) -> list[list[str]]:
        """Groups of clips that have the same scores, which vary over time."""
        return [clips for clips in self._digests.values() if len(clips) > 1]

    def look_at(self, clip: str, scores: ClipScores) -> None:
        """Take in one clip."""
        values = scores.values
        self.ends[clip] = int(scores.ticks[-1])
        self.frames[clip] = len(values)
        self.types.add(values.dtype.name)
        if not len(values):
            if self.whole_clips:
                self.empty.append(clip)
            return
        wrong = np.argwhere(np.isnan(values))
        self.nan_count += len(wrong)
        room = _NAMED_NANS - len(self.nans)
        self.nans += [f"clip {clip}, class {self.classes[c]}, frame {f}" for f, c in wrong[:room]]
        lowest, highest = values.min(axis=0), values.max(axis=0)
        if self.whole_clips:
            self.grids.setdefault(_usual(np.diff(scores.ticks)), []).append(clip)
            if np.any(lowest < highest):
                digest = hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()
                self._digests.setdefault(digest, []).append(clip)
        self._lowest = lowest if self._lowest is None else np.fmin(self._lowest, lowest)
        self._highest = highest if self._highest is None else np.fmax(self._highest, highest)


def survey(scores: Scores, threads: int | None = None) -> Survey:
    """Look at all clips; those that cannot be read are noted."""
    found = Survey(scores.classes, scores.whole_clips)
    clips = list(scores)
    for clip, loaded in zip(clips, read_each(scores, clips, thread_count(threads)), strict=True):
        if isinstance(loaded, SedscopeError):
            found.failures.append(loaded)
        elif isinstance(loaded, ClipPieces):
            found.failures.append(SedscopeError(f"clip {clip}: it comes in pieces: not looked at"))
        else:
            found.look_at(clip, loaded)
    return found


def _usual(lengths: NDArray[np.int64]) -> int:
    """The length of most frames; rounding to microseconds makes no difference."""
    return round(float(np.median(lengths)) / 10) * 10
