"""Scored regions: the stretches of recordings that are evaluated. Each becomes a clip of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, shortened, subject
from .cells import RowLocation
from .choices import Crossing
from .clip_ids import clip_id
from .event_table import EventColumns
from .ground_truth import GroundTruth
from .scores import Scores
from .stretches import CUT_TO_REGIONS, Stretch, StretchLoader
from .times import Ticks, to_ticks


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
        empty = self._offsets <= self._onsets
        self._refuse(empty, "has no length", "have no length")
        self._refuse(self._onsets < 0, "begins before 0 s", "begin before 0 s")
        self._refuse(self._overlapping(), "overlaps another one", "overlap others")

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
            raise SedscopeError(f"regions: {number}: {listing(problems)}.")
        table = np.array(times, np.int64).reshape(-1, 2)
        return cls(EventColumns(clips, table[:, 0], table[:, 1], [""] * len(clips), "region {}".format))

    def __len__(self) -> int:
        return len(self._clips)

    def __repr__(self) -> str:
        return f"<Regions: {counted(len(self), 'region')} in {counted(len(set(self._clips)), 'clip')}>"

    def cut_truth(self, truth: GroundTruth, crossing: Crossing = "cut") -> RegionTruth:
        """Return the ground truth of the regions.

        Parameters
        ----------
        truth : GroundTruth
            The ground truth of whole recordings.
        crossing : {'cut', 'drop'}, default 'cut'
            See :func:`cut_to_regions`.

        Returns
        -------
        RegionTruth

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": [(1, 4, "Dog")]}, durations={"a": 10})
        >>> Regions.from_dict({"a": [(0, 2), (3, 9)]}).cut_truth(truth).events("a@3-9")
        [(0.0, 1.0, 'Dog')]
        """
        return RegionTruth(truth, self, crossing)

    def cut_scores(self, scores: Scores, truth: RegionTruth) -> Scores:
        """Return the scores of the regions, which are cut when they are read.

        Post-processings of these scores see the whole recordings, and cut their results.

        Parameters
        ----------
        scores : Scores
            The scores of whole recordings.
        truth : RegionTruth
            The ground truth of the regions.

        Returns
        -------
        Scores

        Examples
        --------
        >>> truth = GroundTruth.from_dict({"a": []}, durations={"a": 3})
        >>> scores = Scores.from_arrays({"a": [[0.1], [0.5], [0.9]]}, classes=["Dog"], frame=1.0)
        >>> regions = Regions.from_dict({"a": [(0.5, 2)]})
        >>> cut = regions.cut_scores(scores, regions.cut_truth(truth))
        >>> cut["a@0.5-2"].values.ravel().tolist(), cut["a@0.5-2"].edges.tolist()
        ([0.1, 0.5], [0.0, 0.5, 1.5])
        """
        known = {*truth.recordings.clips, *scores}
        unknown = np.array([clip not in known for clip in self._clips], bool)
        self._refuse(unknown, "is in no clip", "are in no clip", " Correct the names of the clips.")
        stretches = {name: part for name, part in truth.stretches.items() if part.clip in scores}

        def cut(recordings: Scores) -> Scores:
            loader = StretchLoader(recordings, stretches)
            silent = recordings.assumed_clips
            return Scores(
                stretches,
                loader.load,
                **{
                    **recordings.facts(),
                    "identify": loader.identify,
                    "processing": (*recordings.processing, CUT_TO_REGIONS),
                    "assumed_clips": [name for name, part in stretches.items() if part.clip in silent],
                    "locate": None,
                },
                recut=lambda process: cut(process(recordings)),
            )

        return cut(scores)

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
        self._refuse(np.array(late, bool), "ends after its clip", "end after their clips")
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
            whole = start == 0 and end == ends.get(clip)
            name = clip if whole else f"{clip}@{_seconds(start)}-{_seconds(end)}"
            if name in stretches or (name != clip and name in place):
                clashes.append(name)
            stretches[name] = Stretch(clip, start, end, whole)
        if clashes:
            raise SedscopeError(
                f"{self.where}: {subject(len(clashes), 'region', 'has')} the name of another clip: "
                f"{listing(clashes)}. Rename the clips."
            )
        return stretches

    def _overlapping(self) -> NDArray[np.bool_]:
        order = sorted(range(len(self)), key=lambda row: (self._clips[row], self._onsets[row]))
        overlapping = np.zeros(len(self), bool)
        for before, row in pairwise(order):
            same = self._clips[before] == self._clips[row]
            overlapping[row] = same and self._onsets[row] < self._offsets[before]
        return overlapping

    def _refuse(
        self, wrong: NDArray[np.bool_], singular: str, plural: str, advice: str = " Correct the times."
    ) -> None:
        """Refuse the regions that are marked as wrong, and say where they are."""
        rows = np.flatnonzero(wrong).tolist()
        if not rows:
            return
        shown = [f"{self._locations[row]} ({self._text(row)})" for row in rows]
        lines = []
        for row in rows:
            location, message = self._locations[row], f"the region {self._text(row)} {singular}"
            if isinstance(location, RowLocation):
                lines.append(location.finding(message))
        number = f"{counted(len(rows), 'region')} {singular if len(rows) == 1 else plural}"
        raise SedscopeError(f"{self.where}: {number}: {listing(shown)}.{advice}", lines=lines)

    def _text(self, row: int) -> str:
        times = f"{_seconds(int(self._onsets[row]))}–{_seconds(int(self._offsets[row]))} s"
        return f"{shortened(self._clips[row], 100)}: {times}"


class RegionTruth(GroundTruth):
    """The ground truth of regions. Each region is a clip of its own; times count from its start.

    Parameters
    ----------
    recordings : GroundTruth
        The ground truth of whole recordings.
    regions : Regions
        The regions.
    crossing : {'cut', 'drop'}, default 'cut'
        What to do with events that cross the border of a region; see :func:`cut_to_regions`.

    Attributes
    ----------
    recordings : GroundTruth
        The ground truth of whole recordings.
    stretches : dict of str to Stretch
        The regions by name.

    Examples
    --------
    >>> truth = GroundTruth.from_dict({"a": [(1, 4, "Dog")]}, durations={"a": 10})
    >>> RegionTruth(truth, Regions.from_dict({"a": [(0, 2), (3, 9)]}))
    <RegionTruth: 2 events, 2 clips, 1 class>
    """

    def __init__(self, recordings: GroundTruth, regions: Regions, crossing: Crossing = "cut") -> None:
        if crossing not in ("cut", "drop"):
            raise SedscopeError(f"crossing={crossing!r} is not valid. Choose 'cut' or 'drop'.")
        self.recordings, self.regions = recordings, regions
        self.stretches = regions.stretches(recordings)
        listed = set(recordings.clips)
        parts = {name: part for name, part in self.stretches.items() if part.clip in listed}
        if not parts:
            raise SedscopeError(
                f"{regions.where}: no region is in a clip of the ground truth, which has "
                f"{listing(recordings.clips)}."
            )
        events = _events_within(recordings, parts)
        crossings = len(np.unique(events.row[events.crossing]))
        kept = np.flatnonzero(~events.crossing) if crossing == "drop" else np.arange(len(events.row))
        names = [*parts]
        notes = [note for note in recordings.warnings if note not in recordings.late_ends()]
        notes += _unscored_note(recordings, {part.clip for part in parts.values()})
        if crossings:
            number = (
                f"{counted(crossings, 'reference event')} {'crosses' if crossings == 1 else 'cross'}"
            )
            was = f"{'was' if crossings == 1 else 'were'} {'cut' if crossing == 'cut' else 'left out'}"
            notes.append(f"{number} the border of a region and {was}.")
        super().__init__(
            EventColumns(
                clip=[names[part] for part in events.part[kept]],
                onset=events.onset[kept],
                offset=events.offset[kept],
                label=[recordings.labels[recordings.event_labels[row]] for row in events.row[kept]],
                where="event {}".format,
            ),
            clips=parts,
            durations={name: (part.end - part.start) / 1e6 for name, part in parts.items()},
            invalid=recordings.invalid,
            remarks=notes,
        )

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
        recordings = self.recording_of
        if groups is None:
            shared = len(set(recordings.values())) < len(recordings)
            return {**recordings} if shared else None
        of_clip = {clip_id(name): group for name, group in groups.items()}
        named: dict[str, Hashable] = {}
        for name, recording in recordings.items():
            if name in of_clip or recording in of_clip:
                named[name] = of_clip.get(name, of_clip.get(recording))
        return named

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
    crossing : {'cut', 'drop'}, default 'cut'
        What to do with reference events that cross the border of a region. With ``"cut"``, the part
        inside is a reference event. With ``"drop"``, it is left out as if nothing were there, so a
        detection of it is a false alarm.

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
    cut = chosen.cut_truth(truth, crossing)
    return chosen.cut_scores(scores, cut), cut


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
        if not part.whole:
            inside = (onset < part.end) & (offset > part.start)
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


def _seconds(tick: int) -> str:
    """Write a time in seconds, without zeros at the end."""
    return f"{tick / 1e6:.6f}".rstrip("0").rstrip(".")
