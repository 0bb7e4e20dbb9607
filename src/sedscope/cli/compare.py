"""``sedscope compare``: several systems on the same clips."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import SedscopeError, SedscopeWarning, listing
from .options import (
    AudioOption,
    BalancedOption,
    ClassesOption,
    ClipsOption,
    ClipsShownOption,
    ConfidenceOption,
    DurationsOption,
    GroupsOption,
    IntervalOption,
    InvalidOption,
    MetricOption,
    MissingOption,
    OverlapsOption,
    PostprocessOption,
    PresetOption,
    SeedOption,
    ThreadsOption,
    chosen_metrics,
    class_names,
    clip_choice,
    clips_to_show,
    processed,
    read_groups,
)

if TYPE_CHECKING:
    from ..ground_truth import GroundTruth, Overlaps
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
        Path(ground_truth), durations=durations, invalid=invalid, overlaps=overlaps
    )
    runs = _runs(systems, truth, overlaps, postprocess)
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


def _runs(
    systems: list[str], truth: GroundTruth, overlaps: Overlaps, postprocess: list[str] | None
) -> dict[str, list[Scores]]:
    """The scores of each system by name."""
    from .systems import read_system, require_scores

    runs: dict[str, list[Scores]] = {}
    for name, paths in _named(systems).items():
        for path in paths:
            system = require_scores(read_system(path, truth, overlaps), path, "compare")
            runs.setdefault(name, []).append(processed(system, postprocess))
    return runs


def _named(systems: list[str]) -> dict[str, list[Path]]:
    named: dict[str, list[Path]] = {}
    for text in systems:
        name, equals, listed = text.partition("=")
        if not equals or Path(text).exists():
            name, paths = text.rstrip("/\\"), [Path(text)]
        else:
            paths = [Path(listed)] if Path(listed).exists() else [Path(p) for p in listed.split(",")]
        if name in named:
            raise SedscopeError(f"two systems are called {name}: give names, as in NAME=FOLDER")
        named[name] = paths
    short = [Path(name).name if len(paths) == 1 else name for name, paths in named.items()]
    return dict(zip(short, named.values(), strict=True)) if len(set(short)) == len(named) else named
