"""``sedscope validate``: everything that is wrong or odd, all at once."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import SedscopeError
from .inputs import Files
from .options import ScoresArgument, TruthArgument, column_map, stitching


def validate(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    files: Files,
    json: Annotated[
        str | None, typer.Option(help="Write the findings to this file; '-': only JSON, to stdout")
    ] = None,
) -> None:
    """Check scores and reference events: errors first, then warnings, then what would be evaluated.

    The exit code is 1 if there are errors.
    """
    from .. import validate as validate_files
    from ..io.systems import holds_detection_sets

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    if scores.is_dir() and files.scores_format is None and holds_detection_sets(scores):
        raise SedscopeError(f"{scores} holds a list of detections per threshold: validate one of them")
    names = [name.strip() for text in files.classes or [] for name in text.split(",")]
    found = validate_files(
        scores,
        ground_truth,
        durations=files.durations,
        classes=names or None,
        missing=files.missing,
        invalid=files.invalid,
        overlaps=files.overlaps,
        format=files.truth_format,
        columns=column_map(files.columns),
        label=files.label,
        scores_format=files.scores_format,
        threads=files.threads,
        **stitching(files.stitch),
    )
    typer.echo(found.to_json() if json == "-" else f"{found}\n", nl=False)
    if json and json != "-":
        found.to_json(json)
    if found.errors:
        raise typer.Exit(1)
