"""What a data set does to references and scores before they are evaluated: a function for each key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np

from ..data.choices import Missing, Side
from ..data.clip_events import ClipEvents
from ..data.ground_truth import GroundTruth
from ..data.joined_chunks import join_chunks
from ..data.label_maps import LabelMap, joined_maps
from ..data.regions import RegionTruth, cut_to_regions
from ..data.scores import Scores
from ..errors import SedscopeError, listing, subject
from ..evaluation.groups import By, Groups
from ..io.events.files import read_event_table
from ..io.events.source import EventReadOptions
from ..io.label_maps import read_label_map, read_side_map
from ..io.locations import Location
from ..io.side_tables import read_class_groups, read_clip_groups, read_regions
from .task import Dataset, GroupRule, LabelNames


def end_with_events(scores: Scores, truth: GroundTruth, missing: Missing = "error") -> GroundTruth:
    """Return the ground truth with durations: each clip ends with its last reference or detection.

    With ``missing="empty"``, clips that the ground truth does not list become clips without references.
    Metrics that read no durations, such as F-scores of events, do not depend on where clips end.
    """
    listed = {*truth.clips}
    unlisted = [clip for clip in scores if clip not in listed] if missing == "empty" else []
    clips = (*truth.clips, *unlisted)
    ends = np.ones(len(clips), np.int64)  # a clip without any event lasts a microsecond
    np.maximum.at(ends, truth.event_clips, truth.offsets)
    for i, clip in enumerate(clips):
        if clip in scores:
            opened = scores.open(clip)
            times = opened.times if isinstance(opened, ClipEvents) else opened.ticks
            ends[i] = times.max(initial=ends[i])
    ended = copy(truth)
    ended.clips, ended.durations = clips, ends
    if unlisted:
        number = subject(len(unlisted), "clip", "has")
        note = f"{number} detections but no reference events: {listing(unlisted)}."
        ended.warnings = (*truth.warnings, note)
    return ended


def truth_reading(dataset: Dataset, folder: Location) -> Mapping[str, Any]:
    """Return further arguments of ``GroundTruth.from_event_table``: soft labels, and references to ignore."""
    ignored = None
    if dataset.ignored is not None:
        options = EventReadOptions(dataset.columns, dataset.label, side="truth")
        ignored = read_event_table(folder / dataset.ignored, format=dataset.format, options=options)
    return {
        "confidence": dataset.confidence,
        "ignored": ignored,
        "ignored_labels": dataset.ignored_labels,
    }


def label_map(dataset: Dataset, side: Side, folder: Location) -> LabelMap | None:
    """Return the new names of labels of a side: those for both sides and its own."""

    def read(names: LabelNames | None, read_map: Callable[..., LabelMap]) -> LabelMap | None:
        if isinstance(names, str):
            return read_map(folder / names, side=side)
        return None if names is None else LabelMap(names, dataset.combine)

    one_sided = dataset.system_labels if side == "system" else dataset.truth_labels
    return joined_maps(read(dataset.labels, read_label_map), read(one_sided, read_side_map))


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


def end(scores: Scores, truth: GroundTruth, dataset: Dataset) -> GroundTruth:
    """Let clips end with their events, if nothing says where they end."""
    if dataset.clip_ends == "stated" or truth.durations is not None:
        return truth
    return end_with_events(scores, truth, dataset.missing)


def grouping(
    dataset: Dataset,
    truth: GroundTruth,
    folder: Location,
    folder_of: Mapping[str, str],
    scored: Iterable[str],
) -> By | None:
    """Return the groups that metrics are measured in, if there are any.

    ``folder_of``: the folder of each clip. ``scored``: the clips of the system.
    """
    rule = dataset.groups
    if rule is None:
        return None
    if rule.lengths:
        return By(lengths=rule.lengths)
    if rule.classes is not None:
        return By(classes=Groups(read_class_groups(folder / rule.classes), rule.average, rule.floor))
    if rule.clips is not None:
        members = read_clip_groups(folder / rule.clips)
    elif rule.pattern is not None:
        members = _groups_in_names(rule, truth, scored)
    else:
        members = dict(folder_of)
    return By(Groups(members, rule.average, rule.floor))


def _groups_in_names(rule: GroupRule, truth: GroundTruth, scored: Iterable[str]) -> dict[str, str]:
    """Return the group in the name of each clip. Names that have none are refused."""
    names = {*truth.recording_of.values()} if isinstance(truth, RegionTruth) else {*truth.clips, *scored}
    groups = {clip: rule.group_of(clip) for clip in sorted(names)}
    without = [clip for clip, group in groups.items() if not group]
    if without:
        raise SedscopeError(
            f"{subject(len(without), 'clip', 'has')} no group, because the pattern {rule.pattern!r} does not "
            f"match the name: {listing(without)}."
        )
    return {clip: str(group) for clip, group in groups.items()}


def depends_on_output(dataset: Dataset) -> bool:
    """Return whether scores or references become what is evaluated only when both are known."""
    return any((dataset.chunks, dataset.regions, dataset.shots, dataset.clip_ends != "stated"))
