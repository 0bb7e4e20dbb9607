"""``sedscope report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .evaluate import evaluate
from .options import (
    AudioOption,
    BalancedOption,
    ClassesOption,
    ClipsOption,
    ClipsShownOption,
    ColumnsOption,
    ConfidenceOption,
    DurationsOption,
    GroupsOption,
    IntervalOption,
    InvalidOption,
    LabelOption,
    MetricOption,
    MissingOption,
    OverlapsOption,
    PostprocessOption,
    PresetOption,
    ScoresArgument,
    ScoresFormatOption,
    SeedOption,
    StitchOption,
    ThreadsOption,
    TruthArgument,
    TruthFormatOption,
)


def report(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file to write")],
    durations: DurationsOption = None,
    metric: MetricOption = None,
    preset: PresetOption = None,
    postprocess: PostprocessOption = None,
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
    truth_format: TruthFormatOption = None,
    columns: ColumnsOption = None,
    label: LabelOption = None,
    scores_format: ScoresFormatOption = None,
    stitch: StitchOption = None,
    clips_shown: ClipsShownOption = "60",
    audio: AudioOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Write a page that shows a system: curves, a threshold slider, errors, clips. It opens offline."""
    evaluate(
        [scores, ground_truth],
        durations=durations,
        metric=metric,
        preset=preset,
        postprocess=postprocess,
        bootstrap=bootstrap,
        confidence=confidence,
        seed=seed,
        interval=interval,
        balanced=balanced,
        groups=groups,
        classes=classes,
        clips=clips,
        missing=missing,
        invalid=invalid,
        overlaps=overlaps,
        truth_format=truth_format,
        columns=columns,
        label=label,
        scores_format=scores_format,
        stitch=stitch,
        threads=threads,
        report=output,
        clips_shown=clips_shown,
        audio=audio,
    )
    typer.echo(f"\nreport: {output}")
