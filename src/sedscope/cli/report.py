"""``sedscope report``: an HTML page about one system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .engine_options import EngineOptions, MemoryOptions
from .evaluate import evaluate_system, show
from .input_options import InputOptions
from .options import ScoresArgument, TruthArgument, Writes, path_option, system_name
from .output_files import PointsOption
from .resampling_options import IntervalOptions
from .result_options import GroupOptions, MetricOptions, ReportOptions


def report(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[Path, path_option("--output", "-o", help="HTML file to write."), Writes()],
    inputs: InputOptions,
    metric_options: MetricOptions,
    intervals: IntervalOptions,
    groups: GroupOptions,
    report_options: ReportOptions,
    engine: EngineOptions,
    points: PointsOption = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the system. [default: that of its file or folder]")
    ] = None,
) -> None:
    """Write an HTML report of a system, which opens offline.

    It has curves, threshold sliders, an error analysis and a clip browser.
    """
    shown = report_options.arguments()
    result = evaluate_system(
        scores,
        ground_truth,
        inputs,
        metric_options,
        intervals.resampling(),
        engine,
        MemoryOptions(),
        groups,
        points=points,
        keep_scores=True,
    )
    result.report(output, name=name or system_name(scores), **shown, run=engine.run())
    show(result, points=points)
    typer.echo(f"\nreport: {output}")
