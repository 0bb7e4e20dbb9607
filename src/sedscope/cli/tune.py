"""``sedscope tune``: the best threshold and post-processing of each class."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import listing
from .engine_options import EngineOptions
from .input_options import InputOptions
from .options import TruthArgument, Writes, path_argument, path_option, system_name
from .progress import counting_progress
from .resampling_options import read_groups
from .tuning_options import ObjectiveOptions, TuningOptions

if TYPE_CHECKING:
    from ..counting.counts import Counts
    from ..counting.deltas import Deltas
    from ..criteria import Criterion
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..metrics import Metric
    from ..postprocessing import PostProcessing
    from ..tuning.false_alarm_bounds import FalseAlarmBounds
    from ..tuning.operating_points import OperatingPoints
    from ..tuning.tune import Tuning


def tune(
    scores: Annotated[
        Path,
        path_argument(
            help="Scores: a folder of score tables, one per clip (onset offset class…), a file of "
            "detections with a column confidence, or any other format that 'sedscope formats' lists."
        ),
    ],
    ground_truth: TruthArgument,
    output: Annotated[
        Path,
        path_option("--output", "-o", help="File for the thresholds and post-processings (TOML)."),
        Writes(),
    ],
    inputs: InputOptions,
    tuning: TuningOptions,
    objective: ObjectiveOptions,
    engine: EngineOptions,
) -> None:
    """Choose a threshold, and optionally a post-processing, for each class.

    'sedscope detect' and 'sedscope evaluate --points' use the file that it writes.
    """
    from ..tuning.false_alarm_bounds import FalseAlarmBounds

    metric = tuning.parse_metric(objective)
    criterion = objective.parse_criterion()
    candidates = tuning.candidates()
    truth = inputs.read_truth(ground_truth)
    system = inputs.read_scores(scores, truth, "tune")
    source = {"scores": system_name(scores), "ground_truth": system_name(ground_truth)}
    if inputs.postprocess:
        source["postprocessed_before"] = ", ".join(inputs.postprocess)
    if metric is None:
        resampling = tuning.resampling(objective)
        of_clips = _find_deltas(system, truth, criterion, inputs, engine)
        counts = of_clips.counts(threads=engine.threads)
        bounds = None
        if objective.confidence is None:
            points = objective.choose(counts)
        else:
            points = objective.choose(of_clips, resampling)
            bounds = FalseAlarmBounds(counts, objective.confidence, of_clips, resampling)
        _save(points, output, source)
        _show_choice(points, counts, bounds)
    else:
        result = _tune(system, truth, metric, candidates, inputs, tuning, engine)
        _save(result.points, output, source)
        _show_tuning(result)
    _remind_of(inputs.postprocess or [])


def _find_deltas(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    inputs: InputOptions,
    engine: EngineOptions,
) -> Deltas:
    """Count at every threshold."""
    from .. import deltas

    with counting_progress() as progress:
        return deltas(
            scores,
            truth,
            criterion,
            progress=progress,
            **inputs.selection(scores.classes),
            **engine.arguments(),
        )


def _tune(
    scores: Scores,
    truth: GroundTruth,
    metric: Metric[Any],
    candidates: list[PostProcessing],
    inputs: InputOptions,
    tuning: TuningOptions,
    engine: EngineOptions,
) -> Tuning:
    """Tune for a metric."""
    from .. import tune as tune_scores

    with counting_progress() as progress:
        return tune_scores(
            scores,
            truth,
            metric,
            candidates,
            folds=tuning.folds,
            seed=tuning.seed,
            groups=read_groups(tuning.groups),
            progress=progress,
            **inputs.selection(scores.classes),
            **engine.arguments(),
        )


def _save(points: OperatingPoints, output: Path, source: dict[str, str]) -> None:
    """Write the operating points, and what they were chosen on."""
    replace(points, provenance={**points.provenance, **source}).save(output)


def _show_choice(points: OperatingPoints, counts: Counts, bounds: FalseAlarmBounds | None) -> None:
    """Print what the chosen thresholds give, and the classes that have a problem."""
    from ..evaluation.table_text import format_text

    header = ["class", "threshold", "precision", "recall", "F-score", "false alarms/h"]
    rows = []
    for label, threshold in points.thresholds.items():
        tally = counts[label].tally_at(threshold)
        rates = [tally.precision, tally.recall, tally.fscore()]
        per_hour = tally.false_alarms_per_hour(counts.duration / 3600)
        rows.append([label, f"{threshold:.4g}", *(f"{rate:.4f}" for rate in rates), f"{per_hour:.4g}"])
        if bounds is not None:
            rows[-1].append(f"{bounds.at(label, threshold).upper:.4g}")
    if bounds is not None:
        header.append("upper bound")
    typer.echo("\n".join(format_text([header, *rows])))
    if bounds is not None:
        typer.echo(f"\n{bounds.about()}")
    for constraint in dict.fromkeys(points.unmet.values()):
        labels = [label for label, unmet in points.unmet.items() if unmet == constraint]
        typer.echo(f"warning: {listing(labels)}: no threshold gives {constraint}.", err=True)
    for label in counts:
        if label not in points.thresholds:
            typer.echo(f"warning: {label}: no reference events, so no threshold.", err=True)


def _show_tuning(result: Tuning) -> None:
    """Print what is best for each class."""
    from ..evaluation.table_text import format_text

    header = ["class", "value", "cross-validated", "threshold", "post-processing"]
    rows = [
        [
            label,
            f"{of_class.value:.4f}",
            "" if of_class.cross_validated is None else f"{of_class.cross_validated:.4f}",
            "" if of_class.threshold is None else f"{of_class.threshold:.4g}",
            "" if of_class.postprocessing is None else repr(of_class.postprocessing),
        ]
        for label, of_class in result.per_class.items()
    ]
    validated = "" if result.cross_validated is None else f"{result.cross_validated:.4f}"
    lines = format_text([header, *rows, ["overall", f"{result.value:.4f}", validated, "", ""]])
    typer.echo("\n".join([*lines, "", repr(result.metric)]))
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)


def _remind_of(postprocess: list[str]) -> None:
    """Print the post-processings that came before the choice: the file does not apply them."""
    if postprocess:
        options = " ".join(f'--postprocess "{text}"' for text in postprocess)
        typer.echo(f"note: The points are for post-processed scores. Use them with {options}.", err=True)
