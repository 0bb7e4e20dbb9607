"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..alignment import ClipChoice, Missing
from ..errors import SedscopeError, listing
from ..ground_truth import Invalid, Overlaps
from ..io.places import place

if TYPE_CHECKING:
    from ..metrics import Metric
    from ..scores import Scores

ScoresArgument = Annotated[
    Path,
    typer.Argument(
        parser=place,
        help="Folder of score tables, one a clip: onset offset class…; or a file of detections: "
        "filename onset offset event_label, perhaps confidence; or a folder of such files, named by "
        "their thresholds; or any other of 'sedscope formats'",
    ),
]
TruthArgument = Annotated[
    Path,
    typer.Argument(
        parser=place,
        help="Reference events: filename onset offset event_label; or any other of 'sedscope formats'",
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
    typer.Option(
        parser=place,
        metavar="PATH",
        help="Clip durations: filename duration \\[default: from the scores]",
    ),
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
MetricOption = Annotated[
    list[str] | None,
    typer.Option(
        help='A metric, e.g. "PSDS(Intersection(dtc=0.7, gtc=0.7), alpha_st=1)"; may be given '
        "several times \\[default: PSDS 1 and 2 of DCASE 2021–2023]"
    ),
]
PresetOption = Annotated[list[str] | None, typer.Option(help="Metrics by name, see 'sedscope presets'")]
PostprocessOption = Annotated[
    list[str] | None,
    typer.Option(
        help='Post-process the scores first, e.g. "MedianFilter(0.48)"; several are applied in order'
    ),
]
ConfidenceOption = Annotated[float, typer.Option(help="Confidence of the intervals")]
SeedOption = Annotated[int, typer.Option(help="Seed of what is drawn")]
IntervalOption = Annotated[
    Literal["percentile", "bca"],
    typer.Option(help="Kind of the intervals: 'percentile' or 'bca', bias-corrected and accelerated"),
]
BalancedOption = Annotated[
    bool, typer.Option("--balanced", help="Draw every clip equally often over all resamples")
]
GroupsOption = Annotated[
    Path | None,
    typer.Option(help="File with the group of each clip, which are drawn whole: filename group"),
]
ClipsShownOption = Annotated[
    str,
    typer.Option(help="Clips to browse in the report: how many, or a file with a clip a line"),
]
AudioOption = Annotated[
    Path | None, typer.Option(help="Folder with the clips' audio files, for the report")
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
    return {"stitch": place(given)}


def class_names(given: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """Names as given; commas separate names unless they are part of one."""
    if not given:
        return None
    return [name.strip() for text in given for name in ([text] if text in known else text.split(","))]


def clip_choice(given: str | None) -> ClipChoice:
    """Which clips to take."""
    if given is None:
        return None
    return "scored" if given == "scored" else _listed_clips(given, "--clips", "'scored'")


def clips_to_show(given: str) -> int | list[str]:
    """How many clips a report shows, or which ones."""
    return int(given) if given.isdecimal() else _listed_clips(given, "--clips-shown", "a number")


def _listed_clips(given: str, option: str, otherwise: str) -> list[str]:
    try:
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SedscopeError(
            f"{option} {given}: neither {otherwise} nor a file with a clip a line ({error})"
        ) from None
    names = [line.split("\t")[0].strip() for line in lines]
    chosen = [name for name in names if name and name != "filename"]
    if not chosen:
        raise SedscopeError(f"{option} {given}: the file names no clip")
    return chosen


def chosen_metrics(texts: Sequence[str] | None, presets: Sequence[str] | None) -> list[Metric]:
    """Metrics by definition and by the name of a preset; those of DCASE if there are none."""
    from ..metrics import parse_metric
    from ..presets import PRESETS, PSDS1, PSDS2

    unknown = [name for name in presets or () if name not in PRESETS]
    if unknown:
        raise SedscopeError(f"no preset {listing(unknown)}; there are {listing([*PRESETS], limit=30)}")
    chosen = [metric for name in presets or () for metric in PRESETS[name]]
    return [*chosen, *(parse_metric(text) for text in texts or ())] or [PSDS1, PSDS2]


def processed(scores: Scores, texts: Sequence[str] | None) -> Scores:
    """The scores after the post-processings that were asked for, in order."""
    from ..postprocessing import parse_postprocessing

    for text in texts or ():
        scores = parse_postprocessing(text)(scores)
    return scores


def read_groups(path: Path | None) -> dict[str, str] | None:
    """The group of each clip, from a tab-separated file."""
    from ..io.text_tables import read_text_table

    if path is None:
        return None
    table = read_text_table(path)
    if len(table.header) < 2:
        raise SedscopeError(f"{path}: two columns are needed, e.g. filename and group")
    groups: dict[str, str] = {}
    wrong = []
    for row, cells in enumerate(table.rows):
        clip, group = (cell.strip() for cell in cells[:2])
        if not clip or not group or groups.setdefault(clip, group) != group:
            wrong.append(table.place(row))
    if wrong:
        raise SedscopeError(f"{path}: no clip, no group, or a second group for a clip: {listing(wrong)}")
    return groups
