"""Latencies of alarms: how long after the onset of a reference its first alarm comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import Alignment, align
from ..counting.clip_reader import thread_count
from ..criteria import Criterion
from ..criteria.alarm import found_latencies, quantile_rank, require_alarm
from ..criteria.criterion import as_share
from ..criteria.delta_tables import ReferenceRows
from ..data.arrays import FloatArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.times import to_seconds
from ..engines.run import Run
from ..errors import SedscopeError, counted
from ..escaping import one_line
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..results.text import Code, Form, Part, Records, Table, plain
from ..tabular import TabularResult
from .judging import ClassThresholds, OfClasses, Points, ThresholdChoice, at_points, covered_clips

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack

PERCENTILES = (50, 90, 95, 99)
"""Those that tables show."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassLatencies:
    """The latencies of the references of one class, or of all classes together.

    Attributes
    ----------
    label : str
        The class.
    threshold : float
        Frames with ``score > threshold`` are active; NaN for all classes together.
    references : int
        The number of references, found or not.
    latencies : array
        For each reference that is found, the time in seconds from its onset to the first alarm in its window,
        rising. It is negative if the alarm comes before the onset.
    """

    label: str
    threshold: float
    references: int
    latencies: FloatArray

    def __repr__(self) -> str:
        return f"<ClassLatencies of {one_line(self.label)}: {len(self.latencies)} of {self.references}>"

    @property
    def recall(self) -> float:
        """The share of references that are found; NaN if there are none."""
        return len(self.latencies) / self.references if self.references else float("nan")

    def percentiles(self, percentiles: Sequence[float] = PERCENTILES) -> list[float]:
        """Return percentiles over the references that are found; NaN if none is.

        Each is the smallest latency that at least this share of them does not exceed, so it is always one
        of the latencies.

        Parameters
        ----------
        percentiles : sequence of float, default (50, 90, 95, 99)
            From 0 to 100.

        Returns
        -------
        list of float
            In seconds.
        """
        wrong = [percentile for percentile in percentiles if not 0 <= percentile <= 100]
        if wrong:
            raise SedscopeError(f"Percentiles lie between 0 and 100, not {wrong[0]!r}.")
        number = len(self.latencies)
        if not number:
            return [float("nan")] * len(percentiles)
        shares = [Fraction(*as_share(percentile)) / 100 for percentile in percentiles]
        return [float(self.latencies[quantile_rank(number, share) - 1]) for share in shares]

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the share of references that have an alarm over the time since their onset.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure.
        **options
            Options of matplotlib, such as ``label`` or ``color``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ..plots.curves import plot_latencies

        return plot_latencies(self, ax, options)


@dataclass(frozen=True, eq=False, repr=False)
class AlarmLatencies(OfClasses[ClassLatencies], TabularResult):
    """The latencies of every class, by label.

    Tables have a row per class, and one for all classes together, with the share of references that are
    found and percentiles over those.

    Attributes
    ----------
    criterion : Criterion
        What raises alarms and finds references.
    per_class : mapping of str to ClassLatencies
        The latencies of each class.
    """

    criterion: Criterion
    per_class: Mapping[str, ClassLatencies]

    def __repr__(self) -> str:
        return f"<AlarmLatencies of {self.criterion!r}: {counted(len(self), 'class')}>"

    @property
    def overall(self) -> ClassLatencies:
        """The latencies of all references of all classes together, each class at its own threshold."""
        of_classes = self.per_class.values()
        latencies = np.sort(np.concatenate([np.empty(0), *(each.latencies for each in of_classes)]))
        references = sum(each.references for each in of_classes)
        return ClassLatencies("all classes", float("nan"), references, latencies)

    def plot(self, ax: Axes | None = None, *, per_class: bool = True) -> Axes:
        """Draw the share of references that have an alarm over the time since their onset.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure with a legend.
        per_class : bool, default True
            Whether to draw the classes that have references. False draws all of them together alone.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from ..plots.curves import plot_all_latencies

        return plot_all_latencies(self, ax, per_class)

    def _parts(self, form: Form, digits: int = 3) -> list[Part]:
        rows = []
        for each in (*self.per_class.values(), self.overall):
            times = [f"{value:.{digits}f}" for value in each.percentiles()]
            rows.append([each.label, str(each.references), f"{each.recall:.{digits}f}", *times])
        names = ["class", "references", "found", *(f"{percentile} %" for percentile in PERCENTILES)]
        legend = (
            "seconds from the onset of a found reference to its first alarm, by ",
            Code(repr(self.criterion)),
        )
        return [Table(names, rows, ruled=True, by_class=True), [legend]]

    def _records(self) -> Records:
        rows: list[tuple[str | float, ...]] = [
            (label, each.threshold, each.references, each.recall, *each.percentiles())
            for label, each in self.per_class.items()
        ]
        names = [f"latency_{percentile}" for percentile in PERCENTILES]
        types = {"class": str, "threshold": float, "references": int, "recall": float}
        return {**types, **dict.fromkeys(names, float)}, rows

    def to_dict(self) -> dict[str, Any]:
        """Return the threshold, the number of references, the recall and the percentiles of each class.

        Numbers are None where they are not defined.
        """
        columns, rows = self._records()
        return {
            str(label): dict(zip([*columns][1:], plain(numbers), strict=True))
            for label, *numbers in rows
        }


def alarm_latencies(
    scores: SystemLike,
    truth: TruthLike,
    criterion: Criterion,
    thresholds: float | Mapping[str, float] | Points,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> AlarmLatencies:
    """Return how long after its onset the first alarm for each reference comes.

    The recall within some time, at every threshold, is that of ``Alarm(within=…)``.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Alarm, or OfLength of one
        What raises alarms and finds references. The first alarm in the window of a reference counts.
    thresholds : float, mapping of str to float, or OperatingPoints
        One threshold for all classes, or one for each class. A class without one is never detected.
        Operating points also post-process the scores.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    AlarmLatencies
        By class, the latencies of the references that are found, and how many references there are.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(10, 20, "Siren"), (90, 95, "Siren")]}, durations={"a": 99})
    >>> system = sed.Scores.from_events({"a": [(11.5, 14, "Siren"), (40, 41, "Siren")]})
    >>> latencies = sed.alarm_latencies(system, truth, sed.Alarm(cooldown=20), 0.5)
    >>> latencies["Siren"].latencies.tolist(), latencies["Siren"].recall
    ([1.5], 0.5)
    >>> print(latencies.table())
    class        references  found   50 %   90 %   95 %   99 %
    ──────────────────────────────────────────────────────────
    Siren                 2  0.500  1.500  1.500  1.500  1.500
    all classes           2  0.500  1.500  1.500  1.500  1.500
    <BLANKLINE>
    seconds from the onset of a found reference to its first alarm, by Alarm(cooldown=20, before=0, after=2)
    """
    run = Run._of(run, "Diagnosing")
    require_alarm(criterion)
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    scores, chosen = at_points(scores, thresholds, classes)
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    return aligned_latencies(alignment, criterion, chosen, run)


def aligned_latencies(
    alignment: Alignment, criterion: Criterion, thresholds: ThresholdChoice, run: Run
) -> AlarmLatencies:
    """Return the latencies of aligned clips."""
    points = ClassThresholds.of(criterion, alignment.classes, thresholds, single=True)
    workers = thread_count(run.threads)
    single = np.concatenate(points.thresholds)
    found: list[ReferenceRows] = []
    references = np.zeros(len(alignment.classes), np.int64)
    for checked in covered_clips(alignment, [criterion], workers, run._steps):
        references += np.bincount(criterion.seen(checked.batch).labels, minlength=len(references))
        found.append(found_latencies(checked.batch, criterion, single, workers))
    per_class = {}
    for c, label in enumerate(alignment.classes):
        times = np.concatenate([rows.times[rows.labels == c] for rows in found])
        seconds = to_seconds(np.sort(times))
        per_class[label] = ClassLatencies(label, float(single[c]), int(references[c]), seconds)
    return AlarmLatencies(criterion, per_class)
