"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..alignment import ClipChoice, Missing
from ..errors import SedscopeError
from ..ground_truth import Invalid, Overlaps

ScoresArgument = Annotated[
    Path,
    typer.Argument(
        help="Folder of score tables, one a clip: onset offset class…; or a file of detections: "
        "filename onset offset event_label, perhaps confidence; or a folder of such files, named by "
        "their thresholds; or any other of 'sedscope formats'"
    ),
]
TruthArgument = Annotated[
    Path,
    typer.Argument(
        help="Reference events: filename onset offset event_label; or any other of 'sedscope formats'"
    ),
]
FormatOption = Annotated[
    str | None, typer.Option(help="Format that is read, where its content leaves doubt")
]
TruthFormatOption = Annotated[
    str | None,
    typer.Option("--format", help="Format of the reference events, where their content leaves doubt"),
]
ScoresFormatOption = Annotated[
    str | None, typer.Option(help="Format of the scores or detections, where their content leaves doubt")
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Names of columns of events: 'onset=\"Begin Time (s)\",label=Species'; there are filename, "
        "onset, offset, duration, label, confidence"
    ),
]
LabelOption = Annotated[str | None, typer.Option(help="Label of events that have none")]
StitchOption = Annotated[
    str | None,
    typer.Option(
        help="Join chunks of recordings, averaged where they overlap: 'seconds', 'centiseconds' or "
        "'milliseconds' if they are named RECORDING-START or RECORDING-START-END, or a file: filename "
        "recording start. For events: average windows that overlap"
    ),
]
DurationsOption = Annotated[
    Path | None,
    typer.Option(help="Clip durations: filename duration \\[default: from the scores]"),
]
ClassesOption = Annotated[
    list[str] | None,
    typer.Option(help="Only these classes: a name, or several with commas"),
]
ClipsOption = Annotated[
    str | None,
    typer.Option(help="Only these clips: 'scored', or a file with a clip a line"),
]
MissingOption = Annotated[
    Missing, typer.Option(help="Clips not in the ground truth: 'error', or 'empty': without events")
]
InvalidOption = Annotated[
    Invalid, typer.Option(help="Events without length or after their clip's end: 'error' or 'drop'")
]
OverlapsOption = Annotated[
    Overlaps, typer.Option(help="Overlapping events of one class: 'error' or 'merge'")
]
ThreadsOption = Annotated[int | None, typer.Option(help="Number of threads \\[default: one per core]")]


_COLUMN = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")


def column_map(given: str | None) -> dict[str, str] | None:
    """Names of columns by what they hold, from ``role=name,…``; quotes keep commas in a name."""
    if given is None:
        return None
    found: dict[str, str] = {}
    position = 0
    while position < len(given):
        part = _COLUMN.match(given, position)
        if part is None:
            raise SedscopeError(f"--columns {given}: write role=name,role=name")
        found[part[1]] = part[2].strip().strip("\"'")
        position = part.end()
    return found


def stitching(given: str | None) -> dict[str, Any]:
    """How chunks are joined, as arguments of the library."""
    if given is None:
        return {}
    if given in ("seconds", "centiseconds", "milliseconds"):
        return {"stitch": None, "unit": given}
    return {"stitch": Path(given)}


def class_names(given: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Names as given; commas separate names unless they are part of one."""
    if not given:
        return None
    return [name.strip() for text in given for name in ([text] if text in known else text.split(","))]


def clip_choice(given: str | None) -> ClipChoice:
    """Which clips to take."""
    if given is None:
        return None
    if given == "scored":
        return "scored"
    try:
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SedscopeError(
            f"--clips {given}: neither 'scored' nor a file with a clip a line ({error})"
        ) from None
    names = [line.split("\t")[0].strip() for line in lines]
    chosen = [name for name in names if name and name != "filename"]
    if not chosen:
        raise SedscopeError(f"--clips {given}: the file names no clip")
    return chosen
