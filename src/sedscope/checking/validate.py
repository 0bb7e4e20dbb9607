"""``validate``: everything that is wrong or unusual about scores and ground truth, all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..alignment.alignment import choose_classes, choose_clips
from ..alignment.regions import trimmed
from ..criteria import Clip, Onset
from ..data.choices import ClipChoice, Coverage, Missing
from ..data.clips import clip_id
from ..data.event_table import confidence_condition
from ..data.ground_truth import GroundTruth, as_ignored_labels
from ..data.labels import stripped
from ..data.scored_events import ScoredEvents
from ..data.scores import Scores
from ..engines.run import Run
from ..errors import SedscopeError
from ..evaluation.evaluate import deltas
from ..evaluation.inputs import Reading, SystemLike, TruthLike, refuse_unknown, require_scores
from ..io.event_files import TruthReading, read_truth
from ..io.locations import Address, input_location
from ..io.systems import SystemReading, read_system
from .checks import (
    EventTimes,
    check_labels,
    check_late_events,
    check_reference_times,
    check_references,
    check_scores,
    check_time_unit,
    check_times,
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

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
    chosen = {*scores} if clips is None or isinstance(clips, str) else {*map(clip_id, clips)}
    chosen = {clip for clip in chosen if clip in listed or missing == "empty"}
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

_COMPARED = 1000  # clips whose references are compared with their scores


def validate(
    scores: SystemLike | None = None,
    truth: TruthLike | None = None,
    *,
    classes: Sequence[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    run: Run | None = None,
    **reading: Unpack[Reading],
) -> Validation:
    """Check scores and ground truth, and report everything that is wrong or unusual at once.

    What :func:`~sedscope.evaluate` refuses is an error here, too.

    Parameters
    ----------
    scores, truth
        The system and the reference events; see :func:`~sedscope.evaluate`. Without scores, only the ground
        truth is checked: ``sed.validate(truth="truth.tsv")``.
    classes : sequence of str, optional
        The classes to evaluate. By default, all classes of the scores.
    clips : iterable of str or "scored", optional
        The clips to evaluate, or ``"scored"`` for all clips that have scores. Without it, scores and
        ground truth must have the same clips.
    missing : {"error", "empty"}
        Whether clips that the ground truth does not list are an error, or clips without events.
    coverage : {"error", "trim", "any"}
        Whether scores that end long before or after most of their clips are an error, are cut to the
        durations first, or are accepted.
    run : Run, optional
        How it runs: on how many threads.
    **reading
        How scores and ground truth are read; see :func:`~sedscope.evaluate`. Of scores in memory, chunks are
        stitched and labels renamed; of ground truth in memory, only ``invalid`` and ``label_map`` apply.

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
    refuse_unknown(reading)
    of_system = reading.get("system_reading") or SystemReading()
    if reading.get("frame") is not None:
        of_system = replace(of_system, frame=reading["frame"])
    of_truth = reading.get("truth_reading") or TruthReading()
    if reading.get("durations") is not None:
        of_truth = replace(of_truth, durations=reading["durations"])
    of_truth = replace(of_truth, ignored_labels=as_ignored_labels(of_truth.ignored_labels))
    stated_durations = read_stated_durations(of_truth.durations, findings)
    checked = _CheckedTruth()
    if isinstance(truth, GroundTruth):
        of_truth._require_only("invalid", "overlaps", "label_map")
        checked = _truth_in_memory(truth, of_truth, findings)
    elif truth is not None and not isinstance(truth, (str, Path, Address)):
        with findings.adding_warnings():
            try:
                made = read_truth(truth, of_truth)
                checked = _truth_in_memory(made, TruthReading(invalid=of_truth.invalid), findings)
            except SedscopeError as error:
                findings.add_failure("ground-truth", error)
    elif truth is not None:
        options, format = of_truth._options(), of_truth.format
        limit = None if of_truth.confidence is None else confidence_condition(of_truth.confidence)
        table = read_usable_events(truth, format, options, stated_durations, findings, limit=limit)
        if table is not None and of_truth.ignored is not None:
            others = read_usable_events(of_truth.ignored, format, options, stated_durations, findings)
            table = table if others is None else table.with_ignored(others)
        if table is not None:
            checked = _CheckedTruth(
                usable_truth(table, stated_durations, of_truth, findings),
                event_times(table, of_truth),
                partial(exact_truth, table, stated_durations, of_truth),
            )
    references = checked.truth
    chosen = clips if clips is None or isinstance(clips, str) else list(clips)
    classes = None if classes is None else stripped(classes)
    system: Scores | None = None
    if isinstance(scores, Scores):
        system = of_system._as_read(scores)
    elif scores is not None and not isinstance(scores, (str, Path, Address)):
        with findings.adding_warnings():
            try:
                made_of = references or GroundTruth.from_dict({})
                system = require_scores(
                    read_system(scores, made_of, of_system, classes=classes), scores, "this check"
                )
            except SedscopeError as error:
                findings.add_failure("scores", error)
    elif scores is not None:
        with findings.adding_warnings():
            system = read_usable_scores(input_location(scores), references, of_system, findings)
    if coverage == "trim" and system is not None and references is not None:
        system = trimmed(system, references)
    threads = Run._of(run, "Validating").threads
    with findings.adding_warnings():
        survey = (
            None if system is None else survey_scores(system, _compared(system, references), threads)
        )
    if survey is not None:
        check_scores(survey, findings)
    elif references is not None:
        check_labels(references, findings)
    times, as_evaluated = checked.times, checked.as_evaluated
    if references is not None and times is not None and survey is not None and system is not None:
        choose_clips(system, references, chosen, missing, findings)
        choose_classes(system, references, classes, findings)
        check_references(system, references, classes, findings)
        if references.durations is None:
            check_late_events(survey, references, of_truth.invalid, findings)
        check_time_unit(times, survey, references, findings)
        check_times(system, survey, references, times, coverage, findings)
        if as_evaluated is not None and not findings.has_errors:
            choice = {"classes": classes, "clips": chosen, "missing": missing, "coverage": coverage}
            _check_as_evaluated(system, as_evaluated, choice, threads, findings)
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


def _compared(scores: Scores, truth: GroundTruth | None) -> set[str]:
    """Return the clips whose references are compared with their scores, evenly spaced."""
    listed = set(() if truth is None else truth.clips)
    clips = [clip for clip in scores if clip in listed]
    return {clips[i] for i in np.linspace(0, len(clips) - 1, min(_COMPARED, len(clips))).astype(int)}


def _truth_in_memory(truth: GroundTruth, reading: TruthReading, findings: Findings) -> _CheckedTruth:
    truth = reading._as_read(truth)
    findings.add_notes("ground-truth", truth.warnings)
    times = EventTimes(
        [truth.clips[i] for i in truth.event_clips],
        truth.names_of(np.arange(len(truth))),
        truth.onsets,
        truth.offsets,
    )
    return _CheckedTruth(truth, times, lambda: truth)


def _check_as_evaluated(
    scores: Scores,
    make_truth: Callable[[], GroundTruth],
    choice: Mapping[str, Any],
    threads: int | None,
    findings: Findings,
) -> None:
    """Take the steps of an evaluation, with a criterion that is quick, to find what else it refuses.

    References that overlap and are kept need a criterion that pairs events, and points in time one that
    judges them. ``choice``: what to evaluate, as options of :func:`~sedscope.deltas`.
    """
    try:
        truth = make_truth()
        points = scores.holds_events or bool((truth.onsets == truth.offsets).any())
        criterion = Onset() if points or truth.overlaps == "keep" else Clip()
        deltas(scores, truth, criterion, **choice, run=Run(threads))
    except SedscopeError as error:
        findings.add_failure("evaluation", error)
