"""What all functions of the package share: error types, clips whose events are judged, and thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from .. import _native
from ..counting.checked_clips import CheckedBatch, whole_clips
from ..counting.clip_problems import refuse_point_references
from ..counting.counts import as_thresholds
from ..criteria import Criterion
from ..criteria.clip_batch import AnyBatch, DeltaSearch
from ..data.alignment import Alignment
from ..data.arrays import FloatArray, IntArray, rounded_down
from ..data.scores import Scores
from ..errors import SedscopeError, listing, look_up, raise_together
from ..progress import Progress

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
            "do not. Merge them with `overlaps='merge'`."
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


@runtime_checkable
class Points(Protocol):
    """Operating points: thresholds, and what is done to the scores before."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The threshold of each class."""

    def process(self, scores: Scores) -> Scores:
        """Return the post-processed scores."""


ThresholdChoice: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"


def at_points(
    scores: Scores, thresholds: ThresholdChoice | Points, classes: Iterable[str] | None
) -> tuple[Scores, ThresholdChoice]:
    """Return scores and thresholds. Operating points post-process, and may have more classes."""
    if not isinstance(thresholds, Points):
        return scores, thresholds
    evaluated = {*(scores.classes if classes is None else classes)}
    of_points = {label: at for label, at in thresholds.thresholds.items() if label in evaluated}
    return thresholds.process(scores), of_points


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
