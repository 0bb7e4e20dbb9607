"""Arguments and options that several commands share, how their values are read, and progress."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ...errors import SedscopeError, SedscopeWarning
from ...errors import collected_warnings as collected_warnings
from ...escaping import printable
from .groups import argument, as_location, option

if TYPE_CHECKING:
    from ...data.scores import Scores
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


def system_name(path: Location) -> str:
    """Return what a system is called after its path, in files as well."""
    from ...io.locations import shown_name

    return shown_name(path.name) or "system"


_UNITS = ("seconds", "centiseconds", "milliseconds")

SCORES = argument(
    "Scores or detections: a folder of score tables, one per clip (onset offset class…), a file "
    "of detections (filename onset offset event_label, optionally confidence), a folder of such "
    "files named by their thresholds, or any other format that 'sedscope formats' lists."
)
SCORES_TO_THRESHOLD = argument(
    "Scores: a folder of score tables, one per clip (onset offset class…), a file of detections "
    "with a column confidence, or any other format that 'sedscope formats' lists."
)
GROUND_TRUTH = argument(
    "Reference events (filename onset offset event_label), or any other format that 'sedscope "
    "formats' lists."
)
FORMAT = option(None, "Format of the input. [default: detected from the content]")
SCORES_FORMAT = option(None, "Format of the scores or detections. [default: detected from the content]")
SCORES_COLUMNS = option(
    None,
    "Column names of a table of detections, e.g. 'label=\"Scientific name\"'. The keys are those of "
    "--columns.",
)
DETECTION_OVERLAPS = option(
    "error",
    "Overlapping detections of one class: 'error' refuses them, 'merge' merges them, 'keep' keeps "
    "them as they are, 'average' takes them as windows and averages them into frames.",
)
GAPS = option(
    "error",
    "Gaps between the frames of scores: 'error' refuses them, 'silent' takes them as frames in "
    "which nothing is active.",
)
_COLUMNS = (
    "e.g. 'onset=\"Begin Time (s)\",label=Species'. The keys are filename, onset, offset, duration, label "
    "and confidence."
)
COLUMNS = option(None, f"Column names of an event table, {_COLUMNS}")
TRUTH_COLUMNS = option(None, f"Column names of the reference events, {_COLUMNS}", "--columns")
LABEL = option(None, "Label for events that have none, and for all speakers of RTTM files.")
LABELS = option(
    None,
    "Label map: a table 'from,to' or TOML. Labels with the same new name are merged, an empty one "
    "drops a label.",
)
STITCH = option(
    None,
    "Join the chunks of long recordings, and average them where they overlap. Give 'seconds', "
    "'centiseconds' or 'milliseconds' if the chunks are named RECORDING-START or "
    "RECORDING-START-END in that unit, or a file with the columns filename, recording and start.",
    reads=lambda text: [] if text in _UNITS else [text],
)
POSTPROCESS = option(
    None,
    'Post-process the scores first, e.g. "MedianFilter(0.48)", or as a file of operating points '
    "does, whose thresholds are not used. Repeat the option to apply several in order.",
    reads=lambda texts: [*files_in_definitions(texts), *filter(_is_points_file, texts)],
)
SEED = option(0, "Seed of the random draws.")
GROUPS = option(
    None, "File with the group of each clip (filename group). The clips of a group stay together."
)
JSON = option(
    None, "Write the results to this JSON file, or '-' to print JSON and nothing else.", writes="file"
)

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
