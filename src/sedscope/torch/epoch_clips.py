"""The clips of an epoch so far: those that are held for a while, and the deltas of the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..alignment.coverage import MANY_CLIPS, MANY_EVENTS, squeezed_references_note
from ..counting.delta_files import pack_deltas
from ..counting.deltas import Deltas
from ..counting.request import Floor, Requests, without_references
from ..data.arrays import FloatArray, IntArray, ScoreArray, rounded_down
from ..data.times import Ticks
from ..postprocessing import PostProcessing
from .batch import Batch


@dataclass(frozen=True, eq=False)
class ClipDeltas:
    """The deltas of some clips for each criterion, and a checksum of each clip."""

    deltas: tuple[Deltas, ...]
    """One for each criterion, all of the same clips."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores and targets."""

    @property
    def clips(self) -> tuple[str, ...]:
        """The clips, in order."""
        return self.deltas[0].clips

    def of_clips(self, kept: NDArray[np.bool_]) -> ClipDeltas:
        """Keep only some of the clips."""
        if kept.all():
            return self
        return ClipDeltas(tuple(deltas.of_clips(kept) for deltas in self.deltas), self.digests[kept])

    def pack(self) -> NDArray[np.uint8]:
        """Return the deltas as bytes. The bytes of several of these can be concatenated."""
        return pack_deltas(self.deltas, self.digests)


@dataclass(frozen=True, eq=False)
class NewClips:
    """The clips of a batch that were not in an earlier batch."""

    batch: Batch
    maxima: ScoreArray
    """(clips × classes) the largest scores."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores and targets."""


class HeldClips:
    """Clips whose deltas are still to be found, all of them with scores of one type.

    The more clips are known, the higher the floors are, and the fewer deltas a clip has. Of a clip, only the
    classes with scores above the floor are held.
    """

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self.clear()

    def clear(self) -> None:
        """Release all clips."""
        self.names: list[str] = []
        self._arrays: list[tuple[NDArray[np.intp], IntArray, ScoreArray, NDArray[np.uint64]]] = []
        self._columns: _native.ColumnStore | None = None

    @property
    def score_bytes(self) -> int:
        """The size of the scores."""
        return 0 if self._columns is None else self._columns.bytes

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Of each clip: its row in the ground truth, its number of frames, its largest score of each class,
        and its checksum."""
        return tuple(np.concatenate(column) for column in zip(*self._arrays, strict=True))

    @property
    def columns(self) -> _native.ColumnStore:
        """The scores."""
        assert self._columns is not None
        return self._columns

    def fits(self, clips: NewClips) -> bool:
        """Return whether some clips can be held together with those that are."""
        return not self.names or self._arrays[0][2].dtype == clips.maxima.dtype

    def add(
        self, clips: NewClips, truth_rows: NDArray[np.intp], floors: FloatArray, threads: int
    ) -> None:
        """Hold clips, as far as their scores lie above some floors."""
        if self._columns is None:
            self._columns = _native.ColumnStore(self._classes, clips.batch.scores.is_double)
        rows, labels = np.nonzero(clips.maxima > floors)
        clips.batch.scores.keep_columns(
            self._columns,
            rows,
            labels,
            rows + len(self.names),
            clips.batch.lengths[rows],
            clips.maxima[rows, labels],
            threads,
        )
        self.names += clips.batch.clips
        self._arrays.append((truth_rows, clips.batch.lengths, clips.maxima, clips.digests))

    def drop(self, floors: FloatArray) -> None:
        """Release the scores of classes that do not reach above some floors."""
        if self._columns is not None:
            self._columns.drop(rounded_down(floors, self._arrays[0][2].dtype))


_MORE_CLIPS = 8  # a floor is raised when there are more clips by this part of them


class EpochClips:
    """What a training metric knows of the clips so far when another batch comes.

    Parameters
    ----------
    requests : mapping of Criterion to DeltaRequest
        What the metrics need.
    classes : int
        The number of classes.
    durations : Ticks or None
        The durations of all clips that may come; None if they are not known. Without them there are
        no floors.
    hold : bool
        Whether clips may be held, which pays where every metric has a floor.
    """

    def __init__(self, requests: Requests, classes: int, durations: Ticks | None, *, hold: bool) -> None:
        self.digests: dict[str, int] = {}
        self.pending_deltas: list[ClipDeltas] = []
        """Deltas that nobody has asked for as bytes yet."""
        self.requests = {
            criterion: request.at_every_threshold() for criterion, request in requests.items()
        }
        self._durations = durations
        self._limits = {
            criterion: request.false_positive_limit for criterion, request in requests.items()
        }
        self._floors: dict[tuple[float | None, PostProcessing | None], Floor] = {
            (request.false_positive_limit, variant): Floor(request.false_positive_limit, classes)
            for request in requests.values()
            for variant in (None, *request.variants)
            if request.false_positive_limit is not None and durations is not None
        }
        self.holds = (
            hold
            and {*self._floors} == {(limit, None) for limit in self._limits.values()}
            and all(criterion.skips_low_columns for criterion in requests)
        )
        self.held = HeldClips(classes)
        self._lowest: FloatArray = np.full(classes, -np.inf)  # of the floors of all criteria
        self._waiting: list[ScoreArray] = []
        self._clips_until_raised = self._fewest_clips()
        self.first_targets = FirstTargets()

    def _fewest_clips(self) -> int:
        """Return how many clips at least must have a score above a floor."""
        if self._durations is None:
            return 0
        return min((floor.needed(self._durations) for floor in self._floors.values()), default=0)

    def hold(
        self,
        clips: NewClips,
        truth_rows: NDArray[np.intp],
        event_clips: NDArray[np.int32],
        labels: NDArray[np.int32],
        threads: int,
    ) -> None:
        """Hold clips for later. ``event_clips``, ``labels``: of their references."""
        self._waiting.append(without_references(clips.maxima, event_clips, labels))
        self._clips_until_raised -= len(clips.maxima)
        if self._clips_until_raised <= 0:
            self.raise_floors()
            self.held.drop(self._lowest)
        self.held.add(clips, truth_rows, self._lowest, threads)
        self.digests.update(zip(clips.batch.clips, clips.digests.tolist(), strict=True))

    def raise_floors(self) -> None:
        """Raise the floors to what the largest scores of the held clips allow.

        That takes some time. So it is done only when there are some more clips, or all.
        """
        if not self._waiting:
            return
        maxima = np.concatenate(self._waiting)
        for limit, variant in self._floors:
            self._raise_floor(limit, variant, maxima)
        self._waiting = []
        self._clips_until_raised = len(self.digests) // _MORE_CLIPS

    def add(self, clips: ClipDeltas) -> None:
        """Record clips whose deltas are found."""
        self.digests.update(zip(clips.clips, clips.digests.tolist(), strict=True))
        raised = set()
        for deltas in clips.deltas:
            for variant, variant_deltas in ((None, deltas), *deltas.variants.items()):
                floor = (self._limits[deltas.criterion], variant)
                if floor in self._floors and floor not in raised:  # each clip counts once
                    raised.add(floor)
                    self._raise_floor(*floor, variant_deltas.certain_false_alarms().T)

    def _raise_floor(
        self, limit: float | None, variant: PostProcessing | None, maxima: ScoreArray
    ) -> None:
        """Raise a floor to what the largest scores of some more clips allow.

        ``maxima``: (clips × classes), ``-inf`` for clips with references of the class.
        """
        floor = self._floors[limit, variant]
        raised = floor.raise_to(maxima, maxima.dtype, self._durations).astype(np.float64)
        for criterion, request in self.requests.items():
            if self._limits[criterion] == limit:
                floors = {**request.floors, variant: raised}
                self.requests[criterion] = replace(request, floors=floors)
        of_scores = [request.floors_of(None, len(raised)) for request in self.requests.values()]
        self._lowest = np.min(of_scores, axis=0)


class FirstTargets:
    """The first events of an epoch that are given as targets, until there are enough to judge them."""

    def __init__(self) -> None:
        self._offsets: Ticks = np.empty(0, np.int64)
        self._event_clips: IntArray = np.empty(0, np.int64)
        self._ends: Ticks = np.empty(0, np.int64)
        self._judged = False

    def add(self, offsets: Ticks, event_clips: IntArray, ends: Ticks) -> list[str]:
        """Add the events of some more clips. Note, once, that all events lie at the very beginning.

        ``event_clips``: the clip of each event, as an index into ``ends``, where the scores of the clips end.
        """
        if self._judged:
            return []
        self._event_clips = np.concatenate([self._event_clips, event_clips + len(self._ends)])
        self._offsets = np.concatenate([self._offsets, offsets])
        self._ends = np.concatenate([self._ends, ends])
        enough = len(self._offsets) >= MANY_EVENTS
        self._judged = enough and len(np.unique(self._event_clips)) >= MANY_CLIPS
        return squeezed_references_note(self._offsets, self._event_clips, self._ends, stated=False)
