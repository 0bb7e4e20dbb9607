"""Criteria: when a reference counts as found and a detection as false.

A criterion is a value. It knows how to find, for some clips, the changes of its counts as the
threshold falls (`deltas`), and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.scores import ScoreArray
from ..data.times import Ticks, to_ticks
from ..definitions import Defined, optional_number, require_flag, require_number
from ..errors import SedscopeError
from .delta_tables import DeltaTables, ReferenceRows, Rows


@dataclass(frozen=True, eq=False)
class ClipTruth:
    """References of some clips, as the core takes them."""

    durations: Ticks
    """Per clip, in microseconds."""
    events: Ticks
    """(events × 2) onsets and offsets, ordered by clip, class, onset."""
    labels: NDArray[np.int32]
    """The class of each event."""
    event_clips: NDArray[np.int32]
    """The clip of each event."""
    starts: NDArray[np.int64]
    """The first event of each clip, and the end."""
    maxima: ScoreArray
    """(clips × classes) the largest score."""
    late: NDArray[np.intp]
    """Events that are left out because they begin after their clip's end, counted among all."""

    def truth(self, floors: ScoreArray, threads: int) -> _native.Truth:
        """The references as the core takes them, with what bounds the work."""
        return _native.Truth(self.events, self.labels, self.starts, self.maxima, floors, threads)

    def references(self) -> ReferenceRows:
        """One row per reference event."""
        return ReferenceRows(self.event_clips, self.labels, self.events[:, 1] - self.events[:, 0])


@dataclass(frozen=True, eq=False)
class ClipBatch(ClipTruth):
    """Some clips with their references."""

    clips: _native.Clips


@dataclass(frozen=True, eq=False)
class Recording(ClipTruth):
    """One clip that comes in pieces, with its references. Its largest scores are not known: ``-inf``."""

    clip: _native.Recording


class OpenDeltas(Protocol):
    """The deltas of a recording, for which its pieces are still to come."""

    def feed(self, piece: ScoreArray) -> None:
        """Take in the next frames: (frames × classes)."""

    def finish(self) -> DeltaTables:
        """The deltas, after all pieces."""


@runtime_checkable
class Criterion(Protocol):
    """What `deltas` needs of a criterion: to be hashable, and to find its deltas."""

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """Deltas of the clips at scores above each class's floor; ``any_label``: also the changes of
        the number of pairs if labels did not matter."""


@runtime_checkable
class PiecewiseCriterion(Criterion, Protocol):
    """A criterion that does not need all scores of a clip at once."""

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        """The same as ``find_deltas`` for a recording: bit by bit, wherever it is cut."""


@dataclass(frozen=True, eq=False)
class _OpenEvents:
    """:class:`OpenDeltas` of a criterion about events."""

    recording: Recording
    deltas: _native.OpenRecording
    errors: bool = False
    any_label: _native.OpenRecording | None = None

    def feed(self, piece: ScoreArray) -> None:
        self.deltas.feed(piece)
        if self.any_label:
            self.any_label.feed(piece)

    def finish(self) -> DeltaTables:
        return _event_tables(
            self.recording,
            self.deltas.finish(),
            errors=self.errors,
            any_label=self.any_label.finish() if self.any_label else None,
        )


def _event_tables(
    batch: ClipTruth,
    columns: Sequence[Any],
    *,
    errors: bool = False,
    any_label: Sequence[Any] | None = None,
) -> DeltaTables:
    """Tables from the columns that the core gives for a criterion about events."""
    starts, scores, tp, fp, cross_starts, cross_scores, labels, ct, *of_errors = columns
    pairs = None
    if any_label is not None:
        pair_starts, pair_scores, changes = any_label
        pairs = Rows(pair_starts[None], pair_scores, (changes,))
    return DeltaTables(
        detections=Rows(starts, scores, (tp, fp)),
        cross_triggers=Rows(cross_starts, cross_scores, (labels, ct)),
        references=batch.references(),
        errors=Rows(of_errors[0], of_errors[1], tuple(of_errors[2:])) if errors else None,
        any_label=pairs,
    )


@dataclass(frozen=True, repr=False)
class Intersection(Defined):
    """Intersection criterion (Bilen et al., "A Framework for the Robust Evaluation of Sound Event
    Detection", ICASSP 2020).

    A detection is relevant if at least ``dtc`` of its length lies in references of its class, else it
    is a false positive. A reference is found if at least ``gtc`` of its length lies in relevant
    detections. With ``cttc``, a false positive of which at least that part lies in references of
    another class is a cross-trigger on that class. Needed times are rounded to whole microseconds.

    >>> Intersection(0.7, 0.7)
    Intersection(dtc=0.7, gtc=0.7)
    """

    dtc: float
    gtc: float
    cttc: float | None = None

    def __post_init__(self) -> None:
        require_number(self, "dtc", above=0, at_most=1)
        require_number(self, "gtc", above=0, at_most=1)
        optional_number(self, "cttc", above=0, at_most=1)

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """See :class:`Criterion`."""
        self._refuse(any_label)
        truth = batch.truth(floors, threads)
        columns = batch.clips.intersection_deltas(truth, self.dtc, self.gtc, self.cttc)
        return _event_tables(batch, columns)

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        """See :class:`PiecewiseCriterion`."""
        self._refuse(any_label)
        truth = recording.truth(floors, threads)
        deltas = recording.clip.intersection_deltas(truth, self.dtc, self.gtc, self.cttc)
        return _OpenEvents(recording, deltas)

    def _refuse(self, any_label: bool) -> None:
        if any_label:
            raise SedscopeError(
                f"substitutions are not defined for {self}: it does not pair detections with references"
            )

    def judge(self) -> _native.Judge:
        """What says which single detections and references are right."""
        return _native.Judge(self.dtc, self.gtc, self.cttc)


@dataclass(frozen=True, repr=False)
class Collar(Defined):
    """Collar criterion (Mesaros et al., "Metrics for Polyphonic Sound Event Detection", 2016).

    A detection and a reference of its class can be paired if their onsets differ by at most ``onset``
    seconds and their offsets by at most ``offset`` seconds or ``offset_rate`` of the reference's length,
    whichever is more; borders are included. ``onset=None`` or ``offset=None`` does not judge that
    boundary. As many pairs as possible are made, each event being in at most one: a pair is a true
    positive, a detection without a pair a false positive.

    ``cross_triggers``: a detection that can be paired with no reference of its class, but with one of
    another class, is a cross-trigger on that class. ``errors``: the counts also tell the sums of
    signed boundary errors of the pairs (detection minus reference); of the possible choices of as
    many pairs as possible the one with the smallest total of absolute errors counts.

    >>> Collar()
    Collar(onset=0.2, offset=0.2, offset_rate=0.2)
    """

    onset: float | None = 0.2
    offset: float | None = 0.2
    offset_rate: float = 0.2
    cross_triggers: bool = False
    errors: bool = False

    def __post_init__(self) -> None:
        optional_number(self, "onset", at_least=0)
        optional_number(self, "offset", at_least=0)
        require_number(self, "offset_rate", at_least=0)
        require_flag(self, "cross_triggers")
        require_flag(self, "errors")
        if self.onset is None and self.offset is None:
            raise SedscopeError("a collar judges onsets, offsets or both: one of them must be a number")

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """See :class:`Criterion`."""
        truth, collar = batch.truth(floors, threads), self._in_ticks()
        return _event_tables(
            batch,
            batch.clips.collar_deltas(truth, collar, self.cross_triggers, self.errors),
            errors=self.errors,
            any_label=batch.clips.any_label_pairs(truth, collar) if any_label else None,
        )

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        """See :class:`PiecewiseCriterion`."""
        truth, collar = recording.truth(floors, threads), self._in_ticks()
        return _OpenEvents(
            recording,
            recording.clip.collar_deltas(truth, collar, self.cross_triggers, self.errors),
            errors=self.errors,
            any_label=recording.clip.any_label_pairs(truth, collar) if any_label else None,
        )

    def judge(self) -> _native.Judge:
        """See :meth:`Intersection.judge`."""
        return _native.Judge(self._in_ticks(), self.cross_triggers)

    def _in_ticks(self) -> _native.Collar:
        return _native.Collar(
            None if self.onset is None else int(to_ticks(self.onset)),
            None if self.offset is None else int(to_ticks(self.offset)),
            self.offset_rate,
        )


@dataclass(frozen=True, repr=False)
class IoU(Defined):
    """Intersection over union: a detection and a reference of its class can be paired if the time that
    they share is at least ``threshold`` of the time that either takes.

    As many pairs as possible are made, as for :class:`Collar`; ``cross_triggers`` likewise.

    >>> IoU(0.5)
    IoU(threshold=0.5)
    """

    threshold: float = 0.5
    cross_triggers: bool = False

    def __post_init__(self) -> None:
        require_number(self, "threshold", above=0, at_most=1)
        require_flag(self, "cross_triggers")

    def find_deltas(
        self, batch: ClipBatch, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> DeltaTables:
        """See :class:`Criterion`."""
        truth = batch.truth(floors, threads)
        overlap = _native.Overlap(self.threshold)
        return _event_tables(
            batch,
            batch.clips.overlap_deltas(truth, overlap, self.cross_triggers),
            any_label=batch.clips.any_label_pairs(truth, overlap) if any_label else None,
        )

    def judge(self) -> _native.Judge:
        """See :meth:`Intersection.judge`."""
        return _native.Judge(_native.Overlap(self.threshold), self.cross_triggers)

    def open_deltas(
        self, recording: Recording, floors: ScoreArray, threads: int, *, any_label: bool
    ) -> OpenDeltas:
        """See :class:`PiecewiseCriterion`."""
        truth = recording.truth(floors, threads)
        overlap = _native.Overlap(self.threshold)
        return _OpenEvents(
            recording,
            recording.clip.overlap_deltas(truth, overlap, self.cross_triggers),
            any_label=recording.clip.any_label_pairs(truth, overlap) if any_label else None,
        )
