"""Submissions: systems that are read, checked and measured one after the other, for a ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..data.alignment import SCORED_ADVICE, align
from ..data.choices import Coverage
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..engines.checkpoint import identify
from ..engines.engine import Engine
from ..engines.options import RunOptions
from ..errors import SedscopeError, collected_warnings
from ..metrics import Metric
from ..metrics.requests import delta_requests
from ..resampling.draws import Draws
from ..resampling.intervals import Interval
from ..resampling.resampled_metric import is_registered
from .compared_runs import ComparedRun
from .kept_measurements import Measurement, keep, kept
from .measured_runs import measure_runs
from .notes import one_point_note_of_counts
from .paired_differences import system_value
from .ranking import Estimate, MeasuredSystem, MetricEstimate, RejectedSystem, full_name


def problems_of(error: SedscopeError) -> Sequence[str]:
    """Return what an error says, row by row if it is about rows of files."""
    return error.lines or (str(error),)


@dataclass(frozen=True, eq=False)
class Submission:
    """A system that is to be ranked. It is read when its turn comes."""

    name: str
    team: str
    runs: Sequence[Callable[[], Scores]]
    """Each reads the scores of one run. Their mean is ranked."""
    problems: Callable[[SedscopeError], Sequence[str]] = problems_of
    """Lists everything that is wrong, once an error has shown that the system is broken."""

    @property
    def full_name(self) -> str:
        """The name, after the team if that has another one."""
        return full_name(self.team, self.name)


@dataclass(frozen=True, eq=False)
class Protocol:
    """How all submissions are measured."""

    truth: GroundTruth
    classes: tuple[str, ...]
    clips: tuple[str, ...]
    all_clips: bool
    """Whether the clips are all those of the ground truth. A submission may then have no others."""
    coverage: Coverage
    metrics: Mapping[str, Metric[Any]]
    """By name. Systems are ranked by the first one."""
    draws: Draws

    def align(self, submission: Submission, number: int, scores: Scores) -> ComparedRun:
        """Return a run of a submission, with its clips and classes in the order of all submissions."""
        clips = None if self.all_clips else self.clips
        alignment = align(scores, self.truth, classes=self.classes, clips=clips, coverage=self.coverage)
        if alignment.clips != self.clips:
            alignment = align(
                scores, self.truth, classes=self.classes, clips=self.clips, coverage=self.coverage
            )
        return ComparedRun(submission.full_name, number, alignment, scores, None)

    @cached_property
    def identity(self) -> str | None:
        """What identifies the protocol, apart from the clips, classes and references that a run states.

        None if that cannot be told: the code of a metric that a user wrote may change.
        """
        if not all(map(is_registered, self.metrics.values())):
            return None
        resampling = self.draws.resampling
        digest = hashlib.blake2b(np.ascontiguousarray(self.draws.weights).data, digest_size=16)
        drawn = (resampling.confidence, resampling.interval, digest.hexdigest())
        return repr((self.metrics, self.coverage, *drawn))


def measure_submission(
    submission: Submission,
    protocol: Protocol,
    engine: Engine,
    options: RunOptions,
    folder: Path | None,
) -> tuple[MeasuredSystem, Measurement] | RejectedSystem:
    """Read a submission, check it and measure it. What was measured before comes from the folder."""
    try:
        with collected_warnings() as reading_notes:
            runs = [
                protocol.align(submission, number, read())
                for number, read in enumerate(submission.runs, 1)
            ]
            key = None if folder is None else _key(runs, protocol, engine.threads)
    except SedscopeError as error:
        return rejection(submission, error)
    measurement = None if folder is None or key is None else kept(folder, key)
    if measurement is None:
        try:
            with collected_warnings():  # they are among the notes
                measurement = _measure(runs, protocol, engine, options)
        except SedscopeError as error:
            return rejection(submission, error)
        if folder is not None and key is not None:
            keep(folder, key, measurement)
    if not np.isfinite(measurement.values[0]):
        reason = f"{next(iter(protocol.metrics))}, by which systems are ranked, is not defined."
        return RejectedSystem(submission.name, submission.team, (reason,))
    return _measured_system(submission, protocol, measurement, reading_notes), measurement


def rejection(submission: Submission, error: SedscopeError) -> RejectedSystem:
    """Return a submission that could not be evaluated, with everything that is wrong with it."""
    reasons = [
        _without_name(reason, submission).replace(SCORED_ADVICE, "").rstrip()  # all have the same clips
        for reason in submission.problems(error)
    ]
    return RejectedSystem(submission.name, submission.team, tuple(reasons))


def _measure(
    runs: Sequence[ComparedRun], protocol: Protocol, engine: Engine, options: RunOptions
) -> Measurement:
    measured = measure_runs(runs, protocol.metrics, protocol.draws, engine, options, None)
    name = runs[0].system
    values = [
        system_value(protocol.draws, protocol.classes, by_system[name])
        for by_system in measured.values.values()
    ]
    numbers = [
        [(value.value, value.low, value.high)]
        + [(of_class.value, of_class.low, of_class.high) for of_class in value.per_class.values()]
        for value in values
    ]
    first_run = measured.first_runs[name]
    lists = [f"{name}: {note}" for note in one_point_note_of_counts(protocol.metrics, first_run.counts)]
    return Measurement(
        score=values[0].values,
        numbers=np.array(numbers, np.float64),
        runs=np.array([value.runs for value in values], np.float64),
        hours=first_run.hours(),
        notes=tuple(dict.fromkeys([*measured.notes, *lists])),
    )


def _measured_system(
    submission: Submission, protocol: Protocol, measurement: Measurement, notes: Iterable[str]
) -> MeasuredSystem:
    metrics = {}
    for name, rows, runs in zip(
        protocol.metrics, measurement.numbers.tolist(), measurement.runs.tolist(), strict=True
    ):
        overall, *of_classes = [Estimate(*row) for row in rows]
        per_class = dict(zip(protocol.classes, of_classes, strict=True))
        metrics[name] = MetricEstimate(overall.value, overall.low, overall.high, tuple(runs), per_class)
    score = next(iter(metrics.values()))
    own = [_without_name(note, submission) for note in measurement.notes if _names(note, submission)]
    return MeasuredSystem(
        name=submission.name,
        team=submission.team,
        score=Interval(score.value, score.low, score.high, measurement.score),
        metrics=metrics,
        warnings=tuple(dict.fromkeys([*notes, *own])),
    )


def common_notes(submission: Submission, measurement: Measurement) -> list[str]:
    """Return the notes that are not about the system itself, but about the set."""
    return [note for note in measurement.notes if not _names(note, submission)]


def _names(note: str, submission: Submission) -> bool:
    return note.startswith(f"{submission.full_name}: ")


def _without_name(note: str, submission: Submission) -> str:
    return note.removeprefix(f"{submission.full_name}: ")


def _key(runs: Sequence[ComparedRun], protocol: Protocol, threads: int) -> str | None:
    """Return a digest of everything that the measurement of a submission depends on."""
    requests = delta_requests([*protocol.metrics.values()])
    identities = [identify(run.alignment, requests, threads) for run in runs]
    if protocol.identity is None or None in identities:
        return None
    text = repr((runs[0].system, protocol.identity, identities))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
