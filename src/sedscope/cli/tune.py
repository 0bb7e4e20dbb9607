"""``sedscope tune``: the best threshold and post-processing of each class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import typer

from ..errors import SedscopeError, counted, issue_warnings, listing
from .options.arguments import (
    GROUND_TRUTH,
    GROUPS,
    SCORES_TO_THRESHOLD,
    SEED,
    files_in_definitions,
    postprocess,
    progress_bar,
)
from .options.engines import EngineOptions
from .options.groups import OptionGroup, option, output_option
from .options.inputs import InputOptions
from .options.outputs import parse_steps
from .options.results import read_groups
from .requirements import JUNIT, Outcome, conclude

if TYPE_CHECKING:
    from ..counting.counts import Counts
    from ..counting.deltas import Deltas
    from ..counting.tally import Tally
    from ..criteria import Criterion
    from ..data.ground_truth import GroundTruth
    from ..data.scores import Scores
    from ..metrics import Metric
    from ..postprocessing import PostProcessing
    from ..resampling.intervals import Interval
    from ..tuning.guarantees import Guarantees
    from ..tuning.operating_points import OperatingPoints
    from ..tuning.tune import Tuning

_CONSTRAINTS = (
    *("--min-precision", "--min-recall", "--max-false-alarms-per-hour", "--max-false-alarms-per-day"),
    *("--total", "--confidence"),
)
_FOLDS, _FEWEST_CLIPS = 5, 10
"""The folds that judge a choice of thresholds unless others are given, and the clips that they take."""
_METRIC_OBJECTIVES = ("fscore", "error_rate")
"""The objectives that are metrics, too."""


@dataclass(frozen=True)
class ObjectiveOptions(OptionGroup):
    """The objective of each class, and the constraints on it."""

    panel: ClassVar[str] = "Objective"

    criterion: str = option(
        "Collar()", "Criterion that decides what is detected, e.g. 'Segment(length=1)'."
    )
    objective: Literal["fscore", "error_rate", "cost", "precision", "recall"] | None = option(
        None,
        "What to optimise: 'fscore', 'error_rate', 'cost', 'precision' or 'recall'. [default: "
        "fscore; with --total the mean recall]",
    )
    beta: float = option(1.0, "Weight of recall in the F-score.")
    miss_cost: float = option(1.0, "Cost of a missed reference event.")
    false_alarm_cost: float = option(1.0, "Cost of a false positive.")
    min_precision: float | None = option(None, "Constraint: the smallest precision to accept.")
    min_recall: float | None = option(None, "Constraint: the smallest recall to accept.")
    max_false_alarms_per_hour: float | None = option(
        None, "Constraint: the most false positives per hour and class to accept."
    )
    max_false_alarms_per_day: float | None = option(
        None, "Constraint: the most false positives per day and class to accept."
    )
    total: bool = option(False, "Let the limit on false alarms be that of all classes together.")
    confidence: float | None = option(
        None, "Keep the constraints with this confidence, e.g. 0.95, on other recordings."
    )

    def parse_criterion(self) -> Criterion:
        """Read the criterion."""
        from ..criteria import parse_criterion

        return parse_criterion(self.criterion)

    @property
    def per(self) -> str:
        """The unit of recording time of false alarms."""
        return "hour" if self.max_false_alarms_per_day is None else "day"

    def choose(self, deltas: Deltas, groups: Mapping[str, Hashable] | None = None) -> OperatingPoints:
        """Choose the threshold of each class."""
        from .. import choose

        hourly, daily = self.max_false_alarms_per_hour, self.max_false_alarms_per_day
        if hourly is not None and daily is not None:
            raise SedscopeError(
                "Give --max-false-alarms-per-hour or --max-false-alarms-per-day, not both."
            )
        return choose(
            deltas,
            self.objective,
            beta=self.beta,
            miss_cost=self.miss_cost,
            false_alarm_cost=self.false_alarm_cost,
            min_precision=self.min_precision,
            min_recall=self.min_recall,
            max_false_alarms=hourly if daily is None else daily,
            per=self.per,
            total=self.total,
            confidence=self.confidence,
            groups=None if self.confidence is None else groups,
        )

    def as_metric(self) -> Metric[Any]:
        """Return the metric that has the same objective. Refuse objectives and constraints without one."""
        from ..metrics import BestErrorRate, BestFScore

        options = self._without_metric()
        if options:
            raise SedscopeError(
                f"{listing(options)} cannot be combined with --metric or --sweep. Give a metric instead, "
                'e.g. --metric "RecallAtFalseAlarms(Collar(), false_alarms=1)".'
            )
        criterion = self.parse_criterion()
        if self.objective == "error_rate":
            return BestErrorRate(criterion)
        return BestFScore(criterion, self.beta)

    def _without_metric(self) -> list[str]:
        """Return the objective and constraints that no metric has."""
        options = [option for option in self.changed_options() if option in _CONSTRAINTS]
        if not options and self.objective not in (*_METRIC_OBJECTIVES, None):
            options = [f"--objective {self.objective}"]
        return options


@dataclass(frozen=True)
class TuningOptions(OptionGroup):
    """The metric to optimise, the post-processings to choose from, and the folds to judge the choice."""

    panel: ClassVar[str] = "Tuning"

    metric: str | None = option(
        None,
        "Metric to optimise (instead of --criterion, --objective and the constraints): a short name "
        "such as best_collar_f1, a definition, or NAME=DEFINITION.",
    )
    sweep: list[str] | None = option(
        None,
        'Post-processings to choose from, e.g. "MedianFilter(0.0..2.0/0.08)". Repeat the option '
        "to add more.",
        reads=files_in_definitions,
    )
    folds: int | None = option(None, "Also cross-validate the choice with this many folds of the clips.")
    seed: int = SEED
    groups: Path | None = GROUPS

    def parse_metric(self, objective: ObjectiveOptions) -> tuple[str, Metric[Any]] | None:
        """Return the name and the metric to optimise; None if :func:`~sedscope.choose` finds thresholds."""
        from ..metrics.names import name_pairs, parse_named_metric

        if (
            self.metric is None
            and not self.sweep
            and (self.folds is None or objective._without_metric())
        ):
            return None
        of_objective = objective.as_metric()
        if self.metric is None:
            return next(iter(name_pairs([(None, of_objective)]).items()))
        options = ("--criterion", "--objective", "--beta")
        unused = [option for option in objective.changed_options() if option in options]
        if unused:
            raise SedscopeError(
                f"{listing(unused)} cannot be combined with --metric, which defines what is optimised."
            )
        return next(iter(name_pairs([parse_named_metric(self.metric)]).items()))

    def read_groups(self, truth: GroundTruth, judged: bool) -> Mapping[str, Hashable] | None:
        """Read the clips that depend on each other. ``judged``: whether folds or a confidence use them."""
        from ..alignment.regions import RegionTruth

        groups: Mapping[str, Hashable] | None = read_groups(self.groups)
        return truth.resampling_groups(groups) if judged and isinstance(truth, RegionTruth) else groups

    def candidates(self) -> list[PostProcessing]:
        """Read the post-processings to choose from."""
        from ..postprocessing import parse_sweep

        return [candidate for text in self.sweep or () for candidate in parse_sweep(text)]


def tune(
    *,
    scores: Path = SCORES_TO_THRESHOLD,
    ground_truth: Path = GROUND_TRUTH,
    output: Path = output_option(
        ..., "File for the thresholds and post-processings: .toml, .json, or a C header (.h)."
    ),
    inputs: InputOptions,
    tuning: TuningOptions,
    objective: ObjectiveOptions,
    engine: EngineOptions,
    junit: Path | None = JUNIT,
) -> None:
    """Choose a threshold for each class, and perhaps a filter.

    'sedscope detect' and 'sedscope evaluate --points' use the file that it writes. The exit status is 1 if
    no threshold meets the constraints.
    """
    from ..data.clips import clip_list_digest
    from ..data.score_cache import cached
    from ..io.locations import shown_name

    named_metric = tuning.parse_metric(objective)
    criterion = objective.parse_criterion()
    candidates = tuning.candidates()
    truth = inputs.read_truth(ground_truth)
    system = cached(inputs.read_scores(scores, truth, "tune"))
    processed = postprocess(system, inputs.postprocess)
    source = {"scores": shown_name(str(scores)), "ground_truth": shown_name(str(ground_truth))}
    files = {"groups": tuning.groups, "regions": inputs.regions, "labels": inputs.labels}
    files |= {"system_labels": inputs.system_labels, "truth_labels": inputs.truth_labels}
    source |= {name: shown_name(str(path)) for name, path in files.items() if path is not None}
    if named_metric is None:
        from .. import Folds
        from ..tuning.choose import cross_fitted
        from ..tuning.guarantees import Guarantees

        judged_by_groups = tuning.folds is not None or objective.confidence is not None
        groups = tuning.read_groups(truth, judged_by_groups)
        if groups is not None and not judged_by_groups:
            raise SedscopeError(
                "--groups only applies to --folds and --confidence. Give one of them as well."
            )
        deltas = _find_deltas(processed, truth, criterion, inputs, engine)
        counts = deltas.counts(threads=engine.threads)
        source["clips_sha256"] = clip_list_digest(deltas.clips)
        chosen = objective.choose(deltas, groups)
        guarantees, folds = None, tuning.folds
        if objective.confidence is not None:
            guarantees = Guarantees(counts, objective.confidence, deltas, groups)
        elif folds is None and groups is None and len(deltas.clips) >= _FEWEST_CLIPS:
            folds = _FOLDS
        judged: Mapping[str, Tally] = {}
        if folds is not None:
            judged = cross_fitted(deltas, Folds(folds, tuning.seed, groups), objective.choose)
        points = _complete(chosen, system, criterion, deltas.clips, inputs)
        _save(points, output, source)
        _show_choice(points, counts, objective.per, guarantees, judged)
        outcomes = [
            Outcome(label, label not in points.unmet, f"no threshold gives {points.unmet.get(label)}")
            for label in points.thresholds
        ]
        conclude(outcomes, junit)
    else:
        name, metric = named_metric
        result = _tune(processed, truth, metric, candidates, inputs, tuning, engine)
        points = _complete(result.points, system, metric.criterion, result.clips, inputs)
        _save(points, output, source)
        _show_tuning(result, name, points)


def _complete(
    points: OperatingPoints,
    scores: Scores,
    criterion: Criterion,
    clips: Sequence[str],
    inputs: InputOptions,
) -> OperatingPoints:
    """Return points for the scores as they were read, with short thresholds that detect the same in them.

    Thresholds that apply to segments instead of frames keep their digits.
    """
    if inputs.postprocess:
        points = points.after(parse_steps(inputs.postprocess), scores.classes)
    return points.shortened(scores.only(clips)) if criterion.thresholds_frames else points


def _find_deltas(
    scores: Scores, truth: GroundTruth, criterion: Criterion, inputs: InputOptions, engine: EngineOptions
) -> Deltas:
    """Find the deltas at every threshold, and warn of what is odd about the input."""
    from ..alignment.alignment import align
    from ..counting.request import DeltaRequest
    from ..evaluation.evaluate import deltas_and_notes

    alignment = align(scores, truth, **inputs.selection(scores.classes))
    alignment = replace(alignment, hashed=not scores.in_memory)
    with progress_bar("reading and counting") as progress:
        deltas, notes = deltas_and_notes(alignment, {criterion: DeltaRequest()}, engine.run(progress))
    issue_warnings(notes, 1)
    return deltas[criterion]


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
    from .. import Folds
    from .. import tune as tune_scores

    if tuning.groups is not None and tuning.folds is None:
        raise SedscopeError(
            "--groups keeps clips together in one fold. Give the number of folds as well (--folds)."
        )
    groups = tuning.read_groups(truth, tuning.folds is not None)
    with progress_bar("reading and counting") as progress:
        return tune_scores(
            scores,
            truth,
            metric,
            candidates,
            folds=None if tuning.folds is None else Folds(tuning.folds, tuning.seed, groups),
            **inputs.selection(scores.classes),
            run=engine.run(progress),
        )


def _save(points: OperatingPoints, output: Path, source: dict[str, str]) -> None:
    """Write the operating points, and what they were chosen on."""
    replace(points, provenance={**points.provenance, **source}).save(output)


def _show_choice(
    points: OperatingPoints,
    counts: Counts,
    per: str,
    guarantees: Guarantees | None,
    judged: Mapping[str, Tally],
) -> None:
    """Print what the chosen thresholds give, and the classes that have a problem.

    ``per``: the unit of false alarms. ``judged``: by folds that the thresholds were not chosen on.
    """
    from functools import reduce
    from operator import add

    from ..counting.tally import hours_per
    from ..data.times import TICKS_PER_SECOND
    from ..results.text import format_text

    of_time = counts.criterion.measures_time
    scale = hours_per(per) / (TICKS_PER_SECOND if of_time else 1)
    alarms = "false alarms (s/h)" if of_time else f"false alarms/{'h' if per == 'hour' else per}"

    tallies = {
        label: counts[label].tally_at(threshold) for label, threshold in points.thresholds.items()
    }

    several = len(tallies) > 1

    def rate(tally: Tally) -> str:
        return f"{scale * tally.false_alarms_per_hour(counts.hours):.4g}"

    def columns_of(tallies: Mapping[str, Tally], kind: str = "") -> dict[str, list[str]]:
        """Return precision, recall and false alarms of the classes, then of all of them."""
        of_classes = [tallies[label] for label in points.thresholds]
        recall = sum(tally.recall for tally in of_classes) / len(of_classes) if several else 0.0
        precisions = [tally.precision if tally.detected else float("nan") for tally in of_classes]
        return {
            f"{kind}precision": [*(f"{precision:.4f}" for precision in precisions), ""],
            f"{kind}recall": [*(f"{tally.recall:.4f}" for tally in of_classes), f"{recall:.4f}"],
            f"{kind}{alarms}": [
                *map(rate, of_classes),
                rate(reduce(add, of_classes)) if several else "",
            ],
        }

    columns = {
        "class": [*tallies, "all classes"],
        "threshold": [*(f"{threshold:.6g}" for threshold in points.thresholds.values()), ""],
    }
    columns |= columns_of(tallies)
    false_alarms = columns.pop(alarms)
    fscores = [*(f"{tally.fscore():.4f}" for tally in tallies.values()), ""]
    columns |= {"F-score": fscores, alarms: false_alarms}
    if guarantees is not None:
        bounds = [guarantees.bounds_at(label, at) for label, at in points.thresholds.items()]
        ends = zip(*bounds, guarantees.total_bounds(points.thresholds), strict=True)
        for name, of_classes in zip(("lower bound", "upper bound"), ends, strict=True):
            columns[name] = [f"{scale * bound:.4g}" for bound in of_classes]
    columns |= columns_of(judged, "new ") if judged else {}
    rows = [*zip(*columns.values(), strict=True)]
    typer.echo("\n".join(format_text([[*columns], *(rows if several else rows[:-1])])))
    if several:
        typer.echo("\nall classes: the mean recall, and the false alarms together")
    if judged:
        typer.echo("new: on clips that the thresholds were not chosen on (cross-fitted)")
    if guarantees is not None:
        typer.echo(f"\n{points.provenance['guarantee']}")
    never = [label for label, threshold in points.thresholds.items() if threshold == float("inf")]
    if never:
        typer.echo(
            f"warning: {counted(len(never), 'class')} would never be detected, with a threshold of inf: "
            f"{listing(never)}.",
            err=True,
        )
    for label in counts:
        if label not in points.thresholds:
            typer.echo(f"warning: {label}: no reference events, so no threshold.", err=True)


def _show_tuning(result: Tuning, name: str, points: OperatingPoints) -> None:
    """Print what is best for each class, in the columns that are not empty.

    ``name``: of the metric. ``points``: with everything that is done to the scores.
    """
    from ..evaluation.result_tables import value_cell
    from ..results.text import format_text, number_or_blank

    def cell(expected: Interval | None) -> str:
        return "" if expected is None else value_cell(expected.value, expected, 4)

    header = ["class", name, "cross-validated", "threshold", "post-processing"]
    rows = [
        [
            label,
            f"{of_class.value:.4f}",
            cell(of_class.cross_validated),
            number_or_blank(points.thresholds.get(label), ".6g"),
            repr(points.postprocessing[label]) if label in points.postprocessing else "",
        ]
        for label, of_class in result.per_class.items()
    ]
    rows.append(["overall", f"{result.value:.4f}", cell(result.cross_validated), "", ""])
    columns = [column for column in zip(header, *rows, strict=True) if any(column[1:])]
    lines = format_text([*zip(*columns, strict=True)])
    typer.echo("\n".join([*lines, "", f"{name}: {result.metric!r}", *result._about_folds()]))
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)
