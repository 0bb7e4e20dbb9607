"""Ground truth under new labels."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SedscopeError, listing
from .event_checks import merged_events
from .label_maps import AppliedMap, LabelMapLike, as_label_map
from .truth_notes import late_ends_of, notes_without_late_ends

if TYPE_CHECKING:
    from .ground_truth import GroundTruth


def relabelled_truth(truth: GroundTruth, label_map: LabelMapLike) -> GroundTruth:
    """Give the events of a ground truth their new labels, and merge those that become one class."""
    names = as_label_map(label_map)
    everywhere = {names.target(label) or label for label in truth.ignored_labels}
    still_classes = [label for label in truth.labels if names.target(label) == label in everywhere]
    if still_classes:
        raise SedscopeError(
            f"The label map gives a label that is ignored for every class the name of a class: "
            f"{listing(still_classes)}. Choose another name."
        )
    old_labels = (*truth.labels, *truth.ignored_labels)
    targets = [names.target(label) for label in old_labels]
    labels = sorted({target for target in targets if target is not None} - everywhere)
    number = {label: i for i, label in enumerate((*labels, *sorted(everywhere)))}
    new_labels = [-1 if target is None else number[target] for target in targets]
    event_labels = np.array(new_labels, np.int32)[truth.event_labels]
    ignored = truth.ignored | (event_labels >= len(labels))
    rows, offsets = merged_events(
        truth.onsets,
        truth.offsets,
        truth.event_clips,
        event_labels,
        ignored,
        merge=truth.overlaps != "keep",
    )
    renamed = copy(truth)
    renamed.labels, renamed.ignored_labels = tuple(labels), tuple(sorted(everywhere))
    renamed.event_clips, renamed.event_labels = truth.event_clips[rows], event_labels[rows]
    renamed.onsets, renamed.offsets, renamed.ignored = truth.onsets[rows], offsets, ignored[rows]
    renamed.warnings = (*notes_without_late_ends(truth), *late_ends_of(renamed))
    renamed._noted = None  # its rows have the old labels
    renamed.label_maps = (*truth.label_maps, AppliedMap(names, old_labels))
    return renamed
