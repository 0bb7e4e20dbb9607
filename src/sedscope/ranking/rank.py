"""A ranking in one call: systems that are measured one after the other on the same resamples of clips."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from ..data.choices import Coverage
from ..data.clips import clip_id
from ..data.ground_truth import GroundTruth
from ..data.labels import stripped
from ..data.score_cache import cached
from ..data.scores import Scores
from ..engines.run import Run
from ..errors import SedscopeError, SedscopeWarning, counted, issue_warnings, listing, readable
from ..evaluation.evaluate import evaluate
from ..evaluation.result import Evaluation
from ..io.locations import local_path
from ..metrics import Metric
from ..metrics.names import MetricsLike, name_metrics
from ..progress import StagedProgress
from ..resampling.draws import Draws
from ..resampling.intervals import Bootstrap, Interval
from ..resampling.resampling import Resampling
from .compared_runs import Runs, as_runs
from .differences import FEWEST_RESAMPLES, affordable_resamples, resamples_needed
from .formula import Formula
from .ranking import (
    MeasuredSystem,
    MetricEstimate,
    RankedMetric,
    RankedSet,
    RankedSystem,
    RejectedSystem,
    different_classes_note,
    rank_systems,
    refuse_equal_names,
)
from .ranking_result import Ranking
from .submissions import SCORE, Protocol, Submission, common_notes, measure_submission


def enough_resamples(systems: int, clips: int, classes: int, metrics: int, confidence: float) -> int:
    """Return how many resamples all pairs need, or how many fit into a part of the memory.

    The number is doubled, so that a few more systems seldom change it, and what was measured stays valid.
    """
    most = affordable_resamples(4 * clips + 8 * (metrics * (1 + classes) + systems))
    needed = resamples_needed(systems * (systems - 1) // 2, confidence)
    number = FEWEST_RESAMPLES
    while number < needed and 2 * number <= most:
        number *= 2
    return number


def few_resamples_note(pairs: int, resampling: Resampling) -> list[str]:
    """Note that no difference can be significant, because the correction needs more resamples."""
    needed = resamples_needed(pairs, resampling.confidence)
    if needed <= resampling.number:
        return []
    return [
        "All systems tie, because no p value can be significant with "
        f"{counted(resampling.number, 'resample')}: the correction for {counted(pairs, 'pair')} of systems "
        f"needs {needed}. Draw more with resampling= (--bootstrap)."
    ]


Better: TypeAlias = Literal["higher", "lower"]
"""Which values of a score are better."""

_STEPS = 1000  # of the progress of a system


def rank(
    systems: Mapping[str, Runs],
    truth: GroundTruth,
    metrics: MetricsLike,
    *,
    score: str | None = None,
    better: Better | None = None,
    teams: Mapping[str, str] | None = None,
    classes: Iterable[str] | None = None,
    clips: Iterable[str] | None = None,
    coverage: Coverage = "error",
    resampling: Resampling | int | None = None,
    run: Run | None = None,
) -> Ranking:
    """Rank systems, with intervals of the ranks and groups of systems that tie.

    Systems are measured one after the other. One that cannot be evaluated is rejected, and the others
    go on.

    Parameters
    ----------
    systems : mapping of str to Scores
        The scores of each system. Several scores under one name are runs of one system: their mean is
        ranked.
    truth : GroundTruth
        The reference events.
    metrics : Metric, str, iterable of these, or mapping of str to these
        What to measure; see :func:`~sedscope.evaluate`. Systems are ranked by the first one, unless there
        is a `score`.
    resampling : int or Resampling, optional
        How clips are drawn, and which interval is made: a number of resamples, or more. By
        default 1000, doubled until p values that are corrected for all pairs of systems can be
        significant: 32000 for 30 systems.
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
    coverage : {"error", "any"}, default "error"
        Whether a system whose scores end long before or after most of their clips is rejected.
    run : Run, optional
        How the passes run. Its checkpoint keeps the values of each system: one that was measured before,
        in the same way, is not measured again.

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
    runs_of = as_runs(systems)
    unknown = sorted(set(teams or {}).difference(runs_of))
    if unknown:
        raise SedscopeError(f"teams names systems that are not among the systems: {listing(unknown)}.")
    submissions = [
        Submission(name, (teams or {}).get(name, name), [partial(_itself, run) for run in runs])
        for name, runs in runs_of.items()
    ]
    ranking = rank_submissions(
        submissions,
        truth,
        metrics,
        Resampling._of(resampling),
        score=score,
        better=better,
        classes=classes,
        clips=clips,
        coverage=coverage,
        run=Run._of(run, "Ranking", "engine", "scheduler", "checkpoint"),
    )
    issue_warnings(ranking.all_warnings(), 2)
    return ranking


def rank_submissions(
    submissions: Sequence[Submission],
    truth: GroundTruth,
    metrics: MetricsLike,
    resampling: Resampling,
    *,
    score: str | None = None,
    better: Better | None = None,
    classes: Iterable[str] | None,
    clips: Iterable[str] | None,
    coverage: Coverage,
    run: Run,
) -> Ranking:
    """Measure submissions one after the other, and rank them.

    The arguments are those of :func:`rank`.
    """
    ordered = sorted(submissions, key=lambda submission: (submission.team, submission.name))
    refuse_equal_names([submission.full_name for submission in ordered])
    named = name_metrics(metrics)
    formula, kinds = _score_and_metrics(named, score, better)
    folder = None if run.checkpoint is None else local_path(run.checkpoint)
    protocol = _protocol(truth, named, classes, clips, coverage, resampling, len(ordered))
    protocol = replace(protocol, formula=formula)
    measured: list[MeasuredSystem] = []
    rejected: list[RejectedSystem] = []
    sets: list[RankedSet] = []
    notes: list[str] = []
    run = replace(run, checkpoint=None)  # only values are kept, not deltas
    steps = StagedProgress(run._steps, _STEPS * len(ordered))
    with run._open_engine() as engine:
        for submission in ordered:
            stage = steps.stage(_STEPS)
            outcome = measure_submission(
                submission, protocol, engine, replace(run, progress=stage), folder
            )
            if stage is not None:
                stage(1, 1)
            if isinstance(outcome, RejectedSystem):
                rejected.append(outcome)
                continue
            system, measurement = outcome
            notes += common_notes(submission, measurement)
            sets.append(measurement.sets[""])
            measured.append(system)
    ranked, pairs = rank_systems(
        measured, higher_is_better=kinds[0].higher_is_better, confidence=resampling.confidence
    )
    classes_of = [of_set.classes for of_set in sets]
    notes += different_classes_note(
        classes_of, "Choose the classes to evaluate with classes= (--classes)."
    )
    notes += few_resamples_note(len(pairs), protocol.draws.resampling)
    return Ranking(
        systems=ranked,
        rejected=tuple(rejected),
        score=kinds[0],
        metrics=kinds,
        classes=tuple(dict.fromkeys(chain(protocol.classes or (), *classes_of))),
        clips=len(protocol.clips),
        hours=sets[0].hours if sets else np.nan,
        pairs=pairs,
        resampling=protocol.draws.resampling,
        warnings=tuple(dict.fromkeys(map(readable, notes))),
        evaluate=_evaluator(ordered, protocol, run),
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
                "Metrics know which of their values are better. better= (--better) only applies to a formula "
                "(score=, --score)."
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
            "better='higher' or better='lower' (--better)."
        )
    return formula, (RankedMetric(SCORE, score, better != "lower"), *kinds)


def _itself(scores: Scores) -> Scores:
    return scores


def _protocol(
    truth: GroundTruth,
    metrics: Mapping[str, Metric[Any]],
    classes: Iterable[str] | None,
    clips: Iterable[str] | None,
    coverage: Coverage,
    resampling: Resampling,
    systems: int,
) -> Protocol:
    """Fix what is the same for all systems."""
    if isinstance(classes, str) or isinstance(clips, str):
        raise SedscopeError(
            "classes and clips must be lists of names. A ranking cannot use clips='scored'."
        )
    chosen = None if classes is None else tuple(dict.fromkeys(stripped(classes)))
    names = tuple(truth.clips if clips is None else dict.fromkeys(clip_id(clip) for clip in clips))
    listed = set(truth.clips)
    unlisted = [clip for clip in names if clip not in listed]
    if unlisted:
        raise SedscopeError(f"These clips are not in the ground truth: {listing(unlisted)}.")
    if resampling.n is None:
        resampling = replace(
            resampling,
            n=enough_resamples(
                systems, len(names), len(chosen or truth.labels), len(metrics), resampling.confidence
            ),
        )
    draws = Draws(resampling, names)
    return Protocol(truth, chosen, names, clips is None, coverage, metrics, draws)


def _evaluator(
    submissions: Sequence[Submission], protocol: Protocol, run: Run
) -> Callable[[RankedSystem, str], Evaluation]:
    """Return what evaluates a system anew, with all that a report shows, and the intervals of the ranking."""
    by_name = {(submission.team, submission.name): submission for submission in submissions}

    def evaluate_ranked(system: RankedSystem, _: str) -> Evaluation:
        read = by_name[system.team, system.name].runs[0]
        with python_warnings.catch_warnings():
            python_warnings.simplefilter("ignore", SedscopeWarning)
            result = evaluate(
                cached(read()),
                protocol.truth,
                protocol.metrics,
                classes=protocol.classes,
                clips=protocol.clips,
                coverage=protocol.coverage,
                run=Run(threads=run.threads),
            )
        intervals = {
            metric: bootstrap_of(system.metrics[name], protocol.draws.resampling)
            for name, metric in protocol.metrics.items()
        }
        return replace(result, intervals=intervals)

    return evaluate_ranked


def bootstrap_of(estimate: MetricEstimate, resampling: Resampling) -> Bootstrap:
    """Return the interval of a metric, for a report. Its values in the resamples were not kept."""
    nothing = np.empty(0)
    per_class = {
        label: Interval(of_class.value, of_class.low, of_class.high, nothing)
        for label, of_class in estimate.per_class.items()
    }
    return Bootstrap(
        estimate.value, estimate.low, estimate.high, nothing, per_class=per_class, resampling=resampling
    )
