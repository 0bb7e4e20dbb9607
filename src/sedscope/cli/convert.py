"""``sedscope convert``: scores or events in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options.arguments import (
    ColumnsOption,
    DetectionOverlapsOption,
    FormatOption,
    GapsOption,
    LabelOption,
    LabelsOption,
    StitchOption,
    Writes,
    column_map,
    path_argument,
    path_option,
    progress_bar,
    stitch_arguments,
)
from .options.outputs import BoxOptions


def convert(
    source: Annotated[
        Path, path_argument(help="Scores or events in any format that 'sedscope formats' lists.")
    ],
    target: Annotated[Path, path_argument(help="File or new folder to write."), Writes("either")],
    box_options: BoxOptions,
    format: FormatOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Format to write. [default: from the suffix of TARGET; without one, scores become a "
            "store]"
        ),
    ] = None,
    columns: ColumnsOption = None,
    label: LabelOption = None,
    labels: LabelsOption = None,
    durations: Annotated[
        Path | None,
        path_option(
            help="Clip durations (filename duration), for labels of whole clips, for JAMS, and for one table "
            "of Raven for several recordings."
        ),
    ] = None,
    durations_output: Annotated[
        Path | None, path_option(help="Write the clip durations that SOURCE has to this file."), Writes()
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Classes of scores that do not name them, separated by commas.")
    ] = None,
    frame: Annotated[
        float | None, typer.Option(help="Frame length in seconds, for scores that do not state it.")
    ] = None,
    gaps: GapsOption = "error",
    overlaps: DetectionOverlapsOption = "error",
    stitch: StitchOption = None,
    lossy: Annotated[
        bool,
        typer.Option(
            "--lossy", help="Leave out what the format cannot hold, instead of stopping with an error."
        ),
    ] = False,
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
