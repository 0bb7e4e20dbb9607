"""Evaluation in one call: scores and ground truth in, metrics with their curves out; or only the deltas.

The path of the data is :func:`evaluate`, read from top to bottom: align, find deltas, add them up to
counts, measure the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..alignment.alignment import Alignment, align
from ..alignment.time_agreement import TimeSample
from ..counting.deltas import Deltas
from ..counting.request import DeltaRequest, Requests
from ..criteria import Criterion
from ..data.choices import ClipChoice, Coverage, Missing, Overlaps, truth_overlaps
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..engines.engine import Engine
from ..engines.floor_search import find_deltas
from ..engines.run import Run
from ..errors import SedscopeError, issue_warnings, listing
from ..metrics import Metric
from ..metrics.metric import delta_requests, parts_of
from ..metrics.names import MetricsLike, name_metrics
from ..postprocessing import PostProcessing, as_postprocessings
from .counted_clips import CountedClips, count_clips
from .counted_clips import measure as measure
from .inputs import Reading, SystemLike, TruthLike, as_inputs, as_scores, require_scores
from .notes import input_notes, late_events_note, score_ranges, threshold_notes
from .result import Evaluation

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..data.detections import Detections
    from ..data.label_maps import LabelMapLike
    from ..resampling.resampling import Resampling
    from ..tuning.operating_points import OperatingPoints
    from .group_results import GroupResults
    from .groups import By, GroupPlan, GroupsLike
    from .resampled_clips import ResampledMetrics, Resamples


def evaluate(
    scores: SystemLike,
    truth: TruthLike,
    metrics: MetricsLike | None = None,
    *,
    points: OperatingPoints | None = None,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    resampling: Resampling | int | None = None,
    by: By | GroupsLike | None = None,
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Evaluation:
    """Evaluate a system with one or more metrics.

    Metrics of the same criterion share the counting. The values have the same bits whatever the engine,
    the memory limit and the number of threads.

    Parameters
    ----------
    scores : Scores, path, mapping or data frame
        The system: :class:`~sedscope.Scores`; a file or folder in any format that ``sedscope formats``
        lists; a mapping from clips to arrays (with ``classes=`` and ``frame=``), to data frames or to lists
        of events; one data frame with a row per frame, ``filename onset offset class…``; or one with a row
        per detected event, ``filename onset offset event_label`` and perhaps ``confidence``.
    truth : GroundTruth, path, mapping or data frame
        The reference events: :class:`~sedscope.GroundTruth`; a file or folder; a mapping
        ``{clip: [(onset, offset, label), …]}``; or a data frame ``filename onset offset event_label``.
    metrics : Metric, str, iterable of these, or mapping of str to these, optional
        What to measure: a metric, its short name (:data:`~sedscope.metrics.NAMED_METRICS` has all), or
        its definition as text. The keys of a mapping are names that you choose. By default PSDS 1 and 2;
        at operating points, their precision, recall and so on.
    points : OperatingPoints, optional
        Post-process the scores by these operating points, and measure at their thresholds. Metrics then
        have ``threshold="points"``; those that look at many thresholds are refused. Points without
        thresholds only post-process.
    classes : iterable of str, optional
        The classes to evaluate; all classes of the scores unless given. For a mapping of arrays, the
        classes of their columns.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores. Without it, scores and
        ground truth must have the same clips.
    missing : {"error", "empty"}, default "error"
        What to do with clips that the ground truth does not list: refuse them, or take them as clips
        without events.
    coverage : {"error", "trim", "any"}, default "error"
        What to do with scores that are longer or shorter than their clips. ``"error"`` refuses them if
        most clips differ by more than a tenth, and says which frame length would fit; of fewer clips, a
        warning names them. ``"trim"`` cuts all scores to the durations of their clips, for example if
        clips were padded. ``"any"`` evaluates them as they are.
    resampling : int or Resampling, optional
        Resample the clips this many times, and add intervals.
    by : mapping of clip to group, path, data frame, Groups, or By, optional
        Also evaluate groups of clips, e.g. the recording sites, each as if it were alone. A file or frame
        has the columns ``filename group``.
        :class:`~sedscope.Groups` may average the groups, and :class:`~sedscope.By` groups classes and
        reference lengths, too. The result has them in ``groups["clips"]``, ``groups["classes"]`` and
        ``groups["lengths"]``.
    run : Run, optional
        How the pass over the clips runs: threads, engine, checkpoint, memory limit and progress.
    **reading
        How what is not in memory is read: ``durations`` of the clips (a path, mapping or data frame),
        ``frame`` (the length of frames in seconds, of arrays and of files that do not state it), and all
        else in ``system_reading`` (:class:`~sedscope.SystemReading`) and ``truth_reading``
        (:class:`~sedscope.TruthReading`).

    Returns
    -------
    Evaluation
        The results, by metric or name.

    Examples
    --------
    >>> arrays, events = {"a": [[0.2], [0.9], [0.4]]}, {"a": [(1, 2, "Dog")]}
    >>> evaluate(arrays, events, classes=["Dog"], frame=1.0, durations={"a": 3})["psds2"].value
    1.0

    Most programs keep scores and ground truth, to evaluate them again:

    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> evaluate(scores, truth, "psds1")["psds1"].value
    1.0
    >>> result = evaluate(scores, truth, {"strict": sed.FScore(sed.Collar(onset=0.1))})
    >>> result["strict"].value
    1.0
    >>> f1 = sed.FScore(sed.Collar())
    >>> result = evaluate(scores, truth, f1, points=sed.OperatingPoints({"Dog": 0.46}))
    >>> result[f1].value, result[f1].thresholds
    (1.0, {'Dog': 0.46})
    >>> evaluate(scores, truth, "psds1", by={"a": "north"}).groups["clips"]["north"]["psds1"].value
    1.0
    """
    if points is not None:
        from ..data.thresholds import refuse_unread_points

        refuse_unread_points(points)
    named = name_metrics(metrics, [] if points is None else [points])
    system, truth = as_inputs(scores, truth, classes, coverage, reading)
    if not isinstance(system, Scores):
        of_scores = {"points": points, "resampling": resampling, "by": by}
        if any(value is not None for value in of_scores.values()):
            changed = [f"{name}=" for name, value in of_scores.items() if value is not None]
            require_scores(system, scores, listing(changed))
        of_system = reading.get("system_reading")
        return evaluate_sets(
            system,
            truth,
            named,
            classes=classes,
            clips=clips,
            missing=missing,
            coverage=coverage,
            overlaps="error" if of_system is None else truth_overlaps(of_system.overlaps),
            label_map=None if of_system is None else of_system.label_map,
            run=run,
        )
    processed = detected = scores = system
    if points is not None:
        from .operating_point import metrics_at_points, points_notes, scores_at_points

        if points.thresholds:
            named = metrics_at_points(named)
        processed = points.process(scores)
        detected = scores_at_points(processed, points)
    chosen = tuple(named.values())
    run = Run._of(run, "Evaluating", "engine", "scheduler", "checkpoint", "memory")
    limited = run._memory_limit() is not None
    if limited and resampling is not None:
        raise SedscopeError("Resampling needs all deltas at once, so memory= cannot limit it.")
    alignment = align(detected, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    plan = None
    if by is not None:
        from .groups import GroupPlan

        plan = GroupPlan.of(alignment.clips, alignment.classes, by, truth)
        if limited:
            raise SedscopeError("Groups need all deltas at once, so memory= cannot limit them.")
    alignment = replace(alignment, hashed=points is None and not scores.in_memory)
    run._before_pass(alignment, chosen)
    sample = TimeSample(alignment)
    resampled: ResampledMetrics | None = None
    with run._open_engine() as opened:
        if resampling is None:
            counted = _count(sample.alignment, named, opened, run, plan)
        else:
            from .resampled_clips import resample_clips

            counted, resampled = resample_clips(sample.alignment, named, resampling, opened, run, plan)
        resamples = None if resampled is None else resampled.resamples
        groups, group_notes = _measure_groups(
            plan, named, alignment, counted.of_pass, resamples, opened, run.threads, points
        )
    notes = [
        *([] if points is None else points_notes(points, processed)),
        *alignment.warnings,
        *late_events_note(alignment, counted.durations),
        *counted.notes,
        *sample.notes(),
        *([] if resampled is None else resampled.notes),
        *group_notes,
    ]
    result = measure(
        named,
        counted.counts,
        notes,
        {} if resampled is None else resampled.intervals,
        replace(alignment, scores=processed),
        counted.deltas,
        counted.durations,
        points,
    )
    if resampled is not None:
        result = resampled.complete(result, run.threads)
    issue_warnings(result.warnings, 2)
    return replace(result, blocks=counted.blocks, groups=groups, _scores_digest=counted.digest)


def _count(
    alignment: Alignment,
    metrics: Mapping[str, Metric[Any]],
    engine: Engine,
    run: Run,
    plan: GroupPlan | None,
) -> CountedClips:
    """Count all clips: in blocks of classes if the memory is limited, or where a cluster has their deltas."""
    limited = run._memory_limit() is not None
    if engine.on_cluster and plan is None:
        from .cluster_blocks import count_on_cluster, is_large

        if limited or is_large(alignment):
            return count_on_cluster(alignment, [*metrics.values()], engine, run)
    if limited:
        from .class_blocks import count_class_blocks

        return count_class_blocks(alignment, [*metrics.values()], engine, run)
    return count_clips(alignment, metrics, engine, run, plan)


def evaluate_sets(
    sets: Mapping[float, Detections],
    truth: GroundTruth,
    metrics: MetricsLike,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    overlaps: Overlaps = "error",
    label_map: LabelMapLike | None = None,
    run: Run | None = None,
) -> Evaluation:
    """Evaluate detections at a few operating points, and only there, as psds_eval does.

    Parameters
    ----------
    sets : mapping of float to events
        The detections at each threshold, ``{threshold: {clip: [event, …]}}``. Clips that a set does not
        list have no detections in it. :func:`~sedscope.approximate` makes such sets from scores.
    truth : GroundTruth
        The reference events, with the durations of the clips.
    metrics
        What to measure; see :func:`evaluate`. Metrics at a threshold are defined only at the thresholds
        of the sets.
    classes, clips, missing, coverage
        What to evaluate; see :func:`evaluate`. A class that no set has is never detected.
    overlaps : {"error", "merge", "keep"}, default "error"
        What to do with overlapping detections of one class: refuse them, merge them, or keep them as they
        are for criteria that pair events.
    label_map : LabelMap or mapping from str to str or None, optional
        New labels of the detections, see :meth:`Scores.relabelled`. The ground truth has its own method,
        :meth:`GroundTruth.relabelled`.
    run : Run, optional
        How it runs: on how many threads.

    Returns
    -------
    Evaluation
        The results, by metric.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sets = {0.5: {"a": [(1, 2, "Dog")]}, 0.8: {"a": []}}
    >>> best = sed.BestFScore(sed.Collar())
    >>> result = sed.evaluate_sets(sets, truth, best)[best]
    >>> result.value, result.thresholds
    (1.0, {'Dog': 0.5})
    """
    named = name_metrics(metrics)
    chosen = tuple(named.values())
    processing = [repr(metric) for metric in chosen if metric.variants]
    if processing:
        raise SedscopeError(
            f"Sets of detections cannot be post-processed, but these metrics need it: {listing(processing)}."
        )
    from .detection_sets import counts_of_sets

    counts, notes = counts_of_sets(
        sets,
        truth,
        delta_requests(chosen),
        classes=classes,
        clips=clips,
        missing=missing,
        coverage=coverage,
        overlaps=overlaps,
        label_map=label_map,
        threads=Run._of(run, "Evaluating sets").threads,
    )
    result = measure(named, counts, notes, {})
    issue_warnings(result.warnings, 2)
    return result


def evaluate_deltas(
    deltas: Deltas | Iterable[Deltas],
    metrics: MetricsLike,
    *,
    resampling: Resampling | int | None = None,
    by: By | GroupsLike | None = None,
    run: Run | None = None,
) -> Evaluation:
    """Evaluate deltas that were found before.

    Parameters
    ----------
    deltas : Deltas or iterable of Deltas
        One for each criterion of the metrics; see :func:`~sedscope.deltas`,
        :func:`~sedscope.load_deltas` and :meth:`Deltas.merge`.
    metrics
        What to measure; see :func:`evaluate`.
    resampling : int or Resampling, optional
        Resample the clips this many times, and add intervals.
    by : mapping of clip to group, Groups, or By, optional
        Also evaluate groups of clips or of classes; see :func:`evaluate`. Deltas know nothing of lengths.
    run : Run, optional
        How it runs: on how many threads, and whether it shows its progress.

    Returns
    -------
    Evaluation
        The results, by metric.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> deltas = sed.deltas(scores, truth, sed.Collar())
    >>> best = sed.BestFScore(sed.Collar())
    >>> sed.evaluate_deltas(deltas, best)[best].value
    1.0
    """
    named = name_metrics(metrics)
    chosen = tuple(named.values())
    parts = [deltas] if isinstance(deltas, Deltas) else [*deltas]
    by_criterion = {part.criterion: part for part in parts}
    if len(by_criterion) < len(parts):
        raise SedscopeError("Some deltas have the same criterion. Merge them with Deltas.merge first.")
    lacking = [repr(part) for part in parts_of(chosen) if part.criterion not in by_criterion]
    if lacking:
        criteria = listing([repr(criterion) for criterion in by_criterion])
        raise SedscopeError(
            f"There are no deltas for {listing(lacking)}. The deltas are of {criteria or 'no criterion'}."
        )
    used = {part.criterion: by_criterion[part.criterion] for part in parts_of(chosen)}
    from ..counting.deltas import refuse_different_scores

    refuse_different_scores([*used.values()])
    plan = None
    if by is not None:
        from .groups import GroupPlan

        plan = GroupPlan.of_deltas([*used.values()], chosen, by)
    run = Run._of(run, "Resampling")
    resampled: ResampledMetrics | None = None
    with run._open_engine() as engine:
        if resampling is not None:
            from .resampled_clips import resample_deltas

            resampled = resample_deltas(used, chosen, resampling, engine, run._steps, plan)
        resamples = None if resampled is None else resampled.resamples
        groups, group_notes = _measure_groups(plan, named, None, used, resamples, engine, run.threads)
    counts = {criterion: part.counts(threads=run.threads) for criterion, part in used.items()}
    notes = [
        *threshold_notes(chosen, score_ranges(chosen, used)),
        *([] if resampled is None else resampled.notes),
        *group_notes,
    ]
    intervals = {} if resampled is None else resampled.intervals
    result = replace(measure(named, counts, notes, intervals), groups=groups)
    if resampled is not None:
        result = resampled.complete(result, run.threads)
    issue_warnings(result.warnings, 2)
    return result


def _measure_groups(
    plan: GroupPlan | None,
    metrics: Mapping[str, Metric[Any]],
    alignment: Alignment | None,
    deltas: Mapping[Criterion, Deltas],
    resamples: Resamples | None,
    engine: Engine,
    threads: int | None,
    points: OperatingPoints | None = None,
) -> tuple[dict[str, GroupResults], list[str]]:
    """Measure the groups of the plan, if there is one, and return them with notes about them."""
    if plan is None:
        return {}, []
    from .group_results import GroupMeasuring, group_notes

    measuring = GroupMeasuring(plan, metrics, alignment, deltas, resamples, engine, threads, points)
    groups = measuring.results()
    return groups, group_notes(groups)


def deltas(
    scores: SystemLike,
    truth: TruthLike,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    postprocessing: PostProcessing | Iterable[PostProcessing] | str = (),
    system: str | None = None,
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Deltas:
    """Find how the counts of a criterion change at every threshold.

    This is a step of :func:`~sedscope.evaluate`, which also warns of input that looks odd.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`.
    criterion : Criterion
        What counts as found.
    classes, clips, missing, coverage
        What to evaluate; see :func:`~sedscope.evaluate`.
    postprocessing : post-processing, iterable of them, or str
        Variants of the scores to count as well: a list, or a sweep as text. The result holds their
        deltas in ``variants``.
    system : str, optional
        The name of the system. Deltas of systems with different names cannot be merged. With a name, the
        deltas also know a hash of the scores; without, only if the scores are not in memory.
    run : Run, optional
        How the pass runs; see :func:`~sedscope.evaluate`.
    **reading
        How what is not in memory is read; see :func:`~sedscope.evaluate`.

    Returns
    -------
    Deltas
        Add them up with :meth:`Deltas.counts`, merge them with those of other clips with
        :meth:`Deltas.merge`.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> sed.deltas(scores, truth, sed.Intersection(0.7, 0.7)).counts()["Dog"].tp.tolist()
    [1, 0]
    """
    if not isinstance(criterion, Criterion):
        raise SedscopeError(f"Not a criterion: {criterion!r}.")
    run = Run._of(run, "Counting", "engine", "scheduler", "checkpoint")
    request = DeltaRequest(variants=as_postprocessings(postprocessing))
    scores, truth = as_scores(scores, truth, classes, coverage, reading)
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing, coverage=coverage)
    # to read files takes much longer than to hash them; to read arrays does not
    alignment = replace(alignment, hashed=system is not None or not scores.in_memory)
    with run._open_engine() as opened:
        by_criterion = find_deltas(alignment, {criterion: request}, opened, run._steps)
    of_criterion = by_criterion[criterion]
    return of_criterion if system is None else of_criterion.of_system(system)


def deltas_and_notes(
    alignment: Alignment, requests: Requests, run: Run
) -> tuple[dict[Criterion, Deltas], list[str]]:
    """Find the deltas of several criteria, and note what a user should know about the input."""
    sample = TimeSample(alignment)
    with run._open_engine() as opened:
        by_criterion = find_deltas(sample.alignment, requests, opened, run._steps)
    return by_criterion, input_notes(alignment, by_criterion, sample)
