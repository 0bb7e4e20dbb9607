"""Submissions: systems that are opened, measured and kept one after the other, then ranked.

Every ranking goes this way. :class:`RankingRules` say how a submission is measured: on one set without a
task (``rank``), or on all data sets of a task (``tasks.rank_task``).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ..data.arrays import FloatArray
from ..engines.run import Run
from ..errors import SedscopeError, counted, readable
from ..evaluation.result import Evaluation
from ..evaluation.signature import Signature
from ..io.archives import unpacked_meanwhile, with_archives
from ..io.atomic_write import check_output, read_checked, write_checked
from ..io.locations import Location, local_path
from ..progress import StagedProgress
from ..resampling.draws import interval_of, mean_of_classes
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling
from ..resampling.subsampling import SMOOTH, Behaviour
from .ranking import (
    Estimate,
    MeasuredSystem,
    MetricEstimate,
    RankedMetric,
    RankedSet,
    RankedSystem,
    RejectedSystem,
    TeamSystem,
    different_classes_note,
    rank_systems,
    refuse_equal_names,
)
from .ranking_result import Ranking
from .significance import resamples_needed
from .similarity import similarity_notes

SCORE = "score"
"""The name of a score that a formula computes."""
_STEPS = 1000  # of the progress of a system
SYSTEMS = ("system", _STEPS)
"""What the progress of a ranking counts, and the steps of each."""

OneRun = TypeVar("OneRun")
"""What a run of a submission is read from."""


def problems_of(error: SedscopeError) -> Sequence[str]:
    """Return what an error says, row by row if it is about rows of files."""
    return error.lines or (str(error),)


@dataclass(frozen=True, eq=False)
class Submission(TeamSystem, Generic[OneRun]):
    """A system that is to be ranked. It is read when its turn comes."""

    runs: Sequence[OneRun]
    """Their mean is ranked."""
    paths: Sequence[Location] = ()
    """Where the runs are, if they are in files."""
    problems: Callable[[SedscopeError], Sequence[str]] = problems_of
    """Lists everything that is wrong, once an error has shown that the system is broken."""

    def portable(self, texts: Iterable[str]) -> list[str]:
        """Let paths begin with the name of the submission, so that they are the same on every machine."""
        portable = [*map(with_archives, texts)]
        for path in self.paths:
            portable = [text.replace(str(path), path.name) for text in portable]
        return [*dict.fromkeys(portable)]


@dataclass(frozen=True, eq=False)
class RunValues:
    """What is kept of a run. A column has the value of a metric, then those in the resamples."""

    metrics: Mapping[str, FloatArray]
    """The columns, by name. The first one is the score."""
    classes: Mapping[str, Mapping[str, FloatArray]]
    """The columns of each class, by metric. The score of a formula has none."""
    sets: Mapping[str, RankedSet]
    """By name of the data set. Without a task, there is one without a name."""
    signatures: Mapping[str, Signature]
    """By name of the data set."""
    score_of_classes: FloatArray | None = None
    """The column of a formula for the means over the classes, where metrics subtract their spread."""

    def mean_of_classes(self, name: str) -> FloatArray:
        """Return the column of the mean over the classes of a metric, or that of a formula."""
        of_classes = [*self.classes.get(name, {}).values()]
        if of_classes:
            return mean_of_classes(np.array(of_classes).T)
        return self.metrics[name] if self.score_of_classes is None else self.score_of_classes


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured of a system. Values of resamples are kept for its score alone."""

    score: FloatArray
    """The score in each resample."""
    metrics: Mapping[str, MetricEstimate]
    """By name. The first one is the score."""
    sets: Mapping[str, RankedSet]
    """By name of the data set. Without a task, there is one without a name."""
    signatures: Mapping[str, Signature]
    """By name of the data set, with the scores of all runs."""
    fingerprint: FloatArray
    """Of the first run, by which systems that are nearly equal are recognised; empty if it is not known."""
    notes: tuple[str, ...] = ()
    set_notes: tuple[str, ...] = ()
    """Notes that are not about the system, but about the set."""

    @classmethod
    def of_runs(
        cls,
        runs: Sequence[RunValues],
        resampling: Resampling,
        fingerprint: FloatArray,
        notes: Iterable[str],
        set_notes: Iterable[str] = (),
        behaviours: Mapping[str, Behaviour] | None = None,
    ) -> Measurement:
        """Return the means over the runs of a system, with their intervals.

        ``behaviours``: of the metrics, by name.
        """
        first = runs[0]
        clips = [of_set.digest for of_set in first.sets.values()]
        if any([of_set.digest for of_set in run.sets.values()] != clips for run in runs):
            raise SedscopeError("The runs of the system have different clips.")
        undefined = np.full(len(next(iter(first.metrics.values()))), np.nan)
        means: dict[str, Interval] = {}
        metrics: dict[str, MetricEstimate] = {}
        for name in first.metrics:
            behaviour = (behaviours or {}).get(name, SMOOTH)
            labels = dict.fromkeys(label for run in runs for label in run.classes.get(name, ()))
            means[name] = mean = _mean(
                [run.metrics[name] for run in runs],
                resampling,
                behaviour,
                [run.mean_of_classes(name) for run in runs] if behaviour.costs_spread else (),
            )
            per_class = {
                label: _mean(
                    [run.classes[name].get(label, undefined) for run in runs], resampling, behaviour
                )
                for label in labels
            }
            metrics[name] = MetricEstimate(
                *(mean.value, mean.low, mean.high),
                tuple(float(run.metrics[name][0]) for run in runs),
                {label: Estimate(of.value, of.low, of.high) for label, of in per_class.items()},
            )
        return cls(
            score=next(iter(means.values())).values,
            metrics=metrics,
            sets=_all_classes([run.sets for run in runs]),
            signatures={
                name: Signature.merged([run.signatures[name] for run in runs])
                for name in first.signatures
            },
            fingerprint=fingerprint,
            notes=tuple(dict.fromkeys(notes)),
            set_notes=tuple(dict.fromkeys(set_notes)),
        )

    @property
    def undefined_score(self) -> str | None:
        """Why systems cannot be ranked by the score, if so: it is not defined, or infinite."""
        name, score = next(iter(self.metrics.items()))
        if np.isfinite(score.value):
            return None
        subject = f"{'The score' if name == SCORE else name}, by which systems are ranked,"
        if np.isnan(score.value):
            return f"{subject} is not defined."
        return f"{subject} is infinite, so it has no differences. Rank by another metric."


def _mean(
    columns: Sequence[FloatArray],
    resampling: Resampling,
    behaviour: Behaviour,
    of_classes: Sequence[FloatArray] = (),
) -> Interval:
    """Return the mean over runs, with its interval. ``of_classes``: the means over the classes."""
    with np.errstate(invalid="ignore"):  # opposite infinities have no mean
        mean = np.mean(of_classes, axis=0) if of_classes else None
        return interval_of(np.mean(columns, axis=0), resampling, behaviour, mean)


def _all_classes(sets: Sequence[Mapping[str, RankedSet]]) -> dict[str, RankedSet]:
    """Return the data sets with the classes of all runs or systems."""
    return {
        name: replace(
            of_set, classes=tuple(dict.fromkeys(label for of in sets for label in of[name].classes))
        )
        for name, of_set in (sets[0].items() if sets else ())
    }


@dataclass(frozen=True, eq=False)
class OpenedSubmission:
    """A submission whose turn has come."""

    measure: Callable[[Run], Measurement]
    key: str | None = None
    """A digest of everything that the measurement depends on; None if it is not to be kept."""
    notes: Sequence[str] = ()
    """What was noted when it was opened."""


class RankingRules(ABC, Generic[OneRun]):
    """How all submissions are measured, and what they are ranked by."""

    kinds: tuple[RankedMetric, ...]
    """What is measured. The first one is the score."""
    resampling: Resampling
    sets: Mapping[str, RankedSet]
    """What is known of the data sets if no submission can be measured."""
    task: str = ""
    class_advice: str
    """What to do if submissions do not have the same classes."""

    @abstractmethod
    def opened(self, submission: Submission[OneRun], *, keyed: bool) -> OpenedSubmission:
        """Open a submission. ``keyed``: its measurement is to be kept."""

    @abstractmethod
    def common_notes(self, measured: Sequence[Measurement]) -> list[str]:
        """Return the notes that are about all systems."""

    @abstractmethod
    def first_run(self, submission: Submission[OneRun], dataset: str) -> Evaluation:
        """Evaluate the first run anew on a data set, with all that a report shows."""

    def reasons(self, submission: Submission[OneRun], error: SedscopeError) -> Iterable[str]:
        """Return everything that is wrong with a submission, of which an error says a part."""
        return submission.problems(error)

    def has_intervals(self, submission: Submission[OneRun], dataset: str) -> bool:
        """Return whether the intervals of the ranking are those of the evaluation of the first run."""
        return True

    def evaluate(self, submission: Submission[OneRun], system: RankedSystem, dataset: str) -> Evaluation:
        """Evaluate a ranked system anew, for a report. Its intervals are those of the ranking."""
        result = self.first_run(submission, dataset)
        if not self.has_intervals(submission, dataset):
            return result
        prefix = f"{dataset}." if dataset else ""
        intervals = {
            metric: _bootstrap(system.metrics[f"{prefix}{name}"], self.resampling)
            for metric, name in result.names.items()
        }
        return replace(result, intervals=intervals)


def _bootstrap(estimate: MetricEstimate, resampling: Resampling) -> Bootstrap:
    """Return the interval of a metric, for a report. Its values in the resamples were not kept."""
    nothing = np.empty(0)
    per_class = {
        label: Interval(of_class.value, of_class.low, of_class.high, nothing)
        for label, of_class in estimate.per_class.items()
    }
    return Bootstrap(
        estimate.value, estimate.low, estimate.high, nothing, per_class=per_class, resampling=resampling
    )


def refuse_randomisation(resampling: Resampling) -> None:
    """Refuse p values that a ranking does not have: it would swap all pairs of systems."""
    if resampling.test == "randomisation":
        raise SedscopeError(
            "A ranking has p values from resamples. For a randomisation test, compare two or a few systems."
        )


def in_order(submissions: Iterable[Submission[OneRun]]) -> list[Submission[OneRun]]:
    """Return submissions by team and name. Refuse those that cannot be told apart."""
    ordered = sorted(submissions, key=lambda submission: (submission.team, submission.name))
    refuse_equal_names([submission.full_name for submission in ordered])
    return ordered


def rank_submissions(
    submissions: Sequence[Submission[OneRun]], rules: RankingRules[OneRun], run: Run
) -> Ranking:
    """Measure submissions one after the other, and rank them. One with problems is rejected."""
    by_name = {(submission.team, submission.name): submission for submission in submissions}
    folder = None if run.checkpoint is None else local_path(run.checkpoint)
    steps = StagedProgress(run._steps, _STEPS * len(submissions))
    measured: dict[tuple[str, str], Measurement] = {}
    rejected: list[RejectedSystem] = []
    for key, submission in by_name.items():
        stage = steps.stage(_STEPS)
        one = replace(run, checkpoint=None, progress=stage)  # only values are kept, not deltas
        with unpacked_meanwhile():
            outcome = _measured(submission, rules, one, folder)
        if isinstance(outcome, RejectedSystem):
            rejected.append(outcome)
        else:
            measured[key] = outcome
        if stage is not None:
            stage(1, 1)
    rejected += _take_other_clips(measured)
    common = rules.common_notes([*measured.values()])
    ranked, pairs = rank_systems(
        [_measured_system(*key, measurement, common) for key, measurement in measured.items()],
        higher_is_better=rules.kinds[0].higher_is_better,
        confidence=rules.resampling.confidence,
    )
    every_set = [measurement.sets for measurement in measured.values()]
    sets = _all_classes(every_set) or rules.sets
    notes = [*common, *_similarity_notes(measured)]
    for dataset in sets if measured else ():
        of_systems = [of_system[dataset].classes for of_system in every_set]
        differing = different_classes_note(of_systems, rules.class_advice)
        notes += [f"{dataset}: {note}" if dataset else note for note in differing]
    return Ranking(
        systems=ranked,
        rejected=tuple(sorted(rejected, key=lambda system: (system.team, system.name))),
        score=rules.kinds[0],
        metrics=rules.kinds,
        classes=tuple(dict.fromkeys(label for of_set in sets.values() for label in of_set.classes)),
        clips=sum(of_set.clips for of_set in sets.values()),
        hours=sum(of_set.hours for of_set in sets.values()),
        pairs=pairs,
        resampling=rules.resampling,
        warnings=tuple(dict.fromkeys(map(readable, [*notes, *_few_resamples_note(rules.resampling)]))),
        evaluate=lambda system, dataset: rules.evaluate(
            by_name[system.team, system.name], system, dataset
        ),
        task=rules.task,
        datasets=sets if rules.task else {},
    )


def _measured(
    submission: Submission[OneRun], rules: RankingRules[OneRun], run: Run, folder: Path | None
) -> Measurement | RejectedSystem:
    """Measure a submission, or say why it cannot be ranked. What was measured before is in the folder."""

    def rejected(reasons: Iterable[str]) -> RejectedSystem:
        return RejectedSystem(submission.name, submission.team, tuple(submission.portable(reasons)))

    try:
        opened = rules.opened(submission, keyed=folder is not None)
        before = None if folder is None or opened.key is None else kept(folder, opened.key)
        measurement = before or opened.measure(run)
    except SedscopeError as error:
        return rejected(rules.reasons(submission, error))
    if folder is not None and opened.key is not None and before is None:
        keep(folder, opened.key, measurement)
    undefined = measurement.undefined_score
    if undefined is not None:
        return rejected([undefined, *measurement.notes])
    return replace(measurement, notes=(*opened.notes, *measurement.notes))


def _measured_system(
    team: str, name: str, measurement: Measurement, common: Sequence[str]
) -> MeasuredSystem:
    """Return what a ranking needs to know of a system."""
    score = next(iter(measurement.metrics.values()))
    notes = [note for note in measurement.notes if note not in common]
    return MeasuredSystem(
        name=name,
        team=team,
        score=Interval(score.value, score.low, score.high, measurement.score),
        metrics=measurement.metrics,
        signatures=measurement.signatures,
        warnings=tuple(dict.fromkeys(notes)),
    )


def _take_other_clips(measured: dict[tuple[str, str], Measurement]) -> list[RejectedSystem]:
    """Take out systems that were evaluated on other clips than most systems, and reject them."""

    def clips(measurement: Measurement) -> tuple[str, ...]:
        return tuple(of_set.digest for of_set in measurement.sets.values())

    def size(measurement: Measurement) -> int:
        return sum(of_set.clips for of_set in measurement.sets.values())

    numbers = Counter(map(clips, measured.values()))
    if len(numbers) < 2:
        return []
    common = max(measured.values(), key=lambda system: (numbers[clips(system)], size(system)))
    others = [key for key, system in measured.items() if clips(system) != clips(common)]
    rejected = []
    for team, name in others:
        sets = measured.pop((team, name)).sets
        reasons = [
            f"{dataset}: the system was evaluated on {counted(of_set.clips, 'clip')}, but most systems on "
            f"{'other clips' if of_set.clips == common.sets[dataset].clips else common.sets[dataset].clips}. "
            "Only systems with the same clips can be ranked."
            for dataset, of_set in sets.items()
            if of_set.digest != common.sets[dataset].digest
        ]
        rejected.append(RejectedSystem(name, team, tuple(reasons)))
    return rejected


def _similarity_notes(measured: Mapping[tuple[str, str], Measurement]) -> list[str]:
    """Note which systems are the same, or nearly."""
    return similarity_notes(
        [TeamSystem(name, team).full_name for team, name in measured],
        [measurement.fingerprint for measurement in measured.values()],
        [measurement.signatures for measurement in measured.values()],
    )


def _few_resamples_note(resampling: Resampling) -> list[str]:
    """Note that no difference can be significant, because there are not enough resamples."""
    needed = resamples_needed(resampling.confidence)
    if needed <= resampling.number:
        return []
    return [
        f"All systems tie, because no p value of {counted(resampling.number, 'resample')} can be significant "
        f"at a confidence of {resampling.confidence:g}. That needs at least {needed}."
    ]


def keep(folder: Path, key: str, measurement: Measurement) -> None:
    """Write a measurement to the folder, under a digest of everything that it depends on."""
    check_output(folder, "folder")
    signatures = {name: signature.as_json() for name, signature in measurement.signatures.items()}
    facts = {**vars(measurement), "score": None, "fingerprint": None, "signatures": signatures}
    text = json.dumps(facts, default=lambda part: vars(part))  # numbers keep all their digits
    content = BytesIO()
    plain = np.frombuffer(text.encode(), np.uint8)
    np.savez(content, score=measurement.score, fingerprint=measurement.fingerprint, facts=plain)
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
            fingerprint=arrays["fingerprint"],
            metrics={name: _kept_estimate(**plain) for name, plain in facts["metrics"].items()},
            sets={
                name: RankedSet(**{**plain, "classes": tuple(plain["classes"])})
                for name, plain in facts["sets"].items()
            },
            signatures={name: Signature.from_json(plain) for name, plain in facts["signatures"].items()},
            notes=tuple(facts["notes"]),
            set_notes=tuple(facts["set_notes"]),
        )


def _kept_estimate(runs: list[float], per_class: Mapping[str, Any], **numbers: float) -> MetricEstimate:
    classes = {label: Estimate(**plain) for label, plain in per_class.items()}
    return MetricEstimate(**numbers, runs=tuple(runs), per_class=classes)


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}.ranked"
