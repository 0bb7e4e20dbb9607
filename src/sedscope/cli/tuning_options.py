"""What thresholds and post-processings are tuned for, and what they are chosen from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from ..errors import SedscopeError, listing
from .option_groups import OptionGroup
from .options import GroupsOption, Reads, SeedOption, files_in_definitions
from .resampling_options import read_groups

if TYPE_CHECKING:
    from ..counting.counts import Counts
    from ..counting.deltas import Deltas
    from ..criteria import Criterion
    from ..metrics import Metric
    from ..postprocessing import PostProcessing
    from ..resampling.resampling import Resampling
    from ..tuning.operating_points import OperatingPoints

_CONSTRAINTS = ("--min-precision", "--min-recall", "--max-false-alarms-per-hour", "--confidence")
_METRIC_OBJECTIVES = ("fscore", "error_rate")
"""The objectives that are metrics, too."""


@dataclass(frozen=True)
class ObjectiveOptions(OptionGroup):
    """The objective of each class, and the constraints on it."""

    panel: ClassVar[str] = "Objective"

    criterion: Annotated[
        str, typer.Option(help="Criterion that decides what is detected, e.g. 'Segment(length=1)'.")
    ] = "Collar()"
    objective: Annotated[
        Literal["fscore", "error_rate", "cost", "precision", "recall"],
        typer.Option(help="What to optimise: 'fscore', 'error_rate', 'cost', 'precision' or 'recall'."),
    ] = "fscore"
    beta: Annotated[float, typer.Option(help="Weight of recall in the F-score.")] = 1.0
    miss_cost: Annotated[float, typer.Option(help="Cost of a missed reference event.")] = 1.0
    false_alarm_cost: Annotated[float, typer.Option(help="Cost of a false positive.")] = 1.0
    min_precision: Annotated[
        float | None, typer.Option(help="Constraint: the smallest precision to accept.")
    ] = None
    min_recall: Annotated[
        float | None, typer.Option(help="Constraint: the smallest recall to accept.")
    ] = None
    max_false_alarms_per_hour: Annotated[
        float | None,
        typer.Option(help="Constraint: the most false positives per hour and class to accept."),
    ] = None
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Keep --max-false-alarms-per-hour with this confidence, e.g. 0.95, on other recordings."
        ),
    ] = None

    def parse_criterion(self) -> Criterion:
        """Read the criterion."""
        from ..criteria import parse_criterion

        return parse_criterion(self.criterion)

    def choose(self, counts: Counts | Deltas, resampling: Resampling | None = None) -> OperatingPoints:
        """Choose the threshold of each class."""
        from .. import choose

        return choose(
            counts,
            self.objective,
            beta=self.beta,
            miss_cost=self.miss_cost,
            false_alarm_cost=self.false_alarm_cost,
            min_precision=self.min_precision,
            min_recall=self.min_recall,
            max_false_alarms_per_hour=self.max_false_alarms_per_hour,
            confidence=self.confidence,
            resampling=resampling,
        )

    def as_metric(self) -> Metric[Any]:
        """Return the metric that has the same objective. Refuse objectives and constraints without one."""
        from ..metrics import BestErrorRate, BestFScore

        options = [option for option in self.changed_options() if option in _CONSTRAINTS]
        if not options and self.objective not in _METRIC_OBJECTIVES:
            options = [f"--objective {self.objective}"]
        if options:
            raise SedscopeError(
                f"{listing(options)} cannot be combined with --metric, --sweep or --folds. Give a metric "
                'instead, e.g. --metric "RecallAtFalseAlarms(Collar(), per_hour=1)".'
            )
        criterion = self.parse_criterion()
        return (
            BestFScore(criterion, self.beta) if self.objective == "fscore" else BestErrorRate(criterion)
        )


@dataclass(frozen=True)
class TuningOptions(OptionGroup):
    """The metric to optimise, the post-processings to choose from, and the folds to judge the choice."""

    panel: ClassVar[str] = "Tuning"

    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric to optimise (instead of --criterion, --objective and the constraints): a short name "
            "such as best_collar_f1, a definition, or NAME=DEFINITION."
        ),
    ] = None
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help='Post-processings to choose from, e.g. "MedianFilter(0.0..2.0/0.08)". Repeat the option '
            "to add more."
        ),
        Reads(files_in_definitions),
    ] = None
    folds: Annotated[
        int | None,
        typer.Option(help="Also cross-validate the choice with this many folds of the clips."),
    ] = None
    seed: SeedOption = 0
    groups: GroupsOption = None

    def parse_metric(self, objective: ObjectiveOptions) -> tuple[str, Metric[Any]] | None:
        """Return the name and the metric to optimise; None if :func:`~sedscope.choose` finds thresholds."""
        from ..metrics.names import name_pairs, parse_named_metric

        if self.metric is None and not self.sweep and self.folds is None:
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

    def resampling(self, objective: ObjectiveOptions) -> Resampling | None:
        """Return how clips are resampled to bound false alarms; None if they are not bounded."""
        from .. import Resampling

        if objective.confidence is not None:
            return Resampling(seed=self.seed, groups=read_groups(self.groups))
        if self.groups is not None:
            raise SedscopeError(
                "--groups only applies to --folds and --confidence. Give one of them as well."
            )
        return None

    def candidates(self) -> list[PostProcessing]:
        """Read the post-processings to choose from."""
        from ..postprocessing import parse_sweep

        return [candidate for text in self.sweep or () for candidate in parse_sweep(text)]
