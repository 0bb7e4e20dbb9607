"""The list of all errors: every event that is false, missed or wrongly bounded, to listen to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..alignment.alignment import Alignment, align
from ..counting.clip_reader import thread_count
from ..criteria import Collar, Criterion
from ..criteria.clip_batch import AnyBatch
from ..data.choices import ClipChoice, Coverage, Missing, check_choice
from ..data.clip_events import ClipEvents
from ..data.clip_scores import ClipScores
from ..data.events import Events
from ..data.scores import frames_or_events
from ..engines.run import Run
from ..errors import counted
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores
from ..results.text import Code, Form, Part, Records, Table
from ..tabular import TabularResult
from .diagnose import best_thresholds
from .judging import (
    NOT_FALSE,
    TYPES,
    ClassThresholds,
    JudgedEvents,
    Points,
    ThresholdChoice,
    at_points,
    covered_clips,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

ErrorOrder: TypeAlias = Literal["score", "time"]
Reference: TypeAlias = tuple[float, float, str]
"""Onset, offset and label of a reference."""

_COLLAR = Collar()
_SHOWN = 20  # rows in readable text


@dataclass(frozen=True)
class ListedError:
    """A detection or a reference that is an error.

    Attributes
    ----------
    clip : str
        The clip.
    onset, offset : float
        The times in seconds.
    label : str
        The class.
    error_type : str
        Why it is an error; see :func:`~sedscope.diagnose`.
    side : {"detection", "reference"}
        What it is.
    score : float or None
        The highest score of the class during the event; None if there is none.
    reference : tuple or None
        Onset, offset and label of the reference that it is about: a reference itself, the only one of its
        class that a detection overlaps, or the one that a cross-trigger shares most time with.
    """

    clip: str
    onset: float
    offset: float
    label: str
    error_type: str
    side: Literal["detection", "reference"]
    score: float | None
    reference: Reference | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ErrorList(TabularResult):
    """The errors of a system, each event with its error type.

    Data frames and CSV files have a row per event. Readable tables show the first ones only.

    Attributes
    ----------
    errors : tuple of ListedError
        The events, in order.
    criterion : Criterion or None
        What counts as found; None for suspected annotation errors.
    """

    errors: tuple[ListedError, ...]
    criterion: Criterion | None

    def __repr__(self) -> str:
        by = "suspected" if self.criterion is None else f"by {self.criterion!r}"
        return f"<ErrorList: {counted(len(self.errors), 'error')} {by}>"

    def __len__(self) -> int:
        return len(self.errors)

    def __iter__(self) -> Iterator[ListedError]:
        return iter(self.errors)

    def events(self) -> Events[tuple[Any, ...]]:
        """Return the events with what they are as labels, for a program that shows them beside the sound.

        A label names the class, a question mark in brackets to answer, the error type, and the reference, as
        in ``Dog [?] offset of Dog 1.000000-2.500000``. ``sedscope errors apply`` reads the answers.

        Returns
        -------
        Events
            By clip ``(onset, offset, label)`` in order of time, or ``(onset, offset, label, score)`` if all
            events have scores.

        Examples
        --------
        >>> import sedscope as sed
        >>> scores = sed.Scores.from_arrays({"a": [[0.9], [0.2]]}, classes=["Dog"], frame=1.0)
        >>> listed = sed.diagnosis.list_errors(scores, {"a": [(1, 2, "Dog")]}, thresholds=0.5)
        >>> listed.events()["a"][0]
        (0.0, 1.0, 'Dog [?] background', 0.9)
        """
        scored = all(error.score is not None for error in self.errors)
        events: Events[tuple[Any, ...]] = Events()
        for error in sorted(self.errors, key=lambda error: (error.clip, error.onset, error.offset)):
            row = (error.onset, error.offset, label_text(error))
            events.setdefault(error.clip, []).append((*row, error.score) if scored else row)
        return events

    def most_suspicious_first(self, suspected: ErrorList) -> ErrorList:
        """Return the same errors, those first in which the annotation is probably wrong.

        Parameters
        ----------
        suspected : ErrorList
            What :func:`suspected_annotations` returns for the same clips.

        Returns
        -------
        ErrorList
            In the order of the first suspicion that an error belongs to: a reference that it names, or a
            proposed event of its class that it overlaps. The others follow in their order.
        """
        by_clip: dict[str, list[tuple[int, ListedError]]] = {}
        for rank, suspect in enumerate(suspected):
            by_clip.setdefault(suspect.clip, []).append((rank, suspect))

        def rank_of(error: ListedError) -> int:
            ranks = (rank for rank, suspect in by_clip.get(error.clip, ()) if _is_about(error, suspect))
            return next(ranks, len(suspected))

        return replace(self, errors=tuple(sorted(self.errors, key=rank_of)))

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        rows = [
            [
                error.clip,
                error.label,
                f"{error.onset:.3f}",
                f"{error.offset:.3f}",
                "" if error.score is None else f"{error.score:.4g}",
                error.error_type.replace("_", " "),
            ]
            for error in self.errors[: _SHOWN if form == "text" else None]
        ]
        number = f"{len(rows)} of {len(self)}" if len(rows) < len(self) else f"{len(self)}"
        header = ["clip", "class", "onset", "offset", "score", "error type"]
        kinds = Counter((error.side, error.error_type) for error in self.errors)
        of_types = [[f"{side}s", kind, str(kinds[side, kind])] for side, kind in sorted(kinds)]
        return [
            Table(["events", "error type", "number"], of_types, names=2, noun="error type"),
            Table(header, rows, names=2, title=f"{number} errors", noun="error"),
            [
                "suspected annotation errors, the most suspicious of each type in turn; score: evidence"
                if self.criterion is None
                else ("errors of ", Code(repr(self.criterion)))
            ],
        ]

    def _records(self) -> Records:
        columns = {"filename": str, "onset": float, "offset": float, "event_label": str}
        columns |= {"error_type": str, "side": str, "score": float, "answer": str}
        columns |= {"reference_label": str, "reference_onset": float, "reference_offset": float}
        return columns, [_record(error) for error in self.errors]


def _is_about(error: ListedError, suspect: ListedError) -> bool:
    if error.reference is not None and error.reference == suspect.reference:
        return True
    shares_time = min(error.offset, suspect.offset) > max(error.onset, suspect.onset)
    return error.side == "detection" and error.label == suspect.label and shares_time


def _record(error: ListedError) -> tuple[str | float | None, ...]:
    onset, offset, label = error.reference or (None, None, None)
    return (
        *(error.clip, error.onset, error.offset, error.label),
        *(error.error_type, error.side, error.score, None, label, onset, offset),
    )


def label_text(error: ListedError) -> str:
    """Return the label under which other programs show an error."""
    text = f"{error.label} [?] {error.error_type}"
    if error.reference is None:
        return text
    onset, offset, label = error.reference
    return f"{text} of {label} {onset:.6f}-{offset:.6f}"


def list_errors(
    scores: SystemLike,
    truth: TruthLike,
    criterion: Criterion = _COLLAR,
    thresholds: ThresholdChoice | Points | None = None,
    *,
    order: ErrorOrder = "score",
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> ErrorList:
    """List every detection that is false and every reference that is not found, with its error type.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Criterion, default Collar()
        One about events, such as ``Intersection``, ``Collar`` or ``IoU``; for windows that are kept as they
        are, ``Window``.
    thresholds : float, mapping of str to float, or OperatingPoints, optional
        One threshold for all classes, or one for each class. Operating points also post-process the scores.
        By default, those of the best F-score of each class on these clips, which costs another pass.
    order : {"score", "time"}, default "score"
        Which errors come first: those with the highest score, or those of the first clip.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    ErrorList

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.9], [0.2], [0.6]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 3})
    >>> for error in sed.diagnosis.list_errors(scores, truth, sed.Collar(), 0.5):
    ...     print(error.side, error.onset, error.offset, error.error_type, error.score)
    detection 0.0 1.0 offset 0.9
    reference 0.0 2.0 offset 0.9
    detection 2.0 3.0 background 0.6
    """
    check_choice(ErrorOrder, order=order)
    run = Run._of(run, "Listing errors")
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    classes = None if classes is None else [*classes]
    choice: dict[str, Any] = {"classes": classes, "clips": clips, "missing": missing}
    choice["coverage"] = coverage
    if thresholds is None:
        thresholds = best_thresholds(scores, truth, criterion, choice, run)
    scores, chosen = at_points(scores, thresholds, classes)
    alignment = align(scores, truth, **choice)
    points = ClassThresholds.of(criterion, alignment.classes, chosen, single=True)
    threads = thread_count(run.threads)
    errors: list[ListedError] = []
    for checked in covered_clips(alignment, [criterion], threads, run._steps):
        batch = criterion.seen(checked.batch)
        names = alignment.clips[checked.first : checked.first + len(batch.durations)]
        errors += _errors_of_batch(alignment, points, batch, names, threads)
    if order == "score":
        errors.sort(key=lambda error: -np.inf if error.score is None else error.score, reverse=True)
    return ErrorList(tuple(errors), criterion)


def _errors_of_batch(
    alignment: Alignment, points: ClassThresholds, batch: AnyBatch, names: Sequence[str], threads: int
) -> Iterator[ListedError]:
    """Iterate over the errors of some clips, clip by clip in order of time."""
    judge = points.judge(batch, threads)
    with_errors: dict[int, list[int]] = {}
    for clip, label in points.with_errors(batch, threads).tolist():
        with_errors.setdefault(clip, []).append(label)
    for clip, labels in with_errors.items():
        name = names[clip]
        opened = frames_or_events(name, alignment.scores.open(name))
        listed: list[ListedError] = []
        for label in labels:
            judged = judge(clip, label)
            peaks = _Peaks(opened, int(alignment.columns[label]), float(points.thresholds[label][0]))
            references = _references(batch, clip)
            listed += _errors_of_class(alignment.classes, label, judged, references, peaks, name)
        yield from sorted(listed, key=lambda error: (error.onset, error.offset))


def _references(batch: AnyBatch, clip: int) -> dict[int, list[tuple[int, int]]]:
    """Return the references of a clip by class, in order of time."""
    by_class: dict[int, list[tuple[int, int]]] = {}
    rows = slice(batch.starts[clip], batch.starts[clip + 1])
    for label, times in zip(batch.labels[rows].tolist(), batch.events[rows].tolist(), strict=True):
        by_class.setdefault(label, []).append((times[0], times[1]))
    return by_class


def _errors_of_class(
    classes: Sequence[str],
    label: int,
    judged: JudgedEvents,
    references: Mapping[int, Sequence[tuple[int, int]]],
    peaks: _Peaks,
    clip: str,
) -> Iterator[ListedError]:
    own = references.get(label, ())
    overlapped: dict[int, list[int]] = {}
    for detection, reference in judged.overlaps.tolist():
        overlapped.setdefault(detection, []).append(reference)
    triggered: dict[int, list[int]] = {}
    for detection, other in judged.cross_triggers.tolist():
        triggered.setdefault(detection, []).append(other)
    scores = peaks.of_detections(judged.detections.tolist())
    for i, (times, number) in enumerate(
        zip(judged.detections.tolist(), judged.detection_types.tolist(), strict=True)
    ):
        error_type = str(TYPES[number][1])
        if error_type in NOT_FALSE:
            continue
        about = [(*own[j], label) for j in overlapped.get(i, ())]
        if error_type == "cross_trigger":
            others = [(*event, m) for m in triggered[i] for event in references[m]]
            about = [max(others, key=lambda event: min(event[1], times[1]) - max(event[0], times[0]))]
        yield _listed(clip, classes, (*times, label), error_type, "detection", scores[i], about)
    for times, number in zip(own, judged.reference_types.tolist(), strict=True):
        error_type = str(TYPES[number][0])
        if error_type != "found":
            event = (*times, label)
            yield _listed(clip, classes, event, error_type, "reference", peaks.during(*times), [event])


def _listed(
    clip: str,
    classes: Sequence[str],
    event: tuple[int, int, int],
    error_type: str,
    side: Literal["detection", "reference"],
    score: float | None,
    about: Sequence[tuple[int, int, int]],
) -> ListedError:
    """Return an error. ``about``: the references that it is about; only a single one is named."""

    def named(times: tuple[int, int, int]) -> Reference:
        return times[0] / 1e6, times[1] / 1e6, classes[times[2]]

    onset, offset, label = named(event)
    reference = named(about[0]) if len(about) == 1 else None
    return ListedError(clip, onset, offset, label, error_type, side, score, reference)


class _Peaks:
    """The highest scores of a class of a clip during events."""

    def __init__(self, clip: ClipScores | ClipEvents, column: int, threshold: float) -> None:
        if isinstance(clip, ClipEvents):
            rows = np.flatnonzero(clip.columns == column)
            rows = rows[np.lexsort((clip.times[rows, 1], clip.times[rows, 0]))]
            self.times, self.scores = clip.times[rows], clip.confidences[rows]
            self.detected = self.scores[self.scores > threshold].tolist()
        else:
            self.times = np.stack([clip.ticks[:-1], clip.ticks[1:]], axis=1)
            self.scores, self.detected = clip.values[:, column].astype(np.float64), None

    def of_detections(self, detections: Sequence[Sequence[int]]) -> list[float | None]:
        """Return the score of each detection, in their order."""
        if self.detected is None:
            return [self.during(onset, offset) for onset, offset in detections]
        assert len(self.detected) == len(detections)
        return [*self.detected]

    def during(self, onset: int, offset: int) -> float | None:
        """Return the highest score of what overlaps a time; None if there is none."""
        shared = self.scores[(self.times[:, 0] < offset) & (self.times[:, 1] > onset)]
        peak = float(shared.max(initial=-np.inf))
        return None if peak == -np.inf else peak
