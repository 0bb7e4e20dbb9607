"""Single clips: what each clip costs, and the error type of each of its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment, align
from ..counting.clip_reader import thread_count
from ..criteria import Criterion
from ..data.arrays import IntArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.clip_events import ClipEvents
from ..data.ground_truth import GroundTruth
from ..data.scored_events import ScoredEvents
from ..data.scores import ClipScores, Scores, ScoreSource
from ..data.times import Ticks, to_seconds
from ..engines.run import Run
from ..errors import SedscopeError, counted
from ..progress import Progress
from ..results.text import Form, Part, Records, Table
from ..tabular import TabularResult
from .judging import TYPES, ClassThresholds, covered_clips, judged_clips

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class ClipCosts(TabularResult):
    """The false positives and false negatives of each clip, at one threshold per class.

    Tables have a row per clip, those with the most errors first; data frames one per clip and class.
    """

    clips: tuple[str, ...]
    classes: tuple[str, ...]
    fp: NDArray[np.int32]
    """(clips × classes) false positives."""
    fn: NDArray[np.int32]
    """(clips × classes) false negatives."""

    def __repr__(self) -> str:
        errors = int(self.fp.sum() + self.fn.sum())
        return f"<ClipCosts of {counted(len(self.clips), 'clip')}: {counted(errors, 'error')}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the false positives and false negatives of each clip with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure as wide as a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import sedscope as sed
        >>> truth = sed.simulate.ground_truth(30, classes=3)
        >>> axes = sed.diagnose(sed.simulate.scores(truth), truth).worst_clips(5).plot()
        >>> len(axes.get_yticks())
        5
        """
        from ..plots.values import plot_clip_errors

        return plot_clip_errors(self.clips, self.fp.sum(1), self.fn.sum(1), ax)

    def worst(self, number: int = 10) -> ClipCosts:
        """Return the clips with the most errors, and nothing of the others.

        Parameters
        ----------
        number : int, default 10
            How many clips. Clips without errors are left out.

        Returns
        -------
        ClipCosts
            The clips, worst first; of equal ones, in the order of the ground truth.
        """
        errors = (self.fp + self.fn).sum(1)
        order = np.argsort(-errors, kind="stable")[: max(0, number)]
        order = order[errors[order] > 0]
        clips = tuple(self.clips[clip] for clip in order.tolist())
        return ClipCosts(clips, self.classes, self.fp[order], self.fn[order])

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        fp, fn = self.fp.sum(1), self.fn.sum(1)
        order = np.argsort(-(fp + fn), kind="stable").tolist()
        rows = [[self.clips[clip], str(fp[clip]), str(fn[clip])] for clip in order]
        total = ["total", str(fp.sum()), str(fn.sum())]
        return [Table(["clip", "false positives", "false negatives"], rows, total, noun="clip")]

    def _records(self) -> Records:
        rows = [
            (clip, label, int(self.fp[i, k]), int(self.fn[i, k]))
            for i, clip in enumerate(self.clips)
            for k, label in enumerate(self.classes)
        ]
        return {"clip": str, "class": str, "false_positives": int, "false_negatives": int}, rows


@dataclass(frozen=True)
class JudgedEvent:
    """A detection or a reference of a clip, and its error type."""

    onset: float
    offset: float
    label: str
    error_type: str
    partner: int | None
    """The index of the event of the other side that it is paired with, if there is one."""
    overlaps: tuple[int, ...]
    """The indices of the events of the other side and the same class that share time with it."""
    triggers: tuple[str, ...] = ()
    """The classes on which a detection is a cross-trigger, if that is its error type."""


@dataclass(frozen=True)
class ClipDiagnosis:
    """The events of one clip at one threshold per class, ordered by class and time."""

    detections: tuple[JudgedEvent, ...]
    references: tuple[JudgedEvent, ...]


def clip_costs(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
) -> ClipCosts:
    """Count the false positives and false negatives of each clip and class, to rank the clips.

    Parameters
    ----------
    scores, truth, criterion
        See :func:`~sedscope.diagnose`.
    thresholds : float or mapping of str to float
        One threshold for all classes, or one for each class. A class without one is never detected.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.

    Returns
    -------
    ClipCosts
        The errors, as (clips × classes).

    Examples
    --------
    >>> from sedscope import Collar
    >>> scores = Scores.from_arrays({"a": [[0.9]], "b": [[0.1]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [], "b": [(0, 1, "Dog")]}, durations={"a": 1, "b": 1})
    >>> costs = clip_costs(scores, truth, Collar(), 0.5)
    >>> costs.fp[:, 0].tolist(), costs.fn[:, 0].tolist()
    ([1, 0], [0, 1])
    """
    run = Run._of(run, "Diagnosing")
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    points = ClassThresholds.of(criterion, alignment.classes, thresholds, single=True)
    return aligned_clip_costs(alignment, criterion, points, thread_count(run.threads), run._steps)


def aligned_clip_costs(
    alignment: Alignment,
    criterion: Criterion,
    points: ClassThresholds,
    threads: int,
    progress: Progress | None = None,
) -> ClipCosts:
    """Count the errors of the clips of scores and ground truth that are aligned already."""
    fp, fn = np.zeros((2, len(alignment.clips), len(alignment.classes)), np.int32)
    for checked in covered_clips(alignment, [criterion], threads, progress):
        numbers = slice(checked.first, checked.first + len(checked.batch.durations))
        arguments = points.arguments(criterion.seen(checked.batch), threads)
        errors = points.criterion.count_clip_errors(*arguments)
        fp[numbers], fn[numbers] = errors.fp, errors.fn
    return ClipCosts(alignment.clips, alignment.classes, fp, fn)


def diagnose_clip(
    clip: ClipScores | ClipEvents,
    references: Iterable[tuple[float, float, str]],
    criterion: Criterion,
    thresholds: float | Mapping[str, float],
    *,
    classes: Sequence[str],
    duration: float | None = None,
    ignored: Iterable[tuple[float, float, str]] = (),
) -> ClipDiagnosis:
    """Return the detections and references of one clip with their error types, e.g. to draw them.

    Parameters
    ----------
    clip : ClipScores or ClipEvents
        The scores of the clip, or its detected events that are kept as they are.
    references : iterable of (onset, offset, label)
        The reference events, in seconds.
    criterion : Criterion
        One about events: ``Intersection``, ``Collar`` or ``IoU``; for windows that are kept, ``Window``.
    thresholds : float or mapping of str to float
        One threshold for all classes, or one for each class.
    classes : sequence of str
        The classes of the columns of the scores.
    duration : float, optional
        The duration of the clip in seconds; the last boundary of the scores unless given.
    ignored : iterable of (onset, offset, label), optional
        Ignored references. A detection that matches one has the type ``ignored``.

    Returns
    -------
    ClipDiagnosis

    Examples
    --------
    >>> from sedscope import Collar
    >>> clip = Scores.from_arrays({"a": [[0.9], [0.2]]}, classes=["Dog"], frame=1.0)["a"]
    >>> diagnosis = diagnose_clip(clip, [(0, 2, "Dog")], Collar(), 0.5, classes=["Dog"])
    >>> [(event.onset, event.error_type, event.overlaps) for event in diagnosis.detections]
    [(0.0, 'offset', (0,))]
    """
    kept = isinstance(clip, ClipEvents)
    source = ScoreSource(lambda _: clip, tuple(classes), in_memory=not kept, whole_clips=not kept)
    alignment = align(
        (ScoredEvents if kept else Scores)._of(["clip"], source),
        GroundTruth.from_dict(
            {"clip": references},
            durations=None if duration is None else {"clip": duration},
            ignored={"clip": ignored},
            overlaps="keep" if criterion.judges_windows else "error",
        ),
    )
    return diagnose_aligned_clip(alignment, "clip", criterion, thresholds)


def diagnose_aligned_clip(
    alignment: Alignment, clip: str, criterion: Criterion, thresholds: float | Mapping[str, float]
) -> ClipDiagnosis:
    """Diagnose one clip of scores and ground truth that are aligned already."""
    points = ClassThresholds.of(criterion, alignment.classes, thresholds, single=True)
    if clip not in alignment.clips:
        raise SedscopeError(
            f"There is no clip {clip!r} among the {counted(len(alignment.clips), 'clip')}."
        )
    chosen = alignment.choose(np.array([alignment.clips.index(clip)]))
    (checked,) = judged_clips(chosen, [criterion], 1, None)
    batch = criterion.seen(checked.batch)
    judge = points.judge(batch, 1)
    detections: list[JudgedEvent] = []
    references: list[JudgedEvent] = []
    for c, label in enumerate(alignment.classes):
        events = judge(0, c)
        first = np.array(
            [len(detections), len(references)]
        )  # the indices of the first events of the class
        pairs, overlaps = events.pairs + first, events.overlaps + first
        names = [str(TYPES[number][1]) for number in events.detection_types]
        detections += _judged(events.detections, label, names, first[0], pairs, overlaps)
        for i, others in _linked(events.cross_triggers).items():
            on = tuple(alignment.classes[other] for other in others)
            detections[first[0] + i] = replace(detections[first[0] + i], triggers=on)
        times = batch.events[batch.labels == c]
        names = [str(TYPES[number][0]) for number in events.reference_types]
        references += _judged(times, label, names, first[1], pairs[:, ::-1], overlaps[:, ::-1])
    return ClipDiagnosis(tuple(detections), tuple(references))


def _judged(
    times: Ticks, label: str, types: Sequence[str], first: int, pairs: IntArray, contacts: IntArray
) -> list[JudgedEvent]:
    """Return events of one class and side, with indices from ``first`` on, and their links to the other
    side."""
    partners, overlaps = dict(pairs.tolist()), _linked(contacts)
    return [
        JudgedEvent(
            onset=onset,
            offset=offset,
            label=label,
            error_type=error_type,
            partner=partners.get(index),
            overlaps=tuple(overlaps.get(index, ())),
        )
        for index, ((onset, offset), error_type) in enumerate(
            zip(to_seconds(times).tolist(), types, strict=True), first
        )
    ]


def _linked(pairs: IntArray) -> dict[int, list[int]]:
    """Return, for each event of one side, those of the other."""
    links: dict[int, list[int]] = {}
    for event, other in pairs.tolist():
        links.setdefault(event, []).append(other)
    return links
