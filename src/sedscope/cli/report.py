"""``sedscope report``: a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .evaluate import evaluate
from .inputs import Inputs
from .metric_options import MetricChoice, Sampling, Shown
from .options import ScoresArgument, TruthArgument, path_option


def report(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[Path, path_option("--output", "-o", help="The HTML file to write")],
    inputs: Inputs,
    measured: MetricChoice,
    sampling: Sampling,
    shown: Shown,
    bootstrap: Annotated[
        int | None, typer.Option(help="Add intervals from so many resamples of the clips, e.g. 1000")
    ] = None,
) -> None:
    """Write a page that shows a system: curves, a threshold slider, errors, clips. It opens offline."""
    paths = [scores, ground_truth]
    evaluate(paths, inputs, measured, sampling, shown, bootstrap=bootstrap, report=output)
