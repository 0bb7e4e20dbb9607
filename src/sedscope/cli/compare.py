"""``sedscope compare``: several systems on the same clips."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.locations import Location, location
from .inputs import Inputs
from .metric_options import MetricChoice, Sampling, Shown
from .options import check_outputs, path_option

if TYPE_CHECKING:
    from ..data.scores import Scores


def compare(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM SYSTEM... GROUND_TRUTH",
            help="Two systems or more, each a folder of score tables or a file of detections, or "
            "NAME=RUN,RUN for several runs of one system; then the reference events",
        ),
    ],
    inputs: Inputs,
    measured: MetricChoice,
    sampling: Sampling,
    shown: Shown,
    bootstrap: Annotated[int, typer.Option(help="Number of resamples of the clips")] = 1000,
    output: Annotated[
        list[Path] | None,
        path_option(
            "--output", "-o", help="File for all tables: .md, .tex or .csv; may be given several times"
        ),
    ] = None,
    report: Annotated[
        Path | None, path_option(help="Write a report of all systems to this HTML file")
    ] = None,
) -> None:
    """Compare systems: values, differences, and which of them are more than chance."""
    from .. import compare as compare_systems
    from ..data.cached_scores import cached
    from .progress import progress_bar

    *systems, ground_truth = paths
    if len(systems) < 2:
        raise SedscopeError("give at least two systems, then the ground truth")
    unknown = [str(path) for path in output or () if path.suffix not in _FORMATS]
    if unknown:
        raise SedscopeError(f"--output: {listing(unknown)}: the name must end with .md, .tex or .csv")
    check_outputs(report, *(output or ()))
    of_report = shown.arguments(report)
    metrics = measured.metrics()
    truth = inputs.read_truth(location(ground_truth))

    def read(path: Location) -> Scores:
        return inputs.read_scores(path, truth, "compare")

    runs = {name: [read(path) for path in paths] for name, paths in _named(systems).items()}
    if report:
        runs = {name: [cached(of_system[0]), *of_system[1:]] for name, of_system in runs.items()}
    known = next(iter(runs.values()))[0].classes
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        result = compare_systems(
            runs,
            truth,
            metrics,
            n=bootstrap,
            progress=progress,
            **sampling.arguments(),
            **inputs.choice(known),
        )
    if report:
        result.report(report, threads=inputs.threads, **of_report)
    for path in output or ():
        getattr(result, _FORMATS[path.suffix])(path)
    typer.echo(f"{result.clips} clips, {result.hours:.2f} hours\n\n{result.table()}")
    for i, metric in enumerate(metrics, 1):
        typer.echo(f"\n[{i}]\n{result.class_table(metric)}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)


_FORMATS = {".md": "to_markdown", ".tex": "to_latex", ".csv": "to_csv"}


def _named(systems: list[str]) -> dict[str, list[Location]]:
    """The paths of each system by its name: as given, or else the last part of its path."""
    named: dict[str, list[Location]] = {}
    short: list[str] = []
    for text in systems:
        name, equals, listed = text.partition("=")
        if not equals or Path(text).exists():
            name, paths = text.rstrip("/\\") or text, [location(text)]
            short.append(location(name).name or name)
        else:
            runs = [listed] if Path(listed).exists() else listed.split(",")
            if not name or not listed or "" in runs:
                raise SedscopeError(f"{text}: write NAME=FOLDER, or NAME=RUN,RUN for several runs")
            paths = [location(run) for run in runs]
            short.append(name)
        if name in named:
            raise SedscopeError(f"two systems are called {name}: give names, as in NAME=FOLDER")
        named[name] = paths
    return dict(zip(short, named.values(), strict=True)) if len(set(short)) == len(named) else named
