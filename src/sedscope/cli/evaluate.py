"""``sedscope evaluate``: from files to a table of metrics."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import SedscopeError, SedscopeWarning
from .options import (
    AudioOption,
    BalancedOption,
    ClassesOption,
    ClipsOption,
    ClipsShownOption,
    ConfidenceOption,
    DurationsOption,
    GroupsOption,
    IntervalOption,
    InvalidOption,
    MetricOption,
    MissingOption,
    OverlapsOption,
    PostprocessOption,
    PresetOption,
    ScoresArgument,
    SeedOption,
    ThreadsOption,
    TruthArgument,
    chosen_metrics,
    class_names,
    clip_choice,
    clips_to_show,
    processed,
    read_groups,
)


def evaluate(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    durations: DurationsOption = None,
    metric: MetricOption = None,
    preset: PresetOption = None,
    postprocess: PostprocessOption = None,
    points: Annotated[
        Path | None,
        typer.Option(
            help="Evaluate with these post-processings and thresholds, as 'sedscope tune' writes them"
        ),
    ] = None,
    bootstrap: Annotated[
        int | None, typer.Option(help="Add intervals from so many resamples of the clips, e.g. 1000")
    ] = None,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 0,
    interval: IntervalOption = "percentile",
    balanced: BalancedOption = False,
    groups: GroupsOption = None,
    classes: ClassesOption = None,
    clips: ClipsOption = None,
    missing: MissingOption = "error",
    invalid: InvalidOption = "error",
    overlaps: OverlapsOption = "error",
    threads: ThreadsOption = None,
    json: Annotated[
        str | None, typer.Option(help="Write the results to this file; '-': only JSON, to stdout")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this HTML file, see 'sedscope report'")
    ] = None,
    clips_shown: ClipsShownOption = "60",
    audio: AudioOption = None,
) -> None:
    """Evaluate a system's scores, or its detections, against reference events."""
    from .. import OperatingPoints, Resampling, evaluate_sets, read_ground_truth
    from .. import evaluate as evaluate_scores
    from ..report.reading import remembered
    from .progress import progress_bar
    from .systems import read_system, require_scores

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    to_show = clips_to_show(clips_shown)
    if audio is not None and report is None:
        raise SedscopeError("--audio is for the report: give --report FILE, too")
    metrics = chosen_metrics(metric, preset)
    resampling = None
    if bootstrap is not None:
        of_clips = read_groups(groups)
        resampling = Resampling(bootstrap, confidence, seed, interval, balanced, of_clips)
    truth = read_ground_truth(ground_truth, durations=durations, invalid=invalid, overlaps=overlaps)
    system = read_system(scores, truth, overlaps)
    if postprocess:
        system = processed(require_scores(system, scores, "--postprocess"), postprocess)
    if points is not None:
        tuned = OperatingPoints.load(points)
        means = any(getattr(metric.criterion, "aggregation", "") == "mean" for metric in metrics)
        if means and tuned.thresholds:
            raise SedscopeError("--points apply to scores of frames, not to means over segments")
        system = tuned.apply(require_scores(system, scores, "--points"))
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)  # the result names them
        choice: dict[str, Any] = {
            "classes": class_names(
                classes, truth.labels if isinstance(system, dict) else system.classes
            ),
            "clips": clip_choice(clips),
            "missing": missing,
            "threads": threads,
        }
        if isinstance(system, dict) and resampling:
            raise SedscopeError(f"{scores} holds detections at thresholds: --bootstrap needs scores")
        if isinstance(system, dict):
            result = evaluate_sets(system, truth, metrics, overlaps=overlaps, **choice)
        else:
            system = remembered(system) if report else system
            result = evaluate_scores(
                system, truth, metrics, bootstrap=resampling, progress=progress, **choice
            )
    if report:
        result.report(
            report, name=scores.name or "system", clips_shown=to_show, audio=audio, threads=threads
        )
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    typer.echo(f"{result.clips} clips, {result.hours:.2f} hours\n\n{result.table()}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)
