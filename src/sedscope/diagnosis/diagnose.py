"""Where errors come from: at given thresholds, each detection and each reference in exactly one bin.

A false detection and a missed reference often have one cause: an event found in pieces is both. The
bins of either side that belong together are in `CAUSES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import Progress, whole_clips
from ..counting.counts import IntArray
from ..counting.tally import Tally
from ..counting.threads import thread_count
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment, ClipChoice, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, Scores
from ..data.times import Ticks, to_seconds
from ..errors import SedscopeError, counted
from .thresholds import Stops, Thresholds

FloatArray: TypeAlias = NDArray[np.float64]

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

    ``criterion``: one about events (``Intersection``, ``Collar``, ``IoU``). ``thresholds``: one or
    several for all classes, or per class; a class without one is never detected.

    >>> from sedscope import Collar
    >>> scores = Scores.from_arrays({"a": [[0.9], [0.2], [0.9], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [(0, 3, "Dog")]}, durations={"a": 4})
    >>> dog = diagnose(scores, truth, Collar(), {"Dog": [0.5, 0.15]})["Dog"]
    >>> dog.references["fragmented"].tolist(), dog.detections["fragment"].tolist()
    ([1, 0], [2, 0])
    >>> dog.tally().fscore().tolist(), dog.fixed()["fragmented"].fscore().tolist()
    ([0.0, 1.0], [1.0, 1.0])
    """
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    return diagnose_aligned(alignment, [criterion], thresholds, threads=threads, progress=progress)[0]


def diagnose_aligned(
    alignment: Alignment,
    criteria: Sequence[Criterion],
    thresholds: Thresholds,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Diagnosis]:
    """The same by each of some criteria, of scores and ground truth that are aligned already."""
    workers = thread_count(threads)
    stops = [Stops.of(criterion, alignment.classes, thresholds) for criterion in criteria]
    changes = [np.zeros((one.starts[-1], 2 * len(_BINS)), np.int64) for one in stops]
    for found in whole_clips(alignment, workers, progress):
        for one, total in zip(stops, changes, strict=True):
            total += found.batch.clips.error_bins(*one.arguments(found.batch, workers))
    return [
        _diagnosis(criterion, alignment.classes, one, total)
        for criterion, one, total in zip(criteria, stops, changes, strict=True)
    ]


def _diagnosis(
    criterion: Criterion, classes: Sequence[str], stops: Stops, changes: IntArray
) -> Diagnosis:
    """``changes``: from each threshold to the next."""
    per_class = {}
    of_classes = np.split(changes, stops.starts[1:-1])
    for label, points, of_class in zip(classes, stops.thresholds, of_classes, strict=True):
        references, detections = np.split(np.cumsum(of_class, axis=0).T, 2)
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

    >>> from sedscope import Collar
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
    stops = Stops.of(criterion, alignment.classes, thresholds, single=True)
    workers = thread_count(threads)
    fp, fn = np.zeros((2, len(alignment.clips), len(alignment.classes)), np.int32)
    for found in whole_clips(alignment, workers, progress):
        of_batch = slice(found.first, found.first + len(found.batch.durations))
        arguments = stops.arguments(found.batch, workers)
        fp[of_batch], fn[of_batch] = found.batch.clips.error_costs(*arguments)
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

    >>> from sedscope import Collar
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
    stops = Stops.of(criterion, alignment.classes, thresholds, single=True)
    if clip not in alignment.clips:
        raise SedscopeError(f"no clip {clip!r} among the {counted(len(alignment.clips), 'clip')}")
    chosen = alignment.choose(np.array([alignment.clips.index(clip)]))
    (found,) = whole_clips(chosen, 1, None)
    batch = found.batch
    detections: list[JudgedEvent] = []
    references: list[JudgedEvent] = []
    for number, label in enumerate(alignment.classes):
        times, bins, reference_bins, pairs, contacts, triggers = batch.clips.judged_events(
            *stops.arguments(batch, 1), 0, number
        )
        first = np.array([len(detections), len(references)])  # places of the first ones of the class
        pairs, contacts = pairs + first, contacts + first
        names = [str(_BINS[of][1]) for of in bins]
        detections += _judged(times, label, names, first[0], pairs, contacts)
        for i, others in _linked(triggers).items():
            on = tuple(alignment.classes[other] for other in others)
            detections[first[0] + i] = replace(detections[first[0] + i], triggers=on)
        times = batch.events[batch.labels == number]
        names = [str(_BINS[of][0]) for of in reference_bins]
        references += _judged(times, label, names, first[1], pairs[:, ::-1], contacts[:, ::-1])
    return ClipDiagnosis(tuple(detections), tuple(references))


def _judged(
    times: Ticks, label: str, bins: Sequence[str], first: int, pairs: IntArray, contacts: IntArray
) -> list[JudgedEvent]:
    """Events of one class and side, with places from ``first`` on, and their links to the other side."""
    partners, overlaps = dict(pairs.tolist()), _linked(contacts)
    return [
        JudgedEvent(
            onset=onset,
            offset=offset,
            label=label,
            bin=bin_name,
            partner=partners.get(place),
            overlaps=tuple(overlaps.get(place, ())),
        )
        for place, ((onset, offset), bin_name) in enumerate(
            zip(to_seconds(times).tolist(), bins, strict=True), first
        )
    ]


def _linked(pairs: IntArray) -> dict[int, list[int]]:
    """For each of the one side those of the other."""
    links: dict[int, list[int]] = {}
    for one, other in pairs.tolist():
        links.setdefault(one, []).append(other)
    return links
