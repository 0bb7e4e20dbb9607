"""The PSDS with the best of several post-processings for each class, at each rate.

The curve of a class is a tuple of true positive rates, effective false positive rates, scores of the
operating points and, for each, the number of the post-processing that it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from ....counting.counts import Counts
from ....errors import SedscopeError
from ..base_modules.bootstrap import FewResamples, Resamples, transpose
from ..base_modules.postprocessing import median_filter
from ..counting import NamedDeltas
from ..criteria import by_intersection
from ..delta_tables import DeltaTable, delta_table
from ..inputs import named_scores
from ..statistic_functions import Count, batched, with_options
from .psds import ClassCurves, PSDSOptions

__all__ = [
    "bootstrapped_median_filter_independent_psds",
    "bootstrapped_postprocessing_independent_psds",
    "bootstrapped_postprocessing_independent_psds_from_postprocessed_scores",
    "deltas_postprocessing",
    "median_filter_independent_psds",
    "postprocessing_independent_psd_roc",
    "postprocessing_independent_psd_roc_from_postprocessed_scores",
    "postprocessing_independent_psds",
    "postprocessing_independent_psds_from_postprocessed_scores",
]

PostProcess: TypeAlias = Callable[..., Any]
"""``function(scores, lazy=True)`` gives processed scores."""


class Variants(Protocol):
    """Variants of the scores. The best one is chosen at each rate."""

    def find_deltas(self, scores: Any, count: Count) -> list[NamedDeltas]:
        """Find the deltas of each variant."""


@dataclass(frozen=True)
class FunctionVariants:
    """Functions that process scores, or the scores they return, or the deltas of these."""

    postprocessing_functions: Sequence[PostProcess] | None
    scores_processed: Sequence[Any] | None = None
    deltas: Any = None

    def find_deltas(self, scores: Any, count: Count) -> list[NamedDeltas]:
        functions = self.postprocessing_functions
        results = self.scores_processed if self.deltas is None else self.deltas
        if functions is not None and results is not None and len(functions) != len(results):
            raise SedscopeError(
                f"There are {len(functions)} post-processings, but {len(results)} results."
            )
        if self.deltas is not None:
            return [count(None, deltas=table) for table in self.deltas]
        if self.scores_processed is not None:
            return [count(processed) for processed in self.scores_processed]
        if not functions:
            raise SedscopeError("There are no post-processings. Pass functions or their results.")
        return [count(function(scores, lazy=True)) for function in functions]


@dataclass(frozen=True)
class ScoreVariants:
    """A list of processed scores, passed as the scores."""

    deltas: Any = None

    def find_deltas(self, scores: Any, count: Count) -> list[NamedDeltas]:
        return FunctionVariants(None, scores, self.deltas).find_deltas(None, count)


@dataclass(frozen=True)
class MedianFilterVariants:
    """Median filters, or the scores they return, or the deltas of these."""

    median_filter_lengths_in_sec: Sequence[Any]
    scores_processed: Sequence[Any] | None = None
    deltas: Any = None

    def find_deltas(self, scores: Any, count: Count) -> list[NamedDeltas]:
        """Apply all filters to a clip while it is in memory."""
        if self.deltas is not None or self.scores_processed is not None:
            return FunctionVariants(None, self.scores_processed, self.deltas).find_deltas(scores, count)
        named = named_scores(scores)
        filters = [
            median_filter(length, named.scores.classes) for length in self.median_filter_lengths_in_sec
        ]
        if not filters:
            raise SedscopeError("There are no median filters. Pass median_filter_lengths_in_sec.")
        counted = count(named, variants=tuple(dict.fromkeys(filters)))
        variants = counted.deltas.variants
        return [NamedDeltas(variants[variant], counted.names) for variant in filters]


def _psds(
    scores: Any, ground_truth: Any, audio_durations: Any, *, variants: Variants, options: PSDSOptions
) -> tuple[Any, ...]:
    """The PSDS, that of each class, the PSD-ROC and that of each class, with the best of the variants;
    then the PSD-ROC of each variant, and those of its classes."""
    by_variant = variants.find_deltas(scores, options.counting(ground_truth, audio_durations))
    return _independent([of_variant.counts() for of_variant in by_variant], options)


def _psd_roc(
    scores: Any, ground_truth: Any, audio_durations: Any, *, variants: Variants, options: PSDSOptions
) -> tuple[Any, ...]:
    """The PSD-ROC and that of each class, with the best of the variants; then the PSD-ROC of each
    variant, and those of its classes."""
    by_variant = variants.find_deltas(scores, options.counting(ground_truth, audio_durations))
    return _independent_curves([of_variant.counts() for of_variant in by_variant], options)


def _bootstrapped(
    scores: Any,
    ground_truth: Any,
    audio_durations: Any,
    *,
    variants: Variants,
    options: PSDSOptions,
    resamples: Resamples,
) -> list[tuple[Any, ...]]:
    """The same for resamples of the clips: a list with a tuple for each value."""
    count = options.counting(ground_truth, audio_durations, pruned=False)
    by_variant = variants.find_deltas(scores, count)
    weights = resamples.weights(by_variant[0].names)
    resampled = ([of_variant.counts(row) for of_variant in by_variant] for row in weights)
    return transpose([_independent(counts, options) for counts in resampled])


def _made(function: Callable[..., Any], variants: type) -> Callable[..., Any]:
    """Make a public function that takes the options of a kind of variants."""
    groups: dict[str, type] = {"options": PSDSOptions, "variants": variants}
    if function is _bootstrapped:
        groups["resamples"] = FewResamples
    lists = ("scores" if variants is ScoreVariants else "scores_processed", "deltas")
    return batched(with_options(**groups)(function), lists)


postprocessing_independent_psds = _made(_psds, FunctionVariants)
postprocessing_independent_psd_roc = _made(_psd_roc, FunctionVariants)
bootstrapped_postprocessing_independent_psds = _made(_bootstrapped, FunctionVariants)
postprocessing_independent_psds_from_postprocessed_scores = _made(_psds, ScoreVariants)
postprocessing_independent_psd_roc_from_postprocessed_scores = _made(_psd_roc, ScoreVariants)
bootstrapped_postprocessing_independent_psds_from_postprocessed_scores = _made(
    _bootstrapped, ScoreVariants
)
median_filter_independent_psds = _made(_psds, MedianFilterVariants)
bootstrapped_median_filter_independent_psds = _made(_bootstrapped, MedianFilterVariants)


def deltas_postprocessing(
    scores: Any, ground_truth: Any, postprocessing_fn: PostProcess, **options: Any
) -> DeltaTable:
    """``intermediate_statistics_deltas`` of processed scores."""
    return delta_table(by_intersection(postprocessing_fn(scores, lazy=True), ground_truth, **options))


def merge_individual_rocs_into_overall_roc(rocs: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The best of several curves of one class at each rate; of equally good ones the first. The curves
    are true positive rates, false positive rates, and other columns."""
    tpr, efpr, *others = (np.concatenate(column) for column in zip(*rocs, strict=True))
    order = np.lexsort((np.arange(len(tpr)), -tpr, efpr))
    best = np.append(-1.0, np.maximum.accumulate(tpr[order])[:-1])
    kept = order[:1] if np.isnan(tpr).any() else order[tpr[order] > best]
    return (tpr[kept], efpr[kept], *(column[kept] for column in others))


def _independent(variants: Sequence[Counts], options: PSDSOptions) -> tuple[Any, ...]:
    _, best, rocs, class_rocs = _independent_curves(variants, options)
    return (*options.with_areas(best), rocs, class_rocs)


def _independent_curves(variants: Sequence[Counts], options: PSDSOptions) -> tuple[Any, ...]:
    class_rocs: tuple[ClassCurves, ...] = tuple(options.class_curves(counts) for counts in variants)

    def numbered(label: str) -> list[tuple[Any, ...]]:
        curves = [of_variant[label] for of_variant in class_rocs]
        return [(*curve, np.full(len(curve[0]), number)) for number, curve in enumerate(curves)]

    best = {label: merge_individual_rocs_into_overall_roc(numbered(label)) for label in class_rocs[0]}
    rocs = tuple(options.overall(of_variant) for of_variant in class_rocs)
    return options.overall(best), best, rocs, class_rocs
