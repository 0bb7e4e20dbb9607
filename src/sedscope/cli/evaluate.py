"""``sedscope evaluate`` and ``sedscope report``: from files to a table of metrics, or to a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..engines.run import Run
from ..errors import SedscopeError, counted, listing
from .options.arguments import (
    GROUND_TRUTH,
    JSON,
    SCORES,
    collected_warnings,
    counting_progress,
    system_name,
)
from .options.engines import AnnouncedRun, EngineOptions, MemoryOptions
from .options.groups import argument, option, options_given, output_option
from .options.inputs import InputOptions
from .options.outputs import (
    POINTS,
    TABLES,
    LatexOptions,
    check_tables,
    read_points,
    show_result,
    with_postprocess,
    write_tables,
)
from .options.results import GroupOptions, IntervalOptions, MetricOptions, ReportOptions
from .requirements import JUNIT, Requirement, conclude
from .tasks import DATA, TASK, refuse_with_task, submission_and_truth

if TYPE_CHECKING:
    from ..evaluation.result import Evaluation
    from ..io.locations import Location
    from ..resampling.resampling import Resampling
    from ..tasks.task_evaluation import TaskEvaluation


def evaluate(
    *,
    paths: list[Path] = argument(
        "Scores or detections in any format that 'sedscope formats' lists, or a folder of files "
        "of detections named by their thresholds; then the reference events. With --deltas: files "
        "that 'sedscope deltas' wrote. With --task and --data: a submission.",
        metavar="SCORES GROUND_TRUTH",
    ),
    inputs: InputOptions,
    metric_options: MetricOptions,
    intervals: IntervalOptions,
    groups: GroupOptions,
    report_options: ReportOptions,
    engine: EngineOptions,
    memory: MemoryOptions,
    latex: LatexOptions,
    task: str | None = TASK,
    data: Path | None = DATA,
    points: Path | None = POINTS,
    deltas: bool = option(False, "Evaluate files that 'sedscope deltas' wrote, all together."),
    json: str | None = JSON,
    output: list[Path] | None = TABLES,
    report: Path | None = option(
        None, "Also write an HTML report to this file; see 'sedscope report'.", writes="file"
    ),
    require: list[str] | None = option(
        None,
        'Requirement, e.g. "psds1 >= 0.4": the exit status is 1 if it is not met. Repeat the option '
        "to add more.",
    ),
    junit: Path | None = JUNIT,
) -> None:
    """Evaluate scores or detections against reference events."""
    from ..evaluation.result import Evaluation

    requirements = [Requirement.parse(text) for text in require or ()]
    if task is not None and requirements:
        raise SedscopeError("--require cannot be combined with --task.")
    if junit is not None and not requirements:
        raise SedscopeError("--junit writes which requirements are met. Give some (--require).")
    report_options.refuse_without(report)
    shown = report_options.arguments()
    check_tables(output, latex)
    resampling = intervals.resampling()
    keep_scores = report is not None
    result: Evaluation | TaskEvaluation
    if task is not None:
        refuse_with_task(inputs, metric_options, groups, points=points, deltas=deltas)
        result = _evaluate_task(
            task, paths, data, inputs.durations, resampling, engine, memory, keep_scores=keep_scores
        )
    elif data is not None:
        raise SedscopeError("--data is the folder of the data sets of a task. Give the task (--task).")
    elif deltas:
        scored = {"points": points, "report": report, "by_length": groups.by_length}
        _refuse_with_deltas(options_given(inputs, engine, memory, **scored))
        from .. import evaluate_deltas
        from ..counting.delta_files import merge_files

        with collected_warnings() as notes:
            merged = merge_files(paths)
        metrics, by = metric_options.metrics(), groups.groups()
        with counting_progress(resampling=True) as progress:
            run = Run(engine.threads, progress=progress)
            result = evaluate_deltas(merged, metrics, resampling=resampling, by=by, run=run)
        result = replace(result, warnings=(*notes, *result.warnings))
    else:
        scores, truth = _scores_and_truth(paths)
        options = (inputs, metric_options, resampling, engine, memory, groups)
        result = _evaluate_system(scores, truth, *options, points=points, keep_scores=keep_scores)
    write_tables(result, output, latex)
    _show(result, json, points)  # before the report, so that values are not lost if that is refused
    if report is not None:
        [evaluation] = [result] if isinstance(result, Evaluation) else result.datasets.values()
        evaluation.report(report, name=system_name(paths[0]), **shown, run=engine.run())
    memory.print_peak()
    if report is not None and json != "-":
        typer.echo(f"\nreport: {report}")
    if isinstance(result, Evaluation):
        conclude([requirement.outcome(result) for requirement in requirements], junit)


def _evaluate_system(
    path: Location,
    ground_truth: Location,
    inputs: InputOptions,
    metric_options: MetricOptions,
    resampling: Resampling | None,
    engine: EngineOptions,
    memory: MemoryOptions,
    groups: GroupOptions,
    *,
    points: Path | None = None,
    keep_scores: bool = False,
) -> Evaluation:
    """Read a system and the reference events, and evaluate.

    ``keep_scores``: keep scores in memory as far as there is room, for a report.
    """
    from .. import evaluate as evaluate_scores
    from ..evaluation.inputs import require_scores
    from ..evaluation.notes import event_list_notes

    operating_points = None if points is None else read_points(points, inputs.postprocess)
    metrics = metric_options.metrics(*([] if operating_points is None else [operating_points]))
    with collected_warnings() as notes:
        truth = inputs.read_truth(ground_truth)
        system = inputs.read_system(path, truth)
    grouped = groups.groups()
    if resampling is not None:
        from ..resampling.resampling import drawing_recordings

        resampling = drawing_recordings(resampling, truth)
    if operating_points is not None:
        system = require_scores(system, path, "--points")
    elif inputs.postprocess:
        system = require_scores(system, path, "--postprocess")
    for name in ["--bootstrap"] if resampling else groups.changed_options():
        system = require_scores(system, path, name)
    if isinstance(system, dict):
        with counting_progress():
            result = evaluate_scores(
                system,
                truth,
                metrics,
                system_reading=inputs.system_reading(),
                run=Run(threads=engine.threads),
                **inputs.selection(truth.labels),
            )
        return replace(result, warnings=(*notes, *result.warnings))
    operating_points = with_postprocess(operating_points, inputs.postprocess, system.classes)
    selection = inputs.selection(system.classes)
    with counting_progress(resampling=resampling is not None) as progress:
        run = engine.run(progress, memory.memory)
        if memory.verbose or (engine.engine == "threads" and resampling is None):
            run = AnnouncedRun(**vars(run), options=memory)
        if keep_scores:
            from ..data.score_cache import cached

            system = cached(system)
        result = evaluate_scores(
            system,
            truth,
            metrics,
            points=operating_points,
            resampling=resampling,
            by=grouped,
            **selection,
            run=run,
        )
    of_lists = event_list_notes(result.results, result.alignment)
    return replace(result, warnings=(*notes, *result.warnings, *of_lists))


def _show(
    result: Evaluation | TaskEvaluation, json: str | None = None, points: Path | None = None
) -> None:
    """Print what was evaluated and where, and the result."""
    from ..evaluation.result import Evaluation

    if json != "-" and isinstance(result, Evaluation):
        at_thresholds = result.points is not None and result.points.thresholds
        of_file = "at the operating points of" if at_thresholds else "with the post-processing of"
        where = "" if points is None else f", {of_file} {points}"
        typer.echo(f"{counted(result.clips, 'clip')}, {result.hours:.2f} hours{where}\n")
    show_result(result, result.warnings, json)


def _evaluate_task(
    name: str,
    paths: list[Path],
    data: Path | None,
    durations: Path | None,
    resampling: Resampling | None,
    engine: EngineOptions,
    memory: MemoryOptions,
    *,
    keep_scores: bool,
) -> TaskEvaluation:
    """Evaluate a submission on all data sets of a task. ``keep_scores``: there will be a report."""
    from ..tasks import evaluate_task, read_task

    task = read_task(name)
    if keep_scores and len(task.datasets) > 1:
        raise SedscopeError(
            f"A report shows one data set, but the task {task.name} has {len(task.datasets)}: "
            f"{listing([*task.datasets])}. Leave out --report, or copy the task and keep one data set."
        )
    submission, truth = submission_and_truth(paths, data)
    with counting_progress(resampling=resampling is not None) as progress:
        return evaluate_task(
            task,
            submission,
            data,
            truth=truth,
            durations=durations,
            resampling=resampling,
            keep_scores=keep_scores,
            run=engine.run(progress, memory.memory),
        )


def _scores_and_truth(paths: Sequence[Path]) -> tuple[Path, Path]:
    if len(paths) != 2:
        names = listing([str(path) for path in paths])
        raise SedscopeError(
            f"Give two paths, SCORES and GROUND_TRUTH, not {counted(len(paths), 'path')}: {names}."
        )
    return paths[0], paths[1]


def _refuse_with_deltas(options: Sequence[str]) -> None:
    """Refuse the options that need scores. ``options``: those that were given."""
    refused = sorted(option for option in options if option not in ("--threads", "--verbose"))
    if refused:
        raise SedscopeError(
            f"{listing(refused, limit=10)} cannot be combined with --deltas: files of deltas do not hold "
            "scores."
        )


def report(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    inputs: InputOptions,
    metric_options: MetricOptions,
    intervals: IntervalOptions,
    groups: GroupOptions,
    report_options: ReportOptions,
    engine: EngineOptions,
    points: Path | None = POINTS,
    output: Path = output_option(Path("report.html"), "HTML file to write."),
    name: str | None = option(None, "Name of the system. [default: that of its file or folder]"),
) -> None:
    """Write an HTML report of a system, which opens offline.

    It has curves, threshold sliders, an error analysis and a clip browser.
    """
    shown = report_options.arguments()
    result = _evaluate_system(
        scores,
        ground_truth,
        inputs,
        metric_options,
        intervals.resampling(),
        engine,
        MemoryOptions(),
        groups,
        points=points,
        keep_scores=True,
    )
    result.report(output, name=name or system_name(scores), **shown, run=engine.run())
    _show(result, points=points)
    typer.echo(f"\nreport: {output}")
