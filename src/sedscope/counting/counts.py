"""Counts at every threshold, of one class and of all classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError, counted, listing
from ..escaping import one_line
from ..postprocessing import PostProcessing
from ..tabular import Tabular
from .tally import Tally, first_minimum_of_runs, last_of_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from polars import DataFrame as PolarsFrame

    from ..results.frames import Column


@dataclass(frozen=True, eq=False, repr=False)
class ClassCounts(Tabular):
    """The counts of one class, with one row per score at which a count changes.

    Row i is the operating point at which frames with ``score >= scores[i]`` are active: any threshold
    from the next lower score of the table (included) up to ``scores[i]`` (excluded). Above
    ``scores[0]`` nothing is detected. The rows are complete above ``floor``, unless ``complete`` is False.

    If ``at_chosen_thresholds`` is True, the rows are those of chosen thresholds, and nothing is known
    between them: in row i, frames with ``score > scores[i]`` are active.

    Attributes
    ----------
    label : str
        The class.
    scores : array
        Decreasing.
    tp, fp : array of int
        The references found, and the false detections.
    references : int
        The number of reference events.
    reference_time : float
        Their total length, in seconds.
    trials : int or None
        The number of segments judged, or the time; None for criteria about events.
    floor : float
        The score above which the rows are complete; ``-inf`` if every threshold was counted.
    fp_below_floor : int
        How many false positives there are at least, at any threshold below the floor.
    cross_rows, cross_labels, cross_changes : array of int
        Cross-triggers, sparse: in a row, those on a class (an index into ``classes``) change.
    classes : tuple of str
        All classes.
    errors : array or None
        (rows × 2) the sums of signed onset and offset errors of the pairs, in seconds.
    pairs : array of int or None
        The number of pairs regardless of label; only for all classes together.
    right : array of int or None
        The right detections, of criteria that count them apart from the references found.
    curves : mapping of metric to curve
        The PSD-ROCs that were read off all rows before only some were kept.
    at_chosen_thresholds : bool
        Whether the rows are those of chosen thresholds.
    measures_time : bool
        Whether true and false positives, references and trials are times in microseconds.
    next_scores : array or None
        If only some rows were kept, the next lower score of the complete table for each of them (``-inf``
        if there is none); None if the rows are complete.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> dog = sed.deltas(scores, truth, sed.Collar()).counts()["Dog"]
    >>> dog.scores.tolist(), dog.tp.tolist(), dog.fp.tolist()
    ([0.9, 0.4], [1, 0], [0, 1])
    """

    label: str
    scores: ScoreArray
    tp: IntArray
    fp: IntArray
    references: int
    reference_time: float
    trials: int | None
    floor: float
    cross_rows: IntArray
    cross_labels: NDArray[np.int32]
    cross_changes: IntArray
    classes: tuple[str, ...]
    errors: FloatArray | None = None
    pairs: IntArray | None = None
    at_chosen_thresholds: bool = False
    fp_below_floor: int = 0
    measures_time: bool = False
    next_scores: ScoreArray | None = None
    right: IntArray | None = None
    curves: Mapping[Any, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        rows = counted(len(self.scores), "row") + ("" if self.complete else ", not complete")
        return f"<ClassCounts of {one_line(self.label)}: {rows}>"

    def _repr_html_(self) -> str:
        from ..results.frames import html_facts, html_points

        if not self.complete or not len(self.scores):
            number = f"{self.reference_time:.1f} s" if self.measures_time else str(self.references)
            return html_facts(repr(self), {"references": number})
        return html_points(repr(self), self._columns())

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per operating point, the highest score first.

        In a row, frames with at least its score are active. If the rows are those of chosen thresholds, the
        column is ``threshold``, and frames above it are active.

        Returns
        -------
        polars.DataFrame
            With the columns ``class``, ``score`` or ``threshold``, ``true_positives``,
            ``false_positives``, ``false_negatives``, ``precision`` and ``recall``. If the criterion measures
            time, the columns of counts are ``true_positive_seconds``, ``false_positive_seconds`` and
            ``false_negative_seconds``.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts["Dog"].to_polars().rows()
        [('Dog', 0.9, 1, 0, 0, 1.0, 1.0), ('Dog', 0.4, 0, 1, 1, 0.0, 0.0)]
        """
        from ..results.frames import polars_frame

        return polars_frame(self._columns())

    def _columns(self) -> dict[str, Column]:
        self.require_rows("A data frame")
        tally = Tally(self.tp, self.fp, self.references, right=self.right)
        amounts = {"true_positive": tally.tp, "false_positive": tally.fp, "false_negative": tally.fn}
        if self.measures_time:
            columns = {f"{name}_seconds": time / TICKS_PER_SECOND for name, time in amounts.items()}
        else:
            columns = {f"{name}s": number for name, number in amounts.items()}
        if tally.right is not None:
            columns["right_detections"] = tally.right
        return {
            "class": [self.label] * len(self.scores),
            "threshold" if self.at_chosen_thresholds else "score": self.scores,
            **columns,
            "precision": tally.precision,
            "recall": tally.recall,
        }

    @property
    def complete(self) -> bool:
        """Whether all rows above the floor are there.

        An evaluation that counts the classes in several blocks, to stay within a memory limit, keeps only
        the rows that its metrics read, without cross-triggers.
        """
        return self.next_scores is None

    def require_rows(self, reader: str) -> None:
        """Raise an error if only some rows were kept.

        Parameters
        ----------
        reader : str
            What needs all of them, as the subject of the message.
        """
        if not self.complete:
            raise SedscopeError(
                f"{reader} needs all counts of {self.label}, but to save memory, the evaluation counted "
                "blocks of classes, and kept only the counts that the metrics read. Raise the limit "
                "(`memory=`), or evaluate on threads without one."
            )

    def reaches(self, false_positives: float = np.inf) -> bool:
        """Return whether the rows have all operating points up to a number of false positives.

        Parameters
        ----------
        false_positives : float, default inf
            The largest number. Half of one more is left for rounding.

        Returns
        -------
        bool
        """
        if self.at_chosen_thresholds or np.isneginf(self.floor):
            return True
        return self.fp_below_floor > false_positives + 0.5

    def require_reach(self, reader: str, false_positives: float = np.inf) -> None:
        """Raise an error if operating points that are read lie below the floor.

        Parameters
        ----------
        reader : str
            What reads them, as the subject of the message.
        false_positives : float, default inf
            Only operating points with at most so many are read; see :meth:`reaches`.
        """
        if self.reaches(false_positives):
            return
        raise SedscopeError(
            f"{reader} reads thresholds at which {self.label} was not counted: its counts are complete only "
            f"above a score of {self.floor:g}, because the metrics that they were counted for read nothing "
            "below it. Count again at every threshold with sedscope.deltas, or evaluate all metrics together."
        )

    def ct(self, label: str) -> IntArray:
        """Return the cross-triggers on another class, per row.

        Parameters
        ----------
        label : str
            The other class.

        Returns
        -------
        array of int
            A value per score.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts["Dog"].ct("Dog").tolist()
        [0, 0]
        """
        self.require_rows("The number of cross-triggers")
        if label not in self.classes:
            raise SedscopeError(
                f"There is no class {label!r}. The classes are {listing(self.classes, limit=30)}."
            )
        chosen = self.cross_labels == self.classes.index(label)
        changes = np.zeros(len(self.scores), np.int64)
        np.add.at(changes, self.cross_rows[chosen], self.cross_changes[chosen])
        return np.cumsum(changes)

    def tally(self) -> Tally:
        """Return the operating points: first the one without detections, then one per row.

        Returns
        -------
        Tally

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts["Dog"].tally().tp.tolist(), counts["Dog"].tally().fp.tolist()
        ([0, 1, 0], [0, 0, 1])
        """

        rows = Tally(self.tp, self.fp, self.references, self.trials, self.pairs, self.right)
        return rows._of_columns(lambda column: np.concatenate([[0], column]))

    def cheapest_points(self) -> tuple[NDArray[np.intp], Tally]:
        """Return the operating points that can be best, and their places among all of :meth:`tally`.

        Of consecutive ones with equal true positives, it is the first with the fewest false positives.

        Returns
        -------
        places : array of int
        points : Tally

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> places, points = sed.deltas(scores, truth, sed.Collar()).counts()["Dog"].cheapest_points()
        >>> places.tolist(), points.fp.tolist()
        ([0, 1, 2], [0, 0, 1])
        """
        if self.right is not None:  # more right detections can be worth more false ones
            return np.arange(len(self.scores) + 1), self.tally()
        rows = first_minimum_of_runs(self.tp, self.fp)
        rows = rows[1:] if len(rows) and self.tp[0] == 0 else rows  # to detect nothing is as cheap
        tp, fp = (np.concatenate([[0], column[rows]]) for column in (self.tp, self.fp))
        return np.concatenate([[0], rows + 1]), Tally(tp, fp, self.references, self.trials)

    def tally_at(self, threshold: float) -> Tally:
        """Return the operating point of a threshold: frames with ``score > threshold`` are active.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        Tally

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts["Dog"].tally_at(0.5).precision
        1.0
        """
        return self.tally()[int(self._detected(as_thresholds(threshold))[0])]

    def leanest(
        self,
        thresholds: Iterable[float] = (),
        curves: Mapping[Any, Any] | None = None,
        *,
        extremes: bool = True,
    ) -> ClassCounts:
        """Return only the rows that most metrics read, in little memory, without cross-triggers.

        They are the first row, the rows that can be best, the last of each run of equal true positives,
        and those of some thresholds. The result is not complete.

        Parameters
        ----------
        thresholds : iterable of float
            Thresholds whose rows are kept.
        curves : mapping of metric to curve, optional
            PSD-ROCs that were read off all rows.
        extremes : bool, default True
            Whether anything else than the curves is read. Otherwise, only the first row and those of the
            thresholds are kept.

        Returns
        -------
        ClassCounts
        """
        of_thresholds = [
            int(self._detected(as_thresholds(threshold))[0]) - 1 for threshold in thresholds
        ]
        read = np.empty(0, np.intp)
        if extremes:
            read = np.union1d(last_of_runs(self.tp), first_minimum_of_runs(self.tp, self.fp))
        first = [0] if len(self.scores) else []
        rows = np.union1d(read, first + [row for row in of_thresholds if row >= 0]).astype(np.intp)
        lowest = np.array([-np.inf], self.scores.dtype)
        return replace(
            self,
            scores=self.scores[rows],
            tp=self.tp[rows],
            fp=self.fp[rows],
            cross_rows=self.cross_rows[:0],
            cross_labels=self.cross_labels[:0],
            cross_changes=self.cross_changes[:0],
            errors=None,
            next_scores=np.concatenate([self.scores[1:], lowest])[rows],
            right=None if self.right is None else self.right[rows],
            curves=curves or {},
        )

    def threshold(self, row: int) -> float:
        """Return a threshold for a row of the tally: midway between its score and the next lower one.

        If the rows are those of chosen thresholds, return that threshold.

        Parameters
        ----------
        row : int
            A row of :meth:`tally`; 0 is the one without detections.

        Returns
        -------
        float

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> round(counts["Dog"].threshold(1), 2)
        0.65
        """
        if row == 0:
            return np.inf
        upper = float(self.scores[row - 1])
        if self.at_chosen_thresholds:
            return upper
        if self.next_scores is not None:
            lower = float(self.next_scores[row - 1])
        else:
            lower = float(self.scores[row]) if row < len(self.scores) else -np.inf
        if lower == -np.inf:
            return float(np.nextafter(self.scores[row - 1], -np.inf))
        middle = lower + (upper - lower) / 2 if np.isfinite(upper - lower) else lower
        return middle if middle < upper else lower

    def at(self, thresholds: ArrayLike) -> ClassCounts:
        """Return only the operating points of some thresholds (active: ``score > threshold``).

        Parameters
        ----------
        thresholds : array_like of float
            The thresholds.

        Returns
        -------
        ClassCounts
            A row per threshold, from the highest to the lowest.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts["Dog"].at([0.3, 0.5]).tp.tolist()
        [1, 0]
        """
        self.require_rows("A choice of thresholds")
        points = as_thresholds(thresholds)
        detected = self._detected(points)
        cross = np.searchsorted(detected, self.cross_rows, side="right")  # the first row with the change
        kept = cross < len(points)
        tally = self.tally().rows(detected)
        errors = None
        if self.errors is not None:
            errors = np.concatenate([np.zeros((1, 2)), self.errors])[detected]
        return replace(
            self,
            scores=points,
            tp=np.asarray(tally.tp),
            fp=np.asarray(tally.fp),
            cross_rows=cross[kept],
            cross_labels=self.cross_labels[kept],
            cross_changes=self.cross_changes[kept],
            errors=errors,
            pairs=None if tally.pairs is None else np.asarray(tally.pairs),
            right=None if tally.right is None else np.asarray(tally.right),
            at_chosen_thresholds=True,
        )

    def _detected(self, thresholds: FloatArray) -> NDArray[np.intp]:
        """Return the row of the tally of each of some decreasing thresholds."""
        if self.at_chosen_thresholds:
            unknown = [f"{threshold:g}" for threshold in thresholds if threshold not in self.scores]
            if unknown:
                thresholds_counted = listing([f"{score:g}" for score in self.scores], limit=10)
                raise SedscopeError(
                    f"{self.label} was not counted at threshold {listing(unknown)}, only at "
                    f"{thresholds_counted}."
                )
            return np.searchsorted(-self.scores, -thresholds) + 1
        if len(thresholds) and thresholds[-1] < self.floor:
            raise SedscopeError(
                f"{self.label} was counted above {self.floor:g}, not at {thresholds[-1]:g}."
            )
        rows = rows_above(self.scores, thresholds)
        if self.next_scores is not None:
            ends = np.concatenate([[-np.inf], self.next_scores.astype(np.float64)])[rows]
            gaps = [f"{threshold:g}" for threshold in thresholds[thresholds < ends]]
            if gaps:
                self.require_rows(f"Threshold {listing(gaps)}")
        return rows


def rows_above(scores: ScoreArray, thresholds: FloatArray) -> NDArray[np.intp]:
    """Return how many of the decreasing scores lie above each threshold."""
    rising = scores[::-1].astype(np.float64)
    return len(rising) - np.searchsorted(rising, thresholds, side="right")


def as_thresholds(thresholds: ArrayLike) -> FloatArray:
    """Return distinct thresholds, decreasing."""
    try:
        points = np.unique(np.asarray(thresholds, np.float64))[::-1]
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"Thresholds must be numbers: {error}.") from None
    if np.isnan(points).any():
        raise SedscopeError("Thresholds must be numbers, not NaN.")
    return points


Measured = TypeVar("Measured")


@dataclass(frozen=True, eq=False)
class ClassesByName:
    """The classes in the order of their names, which does not depend on how a system orders them."""

    place: IntArray
    """The place of each class in that order."""
    times: FloatArray
    """The total length of the references, in that order, in seconds."""
    with_references: int
    """How many classes have references."""


class CountsInBlocks(Mapping[str, ClassCounts]):
    """Counts of so many classes that only a block of them is in memory at a time."""

    @abstractmethod
    def blocks(self) -> Iterator[Sequence[str]]:
        """Iterate over the classes, a block at a time. The counts of a block last until the next one."""

    @property
    @abstractmethod
    def threads(self) -> int:
        """On how many threads the counts of a block may be read."""


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Mapping[str, ClassCounts], Tabular):
    """The counts of every class, by label.

    Attributes
    ----------
    criterion : Criterion
        What counts as found.
    per_class : mapping of str to ClassCounts
        The counts of each class.
    clips : int
        The number of clips.
    duration : float
        The duration of all clips, in seconds.
    references : mapping of str to int
        What there is to find of each class: the number of reference events or of positive segments, or
        their time in microseconds if the criterion measures time.
    reference_times : mapping of str to float
        Their total length, in seconds.
    reference_events : mapping of str to int
        The number of reference events or of positive segments, for all criteria.
    any_label : tuple of array, or None
        Scores, and the number of pairs regardless of label there, if requested.
    variants : mapping of post-processing to Counts
        The counts of post-processed scores, where they were requested.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
    >>> counts.references["Dog"], counts.duration
    (1, 3.0)
    """

    criterion: Criterion
    per_class: Mapping[str, ClassCounts]
    clips: int
    duration: float
    references: Mapping[str, int]
    reference_times: Mapping[str, float]
    reference_events: Mapping[str, int]
    any_label: tuple[ScoreArray, IntArray] | None = None
    variants: Mapping[PostProcessing, Counts] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Counts of {self.criterion!r}: {counted(self.clips, 'clip')}, "
            f"{counted(len(self), 'class')}>"
        )

    @property
    def hours(self) -> float:
        """The duration of all clips, in hours."""
        return self.duration / 3600

    @cached_property
    def classes_by_name(self) -> ClassesByName:
        """The classes in the order of their names."""
        labels = [*self.reference_times]
        order = np.array(sorted(range(len(labels)), key=labels.__getitem__), np.intp)
        place = np.empty(len(labels), np.int64)
        place[order] = np.arange(len(labels))
        times = np.array([*self.reference_times.values()], np.float64)[order]
        return ClassesByName(place, times, sum(number > 0 for number in self.references.values()))

    def of_each_class(self, measure: Callable[[str], Measured]) -> dict[str, Measured]:
        """Return what a function returns for each class, by label.

        Where there are many counts, it is called on several threads.

        Parameters
        ----------
        measure : callable
            It gets a label, and reads the counts of that class only.

        Returns
        -------
        dict

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts.of_each_class(lambda label: int(counts[label].tp.max()))
        {'Dog': 1}
        """
        in_blocks = self.per_class
        if not isinstance(in_blocks, CountsInBlocks) or in_blocks.threads == 1:
            return {label: measure(label) for label in self}
        from concurrent.futures import ThreadPoolExecutor

        measured: dict[str, Measured] = {}
        with ThreadPoolExecutor(in_blocks.threads) as pool:
            for labels in in_blocks.blocks():
                measured.update(zip(labels, pool.map(measure, labels), strict=True))
        return measured

    def _repr_html_(self) -> str:
        from ..results.frames import html_table

        # nothing is shown that a class would have to be added up for
        rows = (
            [label, str(self.reference_events[label]), f"{self.reference_times[label]:.1f}"]
            for label in self
        )
        header = ["class", "references", "total seconds"]
        return html_table(header, rows, len(self), "class", title=repr(self))

    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame with a row per class and operating point.

        Returns
        -------
        polars.DataFrame
            The tables of the classes, one below the other, as their ``to_polars`` returns them.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts.at([0.5]).to_polars().rows(named=True)[0]["precision"]
        1.0
        """
        import polars

        return polars.concat([of_class.to_polars() for of_class in self.per_class.values()])

    def pooled(self) -> ClassCounts:
        """Return the counts of all classes together, at one threshold for all.

        They are complete above the highest floor of the classes, and end there.

        Returns
        -------
        ClassCounts

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts.pooled().tp.tolist()
        [1, 0]
        """
        tables = list(self.per_class.values())
        for table in tables:
            table.require_rows("One threshold for all classes")
        trials = [table.trials for table in tables if table.trials is not None]
        chosen = any(table.at_chosen_thresholds for table in tables)
        scores, tp, fp, pairs = self._sums_at_chosen() if chosen else self._sums_at_scores()
        floor = max(table.floor for table in tables)
        known = slice(None if chosen else int(np.count_nonzero(scores > floor)))
        nothing: IntArray = np.empty(0, np.int64)
        return ClassCounts(
            label="all classes",
            scores=scores[known],
            tp=tp[known],
            fp=fp[known],
            references=sum(self.references.values()),
            reference_time=sum(self.reference_times.values()),
            trials=sum(trials) if trials else None,
            floor=floor,
            cross_rows=nothing,
            cross_labels=nothing.astype(np.int32),
            cross_changes=nothing,
            classes=tuple(self.per_class),
            pairs=None if pairs is None else pairs[known],
            at_chosen_thresholds=chosen,
            fp_below_floor=sum(table.fp_below_floor for table in tables if table.floor == floor),
            measures_time=self.criterion.measures_time,
            right=self._right_at(scores[known]),
        )

    def _right_at(self, scores: ScoreArray) -> IntArray | None:
        """Return the right detections of all classes together at some decreasing scores."""
        right = np.zeros(len(scores), np.int64)
        for table in self.per_class.values():
            if table.right is None:
                return None
            rows = np.searchsorted(-table.scores, -scores, side="right")
            right += np.concatenate([[0], table.right])[rows]
        return right

    def _sums_at_chosen(self) -> tuple[ScoreArray, IntArray, IntArray, IntArray | None]:
        tables = list(self.per_class.values())
        tp, fp = (np.sum([getattr(t, name) for t in tables], axis=0) for name in ("tp", "fp"))
        return tables[0].scores, tp, fp, None if self.any_label is None else self.any_label[1]

    def _sums_at_scores(self) -> tuple[ScoreArray, IntArray, IntArray, IntArray | None]:
        tables = list(self.per_class.values())
        pair_scores, pairs = self.any_label or (tables[0].scores[:0], np.empty(0, np.int64))
        scores = np.concatenate([*(table.scores for table in tables), pair_scores])
        changes = np.zeros((3, len(scores)), np.int64)
        changes[0, : len(scores) - len(pairs)] = _changes([table.tp for table in tables])
        changes[1, : len(scores) - len(pairs)] = _changes([table.fp for table in tables])
        changes[2, len(scores) - len(pairs) :] = _changes([pairs])
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        last = last_of_runs(ordered)
        tp, fp, pooled_pairs = np.cumsum(changes[:, order], axis=1)[:, last]
        return ordered[last], tp, fp, None if self.any_label is None else pooled_pairs

    def at(self, thresholds: ArrayLike) -> Counts:
        """Return only the operating points of some thresholds, the same for all classes.

        Parameters
        ----------
        thresholds : array_like of float
            The thresholds.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar()).counts()
        >>> counts.at([0.5])["Dog"].tp.tolist()
        [1]
        """
        chosen = {label: counts.at(thresholds) for label, counts in self.per_class.items()}
        any_label = None
        if self.any_label is not None:
            points = as_thresholds(thresholds)
            scores, pairs = self.any_label
            any_label = (points, np.concatenate([[0], pairs])[rows_above(scores, points)])
        variants = {variant: counts.at(thresholds) for variant, counts in self.variants.items()}
        return replace(self, per_class=chosen, any_label=any_label, variants=variants)

    def cross_trigger_matrix(self, threshold: float) -> IntArray:
        """Return the cross-triggers at one threshold for all classes, as (classes × classes).

        The row of a class says how many of its false positives are cross-triggers on each other class;
        its true positives are on the diagonal.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        array of int, shape (classes, classes)

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
        >>> counts = sed.deltas(scores, truth, sed.Collar(cross_triggers=True)).counts()
        >>> counts.cross_trigger_matrix(0.5).tolist()
        [[1]]
        """
        if not self.criterion.counts_cross_triggers:
            raise SedscopeError(
                f"{self.criterion!r} does not count cross-triggers. Set cttc= of Intersection, or "
                "cross_triggers=True of another criterion."
            )
        matrix = np.zeros((len(self), len(self)), np.int64)
        for row, of_class in enumerate(self.per_class.values()):
            point = of_class.at([threshold])
            matrix[row] = [point.ct(other)[0] for other in self.per_class]
            matrix[row, row] = of_class.tally_at(threshold).tp
        return matrix

    def plot_cross_triggers(self, threshold: float, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the cross-trigger matrix with matplotlib, on ``ax`` or on new axes, and return the axes.

        A new figure is large enough for the names of all classes. If you pass axes, give their figure
        ``layout="constrained"``, so that no name is cut.

        Parameters
        ----------
        threshold : float
            The threshold.
        ax : matplotlib.axes.Axes, optional
            Where to draw.
        **options
            Options of matplotlib's ``imshow``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ..plots.values import plot_cross_trigger_matrix

        title = f"Cross-triggers at threshold {threshold:g}", "(diagonal: true positives)"
        matrix = self.cross_trigger_matrix(threshold)
        return plot_cross_trigger_matrix(matrix, [*self], ax, options, *title)

    def __getitem__(self, label: str) -> ClassCounts:
        return self.per_class[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)


def _changes(columns: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.diff(column, prepend=0) for column in columns])
