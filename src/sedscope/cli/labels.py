"""``sedscope labels``: a label map to edit, from the labels of a system and of the ground truth."""

from __future__ import annotations

from pathlib import Path

import typer

from .options.arguments import (
    GROUND_TRUTH,
    LABEL,
    SCORES,
    SCORES_COLUMNS,
    SCORES_FORMAT,
    TRUTH_COLUMNS,
    column_map,
)
from .options.groups import option, output_option


def labels(
    *,
    scores: Path = SCORES,
    ground_truth: Path = GROUND_TRUTH,
    output: Path | None = output_option(None, "File for the map (CSV, or TSV by its name), to edit."),
    truth_format: str | None = option(
        None, "Format of the reference events. [default: detected from the content]", "--format"
    ),
    columns: str | None = TRUTH_COLUMNS,
    label: str | None = LABEL,
    scores_format: str | None = SCORES_FORMAT,
    scores_columns: str | None = SCORES_COLUMNS,
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
