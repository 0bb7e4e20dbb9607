"""What a data set does to references and scores before they are evaluated: a function for each key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..data.ground_truth import GroundTruth
from ..data.joined_chunks import join_chunks
from ..data.label_maps import LabelMap, joined_maps
from ..data.region_cuts import RegionTruth, cut_to_regions
from ..data.scores import Scores
from ..evaluation.groups import Groups
from ..io.group_tables import read_class_groups, read_clip_groups
from ..io.label_maps import Side, read_label_map, read_side_map
from ..io.locations import Location
from ..io.regions import read_regions
from ..resampling.resampling import Resampling
from .task import Dataset, LabelNames


def truth_reading(dataset: Dataset, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``read_ground_truth``: soft labels, and references to ignore."""
    return {
        "confidence": dataset.confidence,
        "ignored": None if dataset.ignored is None else folder / dataset.ignored,
        "ignored_labels": dataset.ignored_labels,
    }


def label_map(dataset: Dataset, side: Side, folder: Location) -> LabelMap | None:
    """Return the new names of labels of a side: those for both sides and its own."""

    def read(names: LabelNames | None, read_map: Callable[..., LabelMap]) -> LabelMap | None:
        if isinstance(names, str):
            return read_map(folder / names, side=side)
        return None if names is None else LabelMap(names, dataset.combine)

    own = dataset.system_labels if side == "system" else dataset.truth_labels
    return joined_maps(read(dataset.labels, read_label_map), read(own, read_side_map))


def join(
    scores: Scores, truth: GroundTruth, dataset: Dataset, recordings: Mapping[str, float] | None
) -> tuple[Scores, GroundTruth]:
    """Join chunks to whole recordings. ``recordings``: the durations of these, if they are known."""
    rule = dataset.chunks
    if rule is None:
        return scores, truth
    return join_chunks(
        scores,
        truth,
        unit=rule.unit,
        segment=rule.segment,
        durations=recordings,
        uncovered=rule.uncovered,
        unreferenced=rule.unreferenced,
        classes=dataset.classes,
    )


def cut(
    scores: Scores, truth: GroundTruth, dataset: Dataset, folder: Location
) -> tuple[Scores, GroundTruth]:
    """Keep the regions to evaluate."""
    if dataset.regions is None:
        return scores, truth
    regions = read_regions(folder / dataset.regions)
    return cut_to_regions(scores, truth, regions, crossing=dataset.crossing)


def drawing_recordings(resampling: Resampling | None, truth: GroundTruth) -> Resampling | None:
    """Return a resampling that draws recordings where clips are regions, unless it draws blocks."""
    if resampling is None or resampling.blocks is not None or not isinstance(truth, RegionTruth):
        return resampling
    return replace(resampling, groups=truth.resampling_groups(resampling.groups))


def grouping(dataset: Dataset, truth: GroundTruth, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``evaluate``: the groups that metrics are measured in."""
    rule = dataset.groups
    if rule is None:
        return {}
    if rule.lengths:
        return {"by_length": rule.lengths}
    if rule.classes is not None:
        return {"by_class": Groups(read_class_groups(folder / rule.classes), rule.average, rule.floor)}
    assert rule.clips is not None
    members = read_clip_groups(folder / rule.clips)
    if isinstance(truth, RegionTruth):
        members = truth.groups_of_regions(members)
    return {"by": Groups(members, rule.average, rule.floor)}


def changes_times(dataset: Dataset) -> bool:
    """Return whether the times of a system's scores are changed before they are evaluated."""
    return any((dataset.chunks, dataset.regions))
