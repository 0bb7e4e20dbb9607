"""``sedscope diagnose``, ``errors`` and ``latency``: a system at chosen thresholds, event by event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer

from ..errors import SedscopeError
from .options.arguments import GROUND_TRUTH, JSON, SCORES, collected_warnings, postprocess
from .options.engines import ThreadOptions
from .options.groups import argument, option, output_option
from .options.inputs import InputOptions
from .options.outputs import (
    PICTURES,
    POINTS_FILE,
    TABLES,
    THRESHOLD,
    BoxOptions,
    LatexOptions,
    check_tables,
    read_points,
    show_result,
    with_postprocess,
    write_event_list,
    write_picture,
    write_tables,
)

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..diagnosis import ErrorList
    from ..io.locations import Location
    from ..tabular import TabularResult

_BEST_THRESHOLDS = (
    "One threshold for all classes. [default: without --points, that of the best F-score of each class on "
    "these clips]"
)
_BEST_NOTE = "Errors are those at the best F-score of each class on these clips."


def diagnose(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    inputs: InputOptions,
    threads: ThreadOptions,
    latex: LatexOptions,
    points: Path | None = POINTS_FILE,
    threshold: float | None = option(None, _BEST_THRESHOLDS),
    criterion: str = option("Collar()", "Which references are found, and which detections are true."),
    worst: int | None = option(None, "Show this many clips instead, those with the most errors.", min=1),
    confusions: bool = option(False, "Show the confusion matrix instead: class detected × present."),
    json: str | None = JSON,
    output: list[Path] | None = TABLES,
) -> None:
    """Count the error types of each class, list the worst clips, or show the confusion matrix."""
    from .. import Run
    from .. import diagnose as diagnose_system
    from ..criteria import parse_criterion

    if worst is not None and confusions:
        raise SedscopeError("Give either --worst or --confusions.")
    check_tables(output, latex)
    if worst is None and not confusions and any(path.suffix in PICTURES for path in output or ()):
        raise SedscopeError("There are pictures of --worst and --confusions. Give one of them.")
    judge = parse_criterion(criterion)
    chosen = _system_at_thresholds(scores, ground_truth, inputs, points, threshold, "diagnose")
    diagnosis = diagnose_system(
        *chosen.data, judge, chosen.thresholds, **chosen.selection, run=Run(threads=threads.threads)
    )
    result: TabularResult = diagnosis
    if worst is not None:
        result = diagnosis.worst_clips(worst)
    elif confusions:
        result = diagnosis.confusions()
    write_tables(result, output, latex)
    show_result(result, chosen.notes, json)


_ERRORS = output_option(
    None,
    "File for the list: .csv has all columns. Other names select a format of events, as for "
    "'sedscope detect'; a folder holds tables of Raven, one per recording.",
    "either",
)


def errors(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    inputs: InputOptions,
    threads: ThreadOptions,
    box_options: BoxOptions,
    points: Path | None = POINTS_FILE,
    threshold: float | None = option(None, _BEST_THRESHOLDS),
    criterion: str = option("Collar()", "Which references are found, and which detections are true."),
    order: Literal["score", "time", "suspicion"] = option(
        "score",
        "Which errors come first: those with the highest score, in order of time, or those where "
        "the annotation is probably wrong.",
    ),
    suspected: bool = option(
        False,
        "List suspected annotation errors instead: overlooked events, swapped labels and misplaced "
        "references. They need no thresholds.",
    ),
    also: list[Path] | None = option(
        None, "Another system to suspect annotations by. Repeat the option for several."
    ),
    json: str | None = JSON,
    output: Path | None = _ERRORS,
) -> None:
    """List every event that is false, missed, wrongly bounded or a cross-trigger, to listen to them."""
    from ..io.side_tables import load_durations

    if also and not suspected and order != "suspicion":
        raise SedscopeError("--also is for suspected annotation errors: give --suspected as well.")
    if suspected and (points is not None or threshold is not None):
        raise SedscopeError("--suspected looks at all scores: leave out --points and --threshold.")
    chosen = _system_at_thresholds(scores, ground_truth, inputs, points, threshold, "errors")
    if suspected:
        chosen = chosen._replace(notes=[note for note in chosen.notes if note != _BEST_NOTE])
        listed = _suspected(chosen, inputs, also)
    else:
        listed = _listed(chosen, criterion, "time" if order == "time" else "score", threads.threads)
        if order == "suspicion":
            listed = listed.most_suspicious_first(_suspected(chosen, inputs, also))
    if output is not None and output.suffix == ".csv":
        listed.to_csv(output)
    elif output is not None:
        durations = load_durations(inputs.durations)
        chosen.notes.extend(write_event_list(listed.events(), output, durations, box_options.boxes()))
    show_result(listed, chosen.notes, json)


def _listed(
    chosen: _AtThresholds, criterion: str, order: Literal["score", "time"], threads: int | None
) -> ErrorList:
    from .. import Run
    from ..criteria import parse_criterion
    from ..diagnosis import list_errors

    at_points = (*chosen.data, parse_criterion(criterion), chosen.thresholds)
    return list_errors(*at_points, order=order, **chosen.selection, run=Run(threads=threads))


def _suspected(chosen: _AtThresholds, inputs: InputOptions, also: Sequence[Path] | None) -> ErrorList:
    """Return suspected annotation errors. ``also``: other systems to suspect them by."""
    from ..diagnosis import suspected_annotations

    scores, truth = chosen.data
    others = [
        postprocess(inputs.read_scores(path, truth, "errors"), inputs.postprocess) for path in also or ()
    ]
    return suspected_annotations([scores, *others], truth, **chosen.selection)


def errors_apply(
    *,
    edited: Path = argument(
        "List of errors with answers: add, replace, remove or no. A table that 'sedscope errors' "
        "wrote, or a file or folder of Raven or Audacity."
    ),
    ground_truth: Path = GROUND_TRUTH,
    inputs: InputOptions,
    output: Path = output_option(..., "File for the corrected reference events.", "either"),
    changes: Path | None = option(None, "File for the list of changes (.csv).", writes="file"),
    system: Path | None = option(None, "System to evaluate before and after the corrections."),
    metric: list[str] | None = option(
        None, "What to measure of the system. Repeat the option for several metrics."
    ),
) -> None:
    """Correct reference events as an edited list of errors says.

    The corrections apply to the ground truth as its file spells it, before any label map.
    """
    from ..diagnosis import apply_corrections, read_corrections
    from ..io.event_files import event_format_of_name, read_truth, write_ground_truth

    if metric and system is None:
        raise SedscopeError("--metric needs a system to measure: give --system.")
    reading = replace(
        inputs.truth_reading(), overlaps="keep", ignored=None, ignored_labels=(), label_map=None
    )
    corrected = apply_corrections(read_truth(ground_truth, reading), read_corrections(edited))
    write_ground_truth(corrected.truth, output, format=event_format_of_name(output), lossy=True)
    typer.echo(corrected.table())
    if changes is not None:
        corrected.to_csv(changes)
    if system is not None:
        after = replace(inputs, truth_format=None, columns=None, label=None, truth_confidence=None)
        typer.echo(f"\n{_before_and_after(system, (ground_truth, inputs), (output, after), metric)}")


def _before_and_after(
    system: Location,
    before: tuple[Location, InputOptions],
    after: tuple[Location, InputOptions],
    metrics: Sequence[str] | None,
) -> str:
    """Measure a system by two files of reference events, each with the options to read it."""
    from .. import evaluate
    from ..metrics.names import name_pairs, parse_named_metric
    from ..results.text import ruled_text

    named = None if metrics is None else name_pairs(map(parse_named_metric, metrics))
    columns = []
    for truth_path, inputs in (before, after):
        truth = inputs.read_truth(truth_path)
        scores = postprocess(inputs.read_scores(system, truth, "errors apply"), inputs.postprocess)
        result = evaluate(scores, truth, named, **inputs.selection(scores.classes))
        columns.append({result.names[metric]: result[metric].value for metric in result})
    rows = [[name, *(f"{values[name]:.4f}" for values in columns)] for name in columns[0]]
    return ruled_text([["metric", "before", "after"], *rows])


def latency(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    inputs: InputOptions,
    threads: ThreadOptions,
    points: Path | None = POINTS_FILE,
    threshold: float | None = THRESHOLD,
    criterion: str = option(
        "Alarm(cooldown=60, before=0, after=2)", "When alarms are raised and references are found."
    ),
    json: str | None = JSON,
    output: Path | None = output_option(
        None,
        "File for a picture (png, svg, pdf): the share of references with an alarm over the time "
        "since their onset.",
    ),
) -> None:
    """Measure how long after its onset the first alarm for each reference comes.

    The percentiles are those of the references that are found; read the share that is found beside them.
    """
    from .. import Run, alarm_latencies
    from ..criteria import parse_criterion

    if output is not None and output.suffix.lower() not in PICTURES:
        raise SedscopeError(
            f"-o {output}: the name of a picture ends in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}."
        )
    alarm = parse_criterion(criterion)
    chosen = _system_at_thresholds(scores, ground_truth, inputs, points, threshold, "latency")
    result = alarm_latencies(
        *chosen.data, alarm, chosen.thresholds, **chosen.selection, run=Run(threads=threads.threads)
    )
    if output is not None:
        write_picture(result, output)
    show_result(result, chosen.notes, json)


class _AtThresholds(NamedTuple):
    """What is diagnosed, and where."""

    data: tuple[Scores, GroundTruth]
    thresholds: Any
    selection: dict[str, Any]
    notes: list[str]


def _system_at_thresholds(
    scores: Location,
    ground_truth: Location,
    inputs: InputOptions,
    points: Path | None,
    threshold: float | None,
    command: str,
) -> _AtThresholds:
    """Read and post-process a system, and return the threshold of all classes or those of the points."""
    from ..evaluation.operating_point import points_notes

    both = points is not None and threshold is not None
    if both or (command == "latency" and points is None and threshold is None):
        raise SedscopeError("Give either --points or --threshold.")
    operating_points = None if points is None else read_points(points, inputs.postprocess)
    with collected_warnings() as notes:
        truth = inputs.read_truth(ground_truth)
        system = inputs.read_scores(scores, truth, command)
    operating_points = with_postprocess(operating_points, inputs.postprocess, system.classes)
    if operating_points is not None:
        system = operating_points.process(system)
        notes += points_notes(operating_points, system)
    selection = inputs.selection(system.classes)
    if points is None:
        if threshold is None:
            notes.append(_BEST_NOTE)
        return _AtThresholds((system, truth), threshold, selection, notes)
    assert operating_points is not None
    evaluated = system.classes if selection["classes"] is None else selection["classes"]
    thresholds = operating_points.thresholds
    if not thresholds:
        raise SedscopeError(f"{points} has no thresholds. Give one for all classes (--threshold).")
    at_points = {label: thresholds[label] for label in evaluated if label in thresholds}
    return _AtThresholds((system, truth), at_points, selection, notes)
