"""Where errors come from: at given thresholds, each detection and each reference in exactly one bin.

A false detection and a missed reference often have one cause: an event found in pieces is both. The
bins of either side that belong together are in `CAUSES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from .alignment import Alignment, ClipChoice, Missing, align
from .collect import CheckedBatch, Progress, checked_batches
from .counts import IntArray, as_thresholds
from .criteria import Collar, Criterion, Intersection, IoU
from .errors import SedscopeError, listing
from .ground_truth import GroundTruth
from .scores import ClipScores, ScoreArray, Scores
from .tallies import Tally
from .threads import thread_count
from .times import Ticks, to_seconds

FloatArray: TypeAlias = NDArray[np.float64]
Thresholds: TypeAlias = "ArrayLike | Mapping[str, ArrayLike]"

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
"""What is wrong, and the bins of references and of detections that it fills."""

_BINS = (("found", "true"), *CAUSES.values())  # as the core numbers them
REFERENCE_BINS = tuple(name for name, _ in _BINS if name)
DETECTION_BINS = tuple(name for _, name in _BINS if name)


@dataclass(frozen=True, eq=False)
class ClassDiagnosis:
    """How many events of one class are in each bin, at each of some thresholds."""

    label: str
    thresholds: FloatArray
    """Decreasing; in row i frames with ``score > thresholds[i]`` are active."""
    references: Mapping[str, IntArray]
    """Per bin, how many references; all but ``found`` are false negatives."""
    detections: Mapping[str, IntArray]
    """Per bin, how many detections; all but ``true`` are false positives."""

    def tally(self) -> Tally:
        """What is counted at the thresholds: precision, recall, F-score, error rate."""
        references = sum(int(numbers[0]) for numbers in self.references.values())
        false = sum(numbers for name, numbers in self.detections.items() if name != "true")
        return Tally(self.references["found"], np.asarray(false), references)

    def fixed(self) -> dict[str, Tally]:
        """Per cause, what would be counted without it: its references found, its detections gone."""
        now = self.tally()
        return {
            cause: Tally(
                now.tp + (self.references[of_reference] if of_reference else 0),
                now.fp - (self.detections[of_detection] if of_detection else 0),
                now.references,
            )
            for cause, (of_reference, of_detection) in CAUSES.items()
        }


@dataclass(frozen=True, eq=False)
class Diagnosis(Mapping[str, ClassDiagnosis]):
    """Where the errors of every class come from, by label."""

    criterion: Criterion
    per_class: Mapping[str, ClassDiagnosis]

    def __getitem__(self, label: str) -> ClassDiagnosis:
        return self.per_class[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_class)

    def __len__(self) -> int:
        return len(self.per_class)


@dataclass(frozen=True, eq=False)
class ClipCosts:
    """What each clip costs at one threshold per class."""

    clips: tuple[str, ...]
    classes: tuple[str, ...]
    fp: NDArray[np.int32]
    """(clips × classes) false positives."""
    fn: NDArray[np.int32]
    """(clips × classes) false negatives."""


@dataclass(frozen=True)
class JudgedEvent:
    """A detection or a reference of a clip, and its bin."""

    onset: float
    offset: float
    label: str
    bin: str
    partner: int | None
    """The event of the other side that it is paired with, as a place in their list, if there is one."""
    overlaps: tuple[int, ...]
    """The events of the other side and its class that share time with it, as places in their list."""
    triggers: tuple[str, ...] = ()
    """On which classes a detection is a cross-trigger, if that is its bin."""


@dataclass(frozen=True)
class ClipDiagnosis:
    """The events of one clip at one threshold per class, ordered by class and time."""

    detections: tuple[JudgedEvent, ...]
    references: tuple[JudgedEvent, ...]


def diagnose(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    thresholds: Thresholds,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """How many detections and references of each class are in each bin.

    ``criterion``: one about events (:class:`Intersection`, :class:`Collar`, :class:`IoU`).
    ``thresholds``: one or several for all classes, or per class; a class without one is never detected.

    >>> scores = Scores.from_arrays({"a": [[0.9], [0.2], [0.9], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [(0, 3, "Dog")]}, durations={"a": 4})
    >>> dog = diagnose(scores, truth, Collar(), {"Dog": [0.5, 0.15]})["Dog"]
    >>> dog.references["fragmented"].tolist(), dog.detections["fragment"].tolist()
    ([1, 0], [2, 0])
    >>> dog.tally().fscore().tolist(), dog.fixed()["fragmented"].fscore().tolist()
    ([0.0, 1.0], [1.0, 1.0])
    """
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    return diagnose_aligned(alignment, criterion, thresholds, threads=threads, progress=progress)


def diagnose_aligned(
    alignment: Alignment,
    criterion: Criterion,
    thresholds: Thresholds,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """The same of scores and ground truth that are aligned already."""
    judge, workers = _judge(criterion), thread_count(threads)
    stops = _Stops.of(alignment.classes, thresholds)
    changes = np.zeros((stops.starts[-1], 2 * len(_BINS)), np.int64)
    for found in checked_batches(alignment, (None,), workers, progress):
        changes += found.batch.clips.error_bins(*stops.arguments(found, judge, workers))
    per_class = {}
    for label, points, first in zip(alignment.classes, stops.thresholds, stops.starts, strict=False):
        references, detections = np.split(
            np.cumsum(changes[first : first + len(points)], axis=0).T, 2, axis=0
        )
        per_class[label] = ClassDiagnosis(
            label=label,
            thresholds=points,
            references={of[0]: row for of, row in zip(_BINS, references, strict=True) if of[0]},
            detections={of[1]: row for of, row in zip(_BINS, detections, strict=True) if of[1]},
        )
    return Diagnosis(criterion, per_class)


def clip_costs(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> ClipCosts:
    """False positives and false negatives of each clip and class, to rank clips by what they cost.

    ``thresholds``: one for all classes or one per class; a class without one is never detected.

    >>> scores = Scores.from_arrays({"a": [[0.9]], "b": [[0.1]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [], "b": [(0, 1, "Dog")]}, durations={"a": 1, "b": 1})
    >>> costs = clip_costs(scores, truth, Collar(), 0.5)
    >>> costs.fp[:, 0].tolist(), costs.fn[:, 0].tolist()
    ([1, 0], [0, 1])
    """
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    return clip_costs_aligned(alignment, criterion, thresholds, threads=threads, progress=progress)


def clip_costs_aligned(
    alignment: Alignment,
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ClipCosts:
    """The same of scores and ground truth that are aligned already."""
    judge, workers = _judge(criterion), thread_count(threads)
    stops = _Stops.of(alignment.classes, thresholds, single=True)
    fp, fn = np.zeros((2, len(alignment.clips), len(alignment.classes)), np.int32)
    for found in checked_batches(alignment, (None,), workers, progress):
        of_batch = slice(found.first, found.first + len(found.batch.durations))
        fp[of_batch], fn[of_batch] = found.batch.clips.error_costs(
            *stops.arguments(found, judge, workers)
        )
    return ClipCosts(alignment.clips, alignment.classes, fp, fn)


def diagnose_clip(
    clip: ClipScores,
    references: Iterable[tuple[float, float, str]],
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
    *,
    classes: Sequence[str],
    duration: float | None = None,
) -> ClipDiagnosis:
    """The detections and references of one clip with their bins, to be drawn.

    ``references``: (onset, offset, label) in seconds; ``classes``: those of the columns of the scores;
    ``duration``: of the clip in seconds, the last boundary of the scores unless given.

    >>> clip = Scores.from_arrays({"a": [[0.9], [0.2]]}, classes=["Dog"], frame=1.0)["a"]
    >>> found = diagnose_clip(clip, [(0, 2, "Dog")], Collar(), 0.5, classes=["Dog"])
    >>> [(event.onset, event.offset, event.bin, event.overlaps) for event in found.detections]
    [(0.0, 1.0, 'offset', (0,))]
    """
    alignment = align(
        Scores(["clip"], lambda _: clip, classes=classes, in_memory=True),
        GroundTruth.from_dict(
            {"clip": references}, durations=None if duration is None else {"clip": duration}
        ),
    )
    return diagnose_aligned_clip(alignment, "clip", criterion, thresholds)


def diagnose_aligned_clip(
    alignment: Alignment,
    clip: str,
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
) -> ClipDiagnosis:
    """The same of one of the clips of scores and ground truth that are aligned already."""
    judge = _judge(criterion)
    stops = _Stops.of(alignment.classes, thresholds, single=True)
    (found,) = checked_batches(alignment.only(clip), (None,), 1, None)
    arguments = stops.arguments(found, judge, 1)
    detections: list[JudgedEvent] = []
    references: list[JudgedEvent] = []
    for number, label in enumerate(alignment.classes):
        times, bins, reference_bins, pairs, contacts, triggers = found.batch.clips.judged_events(
            *arguments, 0, number
        )
        first = np.array([len(detections), len(references)])  # places of the first ones of the class
        pairs, contacts = pairs + first, contacts + first
        triggered: dict[int, list[str]] = {}
        for i, other in triggers.tolist():
            triggered.setdefault(first[0] + i, []).append(alignment.classes[other])
        detections += _judged(
            first[0],
            times,
            label,
            [str(_BINS[number][1]) for number in bins],
            pairs,
            contacts,
            triggered,
        )
        references += _judged(
            first[1],
            found.batch.events[found.batch.labels == number],
            label,
            [str(_BINS[number][0]) for number in reference_bins],
            pairs[:, ::-1],
            contacts[:, ::-1],
            {},
        )
    return ClipDiagnosis(tuple(detections), tuple(references))


def _judged(
    first: int,
    times: Ticks,
    label: str,
    bins: Sequence[str],
    pairs: IntArray,
    contacts: IntArray,
    triggers: Mapping[int, Sequence[str]],
) -> list[JudgedEvent]:
    """Events of one class and side, counted from ``first``."""
    partners, overlaps = _linked(pairs), _linked(contacts)
    return [
        JudgedEvent(
            onset=onset,
            offset=offset,
            label=label,
            bin=bin_name,
            partner=partners[place][0] if place in partners else None,
            overlaps=tuple(overlaps.get(place, ())),
            triggers=tuple(triggers.get(place, ())),
        )
        for place, ((onset, offset), bin_name) in enumerate(
            zip(to_seconds(times).tolist(), bins, strict=True), first
        )
    ]


def _linked(pairs: IntArray) -> dict[int, list[int]]:
    """For each event of the one side those of the other."""
    links: dict[int, list[int]] = {}
    for one, other in pairs.tolist():
        links.setdefault(one, []).append(other)
    return links


def _judge(criterion: Criterion) -> _native.Judge:
    if isinstance(criterion, (Intersection, Collar, IoU)):
        return criterion.judge()
    raise SedscopeError(
        "where errors come from is known for criteria about events (Intersection, Collar, IoU), not for "
        f"{criterion!r}"
    )


@dataclass(frozen=True, eq=False)
class _Stops:
    """The thresholds at which each class is looked at."""

    thresholds: Sequence[FloatArray]
    """Of each class, decreasing."""
    starts: NDArray[np.int64]
    """The first threshold of each class among all, and the end."""

    @classmethod
    def of(cls, classes: Sequence[str], thresholds: Thresholds, *, single: bool = False) -> _Stops:
        given = thresholds if isinstance(thresholds, Mapping) else dict.fromkeys(classes, thresholds)
        unknown = [str(label) for label in given if label not in classes]
        if unknown:
            raise SedscopeError(f"thresholds for classes that are not evaluated: {listing(unknown)}")
        found = {label: as_thresholds(given.get(label, np.inf)) for label in classes}
        wrong = [
            f"{label} has {len(points)}"
            for label, points in found.items()
            if len(points) == 0 or (single and len(points) > 1)
        ]
        if wrong:
            needed = "one threshold" if single else "at least one threshold"
            raise SedscopeError(f"{needed} per class is needed: {listing(wrong)}")
        ends = np.cumsum([len(points) for points in found.values()])
        return cls(list(found.values()), np.concatenate([[0], ends]).astype(np.int64))

    def arguments(
        self, found: CheckedBatch, judge: _native.Judge, threads: int
    ) -> tuple[_native.Truth, _native.Judge, ScoreArray, NDArray[np.int64]]:
        """What the core takes to diagnose some clips."""
        stops = _rounded_down(np.concatenate(self.thresholds), found.batch.maxima.dtype)
        floors = stops[self.starts[1:] - 1]
        return found.batch.truth(floors, threads), judge, stops, self.starts


def _rounded_down(thresholds: FloatArray, dtype: np.dtype[np.float32 | np.float64]) -> ScoreArray:
    """For each threshold the largest value of the scores' type that is not above it: the same scores are
    above either."""
    with np.errstate(over="ignore"):
        rounded: ScoreArray = thresholds.astype(dtype)
        lower = np.nextafter(rounded, dtype.type(-np.inf))
    return np.where(rounded > thresholds, lower, rounded)
