"""What all functions of the package share: error types, clips whose events are judged, and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..alignment.alignment import Alignment
from ..counting.checked_clips import CheckedBatch, whole_clips
from ..counting.clip_problems import refuse_point_references
from ..counting.counts import as_thresholds
from ..criteria import Criterion
from ..criteria.clip_batch import AnyBatch, DeltaSearch, EventBatch
from ..data.arrays import FloatArray, IntArray, rounded_down
from ..data.scores import Scores
from ..data.thresholds import refuse_unread_points
from ..data.times import Ticks
from ..errors import SedscopeError, listing, look_up, raise_together
from ..progress import Progress

if TYPE_CHECKING:
    from ..criteria import Window
    from ..criteria.per_detection import JudgedWindows

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
_NUMBER = {name: number for number, names in enumerate(TYPES) for name in names if name}
NOT_FALSE = ("true", "ignored")
"""The types of detections that are not false positives."""
REFERENCE_TYPES = tuple(name for name, _ in TYPES if name)
DETECTION_TYPES = tuple(name for _, name in TYPES if name)


def judged_clips(
    alignment: Alignment, criteria: Sequence[Criterion], threads: int, progress: Progress | None
) -> Iterator[CheckedBatch]:
    """Go through the clips, and refuse events that the criteria cannot judge one by one."""
    if (
        not all(criterion.judges_windows for criterion in criteria)
        and alignment.has_overlapping_references()
    ):
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
    refuse_unread_points(thresholds)
    if not isinstance(thresholds, Points):
        return scores, thresholds
    evaluated = {*(scores.classes if classes is None else classes)}
    of_points = {label: at for label, at in thresholds.thresholds.items() if label in evaluated}
    return thresholds.process(scores), of_points


@dataclass(frozen=True, eq=False)
class ClassThresholds:
    """The thresholds of each class, and the criterion that judges the events at them."""

    defined: Criterion
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
        if criterion.native() is None and not criterion.judges_windows:
            raise SedscopeError(
                "An error analysis needs a criterion that judges single events (Window, Intersection, "
                f"Collar, Onset, IoU without matching='greedy'), not {criterion!r}."
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
        return cls(criterion, points, np.concatenate([[0], ends]).astype(np.int64))

    @property
    def criterion(self) -> _native.Criterion:
        """The criterion of the core."""
        native = self.defined.native()
        if native is None:
            raise SedscopeError(
                f"{self.defined!r} judges windows one by one, so it can list errors (`sedscope errors`) and "
                "diagnose single clips, but not count error types. Intersection(dtc=0.5, gtc=0.1) does."
            )
        return native

    def judge(self, batch: AnyBatch, threads: int) -> Callable[[int, int], JudgedEvents]:
        """Return what judges the events of a clip of some and of a class, at its first threshold."""
        if not self.defined.judges_windows:
            core, arguments = self.criterion, self.arguments(batch, threads)
            return lambda clip, label: core.judge_events(*arguments, clip=clip, class_number=label)
        limits = np.array([of_class[0] for of_class in self.thresholds])
        windows = cast("Window", self.defined).judge_windows(batch, limits)
        return partial(_judged_windows, windows, batch)

    def with_errors(self, batch: AnyBatch, threads: int) -> IntArray:
        """Return rows (clip, class) of some clips: those with errors are among them."""
        if not self.defined.judges_windows:
            errors = self.criterion.count_clip_errors(*self.arguments(batch, threads))
            return np.argwhere((errors.fp > 0) | (errors.fn > 0))
        assert isinstance(batch, EventBatch)  # judge() refuses others
        assert batch.listed is not None
        clips = np.concatenate([batch.listed.event_clips, batch.event_clips])
        labels = np.concatenate([batch.listed.columns, batch.labels])
        return np.unique(np.stack([clips, labels], axis=1), axis=0)

    def arguments(
        self, batch: AnyBatch, threads: int
    ) -> tuple[_native.Clips, _native.Truth, _native.ThresholdTable]:
        """Return the arguments of the core for judging the events of some clips."""
        points = rounded_down(np.concatenate(self.thresholds), batch.maxima.dtype)
        lowest = points[self.starts[1:] - 1]
        table = _native.ThresholdTable(points, self.starts)
        return batch.clips, batch.truth(DeltaSearch(lowest, threads)), table


class JudgedEvents(Protocol):
    """Detections and references of one clip and class, with the numbers of their error types."""

    @property
    def detections(self) -> Ticks: ...
    @property
    def detection_types(self) -> NDArray[np.uint8]: ...
    @property
    def reference_types(self) -> NDArray[np.uint8]: ...
    @property
    def pairs(self) -> IntArray: ...
    @property
    def overlaps(self) -> IntArray: ...
    @property
    def cross_triggers(self) -> IntArray: ...


@dataclass(frozen=True, eq=False)
class _ClipWindows:
    """The same of windows that are judged one by one, which form no pairs."""

    detections: Ticks
    detection_types: NDArray[np.uint8]
    reference_types: NDArray[np.uint8]
    pairs: IntArray
    overlaps: IntArray
    cross_triggers: IntArray


def _judged_windows(windows: JudgedWindows, batch: AnyBatch, clip: int, label: int) -> JudgedEvents:
    rows = np.flatnonzero((windows.event_clips == clip) & (windows.columns == label))
    calls = np.flatnonzero((batch.event_clips == clip) & (batch.labels == label))
    times, events = windows.times[rows], batch.events[calls]
    triggers = windows.triggers[np.isin(windows.triggers[:, 0], rows)]
    triggers = np.stack([np.searchsorted(rows, triggers[:, 0]), triggers[:, 1]], axis=1)
    types = np.full(len(rows), _NUMBER["background"], np.uint8)
    types[triggers[:, 0]] = _NUMBER["cross_trigger"]
    types[windows.excused[rows]] = _NUMBER["ignored"]
    types[windows.right[rows]] = _NUMBER["true"]
    shared = np.minimum(times[:, None, 1], events[:, 1]) > np.maximum(times[:, None, 0], events[:, 0])
    return _ClipWindows(
        times,
        types,
        np.where(windows.found[calls], _NUMBER["found"], _NUMBER["missed"]).astype(np.uint8),
        np.empty((0, 2), np.int64),
        np.argwhere(shared),
        triggers[types[triggers[:, 0]] == _NUMBER["cross_trigger"]],
    )


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
