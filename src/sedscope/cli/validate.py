"""``sedscope validate``: everything that is wrong or odd, all at once."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import SedscopeError
from .options import (
    ClassesOption,
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
    column_map,
    stitching,
)


def validate(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    durations: DurationsOption = None,
    classes: ClassesOption = None,
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
        str | None, typer.Option(help="Write the findings to this file; '-': only JSON, to stdout")
    ] = None,
) -> None:
    """Check scores and reference events: errors first, then warnings, then what would be evaluated.

    The exit code is 1 if there are errors.
    """
    from .. import validate as validate_files
    from .systems import holds_sets

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    if scores.is_dir() and scores_format is None and holds_sets(scores):
        raise SedscopeError(f"{scores} holds a list of detections per threshold: validate one of them")
    names = [name.strip() for text in classes or [] for name in text.split(",")]
    found = validate_files(
        scores,
        ground_truth,
        durations=durations,
        classes=names or None,
        missing=missing,
        invalid=invalid,
        overlaps=overlaps,
        format=truth_format,
        columns=column_map(columns),
        label=label,
        scores_format=scores_format,
        threads=threads,
        **stitching(stitch),
    )
    typer.echo(found.to_json() if json == "-" else f"{found}\n", nl=False)
    if json and json != "-":
        found.to_json(json)
    if found.errors:
        raise typer.Exit(1)
