"""Scores and ground truth cut to scored regions: each region becomes a clip of its own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, issue_warnings, listing, subject
from .choices import Crossing
from .clips import clip_ids
from .cuts import Stretch, StretchLoader
from .events import EventColumns
from .ground_truth import GroundTruth
from .regions import Regions
from .scores import CUT_TO_REGIONS, Scores
from .times import TICKS_PER_SECOND, Ticks, lies_within
from .truth_summary import notes_without_late_ends
from .uncut_references import UncutReferences

if TYPE_CHECKING:
    from .label_maps import LabelMapLike

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
        if crossing not in get_args(Crossing):
            raise SedscopeError(f"crossing={crossing!r} is not valid. Choose 'cut', 'ignore' or 'drop'.")
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
        notes = notes_without_late_ends(recordings)
        notes += _unscored_note(recordings, {part.clip for part in parts.values()})
        if crossings:
            cross = subject(crossings, "reference event", "crosses")
            what = {"cut": "cut", "ignore": "ignored", "drop": "left out"}[crossing]
            was = "was" if crossings == 1 else "were"
            notes.append(f"{cross} the border of a region and {was} {what}.")
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
        if not unlisted:
            return []
        number = subject(len(unlisted), "clip", "has")
        verb = "is" if len(unlisted) == 1 else "are"
        return [
            f"{number} scores or detections, but {verb} neither in the ground truth nor in a region, so "
            f"nothing there is evaluated: {listing(unlisted)}."
        ]

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


def _cut_scores(recordings: Scores, stretches: Mapping[str, Stretch]) -> Scores:
    loader = StretchLoader(recordings, stretches)
    silent = recordings.assumed_clips
    return recordings._remade(
        stretches,
        loader.load,
        identify=loader.identify,
        processing=(*recordings.processing, CUT_TO_REGIONS),
        assumed_clips=[name for name, part in stretches.items() if part.clip in silent],
        locate=None,
        recut=_Recut(recordings, stretches),
    )


@dataclass(frozen=True, eq=False)
class _Recut:
    """Processes whole recordings and cuts them again. A class, because it may travel to another process."""

    recordings: Scores
    stretches: Mapping[str, Stretch]

    def __call__(self, process: Callable[[Scores], Scores]) -> Scores:
        return _cut_scores(process(self.recordings), self.stretches)


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
