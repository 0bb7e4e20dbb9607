"""``sedscope convert`` and ``sedscope formats``: from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..io.locations import location
from .options import (
    ColumnsOption,
    FormatOption,
    LabelOption,
    StitchOption,
    column_map,
    path_option,
    stitching,
)


def convert(
    source: Annotated[
        Path,
        typer.Argument(parser=location, help="Scores or events in any format: 'sedscope formats'"),
    ],
    target: Annotated[Path, typer.Argument(parser=location, help="File or new folder to write")],
    format: FormatOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Format to write \\[default: by the name of TARGET; scores without a suffix: a store]"
        ),
    ] = None,
    columns: ColumnsOption = None,
    label: LabelOption = None,
    durations: Annotated[
        Path | None, path_option(help="Clip durations, for labels of whole clips and for JAMS")
    ] = None,
    durations_output: Annotated[
        Path | None, path_option(help="Write the durations that SOURCE has to this file")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="Classes, with commas, of scores that do not name them")
    ] = None,
    frame: Annotated[
        float | None, typer.Option(help="Length of frames in seconds, of scores that do not say so")
    ] = None,
    stitch: StitchOption = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the format cannot hold, instead of an error")
    ] = False,
) -> None:
    """Convert scores or events to another format, without loss or with a word on what would be lost."""
    from .. import convert as convert_files
    from .progress import progress_bar

    joined = stitching(stitch)
    with progress_bar("converting") as progress:
        done = convert_files(
            source,
            target,
            format=format,
            to=to,
            columns=column_map(columns),
            label=label,
            durations=durations,
            durations_output=durations_output,
            classes=None if classes is None else [name.strip() for name in classes.split(",")],
            frame=frame,
            lossy=lossy,
            progress=progress,
            **joined,
        )
    typer.echo(f"{done}: {target}")


def formats() -> None:
    """List the formats of scores and events."""
    from ..io.events.registry import EVENT_FORMATS
    from ..io.scores.registry import SCORE_FORMATS

    for kind, known in (("scores", SCORE_FORMATS), ("events", EVENT_FORMATS)):
        typer.echo(f"{kind}:")
        for made in known.values():
            typer.echo(f"  {made.name:21}{made.about}")
