"""``sedscope latency``: how long after their onset references get an alarm, at chosen thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import SedscopeError
from .engine_options import ThreadOptions
from .input_options import InputOptions
from .options import JsonOption, ScoresArgument, TruthArgument, Writes, collected_warnings, path_option
from .output_files import read_points, with_postprocess

PICTURES = (".png", ".svg", ".pdf")


def latency(
    scores: ScoresArgument,
    ground_truth: TruthArgument,
    inputs: InputOptions,
    threads: ThreadOptions,
    points: Annotated[
        Path | None,
        path_option(help="File of operating points, which 'sedscope tune' or a report wrote."),
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="One threshold for all classes.")] = None,
    criterion: Annotated[
        str, typer.Option(help="When alarms are raised and references are found.")
    ] = "Alarm(cooldown=60, before=0, after=2)",
    json: JsonOption = None,
    output: Annotated[
        Path | None,
        path_option(
            "--output",
            "-o",
            help="File for a picture (png, svg, pdf): the share of references with an alarm over the time "
            "since their onset.",
        ),
        Writes(),
    ] = None,
) -> None:
    """Measure how long after its onset the first alarm for each reference comes.

    The percentiles are those of the references that are found; read the share that is found beside them.
    """
    from .. import Run, alarm_latencies
    from ..criteria import parse_criterion
    from ..evaluation.operating_point import points_notes
    from ..io.atomic_write import replacing

    if (points is None) == (threshold is None):
        raise SedscopeError("Give either --points or --threshold.")
    if output is not None and output.suffix.lower() not in PICTURES:
        raise SedscopeError(
            f"-o {output}: the name of a picture ends in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}."
        )
    alarm = parse_criterion(criterion)
    operating_points = None if points is None else read_points(points, inputs.postprocess)
    with collected_warnings() as notes:
        truth = inputs.read_truth(ground_truth)
        system = inputs.read_scores(scores, truth, "latency")
    operating_points = with_postprocess(operating_points, inputs.postprocess, system.classes)
    if operating_points is not None:
        system = operating_points.process(system)
        notes += points_notes(operating_points, system)
    selection = inputs.selection(system.classes)
    thresholds: float | dict[str, float]
    if threshold is None:
        assert operating_points is not None
        evaluated = system.classes if selection["classes"] is None else selection["classes"]
        chosen = operating_points.thresholds
        if not chosen:
            raise SedscopeError(f"{points} has no thresholds. Give one for all classes (--threshold).")
        thresholds = {label: chosen[label] for label in evaluated if label in chosen}
    else:
        thresholds = threshold
    run = Run(threads=threads.threads)
    result = alarm_latencies(system, truth, alarm, thresholds, **selection, run=run)
    if output is not None:
        figure: Any = result.plot().figure
        with replacing(output) as path:
            figure.savefig(path, format=output.suffix[1:].lower())
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    typer.echo(result.table())
    for note in notes:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)
