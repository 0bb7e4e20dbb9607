"""Problems with the clips of a pass: recorded while clips are read, and raised together at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..alignment.alignment import Alignment
from ..criteria import Criterion
from ..criteria.clip_batch import ClipReferences
from ..data.arrays import ScoreArray
from ..data.events import MANY_LATE, POINTS_ADVICE
from ..errors import SedscopeError, counted, listing, raise_together, subject
from ..progress import ProblemLog
from .clip_reader import MANY_FAILURES

_DETECTIONS_ADVICE = (
    "Correct them, or judge points in time by a criterion about one boundary, such as Onset(0.05)."
)


def refuse_point_references(alignment: Alignment, criterion: Criterion) -> None:
    """Refuse references of no length, where the criterion cannot judge them."""
    if criterion.judges_points:
        return
    points = alignment.point_references()
    if len(points):
        advice = _points_advice(criterion, POINTS_ADVICE)
        examples = [alignment.describe_reference(i) for i in points[:6].tolist()]
        raise SedscopeError(
            f"{subject(len(points), 'reference', 'has')} no length, but {criterion} needs events with a "
            f"length: {listing(examples, total=len(points))}. {advice}",
            advice=advice,
        )


def refuse_point_detections(first: str, criterion: Criterion) -> None:
    """Refuse detections of no length, where the criterion cannot judge them.

    ``first``: a description of the first one.
    """
    if not criterion.judges_points:
        raise SedscopeError(
            f"Some detections have no length (the first: {first}), but {criterion} needs events with a "
            f"length. {_points_advice(criterion, _DETECTIONS_ADVICE)}"
        )


def _points_advice(criterion: Criterion, usual: str) -> str:
    """Say what to do about events of no length. ``usual``: the advice unless lengths are the reason."""
    if criterion.unwrapped.judges_points:
        return "Bins of lengths are not for points in time: leave out `by=By(lengths=…)` or OfLength."
    return usual


_NAMED = 5  # locations of each kind of problem


@dataclass
class ClipProblems:
    """What is wrong with the scores, over all clips."""

    alignment: Alignment
    log: ProblemLog
    """Where clips are named whose scores cannot be read or are not numbers."""
    failures: list[SedscopeError] = field(default_factory=list)
    """Clips that cannot be read."""
    nans: int = 0
    nan_locations: list[str] = field(default_factory=list)
    """The first ones."""
    early: list[str] = field(default_factory=list)
    """Clips whose scores end before 0 s."""
    late: list[str] = field(default_factory=list)
    """Events that begin after the scores end."""

    def __bool__(self) -> bool:
        return bool(self.failures or self.nans or self.early or self.late)

    def add_failures(self, failures: Sequence[SedscopeError]) -> None:
        """Record why clips cannot be read."""
        self.failures += failures
        self.log.add(*map(str, failures))

    def check_references(self, first: int, references: ClipReferences) -> None:
        """Check the durations and references of the clips from number ``first`` on."""
        early = np.flatnonzero(references.durations < 0)
        self.early += [self.alignment.clips[first + i] for i in early]
        if self.alignment.invalid == "error":
            for event in self.alignment.starts[first] + references.late:
                clip = int(np.searchsorted(self.alignment.starts, event, side="right")) - 1
                label = self.alignment.classes[self.alignment.labels[event]]
                onset = self.alignment.events[event, 0] / 1e6
                self.late.append(f"clip {self.alignment.clips[clip]}, {label} at {onset:g} s")

    def check_numbers(self, clip: int, values: ScoreArray, maxima: ScoreArray, frame: int = 0) -> None:
        """Record scores that are NaN, in frames from ``frame`` on. ``maxima`` is NaN for classes that
        have any."""
        for c in np.flatnonzero(np.isnan(maxima)):
            frames = np.flatnonzero(np.isnan(values[:, self.alignment.columns[c]]))
            self.nans += len(frames)
            where = f"clip {self.alignment.clips[clip]}, class {self.alignment.classes[c]}"
            unnamed = max(0, _NAMED - len(self.nan_locations))
            if unnamed:
                self.log.add(f"{where}: {subject(len(frames), 'score', 'is')} not a number (NaN).")
            self.nan_locations += [f"{where}, frame {frame + i}" for i in frames[:unnamed]]

    def _unit_hint(self) -> str:
        """Ask for the unit of times if most reference events begin after the scores of their clips."""
        total = len(self.alignment.labels)
        if len(self.late) < MANY_LATE or 2 * len(self.late) <= total:
            return ""
        return f" These are {len(self.late)} of {counted(total, 'event')}: are all times in seconds?"

    def raise_all(self) -> None:
        """Raise one error for all problems, if there are any."""
        errors: list[SedscopeError] = []
        if self.nans:
            locations = listing(self.nan_locations, _NAMED, total=self.nans)
            scores = subject(self.nans, "score", "is")
            errors.append(SedscopeError(f"{scores} not a number (NaN): {locations}."))
        if self.early:
            advice = "Give the durations of the clips."
            text = (
                f"The scores of {counted(len(self.early), 'clip')} end before 0 s, so they do not say how "
                "long the clip is: "
            )
            errors.append(SedscopeError(f"{text}{listing(self.early)}. {advice}", advice=advice))
        if self.late:
            advice = "Give the durations of the clips, or leave such events out with `invalid='drop'`."
            text = f"{subject(len(self.late), 'reference event', 'begins')} at or after the last boundary of "
            text += f"the scores: {listing(self.late)}.{self._unit_hint()} {advice}"
            errors.append(SedscopeError(text, advice=advice))
        raise_together([*errors, *self.failures], perhaps_more=len(self.failures) >= MANY_FAILURES)
