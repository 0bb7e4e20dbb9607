"""Files that commands write: tables by the end of their name, and operating points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ..errors import SedscopeError, listing, with_guesses
from .options import Writes, as_location, parse_step, path_option

if TYPE_CHECKING:
    from ..io.locations import Location
    from ..postprocessing import PostProcessing
    from ..tabular import TabularResult
    from ..tuning.operating_points import OperatingPoints


_WRITERS = {".md": "to_markdown", ".tex": "to_latex", ".csv": "to_csv"}

TablesOption: TypeAlias = Annotated[
    list[Path] | None,
    path_option(
        "--output",
        "-o",
        help="File for all tables: .md, .tex or .csv. Repeat the option for several formats.",
    ),
    Writes(),
]

CaptionOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Caption of the tables in .tex files, as LaTeX. The tables then float, with notes below them "
        "(package threeparttable). It may hold a \\label."
    ),
]


def check_tables(paths: Sequence[Path] | None, caption: str | None = None) -> None:
    """Refuse files whose names do not say what to write, and a caption without a table in LaTeX."""
    if caption is not None and not any(path.suffix == ".tex" for path in paths or ()):
        raise SedscopeError("--caption is for tables in LaTeX. Write some, e.g. with -o table.tex.")
    unknown = [str(path) for path in paths or () if path.suffix not in _WRITERS]
    if unknown:
        raise SedscopeError(f"--output {listing(unknown)}: the name must end with .md, .tex or .csv.")


def write_tables(
    result: TabularResult, paths: Sequence[Path] | None, caption: str | None = None
) -> None:
    """Write the tables of a result to files."""
    for path in paths or ():
        options = {"caption": caption} if path.suffix == ".tex" else {}
        getattr(result, _WRITERS[path.suffix])(path, **options)


PointsOption: TypeAlias = Annotated[
    Path | None,
    path_option(
        help="File of operating points, which 'sedscope tune' wrote: apply its post-processings, and "
        "measure at its thresholds. [default metrics: precision, recall, fscore, error_rate, "
        "false_alarms_per_hour]"
    ),
]


def read_points(path: Location, postprocess: Sequence[str] | None) -> OperatingPoints:
    """Read a file of operating points.

    ``postprocess``: the option of that name. If the file has post-processings, the option must name the
    same ones, because the file is complete. If it has none, those of the option are applied.
    """
    from .. import OperatingPoints

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
    from .. import OperatingPoints

    return (points or OperatingPoints({})).after(parse_steps(postprocess), classes)


def parse_steps(postprocess: Sequence[str]) -> PostProcessing:
    """Read the option ``--postprocess``: one post-processing, or several in order."""
    from ..postprocessing import Chain

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
