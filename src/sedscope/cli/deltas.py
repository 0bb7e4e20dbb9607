"""``sedscope deltas``: what an evaluation needs to know of some clips, in a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SedscopeWarning
from ..io.places import place
from .options import (
    ClassesOption,
    ClipsOption,
    ColumnsOption,
    DurationsOption,
    InvalidOption,
    LabelOption,
    MetricOption,
    MissingOption,
    OverlapsOption,
    PostprocessOption,
    PresetOption,
    ScoresArgument,
    ScoresFormatOption,
    StitchOption,
    ThreadsOption,
    TruthArgument,
    TruthFormatOption,
    chosen_metrics,
    class_names,
    clip_choice,
    column_map,
    processed,
)


def deltas(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", parser=place, metavar="PATH", help="File for the deltas"),
    ],
    durations: DurationsOption = None,
    metric: MetricOption = None,
    preset: PresetOption = None,
    postprocess: PostprocessOption = None,
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
    threads: ThreadsOption = None,
) -> None:
    """Write what the metrics need to know of these clips, for 'evaluate --deltas', alone or with that of
    other clips."""
    from .. import read_ground_truth
    from ..alignment import align
    from ..collect import collect
    from ..delta_files import save_deltas
    from ..gathering import Wanted
    from ..wanted import wanted_by
    from .progress import progress_bar
    from .systems import read_system, require_scores

    metrics = chosen_metrics(metric, preset)
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
    system = processed(require_scores(system, scores, "deltas"), postprocess)
    # of how many clips they will be a part is not known, so there is no floor
    wanted = {c: Wanted(None, want.any_label, want.variants) for c, want in wanted_by(metrics).items()}
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        alignment = align(
            system,
            truth,
            classes=class_names(classes, system.classes),
            clips=clip_choice(clips),
            missing=missing,
        )
        found = collect(alignment, wanted, threads=threads, progress=progress)
    save_deltas(found.values(), output)
    rows = sum(part.tables.rows() for part in found.values())
    typer.echo(f"{output}: {len(alignment.clips)} clips, {rows} changes of counts")
    for note in alignment.warnings:
        typer.echo(f"warning: {note}", err=True)
