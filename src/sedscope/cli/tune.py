"""``sedscope tune``, ``sedscope detect``, ``sedscope presets``: thresholds, and what they give."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import SedscopeError, SedscopeWarning, listing
from ..evaluation.table_text import aligned
from ..io.locations import location
from .inputs import Inputs
from .metric_options import read_groups
from .options import (
    GroupsOption,
    PostprocessOption,
    ScoresFormatOption,
    SeedOption,
    StitchOption,
    TruthArgument,
    check_outputs,
    path_option,
    processed,
    stitching,
)

if TYPE_CHECKING:
    from ..counting.counts import Counts
    from ..metrics import Metric
    from ..tuning.operating_points import OperatingPoints
    from ..tuning.tune import Tuning


def tune(
    scores: Annotated[
        Path,
        typer.Argument(
            parser=location,
            help="Folder of score tables, one a clip: onset offset class…; or a file of detections with "
            "a column confidence; or any other of 'sedscope formats'",
        ),
    ],
    ground_truth: TruthArgument,
    output: Annotated[
        Path, path_option("--output", "-o", help="File for thresholds and post-processings (TOML)")
    ],
    inputs: Inputs,
    metric: Annotated[
        str | None,
        typer.Option(help="The metric to be best at, instead of a criterion, an objective and needs"),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help='Post-processings to choose from, e.g. "MedianFilter(0.0..2.0/0.08)"; may be given '
            "several times"
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Also judge the choice on clips it was not made on, in so many folds"),
    ] = None,
    seed: SeedOption = 0,
    groups: GroupsOption = None,
    criterion: Annotated[
        str, typer.Option(help="What counts as found, e.g. 'Segment(length=1)'")
    ] = "Collar()",
    objective: Annotated[
        Literal["fscore", "error_rate", "cost", "precision", "recall"],
        typer.Option(help="What to be best at: 'fscore', 'error_rate', 'cost', 'precision', 'recall'"),
    ] = "fscore",
    beta: Annotated[float, typer.Option(help="Weight of recall in the F-score")] = 1.0,
    miss_cost: Annotated[float, typer.Option(help="Cost of a missed reference")] = 1.0,
    false_alarm_cost: Annotated[float, typer.Option(help="Cost of a false positive")] = 1.0,
    min_precision: Annotated[float | None, typer.Option(help="Precision that is needed")] = None,
    min_recall: Annotated[float | None, typer.Option(help="Recall that is needed")] = None,
    max_false_alarms_per_hour: Annotated[
        float | None, typer.Option(help="False positives per hour and class that are allowed")
    ] = None,
) -> None:
    """Choose a threshold, and perhaps a post-processing, for each class: for use by 'detect' and
    'evaluate --points'."""
    from .. import choose, deltas
    from .. import tune as tune_metric
    from ..criteria import parse_criterion
    from ..postprocessing import parse_sweep
    from .progress import progress_bar

    needs = {
        "min_precision": min_precision,
        "min_recall": min_recall,
        "max_false_alarms_per_hour": max_false_alarms_per_hour,
    }
    check_outputs(output)
    tuned = _tuned_metric(metric, sweep, folds, criterion, objective, beta, needs)
    candidates = [one for text in sweep or () for one in parse_sweep(text)]
    judged = parse_criterion(criterion)
    truth = inputs.read_truth(ground_truth)
    system = inputs.read_scores(scores, truth, "tune")
    data = {"scores": scores.name, "ground_truth": ground_truth.name}
    if inputs.postprocess:
        data["postprocessed_before"] = ", ".join(inputs.postprocess)
    with warnings.catch_warnings(), progress_bar("reading and counting") as progress:
        warnings.simplefilter("ignore", SedscopeWarning)
        choice = {**inputs.choice(system.classes), "progress": progress}
        if tuned is not None:
            choice |= {"folds": folds, "seed": seed, "groups": read_groups(groups)}
            result = tune_metric(system, truth, tuned, candidates, **choice)
        else:
            counts = deltas(system, truth, judged, **choice).counts(threads=inputs.threads)
    if tuned is not None:
        points = result.points
        replace(points, provenance={**points.provenance, **data}).save(output)
        _show_tuning(result)
        _remind(inputs.postprocess)
        return
    points = choose(
        counts,
        objective,
        beta=beta,
        miss_cost=miss_cost,
        false_alarm_cost=false_alarm_cost,
        **needs,
    )
    replace(points, provenance={**points.provenance, **data}).save(output)
    _show_choice(points, counts)
    _remind(inputs.postprocess)


def _tuned_metric(
    metric: str | None,
    sweep: list[str] | None,
    folds: int | None,
    criterion: str,
    objective: str,
    beta: float,
    needs: Mapping[str, float | None],
) -> Metric[Any] | None:
    """The metric to tune for; None if thresholds are chosen by an objective."""
    from ..criteria import parse_criterion
    from ..metrics import BestErrorRate, BestFScore, parse_metric

    if metric is None and not sweep and folds is None:
        return None
    if sweep == []:
        raise SedscopeError("--sweep: no post-processing is given")
    needed = [f"--{name.replace('_', '-')}" for name, value in needs.items() if value is not None]
    if needed or objective not in ("fscore", "error_rate"):
        said = needed or [f"--objective {objective}"]
        raise SedscopeError(
            f"{listing(said)} cannot be combined with --metric, --sweep or --folds: say it as a metric, "
            'e.g. --metric "RecallAtFalseAlarms(Collar(), per_hour=1)"'
        )
    if metric is not None:
        other = {"--criterion": criterion != "Collar()", "--objective": objective != "fscore"}
        unused = [option for option, given in (other | {"--beta": beta != 1}).items() if given]
        if unused:
            raise SedscopeError(f"{listing(unused)} cannot be combined with --metric, which says it all")
        return parse_metric(metric)
    judged = parse_criterion(criterion)
    return BestFScore(judged, beta) if objective == "fscore" else BestErrorRate(judged)


def _show_tuning(result: Tuning) -> None:
    header = ["class", "value", "cross-validated", "threshold", "post-processing"]
    rows = [
        [
            label,
            f"{found.value:.4f}",
            "" if found.cross_validated is None else f"{found.cross_validated:.4f}",
            "" if found.threshold is None else f"{found.threshold:.4g}",
            "" if found.postprocessing is None else repr(found.postprocessing),
        ]
        for label, found in result.per_class.items()
    ]
    validated = "" if result.cross_validated is None else f"{result.cross_validated:.4f}"
    lines = aligned([header, *rows, ["overall", f"{result.value:.4f}", validated, "", ""]])
    typer.echo("\n".join([*lines, "", repr(result.metric)]))
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)


def _remind(postprocess: list[str] | None) -> None:
    """The points do not know what was done to the scores before."""
    if postprocess:
        options = " ".join(f'--postprocess "{text}"' for text in postprocess)
        typer.echo(f"note: the points are for scores after {options}: give it there, too", err=True)


def _show_choice(points: OperatingPoints, counts: Counts) -> None:
    width = max(map(len, [*points.thresholds, "class"]))
    typer.echo(f"{'class':{width}}  threshold  precision  recall  F-score")
    for label, threshold in points.thresholds.items():
        tally = counts[label].tally_at(threshold)
        typer.echo(
            f"{label:{width}}  {threshold:9.4g}  {tally.precision:9.4f}  {tally.recall:6.4f}  "
            f"{tally.fscore():7.4f}"
        )
    for label, need in points.unmet.items():
        typer.echo(f"warning: {label}: no threshold gives {need}", err=True)
    for label in counts:
        if label not in points.thresholds:
            typer.echo(f"warning: {label}: no reference events, so no threshold", err=True)


def detect(
    scores: Annotated[
        Path,
        typer.Argument(
            parser=location,
            help="Folder of score tables, one a clip: onset offset class…; or any other format of "
            "scores, see 'sedscope formats'",
        ),
    ],
    points: Annotated[
        Path | None, path_option(help="File of thresholds, as 'sedscope tune' writes it")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="One threshold for all classes")] = None,
    postprocess: PostprocessOption = None,
    output: Annotated[
        Path | None, path_option("--output", "-o", help="File for the events \\[default: stdout]")
    ] = None,
    scores_format: ScoresFormatOption = None,
    stitch: StitchOption = None,
) -> None:
    """Write the events that a system detects: filename onset offset event_label."""
    from .. import OperatingPoints, read_scores, write_events
    from .. import detect as detect_events

    if (points is None) == (threshold is None):
        raise SedscopeError("give either --points or --threshold")
    system = read_scores(scores, format=scores_format)
    joined = stitching(stitch)
    if joined:
        system = system.stitch(joined.pop("stitch"), **joined)
    system = processed(system, postprocess)
    if points is not None:
        events = OperatingPoints.load(points).detect(system)
    else:
        assert threshold is not None
        events = detect_events(system, threshold)
    text = write_events(events, output)
    if output is None:
        typer.echo(text, nl=False)


def presets() -> None:
    """List the metrics that have a name."""
    from ..tasks.presets import PRESETS

    for preset in PRESETS.values():
        typer.echo(f"{preset.name}: {preset.about} ({preset.source})")
        for metric in preset:
            typer.echo(f"    {metric!r}")
