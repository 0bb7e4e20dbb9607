"""``sedscope deltas``: what an evaluation needs to know of some clips, in a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ..errors import SedscopeWarning
from .inputs import Inputs
from .metric_options import MetricChoice
from .options import ScoresArgument, TruthArgument, check_outputs, path_option


def deltas(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[
        Path,
        path_option("--output", "-o", help="File for the deltas"),
    ],
    inputs: Inputs,
    measured: MetricChoice,
    append: Annotated[
        bool, typer.Option("--append", help="Keep what the file holds of other clips")
    ] = False,
) -> None:
    """Write what the metrics need to know of these clips, for 'evaluate --deltas', alone or with that of
    other clips."""
    from ..counting.delta_files import save_deltas
    from ..data.alignment import align
    from ..engines.floor_search import find_deltas
    from ..engines.options import RunOptions
    from ..metrics.requests import delta_requests
    from .progress import progress_bar

    check_outputs(output)
    metrics = measured.metrics()
    truth = inputs.read_truth(ground_truth)
    system = inputs.read_scores(scores, truth, "deltas")
    # of how many clips they will be a part is not known, so there is no floor
    requests = {c: r.at_every_threshold() for c, r in delta_requests(metrics).items()}
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        choice = inputs.choice(system.classes)
        threads = choice.pop("threads")
        alignment = align(system, truth, **choice)
        with RunOptions(threads).open_engine() as engine:
            found = find_deltas(alignment, requests, engine, progress)
    save_deltas(found.values(), output, append=append)
    rows = sum(part.tables.rows() for part in found.values())
    typer.echo(f"{output}: {len(alignment.clips)} clips, {rows} changes of counts")
    for note in alignment.warnings:
        typer.echo(f"warning: {note}", err=True)
