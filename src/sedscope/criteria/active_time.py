"""The criterion of time: how long a class is active, rightly or wrongly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.times import LONGEST_SECONDS, Ticks, to_ticks
from ..definitions import require_number
from .clip_batch import AnyBatch, AnyReferences, ClipReferences, DeltaSearch, EventRows, Recording
from .criterion import CRITERIA, Criterion, OpenDeltas
from .delta_tables import DeltaRows, DeltaTables, IgnoredRows, ReferenceRows


@CRITERIA.register
@dataclass(frozen=True, repr=False)
class Time(Criterion):
    """Time itself: true and false positives, misses and true negatives are durations.

    A class is active in the frames with ``score > threshold``. Active time within a reference of the class is
    true positive, other active time is false positive; sedscope adds up whole microseconds. The whole
    duration of a clip is scored, except for ignored references and, with a collar, the time around the
    boundaries of references. In scored regions, these are the boundaries in the whole recordings.

    Parameters
    ----------
    collar : float, default 0.0
        The total width, in seconds, of the zone around each boundary of a reference that is not scored for
        its class: half of it lies before the boundary, half after it.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["speech"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1.5, 3, "speech")]}, durations={"a": 3})
    >>> sed.deltas(scores, truth, Time()).counts()["speech"].tally_at(0.5)
    Tally(tp=500000, fp=500000, references=1500000, trials=3000000, pairs=None, right=None)
    """

    collar: float = 0.0

    counts_negatives: ClassVar[bool] = True
    judges_classes_alone: ClassVar[bool] = True
    measures_time: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = True
    skips_low_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_number(self, "collar", at_least=0, at_most=LONGEST_SECONDS)

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        judged = self._judged(batch)
        core = _native.ActiveTime(batch.durations)
        return judged.tables(batch, judged.of(batch).find_deltas(core, search))

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        judged = self._judged(recording)
        core = _native.ActiveTime(recording.durations)
        deltas = core.open_deltas(recording.clip, judged.of(recording).truth(search))
        return OpenDeltas([deltas], partial(judged.tables, recording))

    def _judged(self, references: ClipReferences) -> _JudgedTime:
        """Return which time within references is scored, and which time is not."""
        width, ignored = int(to_ticks(self.collar)), references.ignored
        if width == 0:
            return _judged_time(references, ignored.events, ignored.event_clips, ignored.labels)
        boundaries = references.boundaries(reach=width)
        before = boundaries.times - width // 2
        zones = np.stack([before, before + width], axis=1)
        return _judged_time(
            references,
            np.concatenate([zones, ignored.events]),
            np.concatenate([boundaries.clips, ignored.event_clips]),
            np.concatenate([boundaries.labels, ignored.labels]),
        )


class _JudgedTime(NamedTuple):
    """Disjoint intervals: the scored parts of references, and the time that is not scored."""

    references: EventRows
    unscored: EventRows

    def of(self, references: AnyReferences) -> AnyReferences:
        """Return the clips with these intervals in place of references and ignored references."""
        return replace(references, **vars(self.references), ignored=self.unscored)

    def tables(self, batch: ClipReferences, deltas: _native.EventDeltas) -> DeltaTables:
        """Arrange the deltas that the core finds as tables. A row per reference has its scored time."""
        detections, unscored = deltas.detections, self.unscored
        classes, clips = detections.starts.shape[0], len(batch.durations)
        return DeltaTables(
            detections=DeltaRows(detections.starts, detections.scores, (detections.tp, detections.fp)),
            cross_triggers=DeltaRows.none(classes, clips, (np.int32, np.int8), detections.scores),
            references=ReferenceRows(batch.event_clips, batch.labels, self._scored_times(batch)),
            trials=batch.durations,
            ignored=IgnoredRows(unscored.event_clips, unscored.labels, np.diff(unscored.events)[:, 0]),
        )

    def _scored_times(self, batch: ClipReferences) -> Ticks:
        """Return how much of each reference is scored."""
        parts, number = self.references, len(batch.labels)
        onsets = np.concatenate([batch.events[:, 0], parts.events[:, 0]])
        labels = np.concatenate([batch.labels, parts.labels])
        clips = np.concatenate([batch.event_clips, parts.event_clips])
        # a reference comes before a part that begins with it
        order = np.lexsort((onsets, labels, clips))
        is_part = order >= number
        times = np.zeros(number, np.int64)
        np.add.at(times, np.cumsum(~is_part)[is_part] - 1, np.diff(parts.events)[:, 0])
        return times


def _judged_time(
    references: ClipReferences,
    zones: Ticks,
    zone_clips: NDArray[np.int32],
    zone_labels: NDArray[np.int32],
) -> _JudgedTime:
    """Cut the references, and zones that are not scored, into disjoint intervals within their clips.

    One sweep over the boundaries of all clips and classes: it knows how many references and how many zones
    cover the time between two of them.
    """
    clips = np.concatenate([references.event_clips, zone_clips])
    labels = np.concatenate([references.labels, zone_labels])
    events = np.concatenate([references.events, zones])
    is_zone = np.arange(len(clips)) >= len(references.labels)
    events = np.clip(events, 0, references.durations[clips][:, None])
    order = np.lexsort((events.T.ravel(), np.tile(labels, 2), np.tile(clips, 2)))
    event_of = order % max(1, len(clips))
    times = events.T.ravel()[order]
    steps = np.where(order < len(clips), 1, -1)
    zones_open = np.cumsum(steps * is_zone[event_of])
    references_open = np.cumsum(steps * ~is_zone[event_of])
    # after the last boundary of a clip and class nothing is open
    lengths = np.diff(times, append=times[-1:])

    def rows(chosen: NDArray[np.bool_]) -> EventRows:
        begins = np.flatnonzero(chosen & (lengths != 0))
        of_clips = clips[event_of[begins]]
        return EventRows(
            events=np.stack([times[begins], times[begins] + lengths[begins]], axis=1),
            labels=labels[event_of[begins]],
            event_clips=of_clips,
            starts=np.searchsorted(of_clips, np.arange(len(references.durations) + 1)).astype(np.int64),
        )

    return _JudgedTime(rows((references_open > 0) & (zones_open == 0)), rows(zones_open > 0))
