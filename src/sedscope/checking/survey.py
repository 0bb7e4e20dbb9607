"""One pass over all scores that records what they contain, without judging it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..counting.clip_reader import read_each, thread_count
from ..data.arrays import IntArray, ScoreArray
from ..data.clip_events import ClipEvents, EventList
from ..data.clip_scores import ClipPieces
from ..data.scores import ClipScores, Scores
from ..data.thresholds import score_range
from ..data.times import Ticks
from ..errors import SedscopeError

_NAN_LIMIT = 1000  # locations of NaN that are recorded


@dataclass
class Survey:
    """What the scores of all clips contain."""

    classes: Sequence[str]
    whole_clips: bool
    """Whether the last frame boundary of a clip is the end of the clip."""
    failures: list[SedscopeError] = field(default_factory=list)
    """Why some clips could not be read."""
    ends: dict[str, int] = field(default_factory=dict)
    """The last frame boundary of each clip, in microseconds."""
    frames: dict[str, int] = field(default_factory=dict)
    """The number of frames of each clip."""
    empty_clips: list[str] = field(default_factory=list)
    """Clips without frames."""
    types: set[str] = field(default_factory=set)
    """The number types of the scores, such as ``float32``."""
    clips_by_frame: dict[int, list[str]] = field(default_factory=dict)
    """Clips by their typical frame length, in microseconds."""
    nan_locations: list[str] = field(default_factory=list)
    """Where the first NaN are, as ``file:line: message`` if the scores come from tables of text."""
    frame_locations: Callable[[str], Sequence[str] | None] = lambda clip: None
    """Says where the scores of each frame of a clip are."""
    compared: Collection[str] = ()
    """Clips whose scores are kept, to be compared with references."""
    kept: dict[str, ClipScores] = field(default_factory=dict)
    """Of these, the clips with frames and without NaN."""
    grids: dict[str, Ticks] = field(default_factory=dict)
    """The frame boundaries of each clip; of a list of detections, the extents."""
    low: float = np.inf
    """The lowest finite score; ``inf`` if there is none."""
    high: float = -np.inf
    """The highest finite score."""
    events: int = 0
    """The number of scored events that are kept as they are."""
    nan_count: int = 0
    nans_in_files: bool = False
    """Whether the locations of NaN are lines of files."""
    _clips_by_digest: dict[bytes, list[str]] = field(default_factory=dict)
    _lowest: ScoreArray | None = None
    _highest: ScoreArray | None = None

    @property
    def unscored_classes(self) -> list[str]:
        """Classes whose scores are ``-inf`` everywhere."""
        if self._highest is None:
            return []
        return [self.classes[c] for c in np.flatnonzero(self._highest == -np.inf).tolist()]

    @property
    def constant_classes(self) -> list[str]:
        """Classes with the same score in all frames of all clips, other than ``-inf``."""
        if self._highest is None or self._lowest is None or sum(self.frames.values()) < 2:
            return []
        constant = (self._highest == self._lowest) & (self._highest > -np.inf)
        return [self.classes[c] for c in np.flatnonzero(constant).tolist()]

    @property
    def identical_clips(self) -> list[list[str]]:
        """Groups of clips with identical scores. Clips whose scores are constant do not count."""
        return [clips for clips in self._clips_by_digest.values() if len(clips) > 1]

    def add_clip(self, clip: str, scores: ClipScores) -> None:
        """Record the scores of one clip."""
        values = scores.values
        self.ends[clip] = int(scores.ticks[-1])
        self.frames[clip] = len(values)
        self.types.add(values.dtype.name)
        if not len(values):
            if self.whole_clips:
                self.empty_clips.append(clip)
            return
        lowest, highest = self._add_values(clip, values, 0)
        if clip in self.compared and not np.isnan(lowest).any():
            self.kept[clip] = scores
        if self.whole_clips:
            self.clips_by_frame.setdefault(_typical_length(np.diff(scores.ticks)), []).append(clip)
            if np.any(lowest < highest):
                digest = hashlib.blake2b(np.ascontiguousarray(values).data, digest_size=16).digest()
                self._clips_by_digest.setdefault(digest, []).append(clip)

    def add_pieces(self, clip: str, recording: ClipPieces) -> None:
        """Record the scores of one clip that comes in pieces."""
        self.ends[clip] = int(recording.ticks[-1])
        self.frames[clip] = len(recording.ticks) - 1
        if not self.frames[clip]:
            self.empty_clips.append(clip)
            return
        self.clips_by_frame.setdefault(_typical_length(np.diff(recording.ticks)), []).append(clip)
        frame = 0
        for piece in recording.pieces(len(self.classes)):
            self.types.add(piece.dtype.name)
            if len(piece):
                self._add_values(clip, piece, frame)
            frame += len(piece)

    def _add_values(self, clip: str, values: ScoreArray, frame: int) -> tuple[ScoreArray, ScoreArray]:
        """Record scores of a clip, from a frame on. Return the lowest and highest of each class."""
        nans = np.argwhere(np.isnan(values))
        self.nan_count += len(nans)
        room = _NAN_LIMIT - len(self.nan_locations)
        if len(nans) and room > 0:
            where = self.frame_locations(clip)
            self.nans_in_files = where is not None
            self.nan_locations += [
                f"clip {clip}, class {self.classes[c]}, frame {frame + i}"
                if where is None
                else f"{where[frame + i]}: the score of {self.classes[c]} is NaN"
                for i, c in nans[:room].tolist()
            ]
        low, high = score_range([values])
        self.low, self.high = min(self.low, low), max(self.high, high)
        lowest, highest = values.min(axis=0), values.max(axis=0)
        self._lowest = lowest if self._lowest is None else np.fmin(self._lowest, lowest)
        self._highest = highest if self._highest is None else np.fmax(self._highest, highest)
        return lowest, highest


def survey_scores(scores: Scores, compared: Collection[str] = (), threads: int | None = None) -> Survey:
    """Read all clips once and record what their scores contain, or why a clip cannot be read.

    ``compared``: clips whose scores are kept.
    """
    survey = Survey(
        scores.classes,
        scores.whole_clips,
        frame_locations=scores._frame_locations,
        compared=frozenset(compared),
    )
    clips = list(scores)
    for clip, loaded in zip(clips, read_each(scores, clips, thread_count(threads)), strict=True):
        if isinstance(loaded, SedscopeError):
            survey.failures.append(loaded)
            continue
        if isinstance(loaded, ClipEvents):
            survey.events += len(loaded.times)
            survey.grids[clip] = EventList.joined([loaded]).extents()[0]
            continue
        survey.grids[clip] = loaded.ticks
        if isinstance(loaded, ClipPieces):
            try:
                survey.add_pieces(clip, loaded)
            except SedscopeError as error:
                survey.failures.append(SedscopeError(f"clip {clip}: {error}"))
        else:
            survey.add_clip(clip, loaded)
    return survey


def _typical_length(lengths: IntArray) -> int:
    """Return the median frame length in microseconds, rounded to 10 so that rounding errors do not matter."""
    return round(float(np.median(lengths)) / 10) * 10
