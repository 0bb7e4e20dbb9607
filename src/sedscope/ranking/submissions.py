"""Submissions: systems that are read, checked and measured one after the other, for a ranking."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..data.alignment import align
from ..data.arrays import FloatArray
from ..data.choices import Coverage
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..engines.checkpoint import identify
from ..engines.engine import Engine
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings
from ..evaluation.notes import one_point_note_of_counts
from ..io.atomic_write import check_output, read_checked, write_checked
from ..metrics import Metric
from ..metrics.metric import delta_requests
from ..resampling.draws import Draws, interval_of
from ..resampling.intervals import Interval
from ..resampling.resampled_metric import is_registered
from ..resampling.resampling import Resampling
from .compared_runs import ComparedRun
from .differences import system_value
from .formula import Formula
from .measured_runs import measure_runs
from .ranking import Estimate, MeasuredSystem, MetricEstimate, RankedSet, RejectedSystem, full_name


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured of a system. Values of resamples are kept for its score alone."""

    score: FloatArray
    """The score in each resample."""
    metrics: Mapping[str, MetricEstimate]
    """By name. The first one is the score."""
    sets: Mapping[str, RankedSet] = field(default_factory=dict)
    """By name of the data set. Without a task, there is one without a name."""
    notes: tuple[str, ...] = ()


def keep(folder: Path, key: str, measurement: Measurement) -> None:
    """Write a measurement to the folder, under a digest of everything that it depends on."""
    check_output(folder, "folder")
    content = BytesIO()
    facts = {
        "metrics": {name: _plain(metric) for name, metric in measurement.metrics.items()},
        "sets": {name: vars(of_set) for name, of_set in measurement.sets.items()},
        "notes": measurement.notes,
    }
    np.savez(content, score=measurement.score, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SedscopeError(f"Cannot write to {folder}: {error.strerror or error}.") from None
    write_checked(_file(folder, key), content.getvalue())


def kept(folder: Path, key: str) -> Measurement | None:
    """Return the measurement of that key; None if there is none, or an incomplete or altered one."""
    content = read_checked(_file(folder, key))
    if content is None:
        return None
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        return Measurement(
            score=arrays["score"],
            metrics={name: _kept_estimate(plain) for name, plain in facts["metrics"].items()},
            sets={
                name: RankedSet(**{**plain, "classes": tuple(plain["classes"])})
                for name, plain in facts["sets"].items()
            },
            notes=tuple(facts["notes"]),
        )


def _plain(metric: MetricEstimate) -> dict[str, Any]:
    """Return an estimate as JSON can hold it. Numbers keep all their digits."""
    return {
        "numbers": _numbers(metric),
        "runs": metric.runs,
        "classes": {label: _numbers(of_class) for label, of_class in metric.per_class.items()},
    }


def _numbers(estimate: Estimate) -> list[float]:
    return [estimate.value, estimate.low, estimate.high]


def _kept_estimate(plain: Mapping[str, Any]) -> MetricEstimate:
    per_class = {label: Estimate(*numbers) for label, numbers in plain["classes"].items()}
    value, low, high = plain["numbers"]
    return MetricEstimate(value, low, high, tuple(plain["runs"]), per_class)


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.ranked"


_REFUSED_ADVICE = re.compile(r"(?<=\.) [^.]*\((--clips scored|--missing empty)\)\.")
"""A sentence with an option that a ranking refuses."""
SCORE = "score"
"""The name of a score that a formula computes."""


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
    classes: tuple[str, ...] | None
    """None for all classes of each submission."""
    clips: tuple[str, ...]
    all_clips: bool
    """Whether the clips are all those of the ground truth. A submission may then have no others."""
    coverage: Coverage
    metrics: Mapping[str, Metric[Any]]
    """By name. Systems are ranked by the first one, unless there is a formula."""
    draws: Draws
    formula: Formula | None = None
    """The score, from the values of the metrics; their data set has no name."""

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

        None if nothing can: the code of a metric that a user wrote may change.
        """
        if not all(map(is_registered, self.metrics.values())):
            return None
        resampling = self.draws.resampling
        digest = hashlib.blake2b(np.ascontiguousarray(self.draws.weights).data, digest_size=16)
        how = (resampling.confidence, resampling.interval, digest.hexdigest(), self.formula)
        return repr((self.metrics, self.coverage, *how))


def measure_submission(
    submission: Submission,
    protocol: Protocol,
    engine: Engine,
    options: Run,
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
    undefined = undefined_score(measurement)
    if undefined is not None:
        return RejectedSystem(submission.name, submission.team, (undefined,))
    notes = [_without_name(note, submission) for note in measurement.notes if _names(note, submission)]
    system = measured_system(submission.name, submission.team, measurement, [*reading_notes, *notes])
    return system, measurement


def undefined_score(measurement: Measurement) -> str | None:
    """Say that systems cannot be ranked by the score, if so: it is not defined, or infinite."""
    name, score = next(iter(measurement.metrics.items()))
    if np.isfinite(score.value):
        return None
    subject = f"{'The score' if name == SCORE else name}, by which systems are ranked,"
    if np.isnan(score.value):
        return f"{subject} is not defined."
    return f"{subject} is infinite, so it has no differences. Rank by another metric."


def rejection(submission: Submission, error: SedscopeError) -> RejectedSystem:
    """Return a submission that could not be evaluated, with everything that is wrong with it."""
    reasons = [
        _without_name(_REFUSED_ADVICE.sub("", reason), submission)
        for reason in submission.problems(error)
    ]
    return RejectedSystem(submission.name, submission.team, tuple(reasons))


def _measure(
    runs: Sequence[ComparedRun], protocol: Protocol, engine: Engine, options: Run
) -> Measurement:
    measured = measure_runs(runs, protocol.metrics, protocol.draws, engine, options, None)
    system = runs[0].system
    classes = tuple(dict.fromkeys(label for run in runs for label in run.alignment.classes))
    columns = {
        name: [
            _in_classes(of_run, run.alignment.classes, classes)
            for run, of_run in zip(runs, measured.values[metric][system], strict=True)
        ]
        for name, metric in measured.metrics.items()
    }
    values = {name: system_value(protocol.draws, classes, of_runs) for name, of_runs in columns.items()}
    if protocol.formula is None:
        score: Interval = next(iter(values.values()))
        estimates: dict[str, MetricEstimate] = {}
    else:
        of_runs = [
            protocol.formula.value({"": {name: column[run][:, 0] for name, column in columns.items()}})
            for run in range(len(runs))
        ]
        estimates = {SCORE: mean_estimate(of_runs, protocol.draws.resampling)}
        score = mean_interval(of_runs, protocol.draws.resampling)
    for name, value in values.items():
        per_class = {label: _estimate(of_class) for label, of_class in value.per_class.items()}
        estimates[name] = MetricEstimate(value.value, value.low, value.high, value.runs, per_class)
    first_run = measured.first_runs[system]
    lists = [
        f"{system}: {note}"
        for note in one_point_note_of_counts(protocol.metrics, first_run.counts, first_run.alignment)
    ]
    return Measurement(
        score=score.values,
        metrics=estimates,
        sets={"": RankedSet(len(protocol.clips), first_run.hours(), classes)},
        notes=tuple(dict.fromkeys([*measured.notes, *lists])),
    )


def _in_classes(values: FloatArray, classes: Sequence[str], every: Sequence[str]) -> FloatArray:
    """Return the values of a run in columns of all classes, not defined for classes that it lacks."""
    column = {label: 1 + c for c, label in enumerate(classes)}
    padded = np.column_stack([values, np.full(len(values), np.nan)])
    in_order: FloatArray = padded[:, [0, *(column.get(label, -1) for label in every)]]
    return in_order


def mean_interval(columns: Sequence[FloatArray], resampling: Resampling) -> Interval:
    """Return the mean over runs, with its interval.

    ``columns``: for each run, the value and those of the resamples, as :func:`interval_of` takes them.
    """
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        return interval_of(np.mean(columns, axis=0), resampling)


def mean_estimate(
    columns: Sequence[FloatArray],
    resampling: Resampling,
    per_class: Mapping[str, Estimate] | None = None,
) -> MetricEstimate:
    """Return the mean of a metric over runs; see :func:`mean_interval`."""
    mean = mean_interval(columns, resampling)
    runs = tuple(float(column[0]) for column in columns)
    return MetricEstimate(mean.value, mean.low, mean.high, runs, per_class or {})


def _estimate(interval: Interval) -> Estimate:
    return Estimate(interval.value, interval.low, interval.high)


def measured_system(
    name: str, team: str, measurement: Measurement, warnings: Iterable[str]
) -> MeasuredSystem:
    """Return what a ranking needs to know of a system that was measured."""
    score = next(iter(measurement.metrics.values()))
    return MeasuredSystem(
        name=name,
        team=team,
        score=Interval(score.value, score.low, score.high, measurement.score),
        metrics=measurement.metrics,
        warnings=tuple(dict.fromkeys(warnings)),
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
