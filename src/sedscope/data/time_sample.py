"""A sample of the clips, to see whether their scores and references fit in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .alignment import Alignment
from .clip_events import ClipEvents
from .recordings import ClipPieces
from .score_arrays import ClipScores
from .scores import Scores
from .time_fit import FEWEST_CLIPS, Tracks, fits_well, time_fit_note

_CLIPS = 40
_ROOM = 2**26  # bytes of scores that are kept


class TimeSample:
    """Some of the clips with references, evenly spaced.

    Scores in memory are looked at there. Others are kept while the pass reads them, so that no clip is read
    for this. Clips that the pass does not read in this process are left out: those that a cluster reads, and
    those whose deltas are in a checkpoint.
    """

    def __init__(self, alignment: Alignment) -> None:
        references = alignment.counted()
        with_references = np.flatnonzero(np.diff(references.starts))
        number = min(_CLIPS, len(with_references))
        evenly_spaced = np.linspace(0, len(with_references) - 1, number).astype(np.intp)
        self._sample = references.choose(with_references[evenly_spaced])
        self.alignment = alignment
        """The alignment for the pass."""
        if number >= FEWEST_CLIPS and not alignment.scores.in_memory:
            watched = _WatchedScores(alignment.scores, self._sample.clips)
            self.alignment = replace(alignment, scores=watched)

    def notes(self) -> list[str]:
        """Note another unit or origin of times that fits much better. Call it after the pass."""
        number = len(self._sample.clips)
        if number < FEWEST_CLIPS:
            return []
        few = self._sample.choose(np.linspace(0, number - 1, FEWEST_CLIPS).astype(np.intp))
        return [] if fits_well(self._tracks(few)) else time_fit_note(self._tracks(self._sample))

    def _tracks(self, sample: Alignment) -> Tracks:
        scores = self.alignment.scores
        kept = scores.kept if isinstance(scores, _WatchedScores) else scores
        clips = [kept.get(clip) for clip in sample.clips]
        columns = sample.columns[sample.labels]
        return Tracks.of(clips, sample.events, sample.event_clips, columns)


class _WatchedScores(Scores):
    """The same scores. Some of the clips are kept when they are read, while there is room for them."""

    def __init__(self, scores: Scores, clips: Iterable[str]) -> None:
        self.kept: dict[str, ClipScores] = {}
        self._scores = scores
        self._watched = frozenset(clips)
        self._room = _ROOM
        super().__init__(scores, self._read, **scores.facts())
        self.holds_events = scores.holds_events

    def __reduce__(self) -> tuple[type[_WatchedScores], tuple[Scores, tuple[()]]]:
        """Travel to another process without the clips that are kept here, and keep none there."""
        return _WatchedScores, (self._scores, ())

    def _read(self, clip: str) -> ClipScores | ClipPieces | ClipEvents:
        opened = self._scores.open(clip)
        if clip in self._watched:
            if isinstance(opened, ClipScores) and self._takes(opened.values.nbytes):
                self.kept[clip] = opened
            elif isinstance(opened, ClipEvents) and self._takes(
                16 * len(opened.times) * len(self.classes)
            ):
                self.kept[clip] = opened.highest(len(self.classes))
        return opened

    def _takes(self, size: int) -> bool:
        """Take some room. Return whether there was enough."""
        self._room -= size
        return self._room >= 0
