"""Deltas: how counts change when the threshold falls below each score, per class and clip.

They are the centre of the design: found clip by clip, merged in any grouping, and added up to counts. The
functions at the end add up rows with the weights of their clips, combine deltas, and take parts of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..criteria import Criterion
from ..criteria.delta_tables import DeltaRows, DeltaTables, FalseAlarmRows
from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..data.times import TICKS_PER_SECOND, Ticks
from ..errors import SedscopeError, counted, listing, refuse, refuse_nul
from ..postprocessing import PostProcessing
from .clip_reader import thread_count
from .counts import ClassCounts, Counts, CountsInBlocks
from .provenance import Provenance, refuse_different
from .tally import last_of_runs

ROWS_TO_KEEP = 10_000_000  # of deltas; the counts of more would take too much memory


@dataclass(frozen=True, eq=False, repr=False)
class Deltas:
    """How the counts of a criterion change as the threshold falls, per class and clip.

    :func:`~sedscope.deltas` finds them, :func:`~sedscope.load_deltas` reads them from a file.

    Attributes
    ----------
    criterion : Criterion
        What counts as found.
    classes, clips : tuple of str
        What was evaluated.
    durations : array
        The duration of each clip, in microseconds.
    floors : array
        The deltas of a class are exact at scores above its floor; ``-inf`` where every threshold is
        covered.
    tables : DeltaTables
        The changes, one row each.
    variants : mapping of post-processing to Deltas
        The deltas of post-processed scores, where they were requested.
    provenance : Provenance
        What is known of the scores: the name of the system, its post-processing, and a digest.
    extents : array or None
        (clips × 3) where the first frame of each clip begins, and where its last one begins and ends, in
        microseconds. None if that is not known.
    clip_numbers : array or None
        How many clips each clip stands for, if clips were added up to units; None if each is one.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> deltas = sed.deltas(scores, truth, sed.Collar())
    >>> deltas
    <Deltas of Collar(onset=0.2, offset=0.2, offset_rate=0.2): 1 clip, 1 class, 3 rows>
    """

    criterion: Criterion
    classes: tuple[str, ...]
    clips: tuple[str, ...]
    durations: Ticks
    floors: ScoreArray
    tables: DeltaTables
    variants: Mapping[PostProcessing, Deltas] = field(default_factory=dict)
    provenance: Provenance = field(default_factory=Provenance)
    extents: Ticks | None = None
    clip_numbers: IntArray | None = None

    def __repr__(self) -> str:
        return (
            f"<Deltas of {self.criterion!r}: {counted(len(self.clips), 'clip')}, "
            f"{counted(len(self.classes), 'class')}, {counted(self.tables.rows(), 'row')}>"
        )

    def _repr_html_(self) -> str:
        from ..results.frames import html_facts

        facts = {
            "criterion": repr(self.criterion),
            "clips": f"{len(self.clips)}",
            "hours": f"{self.durations.sum() / TICKS_PER_SECOND / 3600:.2f}",
            "classes": f"{len(self.classes)}: {listing(self.classes)}",
            "rows": f"{self.tables.rows()}",
        }
        if self.variants:
            facts["post-processings"] = listing([repr(variant) for variant in self.variants])
        return html_facts("Deltas", facts)

    def _described(self, other: Deltas) -> str:
        """Say what the deltas are of, beside others that are of something else."""
        text = f"{self.criterion} on {listing(self.classes)}"
        if self.variants.keys() == other.variants.keys():
            return text
        variants = listing([repr(variant) for variant in self.variants])
        return f"{text}, {f'with the variants {variants}' if variants else 'without variants'}"

    def merge(self, *others: Deltas, mixed: bool = False) -> Deltas:
        """Merge with the deltas of other clips, in any order and grouping.

        Parameters
        ----------
        *others : Deltas
            Deltas of other clips, with the same criterion, classes and variants.
        mixed : bool, default False
            Whether the deltas may come from different systems or post-processings. By default that is
            an error, as far as it is known where they come from.

        Returns
        -------
        Deltas
            The deltas of all clips, exact above the highest floor of each class.

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(6)
        >>> scores = sed.simulate.scores(truth)
        >>> first, second = (sed.deltas(scores, truth, sed.Collar(), clips=truth.clips[i::2]) for i in (0, 1))
        >>> len(first.merge(second).clips)
        6
        """
        if not others:
            return self
        parts = (self, *others)
        for part in others:
            same = (part.criterion, part.classes, part.variants.keys()) == (
                self.criterion,
                self.classes,
                self.variants.keys(),
            )
            if not same:
                raise SedscopeError(
                    "Deltas can be merged only if they have the same criterion, classes and variants: "
                    f"{self._described(part)}; {part._described(self)}."
                )
        provenances = [part.provenance for part in parts]
        if not mixed:
            refuse_different(provenances)
        clips = tuple(clip for part in parts for clip in part.clips)
        if len(set(clips)) < len(clips):
            twice = sorted(clip for clip, times in Counter(clips).items() if times > 1)
            refuse(twice, "clip", "is in more than one of the deltas")
        floors: ScoreArray = np.stack([part.floors for part in parts]).max(axis=0)
        raised = any((part.floors < floors).any() for part in parts)
        extents = [part.extents for part in parts if part.extents is not None]
        return Deltas(
            criterion=self.criterion,
            classes=self.classes,
            clips=clips,
            durations=np.concatenate([part.durations for part in parts]),
            floors=floors,
            tables=DeltaTables.concatenate(
                [part.tables for part in parts],
                [len(part.clips) for part in parts],
                floors if raised else None,
                thread_count(None),
            ),
            variants={
                variant: deltas.merge(*(part.variants[variant] for part in others), mixed=mixed)
                for variant, deltas in self.variants.items()
            },
            provenance=provenances[0].merge(*provenances[1:]),
            extents=np.concatenate(extents) if len(extents) == len(parts) else None,
            clip_numbers=(
                None
                if self.clip_numbers is None
                else np.concatenate(
                    [part.clip_numbers for part in parts if part.clip_numbers is not None]
                )
            ),
        )

    def above(self, floors: ScoreArray) -> Deltas:
        """Return the deltas above some floors only.

        Parameters
        ----------
        floors : array of float, shape (classes,)
            The floor of each class.

        Returns
        -------
        Deltas

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> deltas = sed.deltas(scores, truth, sed.Collar())
        >>> deltas.above(np.array([0.5])).counts()["Dog"].scores.tolist()
        [0.9]
        """
        raised: ScoreArray = np.maximum(self.floors, floors)
        return replace(self, floors=raised, tables=self.tables.above(raised))

    def of_clips(self, kept: NDArray[np.bool_]) -> Deltas:
        """Return the deltas of some of the clips. ``kept``: whether each clip is one of them.

        Parameters
        ----------
        kept : array of bool, shape (clips,)
            Whether each clip is kept.

        Returns
        -------
        Deltas

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> deltas = sed.deltas(scores, truth, sed.Collar())
        >>> deltas.of_clips(np.array([False])).clips
        ()
        """
        variants = {variant: deltas.of_clips(kept) for variant, deltas in self.variants.items()}
        return self._members(np.flatnonzero(kept), self.tables.of_clips(kept), variants)

    def _members(
        self, clips: NDArray[np.intp], tables: DeltaTables, variants: Mapping[PostProcessing, Deltas]
    ) -> Deltas:
        """Return the deltas of some of the clips, in this order. ``tables``, ``variants``: theirs."""

        def chosen(column: NDArray[Any] | None) -> Any:
            return None if column is None else column[clips]

        return replace(
            self,
            clips=tuple(self.clips[clip] for clip in clips.tolist()),
            durations=self.durations[clips],
            tables=tables,
            variants=variants,
            provenance=replace(self.provenance, scores=None),
            extents=chosen(self.extents),
            clip_numbers=chosen(self.clip_numbers),
        )

    def of_system(self, name: str | None) -> Deltas:
        """Return the same deltas, with the name of the system that they come from.

        Parameters
        ----------
        name : str or None
            The name. None if it is not known.

        Returns
        -------
        Deltas

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(2)
        >>> deltas = sed.deltas(sed.simulate.scores(truth), truth, sed.Collar())
        >>> deltas.of_system("baseline").provenance.system
        'baseline'
        """
        refuse_nul([name], "system")
        return replace(
            self,
            provenance=replace(self.provenance, system=name),
            variants={variant: deltas.of_system(name) for variant, deltas in self.variants.items()},
        )

    def certain_false_alarms(self) -> FloatArray:
        """Return the score below which each clip has a false positive at any threshold, as (classes × clips).

        In clips without references of the class, that is the largest score. Where references, ignored or
        not, leave it open, and where no score lies above the floor, it is ``-inf``.

        Returns
        -------
        array of float, shape (classes, clips)
        """
        rows, references = self.tables.detections, self.tables.references
        largest = np.full((len(self.classes), len(self.clips)), -np.inf)
        filled = rows.starts[:, 1:] > rows.starts[:, :-1]
        if filled.any():
            largest[filled] = np.maximum.reduceat(rows.scores, rows.starts[:, :-1][filled])
        largest[references.labels, references.clips] = -np.inf
        largest[self.tables.ignored.labels, self.tables.ignored.clips] = -np.inf
        certain = self.tables.certain.above(self.floors)
        largest[certain.labels, certain.clips] = certain.scores
        return largest

    def counts(
        self, *, weights: NDArray[np.integer[Any]] | None = None, threads: int | None = None
    ) -> Counts:
        """Add the deltas up to the counts of each class, at every score where a count changes.

        Parameters
        ----------
        weights : array of int, optional
            How many times each clip counts; once unless given. The counts are those of a set in which
            each clip occurs this many times.
        threads : int, optional
            The number of threads; one per core unless given.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> deltas = sed.deltas(scores, truth, sed.Collar())
        >>> deltas.counts(weights=np.array([3]))["Dog"].tp.tolist()
        [3, 0]
        """
        tables, workers = self.tables, thread_count(threads)
        clip_weights = as_clip_weights(weights, len(self.clips))
        totals = self._totals(clip_weights)
        per_class: Mapping[str, ClassCounts]
        if clip_weights is None and tables.rows() > ROWS_TO_KEEP:
            per_class = _CountsOnDemand(self, totals, workers)
        else:
            classes = range(len(self.classes))
            class_totals = self._add_up(classes, clip_weights, workers)
            per_class = self._of_classes(classes, class_totals, totals, clip_weights)
        any_label = None
        if tables.any_label is not None:
            any_label = any_label_pairs(tables.any_label, clip_weights, workers)
        variants = {
            variant: deltas.counts(weights=weights, threads=threads)
            for variant, deltas in self.variants.items()
        }
        return replace(totals, per_class=per_class, any_label=any_label, variants=variants)

    def as_counts(self, added: Sequence[_native.ClassTotals], weights: NDArray[np.int32]) -> Counts:
        """Return the totals of each class, added up with some weights of the clips, as counts.

        Parameters
        ----------
        added : sequence of ClassTotals
            The totals of each class, as the core adds them up.
        weights : array of int, shape (clips,)
            How many times each clip counts.

        Returns
        -------
        Counts
        """
        totals = self._totals(weights)
        per_class = self._of_classes(range(len(self.classes)), added, totals, weights)
        return replace(totals, per_class=per_class)

    def _totals(self, weights: NDArray[np.int32] | None) -> Counts:
        """Return what needs no adding up, as counts of no class yet."""
        repeats = times_counted(weights, len(self.clips))
        rows = self.tables.references
        events, ticks = np.zeros((2, len(self.classes)), np.int64)
        each = 1 if rows.numbers is None else rows.numbers
        np.add.at(events, rows.labels, repeats[rows.clips] * each)
        np.add.at(ticks, rows.labels, repeats[rows.clips] * rows.times)
        numbers = dict(zip(self.classes, events.tolist(), strict=True))
        times = dict(zip(self.classes, ticks.tolist(), strict=True))
        return Counts(
            criterion=self.criterion,
            per_class={},
            clips=int((repeats * (1 if self.clip_numbers is None else self.clip_numbers)).sum()),
            duration=int((repeats * self.durations).sum()) / TICKS_PER_SECOND,
            references=times if self.criterion.measures_time else numbers,
            reference_times={label: time / TICKS_PER_SECOND for label, time in times.items()},
            reference_events=numbers,
        )

    def _add_up(
        self, classes: range, weights: NDArray[np.int32] | None, threads: int
    ) -> Sequence[_native.ClassTotals]:
        """Add up the rows of some consecutive classes."""
        detections, cross_triggers = self.tables.detections, self.tables.cross_triggers
        tp_changes, fp_changes = weighted(detections, detections.columns, weights)
        labels, changes = cross_triggers.columns
        (ct_changes,) = weighted(cross_triggers, (changes,), weights)
        of_classes = slice(classes.start, classes.stop)
        crossed = _native.CrossTriggerDeltas(
            starts=cross_triggers.starts[of_classes],
            scores=cross_triggers.scores,
            labels=labels,
            ct=ct_changes,
        )
        return _native.accumulate(
            _native.DetectionDeltas(
                starts=detections.starts[of_classes],
                scores=detections.scores,
                tp=tp_changes,
                fp=fp_changes,
            ),
            crossed if len(labels) else None,
            threads,
        )

    def _of_classes(
        self,
        classes: range,
        class_totals: Sequence[_native.ClassTotals],
        totals: Counts,
        weights: NDArray[np.int32] | None,
    ) -> dict[str, ClassCounts]:
        """Return the counts of some consecutive classes from their totals."""
        tables, repeats = self.tables, times_counted(weights, len(self.clips))
        trials = self._trials(repeats)
        fp_below_floors = self._fp_below_floors(classes, repeats)
        per_class: dict[str, ClassCounts] = {}
        for c, sums, fp_below_floor in zip(classes, class_totals, fp_below_floors, strict=True):
            label = self.classes[c]
            of_class = ClassCounts(
                label=label,
                scores=sums.scores,
                tp=sums.tp,
                fp=sums.fp,
                references=totals.references[label],
                reference_time=totals.reference_times[label],
                trials=None if trials is None else trials[c],
                floor=float(self.floors[c]),
                cross_rows=sums.cross_rows,
                cross_labels=sums.cross_labels,
                cross_changes=sums.cross_changes,
                classes=self.classes,
                fp_below_floor=fp_below_floor,
                measures_time=self.criterion.measures_time,
            )
            if tables.errors is not None:
                of_class = with_errors(of_class, tables.errors, c, repeats)
            if tables.right is not None:
                of_class = with_right(of_class, tables.right, c, repeats)
            per_class[label] = of_class
        return per_class

    def _trials(self, repeats: IntArray) -> list[int] | None:
        """Return how many segments, or how much time, is judged for each class; None for criteria about
        events."""
        if self.tables.trials is None:
            return None
        ignored = self.tables.ignored
        trials = np.full(len(self.classes), (repeats * self.tables.trials).sum())
        np.subtract.at(trials, ignored.labels, repeats[ignored.clips] * ignored.trials)
        return trials.tolist()

    def _fp_below_floors(self, classes: range, repeats: IntArray) -> list[int]:
        """Return how many false positives each class has at least, at any threshold below its floor.

        A clip without references of the class, ignored or not, that has scores above the floor has one
        there, and so have clips of which the criterion knows that.
        """
        if np.isneginf(self.floors[classes.start : classes.stop]).all():
            return [0] * len(classes)
        return (self._alarm_numbers(classes) @ repeats).tolist()

    def _alarm_numbers(self, classes: range) -> IntArray | NDArray[np.bool_]:
        """Return (classes × clips) how many false positives there are certainly below the floors; whether
        there is one, unless clips were added up."""
        of_classes = slice(classes.start, classes.stop)
        if (alarms := self.tables.alarms) is not None:
            before = np.concatenate([[0], np.cumsum(alarms.columns[0], dtype=np.int64)])
            return np.diff(before[alarms.starts[of_classes]], axis=1)
        starts = self.tables.detections.starts[of_classes]
        certain = starts[:, 1:] > starts[:, :-1]
        for rows in (self.tables.references, self.tables.ignored):
            inside = (rows.labels >= classes.start) & (rows.labels < classes.stop)
            certain[rows.labels[inside] - classes.start, rows.clips[inside]] = False
        known = self.tables.certain.above(self.floors)
        inside = (known.labels >= classes.start) & (known.labels < classes.stop)
        certain[known.labels[inside] - classes.start, known.clips[inside]] = True
        return certain


class _CountsOnDemand(CountsInBlocks):
    """Counts that are added up when they are read; only those of the last block are kept."""

    def __init__(self, deltas: Deltas, totals: Counts, threads: int) -> None:
        self._deltas, self._totals = deltas, totals
        most_rows = int(np.diff(deltas.tables.detections.class_starts()).max())
        self._block_size = max(1, min(threads, ROWS_TO_KEEP // max(1, most_rows)))
        self._block: dict[str, ClassCounts] = {}

    def __getitem__(self, label: str) -> ClassCounts:
        if label in self._block:
            return self._block[label]
        if label not in self._deltas.classes:
            raise KeyError(label)
        self._block = {}  # before others are added up
        c, size = self._deltas.classes.index(label), self._block_size
        classes = range(c - c % size, min(c - c % size + size, len(self)))
        class_totals = self._deltas._add_up(classes, None, size)
        self._block = self._deltas._of_classes(classes, class_totals, self._totals, None)
        return self._block[label]

    def blocks(self) -> Iterator[Sequence[str]]:
        for first in self._deltas.classes[:: self._block_size]:
            self[first]  # adds the whole block up
            yield [*self._block]

    @property
    def threads(self) -> int:
        return self._block_size

    def __iter__(self) -> Iterator[str]:
        return iter(self._deltas.classes)

    def __len__(self) -> int:
        return len(self._deltas.classes)


def times_counted(weights: NDArray[np.int32] | None, clips: int) -> IntArray:
    """Return how many times each clip counts."""
    return np.ones(clips, np.int64) if weights is None else weights.astype(np.int64)


def as_clip_weights(weights: NDArray[np.integer[Any]] | None, clips: int) -> NDArray[np.int32] | None:
    """Check weights of the clips that a user chose."""
    if weights is None:
        return None
    array = np.asarray(weights)
    one_per_clip = array.dtype.kind in "iu" and array.shape == (clips,)
    if not one_per_clip or (array < 0).any() or (array > 2**24).any():
        raise SedscopeError(
            f"weights must be {clips} whole numbers from 0 to {2**24}, one for each clip."
        )
    return array.astype(np.int32)


def weighted(
    table: DeltaRows, columns: Sequence[NDArray[Any]], weights: NDArray[np.int32] | None
) -> Sequence[NDArray[Any]]:
    """Multiply the changes by the weight of their clip, in wider columns."""
    if weights is None:
        return columns
    of_rows = weights[table.clip_of_row()]
    wider = {1: np.int32, 4: np.int64, 8: np.int64}
    return [column * of_rows.astype(wider[column.itemsize], copy=False) for column in columns]


def with_errors(counts: ClassCounts, table: DeltaRows, c: int, weights: IntArray) -> ClassCounts:
    """Add the sums of boundary errors in seconds, with a row wherever one of them changes."""
    counts, sums = _with_sums(counts, table, c, weights)
    return replace(counts, errors=sums / TICKS_PER_SECOND)


def with_right(counts: ClassCounts, table: DeltaRows, c: int, weights: IntArray) -> ClassCounts:
    """Add the number of right detections, with a row wherever it changes."""
    counts, sums = _with_sums(counts, table, c, weights)
    return replace(counts, right=sums[:, 0])


def _with_sums(
    counts: ClassCounts, table: DeltaRows, c: int, weights: IntArray
) -> tuple[ClassCounts, IntArray]:
    """Return counts with a row wherever the sum of a column changes, and these sums as (rows × columns)."""
    first, last = table.class_starts()[c : c + 2]
    order = np.argsort(-table.scores[first:last], kind="stable")
    changed_scores = table.scores[first:last][order]
    of_rows = weights[table.clip_of_row()[first:last][order]]
    changes = np.stack([column[first:last][order] * of_rows for column in table.columns], axis=1)
    ends = last_of_runs(changed_scores)
    nothing = np.zeros((1, len(table.columns)), np.int64)
    sums = np.concatenate([nothing, np.cumsum(changes, axis=0)[ends]])
    changed = (sums[1:] != sums[:-1]).any(axis=1)
    changed_scores, sums = changed_scores[ends][changed], np.concatenate([sums[:1], sums[1:][changed]])
    scores = np.union1d(counts.scores, changed_scores)[::-1]
    rows = len(counts.scores) - np.searchsorted(counts.scores[::-1], scores, side="left")
    tally = counts.tally().rows(rows)
    more = replace(
        counts,
        scores=scores,
        tp=np.asarray(tally.tp),
        fp=np.asarray(tally.fp),
        cross_rows=np.searchsorted(rows, counts.cross_rows, side="right"),
    )
    return more, sums[np.searchsorted(-changed_scores, -scores, side="right")]


def any_label_pairs(
    table: DeltaRows, weights: NDArray[np.int32] | None, threads: int
) -> tuple[ScoreArray, IntArray]:
    """Return the scores at which the number of pairs regardless of label changes, and that number."""
    (changes,) = weighted(table, table.columns, weights)
    deltas = _native.DetectionDeltas(
        starts=table.starts, scores=table.scores, tp=changes, fp=np.zeros_like(changes)
    )
    (totals,) = _native.accumulate(deltas, None, threads)
    return totals.scores, totals.tp


def combine(variants: Sequence[Deltas], choice: NDArray[np.integer]) -> Deltas:
    """Combine several deltas of the same clips, taking each class and clip from one of them.

    ``choice``: (classes × clips) the index of the deltas to take. The result is exact above the highest
    floor of a class, and ends there.
    """
    first = variants[0]
    source = np.ascontiguousarray(choice).ravel()
    floors = np.stack([deltas.floors for deltas in variants])
    highest = [floors[np.unique(of_class), c].max() for c, of_class in enumerate(choice)]
    combined = replace(
        first,
        floors=np.array(highest, floors.dtype),
        provenance=(
            first.provenance
            if all(deltas.provenance == first.provenance for deltas in variants)
            else replace(first.provenance, processing=None)
        ),
        tables=replace(
            first.tables,
            detections=DeltaRows.choose([deltas.tables.detections for deltas in variants], source),
            cross_triggers=DeltaRows.choose(
                [deltas.tables.cross_triggers for deltas in variants], source
            ),
            errors=None,
            any_label=None,
            certain=FalseAlarmRows.choose([deltas.tables.certain for deltas in variants], choice),
            right=(
                None
                if first.tables.right is None
                else DeltaRows.choose(
                    [deltas.tables.right for deltas in variants if deltas.tables.right is not None],
                    source,
                )
            ),
        ),
    )
    return combined.above(combined.floors) if (floors < combined.floors).any() else combined


def refuse_different_scores(parts: Sequence[Deltas]) -> None:
    """Refuse deltas of several criteria that were not found in the same scores, as far as that is known."""
    refuse_different([part.provenance for part in parts])
    first: dict[frozenset[str], Deltas] = {}
    for part in parts:
        if part.provenance.scores is None:
            continue
        other = first.setdefault(frozenset(part.clips), part)
        if other.provenance.scores != part.provenance.scores:
            raise SedscopeError(
                f"The deltas of {other.criterion!r} and {part.criterion!r} come from different scores of "
                "the same clips, perhaps of two systems. Find them in the same scores."
            )


def split_by_clip(deltas: Deltas, groups: NDArray[np.intp], number: int) -> list[Deltas]:
    """Return the deltas of each group of clips.

    ``groups``: the group of each clip, from 0 to ``number`` - 1. The clips of a group keep their order.
    """
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=number)).tolist()
    sorted_tables = deltas.tables.in_order(order)
    variants = {
        variant: split_by_clip(part, groups, number) for variant, part in deltas.variants.items()
    }
    bounds = zip([0, *ends], ends, strict=False)
    return [
        deltas._members(
            order[first:last],
            sorted_tables.clip_range(first, last),
            {variant: of_groups[group] for variant, of_groups in variants.items()},
        )
        for group, (first, last) in enumerate(bounds)
    ]


def in_clip_order(deltas: Deltas, clips: tuple[str, ...]) -> Deltas:
    """Return deltas of the same clips in another order."""
    if deltas.clips == clips:
        return deltas
    place = {clip: number for number, clip in enumerate(deltas.clips)}
    order = np.array([place[clip] for clip in clips], np.intp)
    variants = {variant: in_clip_order(part, clips) for variant, part in deltas.variants.items()}
    ordered = deltas._members(order, deltas.tables.in_order(order), variants)
    return replace(ordered, provenance=deltas.provenance)


def of_classes(deltas: Deltas, kept: NDArray[np.bool_]) -> Deltas:
    """Return the deltas of some of the classes, as if there were no others.

    ``kept``: whether each class is one of them.
    """
    if kept.all():
        return deltas
    return replace(
        deltas,
        classes=tuple(label for label, keep in zip(deltas.classes, kept, strict=True) if keep),
        floors=deltas.floors[kept],
        tables=deltas.tables.of_classes(kept),
        variants={variant: of_classes(part, kept) for variant, part in deltas.variants.items()},
        provenance=replace(deltas.provenance, scores=None),
    )
