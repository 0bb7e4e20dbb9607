"""Ground truth: the reference events of each clip, and the durations of the clips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import counted, refuse_nul
from ..tabular import Tabular
from .choices import Invalid, Overlaps, check_choice
from .clips import as_durations, clip_id, clip_ids, duration_ticks, require_durations
from .event_table import EventTable
from .events import EventColumns, arranged_events, columns_of_mapping
from .tables import FrameLike
from .times import Ticks
from .truth_summary import (
    as_ignored_labels,
    late_ends_of,
    notes_about,
    other_durations_note,
    unused_ignored_labels_note,
)

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from ..alignment.cuts import UncutReferences
    from .label_maps import AppliedMap, LabelMapLike

__all__ = ["EventColumns", "GroundTruth"]


class GroundTruth(Tabular):
    """The reference events of all clips, and the durations of the clips if they are known.

    Most users call :func:`read_ground_truth`, :meth:`from_dict` or :meth:`from_table`.

    Parameters
    ----------
    events : EventColumns
        The events as columns.
    clips : iterable of str, optional
        Names of clips that may have no events.
    durations : mapping from str to float, optional
        Durations of the clips in seconds. Clips that occur only here have no events.
    invalid : {'error', 'drop'}, default 'error'
        What to do with events that end before they begin, begin before 0 s, or begin at or after the end
        of their clip. ``"drop"`` leaves them out and counts them in `warnings`, and events of no length with
        them: only criteria about one boundary judge these, such as :class:`Onset`.
    overlaps : {'error', 'merge', 'keep'}, default 'error'
        What to do with overlapping events of one class in a clip. ``"merge"`` makes them one event.
        Events that touch do not overlap. An ignored event may overlap one that counts.
    ignored_labels : iterable of str, optional
        Labels of events that are ignored for every class.
    where : str, default 'ground truth'
        What messages call the ground truth.
    remarks : iterable of str, optional
        What is unusual about the data, whichever clips and labels are evaluated.

    Attributes
    ----------
    clips : tuple of str
        Ids of all clips, also of those without events.
    labels : tuple of str
        The labels of the classes that occur, sorted.
    ignored_labels : tuple of str
        The labels of events that are ignored for every class, sorted. They are not classes.
    event_clips, event_labels : ndarray of int32, shape (events,)
        The clip and the label of each event, as indices into `clips` and ``(*labels, *ignored_labels)``.
        Events are ordered by clip, label and onset.
    onsets, offsets : ndarray of int64, shape (events,)
        Times in microseconds.
    ignored : ndarray of bool, shape (events,)
        Which events are ignored references: they need not be found, and detections that match them are
        neither right nor wrong.
    durations : ndarray of int64, shape (clips,), or None
        Durations of the clips in microseconds. If None, a clip ends at the last boundary of its scores.
    warnings : tuple of str
        What is unusual about the data.
    label_maps : tuple of AppliedMap
        The label maps that gave the labels their names; see :meth:`relabelled`.

    Examples
    --------
    >>> truth = GroundTruth.from_dict({"a": [(0.5, 1.5, "Dog")], "b": []}, durations={"a": 10, "b": 10})
    >>> truth
    <GroundTruth: 1 event, 2 clips, 1 class>
    """

    clips: tuple[str, ...]
    labels: tuple[str, ...]
    ignored_labels: tuple[str, ...]
    event_clips: NDArray[np.int32]
    event_labels: NDArray[np.int32]
    onsets: Ticks
    offsets: Ticks
    ignored: NDArray[np.bool_]
    durations: Ticks | None
    warnings: tuple[str, ...]
    label_maps: tuple[AppliedMap, ...] = ()

    def __init__(
        self,
        events: EventColumns,
        *,
        clips: Iterable[str] = (),
        durations: Mapping[str, float] | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        ignored_labels: Iterable[str] = (),
        where: str = "ground truth",
        remarks: Iterable[str] = (),
    ) -> None:
        check_choice(Invalid, invalid=invalid)
        check_choice(Overlaps, overlaps=overlaps)
        self.invalid, self.overlaps = invalid, overlaps
        if any(label != label.strip() for label in set(events.label)):
            events = replace(events, label=[label.strip() for label in events.label])
        ids = clip_ids([*clips, *events.clip], where)
        all_clips = dict.fromkeys(ids.values())
        ticks = None if durations is None else duration_ticks(durations)
        if ticks is not None:
            require_durations(all_clips, ticks, where)
            all_clips |= dict.fromkeys(ticks)
        self.clips = tuple(all_clips)
        everywhere = as_ignored_labels(ignored_labels)
        is_ignored = events.ignored_or_labelled(everywhere)
        self.labels = tuple(sorted({*events.label} - everywhere))
        self.ignored_labels = tuple(sorted(everywhere))
        self.durations = (
            None if ticks is None else np.array([ticks[clip] for clip in all_clips], np.int64)
        )
        clip_number = {clip: i for i, clip in enumerate(self.clips)}
        refuse_nul((*self.labels, *self.ignored_labels), f"class in {where}")
        label_number = {label: i for i, label in enumerate((*self.labels, *self.ignored_labels))}
        event_clips = np.array([clip_number[ids[name]] for name in events.clip], np.int32)
        event_labels = np.array([label_number[label] for label in events.label], np.int32)

        notes: list[str] = []
        rows, self.offsets = arranged_events(
            events,
            event_clips,
            event_labels,
            is_ignored,
            self.durations,
            invalid=invalid,
            overlaps=overlaps,
            where=where,
            notes=notes,
        )
        self.event_clips, self.event_labels = event_clips[rows], event_labels[rows]
        self.onsets, self.ignored = events.onset[rows], is_ignored[rows]
        self._remarks = tuple(remarks)
        self.warnings = (*self._remarks, *notes, *late_ends_of(self))
        self._noted = (events, where) if notes else None

    @classmethod
    def from_dict(
        cls,
        events: Mapping[str, Iterable[tuple[float, float, str]]],
        *,
        durations: Mapping[str, float] | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        ignored: Mapping[str, Iterable[tuple[float, float, str]]] | None = None,
        ignored_labels: Iterable[str] = (),
    ) -> GroundTruth:
        """Make ground truth from events in memory.

        Parameters
        ----------
        events : mapping from str to iterable of tuple
            ``{clip: [(onset, offset, label), …]}``, times in seconds. A clip with an empty list has no
            events. White space around labels is removed.
        durations : mapping from str to float, optional
            Durations of the clips in seconds. Clips that occur only here have no events.
        invalid : {'error', 'drop'}, default 'error'
            What to do with events that end before they begin, begin before 0 s, or begin at or after the end
            of their clip. ``"drop"`` leaves them out, and events of no length with them.
        overlaps : {'error', 'merge', 'keep'}, default 'error'
            What to do with overlapping events of one class in a clip. An ignored event may overlap one
            that counts.
        ignored : mapping from str to iterable of tuple, optional
            Ignored references, like `events`: they need not be found, and detections that match them are
            neither right nor wrong.
        ignored_labels : iterable of str, optional
            Events with one of these labels are ignored references of every class.

        Returns
        -------
        GroundTruth

        Examples
        --------
        >>> GroundTruth.from_dict({"a": [(1, 2, "Dog")], "b": []}, durations={"a": 3, "b": 3}).clips
        ('a', 'b')
        >>> GroundTruth.from_dict({"a": [(1, 2, "Dog"), (4, 5, "UNK")]}, ignored_labels=["UNK"])
        <GroundTruth: 2 events (1 ignored), 1 clip, 1 class>
        """
        columns, clips = columns_of_mapping(events), [*events]
        if ignored is not None:
            others = columns_of_mapping(ignored, "ignored references")
            columns = columns.with_ignored(others, clips)
            known = {clip_id(name) for name in clips}
            clips += [name for name in ignored if clip_id(name) not in known]
        return cls(
            columns,
            clips=clips,
            durations=durations,
            invalid=invalid,
            overlaps=overlaps,
            ignored_labels=ignored_labels,
            remarks=unused_ignored_labels_note(ignored_labels, columns.label),
        )

    @classmethod
    def from_table(
        cls,
        table: FrameLike,
        *,
        durations: Mapping[str, float] | FrameLike | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        columns: Mapping[str, str] | None = None,
        confidence: str | None = None,
        ignored: FrameLike | None = None,
        ignored_labels: Iterable[str] = (),
    ) -> GroundTruth:
        """Make ground truth from a data frame.

        Parameters
        ----------
        table : data frame or mapping of columns
            A pandas, polars or pyarrow table with the columns ``filename onset offset event_label``,
            times in seconds. A row with only a file name is a clip without events. A column ``ignored``
            of true and false may say which events are ignored references.
        durations : mapping from str to float, or data frame, optional
            Durations of the clips in seconds, or a table with the columns ``filename duration``.
        invalid : {'error', 'drop'}, default 'error'
            What to do with events that end before they begin, begin before 0 s, or begin at or after the end
            of their clip. ``"drop"`` leaves them out, and events of no length with them.
        overlaps : {'error', 'merge', 'keep'}, default 'error'
            What to do with overlapping events of one class in a clip.
        columns : mapping from str to str, optional
            Names of columns that differ, by role: ``{"onset": "Begin", …}``. The roles are
            ``filename``, ``onset``, ``offset``, ``duration``, ``label`` and ``confidence``.
        confidence : str, optional
            Which events are references, by the column ``confidence``: ``"> 0.5"`` or ``">= 0.5"``. The
            clips of other events stay, perhaps without events.
        ignored : data frame or mapping of columns, optional
            More ignored references, like `table`.
        ignored_labels : iterable of str, optional
            Events with one of these labels are ignored references of every class.

        Returns
        -------
        GroundTruth

        Examples
        --------
        >>> table = {"filename": ["a"], "Begin": [0.5], "offset": [1.5], "event_label": ["Dog"]}
        >>> GroundTruth.from_table(table, columns={"onset": "Begin"}).events("a")
        [(0.5, 1.5, 'Dog')]
        """
        seconds = as_durations(durations)
        events = EventTable.from_frame(table, columns, where="ground truth")
        others = None
        if ignored is not None:
            others = EventTable.from_frame(ignored, columns, where="ignored references")
        return cls.from_event_table(
            events,
            durations=seconds,
            invalid=invalid,
            overlaps=overlaps,
            confidence=confidence,
            ignored=others,
            ignored_labels=ignored_labels,
        )

    @classmethod
    def from_event_table(
        cls,
        table: EventTable,
        *,
        durations: Mapping[str, float] | None = None,
        invalid: Invalid = "error",
        overlaps: Overlaps = "error",
        confidence: str | None = None,
        ignored: EventTable | None = None,
        ignored_labels: Iterable[str] = (),
    ) -> GroundTruth:
        """Make ground truth from the rows of a file. ``durations`` replaces those of the file.

        Parameters
        ----------
        table : EventTable
            The rows.
        durations : mapping from str to float, optional
            Durations of the clips in seconds, instead of those of the file.
        ignored : EventTable, optional
            The rows of a file of ignored references.
        invalid, overlaps, ignored_labels
            As in :meth:`from_dict`.
        confidence : str, optional
            As in :meth:`from_table`.

        Returns
        -------
        GroundTruth
        """
        if confidence is not None:
            from .truth_summary import ConfidenceLimit

            table = table.admitted_by(ConfidenceLimit.parse(confidence))
        seconds = (table.durations or None) if durations is None else durations
        timed = table.with_times(seconds)
        if ignored is not None:
            timed = timed.with_ignored(ignored.with_times(seconds))
        columns = timed.columns()
        clip_ids(timed.clip, table.where, timed.clip_location)
        return cls(
            columns,
            clips=timed.clip,
            durations=seconds,
            invalid=invalid,
            overlaps=overlaps,
            ignored_labels=ignored_labels,
            where=table.where,
            remarks=[
                *table.unused_confidences_note(),
                *other_durations_note(table.durations, durations, table.where),
                *unused_ignored_labels_note(ignored_labels, columns.label),
            ],
        )

    def events(self, clip: str) -> list[tuple[float, float, str]]:
        """Return the events of one clip, without ignored references.

        Parameters
        ----------
        clip : str
            Name of the clip.

        Returns
        -------
        list of tuple
            ``(onset, offset, label)``, in order of time, times in seconds.

        See Also
        --------
        ignored_events : The ignored references.

        Examples
        --------
        >>> GroundTruth.from_dict({"a": [(1, 2, "Dog")]}).events("a")
        [(1.0, 2.0, 'Dog')]
        """
        from .truth_summary import events_of_clip

        return events_of_clip(self, clip, ~self.ignored)

    def ignored_events(self, clip: str) -> list[tuple[float, float, str]]:
        """Return the ignored references of one clip.

        Parameters
        ----------
        clip : str
            Name of the clip.

        Returns
        -------
        list of tuple
            ``(onset, offset, label)``, in order of time, times in seconds.

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, ignored={"a": [(4, 5, "Dog")]})
        >>> truth.ignored_events("a")
        [(4.0, 5.0, 'Dog')]
        """
        from .truth_summary import events_of_clip

        return events_of_clip(self, clip, self.ignored)

    def relabelled(self, label_map: LabelMapLike) -> GroundTruth:
        """Return the same clips, with their events under new labels: renamed, merged or dropped.

        Events of different labels that become one class are merged where they overlap, unless overlapping
        events are kept (``overlaps="keep"``). Events that touch stay as they are.

        Parameters
        ----------
        label_map : LabelMap or mapping from str to str or None
            The new name of each label; None drops its events. Labels that are not named stay. Events whose
            new label is one that is ignored for every class are ignored, too.

        Returns
        -------
        GroundTruth

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": [(0, 2, "car"), (1, 3, "bus"), (3, 4, "bus")]})
        >>> truth.relabelled({"car": "vehicle", "bus": "vehicle"}).events("a")
        [(0.0, 3.0, 'vehicle'), (3.0, 4.0, 'vehicle')]
        """
        from .label_maps import relabelled_truth

        return relabelled_truth(self, label_map)

    def names_of(self, rows: NDArray[np.intp]) -> list[str]:
        """Return the labels of some events.

        Parameters
        ----------
        rows : array of int
            The events.

        Returns
        -------
        list of str
        """
        names = (*self.labels, *self.ignored_labels)
        return [names[label] for label in self.event_labels[rows]]

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per event, which :meth:`from_table` reads back.

        Events are ordered by clip, label and onset. Clips without events have no row.

        Returns
        -------
        polars.DataFrame
            With the columns ``filename``, ``onset``, ``offset`` and ``event_label``, times in seconds. If
            there are ignored references, a column ``ignored`` says which they are.

        Examples
        --------
        >>> GroundTruth.from_dict({"a": [(1, 2, "Dog")]}).to_polars().rows()
        [('a', 1.0, 2.0, 'Dog')]
        """
        from .truth_summary import event_table

        return event_table(self)

    def _uncut_references(
        self, clips: Sequence[str], class_number: Mapping[str, int]
    ) -> UncutReferences | None:
        """Return the references of the recordings that some clips were cut out of; None for whole clips."""
        return None

    def __len__(self) -> int:
        return len(self.onsets)

    def __repr__(self) -> str:
        ignored = f" ({np.count_nonzero(self.ignored)} ignored)" if self.ignored.any() else ""
        return (
            f"<GroundTruth: {counted(len(self), 'event')}{ignored}, {counted(len(self.clips), 'clip')}, "
            f"{counted(len(self.labels), 'class')}>"
        )

    def _repr_html_(self) -> str:
        from .truth_summary import class_table

        return class_table(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_noted": None}  # the rows of a file may not be fit to travel

    def _warnings_about(self, clips: Collection[str], labels: Collection[str]) -> list[str]:
        """Return what is unusual about the events of some clips and labels."""
        return notes_about(self, clips, labels)
