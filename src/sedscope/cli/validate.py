"""``sedscope validate``: all problems of scores and reference events at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..engines.run import Run
from ..errors import SedscopeError, counted
from .engine_options import ThreadOptions
from .input_options import ClipsOption, FileOptions, clip_choice
from .options import JsonOption, as_location


def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            parser=as_location,
            metavar="[SCORES] GROUND_TRUTH",
            help="Scores or detections in any format that 'sedscope formats' lists, then the reference "
            "events; or only the reference events.",
        ),
    ],
    files: FileOptions,
    engine: ThreadOptions,
    clips: ClipsOption = None,
    json: JsonOption = None,
) -> None:
    """Check scores and reference events, or reference events alone.

    It lists errors, then warnings, then what would be evaluated. What 'sedscope evaluate' refuses is
    an error here, too. The exit status is 1 if there are errors.
    """
    from .. import validate as validate_files
    from ..io.systems import holds_detection_sets

    if len(paths) > 2:
        raise SedscopeError(
            f"Give SCORES and GROUND_TRUTH, or GROUND_TRUTH alone, not {counted(len(paths), 'path')}."
        )
    scores, ground_truth = (None, *paths) if len(paths) == 1 else paths
    if (
        scores is not None
        and scores.is_dir()
        and files.scores_format is None
        and files.scores_columns is None
        and holds_detection_sets(scores)
    ):
        raise SedscopeError(
            f"{scores} holds several files of detections, one per threshold. Validate one of them."
        )
    names = [name.strip() for text in files.classes or [] for name in text.split(",")]
    validation = validate_files(
        scores,
        ground_truth,
        system_reading=files.system_reading(),
        truth_reading=files.truth_reading(),
        classes=names or None,
        clips=clip_choice(clips),
        missing=files.missing,
        coverage=files.coverage,
        run=Run(engine.threads),
    )
    typer.echo(validation.to_json() if json == "-" else f"{validation}\n", nl=False)
    if json and json != "-":
        validation.to_json(json)
    if validation.errors:
        raise typer.Exit(1)
