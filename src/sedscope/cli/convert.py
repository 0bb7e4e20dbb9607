"""``sedscope convert``: scores or events in another format; and ``labels``: a label map to edit."""

from __future__ import annotations

from pathlib import Path

import typer

from ..data.choices import EventOverlaps, Gaps
from .options.arguments import (
    COLUMNS,
    DETECTION_OVERLAPS,
    FORMAT,
    GAPS,
    GROUND_TRUTH,
    LABEL,
    LABELS,
    SCORES,
    SCORES_COLUMNS,
    SCORES_FORMAT,
    STITCH,
    TRUTH_COLUMNS,
    column_map,
    progress_bar,
    stitch_arguments,
)
from .options.groups import argument, option, output_option
from .options.outputs import BoxOptions


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


def convert(
    *,
    source: Path = argument("Scores or events in any format that 'sedscope formats' lists."),
    target: Path = argument("File or new folder to write.", writes="either"),
    box_options: BoxOptions,
    format: str | None = FORMAT,
    to: str | None = option(
        None, "Format to write. [default: from the suffix of TARGET; without one, scores become a store]"
    ),
    columns: str | None = COLUMNS,
    label: str | None = LABEL,
    labels: Path | None = LABELS,
    durations: Path | None = option(
        None,
        "Clip durations (filename duration), for labels of whole clips, for JAMS, and for one table "
        "of Raven for several recordings.",
    ),
    durations_output: Path | None = option(
        None, "Write the clip durations that SOURCE has to this file.", writes="file"
    ),
    classes: str | None = option(None, "Classes of scores that do not name them, separated by commas."),
    frame: float | None = option(None, "Frame length in seconds, for scores that do not state it."),
    gaps: Gaps = GAPS,
    overlaps: EventOverlaps = DETECTION_OVERLAPS,
    stitch: str | None = STITCH,
    lossy: bool = option(
        False, "Leave out what the format cannot hold, instead of stopping with an error."
    ),
) -> None:
    """Convert scores or events to another format.

    It refuses to lose anything unless --lossy is given.
    """
    from .. import SystemReading, read_label_map
    from .. import convert as convert_files

    reading = SystemReading(
        format=format,
        columns=column_map(columns),
        label=label,
        classes=None if classes is None else [name.strip() for name in classes.split(",")],
        frame=frame,
        gaps=gaps,
        overlaps=overlaps,
        label_map=None if labels is None else read_label_map(labels),
        **stitch_arguments(stitch),
    )
    with progress_bar("converting") as progress:
        converted = convert_files(
            source,
            target,
            reading=reading,
            to=to,
            durations=durations,
            durations_output=durations_output,
            lossy=lossy,
            boxes=box_options.boxes(),
            progress=progress,
        )
    typer.echo(f"{converted}: {target}")
