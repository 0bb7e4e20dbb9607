"""Diagnosis: how many detections and references of each class have each error type.

The first part serves all functions of the package: clips whose events are judged one by one, the thresholds
at which they are judged, and what can be wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _native
from ..counting.checked_clips import CheckedBatch, whole_clips
from ..counting.clip_problems import refuse_point_references
from ..counting.clip_reader import thread_count
from ..counting.counts import as_thresholds
from ..counting.request import rounded_down
from ..counting.tally import Tally
from ..criteria import Criterion
from ..criteria.clip_batch import AnyBatch, DeltaSearch
from ..data.alignment import Alignment, align
from ..data.arrays import FloatArray, IntArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..engines.run import Run
from ..errors import SedscopeError, counted, listing, look_up, raise_together
from ..escaping import one_line
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..progress import Progress
from ..results.text import Code, Form, Part, Records, Table
from ..tabular import TabularResult

if TYPE_CHECKING:
    from typing_extensions import Unpack

CAUSES: Mapping[str, tuple[str | None, str | None]] = {
    "missed": ("missed", None),
    "fragmented": ("fragmented", "fragment"),
    "merged": ("merged", "merged"),
    "too_long": ("too_long", "too_long"),
    "too_short": ("too_short", "too_short"),
    "onset": ("onset", "onset"),
    "offset": ("offset", "offset"),
    "cross_trigger": (None, "cross_trigger"),
    "background": (None, "background"),
}
"""Each cause, with the error type of the references and of the detections that it explains."""

TYPES = (("found", "true"), *CAUSES.values(), (None, "ignored"))  # in the order of the core
NOT_FALSE = ("true", "ignored")
"""The types of detections that are not false positives."""
REFERENCE_TYPES = tuple(name for name, _ in TYPES if name)
DETECTION_TYPES = tuple(name for _, name in TYPES if name)


def judged_clips(
    alignment: Alignment, criteria: Sequence[Criterion], threads: int, progress: Progress | None
) -> Iterator[CheckedBatch]:
    """Go through the clips, and refuse events that the criteria cannot judge one by one."""
    if alignment.has_overlapping_references():
        raise SedscopeError(
            "Some references of one class overlap, but error types and boundary errors need references that "
            "do not. Merge them with overlaps='merge' (--overlaps merge)."
        )
    for criterion in criteria:
        refuse_point_references(alignment, criterion)
    for clips in whole_clips(alignment, threads, progress):
        for criterion in criteria:
            clips.refuse_points(criterion)
        yield clips


def covered_clips(
    alignment: Alignment, criteria: Sequence[Criterion], threads: int, progress: Progress | None
) -> Iterator[CheckedBatch]:
    """Go through the clips as :func:`judged_clips` does, and refuse scores that do not cover them."""
    extents, durations = [], []
    for clips in judged_clips(alignment, criteria, threads, progress):
        extents.append(clips.batch.extents)
        durations.append(clips.batch.durations)
        yield clips
    alignment.require_coverage(np.concatenate(durations), np.concatenate(extents))


ThresholdChoice: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"


@dataclass(frozen=True, eq=False)
class ClassThresholds:
    """The thresholds of each class, and the criterion that judges the events at them."""

    criterion: _native.Criterion
    thresholds: Sequence[FloatArray]
    """Of each class, decreasing."""
    starts: IntArray
    """The first threshold of each class among all, and the end."""

    @classmethod
    def of(
        cls,
        criterion: Criterion,
        classes: Sequence[str],
        thresholds: ThresholdChoice,
        *,
        single: bool = False,
    ) -> ClassThresholds:
        """Check thresholds for all classes, or per class. A class without one is never detected.

        ``single``: allow only one threshold per class.
        """
        native = criterion.native()
        if native is None:
            raise SedscopeError(
                "An error analysis needs a criterion that judges single events (Intersection, Collar, "
                f"Onset, IoU without matching='greedy'), not {criterion!r}."
            )
        by_class = thresholds if isinstance(thresholds, Mapping) else dict.fromkeys(classes, thresholds)
        unknown = [str(label) for label in by_class if label not in classes]
        if unknown:
            raise SedscopeError(
                f"Some thresholds are for classes that are not evaluated: {listing(unknown)}."
            )
        points: list[FloatArray] = []
        problems: list[str] = []
        for label in classes:
            try:
                points.append(as_thresholds(by_class.get(label, np.inf)))
            except SedscopeError as error:
                problems.append(f"{label}: {error}")
                continue
            number = len(points[-1])
            if single and number != 1:
                problems.append(f"{label}: give one threshold, not {number}.")
            elif not number:
                problems.append(f"{label}: there is no threshold.")
        raise_together(map(SedscopeError, problems), what="the thresholds")
        ends = np.cumsum([len(of_class) for of_class in points])
        return cls(native, points, np.concatenate([[0], ends]).astype(np.int64))

    def arguments(
        self, batch: AnyBatch, threads: int
    ) -> tuple[_native.Clips, _native.Truth, _native.ThresholdTable]:
        """Return the arguments of the core for judging the events of some clips."""
        points = rounded_down(np.concatenate(self.thresholds), batch.maxima.dtype)
        lowest = points[self.starts[1:] - 1]
        table = _native.ThresholdTable(points, self.starts)
        return batch.clips, batch.truth(DeltaSearch(lowest, threads)), table


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


Judged = TypeVar("Judged")


class OfClasses(Mapping[str, Judged]):
    """What is known of each class, by label."""

    per_class: Mapping[str, Judged]

    def __getitem__(self, label: str) -> Judged:
        return look_up(self.per_class, label, "class")

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)


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

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.criterion!r}: {counted(len(self), 'class')}>"

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
    criterion: Criterion,
    thresholds: ThresholdChoice,
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
    criterion : Criterion
        One about events: ``Intersection``, ``Collar`` or ``IoU``.
    thresholds : float, array, or mapping of str to either
        One or several thresholds for all classes, or for each class. A class without one is never
        detected.
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
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    return diagnose_aligned(
        alignment, [criterion], thresholds, threads=run.threads, progress=run._steps
    )[0]


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
        _diagnosis(criterion, alignment.classes, of_criterion, total)
        for criterion, of_criterion, total in zip(criteria, points, changes, strict=True)
    ]


def _diagnosis(
    criterion: Criterion, classes: Sequence[str], thresholds: ClassThresholds, changes: IntArray
) -> Diagnosis:
    """Build the diagnosis from the changes from each threshold to the next."""
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
    return Diagnosis(criterion, per_class)
