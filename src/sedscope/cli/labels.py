"""``sedscope labels``: a label map to edit, from the labels of a system and of the ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options.arguments import (
    LabelOption,
    ScoresArgument,
    ScoresColumnsOption,
    ScoresFormatOption,
    TruthArgument,
    TruthColumnsOption,
    Writes,
    column_map,
    path_option,
)


def labels(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[
        Path | None,
        path_option("--output", "-o", help="File for the map (CSV, or TSV by its name), to edit."),
        Writes(),
    ] = None,
    truth_format: Annotated[
        str | None,
        typer.Option(
            "--format", help="Format of the reference events. [default: detected from the content]"
        ),
    ] = None,
    columns: TruthColumnsOption = None,
    label: LabelOption = None,
    scores_format: ScoresFormatOption = None,
    scores_columns: ScoresColumnsOption = None,
) -> None:
    """Propose new labels where a system and the ground truth differ.

    The file lists all labels of both sides. Edit its column 'to', and use it with --labels. Labels that
    stay as they are have the same name twice. An empty 'to' drops a label; this command never writes one.
    """
    from ..io.events.source import EventReadOptions
    from ..io.label_maps import LabelProposal, read_labels, scientific_names
    from ..io.systems import holds_events

    detections = EventReadOptions(
        column_map(scores_columns, "--scores-columns") or {}, label, side="system"
    )
    references = EventReadOptions(column_map(columns) or {}, label, side="truth")
    proposal = LabelProposal(
        read_labels(scores, scores_format, detections, system=True),
        read_labels(ground_truth, truth_format, references),
        scientific_names(scores) if holds_events(scores, scores_format) else None,
    )
    typer.echo(str(proposal))
    if output is not None:
        proposal.save(output)
        typer.echo(f"\nlabel map: {output}")
