"""Files that commands write: tables by the end of their name, and operating points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import typer

from ...errors import SedscopeError, listing, with_guesses
from .arguments import parse_step
from .groups import OptionGroup, as_location, option, output_option

if TYPE_CHECKING:
    from ...io.events.format import Boxes
    from ...io.locations import Location
    from ...postprocessing import PostProcessing
    from ...tabular import TabularResult
    from ...tuning.operating_points import OperatingPoints


_WRITERS = {".md": "to_markdown", ".tex": "to_latex", ".csv": "to_csv"}
PICTURES = (".png", ".svg", ".pdf")

TABLES = output_option(
    None,
    "File for all tables: .md, .tex or .csv; or for a picture: .pdf, .svg or .png. Repeat the "
    "option for several formats.",
)


@dataclass(frozen=True)
class LatexOptions(OptionGroup):
    """How tables in LaTeX look."""

    panel: ClassVar[str] = "Tables in LaTeX"

    caption: str | None = option(
        None,
        "Caption of the tables in .tex files, as LaTeX. The tables then float, with notes below "
        "them (package threeparttable). It may hold a \\label.",
    )
    table_intervals: Literal["beside", "below", "column"] = option(
        "beside", "Where intervals stand: beside their value, below it, or in their own column."
    )
    table_columns: str | None = option(
        None,
        "Columns after the names of the rows, separated by commas, e.g. 'psds1,psds2'. [default: all]",
    )

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of ``to_latex``."""
        columns = self.table_columns
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        return {"caption": self.caption, "intervals": self.table_intervals, "columns": names}


def check_tables(paths: Sequence[Path] | None, latex: LatexOptions) -> None:
    """Refuse files whose names do not say what to write, and options of LaTeX without a table in it."""
    options = latex.changed_options()
    if options and not any(path.suffix == ".tex" for path in paths or ()):
        raise SedscopeError(f"{options[0]} is for tables in LaTeX. Write some, e.g. with -o table.tex.")
    known = (*_WRITERS, *PICTURES)
    unknown = [str(path) for path in paths or () if path.suffix not in known]
    if unknown:
        page = " For a page, use 'sedscope report', or --report of 'sedscope compare'."
        raise SedscopeError(
            f"--output {listing(unknown)}: the name must end with {', '.join(known[:-1])} or {known[-1]}."
            + page * any(path.endswith((".html", ".htm")) for path in unknown)
        )


def write_tables(result: TabularResult, paths: Sequence[Path] | None, latex: LatexOptions) -> None:
    """Write the tables and pictures of a result to files."""
    for path in paths or ():
        if path.suffix in PICTURES:
            write_picture(result, path)
            continue
        options = latex.arguments() if path.suffix == ".tex" else {}
        getattr(result, _WRITERS[path.suffix])(path, **options)


def write_picture(result: Any, path: Path) -> None:
    """Draw a result into a file."""
    from ...io.atomic_write import replacing

    if not hasattr(result, "plot"):
        raise SedscopeError(f"-o {path}: these tables have no picture. Write them as .md, .tex or .csv.")
    figure: Any = result.plot().figure
    with replacing(path) as written:
        figure.savefig(written, format=path.suffix[1:].lower())


@dataclass(frozen=True)
class BoxOptions(OptionGroup):
    """What tables of Raven say beside the events."""

    panel: ClassVar[str] = "Tables of Raven"

    audio_suffix: str = option(
        ".wav", "What follows the names of clips that have no suffix of an audio file."
    )
    frequencies: str = option(
        "0,15000", "Lowest and highest frequency of events that have none, in Hz, e.g. '0,8000'."
    )

    def boxes(self) -> Boxes:
        """Return the options as an object of the library."""
        from ...io.events.format import Boxes

        try:
            low, high = map(float, self.frequencies.split(","))
        except ValueError:
            raise SedscopeError(
                f"--frequencies {self.frequencies}: give two numbers of Hz, as in 0,8000."
            ) from None
        return Boxes(self.audio_suffix, low, high)


def write_event_list(
    events: Mapping[str, Sequence[tuple[Any, ...]]],
    path: Path,
    durations: Mapping[str, float] | None,
    boxes: Boxes,
) -> list[str]:
    """Write events in the format that the name of a file or folder selects, and note what that lacks."""
    from ...io.event_files import event_format_of_name, write_event_set
    from ...io.events.files import EVENT_FORMATS
    from ...io.events.format import EventSet

    target = EVENT_FORMATS.named(event_format_of_name(path))
    needs_durations = target.uses_durations
    event_set = EventSet(events, (durations if needs_durations else None) or {}, boxes)
    write_event_set(event_set, path, format=target.name, lossy=True)
    losses = "; ".join(target.losses(event_set))
    return [f"{path} cannot hold {losses}. That is left out."] if losses else []


POINTS = option(
    None,
    "File of operating points, which 'sedscope tune' wrote: apply its post-processings, and "
    "measure at its thresholds. [default metrics: precision, recall, fscore, error_rate, "
    "false_alarms_per_hour]",
)


POINTS_FILE = option(None, "File of operating points, which 'sedscope tune' or a report wrote.")
THRESHOLD = option(None, "One threshold for all classes.")


def show_result(result: TabularResult, notes: Iterable[str], json: str | None) -> None:
    """Print the tables and the warnings, and write JSON if asked for. ``-``: print only JSON."""
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    typer.echo(result.table())
    for note in notes:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)


def read_points(path: Location, postprocess: Sequence[str] | None) -> OperatingPoints:
    """Read a file of operating points.

    ``postprocess``: the option of that name. If the file has post-processings, the option must name the
    same ones, because the file is complete. If it has none, those of the option are applied.
    """
    from ... import OperatingPoints

    points = OperatingPoints.load(path)
    if not postprocess or not points.postprocessing:
        return points
    option = parse_steps(postprocess)
    steps = {label: option._for_class(label) for label in points.postprocessing}
    if steps != points.postprocessing or any(
        option._for_class(label) is not None
        for label in points.thresholds
        if label not in points.postprocessing
    ):
        in_file = dict.fromkeys(map(repr, points.postprocessing.values()))
        raise SedscopeError(
            f"--postprocess differs from the post-processing that {path} applies by itself: "
            f"{listing([*in_file])}. Leave out --postprocess."
        )
    return points


def with_postprocess(
    points: OperatingPoints | None, postprocess: Sequence[str] | None, classes: Sequence[str]
) -> OperatingPoints | None:
    """Add the option ``--postprocess`` to operating points that have no post-processing.

    So a report can save points that are complete.
    """
    if not postprocess or (points is not None and points.postprocessing):
        return points
    from ... import OperatingPoints

    return (points or OperatingPoints({})).after(parse_steps(postprocess), classes)


def parse_steps(postprocess: Sequence[str]) -> PostProcessing:
    """Read the option ``--postprocess``: one post-processing, or several in order."""
    from ...postprocessing import Chain

    steps = [parse_step(text) for text in postprocess]
    return steps[0] if len(steps) == 1 else Chain(*steps)


def points_by_system(
    texts: Sequence[str] | None, systems: Sequence[str], postprocess: Sequence[str] | None
) -> dict[str, OperatingPoints]:
    """Read ``--points NAME=FILE`` for several systems. A file without a name is for all of them."""
    by_system: dict[str, OperatingPoints] = {}
    for text in texts or ():
        name, path = _name_and_path(text)
        unknown = [] if name is None or name in systems else [name]
        if unknown:
            raise SedscopeError(
                f"--points {text}: there is no system {listing(with_guesses(unknown, systems))}. The "
                f"systems are {listing(systems)}."
            )
        points = read_points(path, postprocess)
        for system in systems if name is None else [name]:
            if system in by_system:
                raise SedscopeError(f"--points: {system} has two files of operating points. Give one.")
            by_system[system] = points
    return by_system


def points_paths(texts: Sequence[str]) -> list[Location]:
    """Return the files that ``--points NAME=FILE`` names."""
    return [_name_and_path(text)[1] for text in texts]


def _name_and_path(text: str) -> tuple[str | None, Location]:
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return None, as_location(text)
    return name, as_location(path)
