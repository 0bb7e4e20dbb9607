"""Counts of all classes at every threshold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..criteria import Criterion
from ..data.arrays import FloatArray, IntArray, ScoreArray
from ..errors import SedscopeError, counted
from ..postprocessing import PostProcessing
from ..tabular import Tabular
from .class_counts import ClassCounts, as_thresholds, rows_above
from .tally import last_of_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from polars import DataFrame as PolarsFrame

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
        )

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
        from ..plots.cross_trigger_matrix import plot_cross_trigger_matrix

        return plot_cross_trigger_matrix(self, threshold, ax, options)

    def __getitem__(self, label: str) -> ClassCounts:
        return self.per_class[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)


def _changes(columns: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.diff(column, prepend=0) for column in columns])
