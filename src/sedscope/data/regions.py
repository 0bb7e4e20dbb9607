"""Scored regions: the stretches of recordings that are evaluated."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError, counted, listing, shortened, subject
from .clips import clip_id
from .cuts import Stretch
from .events import EventColumns
from .ground_truth import GroundTruth
from .tables import RowLocation
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
        reversed_times = self._offsets < self._onsets
        self._refuse(reversed_times, "ends before it begins", "end before they begin")
        self._refuse(self._offsets == self._onsets, "has no length", "have no length")
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
            "them, give their durations (--durations)."
        )
        self._refuse(unknown, "is in no clip", "are in no clip", advice)

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
            is_whole_clip = start == 0 and end == ends.get(clip)
            name = clip if is_whole_clip else f"{clip}@{_seconds(start)}-{_seconds(end)}"
            if name in stretches or (name != clip and name in place):
                clashes.append(name)
            stretches[name] = Stretch(clip, start, end, is_whole_clip)
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


def _seconds(tick: int) -> str:
    """Write a time in seconds, without zeros at the end."""
    return f"{tick / 1e6:.6f}".rstrip("0").rstrip(".")
