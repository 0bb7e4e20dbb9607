"""``sedscope compare``: several systems on the same clips."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SedscopeError, SedscopeWarning, listing
from ..io.places import Place, place
from .options import (
    AudioOption,
    BalancedOption,
    ClassesOption,
    ClipsOption,
    ClipsShownOption,
    ColumnsOption,
    ConfidenceOption,
    DurationsOption,
    GroupsOption,
    IntervalOption,
    InvalidOption,
    LabelOption,
    MetricOption,
    MissingOption,
    OverlapsOption,
    PostprocessOption,
    PresetOption,
    ScoresFormatOption,
    SeedOption,
    StitchOption,
    ThreadsOption,
    TruthFormatOption,
    chosen_metrics,
    class_names,
    clip_choice,
    clips_to_show,
    column_map,
    processed,
    read_groups,
)

if TYPE_CHECKING:
    from ..scores import Scores


def compare(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM SYSTEM... GROUND_TRUTH",
            help="Two systems or more, each a folder of score tables or a file of detections, or "
            "NAME=RUN,RUN for several runs of one system; then the reference events",
        ),
    ],
    durations: DurationsOption = None,
    metric: MetricOption = None,
    preset: PresetOption = None,
    postprocess: PostprocessOption = None,
    bootstrap: Annotated[int, typer.Option(help="Number of resamples of the clips")] = 1000,
    confidence: ConfidenceOption = 0.95,
    seed: SeedOption = 0,
    interval: IntervalOption = "percentile",
    balanced: BalancedOption = False,
    groups: GroupsOption = None,
    classes: ClassesOption = None,
    clips: ClipsOption = None,
    missing: MissingOption = "error",
    invalid: InvalidOption = "error",
    overlaps: OverlapsOption = "error",
    truth_format: TruthFormatOption = None,
    columns: ColumnsOption = None,
    label: LabelOption = None,
    scores_format: ScoresFormatOption = None,
    stitch: StitchOption = None,
    threads: ThreadsOption = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="File for all tables: .md, .tex or .csv; may be given several times"
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report of all systems to this HTML file")
    ] = None,
    clips_shown: ClipsShownOption = "60",
    audio: AudioOption = None,
) -> None:
    """Compare systems: values, differences, and which of them are more than chance."""
    from .. import compare as compare_systems
    from .. import read_ground_truth
    from ..report.reading import remembered
    from .progress import progress_bar
    from .systems import read_system, require_scores

    *systems, ground_truth = paths
    if len(systems) < 2:
        raise SedscopeError("give at least two systems, then the ground truth")
    unknown = [str(path) for path in output or () if path.suffix not in _FORMATS]
    if unknown:
        raise SedscopeError(f"--output: {listing(unknown)}: the name must end with .md, .tex or .csv")
    to_show = clips_to_show(clips_shown)
    if audio is not None and report is None:
        raise SedscopeError("--audio is for the report: give --report FILE, too")
    metrics = chosen_metrics(metric, preset)
    truth = read_ground_truth(
        place(ground_truth),
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
        format=truth_format,
        columns=column_map(columns),
        label=label,
    )

    def read(path: Place) -> Scores:
        system = read_system(path, truth, overlaps, format=scores_format, stitch=stitch)
        return processed(require_scores(system, path, "compare"), postprocess)

    runs = {name: [read(path) for path in paths] for name, paths in _named(systems).items()}
    if report:
        runs = {name: [remembered(of_system[0]), *of_system[1:]] for name, of_system in runs.items()}
    known = next(iter(runs.values()))[0].classes
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        result = compare_systems(
            runs,
            truth,
            metrics,
            n=bootstrap,
            confidence=confidence,
            seed=seed,
            interval=interval,
            balanced=balanced,
            groups=read_groups(groups),
            classes=class_names(classes, known),
            clips=clip_choice(clips),
            missing=missing,
            threads=threads,
            progress=progress,
        )
    if report:
        result.report(report, clips_shown=to_show, audio=audio, threads=threads)
    for path in output or ():
        getattr(result, _FORMATS[path.suffix])(path)
    typer.echo(f"{result.clips} clips, {result.hours:.2f} hours\n\n{result.table()}")
    for i, measured in enumerate(metrics, 1):
        typer.echo(f"\n[{i}]\n{result.class_table(measured)}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)


_FORMATS = {".md": "to_markdown", ".tex": "to_latex", ".csv": "to_csv"}


def _named(systems: list[str]) -> dict[str, list[Place]]:
    """The paths of each system by its name: as given, or else the last part of its path."""
    named: dict[str, list[Place]] = {}
    short: list[str] = []
    for text in systems:
        name, equals, listed = text.partition("=")
        if not equals or Path(text).exists():
            name, paths = text.rstrip("/\\") or text, [place(text)]
            short.append(place(name).name or name)
        else:
            runs = [listed] if Path(listed).exists() else listed.split(",")
            if not name or not listed or "" in runs:
                raise SedscopeError(f"{text}: write NAME=FOLDER, or NAME=RUN,RUN for several runs")
            paths = [place(run) for run in runs]
            short.append(name)
        if name in named:
            raise SedscopeError(f"two systems are called {name}: give names, as in NAME=FOLDER")
        named[name] = paths
    return dict(zip(short, named.values(), strict=True)) if len(set(short)) == len(named) else named
