"""Boundary errors: how early or late the detections begin and end, as percentiles over matched events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import align
from ..counting.clip_reader import thread_count
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.times import Ticks, to_seconds
from ..engines.run import Run
from ..errors import SedscopeError, counted
from ..escaping import one_line
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..results.text import Code, Form, Part, Records, Table, plain
from ..tabular import TabularResult
from .judging import ClassThresholds, OfClasses, Points, at_points, covered_clips

if TYPE_CHECKING:
    from typing_extensions import Unpack


PERCENTILES = (10, 50, 90)
"""Those that tables show: early ones, the median, and late ones."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassBoundaryErrors:
    """The boundary errors of the pairs of one class, detection minus reference, in seconds.

    Attributes
    ----------
    label : str
        The class.
    threshold : float
        Frames with ``score > threshold`` are active.
    onset, offset : array
        One value for each pair: positive where the detection is late. ``onset`` is the latency of the
        detection.
    """

    label: str
    threshold: float
    onset: FloatArray
    offset: FloatArray

    def __repr__(self) -> str:
        return f"<ClassBoundaryErrors of {one_line(self.label)}: {counted(len(self.onset), 'pair')}>"

    def percentiles(self, percentiles: Sequence[float] = PERCENTILES) -> dict[str, list[float]]:
        """Return percentiles of the onset and offset errors, interpolated; NaN without pairs.

        Parameters
        ----------
        percentiles : sequence of float, default (10, 50, 90)
            From 0 to 100.

        Returns
        -------
        dict of str to list of float
            ``{"onset": […], "offset": […]}``, in seconds.
        """
        undefined = [float("nan")] * len(percentiles)
        return {
            name: np.percentile(errors, percentiles).tolist() if len(errors) else undefined
            for name, errors in (("onset", self.onset), ("offset", self.offset))
        }


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryErrors(OfClasses[ClassBoundaryErrors], TabularResult):
    """The boundary errors of every class, by label.

    Tables have a row per class, with the median and the 10 % and 90 % percentiles.

    Attributes
    ----------
    criterion : Criterion
        What makes pairs.
    per_class : mapping of str to ClassBoundaryErrors
        The errors of each class.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> errors = sed.boundary_errors(sed.simulate.scores(truth), truth, sed.IoU(0.1), 0.5)
    >>> onset_median, onset_90 = errors["Speech"].percentiles((50, 90))["onset"]
    >>> onset_median < onset_90
    True
    """

    criterion: Criterion
    per_class: Mapping[str, ClassBoundaryErrors]

    def __repr__(self) -> str:
        return f"<BoundaryErrors of {self.criterion!r}: {counted(len(self), 'class')}>"

    def _parts(self, form: Form, digits: int = 3) -> list[Part]:
        named = ["median" if p == 50 else f"{p} %" for p in PERCENTILES]
        names = [f"{side} {name}" for side in ("onset", "offset") for name in named]
        rows = []
        for label, errors in self.per_class.items():
            values = [value for side in errors.percentiles().values() for value in side]
            rows.append([label, str(len(errors.onset)), *(f"{value:.{digits}f}" for value in values)])
        legend = ("seconds, detection minus reference, of the pairs of ", Code(repr(self.criterion)))
        return [Table(["class", "pairs", *names], rows, ruled=False, by_class=True), [legend]]

    def _records(self) -> Records:
        names = [f"{side}_{p}" for side in ("onset", "offset") for p in PERCENTILES]
        rows: list[tuple[str | float, ...]] = []
        for label, errors in self.per_class.items():
            values = [value for side in errors.percentiles().values() for value in side]
            rows.append((label, errors.threshold, len(errors.onset), *values))
        return {"class": str, "threshold": float, "pairs": int, **dict.fromkeys(names, float)}, rows

    def to_dict(self) -> dict[str, Any]:
        """Return the threshold, the number of pairs and the percentiles of each class, by label.

        Percentiles are None where there is no pair.
        """
        columns, rows = self._records()
        return {
            str(label): dict(zip([*columns][1:], (threshold, *plain(numbers)), strict=True))
            for label, threshold, *numbers in rows
        }


def boundary_errors(
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
) -> BoundaryErrors:
    """Return how early or late detections begin and end, for each pair of a detection and a reference.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Criterion
        One that makes pairs: ``IoU`` or ``Collar``. A collar makes no pair with larger errors than it
        allows, so take a wide one, or ``IoU`` with a small threshold.
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
    BoundaryErrors
        By class, the errors of all pairs. If there are several ways to make the most pairs, the one with
        the smallest total of absolute errors of the boundaries that the criterion judges counts.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(0.5, 3, "Dog")]}, durations={"a": 4})
    >>> errors = sed.boundary_errors(scores, truth, sed.IoU(0.1), 0.5)
    >>> errors["Dog"].onset.tolist(), errors["Dog"].offset.tolist()
    ([0.5], [0.0])
    >>> print(errors.table())
    class  pairs  onset 10 %  onset median  onset 90 %  offset 10 %  offset median  offset 90 %
    Dog        1       0.500         0.500       0.500        0.000          0.000        0.000
    <BLANKLINE>
    seconds, detection minus reference, of the pairs of IoU(threshold=0.1)
    """
    run = Run._of(run, "Diagnosing")
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    scores, chosen = at_points(scores, thresholds, classes)
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    points = ClassThresholds.of(criterion, alignment.classes, chosen, single=True)
    if not criterion.defines_substitutions:
        raise SedscopeError(
            f"{criterion!r} makes no pairs of detections and references, so they have no boundary errors. "
            "Use IoU or Collar."
        )
    workers = thread_count(run.threads)
    errors: list[list[Ticks]] = [[] for _ in alignment.classes]
    for checked in covered_clips(alignment, [criterion], workers, run._steps):
        batch = criterion.seen(checked.batch)
        arguments = points.arguments(batch, workers)
        for clip in range(len(batch.durations)):
            of_clip = slice(batch.starts[clip], batch.starts[clip + 1])
            labels, events = batch.labels[of_clip], batch.events[of_clip]
            for c in np.unique(labels).tolist():
                judged = points.criterion.judge_events(*arguments, clip=clip, class_number=c)
                detections, references = judged.pairs.T
                errors[c].append(judged.detections[detections] - events[labels == c][references])
    per_class = {}
    for label, of_class, threshold in zip(alignment.classes, errors, points.thresholds, strict=True):
        seconds = to_seconds(np.concatenate([np.empty((0, 2), np.int64), *of_class]))
        per_class[label] = ClassBoundaryErrors(label, float(threshold[0]), seconds[:, 0], seconds[:, 1])
    return BoundaryErrors(criterion, per_class)
