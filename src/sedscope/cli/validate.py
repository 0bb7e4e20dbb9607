"""``sedscope validate``: all problems of scores and reference events at once."""

from __future__ import annotations

import typer

from ..errors import SedscopeError
from .engine_options import ThreadOptions
from .input_options import FileOptions
from .options import (
    JsonOption,
    ScoresArgument,
    TruthArgument,
    check_outputs,
    column_map,
    stitch_arguments,
)


def validate(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    files: FileOptions,
    engine: ThreadOptions,
    json: JsonOption = None,
) -> None:
    """Check scores and reference events: list errors, then warnings, then what would be evaluated.

    The exit code is 1 if there are errors.
    """
    from .. import validate as validate_files
    from ..io.systems import holds_detection_sets

    check_outputs(json)
    if scores.is_dir() and files.scores_format is None and holds_detection_sets(scores):
        raise SedscopeError(
            f"{scores} holds several files of detections, one per threshold. Validate one of them."
        )
    names = [name.strip() for text in files.classes or [] for name in text.split(",")]
    validation = validate_files(
        scores,
        ground_truth,
        durations=files.durations,
        classes=names or None,
        missing=files.missing,
        coverage=files.coverage,
        invalid=files.invalid,
        overlaps=files.overlaps,
        format=files.truth_format,
        columns=column_map(files.columns),
        label=files.label,
        scores_format=files.scores_format,
        threads=engine.threads,
        **stitch_arguments(files.stitch),
    )
    typer.echo(validation.to_json() if json == "-" else f"{validation}\n", nl=False)
    if json and json != "-":
        validation.to_json(json)
    if validation.errors:
        raise typer.Exit(1)
