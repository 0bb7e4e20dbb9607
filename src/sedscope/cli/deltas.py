"""``sedscope deltas``: the deltas of some clips, in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..errors import counted
from .engine_options import EngineOptions
from .input_options import InputOptions
from .options import ScoresArgument, TruthArgument, Writes, counting_progress, path_option, postprocess
from .result_options import MetricOptions


def deltas(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    output: Annotated[Path, path_option("--output", "-o", help="File for the deltas."), Writes()],
    inputs: InputOptions,
    metric_options: MetricOptions,
    engine: EngineOptions,
    append: Annotated[
        bool, typer.Option("--append", help="Keep the deltas of other clips that the file holds.")
    ] = False,
    system_name: Annotated[
        str | None,
        typer.Option(
            "--system",
            help="Name of the system. Deltas of systems with different names cannot be merged.",
        ),
    ] = None,
) -> None:
    """Write deltas to a file, for 'sedscope evaluate --deltas'."""
    from ..counting.delta_files import save_deltas
    from ..data.alignment import align
    from ..evaluation.evaluate import deltas_and_notes
    from ..metrics.metric import delta_requests

    metrics = metric_options.metrics().values()
    truth = inputs.read_truth(ground_truth)
    system = postprocess(inputs.read_scores(scores, truth, "deltas"), inputs.postprocess)
    # The clips may be part of a larger set, whose floors are not known here.
    requests = {
        criterion: request.at_every_threshold() for criterion, request in delta_requests(metrics).items()
    }
    with counting_progress() as progress:
        alignment = replace(align(system, truth, **inputs.selection(system.classes)), hashed=True)
        parts, notes = deltas_and_notes(alignment, requests, engine.run(progress))
    save_deltas([part.of_system(system_name) for part in parts.values()], output, append=append)
    rows = sum(part.tables.rows() for part in parts.values())
    typer.echo(f"{output}: {counted(len(alignment.clips), 'clip')}, {counted(rows, 'change')} of counts")
    for warning in notes:
        typer.echo(f"warning: {warning}", err=True)
