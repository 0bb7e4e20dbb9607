"""``sedscope convert``: scores or events in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from ..data.choices import EventOverlaps, Gaps
from .options.arguments import (
    COLUMNS,
    DETECTION_OVERLAPS,
    FORMAT,
    GAPS,
    LABEL,
    LABELS,
    STITCH,
    column_map,
    progress_bar,
    stitch_arguments,
)
from .options.groups import argument, option
from .options.outputs import BoxOptions


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
