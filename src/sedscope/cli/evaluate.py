"""``sedscope evaluate``: from files to a table of metrics."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SedscopeError, SedscopeWarning, listing
from .options import (
    ClassesOption,
    ClipsOption,
    ColumnsOption,
    DurationsOption,
    InvalidOption,
    LabelOption,
    MissingOption,
    OverlapsOption,
    ScoresArgument,
    ScoresFormatOption,
    StitchOption,
    ThreadsOption,
    TruthArgument,
    TruthFormatOption,
    class_names,
    clip_choice,
    column_map,
)

if TYPE_CHECKING:
    from ..metrics import Metric


def evaluate(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    durations: DurationsOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help='A metric, e.g. "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"; may be given '
            "several times \\[default: PSDS 1 and 2 of DCASE 2021–2023]"
        ),
    ] = None,
    preset: Annotated[
        list[str] | None, typer.Option(help="Metrics by name, see 'sedscope presets'")
    ] = None,
    points: Annotated[
        Path | None,
        typer.Option(help="Evaluate the detections at these thresholds, as 'sedscope tune' writes them"),
    ] = None,
    classes: ClassesOption = None,
    clips: ClipsOption = None,
    missing: MissingOption = "error",
    invalid: InvalidOption = "error",
    overlaps: OverlapsOption = "error",
    threads: ThreadsOption = None,
    truth_format: TruthFormatOption = None,
    columns: ColumnsOption = None,
    label: LabelOption = None,
    scores_format: ScoresFormatOption = None,
    stitch: StitchOption = None,
    json: Annotated[
        str | None, typer.Option(help="Write the results to this file; '-': only JSON, to stdout")
    ] = None,
) -> None:
    """Evaluate a system's scores, or its detections, against reference events."""
    from .. import OperatingPoints, at_thresholds, evaluate_sets, read_ground_truth
    from .. import evaluate as evaluate_scores
    from .progress import progress_bar
    from .systems import read_system, require_scores

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    metrics = _metrics(metric or [], preset or [])
    truth = read_ground_truth(
        ground_truth,
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
        format=truth_format,
        columns=column_map(columns),
        label=label,
    )
    system = read_system(scores, truth, overlaps, format=scores_format, stitch=stitch)
    if points is not None:
        if any(getattr(metric.criterion, "aggregation", "") == "mean" for metric in metrics):
            raise SedscopeError("--points apply to scores of frames, not to means over segments")
        thresholds = OperatingPoints.load(points).thresholds
        system = at_thresholds(require_scores(system, scores, "--points"), thresholds)
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
        if isinstance(system, dict):
            result = evaluate_sets(system, truth, metrics, overlaps=overlaps, **choice)
        else:
            result = evaluate_scores(system, truth, metrics, progress=progress, **choice)
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    typer.echo(f"{result.clips} clips, {result.hours:.2f} hours\n\n{result.table()}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)


def _metrics(texts: list[str], names: list[str]) -> list[Metric]:
    """Metrics by definition and by the name of a preset; those of DCASE if there are none."""
    from ..metrics import parse_metric
    from ..presets import PRESETS, PSDS1, PSDS2

    unknown = [name for name in names if name not in PRESETS]
    if unknown:
        raise SedscopeError(f"no preset {listing(unknown)}; there are {listing([*PRESETS], limit=30)}")
    chosen = [metric for name in names for metric in PRESETS[name]]
    return [*chosen, *(parse_metric(text) for text in texts)] or [PSDS1, PSDS2]
