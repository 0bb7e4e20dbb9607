"""``sedscope tune``, ``sedscope detect``, ``sedscope presets``: thresholds, and what they give."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import SedscopeError, SedscopeWarning
from .options import (
    ClassesOption,
    ClipsOption,
    ColumnsOption,
    DurationsOption,
    InvalidOption,
    LabelOption,
    MissingOption,
    OverlapsOption,
    ScoresFormatOption,
    StitchOption,
    ThreadsOption,
    TruthArgument,
    TruthFormatOption,
    class_names,
    clip_choice,
    column_map,
    stitching,
)


def tune(
    scores: Annotated[
        Path,
        typer.Argument(
            help="Folder of score tables, one a clip: onset offset class…; or a file of detections with "
            "a column confidence; or any other of 'sedscope formats'"
        ),
    ],
    ground_truth: TruthArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the thresholds (TOML)")],
    durations: DurationsOption = None,
    criterion: Annotated[
        str, typer.Option(help="What counts as found, e.g. 'Segment(length=1)'")
    ] = "Collar()",
    objective: Annotated[
        Literal["fscore", "error_rate", "cost", "precision", "recall"],
        typer.Option(help="What to be best at: 'fscore', 'error_rate', 'cost', 'precision', 'recall'"),
    ] = "fscore",
    beta: Annotated[float, typer.Option(help="Weight of recall in the F-score")] = 1.0,
    miss_cost: Annotated[float, typer.Option(help="Cost of a missed reference")] = 1.0,
    false_alarm_cost: Annotated[float, typer.Option(help="Cost of a false positive")] = 1.0,
    min_precision: Annotated[float | None, typer.Option(help="Precision that is needed")] = None,
    min_recall: Annotated[float | None, typer.Option(help="Recall that is needed")] = None,
    max_false_alarms_per_hour: Annotated[
        float | None, typer.Option(help="False positives per hour and class that are allowed")
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
) -> None:
    """Choose a threshold for each class, for use by 'detect' and 'evaluate --points'."""
    from .. import choose, deltas, read_ground_truth
    from ..metrics import parse_criterion
    from .progress import progress_bar
    from .systems import read_system, require_scores

    judged = parse_criterion(criterion)
    truth = read_ground_truth(
        ground_truth,
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
        format=truth_format,
        columns=column_map(columns),
        label=label,
    )
    system = require_scores(
        read_system(scores, truth, overlaps, format=scores_format, stitch=stitch), scores, "tune"
    )
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        counts = deltas(
            system,
            truth,
            judged,
            classes=class_names(classes, system.classes),
            clips=clip_choice(clips),
            missing=missing,
            threads=threads,
            progress=progress,
        ).counts(threads=threads)
    points = choose(
        counts,
        objective,
        beta=beta,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
        min_precision=min_precision,
        min_recall=min_recall,
        max_false_alarms_per_hour=max_false_alarms_per_hour,
    )
    data = {"scores": scores.name, "ground_truth": ground_truth.name}
    replace(points, provenance={**points.provenance, **data}).save(output)
    width = max(map(len, [*points.thresholds, "class"]))
    typer.echo(f"{'class':{width}}  threshold  precision  recall  F-score")
    for label, threshold in points.thresholds.items():
        tally = counts[label].tally_at(threshold)
        typer.echo(
            f"{label:{width}}  {threshold:9.4g}  {tally.precision:9.4f}  {tally.recall:6.4f}  "
            f"{tally.fscore():7.4f}"
        )
    for label, need in points.unmet.items():
        typer.echo(f"warning: {label}: no threshold gives {need}", err=True)
    for label in counts:
        if label not in points.thresholds:
            typer.echo(f"warning: {label}: no reference events, so no threshold", err=True)


def detect(
    scores: Annotated[
        Path,
        typer.Argument(
            help="Folder of score tables, one a clip: onset offset class…; or any other format of "
            "scores, see 'sedscope formats'"
        ),
    ],
    points: Annotated[
        Path | None, typer.Option(help="File of thresholds, as 'sedscope tune' writes it")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="One threshold for all classes")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the events \\[default: stdout]")
    ] = None,
    scores_format: ScoresFormatOption = None,
    stitch: StitchOption = None,
) -> None:
    """Write the events that a system detects: filename onset offset event_label."""
    from .. import OperatingPoints, read_scores, write_events
    from .. import detect as detect_events

    if (points is None) == (threshold is None):
        raise SedscopeError("give either --points or --threshold")
    limits = threshold if points is None else OperatingPoints.load(points).thresholds
    assert limits is not None
    joined = stitching(stitch)
    system = read_scores(scores, format=scores_format)
    if joined:
        system = system.stitch(joined.pop("stitch"), **joined)
    text = write_events(detect_events(system, limits), output)
    if output is None:
        typer.echo(text, nl=False)


def presets() -> None:
    """List the metrics that have a name."""
    from ..presets import PRESETS

    for preset in PRESETS.values():
        typer.echo(f"{preset.name}: {preset.about} ({preset.source})")
        for metric in preset:
            typer.echo(f"    {metric!r}")
