"""``sedscope evaluate``: from files to a table of metrics."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import SedscopeError, SedscopeWarning, counted, listing
from ..io.locations import Location, location
from .inputs import Inputs
from .metric_options import MetricChoice, Sampling, Shown
from .options import check_outputs, path_option

if TYPE_CHECKING:
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..evaluation.result import Evaluation
    from ..metrics import Metric

_MANY = 1_000_000  # clips × classes of which it is worth looking at some first


def evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(
            parser=location,
            metavar="SCORES GROUND_TRUTH",
            help="Scores or detections in any format, see 'sedscope formats', or a folder of files of "
            "detections, named by their thresholds; reference events. With --deltas: files of deltas",
        ),
    ],
    inputs: Inputs,
    measured: MetricChoice,
    sampling: Sampling,
    shown: Shown,
    points: Annotated[
        Path | None,
        path_option(
            help="Evaluate with these post-processings and thresholds, as 'sedscope tune' writes them"
        ),
    ] = None,
    bootstrap: Annotated[
        int | None, typer.Option(help="Add intervals from so many resamples of the clips, e.g. 1000")
    ] = None,
    deltas: Annotated[
        bool, typer.Option("--deltas", help="Evaluate files that 'sedscope deltas' wrote, together")
    ] = False,
    engine: Annotated[
        Literal["threads", "dask"],
        typer.Option(help="Where to count: 'threads' of this process, or a 'dask' cluster"),
    ] = "threads",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of the Dask scheduler \\[default: a cluster of its own]")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        path_option(help="Folder in which parts of the work are kept, to go on after an interruption"),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Stay within so much memory, e.g. 4GB: classes in blocks")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say how much memory is expected and was used")
    ] = False,
    json: Annotated[
        str | None, typer.Option(help="Write the results to this file; '-': only JSON, to stdout")
    ] = None,
    report: Annotated[
        Path | None, path_option(help="Write a report to this HTML file, see 'sedscope report'")
    ] = None,
) -> None:
    """Evaluate a system's scores, or its detections, against reference events."""
    from .. import Resampling, evaluate_deltas, evaluate_sets
    from .. import evaluate as evaluate_scores
    from ..counting.delta_files import merge_files
    from ..data.cached_scores import cached
    from .progress import progress_bar

    if json == "":
        raise SedscopeError("--json: the name of the file is empty")
    check_outputs(json, report)
    of_report = shown.arguments(report)
    metrics = measured.metrics()
    resampling = None
    if bootstrap is None:
        sampling.refuse()
    else:
        resampling = Resampling(bootstrap, **sampling.arguments())
    threads = inputs.threads
    if deltas:
        _refuse_with_deltas(
            inputs,
            {
                "--report": report,
                "--points": points,
                "--checkpoint": checkpoint,
                "--memory": memory,
                "--engine": None if engine == "threads" else engine,
                "--scheduler": scheduler,
            },
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SedscopeWarning)
            result = evaluate_deltas(merge_files(paths), metrics, bootstrap=resampling, threads=threads)
        _show(result, json, verbose)
        return
    if len(paths) != 2:
        given = listing([str(path) for path in paths])
        raise SedscopeError(f"give SCORES and GROUND_TRUTH, not {counted(len(paths), 'path')}: {given}")
    scores, ground_truth = paths
    truth = inputs.read_truth(ground_truth)
    system = _at_points(inputs.read_system(scores, truth), scores, metrics, points)
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)  # the result names them
        choice = inputs.choice(truth.labels if isinstance(system, dict) else system.classes)
        if isinstance(system, dict):
            if resampling:
                raise SedscopeError(f"{scores} holds detections at thresholds: --bootstrap needs scores")
            result = evaluate_sets(system, truth, metrics, overlaps=inputs.overlaps, **choice)
        else:
            many = len(system) * len(system.classes) > _MANY
            if verbose or (many and memory is None and bootstrap is None and engine == "threads"):
                _say_expected(system, truth, metrics, choice, verbose)
            system = cached(system) if report else system
            result = evaluate_scores(
                system,
                truth,
                metrics,
                bootstrap=resampling,
                engine=engine,
                scheduler=scheduler,
                checkpoint=checkpoint,
                memory=memory,
                progress=progress,
                **choice,
            )
    if report:
        result.report(report, name=scores.name or "system", threads=threads, **of_report)
    _show(result, json, verbose, "" if points is None else f", at the operating points of {points}")
    if report and json != "-":
        typer.echo(f"\nreport: {report}")


def _refuse_with_deltas(inputs: Inputs, others: Mapping[str, object]) -> None:
    why = "this needs scores, and deltas do not have them"
    given = [option for option, value in others.items() if value is not None]
    if given:
        raise SedscopeError(f"{listing(given)}: {why}")
    inputs.refuse(why)


def _at_points(
    system: Scores | dict[float, Any],
    path: Location,
    metrics: Sequence[Metric[Any]],
    points: Path | None,
) -> Scores | dict[float, Any]:
    """The system at the operating points that were asked for, if any were."""
    from .. import OperatingPoints
    from .systems import require_scores

    if points is None:
        return system
    tuned = OperatingPoints.load(points)
    means = any(getattr(metric.criterion, "aggregation", "") == "mean" for metric in metrics)
    if means and tuned.thresholds:
        raise SedscopeError("--points apply to scores of frames, not to means over segments")
    found = require_scores(system, path, "--points")
    without = [label for label in found.classes if tuned.thresholds and label not in tuned.thresholds]
    if without:
        said = f"{points} has no threshold for {counted(len(without), 'class')}, never detected"
        typer.echo(f"warning: {said}: {listing(without)}", err=True)
    return tuned.apply(found)


def _say_expected(
    system: Scores,
    truth: GroundTruth,
    metrics: Sequence[Metric[Any]],
    choice: dict[str, Any],
    verbose: bool,
) -> None:
    """What memory will be needed, if someone wants to know or it is more than the machine has."""
    from ..data.alignment import align
    from ..evaluation.class_blocks import estimate_memory, machine_memory
    from ..metrics.requests import delta_requests

    chosen = {name: choice[name] for name in ("classes", "clips", "missing")}
    try:
        found = estimate_memory(
            align(system, truth, **chosen), delta_requests(metrics), choice["threads"]
        )
    except SedscopeError:
        return  # all that is wrong is said when all clips are read
    there = machine_memory()
    if verbose or found.bytes > there:
        typer.echo(f"memory: about {found.bytes / 1e9:.2g} GB expected for deltas and counts", err=True)
    if found.bytes > there:
        blocks = f"--memory {max(1, int(there / 2e9))}GB counts classes in blocks"
        typer.echo(f"memory: this machine has {there / 1e9:.2g} GB; {blocks}", err=True)


def _show(result: Evaluation, json: str | None, verbose: bool, where: str = "") -> None:
    if verbose:
        typer.echo(f"memory: {_peak() / 1e9:.2g} GB used at the peak, the program included", err=True)
    if json == "-":
        typer.echo(result.to_json(), nl=False)
        return
    about = f"{counted(result.clips, 'clip')}, {result.hours:.2f} hours{where}"
    typer.echo(f"{about}\n\n{result.table()}")
    for note in result.warnings:
        typer.echo(f"warning: {note}", err=True)
    if json:
        result.to_json(json)


def _peak() -> float:
    """The largest memory of this process so far, in bytes."""
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024.0 * peak
