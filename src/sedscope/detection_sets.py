"""Operating points given as lists of detections, one per threshold, and nothing in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .collect import deltas
from .counts import ClassCounts, Counts
from .criteria import Criterion
from .errors import SedscopeError
from .events import Events, Overlaps
from .ground_truth import GroundTruth
from .scores import Scores


def counts_of_sets(
    sets: Mapping[float, Events],
    truth: GroundTruth,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    overlaps: Overlaps = "error",
    threads: int | None = None,
) -> Counts:
    """Counts at exactly these operating points: a row per set, named by its threshold.

    Clips that a set does not list have no detections in it.
    """
    if not sets:
        raise SedscopeError("there is no set of detections")
    labels = tuple(truth.labels if classes is None else classes)
    points: list[Counts] = []
    for threshold in sorted(sets, reverse=True):
        system = Scores.from_events(
            {clip: [event[:3] for event in events] for clip, events in sets[threshold].items()},
            classes=labels,
            clips=truth.clips,
            overlaps=overlaps,
        )
        found = deltas(system, truth, criterion, classes=labels, threads=threads)
        points.append(found.counts(threads=threads))
    scores = np.array(sorted(sets, reverse=True), np.float64)
    per_class = {label: _class_points([p[label] for p in points], scores) for label in labels}
    last = points[-1]
    return Counts(criterion=criterion, per_class=per_class, clips=last.clips, duration=last.duration)


def _class_points(points: list[ClassCounts], scores: np.typing.NDArray[np.float64]) -> ClassCounts:
    """The counts of one class, each point being the only row of its table, if there is one."""
    first = points[0]
    tallies = [point.tally_at(0.5) for point in points]
    crossed = np.array([[point.ct(other).sum() for other in first.classes] for point in points])
    changes = np.diff(crossed, axis=0, prepend=0)
    rows, labels = np.nonzero(changes)
    return ClassCounts(
        label=first.label,
        scores=scores,
        tp=np.array([tally.tp for tally in tallies], np.int64),
        fp=np.array([tally.fp for tally in tallies], np.int64),
        references=first.references,
        reference_time=first.reference_time,
        trials=first.trials,
        floor=-np.inf,
        cross_rows=rows.astype(np.int64),
        cross_labels=labels.astype(np.int32),
        cross_changes=changes[rows, labels].astype(np.int64),
        classes=first.classes,
    )
