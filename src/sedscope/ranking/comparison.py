"""Comparison in one call: several systems on the same clips, and which differences exceed chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data.choices import ClipChoice, Coverage, Missing
from ..data.score_cache import merged_or_unknown
from ..data.thresholds import refuse_unread_points
from ..engines.run import Run
from ..errors import SedscopeError, issue_warnings, listing, of_systems, readable
from ..evaluation.inputs import Reading, TruthLike, as_truth
from ..evaluation.notes import undefined_resamples_note, undetected_classes_note
from ..evaluation.operating_point import metrics_at_points
from ..metrics import Metric
from ..metrics.false_alarms import require_one_point
from ..metrics.names import MetricsLike, name_metrics
from ..resampling.draws import Draws
from ..resampling.resampling import Resampling
from .compared_runs import (
    Runs,
    align_runs,
    as_systems,
    named_systems,
    published_values,
    values_of_published,
)
from .comparison_result import Comparison
from .differences import SystemValue, paired_differences, system_value
from .measured_runs import FalseAlarmLimit, MeasuredRuns, check_limit, measure_runs
from .significance import SwappedDifferences, randomised

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..tuning.operating_points import OperatingPoints


def compare(
    systems: Mapping[str, Runs] | Sequence[Runs],
    truth: TruthLike,
    metrics: MetricsLike | None = None,
    *,
    points: Mapping[str, OperatingPoints] | None = None,
    at_false_alarms: FalseAlarmLimit | None = None,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    resampling: Resampling | int | None = None,
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Compare systems on the same clips, which are drawn together in each resample (paired bootstrap).

    Parameters
    ----------
    systems : mapping of str to system, or sequence of systems
        Each system in any form that :func:`~sedscope.evaluate` takes. A list of several under one name are
        runs of one system, e.g. with other seeds: their mean is compared, and their spread is reported.
        A number is a published value of the only metric, taken as exact; so are the values of an
        :class:`~sedscope.Evaluation`, or of its JSON file. These are refused if their signature says that
        they are of other clips, classes, reference events or definitions.
    truth
        The reference events; see :func:`~sedscope.evaluate`.
    metrics : Metric, str, iterable of these, or mapping of str to these, optional
        What to measure; see :func:`~sedscope.evaluate`.
    points : mapping of str to OperatingPoints, optional
        The operating points of systems, by name; see :func:`~sedscope.evaluate`. If some have thresholds,
        the others must have one operating point, as lists of events do.
    resampling : int or Resampling, optional
        How clips are drawn, and which interval is made: a number of resamples, or more. By
        default 1000. p values are corrected for the number of pairs of systems by the largest difference
        of each resample (Westfall and Young, 1993), which needs no more resamples for more pairs.
    at_false_alarms : float or str, optional
        Compare the systems at the same false alarms, instead of at the thresholds of the metrics. The
        limit is a number per hour and class, a text such as ``"1/day"``, or the false alarms of an event
        list without scores: its name, or ``"list"`` if there is only one. Each class of each system is
        measured at the threshold with the highest recall within the limit. Each resample has its own
        thresholds. The metrics must be measured at one threshold, e.g. :class:`~sedscope.Recall` and
        :class:`~sedscope.FScore`. ``comparison.metrics`` says where they are measured.
    classes, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for the clips that all systems have scores for.
    run : Run, optional
        How the passes run. Each run keeps its parts in its own folder
        inside ``checkpoint``. One progress covers the clips and resamples of all runs.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Comparison
        Values, differences and their intervals.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(200)
    >>> a, b = (sed.simulate.scores(truth, quality=quality) for quality in (0.8, 0.6))
    >>> comparison = compare({"a": a, "b": b}, truth, sed.presets.PSDS1, resampling=200)
    >>> comparison.differences[sed.presets.PSDS1]["b", "a"].verdict
    -1

    An event list, which has one operating point, and a system with scores at the same false alarms:

    >>> events = sed.Scores.from_events(sed.detect(b, 0.6), classes=b.classes)
    >>> at_list = compare(
    ...     {"list": events, "a": a}, truth, sed.Recall(sed.Collar()), resampling=200, at_false_alarms="list"
    ... )
    >>> at_list.differences[at_list.metrics[0]]["a", "list"].verdict
    1
    """
    points = points or {}
    for of_system in points.values():
        refuse_unread_points(of_system)
    chosen = name_metrics(metrics, points.values())
    named = _comparable_metrics(chosen, points, at_false_alarms)
    run = Run._of(run, "Comparing", "engine", "scheduler", "checkpoint")
    resampling = Resampling._of(resampling)
    systems = named_systems(systems)
    if len(systems) < 2:
        raise SedscopeError(f"A comparison needs at least 2 systems, not {len(systems)}.")
    published = published_values(systems, named)
    if resampling.test == "randomisation":
        _refuse_unswappable(published, at_false_alarms)
    truth = as_truth(truth, reading)
    measurable = {name: runs for name, runs in systems.items() if name not in published}
    every_run = as_systems(measurable, truth, reading, classes, coverage)
    if at_false_alarms is not None:
        check_limit(at_false_alarms, [*every_run])
    runs = align_runs(every_run, points, truth, classes, clips, missing, coverage)
    values = values_of_published(published, named, runs[0].alignment)
    draws = Draws(resampling, runs[0].alignment.clips)
    with run._open_engine() as opened:
        measured = measure_runs(runs, named, draws, opened, run, at_false_alarms)
        swapped = None
        if resampling.test == "randomisation":
            swapped = randomised(runs, draws, opened, [*named.values()])
        result = _comparison(measured, draws, values, [*systems], swapped)
    issue_warnings(result.warnings, 2)
    return result


def _comparable_metrics(
    metrics: Mapping[str, Metric[Any]],
    points: Mapping[str, OperatingPoints],
    at_false_alarms: FalseAlarmLimit | None,
) -> dict[str, Metric[Any]]:
    """Return the metrics where the systems are compared, and refuse those that are not defined there."""
    at_points = any(of_system.thresholds for of_system in points.values())
    if at_points and at_false_alarms is not None:
        raise SedscopeError(
            "`at_false_alarms=` chooses the thresholds, so the operating points must not have any."
        )
    if at_false_alarms is not None:
        require_one_point(metrics.values())
    return metrics_at_points(metrics) if at_points else dict(metrics)


def _refuse_unswappable(
    published: Mapping[str, object], at_false_alarms: FalseAlarmLimit | None
) -> None:
    """Refuse systems that cannot be swapped in single clips."""
    if published:
        raise SedscopeError(
            f"Published values have no clips to swap: {listing([*published])}. Use `test='bootstrap'`."
        )
    if at_false_alarms is not None:
        raise SedscopeError(
            "Systems at the same false alarms cannot be swapped. Use `test='bootstrap'`."
        )


def _comparison(
    measured: MeasuredRuns,
    draws: Draws,
    published: Mapping[str, Mapping[str, float]],
    order: Sequence[str],
    swapped: SwappedDifferences | None,
) -> Comparison:
    """Return the values of the systems and their differences, with intervals.

    ``published``: values by name of the metric and of the system. ``order``: of all systems, those with
    published values included. ``swapped``: what swaps systems at random, if that gives the p values.
    """
    first_runs = measured.first_runs
    first = next(iter(first_runs.values()))
    classes = first.alignment.classes
    values = {
        metric: {
            name: system_value(draws, metric, classes, by_system[name])
            if name in by_system
            else SystemValue.as_published(published[metric_name][name], draws.resampling)
            for name in order
        }
        for metric_name, (metric, by_system) in zip(published, measured.values.items(), strict=True)
    }
    evaluations = {
        name: run.evaluation(measured.metrics, {metric: values[metric][name] for metric in values})
        for name, run in first_runs.items()
    }
    system_notes = [*measured.system_notes]
    for name, evaluation in evaluations.items():
        system_notes += [(name, note) for note in undetected_classes_note(evaluation.results)]
    notes = [*measured.notes, *of_systems(system_notes)]
    notes += undefined_resamples_note(
        [value for by_system in values.values() for value in by_system.values()]
    )
    return Comparison(
        systems=tuple(order),
        names={metric: name for name, metric in measured.metrics.items()},
        metrics=tuple(measured.metrics.values()),
        classes=classes,
        clips=len(first.alignment.clips),
        hours=first.hours(),
        values=values,
        differences={
            metric: paired_differences(draws, metric, classes, by_system, of_metric, order, swapped)
            for of_metric, (metric, by_system) in zip(
                published.values(), measured.values.items(), strict=True
            )
        },
        resampling=draws.resampling,
        warnings=tuple(dict.fromkeys(map(readable, notes))),
        evaluations=evaluations,
        signatures={
            name: evaluation.signature.of_scores(merged_or_unknown(measured.digests[name]))
            if len(measured.digests[name]) > 1
            else evaluation.signature
            for name, evaluation in evaluations.items()
        },
    )
