"""Ground truth: the reference events of each clip, and the durations of the clips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, note, refuse_nul, subject, with_guesses
from ..tabular import Tabular
from .choices import Invalid, Overlaps, check_choice
from .clips import as_durations, clip_id, clip_ids, duration_ticks, require_durations
from .event_table import EventTable, confidence_condition
from .events import EventColumns, arranged_events, columns_of_mapping
from .tables import FrameLike
from .times import TICKS_PER_SECOND, Ticks, to_seconds

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
        self.warnings = (*self._remarks, *notes, *self._late_ends())
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
            table = table.admitted_by(confidence_condition(confidence))
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
                *_other_durations_note(table.durations, durations, table.where),
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
        return self._events_of(clip, ~self.ignored)

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
        return self._events_of(clip, self.ignored)

    def _events_of(self, clip: str, chosen: NDArray[np.bool_]) -> list[tuple[float, float, str]]:
        """Return the chosen events of one clip, ``(onset, offset, label)`` in order of time."""
        name = clip if clip in self.clips else clip_id(clip)
        if name not in self.clips:
            raise SedscopeError(f"The ground truth has no clip {clip!r}.")
        rows = np.flatnonzero((self.event_clips == self.clips.index(name)) & chosen)
        rows = rows[np.argsort(self.onsets[rows], kind="stable")]
        times = (to_seconds(ticks[rows]).tolist() for ticks in (self.onsets, self.offsets))
        return [*zip(*times, self.names_of(rows), strict=True)]

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
        from ..results.frames import polars_frame

        columns: dict[str, NDArray[Any] | list[str]] = {
            "filename": [self.clips[clip] for clip in self.event_clips],
            "onset": to_seconds(self.onsets),
            "offset": to_seconds(self.offsets),
            "event_label": self.names_of(np.arange(len(self))),
        }
        if self.ignored.any():
            columns["ignored"] = self.ignored
        return polars_frame(columns)

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
        from ..results.frames import html_table

        names = (*self.labels, *self.ignored_labels)
        counts = ~self.ignored
        number = np.bincount(self.event_labels[counts], minlength=len(names))
        lengths = to_seconds(self.offsets - self.onsets)
        seconds = np.bincount(self.event_labels[counts], lengths[counts], minlength=len(names))
        ignored = np.bincount(self.event_labels[self.ignored], minlength=len(names))
        shows_ignored = bool(self.ignored.any())
        rows = (
            [label, str(number[i]), f"{seconds[i]:.1f}", *([str(ignored[i])] if shows_ignored else [])]
            for i, label in enumerate(names)
        )
        header = ["class", "events", "total seconds", *(["ignored"] if shows_ignored else [])]
        return html_table(header, rows, len(names), "class", title=repr(self))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_noted": None}  # the rows of a file may not be fit to travel

    def _warnings_about(self, clips: Collection[str], labels: Collection[str]) -> list[str]:
        """Return what is unusual about the events of some clips and labels."""
        if not self.warnings:
            return []
        clip_chosen = np.array([clip in clips for clip in self.clips], bool)
        everywhere = [True] * len(self.ignored_labels)
        label_chosen = np.array([*(label in labels for label in self.labels), *everywhere], bool)
        if clip_chosen.all() and label_chosen.all():
            return [*self.warnings]
        if self._noted is None:
            chosen = clip_chosen[self.event_clips] & label_chosen[self.event_labels]
            return self._lasting_notes() + self._late_ends(chosen)
        # the notes count rows that are no longer there, so those of the chosen rows are made anew
        events, where = self._noted
        rows = [
            i
            for i, (name, label) in enumerate(zip(events.clip, events.label, strict=True))
            if (label in labels or label in self.ignored_labels) and clip_id(name) in clips
        ]
        part = EventColumns(
            clip=[events.clip[i] for i in rows],
            onset=events.onset[rows],
            offset=events.offset[rows],
            label=[events.label[i] for i in rows],
            where=lambda i: events.where(rows[i]),
            ignored=None if events.ignored is None else events.ignored[rows],
        )
        durations = None
        if self.durations is not None:
            durations = dict(zip(self.clips, to_seconds(self.durations).tolist(), strict=True))
        again = GroundTruth(
            part,
            durations=durations,
            invalid=self.invalid,
            overlaps="keep" if self.overlaps == "keep" else "merge",
            ignored_labels=self.ignored_labels,
            where=where,
        )
        return [*self._remarks, *again.warnings]

    def _late_ends(self, chosen: NDArray[np.bool_] | None = None) -> list[str]:
        """Return a note on events, perhaps only the chosen ones, that end after their clip does."""
        if self.durations is None:
            return []
        beyond = self.offsets > self.durations[self.event_clips]
        late = np.flatnonzero(beyond if chosen is None else beyond & chosen)
        if not len(late):
            return []
        first = late[0]
        clip = self.event_clips[first]
        onset, offset, end = (
            ticks / 1e6 for ticks in (self.onsets[first], self.offsets[first], self.durations[clip])
        )
        kept = "its clip does and was kept" if len(late) == 1 else "their clip does and were kept"
        return [
            f"{subject(len(late), 'reference event', 'ends')} after {kept} "
            f"(first: clip {self.clips[clip]!r}, {onset:g}–{offset:g} s of {end:g} s)."
        ]

    def _lasting_notes(self) -> list[str]:
        """Return the warnings, except the one that depends on the events that are looked at."""
        late = self._late_ends()
        return [note for note in self.warnings if note not in late]


def _other_durations_note(
    stated: Mapping[str, float], durations: Mapping[str, float] | None, where: str
) -> list[str]:
    """Return a note on clips that have another duration in the file of the events than in ``durations``.

    Differences of up to a twentieth are a matter of rounding.
    """
    if not durations or not stated:
        return []
    ends, stated_ends = duration_ticks(durations), duration_ticks(stated)
    others = [
        f"{clip} ({end / TICKS_PER_SECOND:g} s, not {ends[clip] / TICKS_PER_SECOND:g} s)"
        for clip, end in stated_ends.items()
        if clip in ends and 20 * abs(end - ends[clip]) > max(end, ends[clip])
    ]
    return note(others, "clip", f"has another duration in {where} than in `durations=`, which counts")


def as_ignored_labels(labels: Iterable[str]) -> set[str]:
    """Return labels of events that are ignored for every class, without white space around them."""
    names = [labels] if isinstance(labels, str) else [*labels]
    if isinstance(labels, str) or not all(isinstance(name, str) and name.strip() for name in names):
        raise SedscopeError(f"ignored_labels must be a list of labels, not {labels!r}.")
    return {name.strip() for name in names}


def unused_ignored_labels_note(ignored_labels: Iterable[str], labels: Iterable[str]) -> list[str]:
    """Note labels that are to be ignored, but that no event has. ``labels``: those of all events."""
    known = {label.strip() for label in labels}
    unused = sorted(as_ignored_labels(ignored_labels) - known)
    if not unused:
        return []
    number = "label" if len(unused) == 1 else "labels"
    return [
        f"No reference event has the ignored {number} {listing(with_guesses(unused, sorted(known)))}. Check "
        "`ignored_labels=`."
    ]
