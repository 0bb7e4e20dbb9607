"""``sedscope detect``: events from scores and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import SedscopeError
from .options import (
    GapsOption,
    PostprocessOption,
    ScoresFormatOption,
    StitchOption,
    Writes,
    path_argument,
    path_option,
    points_notes,
    stitch_arguments,
)
from .options import postprocess as postprocess_scores


def detect(
    scores: Annotated[
        Path,
        path_argument(
            help="Scores: a folder of score tables, one per clip (onset offset class…), or any other "
            "format of scores that 'sedscope formats' lists."
        ),
    ],
    points: Annotated[
        Path | None, path_option(help="File of thresholds that 'sedscope tune' wrote.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="One threshold for all classes.")] = None,
    postprocess: PostprocessOption = None,
    output: Annotated[
        Path | None,
        path_option("--output", "-o", help="File for the events. [default: standard output]"),
        Writes(),
    ] = None,
    scores_format: ScoresFormatOption = None,
    gaps: GapsOption = "error",
    stitch: StitchOption = None,
) -> None:
    """Write the events that a system detects.

    The table has the columns filename, onset, offset and event_label.
    """
    from .. import OperatingPoints, read_scores, write_events
    from .. import detect as detect_events

    if (points is None) == (threshold is None):
        raise SedscopeError("Give either --points or --threshold.")
    system = read_scores(scores, format=scores_format, gaps=gaps)
    joining = stitch_arguments(stitch)
    if joining["stitch"] is not False:
        system = system.stitch(joining["stitch"], unit=joining["unit"], gaps=gaps)
    system = postprocess_scores(system, postprocess)
    notes: list[str] = []
    if threshold is not None:
        events = detect_events(system, threshold)
    elif points is not None:
        operating_points = OperatingPoints.load(points)
        events = operating_points.detect(system)
        notes += points_notes(operating_points, system, points)
    text = write_events(events, output)
    if output is None:
        typer.echo(text, nl=False)
    for note in notes:
        typer.echo(f"warning: {note}", err=True)
