"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..alignment import ClipChoice, Missing
from ..errors import SedscopeError
from ..ground_truth import Invalid, Overlaps

ScoresArgument = Annotated[
    Path,
    typer.Argument(
        help="Folder of score tables, one a clip: onset offset class…; or a file of detections: "
        "filename onset offset event_label, perhaps confidence; or a folder of such files, named by "
        "their thresholds"
    ),
]
TruthArgument = Annotated[
    Path, typer.Argument(help="Reference events: filename onset offset event_label")
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
