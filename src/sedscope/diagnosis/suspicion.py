"""Suspected annotation errors: where systems contradict the references more than they usually do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment, align
from ..data.arrays import FloatArray, ScoreArray
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.clip_events import ClipEvents
from ..data.clip_scores import ClipScores
from ..data.probability_fits import isotonic_fit
from ..data.scores import frames_or_events
from ..data.times import Ticks
from ..engines.run import Run
from ..errors import SedscopeError
from ..evaluation.inputs import Reading, SystemLike, TruthLike, as_scores, as_truth
from ..postprocessing.combined import on_grid, union_of_grids
from .error_list import ErrorList, ListedError, Reference

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_CELLS = 2**25  # frames × classes that the probabilities are fitted to
_LARGEST_LOG_ODDS = 6.9  # one in a thousand


def suspected_annotations(
    systems: SystemLike | Sequence[SystemLike],
    truth: TruthLike,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> ErrorList:
    """Rank references and detections where the annotation may be wrong rather than the system.

    The scores of each class become the probability that the class is annotated, by an isotonic fit to all
    frames. Several systems count alike: their log odds are averaged. Where the log odds are above 0, the
    systems propose an event. Three kinds of errors are then looked for: an event that was ``overlooked``, a
    reference with a ``swapped`` label, and one that is ``misplaced``. The evidence is the mean of the log
    odds that the change would gain. The list takes the most suspicious of each kind in turn, as the evidence
    of different kinds does not compare, and names each reference and each event once.

    Parameters
    ----------
    systems : system, or sequence of systems
        The scores of one or several systems; see :func:`~sedscope.evaluate`.
    truth
        The reference events.
    classes, clips, missing, coverage
        What to look at; see :func:`~sedscope.evaluate`.
    run : Run, optional
        Whether it shows its progress.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    ErrorList
        Each with the event that the systems propose, the reference that it would replace, if there is one,
        and the evidence as its score.

    Examples
    --------
    >>> import sedscope as sed
    >>> frames = [[0.1, 0.1]] * 4 + [[0.9, 0.1]] * 2 + [[0.1, 0.1]] * 4
    >>> clips = {f"clip_{i}": frames for i in range(9)}
    >>> scores = sed.Scores.from_arrays(clips, classes=["Dog", "Cat"], frame=1.0)
    >>> truth = {clip: [(4, 6, "Dog")] for clip in clips} | {"clip_3": [], "clip_7": [(4, 6, "Cat")]}
    >>> for error in sed.diagnosis.suspected_annotations(scores, truth):
    ...     print(error.error_type, error.clip, error.label, error.onset, error.offset, error.reference)
    overlooked clip_3 Dog 4.0 6.0 None
    swapped clip_7 Dog 4.0 6.0 (4.0, 6.0, 'Cat')
    """
    run = Run._of(run, "Looking for annotation errors")
    several = isinstance(systems, Sequence) and not isinstance(systems, str)
    chosen = cast("Sequence[SystemLike]", systems if several else [systems])
    references = as_truth(truth, reading)
    classes = None if classes is None else [*classes]
    choice: dict[str, Any] = {"classes": classes, "clips": clips, "missing": missing}
    of_system: Reading = {}
    for word in ("frame", "system_reading"):
        if word in reading:
            of_system[word] = reading[word]
    alignments = []
    for system in chosen:
        scores, _ = as_scores(system, references, classes, coverage, of_system)
        alignments.append(align(scores, references, **choice, coverage=coverage))
    if not alignments or any(
        (other.clips, other.classes) != (alignments[0].clips, alignments[0].classes)
        for other in alignments[1:]
    ):
        raise SedscopeError("Give systems of the same clips and classes, at least one.")
    fits = [_Probabilities.fit(alignment) for alignment in alignments]
    suspects: dict[str, list[_Suspect]] = {"overlooked": [], "swapped": [], "misplaced": []}
    for number, _ in enumerate(alignments[0].clips):
        clip = _Clip.of(alignments, fits, number)
        for kind, found in (
            ("overlooked", clip.overlooked()),
            ("swapped", clip.swapped()),
            ("misplaced", clip.misplaced()),
        ):
            suspects[kind] += found
        if run._steps:
            run._steps(number + 1, len(alignments[0].clips))
    return ErrorList(tuple(_in_turn(suspects, alignments[0])), None)


class _Suspect(NamedTuple):
    """A change of the references that systems propose."""

    evidence: float
    clip: int
    event: tuple[int, int, int]
    """Onset, offset and class."""
    reference: tuple[int, int, int] | None


def _in_turn(suspects: Mapping[str, list[_Suspect]], alignment: Alignment) -> Iterator[ListedError]:
    """Take the most suspicious of each kind in turn, each reference and each event once."""
    named: set[tuple[int, tuple[int, int, int]]] = set()
    proposed: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def in_seconds(event: tuple[int, int, int]) -> Reference:
        return event[0] / 1e6, event[1] / 1e6, alignment.classes[event[2]]

    ranked = [
        [(kind, suspect) for suspect in sorted(of_kind, key=lambda suspect: -suspect.evidence)]
        for kind, of_kind in suspects.items()
    ]
    for kind, suspect in (entry for turn in zip_longest(*ranked) for entry in turn if entry):
        onset, offset, label = suspect.event
        others = proposed.setdefault((suspect.clip, label), [])
        reference = suspect.reference
        again = reference is not None and (suspect.clip, reference) in named
        if again or any(min(offset, end) > max(onset, begin) for begin, end in others):
            continue
        others.append((onset, offset))
        if reference is not None:
            named.add((suspect.clip, reference))
        yield ListedError(
            alignment.clips[suspect.clip],
            *in_seconds(suspect.event),
            kind,
            "detection" if reference is None else "reference",
            suspect.evidence,
            None if reference is None else in_seconds(reference),
        )


@dataclass(frozen=True, eq=False)
class _Probabilities:
    """The log odds that a class is annotated, by its score in a system."""

    knots: Sequence[tuple[FloatArray, FloatArray]]
    """Per class, scores and the log odds at them."""
    silent: FloatArray
    """Per class, the log odds where it has no score."""

    @classmethod
    def fit(cls, alignment: Alignment) -> _Probabilities:
        """Fit them to some of the clips, evenly spaced, if there are very many frames."""
        first = _frames(alignment, 0)
        cells = len(alignment.clips) * first.values.shape[0] * len(alignment.classes)
        parts = []
        for number in range(0, len(alignment.clips), 1 + cells // _MOST_CELLS):
            clip = _frames(alignment, number)
            active, ignored = _annotated(alignment, number, clip.ticks)
            weights = np.diff(clip.ticks)[:, None] * ~ignored
            parts.append((clip.values, active, weights))
        values, active, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        knots, silent = [], []
        for c in range(len(alignment.classes)):
            scored = (values[:, c] > -np.inf) & (weights[:, c] > 0)
            x = np.minimum(values[scored, c], np.finfo(np.float64).max)
            fitted = np.array([0.0]), np.array([-_LARGEST_LOG_ODDS])
            if scored.any():
                fit = isotonic_fit(x, active[scored, c], weights[scored, c])
                fitted = fit.scores, _log_odds(fit.values)
            unscored = ~scored & (weights[:, c] > 0)
            share = 0.0
            if unscored.any():
                share = float(np.average(active[unscored, c], weights=weights[unscored, c]))
            knots.append(fitted)
            silent.append(min(float(_log_odds(np.array(share))), float(fitted[1][0])))
        return cls(knots, np.array(silent))

    def of(self, values: ScoreArray) -> FloatArray:
        """Return the log odds of (frames × classes) scores."""
        odds = [np.interp(values[:, c], *of_class) for c, of_class in enumerate(self.knots)]
        return np.where(values > -np.inf, np.stack(odds, axis=1), self.silent)


def _log_odds(shares: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        odds = np.log(shares) - np.log1p(-shares)
    return np.clip(odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)


def _frames(alignment: Alignment, number: int) -> ClipScores:
    """Return the scores of the evaluated classes, from the start to the end of a clip."""
    name = alignment.clips[number]
    opened = frames_or_events(name, alignment.scores.open(name))
    if isinstance(opened, ClipEvents):
        opened = opened.highest(len(alignment.scores.classes))
    values, ticks = opened.values[:, alignment.columns].astype(np.float64), opened.ticks
    nothing = np.full((1, values.shape[1]), -np.inf)
    if ticks[0] > 0:
        ticks, values = np.insert(ticks, 0, 0), np.concatenate([nothing, values])
    if ticks[-1] < alignment.durations[number]:
        ticks = np.append(ticks, alignment.durations[number])
        values = np.concatenate([values, nothing])
    return ClipScores.unchecked(values, ticks)


def _annotated(
    alignment: Alignment, number: int, ticks: Ticks
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return in which frames of a clip each class is annotated, and in which only ignored."""
    rows = slice(alignment.starts[number], alignment.starts[number + 1])
    middles = (ticks[:-1] + ticks[1:]) // 2
    active, ignored = np.zeros((2, len(middles), len(alignment.classes)), bool)
    columns = (alignment.labels[rows], alignment.ignored[rows])
    for (onset, offset), label, unsure in zip(alignment.events[rows].tolist(), *columns, strict=True):
        during = slice(*np.searchsorted(middles, (onset, offset)))
        (ignored if unsure else active)[during, label] = True
    return active, ignored & ~active


@dataclass(frozen=True, eq=False)
class _Clip:
    """The log odds of a clip, its references, and the events that systems propose."""

    number: int
    ticks: Ticks
    odds: FloatArray
    """(frames × classes)"""
    blocked: NDArray[np.bool_]
    """(frames × classes) where the class is annotated, ignored or not."""
    references: Sequence[tuple[int, int, int]]
    """Onset, offset and class of each that counts."""
    proposals: Sequence[tuple[int, int, int]]
    """First frame, the one after the last, and class of each run of log odds above 0."""

    @classmethod
    def of(cls, alignments: Sequence[Alignment], fits: Sequence[_Probabilities], number: int) -> _Clip:
        """Average the log odds of the systems."""
        clips = [_frames(alignment, number) for alignment in alignments]
        odds = [fit.of(clip.values) for fit, clip in zip(fits, clips, strict=True)]
        ticks = clips[0].ticks
        if len(clips) > 1:
            ends = [max(int(clip.ticks[-1]) for clip in clips)]
            grids = [np.union1d(clip.ticks, ends) for clip in clips]
            ticks = union_of_grids(grids)
            odds = [
                on_grid(_padded(of_system, clip.ticks, grid), ticks).astype(np.float64)
                for of_system, clip, grid in zip(odds, clips, grids, strict=True)
            ]
        mean = np.mean(odds, axis=0)
        active, ignored = _annotated(alignments[0], number, ticks)
        rows = range(alignments[0].starts[number], alignments[0].starts[number + 1])
        references = [
            (
                int(alignments[0].events[row, 0]),
                int(alignments[0].events[row, 1]),
                int(alignments[0].labels[row]),
            )
            for row in rows
            if not alignments[0].ignored[row]
        ]
        edges = np.diff(mean > 0, axis=0, prepend=False, append=False)
        proposals = [
            (first, last, c)
            for c in range(mean.shape[1])
            for first, last in np.flatnonzero(edges[:, c]).reshape(-1, 2).tolist()
        ]
        return cls(number, ticks, mean, active | ignored, references, proposals)

    @property
    def lengths(self) -> Ticks:
        """The lengths of the frames."""
        return np.diff(self.ticks)

    def overlooked(self) -> list[_Suspect]:
        """Return the proposals at which their class is not annotated."""
        return [
            _Suspect(self._mean(first, last, c), self.number, self._event(first, last, c), None)
            for first, last, c in self.proposals
            if not self.blocked[first:last, c].any()
            and not self._overlaps(self._event(first, last, c), None)
        ]

    def swapped(self) -> list[_Suspect]:
        """Return the references during which another class is likely, and their own is not."""
        suspects = []
        for onset, offset, label in self.references:
            first, last = self._frames_of(onset, offset)
            if first == last or self.lengths[first:last].sum() == 0:
                continue
            means = np.average(self.odds[first:last], axis=0, weights=self.lengths[first:last])
            for c in np.flatnonzero((means > 0) & ~self.blocked[first:last].any(axis=0)).tolist():
                event = (onset, offset, c)
                if means[label] < 0 and not self._overlaps(event, None):
                    evidence = float(means[c] - means[label])
                    suspects.append(_Suspect(evidence, self.number, event, (onset, offset, label)))
        return suspects

    def misplaced(self) -> list[_Suspect]:
        """Return the references beside which a proposal of their class is, at a better place."""
        suspects = []
        for reference in self.references:
            onset, offset, label = reference
            for first, last, c in self.proposals:
                event = self._event(first, last, c)
                gap = max(onset, event[0]) - min(offset, event[1])
                length, proposed = offset - onset, event[1] - event[0]
                if c != label or gap > max(length, proposed) or self._overlaps(event, reference):
                    continue
                evidence = self._gain(reference, (first, last)) * (1 - _iou(reference, event))
                evidence *= min(length, proposed) / max(length, proposed)
                if evidence > 0:
                    suspects.append(_Suspect(evidence, self.number, event, reference))
        return suspects

    def _gain(self, reference: tuple[int, int, int], proposal: tuple[int, int]) -> float:
        """Return the mean of the log odds that a reference would gain at the place of a proposal."""
        change = np.zeros(len(self.odds))
        change[slice(*proposal)] += 1
        change[slice(*self._frames_of(*reference[:2]))] -= 1
        weights = np.abs(change) * self.lengths
        if not weights.sum():
            return 0.0
        return float(np.average(change * self.odds[:, reference[2]], weights=weights))

    def _overlaps(self, event: tuple[int, int, int], reference: tuple[int, int, int] | None) -> bool:
        """Return whether an event overlaps a reference of its class, other than one."""
        return any(
            other != reference
            and other[2] == event[2]
            and min(other[1], event[1]) > max(other[0], event[0])
            for other in self.references
        )

    def _event(self, first: int, last: int, label: int) -> tuple[int, int, int]:
        return int(self.ticks[first]), int(self.ticks[last]), label

    def _frames_of(self, onset: int, offset: int) -> tuple[int, int]:
        """Return the first frame of an event, and the one after the last, by the middles of frames."""
        first, last = np.searchsorted((self.ticks[:-1] + self.ticks[1:]) // 2, (onset, offset))
        return int(first), int(last)

    def _mean(self, first: int, last: int, label: int) -> float:
        lengths = self.lengths[first:last]
        odds = self.odds[first:last, label]
        return float(np.average(odds, weights=lengths) if lengths.sum() else odds.mean())


def _padded(odds: FloatArray, ticks: Ticks, grid: Ticks) -> ClipScores:
    """Return log odds on a grid that reaches beyond their last frame, where the last one stays."""
    if len(grid) > len(ticks):
        odds = np.concatenate([odds, odds[-1:]])
    return ClipScores.unchecked(odds, grid)


def _iou(event: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    shared = max(0, min(event[1], other[1]) - max(event[0], other[0]))
    return shared / (event[1] - event[0] + other[1] - other[0] - shared)
