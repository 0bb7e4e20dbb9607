"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SedscopeError
from ..io.locations import Location, location

if TYPE_CHECKING:
    from ..data.scores import Scores


def path_option(*names: str, help: str) -> Any:
    """An option that takes a path or an address."""
    return typer.Option(*names, parser=location, metavar="PATH", help=help)


ScoresArgument = Annotated[
    Path,
    typer.Argument(
        parser=location,
        help="Folder of score tables, one a clip: onset offset class…; or a file of detections: "
        "filename onset offset event_label, perhaps confidence; or a folder of such files, named by "
        "their thresholds; or any other of 'sedscope formats'",
    ),
]
TruthArgument = Annotated[
    Path,
    typer.Argument(
        parser=location,
        help="Reference events: filename onset offset event_label; or any other of 'sedscope formats'",
    ),
]
FormatOption = Annotated[
    str | None, typer.Option(help="Format that is read, where its content leaves doubt")
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
PostprocessOption = Annotated[
    list[str] | None,
    typer.Option(
        help='Post-process the scores first, e.g. "MedianFilter(0.48)"; several are applied in order'
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed of what is drawn")]
GroupsOption = Annotated[
    Path | None,
    path_option(help="File with the group of each clip, which are drawn whole: filename group"),
]

_COLUMN = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")


def check_outputs(*paths: str | Location | None) -> None:
    """Refuse files to write in folders that are not there, before any work is done."""
    for path in paths:
        file = None if path in (None, "-") else location(path or "")
        if isinstance(file, Path) and not file.parent.is_dir():
            raise SedscopeError(f"Cannot write {file}: there is no folder {file.parent}.")


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
    return {"stitch": location(given)}


def listed_clips(given: str, option: str, otherwise: str) -> list[str]:
    """The clips that a file names."""
    try:
        lines = location(given).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError, SedscopeError) as error:
        raise SedscopeError(
            f"{option} {given}: neither {otherwise} nor a file with a clip a line ({error})"
        ) from None
    names = [line.split("\t")[0].strip() for line in lines]
    chosen = [name for name in names if name and name != "filename"]
    if not chosen:
        raise SedscopeError(f"{option} {given}: the file names no clip")
    return chosen


def processed(scores: Scores, texts: Sequence[str] | None) -> Scores:
    """The scores after the post-processings that were asked for, in order."""
    from ..postprocessing import parse_postprocessing

    for text in texts or ():
        scores = parse_postprocessing(text)(scores)
    return scores
