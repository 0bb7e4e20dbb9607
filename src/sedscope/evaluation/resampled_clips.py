"""Resampling the clips of an evaluation, or blocks of long recordings, for intervals and bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..alignment.alignment import Alignment
from ..counting.clip_reader import thread_count
from ..counting.deltas import Deltas
from ..criteria import Criterion
from ..engines.engine import Engine
from ..engines.run import Run
from ..errors import SedscopeError, listing
from ..metrics import ClasswiseResult, Metric
from ..progress import Progress, StagedProgress
from ..resampling.deltas_for_weights import find_deltas_for_weights
from ..resampling.draws import Draws
from ..resampling.exact_limits import with_exact_limits
from ..resampling.froc_bands import with_froc_bands
from ..resampling.held_out import on_new_clips
from ..resampling.intervals import Bootstrap
from ..resampling.resampling import Resampling, refuse_blocks
from ..resampling.subsampling import Behaviour
from .counted_clips import CountedClips, add_up, find_deltas_for_groups
from .groups import GroupPlan
from .notes import undefined_resamples_note
from .result import Evaluation

if TYPE_CHECKING:
    from ..resampling.draws import GroupDraws


@dataclass(frozen=True, eq=False)
class Resamples:
    """The resamples of clips, or of blocks of them, and of groups of them."""

    draws: Draws
    drawn: Mapping[Criterion, Deltas]
    """The deltas of what was drawn."""
    group_draws: GroupDraws | None
    """The resamples of each group of clips, if there are groups."""
    steps: StagedProgress
    """Where the measuring of groups reports its progress."""

    @property
    def in_blocks(self) -> bool:
        """Whether blocks of clips are drawn, instead of clips."""
        return self.draws.resampling.blocks is not None


@dataclass(frozen=True, eq=False)
class ResampledMetrics:
    """The intervals of metrics, and the resamples that they come from."""

    intervals: Mapping[Metric[Any], Bootstrap]
    resamples: Resamples
    notes: Sequence[str]
    """What a user should know about the intervals."""

    def complete(self, result: Evaluation, threads: int | None) -> Evaluation:
        """Return the evaluation of all clips with what only resamples tell."""
        drawn = self.resamples
        return complete(result, drawn.draws.resampling, drawn.drawn, threads)


def complete(
    result: Evaluation, resampling: Resampling, drawn: Mapping[Criterion, Deltas], threads: int | None
) -> Evaluation:
    """Return an evaluation of counts with what only resamples tell.

    ``drawn``: the deltas of what was drawn.
    """
    results = dict(result.results)
    for metric, of_metric in results.items():
        if metric.reads_froc and isinstance(of_metric, ClasswiseResult):  # their curves have bands
            deltas = drawn[metric.criterion]
            results[metric] = with_froc_bands(of_metric, deltas, resampling, thread_count(threads))
    intervals = {
        metric: with_exact_limits(of_metric, result.intervals[metric], result.hours)
        if isinstance(of_metric := results[metric], ClasswiseResult)
        else result.intervals[metric]
        for metric in result.intervals
    }
    expected = on_new_clips(results, drawn, resampling, thread_count(threads))
    result = replace(result, results=results, intervals=intervals, on_new_clips=expected)
    return result if resampling.blocks is None else _around_whole_recordings(result)


def resample_clips(
    alignment: Alignment,
    metrics: Mapping[str, Metric[Any]],
    resampling: Resampling | int,
    engine: Engine,
    run: Run,
    plan: GroupPlan | None,
) -> tuple[CountedClips, ResampledMetrics]:
    """Count all clips, and measure the metrics on resamples of them, or of blocks of them.

    The deltas also serve the groups of the plan, which are not measured yet.
    """
    plan = plan or GroupPlan()
    resampling = Resampling._of(resampling)
    chosen = [*metrics.values()]
    of_pass = [*chosen, *plan.of_bins(metrics)]
    in_blocks = resampling.blocks is not None
    if in_blocks:
        _refuse_whole_clips(of_pass)
        if plan.classes is not None:
            raise SedscopeError(
                "Blocks of time end in pauses of all classes, so groups of classes cannot be resampled in "
                "blocks. Resample clips, or evaluate the groups one by one with `classes=`."
            )
    drawn_from = alignment
    if resampling.blocks:
        from ..alignment.cuts import cut_into_blocks

        drawn_from = cut_into_blocks(alignment, resampling.blocks)
    draws = Draws(resampling, drawn_from.clips)
    group_draws = plan.draw(drawn_from.clips, resampling)
    weights = len(draws.weights) + plan.measurements(draws, group_draws)
    units, clips = len(drawn_from.clips), len(alignment.clips) if in_blocks else 0
    steps = StagedProgress(run._steps, units + len(metrics) * weights + clips)
    drawn = find_deltas_for_weights(
        drawn_from,
        of_pass,
        draws.weights,
        engine,
        steps.stage(units),
        parts=() if group_draws is None else group_draws.parts,
    )
    intervals = measure_intervals(draws, chosen, drawn, engine, steps)
    deltas = drawn
    if in_blocks:  # values are those of the whole recordings
        of_clips = engine.for_system("clips")
        deltas = find_deltas_for_groups(alignment, of_pass, of_clips, steps.stage(clips), plan)
    counted = add_up(alignment, chosen, deltas, run.threads)
    notes = [*undefined_resamples_note(intervals.values()), *draws.cautions(chosen)]
    resamples = Resamples(draws, drawn, group_draws, steps)
    return counted, ResampledMetrics(intervals, resamples, notes)


def resample_deltas(
    deltas: Mapping[Criterion, Deltas],
    metrics: Sequence[Metric[Any]],
    resampling: Resampling | int,
    engine: Engine,
    progress: Progress | None,
    plan: GroupPlan | None,
) -> ResampledMetrics:
    """Measure the metrics on resamples of the clips of deltas that were found before.

    The groups of the plan are not measured yet.
    """
    plan = plan or GroupPlan()
    resampling = Resampling._of(resampling)
    refuse_blocks(resampling)
    draws_of = {clips: Draws(resampling, clips) for clips in {part.clips for part in deltas.values()}}
    draws_by_metric = {metric: draws_of[deltas[metric.criterion].clips] for metric in metrics}
    group_draws = plan.draw(next(iter(draws_of)), resampling)
    first_draws = next(iter(draws_of.values()))
    weights = sum(len(draws.weights) for draws in draws_by_metric.values())
    weights += len(metrics) * plan.measurements(first_draws, group_draws)
    steps = StagedProgress(progress, weights)
    intervals: dict[Metric[Any], Bootstrap] = {}
    cautions: list[str] = []
    for metric, draws in draws_by_metric.items():
        intervals |= measure_intervals(draws, [metric], deltas, engine, steps)
        cautions += draws.cautions([metric])
    notes = [*undefined_resamples_note(intervals.values()), *cautions]
    return ResampledMetrics(intervals, Resamples(first_draws, deltas, group_draws, steps), notes)


def _refuse_whole_clips(metrics: Sequence[Metric[Any]]) -> None:
    """Refuse metrics that need whole clips: of blocks, they measure something else."""
    of_clips = [repr(metric) for metric in metrics if metric.criterion.judges_whole_clips]
    if of_clips:
        raise SedscopeError(
            f"These metrics need whole clips, so blocks of them cannot be resampled: {listing(of_clips)}. "
            "Resample clips, or judge segments, e.g. with Segment(60)."
        )


def measure_intervals(
    draws: Draws,
    metrics: Iterable[Metric[Any]],
    deltas: Mapping[Criterion, Deltas],
    engine: Engine,
    steps: StagedProgress,
) -> dict[Metric[Any], Bootstrap]:
    """Return the interval of each metric. Each is a stage of the progress, of a step per resample."""
    intervals = {}
    for metric in metrics:
        values = draws.measure(deltas, metric, engine, steps.stage(len(draws.weights)))
        classes = deltas[metric.criterion].classes
        intervals[metric] = draws.summary(classes, values, Behaviour.of(metric))
    return intervals


def _around_whole_recordings(result: Evaluation) -> Evaluation:
    """Return the evaluation with intervals around the values of the whole recordings, not of their blocks.

    It warns if the cuts between blocks change a value by more than a tenth of its interval.
    """
    intervals: dict[Metric[Any], Bootstrap] = {}
    notes: list[str] = []
    for metric, cut in result.intervals.items():
        whole = result[metric]
        per_class = {
            label: replace(interval, value=whole.per_class[label].value)
            for label, interval in cut.per_class.items()
        }
        intervals[metric] = replace(cut, value=whole.value, per_class=per_class)
        if abs(cut.value - whole.value) > (cut.high - cut.low) / 10:
            notes.append(
                f"Cut into blocks, the recordings give {metric!r} = {cut.value:.4f} instead of "
                f"{whole.value:.4f}, because some detections go on across the ends of blocks. Its interval "
                "is that of the blocks. Resample longer blocks."
            )
    return replace(result, intervals=intervals, warnings=(*result.warnings, *notes))
