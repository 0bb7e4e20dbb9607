"""Sets of detections: operating points given as lists of events, and nothing in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..alignment.alignment import align
from ..counting.counts import ClassCounts, Counts
from ..counting.one_pass import one_pass
from ..counting.request import DeltaRequest, Requests
from ..criteria import Criterion
from ..data.arrays import FloatArray
from ..data.choices import ClipChoice, Coverage, Missing, Overlaps
from ..data.clips import clip_id
from ..data.detections import Detections, event_labels, listed_scores
from ..data.ground_truth import GroundTruth
from ..data.labels import stripped
from ..errors import SedscopeError
from .notes import coverage_note

if TYPE_CHECKING:
    from ..data.label_maps import LabelMapLike


def counts_of_sets(
    sets: Mapping[float, Detections],
    truth: GroundTruth,
    requests: Requests,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    coverage: Coverage = "error",
    overlaps: Overlaps = "error",
    label_map: LabelMapLike | None = None,
    threads: int | None = None,
) -> tuple[dict[Criterion, Counts], list[str]]:
    """Count for several criteria at exactly these operating points: one row per set.

    Clips that a set does not list have no detections in it. Return notes on the data as well.
    """
    if not sets:
        raise SedscopeError("There is no set of detections. Give at least one.")
    if truth.durations is None:
        raise SedscopeError("Sets of detections need the durations of the clips (`durations=`).")
    detected = set[str]().union(*map(event_labels, sets.values()))
    new_labels = None
    if label_map is not None:
        from ..data.label_maps import as_label_map

        new_labels = as_label_map(label_map)
    chosen = classes if classes is None or isinstance(classes, str) else stripped(classes)
    chosen_clips = clips if clips is None or isinstance(clips, str) else list(clips)
    named = () if isinstance(chosen, str) else (label for label in chosen or () if label)
    undetected = {*truth.labels, *(label for label in named if isinstance(label, str))}
    unlimited = {c: DeltaRequest(any_label=request.any_label) for c, request in requests.items()}
    points: dict[Criterion, list[Counts]] = {criterion: [] for criterion in requests}
    thresholds = sorted(sets, reverse=True)
    listed = {clip_id(name) for events in sets.values() for name in events}
    notes: dict[str, None] = {}
    for threshold in thresholds:
        try:
            system = listed_scores(
                {clip: [event[:3] for event in events] for clip, events in sets[threshold].items()},
                detected,
                undetected,
                clips=truth.clips,
                overlaps=overlaps,
                label_map=new_labels,
            )
        except SedscopeError as error:
            text = str(error)
            if error.advice:  # sets cannot be averaged
                text = text.replace(error.advice, "Merge them with `overlaps='merge'`.")
            raise SedscopeError(f"threshold {threshold:g}: {text}") from None
        # a high threshold may leave a clip without detections
        system = system._replaced(assumed_clips=system.assumed_clips - listed)
        alignment = align(
            system, truth, classes=chosen, clips=chosen_clips, missing=missing, coverage=coverage
        )
        by_criterion = one_pass(alignment, unlimited, threads=threads)
        part = next(iter(by_criterion.values()))
        assert part.extents is not None
        alignment.require_coverage(part.durations, part.extents)
        notes |= dict.fromkeys([*alignment.warnings, *coverage_note(alignment, by_criterion)])
        for criterion, deltas in by_criterion.items():
            points[criterion].append(deltas.counts(threads=threads).at([0.5]))
    counts = {criterion: _join_points(rows, np.array(thresholds)) for criterion, rows in points.items()}
    return counts, [*notes]


def _join_points(points: Sequence[Counts], thresholds: FloatArray) -> Counts:
    """Join the counts of the points, which have one row each, to one table."""
    first = points[0]
    pairs = [point.any_label[1] for point in points if point.any_label is not None]
    per_class = {label: _class_points([point[label] for point in points], thresholds) for label in first}
    any_label = (thresholds, np.concatenate(pairs)) if pairs else None
    return replace(first, per_class=per_class, any_label=any_label)


def _class_points(points: Sequence[ClassCounts], thresholds: FloatArray) -> ClassCounts:
    first = points[0]
    crossed = np.array([[point.ct(other)[0] for other in first.classes] for point in points])
    changes = np.diff(crossed, axis=0, prepend=0)
    rows, labels = np.nonzero(changes)
    return replace(
        first,
        scores=thresholds,
        tp=np.concatenate([point.tp for point in points]),
        fp=np.concatenate([point.fp for point in points]),
        cross_rows=rows.astype(np.int64),
        cross_labels=labels.astype(np.int32),
        cross_changes=changes[rows, labels].astype(np.int64),
        errors=None,
    )
