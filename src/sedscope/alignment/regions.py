"""Scored regions: the stretches of recordings that are evaluated, each as a clip of its own."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..data.choices import Crossing, check_choice
from ..data.clip_events import AnyClip, ClipEvents
from ..data.clips import clip_id, clip_ids
from ..data.events import EventColumns
from ..data.ground_truth import GroundTruth
from ..data.scores import CUT_TO_REGIONS, Scores
from ..data.tables import RowLocation
from ..data.times import TICKS_PER_SECOND, Ticks, lies_within, to_ticks
from ..errors import (
    SedscopeError,
    agreeing,
    by_kind,
    counted,
    issue_warnings,
    listing,
    note,
    refuse,
    shortened,
    subject,
)
from .cuts import Stretch, StretchLoader, UncutReferences

if TYPE_CHECKING:
    from ..data.label_maps import LabelMapLike


class Regions:
    """The stretches of recordings that are evaluated. Time outside of them is not.

    Most users call :func:`read_regions` or :meth:`from_dict`, then :func:`cut_to_regions`.

    Parameters
    ----------
    columns : EventColumns
        A row per region. The labels do not matter.
    where : str, default 'regions'
        What messages call the regions.

    Examples
    --------
    >>> Regions.from_dict({"night": [(0, 60), (600, 660)]})
    <Regions: 2 regions in 1 clip>
    """

    def __init__(self, columns: EventColumns, *, where: str = "regions") -> None:
        self._clips = [clip_id(name) for name in columns.clip]
        self._onsets, self._offsets = columns.onset, columns.offset
        self._locations = [columns.where(row) for row in range(len(self._clips))]
        self.where = where
        if not self._clips:
            raise SedscopeError(f"{where}: there are no regions.")
        reversed_times = self._offsets < self._onsets
        self._refuse(reversed_times, "ends before (it begins|they begin)")
        self._refuse(self._offsets == self._onsets, "has no length")
        self._refuse(self._onsets < 0, "begins before 0 s")
        self._refuse(self._overlapping(), "overlaps (another one|others)")

    @classmethod
    def from_dict(cls, regions: Mapping[str, Iterable[tuple[float, float]]]) -> Regions:
        """Make regions from times in memory.

        Parameters
        ----------
        regions : mapping from str to iterable of tuple
            ``{clip: [(onset, offset), …]}``, times in seconds.

        Returns
        -------
        Regions

        Examples
        --------
        >>> Regions.from_dict({"a.wav": [(0, 10)], "b.wav": [(5, 10)]})
        <Regions: 2 regions in 2 clips>
        """
        if not isinstance(regions, Mapping):
            raise SedscopeError(
                f"regions: give a mapping from clips to regions, not {type(regions).__name__}."
            )
        clips: list[str] = []
        times: list[Ticks] = []
        problems: list[str] = []
        for clip, spans in regions.items():
            for span in spans if isinstance(spans, Iterable) else [spans]:
                try:
                    onset, offset = span
                    times.append(to_ticks([onset, offset]))
                    clips.append(clip)
                except (TypeError, ValueError):
                    problems.append(f"{clip}: {shortened(repr(span))} is not (onset, offset)")
        if problems:
            number = counted(len(problems), "problem")
            raise SedscopeError(f"regions: {number}: {listing(by_kind(problems))}.")
        table = np.array(times, np.int64).reshape(-1, 2)
        return cls(EventColumns(clips, table[:, 0], table[:, 1], [""] * len(clips), "region {}".format))

    def __len__(self) -> int:
        return len(self._clips)

    def __repr__(self) -> str:
        return f"<Regions: {counted(len(self), 'region')} in {counted(len(set(self._clips)), 'clip')}>"

    def require_clips(self, known: Container[str]) -> None:
        """Refuse regions that are in none of the known clips.

        Parameters
        ----------
        known : container of str
            The clips of scores and ground truth.

        Examples
        --------
        >>> Regions.from_dict({"a": [(0, 1)]}).require_clips(["a", "b"])
        """
        unknown = np.array([clip not in known for clip in self._clips], bool)
        advice = (
            " Correct the names of the clips. If clips have no events and the ground truth does not list "
            "them, give their durations (`durations=`)."
        )
        self._refuse(unknown, "is in no clip", advice)

    def stretches(self, truth: GroundTruth) -> dict[str, Stretch]:
        """Return the regions by name, in order of the clips and of time.

        A region from 0 s to the end of its clip has the name of the clip; the others are named
        ``CLIP@ONSET-OFFSET``, with times in seconds.

        Parameters
        ----------
        truth : GroundTruth
            The ground truth of whole recordings, whose durations say where clips end.

        Returns
        -------
        dict of str to Stretch

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": [], "b": []}, durations={"a": 3, "b": 3})
        >>> [*Regions.from_dict({"a": [(0, 3)], "b": [(0, 2.5)]}).stretches(truth)]
        ['a', 'b@0-2.5']
        """
        ends: dict[str, int] = {}
        if truth.durations is not None:
            ends = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
        late = [
            end > ends.get(clip, end)
            for clip, end in zip(self._clips, self._offsets.tolist(), strict=True)
        ]
        self._refuse(np.array(late, bool), "ends after (its clip|their clips)")
        stretches: dict[str, Stretch] = {}
        place = {clip: i for i, clip in enumerate(truth.clips)}
        order = sorted(
            range(len(self)),
            key=lambda row: (
                place.get(self._clips[row], len(place)),
                self._clips[row],
                self._onsets[row],
            ),
        )
        clashes: list[str] = []
        for row in order:
            clip, start, end = self._clips[row], int(self._onsets[row]), int(self._offsets[row])
            is_whole_clip = start == 0 and end == ends.get(clip)
            name = clip if is_whole_clip else f"{clip}@{_seconds(start)}-{_seconds(end)}"
            if name in stretches or (name != clip and name in place):
                clashes.append(name)
            stretches[name] = Stretch(clip, start, end, is_whole_clip)
        refuse(clashes, "region", "has the name of another clip", "Rename the clips.", where=self.where)
        return stretches

    def _overlapping(self) -> NDArray[np.bool_]:
        order = sorted(range(len(self)), key=lambda row: (self._clips[row], self._onsets[row]))
        overlapping = np.zeros(len(self), bool)
        for before, row in pairwise(order):
            same = self._clips[before] == self._clips[row]
            overlapping[row] = same and self._onsets[row] < self._offsets[before]
        return overlapping

    def _refuse(
        self, wrong: NDArray[np.bool_], phrase: str, advice: str = " Correct the times."
    ) -> None:
        """Refuse the regions that are marked as wrong, and say where they are."""
        rows = np.flatnonzero(wrong).tolist()
        if not rows:
            return
        shown = [f"{self._locations[row]} ({self._text(row)})" for row in rows]
        lines = [
            location.finding(f"the region {self._text(row)} {agreeing(1, phrase)}")
            for row in rows
            if isinstance(location := self._locations[row], RowLocation)
        ]
        text = f"{self.where}: {subject(len(rows), 'region', phrase)}: {listing(shown)}.{advice}"
        raise SedscopeError(text, lines=lines)

    def _text(self, row: int) -> str:
        times = f"{_seconds(int(self._onsets[row]))}–{_seconds(int(self._offsets[row]))} s"
        return f"{shortened(self._clips[row], 100)}: {times}"


def _seconds(tick: int) -> str:
    """Write a time in seconds, without zeros at the end."""
    return f"{tick / 1e6:.6f}".rstrip("0").rstrip(".")


_Group = TypeVar("_Group", bound=Hashable)


class RegionTruth(GroundTruth):
    """The ground truth of regions. Each region is a clip of its own; times count from its start.

    Parameters
    ----------
    recordings : GroundTruth
        The ground truth of whole recordings.
    regions : Regions
        The regions.
    crossing : {'cut', 'ignore', 'drop'}, default 'cut'
        What to do with events that cross the border of a region; see :func:`cut_to_regions`.

    Attributes
    ----------
    recordings : GroundTruth
        The ground truth of whole recordings.
    regions : Regions
        The regions.
    stretches : dict of str to Stretch
        The regions by name.

    Examples
    --------
    >>> truth = GroundTruth.from_dict({"a": [(1, 4, "Dog")]}, durations={"a": 10})
    >>> RegionTruth(truth, Regions.from_dict({"a": [(0, 2), (3, 9)]}))
    <RegionTruth: 2 events, 2 clips, 1 class>
    """

    def __init__(self, recordings: GroundTruth, regions: Regions, crossing: Crossing = "cut") -> None:
        check_choice(Crossing, crossing=crossing)
        self.recordings, self.regions, self._crossing = recordings, regions, crossing
        self.stretches = regions.stretches(recordings)
        listed = set(recordings.clips)
        parts = {name: part for name, part in self.stretches.items() if part.clip in listed}
        if not parts:
            raise SedscopeError(
                f"{regions.where}: no region is in a clip of the ground truth, which has "
                f"{listing(recordings.clips)}."
            )
        events = _events_within(recordings, parts)
        crosses = events.crossing & ~recordings.ignored[events.row]  # ignored references are always cut
        crossings = len(np.unique(events.row[crosses]))
        kept = np.flatnonzero(~crosses) if crossing == "drop" else np.arange(len(events.row))
        names = [*parts]
        notes = recordings._lasting_notes()
        notes += _unscored_note(recordings, {part.clip for part in parts.values()})
        if crossings:
            what = {"cut": "cut", "ignore": "ignored", "drop": "left out"}[crossing]
            phrase = f"crosses the border of a region and (was|were) {what}."
            notes.append(subject(crossings, "reference event", phrase))
        ignored = recordings.ignored[events.row[kept]]
        if crossing == "ignore":
            ignored = ignored | crosses[kept]
        super().__init__(
            EventColumns(
                clip=[names[part] for part in events.part[kept]],
                onset=events.onset[kept],
                offset=events.offset[kept],
                label=recordings.names_of(events.row[kept]),
                where="event {}".format,
                ignored=ignored,
            ),
            clips=parts,
            durations={name: (part.end - part.start) / TICKS_PER_SECOND for name, part in parts.items()},
            invalid=recordings.invalid,
            overlaps="keep",  # those that are ignored now may overlap others that are
            ignored_labels=recordings.ignored_labels,
            remarks=notes,
        )
        self.overlaps, self.label_maps = recordings.overlaps, recordings.label_maps

    def cut_scores(self, scores: Scores) -> Scores:
        """Return the scores of the regions, which are cut when they are read.

        Post-processings of these scores see the whole recordings, and cut their results.

        Parameters
        ----------
        scores : Scores
            The scores of whole recordings.

        Returns
        -------
        Scores

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": []}, durations={"a": 3})
        >>> scores = Scores.from_arrays({"a": [[0.1], [0.5], [0.9]]}, classes=["Dog"], frame=1.0)
        >>> cut = RegionTruth(truth, Regions.from_dict({"a": [(0.5, 2)]})).cut_scores(scores)
        >>> cut["a@0.5-2"].values.ravel().tolist(), cut["a@0.5-2"].edges.tolist()
        ([0.1, 0.5], [0.0, 0.5, 1.5])
        """
        self.regions.require_clips({*self.recordings.clips, *scores})
        issue_warnings(self._unlisted_note(scores), stacklevel=2)
        stretches = {name: part for name, part in self.stretches.items() if part.clip in scores}
        return _cut_scores(scores, stretches)

    def _unlisted_note(self, scores: Scores) -> list[str]:
        """Note clips of the scores that are neither in the ground truth nor in a region."""
        known = {*self.recordings.clips, *self.recording_of.values()}
        unlisted = [clip for clip in scores if clip not in known]
        phrase = (
            "has scores or detections, but (is|are) neither in the ground truth nor in a region, so "
        )
        return note(unlisted, "clip", f"{phrase}nothing there is evaluated")

    @property
    def recording_of(self) -> dict[str, str]:
        """The recording of each region, to resample recordings: ``Resampling(groups=…)``."""
        return {name: part.clip for name, part in self.stretches.items()}

    def resampling_groups(self, groups: Mapping[str, Hashable] | None) -> dict[str, Hashable] | None:
        """Return the group of each region, so that regions of one recording are drawn together.

        Parameters
        ----------
        groups : mapping of clip to group or None
            The groups of recordings or of regions, if the user chose some.

        Returns
        -------
        dict of str to group or None
            None if every recording has one region, so that there is nothing to draw together.

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": []}, durations={"a": 10})
        >>> RegionTruth(truth, Regions.from_dict({"a": [(0, 2), (3, 9)]})).resampling_groups(None)
        {'a@0-2': 'a', 'a@3-9': 'a'}
        """
        if groups is not None:
            return self.groups_of_regions(groups)
        recordings = self.recording_of
        shared = len(set(recordings.values())) < len(recordings)
        return {**recordings} if shared else None

    def groups_of_regions(self, groups: Mapping[str, _Group]) -> dict[str, _Group]:
        """Return the group of each region: its own, or that of its recording.

        Parameters
        ----------
        groups : mapping of clip to group
            The groups of recordings or of regions.

        Returns
        -------
        dict of str to group
            Regions without a group are left out.

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": []}, durations={"a": 10})
        >>> RegionTruth(truth, Regions.from_dict({"a": [(0, 2)]})).groups_of_regions({"a.wav": "north"})
        {'a@0-2': 'north'}
        """
        of_clip = {clip: groups[name] for name, clip in clip_ids(groups, "groups").items()}
        return {
            name: of_clip[name if name in of_clip else recording]
            for name, recording in self.recording_of.items()
            if name in of_clip or recording in of_clip
        }

    def relabelled(self, label_map: LabelMapLike) -> RegionTruth:
        """Return the same regions of the recordings, with their events under new labels.

        Events are merged before they are cut; see :meth:`GroundTruth.relabelled`.

        Parameters
        ----------
        label_map : LabelMap or mapping from str to str or None
            The new name of each label; None drops its events. Labels that are not named stay.

        Returns
        -------
        RegionTruth

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": [(0, 3, "car"), (2, 6, "bus")]}, durations={"a": 9})
        >>> cut = RegionTruth(truth, Regions.from_dict({"a": [(1, 5)]}))
        >>> cut.relabelled({"car": "vehicle", "bus": "vehicle"}).events("a@1-5")
        [(0.0, 4.0, 'vehicle')]
        """
        return RegionTruth(self.recordings.relabelled(label_map), self.regions, self._crossing)

    def _uncut_references(
        self, clips: Sequence[str], class_number: Mapping[str, int]
    ) -> UncutReferences | None:
        listed = {*self.clips}
        parts = [self.stretches[clip] if clip in listed else None for clip in clips]
        if all(part is None or part.is_whole_clip for part in parts):
            return None
        return UncutReferences.of_regions(
            self.recordings, parts, class_number, crossing_count=self._crossing == "cut"
        )

    def __repr__(self) -> str:
        return super().__repr__().replace("GroundTruth", "RegionTruth")


def cut_to_regions(
    scores: Scores,
    truth: GroundTruth,
    regions: Regions | Mapping[str, Iterable[tuple[float, float]]],
    *,
    crossing: Crossing = "cut",
) -> tuple[Scores, RegionTruth]:
    """Cut scores and ground truth to the regions that are evaluated.

    Each region becomes a clip of its own, with times from its start, so that every criterion and metric
    applies to it: segments begin with the region, and rates count its length. A region from 0 s to the
    end of its clip keeps the name of the clip; others are named ``CLIP@ONSET-OFFSET``. Frames across a
    border are cut, and so are detections. Clips without a region are not evaluated.

    Parameters
    ----------
    scores : Scores
        The scores of whole recordings. They are cut when they are read. Post-processings of the result
        see the whole recordings, whether you apply them before or after this function.
    truth : GroundTruth
        The ground truth of whole recordings. If it has durations, a region must not end after its clip.
    regions : Regions or mapping
        The regions, or ``{clip: [(onset, offset), …]}`` in seconds. They must not overlap.
    crossing : {'cut', 'ignore', 'drop'}, default 'cut'
        What to do with reference events that cross the border of a region. With ``"cut"``, the part
        inside is a reference event. With ``"ignore"``, it is an ignored reference: it need not be found,
        and a detection of it is neither right nor wrong. With ``"drop"``, it is left out as if nothing
        were there, so a detection of it is a false alarm.

    Returns
    -------
    scores : Scores
        The scores of the regions.
    truth : RegionTruth
        The ground truth of the regions. To resample recordings instead of regions, pass
        ``groups=truth.recording_of`` to :class:`Resampling`.

    See Also
    --------
    read_regions : Regions from a file.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.9], [0.8], [0.1], [0.7]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 4})
    >>> cut_scores, cut_truth = sed.cut_to_regions(scores, truth, {"a": [(1, 3)]})
    >>> cut_truth.events("a@1-3"), cut_scores["a@1-3"].values.ravel().tolist()
    ([(0.0, 1.0, 'Dog')], [0.8, 0.1])
    """
    chosen = regions if isinstance(regions, Regions) else Regions.from_dict(regions)
    cut = RegionTruth(truth, chosen, crossing)
    return cut.cut_scores(scores), cut


class _ClipWithin(Stretch):
    """A clip without the frames that begin after it ends. The last frame keeps its length."""

    def of(self, clip: AnyClip) -> AnyClip:
        if self.is_whole_clip or isinstance(clip, ClipEvents):
            return super().of(clip)
        frames = int(np.searchsorted(clip.ticks[:-1], self.end))
        last = int(clip.ticks[frames])
        return clip if frames == len(clip.ticks) - 1 else Stretch(self.clip, 0, last).of(clip)


def trimmed(scores: Scores, truth: GroundTruth) -> Scores:
    """Leave out frames that begin after their clip ends, when scores are read.

    Post-processings of these scores see what was left out, and trim their results.
    """
    if truth.durations is None:
        raise SedscopeError(
            "`coverage='trim'` cuts scores to the durations of their clips, which are not known. Give them "
            "with `durations=`."
        )
    ends = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
    whole = {clip: _ClipWithin(clip, 0, ends.get(clip, 0), clip not in ends) for clip in scores}
    return _cut_scores(scores, whole, ())


def _cut_scores(
    recordings: Scores, stretches: Mapping[str, Stretch], steps: tuple[str, ...] = (CUT_TO_REGIONS,)
) -> Scores:
    """Cut recordings to stretches. ``steps``: what that adds to how the scores were processed."""
    loader = StretchLoader(recordings, stretches)
    silent = recordings.assumed_clips
    return recordings._remade(
        stretches,
        loader.load,
        identify=loader.identify,
        processing=(*recordings.processing, *steps),
        assumed_clips=[name for name, part in stretches.items() if part.clip in silent],
        locate=None,
        recut=partial(_recut, recordings, stretches, steps),
    )


def _recut(
    recordings: Scores,
    stretches: Mapping[str, Stretch],
    steps: tuple[str, ...],
    process: Callable[[Scores], Scores],
) -> Scores:
    """Process whole recordings, and cut them again."""
    return _cut_scores(process(recordings), stretches, steps)


class _EventsWithin(NamedTuple):
    """Reference events as they are within regions, with times from the start of the region."""

    row: NDArray[np.intp]
    """The event of the recordings."""
    part: NDArray[np.intp]
    """The region."""
    onset: Ticks
    offset: Ticks
    crossing: NDArray[np.bool_]
    """Whether the event reaches beyond the region."""


def _events_within(truth: GroundTruth, parts: Mapping[str, Stretch]) -> _EventsWithin:
    """Return what is within each region of the events that overlap it."""
    number = {clip: i for i, clip in enumerate(truth.clips)}
    starts = np.searchsorted(truth.event_clips, np.arange(len(truth.clips) + 1))
    columns: list[_EventsWithin] = []
    for k, part in enumerate(parts.values()):
        clip = number[part.clip]
        rows = np.arange(starts[clip], starts[clip + 1])
        onset, offset = truth.onsets[rows], truth.offsets[rows]
        crossing = np.zeros(len(rows), bool)
        if not part.is_whole_clip:
            inside = lies_within(onset, offset, part.start, part.end)
            rows, onset, offset = rows[inside], onset[inside], offset[inside]
            crossing = (onset < part.start) | (offset > part.end)
            onset = np.maximum(onset, part.start) - part.start
            offset = np.minimum(offset, part.end) - part.start
        columns.append(_EventsWithin(rows, np.full(len(rows), k), onset, offset, crossing))
    return _EventsWithin(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _unscored_note(truth: GroundTruth, scored: set[str]) -> list[str]:
    """Note the clips that have no region."""
    without = [clip for clip in truth.clips if clip not in scored]
    if not without:
        return []
    verbs = "has no region and is" if len(without) == 1 else "have no region and are"
    number = f"{len(without)} of the {counted(len(truth.clips), 'clip')} in the ground truth"
    return [f"{number} {verbs} not evaluated: {listing(without)}."]
