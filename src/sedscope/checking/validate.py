"""``validate``: everything that is wrong or unusual about scores and ground truth, all at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ..criteria import Clip, Onset
from ..data.choices import (
    ClipChoice,
    Coverage,
    EventOverlaps,
    Gaps,
    Invalid,
    Missing,
    Overlaps,
    truth_overlaps,
)
from ..data.chunks import Chunks, Unit
from ..data.clip_events import ClipEvents
from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth
from ..data.ignored_references import ConfidenceLimit, as_ignored_labels
from ..data.label_maps import LabelMap, LabelMapLike, as_label_map
from ..data.labels import stripped
from ..data.recordings import ClipPieces
from ..data.scored_events import ScoredEvents
from ..data.scores import ClipScores, Scores
from ..engines.run import Run
from ..errors import SedscopeError
from ..evaluation.deltas import deltas
from ..io.events.source import EventReadOptions
from ..io.locations import Location, input_location
from .checks import (
    EventTimes,
    check_labels,
    check_reference_times,
    check_scores,
    check_scores_and_truth,
    check_time_unit,
    check_times,
    chosen_clips,
    truth_durations,
)
from .findings import Finding, Findings, SummaryValue, Validation
from .survey import Survey, survey_scores
from .usable_files import (
    event_times,
    exact_truth,
    read_stated_durations,
    read_usable_events,
    read_usable_scores,
    usable_truth,
)


def summarize(
    scores: Scores | None,
    survey: Survey | None,
    truth: GroundTruth | None,
    classes: Sequence[str] | None,
    clips: ClipChoice,
    missing: Missing,
) -> dict[str, SummaryValue]:
    """Say what would be evaluated."""
    summary: dict[str, SummaryValue] = {}
    if truth is not None:
        summary |= {
            "listed clips": len(truth.clips),
            "reference events": int(np.count_nonzero(~truth.ignored)),
        }
        if truth.ignored.any():
            summary["ignored references"] = int(np.count_nonzero(truth.ignored))
    if scores is None or survey is None:
        return summary
    evaluated_classes = list(classes or scores.classes)
    scored = len(scores) - len(scores.assumed_clips)
    summary["scored clips"] = scored
    if isinstance(scores, ScoredEvents):
        summary |= {"scored events": survey.events, "classes": evaluated_classes}
    else:
        summary |= {"frames": sum(survey.frames.values()), "classes": evaluated_classes}
        summary["types"] = sorted(survey.types)
    if truth is None:
        return summary
    durations, listed = truth_durations(truth), set(truth.clips)
    chosen = {clip for clip in chosen_clips(scores, clips) if clip in listed or missing == "empty"}
    evaluated = [clip for clip in scores if clip in chosen]
    has_scores = np.array([clip in chosen and clip in scores for clip in truth.clips], bool)[
        truth.event_clips
    ]
    names = (*truth.labels, *truth.ignored_labels)
    has_class = np.array([label in evaluated_classes for label in names], bool)[truth.event_labels]
    ticks = sum(durations.get(clip, survey.ends.get(clip, 0)) for clip in evaluated)
    summary |= {
        "evaluated clips": len(evaluated),
        "evaluated hours": round(ticks / 3.6e9, 4),
        "evaluated events": int((has_scores & has_class & ~truth.ignored).sum()),
    }
    return summary


__all__ = ["Finding", "Validation", "validate"]

_ROOM = 2**30  # bytes of scores that are kept for the second look at them


def validate(
    scores: Scores | str | Location | None = None,
    truth: GroundTruth | str | Location | None = None,
    *,
    durations: str | Location | Mapping[str, float] | None = None,
    classes: Sequence[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    invalid: Invalid = "error",
    overlaps: EventOverlaps = "error",
    gaps: Gaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    confidence: str | None = None,
    ignored: str | Location | None = None,
    ignored_labels: Iterable[str] = (),
    scores_format: str | None = None,
    scores_columns: Mapping[str, str] | None = None,
    stitch: Chunks | Literal[False] = False,
    unit: Unit = "seconds",
    system_map: LabelMapLike | None = None,
    truth_map: LabelMapLike | None = None,
    run: Run | None = None,
) -> Validation:
    """Check scores and ground truth, and report everything that is wrong or unusual at once.

    What :func:`~sedscope.evaluate` refuses is an error here, too.

    Parameters
    ----------
    scores : Scores, str or Path, optional
        The scores of a system, or where to read them. Without them, only the ground truth is checked:
        ``sed.validate(truth="truth.tsv")``.
    truth : GroundTruth, str or Path, optional
        The reference events, or where to read them.
    durations : mapping of str to float, str or Path, optional
        The duration of each clip in seconds, or the file that states them. Only for ground truth that
        is read from a file.
    classes : sequence of str, optional
        The classes to evaluate. By default, all classes of the scores.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores. Without it, scores and
        ground truth must have the same clips.
    missing : {"error", "empty"}
        Whether clips that the ground truth does not list are an error, or clips without events.
    coverage : {"error", "any"}
        Whether scores that end long before or after most of their clips are an error or are accepted.
    invalid : {"error", "drop"}
        Whether events that end before they begin, or begin before or after their clip, are an error or are
        dropped. Events of no length are dropped with them.
    overlaps : {"error", "merge", "keep", "average"}
        Whether overlapping events of one class are an error, are merged, or are kept as they are.
        ``"average"`` averages detections that are windows, see :meth:`sedscope.Scores.from_events`, and
        refuses reference events that overlap.
    gaps : {"error", "silent"}
        Whether gaps between frames of score tables, and between chunks, are an error, or frames in which
        nothing is active.
    format : str, optional
        The format of the ground truth, as in :func:`sedscope.read_ground_truth`.
    columns : mapping of str to str, optional
        The names of the columns of the ground truth, as in :func:`sedscope.read_ground_truth`.
    label : str, optional
        The label of events that have none, and of all speakers of RTTM files.
    confidence : str, optional
        Which events are references, as in :func:`sedscope.read_ground_truth`.
    ignored : str or Path, optional
        The file of ignored references, as in :func:`sedscope.read_ground_truth`.
    ignored_labels : iterable of str, optional
        Labels of events that are ignored for every class.
    scores_format : str, optional
        The format of the scores, as in :func:`sedscope.read_scores`.
    scores_columns : mapping of str to str, optional
        The names of the columns of a list of detections, as in :func:`sedscope.read_events`.
    stitch : optional
        How to join the scores of recordings that were cut into chunks, as in
        :func:`sedscope.read_scores`.
    unit : str, default "seconds"
        The unit of the chunks' positions.
    system_map, truth_map : LabelMap or mapping from str to str or None, optional
        New labels of the scores and of the ground truth, see :meth:`sedscope.Scores.relabelled`.
    run : Run, optional
        How it runs: on how many threads.

    Returns
    -------
    Validation
        The findings and a summary. An option that permits a problem turns its error into a warning.

    Raises
    ------
    SedscopeError
        If an option does not fit the others. Problems of the data are findings.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.GroundTruth.from_dict({"a": [(0, 1, "Dog")]}, durations={"a": 2})
    >>> scores = sed.Scores.from_arrays({"a": [[0.1], [0.1]]}, classes=["Dog"], frame=1.0)
    >>> for finding in sed.validate(scores, truth).findings:
    ...     print(finding)
    warning: 1 class has the same score in every frame: Dog.
    """
    if scores is None and truth is None:
        raise SedscopeError("There is nothing to check. Give scores, ground truth, or both.")
    findings = Findings()
    stated_durations = read_stated_durations(durations, findings)
    system_labels = None if system_map is None else as_label_map(system_map)
    truth_labels = None if truth_map is None else as_label_map(truth_map)
    checked = _CheckedTruth()
    if isinstance(truth, GroundTruth):
        file_options = (durations, format, columns, label, confidence, ignored)
        if any(option is not None for option in (*file_options, tuple(ignored_labels) or None)):
            raise SedscopeError(
                "durations, format, columns, label, confidence, ignored and ignored_labels only apply to "
                "ground truth read from a file."
            )
        checked = _truth_in_memory(truth, truth_labels, findings)
    elif truth is not None:
        options = EventReadOptions(columns or {}, label, side="truth")
        limit = None if confidence is None else ConfidenceLimit.parse(confidence)
        everywhere = as_ignored_labels(ignored_labels)
        table = read_usable_events(truth, format, options, stated_durations, findings, limit=limit)
        if table is not None and ignored is not None:
            others = read_usable_events(ignored, format, options, stated_durations, findings)
            table = table if others is None else table.with_ignored(others)
        if table is not None:
            checked = _truth_from_table(
                table,
                stated_durations,
                invalid,
                truth_overlaps(overlaps),
                everywhere,
                truth_labels,
                findings,
            )
    references = checked.truth
    chosen = clips if clips is None or isinstance(clips, str) else list(clips)
    classes = None if classes is None else stripped(classes)
    system: Scores | None = None
    if isinstance(scores, Scores):
        system = scores if stitch is False else scores.stitch(stitch, unit=unit, gaps=gaps)
        system = system if system_labels is None else system.relabelled(system_labels)
    elif scores is not None:
        with findings.adding_warnings():
            system = read_usable_scores(
                input_location(scores),
                references,
                overlaps,
                gaps,
                scores_format,
                EventReadOptions(scores_columns or {}, label, side="system"),
                stitch,
                unit,
                system_labels,
                findings,
            )
    threads = Run._of(run, "Validating").threads
    system = None if system is None else _kept_in_memory(system)
    with findings.adding_warnings():
        survey = None if system is None else survey_scores(system, threads)
    if survey is not None:
        check_scores(survey, findings)
    elif references is not None:
        check_labels(references, findings)
    times, as_evaluated = checked.times, checked.as_evaluated
    if references is not None and times is not None and survey is not None and system is not None:
        check_scores_and_truth(system, survey, references, classes, chosen, missing, invalid, findings)
        check_time_unit(times, survey, references, findings)
        check_times(system, references, times, coverage, findings, threads)
        if as_evaluated is not None and not findings.has_errors:
            _check_as_evaluated(
                system, as_evaluated, classes, chosen, missing, coverage, threads, findings
            )
    if references is not None:
        check_reference_times(references, findings, None if survey is None else survey.ends)
    summary = summarize(system, survey, references, classes, chosen, missing)
    return Validation(findings.errors_first(), summary)


@dataclass(frozen=True)
class _CheckedTruth:
    """What can be used of the ground truth; nothing if there is none."""

    truth: GroundTruth | None = None
    times: EventTimes | None = None
    """The times of all events, usable or not."""
    as_evaluated: Callable[[], GroundTruth] | None = None
    """Makes the ground truth as an evaluation does, and raises the errors that it raises."""


def _truth_in_memory(
    truth: GroundTruth, label_map: LabelMap | None, findings: Findings
) -> _CheckedTruth:
    truth = truth if label_map is None else truth.relabelled(label_map)
    for note in truth.warnings:
        findings.add("warning", "ground-truth", note)
    times = EventTimes(
        [truth.clips[i] for i in truth.event_clips],
        truth.names_of(np.arange(len(truth))),
        truth.onsets,
        truth.offsets,
    )
    return _CheckedTruth(truth, times, lambda: truth)


def _truth_from_table(
    table: EventTable,
    durations: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
    ignored_labels: Collection[str],
    label_map: LabelMap | None,
    findings: Findings,
) -> _CheckedTruth:
    new_labels = LabelMap({}) if label_map is None else label_map
    truth = usable_truth(table, durations, invalid, overlaps, ignored_labels, findings)
    if truth is not None and label_map is not None:
        truth = truth.relabelled(label_map)
    return _CheckedTruth(
        truth,
        event_times(table, new_labels),
        partial(exact_truth, table, durations, invalid, overlaps, ignored_labels, new_labels),
    )


def _check_as_evaluated(
    scores: Scores,
    make_truth: Callable[[], GroundTruth],
    classes: Sequence[str] | None,
    clips: ClipChoice,
    missing: Missing,
    coverage: Coverage,
    threads: int | None,
    findings: Findings,
) -> None:
    """Take the steps of an evaluation, with a criterion that is quick, to find what else it refuses.

    References that overlap and are kept need a criterion that pairs events, and points in time one that
    judges them.
    """
    try:
        truth = make_truth()
        points = scores.holds_events or bool((truth.onsets == truth.offsets).any())
        deltas(
            scores,
            truth,
            Onset() if points or truth.overlaps == "keep" else Clip(),
            classes=classes,
            clips=clips,
            missing=missing,
            coverage=coverage,
            run=Run(threads),
        )
    except SedscopeError as error:
        findings.add_failure("evaluation", error)


def _kept_in_memory(scores: Scores) -> Scores:
    """Keep clips that are read once for the second time, as far as there is room."""
    if scores.in_memory:
        return scores
    kept: dict[str, ClipScores] = {}
    room = [_ROOM]

    def load(clip: str) -> ClipScores | ClipPieces | ClipEvents:
        if clip in kept:
            return kept[clip]
        opened = scores.open(clip)
        if isinstance(opened, ClipScores):
            room[0] -= opened.values.nbytes + opened.ticks.nbytes
            if room[0] > 0:
                kept[clip] = opened
        return opened

    return scores.loaded_by(load)
