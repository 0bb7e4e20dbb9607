"""A ranking in one call: systems that are measured one after the other on the same resamples of clips."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..alignment.alignment import Alignment, align
from ..data.choices import Coverage
from ..data.clips import clip_id
from ..data.ground_truth import GroundTruth
from ..data.labels import stripped
from ..data.score_cache import cached
from ..data.scores import Scores
from ..engines.checkpoint import identify
from ..engines.engine import Engine
from ..engines.run import Run
from ..errors import SedscopeError, collected_warnings, issue_warnings, listing
from ..evaluation.evaluate import evaluate
from ..evaluation.inputs import Reading, TruthLike, as_truth
from ..evaluation.notes import event_list_notes
from ..evaluation.result import Evaluation
from ..metrics import Metric
from ..metrics.metric import delta_requests
from ..metrics.names import MetricsLike, name_metrics
from ..resampling.draws import Draws, mean_of_classes
from ..resampling.resampled_metric import is_registered
from ..resampling.resampling import Resampling
from ..resampling.subsampling import Behaviour
from .compared_runs import ComparedRun, Runs, as_run, named_systems, runs_by_name
from .formula import Formula
from .measured_runs import measure_runs
from .ranking import RankedMetric, RankedSet
from .ranking_result import Ranking
from .similarity import fingerprint_of_sets
from .submissions import (
    SCORE,
    SYSTEMS,
    Measurement,
    OpenedSubmission,
    RankingRules,
    RunValues,
    Submission,
    in_order,
    rank_submissions,
    refuse_randomisation,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

ScoreReader: TypeAlias = Callable[[], Scores]
"""Reads the scores of one run."""


Better: TypeAlias = Literal["higher", "lower"]
"""Which values of a score are better."""

_REFUSED_ADVICE = re.compile(r"(?<=\.) [^.]*`(clips='scored'|missing='empty')`\.")
"""A sentence with an option that a ranking refuses."""


def rank(
    systems: Mapping[str, Runs] | Sequence[Runs],
    truth: TruthLike,
    metrics: MetricsLike | None = None,
    *,
    score: str | None = None,
    better: Better | None = None,
    teams: Mapping[str, str] | None = None,
    classes: Iterable[str] | None = None,
    clips: Iterable[str] | None = None,
    coverage: Coverage = "error",
    resampling: Resampling | int | None = None,
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Ranking:
    """Rank systems, with intervals of the ranks and groups of systems that tie.

    Systems are measured one after the other. One that cannot be evaluated is rejected, and the others
    go on.

    Parameters
    ----------
    systems : mapping of str to system, or sequence of systems
        Each system in any form that :func:`~sedscope.evaluate` takes. A list of several under one name are
        runs of one system: their mean is ranked.
    truth
        The reference events; see :func:`~sedscope.evaluate`.
    metrics : Metric, str, iterable of these, or mapping of str to these, optional
        What to measure; see :func:`~sedscope.evaluate`. Systems are ranked by the first one, unless there
        is a `score`.
    resampling : int or Resampling, optional
        How clips are drawn, and which interval is made: a number of resamples, or more. By
        default 1000. More pairs of systems need no more.
    score : str, optional
        A formula over the names of the metrics to rank systems by, such as ``"psds1 + psds2"``. It may
        have numbers, ``+ - * /``, brackets, ``mean``, ``harmonic_mean``, ``min`` and ``max``. The score of
        several runs is the mean of their scores.
    better : {"higher", "lower"}, optional
        Which values of `score` are better. By default higher ones are; it must be given if lower values
        of one of the metrics are better.
    teams : mapping of str to str, optional
        The team of each system. A system that is not listed is a team of its own.
    classes : iterable of str, optional
        The classes to evaluate; by default all classes of each system, as :func:`~sedscope.evaluate`
        does. A warning says if the systems do not have the same ones.
    clips : iterable of str, optional
        The clips to evaluate; by default all clips of the ground truth, and a system that has others is
        rejected.
    coverage : {"error", "trim", "any"}, default "error"
        Whether a system whose scores end long before or after most of their clips is rejected; ``"trim"``
        cuts all scores to the durations of their clips.
    run : Run, optional
        How the passes run. Its checkpoint keeps the values of each system: one that was measured before,
        in the same way, is not measured again.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Ranking
        The systems, best first, and those that were rejected.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> systems = {f"q{q}": sed.simulate.scores(truth, quality=q / 10) for q in (5, 9, 7)}
    >>> ranking = sed.rank(systems, truth, "psds1", resampling=200)
    >>> [(system.rank, system.name, system.group) for system in ranking.systems]
    [(1, 'q9', 1), (2, 'q7', 2), (3, 'q5', 3)]
    """
    truth = as_truth(truth, reading)
    columns = None if classes is None or isinstance(classes, str) else [*classes]
    runs_of = runs_by_name(named_systems(systems))
    unknown = sorted(set(teams or {}).difference(runs_of))
    if unknown:
        raise SedscopeError(f"teams names systems that are not among the systems: {listing(unknown)}.")
    readers: dict[str, list[ScoreReader]] = {
        name: [partial(as_run, name, scores, truth, reading, columns, coverage) for scores in runs]
        for name, runs in runs_of.items()
    }
    submissions = [
        Submission(name, (teams or {}).get(name, name), runs) for name, runs in readers.items()
    ]
    ranking = rank_by_metrics(
        submissions,
        truth,
        metrics,
        Resampling._of(resampling),
        score=score,
        better=better,
        classes=classes if columns is None else columns,
        clips=clips,
        coverage=coverage,
        run=Run._of(run, "Ranking", "engine", "scheduler", "checkpoint", unit=SYSTEMS),
    )
    issue_warnings(ranking._all_warnings(), 2)
    return ranking


def rank_by_metrics(
    submissions: Iterable[Submission[ScoreReader]],
    truth: GroundTruth,
    metrics: MetricsLike | None,
    resampling: Resampling,
    *,
    score: str | None = None,
    better: Better | None = None,
    classes: Iterable[str] | None,
    clips: Iterable[str] | None,
    coverage: Coverage,
    run: Run,
) -> Ranking:
    """Rank submissions without a task. The arguments are those of :func:`rank`."""
    ordered = in_order(submissions)
    named = name_metrics(metrics)
    formula, kinds = _score_and_metrics(named, score, better)
    with replace(run, checkpoint=None)._open_engine() as engine:
        rules = MetricRules(
            *(truth, named, formula, kinds, classes, clips, coverage, engine, run.threads, resampling)
        )
        return rank_submissions(ordered, rules, run)


class MetricRules(RankingRules[ScoreReader]):
    """Systems are measured on one set, and ranked by a metric or a formula."""

    class_advice = "Choose the classes to evaluate with `classes=`."

    def __init__(
        self,
        truth: GroundTruth,
        metrics: Mapping[str, Metric[Any]],
        formula: Formula | None,
        kinds: tuple[RankedMetric, ...],
        classes: Iterable[str] | None,
        clips: Iterable[str] | None,
        coverage: Coverage,
        engine: Engine,
        threads: int | None,
        resampling: Resampling,
    ) -> None:
        """``formula``: the score, from the values of the metrics; their data set has no name."""
        if isinstance(classes, str) or isinstance(clips, str):
            raise SedscopeError(
                "classes and clips must be lists of names. A ranking cannot use clips='scored'."
            )
        names = truth.clips if clips is None else dict.fromkeys(clip_id(clip) for clip in clips)
        listed = set(truth.clips)
        unlisted = [clip for clip in names if clip not in listed]
        if unlisted:
            raise SedscopeError(f"These clips are not in the ground truth: {listing(unlisted)}.")
        refuse_randomisation(resampling)
        self.truth, self.metrics, self.formula, self.kinds = truth, metrics, formula, kinds
        self.classes = None if classes is None else tuple(dict.fromkeys(stripped(classes)))
        self.clips = tuple(names)
        self.all_clips = clips is None  # a submission may then have no others
        self.coverage: Coverage = coverage
        self.engine, self.threads = engine, threads
        self.sets = {"": RankedSet(len(self.clips), np.nan, self.classes or ())}
        self.draws = Draws(resampling, self.clips)  # the same for all systems
        self.resampling = self.draws.resampling

    def opened(self, submission: Submission[ScoreReader], *, keyed: bool) -> OpenedSubmission:
        """Read the runs of a submission, and align them to the clips and classes of all submissions."""
        with collected_warnings() as notes:
            runs = [
                self._align(submission, number, read()) for number, read in enumerate(submission.runs, 1)
            ]
            key = self._key(runs) if keyed else None
        return OpenedSubmission(partial(self._measure, submission, runs), key, notes)

    def _align(self, submission: Submission[ScoreReader], number: int, scores: Scores) -> ComparedRun:
        def aligned(clips: Sequence[str] | None) -> Alignment:
            return align(scores, self.truth, classes=self.classes, clips=clips, coverage=self.coverage)

        alignment = aligned(None if self.all_clips else self.clips)
        if alignment.clips != self.clips:
            alignment = aligned(self.clips)
        return ComparedRun(submission.full_name, number, alignment, scores, None)

    def _key(self, runs: Sequence[ComparedRun]) -> str | None:
        """Return a digest of everything that the measurement of a submission depends on.

        None if nothing can say that: the code of a metric that a user wrote may change.
        """
        requests = delta_requests([*self.metrics.values()])
        identities = [identify(run.alignment, requests, self.engine.threads) for run in runs]
        if None in identities or not all(map(is_registered, self.metrics.values())):
            return None
        drawn = hashlib.blake2b(np.ascontiguousarray(self.draws.weights).data, digest_size=16)
        resampled = (self.resampling.confidence, self.resampling.interval, drawn.hexdigest())
        score = (self.formula, self.kinds[0].higher_is_better)
        text = repr((runs[0].system, self.metrics, self.coverage, *resampled, *score, identities))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _measure(
        self, submission: Submission[ScoreReader], runs: Sequence[ComparedRun], options: Run
    ) -> Measurement:
        with collected_warnings():  # they are among the notes
            measured = measure_runs(runs, self.metrics, self.draws, self.engine, options, None)
        system = submission.full_name
        first_run = measured.first_runs[system]
        of_first_run = first_run.evaluation(measured.metrics, {})
        values: list[RunValues] = []
        for number, run in enumerate(runs):
            labels = run.alignment.classes
            tables = {
                name: measured.values[metric][system][number]
                for name, metric in measured.metrics.items()
            }
            columns = {name: table[:, 0] for name, table in tables.items()}
            score, score_of_classes = {}, None
            if self.formula is not None:
                score = {SCORE: self.formula.value({"": columns})}
                means = {
                    name: mean_of_classes(table[:, 1:])
                    for name, table in tables.items()
                    if Behaviour.of(measured.metrics[name]).costs_spread
                }
                score_of_classes = self.formula.value({"": columns | means})
            classes = {
                name: dict(zip(labels, table[:, 1:].T, strict=True)) for name, table in tables.items()
            }
            sets = {"": RankedSet(len(self.clips), first_run.hours(), labels)}
            signature = of_first_run.signature.of_scores(measured.digests[system][number])
            values.append(
                RunValues({**score, **columns}, classes, sets, {"": signature}, score_of_classes)
            )
        of_lists = event_list_notes(of_first_run.results, of_first_run.alignment)
        about_system = [*(note for _, note in measured.system_notes), *of_lists]
        prints = fingerprint_of_sets([first_run.deltas])
        behaviours = {name: Behaviour.of(metric) for name, metric in measured.metrics.items()}
        if self.formula is not None:
            lower_is_better = not self.kinds[0].higher_is_better
            behaviours[SCORE] = self.formula.behaviour({"": self.metrics}, lower_is_better)
        return Measurement.of_runs(
            values, self.resampling, prints, about_system, measured.notes, behaviours
        )

    def common_notes(self, measured: Sequence[Measurement]) -> list[str]:
        """Return the notes about the set."""
        return [*dict.fromkeys(note for measurement in measured for note in measurement.set_notes)]

    def reasons(self, submission: Submission[ScoreReader], error: SedscopeError) -> list[str]:
        """Return everything that is wrong, without the name of the system and advice that cannot help."""
        return [
            _REFUSED_ADVICE.sub("", reason).removeprefix(f"{submission.full_name}: ")
            for reason in submission.problems(error)
        ]

    def first_run(self, submission: Submission[ScoreReader], dataset: str) -> Evaluation:
        """Evaluate the first run anew."""
        with collected_warnings():
            return evaluate(
                cached(submission.runs[0]()),
                self.truth,
                self.metrics,
                classes=self.classes,
                clips=self.clips,
                coverage=self.coverage,
                run=Run(threads=self.threads),
            )


def _score_and_metrics(
    metrics: Mapping[str, Metric[Any]], score: str | None, better: Better | None
) -> tuple[Formula | None, tuple[RankedMetric, ...]]:
    """Return the formula of the score, if there is one, and what is measured, the score first."""
    kinds = [
        RankedMetric(name, repr(metric), metric.higher_is_better) for name, metric in metrics.items()
    ]
    if better not in (None, "higher", "lower"):
        raise SedscopeError(f"better={better!r} is not valid. Choose 'higher' or 'lower'.")
    if score is None:
        if better is not None:
            raise SedscopeError(
                "Metrics know which of their values are better. `better=` only applies to a formula "
                "(`score=`)."
            )
        return None, tuple(kinds)
    formula = Formula(score, dataset="")
    formula.check({"": metrics})
    if SCORE in metrics:
        raise SedscopeError(
            f"{SCORE!r} is the name of what the formula computes. Give the metric another name."
        )
    lower = [name for _, name in formula.names if not metrics[name].higher_is_better]
    if lower and better is None:
        raise SedscopeError(
            f"Lower values of {listing(lower)} are better. Say which values of the formula are better: "
            "`better='higher'` or `better='lower'`."
        )
    return formula, (RankedMetric(SCORE, score, better != "lower"), *kinds)
