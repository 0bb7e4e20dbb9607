"""Deltas, counts, and the intermediate statistics of sed_scores_eval.

Statistics are ``{label: (scores, {"tps": counts, "fps": counts, …, "n_ref": number})}``. Scores
increase; the last one is ``inf``, where nothing is detected. At ``scores[i]``, frames with
``score >= scores[i]`` are active.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...alignment.alignment import Alignment, align
from ...alignment.coverage import squeezed_references_note
from ...counting.counts import ClassCounts, Counts
from ...counting.deltas import Deltas
from ...counting.one_pass import one_pass
from ...counting.request import DeltaRequest
from ...criteria import Criterion, Intersection
from ...data.clips import clip_id
from ...data.ground_truth import GroundTruth
from ...data.labels import with_likely_labels
from ...data.scores import Scores
from ...data.thresholds import score_range, threshold_note
from ...data.times import Ticks, to_ticks
from ...errors import SedscopeError, SedscopeWarning, listing, subject, without_options
from ...evaluation.notes import short_references_note
from .inputs import NamedScores

FloatArray = NDArray[np.float64]
Statistics: TypeAlias = dict[str, tuple[FloatArray, dict[str, Any]]]

ERRORS = ("onset_dist_sum", "offset_dist_sum")
"""The sums of signed onset and offset errors of matched pairs, in seconds."""


@dataclass(frozen=True, eq=False)
class NamedDeltas:
    """Deltas, and the names of their clips as the caller spells them."""

    deltas: Deltas
    names: tuple[str, ...]

    def counts(self, weights: NDArray[np.int64] | None = None) -> Counts:
        """Return all counts. ``weights``: how many times each clip counts."""
        return self.deltas.counts(weights=weights)


def find_deltas(
    scores: NamedScores,
    truth: GroundTruth,
    criterion: Criterion,
    request: DeltaRequest | None = None,
    *,
    known_durations: bool = True,
    timed: bool = True,
    ends: Mapping[str, float] | None = None,
) -> NamedDeltas:
    """Find the deltas of scores, and warn about unusual data.

    ``known_durations``: whether the durations are known, or end with the last event. ``timed``: whether
    the references have times, or are tags of whole clips. ``ends``: where clips end, if they are judged
    beyond that.
    """
    _require_known_labels(scores.scores, truth)
    with without_options():
        alignment = align(scores.scores, truth)
        deltas = one_pass(alignment, {criterion: request or DeltaRequest()})[criterion]
    # without durations, the alignment adds a note that callers of this interface can do nothing about
    warn(truth.warnings if truth.durations is None else alignment.warnings)
    clip_ends = _ends(deltas, known_durations, ends)
    _check_coverage(alignment, deltas, clip_ends)
    if timed:
        _warn_of_times(alignment, deltas, clip_ends, known_durations)
    _warn_of_empty_classes(deltas)
    return NamedDeltas(deltas, tuple(scores.names[clip] for clip in deltas.clips))


def _check_coverage(alignment: Alignment, deltas: Deltas, ends: Ticks) -> None:
    """Refuse scores that end long before or after most of their clips, and warn about others."""
    assert deltas.extents is not None
    covered = alignment.covered_clips(ends, deltas.extents)
    covered.refuse("To evaluate them as they are, use sedscope.evaluate with coverage='any'.")
    warn(covered.notes())


def _ends(deltas: Deltas, known_durations: bool, stated: Mapping[str, float] | None) -> Ticks:
    """Return where each clip ends: where it is stated, or else with its last event or score."""
    if stated:
        by_clip = {clip_id(name): seconds for name, seconds in stated.items()}
        return to_ticks([by_clip[clip] for clip in deltas.clips])
    if known_durations or deltas.extents is None:
        return deltas.durations
    return np.maximum(deltas.durations, deltas.extents[:, 2])


def _warn_of_times(alignment: Alignment, deltas: Deltas, ends: Ticks, known_durations: bool) -> None:
    """Warn about references that seem to have times in another unit."""
    squeezed = squeezed_references_note(
        alignment.events[:, 1],
        alignment.event_clips,
        ends,
        stated=known_durations and bool(alignment.durations.all()),
    )
    notes = [note for note in squeezed if note not in alignment.warnings]
    notes += [] if squeezed else short_references_note({deltas.criterion: deltas})
    warn(notes)


def _require_known_labels(scores: Scores, truth: GroundTruth) -> None:
    unknown = [label for label in truth.labels if label not in scores.classes]
    if unknown:
        raise SedscopeError(
            f"{subject(len(unknown), 'label', 'is')} in the ground truth but not in the scores: "
            f"{listing(with_likely_labels(unknown, scores.classes))}. The scores have "
            f"{listing(scores.classes, limit=30)}. Correct the labels, or leave out events of other classes."
        )


def _warn_of_empty_classes(deltas: Deltas) -> None:
    present = set(deltas.tables.references.labels.tolist())
    empty = [label for c, label in enumerate(deltas.classes) if c not in present]
    if empty:
        warn(
            [
                f"{subject(len(empty), 'class', 'has')} no reference events and so NaN values, which "
                f"averages leave out: {listing(empty)}."
            ]
        )


def warn_of_threshold(deltas: NamedDeltas, threshold: Any) -> None:
    """Warn if one threshold for all classes lies between 0 and 1 but the scores do not."""
    if isinstance(threshold, (int, float)):
        low, high = score_range([deltas.deltas.tables.detections.scores])
        warn(threshold_note(low, high, float(threshold), "the F-score or error rate"))


def warn(notes: Collection[str]) -> None:
    """Pass notes on to the caller of a public function."""
    for note in notes:
        warnings.warn(note, SedscopeWarning, stacklevel=4)


def statistics_of(counts: Counts) -> Statistics:
    """Return the counts of each class as statistics."""
    return {label: _class_statistics(counts, label) for label in counts}


def _class_statistics(counts: Counts, label: str) -> tuple[FloatArray, dict[str, Any]]:
    of_class, criterion = counts[label], counts.criterion
    stats: dict[str, Any] = {"tps": _rising(of_class.tp), "fps": _rising(of_class.fp)}
    others = [other for other in counts if other != label]
    if isinstance(criterion, Intersection):
        stats["cts"] = (
            np.zeros_like(stats["tps"])
            if criterion.cttc is None
            else {other: _rising(of_class.ct(other)) for other in others}
        )
    if of_class.errors is not None:
        stats |= {name: _rising(sums) for name, sums in zip(ERRORS, of_class.errors.T, strict=True)}
    if of_class.trials is not None:
        stats["n_sys"] = stats["tps"] + stats["fps"]
    stats["n_ref"] = of_class.references
    if of_class.trials is not None:
        stats["tns"] = of_class.trials - of_class.references - stats["fps"]
    if isinstance(criterion, Intersection):
        stats["t_ref"] = of_class.reference_time
        stats["n_ref_other"] = {other: counts[other].references for other in others}
        stats["t_ref_other"] = {other: counts[other].reference_time for other in others}
    return _rising(of_class.scores, np.inf), stats


def _rising(column: NDArray[Any], nothing: float = 0.0) -> FloatArray:
    """Reverse a column to rising scores, and append the value where nothing is detected."""
    return np.append(column[::-1].astype(np.float64), nothing)


def class_counts(scores: Any, stats: Mapping[str, Any]) -> ClassCounts:
    """Return the counts of a class from its statistics."""
    missing = [name for name in ("tps", "fps", "n_ref") if name not in stats]
    if missing:
        raise SedscopeError(f"The statistics have no {listing(missing)}.")
    at = np.asarray(scores, np.float64)
    tp, fp = (np.asarray(stats[name], np.float64) for name in ("tps", "fps"))
    if not (at.shape == tp.shape == fp.shape) or at.ndim != 1 or not len(at) or at[-1] != np.inf:
        raise SedscopeError("Statistics need one count per score, with rising scores and inf last.")
    trials = None
    if "tns" in stats:
        trials = int(np.rint(np.asarray(stats["tns"])[-1] + fp[-1] + stats["n_ref"]))
    nothing: NDArray[np.int64] = np.empty(0, np.int64)
    return ClassCounts(
        label="class",
        scores=at[:-1][::-1],
        tp=np.rint(tp[:-1][::-1]).astype(np.int64),
        fp=np.rint(fp[:-1][::-1]).astype(np.int64),
        references=int(stats["n_ref"]),
        reference_time=float(stats.get("t_ref", np.nan)),
        trials=trials,
        floor=-np.inf,
        cross_rows=nothing,
        cross_labels=nothing.astype(np.int32),
        cross_changes=nothing,
        classes=("class",),
    )
