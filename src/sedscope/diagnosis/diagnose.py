"""Diagnosis: how many events of each class have each error type, and which classes are confused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import Alignment, align
from ..counting.clip_reader import thread_count
from ..counting.tally import Tally
from ..criteria import Collar, Criterion
from ..data.arrays import FloatArray, IntArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..engines.run import Run
from ..errors import SedscopeError, counted
from ..escaping import one_line
from ..evaluation.evaluate import deltas
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..metrics import BestFScore
from ..progress import Progress
from ..results.text import Code, Form, Part, Records, Table
from ..tabular import TabularResult
from .clips import ClipCosts, aligned_clip_costs
from .judging import (
    CAUSES,
    DETECTION_TYPES,
    NOT_FALSE,
    REFERENCE_TYPES,
    TYPES,
    ClassThresholds,
    OfClasses,
    Points,
    ThresholdChoice,
    at_points,
    covered_clips,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False, repr=False)
class Confusions(TabularResult):
    """A confusion matrix of events: the class of each detection, and what is present where it lies.

    Each detection that is true counts on the diagonal, and one with wrong boundaries as ``inexact``. A
    cross-trigger counts once for each other class in whose references it lies, so rows may add up to more
    than the detections. All other detections lie in the background.

    Tables have a row per detected class and a column per class that is present. Data frames have a row per
    pair of classes, ``type`` and number of ``events``.

    Attributes
    ----------
    classes : tuple of str
        The classes, in the order of the rows and columns.
    matrix : array of int, shape (classes, classes)
        The detections of each class (rows) on each class that is present (columns).
    inexact : array of int
        The detections of each class that overlap a reference of the class, but are false.
    background : array of int
        The detections of each class that lie in no reference.
    missed : array of int
        The references of each class that no detection of the class overlaps.
    """

    classes: tuple[str, ...]
    matrix: IntArray
    inexact: IntArray
    background: IntArray
    missed: IntArray

    def __repr__(self) -> str:
        return f"<Confusions of {counted(len(self.classes), 'class')}>"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the matrix with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure that is large enough for the names of all classes.
        **options
            Options of matplotlib's ``imshow``.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=3)
        >>> axes = sed.diagnose(sed.simulate.scores(truth), truth).confusions().plot()
        >>> axes.get_ylabel()
        'class detected'
        """
        from ..plots.values import plot_cross_trigger_matrix

        title = "Confusions", "(diagonal: true positives)"
        return plot_cross_trigger_matrix(self.matrix, self.classes, ax, options, *title)

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        numbers = np.column_stack([self.matrix, self.inexact, self.background])
        rows = [
            [label, *map(str, row)] for label, row in zip(self.classes, numbers.tolist(), strict=True)
        ]
        header = ["detected", *self.classes, "inexact", "background"]
        last = ["missed", *map(str, self.missed.tolist()), "", ""]
        return [Table(header, rows, last), "Each column is a class that is present."]

    def _records(self) -> Records:
        rows: list[tuple[str | float | None, ...]] = []
        for c, detected in enumerate(self.classes):
            for m, present in enumerate(self.classes):
                of_pair = "true" if m == c else "cross_trigger"
                rows.append((detected, present, of_pair, int(self.matrix[c, m])))
            rows.append((detected, detected, "inexact", int(self.inexact[c])))
            rows.append((detected, None, "background", int(self.background[c])))
        rows += [
            (None, label, "missed", int(n)) for label, n in zip(self.classes, self.missed, strict=True)
        ]
        return {"detected": str, "present": str, "type": str, "events": int}, rows


def cross_triggers(
    alignment: Alignment,
    criterion: Criterion,
    points: ClassThresholds,
    threads: int,
    triggering: Sequence[bool],
) -> IntArray:
    """Count the cross-triggers of each class (rows) on each other class (columns).

    ``triggering``: which classes have any; only their events are judged.
    """
    matrix = np.zeros((len(triggering), len(triggering)), np.int64)
    if not any(triggering):
        return matrix
    for checked in covered_clips(alignment, [criterion], threads, None):
        arguments = points.arguments(criterion.seen(checked.batch), threads)
        errors = points.criterion.count_clip_errors(*arguments)
        for clip, c in np.argwhere(errors.fp * np.asarray(triggering)).tolist():
            judged = points.criterion.judge_events(*arguments, clip=clip, class_number=c)
            np.add.at(matrix[c], judged.cross_triggers[:, 1], 1)
    return matrix


_COLLAR = Collar()


@dataclass(frozen=True, eq=False, repr=False)
class ClassDiagnosis:
    """How many events of one class have each error type, at some thresholds.

    Attributes
    ----------
    label : str
        The class.
    thresholds : array
        Decreasing. In row i, frames with ``score > thresholds[i]`` are active.
    references : mapping of str to array
        The number of references of each type; all but ``found`` are false negatives.
    detections : mapping of str to array
        The number of detections of each type; all but ``true`` and ``ignored`` are false positives.
    """

    label: str
    thresholds: FloatArray
    references: Mapping[str, IntArray]
    detections: Mapping[str, IntArray]

    def __repr__(self) -> str:
        return (
            f"<ClassDiagnosis of {one_line(self.label)}: {counted(len(self.thresholds), 'threshold')}>"
        )

    def tally(self) -> Tally:
        """Return the counts at the thresholds, with precision, recall, F-score and error rate."""
        references = sum(int(numbers[0]) for numbers in self.references.values())
        false = sum(numbers for name, numbers in self.detections.items() if name not in NOT_FALSE)
        return Tally(self.references["found"], np.asarray(false), references)

    def fixed(self) -> dict[str, Tally]:
        """Return, for each cause, the counts without it: its references found, its detections gone."""
        now = self.tally()
        return {
            cause: Tally(
                now.tp + (self.references[of_reference] if of_reference else 0),
                now.fp - (self.detections[of_detection] if of_detection else 0),
                now.references,
            )
            for cause, (of_reference, of_detection) in CAUSES.items()
        }


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(OfClasses[ClassDiagnosis], TabularResult):
    """The error types of every class, by label.

    Tables and data frames have a row per class and threshold, with the number of references and detections
    of each error type.

    Attributes
    ----------
    criterion : Criterion
        What counts as found.
    per_class : mapping of str to ClassDiagnosis
        The error types of each class.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sed.diagnose(scores, truth, sed.Collar(), 0.5)["Dog"].references["found"].tolist()
    [1]
    """

    criterion: Criterion
    per_class: Mapping[str, ClassDiagnosis]
    _alignment: Alignment
    _threads: int

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.criterion!r}: {counted(len(self), 'class')}>"

    def worst_clips(self, number: int = 10) -> ClipCosts:
        """Return the clips with the most errors. Each class must have one threshold.

        Parameters
        ----------
        number : int, default 10
            How many clips. Clips without errors are left out.

        Returns
        -------
        ClipCosts
            False positives and false negatives, worst clip first. sedscope reads the clips again.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.9]], "b": [[0.1]]}, classes=["Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")], "b": [(0, 1, "Dog")]})
        >>> sed.diagnose(scores, truth, sed.Collar(), 0.5).worst_clips().clips
        ('b',)
        """
        points = self._single_points()
        return aligned_clip_costs(self._alignment, self.criterion, points, self._threads).worst(number)

    def confusions(self) -> Confusions:
        """Return the confusion matrix: class detected × class present. Each class must have one threshold.

        Returns
        -------
        Confusions
            sedscope reads the clips again if there are cross-triggers.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.9, 0.1]]}, classes=["Cat", "Dog"], frame=1.0)
        >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]})
        >>> sed.diagnose(scores, truth, sed.Collar(), 0.5).confusions().matrix.tolist()
        [[0, 1], [0, 0]]
        """
        points = self._single_points()
        detected = [of_class.detections for of_class in self.per_class.values()]
        numbers = np.array([[int(types[name][0]) for name in DETECTION_TYPES] for types in detected])
        by_type = dict(zip(DETECTION_TYPES, numbers.reshape(-1, len(DETECTION_TYPES)).T, strict=True))
        triggering = (by_type["cross_trigger"] > 0).tolist()
        matrix = cross_triggers(self._alignment, self.criterion, points, self._threads, triggering)
        np.fill_diagonal(matrix, by_type["true"])
        elsewhere = (*NOT_FALSE, "cross_trigger", "background")
        return Confusions(
            classes=tuple(self.per_class),
            matrix=matrix,
            inexact=sum(number for name, number in by_type.items() if name not in elsewhere),
            background=by_type["background"],
            missed=np.array([int(one.references["missed"][0]) for one in self.per_class.values()]),
        )

    def _single_points(self) -> ClassThresholds:
        """Return the thresholds, if each class has just one."""
        points = {label: of_class.thresholds for label, of_class in self.per_class.items()}
        if any(len(of_class) > 1 for of_class in points.values()):
            raise SedscopeError(
                "Worst clips and confusions are those at one threshold per class. Diagnose at one threshold."
            )
        return ClassThresholds.of(self.criterion, [*points], points, single=True)

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        parts: list[Part] = []
        for side, types in (("reference", REFERENCE_TYPES), ("detection", DETECTION_TYPES)):
            rows = [
                [label, f"{threshold:.6g}", *(str(numbers[side, name]) for name in types)]
                for label, threshold, numbers in self._numbers()
            ]
            header = ["class", "threshold", *(name.replace("_", " ") for name in types)]
            parts.append(Table(header, rows, title=f"{side}s", noun="row"))
        return [*parts, [("error types of ", Code(repr(self.criterion)))]]

    def _records(self) -> Records:
        names = [f"reference_{name}" for name in REFERENCE_TYPES]
        names += [f"detection_{name}" for name in DETECTION_TYPES]
        rows: list[tuple[str | float, ...]] = [
            (label, threshold, *numbers.values()) for label, threshold, numbers in self._numbers()
        ]
        return {"class": str, "threshold": float, **dict.fromkeys(names, int)}, rows

    def _numbers(self) -> Iterator[tuple[str, float, dict[tuple[str, str], int]]]:
        """Iterate over classes and thresholds, with the number of events of each side and type."""
        for label, errors in self.per_class.items():
            of_types = {("reference", name): errors.references[name] for name in REFERENCE_TYPES}
            of_types |= {("detection", name): errors.detections[name] for name in DETECTION_TYPES}
            for row, threshold in enumerate(errors.thresholds.tolist()):
                yield label, threshold, {key: int(numbers[row]) for key, numbers in of_types.items()}


def diagnose(
    scores: SystemLike,
    truth: TruthLike,
    criterion: Criterion = _COLLAR,
    thresholds: ThresholdChoice | Points | None = None,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Diagnosis:
    """Count the error types of the detections and references of each class.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Criterion, default Collar()
        One about events: ``Intersection``, ``Collar`` or ``IoU``.
    thresholds : float, array, mapping of str to either, or OperatingPoints, optional
        One or several thresholds for all classes, or for each class. A class without one is never
        detected. Operating points also post-process the scores. By default, those of the best F-score of
        each class on these clips, which costs another pass.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Diagnosis
        By class, the number of events of each error type at each threshold.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.9], [0.2], [0.9], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 3, "Dog")]}, durations={"a": 4})
    >>> dog = diagnose(scores, truth, sed.Collar(), {"Dog": [0.5, 0.15]})["Dog"]
    >>> dog.references["fragmented"].tolist(), dog.detections["fragment"].tolist()
    ([1, 0], [2, 0])
    >>> dog.tally().fscore().tolist(), dog.fixed()["fragmented"].fscore().tolist()
    ([0.0, 1.0], [1.0, 1.0])
    """
    run = Run._of(run, "Diagnosing")
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    classes = None if classes is None else [*classes]
    choice: dict[str, Any] = {
        "classes": classes,
        "clips": clips,
        "missing": missing,
        "coverage": coverage,
    }
    if thresholds is None:
        thresholds = best_thresholds(scores, truth, criterion, choice, run)
    scores, chosen = at_points(scores, thresholds, classes)
    alignment = align(scores, truth, **choice)
    return diagnose_aligned(alignment, [criterion], chosen, threads=run.threads, progress=run._steps)[0]


def best_thresholds(
    scores: Scores, truth: GroundTruth, criterion: Criterion, choice: Mapping[str, Any], run: Run
) -> Mapping[str, float]:
    """Return the thresholds of the best F-score of each class. ``choice``: what is evaluated."""
    counts = deltas(scores, truth, criterion, **choice, run=Run(run.threads)).counts()
    return BestFScore(criterion).measure(counts).thresholds


def diagnose_aligned(
    alignment: Alignment,
    criteria: Sequence[Criterion],
    thresholds: ThresholdChoice,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """Diagnose scores and ground truth that are aligned already, by several criteria at once."""
    workers = thread_count(threads)
    points = [ClassThresholds.of(criterion, alignment.classes, thresholds) for criterion in criteria]
    changes = [np.zeros((of.starts[-1], 2 * len(TYPES)), np.int64) for of in points]
    for clips in covered_clips(alignment, criteria, workers, progress):
        for criterion, of_criterion, total in zip(criteria, points, changes, strict=True):
            arguments = of_criterion.arguments(criterion.seen(clips.batch), workers)
            total += of_criterion.criterion.count_error_types(*arguments)
    return [
        Diagnosis(criterion, _per_class(alignment.classes, of_criterion, total), alignment, workers)
        for criterion, of_criterion, total in zip(criteria, points, changes, strict=True)
    ]


def _per_class(
    classes: Sequence[str], thresholds: ClassThresholds, changes: IntArray
) -> dict[str, ClassDiagnosis]:
    """Build the diagnosis of each class from the changes from each threshold to the next."""
    per_class = {}
    of_classes = np.split(changes, thresholds.starts[1:-1])
    for label, points, of_class in zip(classes, thresholds.thresholds, of_classes, strict=True):
        references, detections = np.split(np.cumsum(of_class, axis=0).T, 2)
        per_class[label] = ClassDiagnosis(
            label=label,
            thresholds=points,
            references={types[0]: row for types, row in zip(TYPES, references, strict=True) if types[0]},
            detections={types[1]: row for types, row in zip(TYPES, detections, strict=True) if types[1]},
        )
    return per_class
