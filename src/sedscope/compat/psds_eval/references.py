"""The references of an evaluation, and what detections are counted against them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...alignment.coverage import CoveredClips, squeezed_references_note
from ...data.times import Ticks, to_ticks
from ...errors import listing, subject, with_guesses
from .counting import PlacedEvents, confusion_matrix
from .events import ClipKey, Events, as_text, clip_key
from .results import FloatArray, Thresholds, as_psds_eval_errors


@dataclass(frozen=True, eq=False)
class References:
    """Reference events, in files that the metadata list and in others."""

    key: ClipKey
    events: Events
    durations: Ticks
    """Of all clips; 0 for those that the metadata do not list. They are the last ones."""
    notes: tuple[str, ...]
    """What is unusual about the references."""

    @classmethod
    def from_tables(cls, table: Any, metadata: Any, classes: Collection[str]) -> References:
        """Read checked tables of references and of files. ``classes``: those in addition."""
        key = clip_key(table.filename, metadata.filename)
        events = Events.from_table(table, key, "ground truth")
        events.refuse_overlaps("ground truth")
        listed = [key(as_text(name)) for name in metadata.filename.tolist()]
        clips = dict.fromkeys([*listed, *events.clip_names])
        durations = np.zeros(len(clips), np.int64)
        durations[: len(listed)] = to_ticks(metadata.duration.to_numpy(np.float64))
        labels = sorted({*classes, *events.label_names})
        events = events.numbered(_numbers(clips), _numbers(labels))
        notes = (*_row_notes(table, events, "ground truth"), *_reference_notes(events, durations))
        return cls(key, events, durations, notes)

    @property
    def classes(self) -> list[str]:
        """The classes, sorted."""
        return self.events.label_names

    @property
    def listed_clips(self) -> list[str]:
        """The clips that the metadata list."""
        return [
            name for name, ticks in zip(self.events.clip_names, self.durations, strict=True) if ticks
        ]

    @property
    def seconds(self) -> float:
        """The duration of all clips that the metadata list."""
        return float(self.durations.sum() / 1e6)

    def class_counts(self) -> FloatArray:
        """Return the number of references of each class."""
        return np.bincount(self.events.labels, minlength=len(self.classes)).astype(np.float64)

    def class_seconds(self) -> FloatArray:
        """Return the duration of the references of each class."""
        lengths = self.events.offsets - self.events.onsets
        return np.bincount(self.events.labels, lengths, len(self.classes)) / 1e6

    def detections(self, table: Any) -> tuple[Events, list[str]]:
        """Read a checked table of detections, and what is unusual about it. Leave out what can neither be
        right nor wrong."""
        detected = Events.from_table(table, self.key, "detection")
        detected.refuse_overlaps("detection")
        notes = _row_notes(table, detected, "detection")
        others = sorted(set(detected.label_names).difference(self.classes))
        if others:
            guesses = listing(with_guesses(others, self.classes))
            notes.append(f"Detections of unknown classes were left out: {guesses}.")
        notes += self._unlisted_note(detected)
        events = detected.numbered(_numbers(self.events.clip_names), _numbers(self.classes))
        events = events.chosen((events.clips >= 0) & (events.labels >= 0))
        return events, notes + self._coverage_notes(events)

    def _unlisted_note(self, detected: Events) -> list[str]:
        """Note clips that the metadata do not list."""
        listed = set(self.listed_clips)
        unlisted = [name for name in detected.clip_names if name not in listed]
        notes = _unlisted_notes(unlisted, "detections")
        if notes and len(unlisted) == len(detected.clip_names):
            notes[0] += " No other clip has detections: check the file names."
        return notes

    def _coverage_notes(self, events: Events) -> list[str]:
        """Note detections that do not fit the durations of their clips. Refuse those in another unit."""
        extents = np.zeros((len(self.durations), 3), np.int64)
        extents[events.clips, 0] = np.iinfo(np.int64).max
        np.minimum.at(extents[:, 0], events.clips, events.onsets)
        np.maximum.at(extents[:, 1], events.clips, events.onsets)
        np.maximum.at(extents[:, 2], events.clips, events.offsets)
        listed = self.durations > 0
        durations, extents = self.durations[listed], extents[listed]
        covered = CoveredClips(self.listed_clips, durations, extents, whole_clips=False)
        with as_psds_eval_errors():
            covered.refuse("To evaluate them as they are, use sedscope.evaluate with coverage='any'.")
        within = np.minimum(extents, durations[:, np.newaxis])  # what lies beyond has a note of its own
        notes = CoveredClips(self.listed_clips, durations, within, whole_clips=False).notes()
        beyond = np.flatnonzero(~self._in_listed_clips(events) & (self.durations[events.clips] > 0))
        if len(beyond):
            notes.append(
                f"{subject(len(beyond), 'detection', 'lies')} outside of the clip. False positives there do "
                f"not count (first: {events.describe(beyond[0])} of "
                f"{self.durations[events.clips[beyond[0]]] / 1e6:g} s)."
            )
        return notes

    def _in_listed_clips(self, events: Events) -> NDArray[np.bool_]:
        """Return which events lie in clips that the metadata list, at least in part."""
        return (events.onsets < self.durations[events.clips]) & (events.offsets > 0)

    def confusion_matrix(self, detections: Events, thresholds: Thresholds) -> FloatArray:
        """Count detections; see :func:`.counting.confusion_matrix`.

        All clips lie end to end on one line of time. Each reaches from its beginning or first reference to
        its end or last one.
        """
        lowest, highest = np.zeros_like(self.durations), self.durations.copy()
        np.minimum.at(lowest, self.events.clips, self.events.onsets)
        np.maximum.at(highest, self.events.clips, self.events.offsets)
        shifts = np.cumsum(highest - lowest) - highest

        def placed(events: Events) -> PlacedEvents:
            clips = events.clips
            onsets, offsets = (
                np.clip(times, lowest[clips], highest[clips]) + shifts[clips]
                for times in (events.onsets, events.offsets)
            )  # what lies outside of a clip shares no time with references
            return PlacedEvents(events.labels, events.offsets - events.onsets, onsets, offsets)

        within = self._in_listed_clips(detections)
        return confusion_matrix(
            placed(self.events), placed(detections), within, len(self.classes), thresholds
        )


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


def _row_notes(table: Any, events: Events, name: str) -> list[str]:
    """Note rows that are empty in part, and rows that repeat another."""
    notes = []
    cells = table[["onset", "offset", "event_label"]].notna()
    partial = int((cells.any(axis=1) & ~table.notna().all(axis=1)).sum())
    if partial:
        notes.append(
            f"{subject(partial, 'row', 'has')} empty cells and {'was' if partial == 1 else 'were'} left out "
            f"of the {name}."
        )
    repeated = len(events) - len(events.distinct())
    if repeated:
        notes.append(
            f"{subject(repeated, 'row', 'repeats')} another one of the {name}. Each counts; remove them if "
            "this is a mistake."
        )
    return notes


def _unlisted_notes(clips: Collection[str], what: str) -> list[str]:
    note = f"{subject(len(clips), 'clip', 'has')} {what} but no row in the metadata, so false positives there"
    return [f"{note} do not count: {listing(clips)}."] if clips else []


def _reference_notes(events: Events, durations: Ticks) -> list[str]:
    """Note references that do not fit the durations of their clips."""
    ends = durations[events.clips]
    unlisted = sorted({events.clip_names[clip] for clip in events.clips[ends == 0].tolist()})
    notes = _unlisted_notes(unlisted, "reference events")
    late = np.flatnonzero((ends > 0) & (events.offsets > ends))
    if len(late):
        i = late[0]
        kept = "its clip does and was kept" if len(late) == 1 else "their clip does and were kept"
        notes.append(
            f"{subject(len(late), 'reference event', 'ends')} after {kept} (first: "
            f"{events.describe(i)} of {ends[i] / 1e6:g} s)."
        )
    early = int(np.count_nonzero(events.onsets < 0))
    if early:
        notes.append(f"{subject(early, 'reference event', 'begins')} before 0 s.")
    return notes + squeezed_references_note(events.offsets, events.clips, durations)
