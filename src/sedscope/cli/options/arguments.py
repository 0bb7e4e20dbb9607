"""Arguments and options that several commands share, how their values are read, and progress."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeAlias

import typer

from ...data.choices import EventOverlaps, Gaps
from ...errors import SedscopeError, SedscopeWarning
from ...errors import collected_warnings as collected_warnings
from ...escaping import printable

if TYPE_CHECKING:
    from ...data.scores import Scores
    from ...io.atomic_write import OutputKind
    from ...io.locations import Location
    from ...postprocessing import PostProcessing
    from ...progress import Progress


class PrintableStream(io.TextIOBase):
    """Standard output or error, with options in place of parameters of the library.

    Characters that control a terminal or cannot be seen are escaped.

    Everything that a command prints goes through it: tables, messages, usage errors and tracebacks.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(as_options(text)))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    def fileno(self) -> int:
        return self.stream.fileno()


def _unescaped(stream: Any) -> Any:
    """Return a standard stream as it was."""
    return getattr(stream, "stream", stream)


def print_data(text: str) -> None:
    """Print the content of a file: unchanged for a file or a program, but safe on a terminal."""
    stream = sys.stdout if sys.stdout.isatty() else _unescaped(sys.stdout)
    stream.write(text)


@contextmanager
def progress_bar(title: str, unit: tuple[str, int] = ("", 1)) -> Iterator[Progress]:
    """Show a bar, and yield the function that moves it.

    ``unit``: what it counts, and how many steps each of them has.
    """
    from ...progress import ProgressBar

    bar = ProgressBar(title, unit, _unescaped(sys.stderr))  # the bar moves the cursor
    try:
        yield bar
    finally:
        bar.clear()


@contextmanager
def counting_progress(
    *, resampling: bool = False, unit: tuple[str, int] = ("", 1)
) -> Iterator[Progress]:
    """Show the progress of passes over the clips, and of their resamples.

    Python warnings are silenced: the result carries the same texts, and the command prints them.
    """
    title = "counting and resampling" if resampling else "reading and counting"
    with warnings.catch_warnings(), progress_bar(title, unit) as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        yield progress


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print warnings of the library as the command prints its own, at the end.

    If the command fails, its error is all that is printed.
    """
    with collected_warnings() as texts:
        yield
    for text in texts:
        typer.echo(f"warning: {text}", err=True)


PathTexts: TypeAlias = "Iterable[str | Location]"


@dataclass(frozen=True)
class Reads:
    """Marks a parameter whose value names files to read, for :func:`check_files`.

    Parameters that hold paths need no mark.
    """

    paths: Callable[[Any], PathTexts]
    """Return the paths that a value names."""


@dataclass(frozen=True)
class Writes:
    """Marks a parameter that names something to write."""

    kind: OutputKind = "file"
    """What it may be. A folder is made if there is none."""


def as_location(text: str | Location) -> Location:
    """Return the path or address that a text names."""
    from ...io.locations import location

    if text == "":
        raise typer.BadParameter("The name of the file or folder is empty.")
    return location(text)


def system_name(path: Location) -> str:
    """Return what a system is called after its path, in files as well."""
    from ...io.locations import shown_name

    return shown_name(path.name) or "system"


def path_argument(*, help: str) -> Any:
    """Return an argument that takes a path or an address."""
    return typer.Argument(parser=as_location, help=help)


def path_option(*names: str, help: str) -> Any:
    """Return an option that takes a path or an address."""
    return typer.Option(*names, parser=as_location, metavar="PATH", help=help)


_UNITS = ("seconds", "centiseconds", "milliseconds")

ScoresArgument = Annotated[
    Path,
    path_argument(
        help="Scores or detections: a folder of score tables, one per clip (onset offset class…), a file "
        "of detections (filename onset offset event_label, optionally confidence), a folder of such "
        "files named by their thresholds, or any other format that 'sedscope formats' lists."
    ),
]
ScoresToThresholdArgument = Annotated[
    Path,
    path_argument(
        help="Scores: a folder of score tables, one per clip (onset offset class…), a file of detections "
        "with a column confidence, or any other format that 'sedscope formats' lists."
    ),
]
TruthArgument = Annotated[
    Path,
    path_argument(
        help="Reference events (filename onset offset event_label), or any other format that 'sedscope "
        "formats' lists."
    ),
]
FormatOption = Annotated[
    str | None, typer.Option(help="Format of the input. [default: detected from the content]")
]
ScoresFormatOption = Annotated[
    str | None,
    typer.Option(help="Format of the scores or detections. [default: detected from the content]"),
]
ScoresColumnsOption = Annotated[
    str | None,
    typer.Option(
        help="Column names of a table of detections, e.g. 'label=\"Scientific name\"'. The keys are those of "
        "--columns."
    ),
]
DetectionOverlapsOption = Annotated[
    EventOverlaps,
    typer.Option(
        help="Overlapping detections of one class: 'error' refuses them, 'merge' merges them, 'keep' keeps "
        "them as they are, 'average' takes them as windows and averages them into frames."
    ),
]
GapsOption = Annotated[
    Gaps,
    typer.Option(
        help="Gaps between the frames of scores: 'error' refuses them, 'silent' takes them as frames in "
        "which nothing is active."
    ),
]
_COLUMNS = (
    "e.g. 'onset=\"Begin Time (s)\",label=Species'. The keys are filename, onset, offset, duration, label "
    "and confidence."
)
ColumnsOption = Annotated[str | None, typer.Option(help=f"Column names of an event table, {_COLUMNS}")]
TruthColumnsOption = Annotated[
    str | None, typer.Option("--columns", help=f"Column names of the reference events, {_COLUMNS}")
]
LabelOption = Annotated[
    str | None, typer.Option(help="Label for events that have none, and for all speakers of RTTM files.")
]
LabelsOption = Annotated[
    Path | None,
    path_option(
        help="Label map: a table 'from,to' or TOML. Labels with the same new name are merged, an empty one "
        "drops a label."
    ),
]
StitchOption = Annotated[
    str | None,
    typer.Option(
        help="Join the chunks of long recordings, and average them where they overlap. Give 'seconds', "
        "'centiseconds' or 'milliseconds' if the chunks are named RECORDING-START or "
        "RECORDING-START-END in that unit, or a file with the columns filename, recording and start."
    ),
    Reads(lambda text: [] if text in _UNITS else [text]),
]
PostprocessOption = Annotated[
    list[str] | None,
    typer.Option(
        help='Post-process the scores first, e.g. "MedianFilter(0.48)", or as a file of operating points '
        "does, whose thresholds are not used. Repeat the option to apply several in order."
    ),
    Reads(lambda texts: [*files_in_definitions(texts), *filter(_is_points_file, texts)]),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the random draws.")]
GroupsOption = Annotated[
    Path | None,
    path_option(
        help="File with the group of each clip (filename group). The clips of a group stay together."
    ),
]
JsonOption = Annotated[
    str | None,
    typer.Option(help="Write the results to this JSON file, or '-' to print JSON and nothing else."),
    Writes(),
]

_PARAMETER = re.compile(r"`(?:(\w+)\()?(\w+)=([^`]*?)\)?`|`([^`]+)`")
_COLUMN_NAME = re.compile(r"""'(\w+)': ('[^']*'|"[^"]*"|…)""")
_OPTIONS = {
    **{"SystemReading.columns": "--scores-columns", "read_scores.format": "--scores-format"},
    **{
        "read_scores.frame": "'sedscope convert --frame'",
        "read_scores.classes": "'sedscope convert --classes'",
    },
    **{"metrics": "--metric", "ignored_labels": "--ignored-label", "postprocessing": "--sweep"},
    **{"max_false_alarms": "--max-false-alarms-per-hour", "resampling": "--bootstrap"},
}
"""The options whose names are not those of the parameters."""
_SPELLED = {
    "by=By(lengths=…)": "--by-length",
    "confidence='> 0.5'": "--truth-confidence '> 0.5'",
    "resampling=Resampling(blocks=60)": "--resample blocks=60s",
    "points.process(scores)": "--postprocess FILE",
    "alarm_latencies()": "'sedscope latency --points FILE'",
    "cut_to_regions()": "--regions",
    "Evaluation.to_json()": "'sedscope evaluate --json FILE'",
    "LabelMap.propose()": "'sedscope labels SYSTEM GROUND_TRUTH -o map.csv'",
    "relabelled()": "--labels map.csv",
    "SEDSCOPE_MAX_DOWNLOAD=10GB": "sedscope --max-download 10GB",
}
"""What is an option, or a command, and not a parameter."""


def as_options(text: str) -> str:
    """Spell parameters in a message of the library, between backticks, as options of commands.

    >>> as_options("Merge them with `overlaps='merge'`, or name a column: `columns={'label': …}`.")
    'Merge them with --overlaps merge, or name a column: --columns label=NAME.'
    """
    return _PARAMETER.sub(_option, text)


def _option(parameter: re.Match[str]) -> str:
    spelled, (owner, name, value, _) = _SPELLED.get(parameter[0].strip("`")), parameter.groups()
    if spelled is not None or name is None:
        return spelled or parameter[0]
    option = _OPTIONS.get(f"{owner}.{name}" if owner else name, f"--{name.replace('_', '-')}")
    columns = [f"{role}={_word(column)}" for role, column in _COLUMN_NAME.findall(value)]
    word = "" if value in ("", "…", "True") else ",".join(columns) or _word(value)
    return f"{option} {word}".rstrip()


def _word(value: str) -> str:
    """Return a value as it is typed: in quotes if they are needed."""
    return "NAME" if value == "…" else value if " " in value else value.strip("'\"")


_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_COLUMN = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")


def check_files(parameters: Iterable[tuple[Any, Sequence[object]]]) -> None:
    """Check what a command reads and writes, before any work is done.

    An output needs a folder, and must not be an input or another output. ``parameters``: the value of
    each parameter, and its marks.
    """
    inputs: list[tuple[Any, Callable[[Any], PathTexts]]] = []
    outputs: list[Location] = []
    for value, marks in parameters:
        if value is None:
            continue
        writes = next((mark for mark in marks if isinstance(mark, Writes)), None)
        if writes is None:
            inputs.append((value, next((m.paths for m in marks if isinstance(m, Reads)), _paths)))
        else:
            outputs += [_checked_output(path, writes) for path in _as_list(value) if path != "-"]
    if outputs:
        from ...io.output_checks import refuse_overwriting

        named = [path for value, paths in inputs for path in paths(value)]
        refuse_overwriting(outputs, [path for path in named if path != ""])  # that is refused later


def _checked_output(path: str | Location, writes: Writes) -> Location:
    """Return the location of an output. Refuse one that cannot be written."""
    from ...io.atomic_write import check_output

    if path == "":
        raise SedscopeError("The name of an output file is empty.")
    target = as_location(path)
    if str(target) == "-":
        raise SedscopeError("Cannot write -: this output cannot be printed. Give the name of a file.")
    check_output(target, writes.kind)
    return target


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _paths(value: Any) -> list[Location]:
    """Return the value of a parameter that holds one or several paths; other values name no files."""
    from ...io.locations import Address

    return [item for item in _as_list(value) if isinstance(item, (Path, Address))]


def files_in_definitions(texts: Iterable[str]) -> list[str]:
    """Return what may be files in definitions such as ``ScoreTransform("fitted.npz")``."""
    return [name for text in texts for pair in _QUOTED.findall(text) for name in pair if name]


def column_map(text: str | None, option: str = "--columns") -> dict[str, str] | None:
    """Read the column names of ``key=name,…``. Quotes keep commas in a name."""
    if text is None:
        return None
    columns: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _COLUMN.match(text, position)
        if match is None:
            raise SedscopeError(f"{option} {text} cannot be read. Write key=name,key=name.")
        columns[match[1]] = match[2].strip().strip("\"'")
        position = match.end()
    return columns


def stitch_arguments(text: str | None) -> dict[str, Any]:
    """Return how the library joins chunks, as the option ``--stitch`` says."""
    from ...io.side_tables import read_chunk_table

    if text is None:
        return {"stitch": False}
    if text in _UNITS:
        return {"stitch": None, "unit": text}
    path = as_location(text)
    return {"stitch": path if isinstance(path, Path) else read_chunk_table(path)}


def read_clip_list(text: str, option: str, alternative: str | None = None) -> list[str]:
    """Read a file with one clip per line. ``alternative``: what else the option accepts."""
    from ...io.locations import input_location, read_input

    try:
        lines = read_input(input_location(text)).decode("utf-8-sig").splitlines()
    except (UnicodeDecodeError, SedscopeError) as error:
        wrong = "not" if alternative is None else f"neither {alternative} nor"
        raise SedscopeError(
            f"{option} {text} is {wrong} a file with one clip per line ({error})."
        ) from None
    names = [line.split("\t")[0].strip() for line in lines]
    clips = [name for name in names if name and name != "filename"]
    if not clips:
        raise SedscopeError(f"{option} {text}: the file lists no clips.")
    return clips


def postprocess(scores: Scores, texts: Sequence[str] | None) -> Scores:
    """Apply the post-processings of the option ``--postprocess``, in order."""
    for text in texts or ():
        scores = parse_step(text)(scores)
    return scores


def _is_points_file(text: str) -> bool:
    return text.endswith(".toml")


def parse_step(text: str) -> PostProcessing:
    """Read a post-processing from its definition, or from a file of operating points."""
    from ...postprocessing import PerClass, parse_postprocessing

    if not _is_points_file(text):
        return parse_postprocessing(text)
    from ... import OperatingPoints

    steps = OperatingPoints.load(as_location(text)).postprocessing
    if not steps:
        raise SedscopeError(
            f"--postprocess {text}: the file has thresholds, but no post-processing. 'sedscope tune --sweep' "
            "chooses one."
        )
    return PerClass(steps)
