"""Scored events: a system that answers with events and confidences, which may overlap."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, issue_warnings, listing
from ..tabular import Tabular
from .arrays import FloatArray
from .clip_events import ClipEvents, EventList
from .clips import clip_ids
from .event_table import EventTable
from .events import Events
from .labels import stripped
from .scores import Scores, ScoreSource
from .tables import FrameLike
from .times import LONGEST_TICKS, Ticks, lies_within, to_seconds, to_ticks

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .detections import DetectionLike


_SHARE_OF_WINDOWS = 0.9  # the last one of a recording may be shorter


class Names(NamedTuple):
    """A column of names: each name once, and the number of the name in each row."""

    names: list[str]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, column: Iterable[Any], known: Iterable[str] = ()) -> Names | None:
        """Number the names in order of appearance, after those that are known.

        White space around them is removed. None if some are not texts, or are empty.
        """
        numbers: dict[Hashable, int] = {name: i for i, name in enumerate(dict.fromkeys(known))}
        rows = np.array([numbers.setdefault(name, len(numbers)) for name in column], np.int32)
        stripped: dict[str, int] = {}
        new_numbers = []
        for name in numbers:
            if not isinstance(name, str) or not name.strip():
                return None
            new_numbers.append(stripped.setdefault(name.strip(), len(stripped)))
        return cls([*stripped], np.array(new_numbers, np.int32)[rows])


def usable_times(times: Ticks) -> NDArray[np.bool_]:
    """Return which detections end after 0 s and not before they begin. Points in time may be at 0 s.

    ``times``: (events × 2) onsets and offsets.
    """
    onsets, offsets = times[:, 0], times[:, 1]
    return (offsets >= onsets) & lies_within(onsets, offsets, 0, LONGEST_TICKS + 1)


@dataclass(frozen=True, eq=False)
class DetectedColumns:
    """Detections as columns. All of them can be used: they have times, a label and a confidence.

    Those of no length are points in time.
    """

    clips: Names
    """The clip of each event. There may be names of clips without events."""
    labels: Names
    """The label of each event."""
    times: Ticks
    """(events × 2) onsets and offsets in microseconds."""
    confidences: FloatArray

    @classmethod
    def of_columns(
        cls,
        clips: Names | None,
        labels: Names | None,
        seconds: FloatArray,
        confidences: FloatArray | None,
    ) -> DetectedColumns | None:
        """Check columns with a row per event; None if some cannot be used."""
        if clips is None or labels is None:
            return None
        try:
            times = to_ticks(seconds)
        except ValueError:
            return None
        scores = np.ones(len(times)) if confidences is None else confidences
        usable = usable_times(times).all() and not np.isnan(scores).any()
        return cls(clips, labels, times, scores) if usable else None

    @classmethod
    def of_lists(cls, events: Mapping[str, Sequence[Any]]) -> DetectedColumns | None:
        """Take ``(onset, offset, label[, confidence])`` of each clip; None if they need a closer look."""
        rows = [*chain.from_iterable(events.values())]
        if not all(issubclass(kind, (tuple, list)) for kind in {*map(type, rows)}):
            return None
        lengths = {*map(len, rows)}
        if lengths == {3, 4}:
            rows = [row if len(row) == 4 else (*row, 1.0) for row in rows]
        elif not (lengths <= {3} or lengths <= {4}):
            return None
        try:
            labels = Names.of(row[2] for row in rows)
            seconds = np.array([[row[k] for row in rows] for k in (0, 1)], np.float64)
            seconds = seconds.reshape(2, len(rows)).T
            scores = np.array([row[3] for row in rows], np.float64) if 4 in lengths else None
        except (TypeError, ValueError):
            return None
        if scores is not None and scores.ndim != 1:
            return None
        numbers = np.repeat(np.arange(len(events), dtype=np.int32), [*map(len, events.values())])
        return cls.of_columns(Names([*events], numbers), labels, seconds, scores)

    def has_points(self) -> bool:
        """Return whether some of them have no length."""
        return bool((self.times[:, 0] == self.times[:, 1]).any())

    @classmethod
    def of_table(cls, table: EventTable) -> DetectedColumns:
        """Take the rows of a table with times. An error may say that some cannot be used, not which."""
        rows, seconds, confidences = table.checked_rows()
        all_rows = len(rows) == len(table)
        clips = Names.of(table.clip if all_rows else [table.clip[i] for i in rows], table.clip)
        labels = Names.of(table.label if all_rows else [table.label[i] for i in rows])
        columns = cls.of_columns(clips, labels, seconds, confidences)
        if columns is None:
            raise SedscopeError("Some detections are not usable.")
        return columns


class ScoredEvents(Scores, Tabular):
    """A system that answers with scored events. Events of one class may overlap.

    An event is detected at every threshold below its confidence, and events are never merged. The criteria
    judge them exactly at every threshold, except for custom criteria, ``AnyOverlap`` with ``merge_gap``, and
    ``aggregation="mean"``. There are no scores of frames, so ``system["clip"]`` and post-processing are
    refused.

    :meth:`Scores.from_events` with ``overlaps="keep"`` returns them, and commands with ``--overlaps keep``
    read them.

    Parameters
    ----------
    clips : iterable of str
        Names of the clips.
    load : callable
        Takes a name as it stands in `clips` and returns the events of the clip.
    classes, in_memory, thread_safe, identify
        As for :class:`Scores`.

    Examples
    --------
    >>> boxes = {"a": [(0, 2, "Dog", 0.9), (1, 3, "Dog", 0.4)]}
    >>> system = ScoredEvents.from_events(boxes)
    >>> system
    <ScoredEvents: 1 clip, 1 class>
    >>> system.events()
    {'a': [(0.0, 2.0, 'Dog', 0.9), (1.0, 3.0, 'Dog', 0.4)]}
    """

    holds_events = True

    @classmethod
    def from_events(  # type: ignore[override]  # there is no choice about overlaps
        cls,
        events: Mapping[str, Iterable[DetectionLike]],
        *,
        classes: Iterable[str] | None = None,
        clips: Iterable[str] = (),
    ) -> ScoredEvents:
        """Make them from the events of each clip.

        Parameters
        ----------
        events : mapping from str to iterable of tuple
            ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds. The confidence is
            1 if it is left out; a warning says so if others of the class have one.
        classes : iterable of str, optional
            The classes. By default the labels that occur, sorted.
        clips : iterable of str, optional
            Further clips, in which nothing is detected.

        Returns
        -------
        ScoredEvents

        Examples
        --------
        >>> ScoredEvents.from_events({"a": [(0, 2, "Dog"), (1, 3, "Dog")]}, clips=["b"])
        <ScoredEvents: 2 clips, 1 class>
        """
        from .detections import scores_from_events

        system = scores_from_events(events, classes=classes, clips=clips, overlaps="keep")
        assert isinstance(system, ScoredEvents)
        return system

    @classmethod
    def from_table(
        cls,
        table: FrameLike,
        *,
        columns: Mapping[str, str] | None = None,
        classes: Iterable[str] | None = None,
        clips: Iterable[str] = (),
    ) -> ScoredEvents:
        """Make them from a data frame with a row per event.

        Parameters
        ----------
        table : data frame
            A pandas, polars or pyarrow table with the columns ``filename onset offset event_label`` and,
            optionally, ``confidence``.
        columns : mapping from str to str, optional
            The names of the columns by role, as for :meth:`GroundTruth.from_table`.
        classes : iterable of str, optional
            The classes. By default the labels that occur, sorted.
        clips : iterable of str, optional
            Further clips, in which nothing is detected.

        Warns
        -----
        SedscopeWarning
            If there are no confidences, but a column that is not read has a name such as ``score``.

        Returns
        -------
        ScoredEvents

        Examples
        --------
        >>> import polars
        >>> times = {"onset": [0.0, 1.0], "offset": [2.0, 3.0]}
        >>> table = polars.DataFrame(
        ...     {"filename": ["a", "a"], **times, "event_label": ["Dog", "Dog"], "confidence": [0.9, 0.4]}
        ... )
        >>> ScoredEvents.from_table(table).events()
        {'a': [(0.0, 2.0, 'Dog', 0.9), (1.0, 3.0, 'Dog', 0.4)]}
        """
        from .detections import usable_columns

        events = EventTable.from_frame(table, columns)
        detected = usable_columns(events)
        issue_warnings(events.missing_confidences_notes(), stacklevel=2)
        return kept_events(detected, classes=classes, clips=clips)

    def open(self, clip: str) -> ClipEvents:
        """Return the events of a clip.

        Parameters
        ----------
        clip : str
            Name of the clip.

        Returns
        -------
        ClipEvents

        Examples
        --------
        >>> ScoredEvents.from_events({"a": [(0, 2, "Dog", 0.9)]}).open("a")
        <ClipEvents: 1 event>
        """
        opened = super().open(clip)
        assert isinstance(opened, ClipEvents)
        return opened

    def events(self) -> Events[tuple[float, float, str, float]]:
        """Return the events of each clip.

        Returns
        -------
        Events
            A dict: per clip ``(onset, offset, label, confidence)``, times in seconds, the highest confidence
            first. Events of equal confidence stay in the order in which the system lists them.

        Examples
        --------
        >>> ScoredEvents.from_events({"a": [(1, 3, "Dog", 0.4)]}, clips=["b"]).events()
        {'a': [(1.0, 3.0, 'Dog', 0.4)], 'b': []}
        """
        return Events((clip, self.open(clip).in_seconds(self.classes)) for clip in self)

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per event, which :meth:`from_table` reads back.

        Clips without events have no row.

        Returns
        -------
        polars.DataFrame
            With the columns ``filename``, ``onset``, ``offset``, ``event_label`` and ``confidence``.

        Examples
        --------
        >>> ScoredEvents.from_events({"a": [(1, 3, "Dog", 0.4)]}).to_polars().rows()
        [('a', 1.0, 3.0, 'Dog', 0.4)]
        """
        from ..results.frames import polars_frame

        clips = [*self]
        events = EventList.joined([self.open(clip) for clip in clips])
        seconds = to_seconds(events.times)
        return polars_frame(
            {
                "filename": [clips[i] for i in events.event_clips.tolist()],
                "onset": seconds[:, 0],
                "offset": seconds[:, 1],
                "event_label": [self.classes[column] for column in events.columns.tolist()],
                "confidence": events.confidences,
            }
        )

    def __repr__(self) -> str:
        return f"<ScoredEvents: {counted(len(self), 'clip')}, {counted(len(self.classes), 'class')}>"

    def _repr_html_(self) -> str:
        from ..results.frames import html_facts

        facts = {
            "clips": f"{len(self)}: {listing(self)}",
            "classes": f"{len(self.classes)}: {listing(self.classes)}",
            "events": f"{sum(len(self.open(clip).times) for clip in self)}",
        }
        return html_facts("Scored events", facts)


def kept_events(
    detected: DetectedColumns,
    *,
    classes: Iterable[str] | None,
    clips: Iterable[str] = (),
    assumed_classes: Iterable[str] = (),
) -> ScoredEvents:
    """Keep detections as they are. The arguments are those of :func:`scores_from_events`."""
    labels = event_classes(detected.labels.names, classes)
    column_of = {label: column for column, label in enumerate(labels)}
    columns = np.array([column_of[label] for label in detected.labels.names], np.int32)
    assumed_clips = clips_without_events(detected.clips.names, clips)
    names = [*detected.clips.names, *assumed_clips]
    events = EventList.ranked(
        len(names),
        detected.clips.numbers,
        detected.times,
        columns[detected.labels.numbers],
        detected.confidences,
    )
    source = ScoreSource(
        partial(_load, events, {name: number for number, name in enumerate(names)}),
        labels,
        whole_clips=False,
        assumed_classes=frozenset(assumed_classes),
        assumed_clips=frozenset(assumed_clips),
        shifted_windows=_shifted_windows(detected.times),
    )
    return ScoredEvents._of(names, source)


def _shifted_windows(times: Ticks) -> int | None:
    """Return the length of windows of one length, if some do not begin at a multiple of it."""
    lengths = times[:, 1] - times[:, 0]
    length = int(np.median(lengths)) if len(lengths) else 0
    windows = lengths == length
    if not length or np.mean(windows) < _SHARE_OF_WINDOWS or not (times[windows, 0] % length).any():
        return None
    return length


def has_equal_answers(scores: Scores) -> bool:
    """Return whether clips have several events, and all events the same confidence, as without confidences.

    False for scores of frames, and for events that post-processing finds in them.
    """
    if not isinstance(scores, ScoredEvents) or scores.processing:
        return False
    confidences = [scores.open(clip).confidences for clip in scores]
    from .thresholds import score_range

    low, high = score_range(confidences)
    return low == high and any(len(of_clip) > 1 for of_clip in confidences)


def event_classes(occurring: Iterable[str], classes: Iterable[str] | None) -> tuple[str, ...]:
    """Return the classes of events. ``occurring``: their labels. ``classes``: what the user names."""
    present = {*occurring}
    labels = tuple(sorted(present)) if classes is None else stripped(classes)
    if not labels:
        raise SedscopeError("There are no events. Name the classes of the system with classes=.")
    unknown = sorted(present.difference(labels))
    if unknown:
        raise SedscopeError(f"The events have labels that classes= does not list: {listing(unknown)}.")
    return labels


def clips_without_events(with_events: Iterable[str], clips: Iterable[str]) -> list[str]:
    """Return which clips are not among those of the events."""
    known = set(clip_ids(with_events, "events").values())
    return [clip for clip in clip_ids(clips, "clips").values() if clip not in known]


def _load(events: EventList, numbers: Mapping[str, int], name: str) -> ClipEvents:
    """Return the events of a clip. ``numbers``: of the clips, by name."""
    return events[numbers[name]]
