"""Submissions: where the output of a system for each data set is, read as the task wants it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from functools import partial

import numpy as np

from ..alignment.joined_chunks import join_chunks
from ..alignment.regions import RegionTruth, cut_to_regions
from ..data.choices import Missing
from ..data.clip_events import ClipEvents
from ..data.clips import clip_id
from ..data.detections import event_problem
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError, listing, subject
from ..evaluation.groups import By, Groups
from ..io.archives import unpacked
from ..io.events.files import read_event_table
from ..io.locations import Location, folder_content, folder_files
from ..io.side_tables import read_groups, read_regions
from ..io.systems import DetectionSets, holds_events, read_system
from ..metrics.metric import delta_requests
from .task import Dataset, GroupRule, Task
from .task_data import DatasetTruth, absent_parts, part_of


def find_outputs(task: Task, submission: Location) -> tuple[dict[str, Location], list[str]]:
    """Return where the output for each data set is, and a message for each that is missing.

    A submission in an archive is unpacked.
    """
    submission = unpacked(
        submission, [of_set.submission or name for name, of_set in task.datasets.items()]
    )
    alone = len(task.datasets) == 1
    outputs: dict[str, Location] = {}
    missing: list[str] = []
    for name, dataset in task.datasets.items():
        part = dataset.submission or name
        files = [] if (submission / part).exists() else _parts_named(submission, part)
        output = files[0] if len(files) == 1 else part_of(submission, part, alone and not files)
        if len(files) > 1:
            which = listing([file.name for file in files])
            missing.append(f"{submission / part}: several files or folders have this name: {which}")
        elif output is None:
            missing += absent_parts(submission, [part], f"the output for the data set {name}")
        else:
            outputs[name] = output
    return outputs, [*dict.fromkeys(missing)]


def _parts_named(folder: Location, name: str) -> list[Location]:
    """Return what a folder holds under a name with any suffix, such as ``desed.npz``."""

    def is_named(file: str) -> bool:
        return file.startswith(f"{name}.") and file != f"{name}."

    if not folder.is_dir():
        return []
    folders = [path for path in folder_content(folder) if is_named(path.name) and path.is_dir()]
    return [*folder_files(folder, is_named), *folders]


def require_outputs(task: Task, submission: Location) -> dict[str, Location]:
    """Return where the output for each data set is. Refuse a submission that lacks one."""
    outputs, missing = find_outputs(task, submission)
    if missing:
        raise SedscopeError(
            f"The submission is not complete: {listing(missing, limit=20)}.", lines=missing
        )
    return outputs


def read_output(path: Location, truth: DatasetTruth) -> tuple[Scores | DetectionSets, GroundTruth]:
    """Read the output of a system for a data set; return it with the references, both as evaluated."""
    dataset = truth.dataset
    system = read_system(path, truth.truth, truth.system_reading)
    if isinstance(system, Scores):
        _refuse_unlisted_clips(path, system, truth)
        _refuse_unusable_events(path, system, truth)
        return as_evaluated(system, truth)
    refuse_changed_sets(path, dataset)
    return system, truth.truth


def _refuse_unlisted_clips(path: Location, scores: Scores, truth: DatasetTruth) -> None:
    """Refuse a list of detections with clips that the ground truth does not have, and name the rows."""
    chosen = truth.dataset.clips
    if truth.dataset.missing == "empty" or (chosen is not None and chosen != "scored"):
        return
    unlisted = {*scores}.difference(truth.truth.clips)
    lines = unlisted_rows(path, unlisted) if unlisted else []
    if lines:
        raise SedscopeError(
            f"{subject(len(unlisted), 'clip', 'has')} detections but {'is' if len(unlisted) == 1 else 'are'} "
            f"not in the ground truth: {listing(lines)}.",
            lines=lines,
        )


def unlisted_rows(path: Location, unlisted: Collection[str]) -> list[str]:
    """Return the first row of each clip that is not in the ground truth, as ``file:line: message``.

    There are none if the file or folder holds scores.
    """
    if not holds_events(path, None):
        return []
    table = read_event_table(path, problems=[])  # rows that are no events are reported as such
    first: dict[str, str] = {}
    for row, name in enumerate(table.clip):
        clip = clip_id(name)
        if clip in unlisted and clip not in first:
            first[clip] = table.row_location(row).finding(f"the clip {clip} is not in the ground truth")
    return [*first.values()]


def _refuse_unusable_events(path: Location, scores: Scores, truth: DatasetTruth) -> None:
    """Refuse events that the task cannot judge, and name the rows, where events are kept."""
    if truth.dataset.truth.overlaps != "keep":
        return
    ends, needs_lengths = _clip_ends(truth), _needs_lengths(truth.dataset)

    def usable(clip: str, events: ClipEvents) -> bool:
        onset, offset = events.times.T
        late = clip in ends and bool((onset >= ends[clip]).any())
        return not late and not (needs_lengths and bool((onset == offset).any()))

    opened = ((clip, scores.open(clip)) for clip in scores)
    if all(usable(clip, of_clip) for clip, of_clip in opened if isinstance(of_clip, ClipEvents)):
        return
    lines = unusable_rows(path, truth)
    number = subject(len(lines), "detection", "is")
    raise SedscopeError(f"{number} not usable: {listing(lines)}.", lines=lines)


def unusable_rows(path: Location, truth: DatasetTruth) -> list[str]:
    """Return the rows of events that the task cannot judge, as ``file:line: message``.

    These events begin after their clip has ended, or have no length where a metric needs one. There are
    none if the file or folder holds scores, or if the task does not keep events as they are.
    """
    if truth.dataset.truth.overlaps != "keep" or not holds_events(path, None):
        return []
    ends, needs_lengths = _clip_ends(truth), _needs_lengths(truth.dataset)
    table, _ = read_event_table(path, problems=[]).usable_rows(partial(event_problem, points=True))
    columns = table.columns()
    times = zip(columns.onset.tolist(), columns.offset.tolist(), strict=True)
    lines: list[str] = []
    for row, (name, (onset, offset)) in enumerate(zip(columns.clip, times, strict=True)):
        end = ends.get(clip_id(name))
        if end is not None and onset >= end:
            message = f"begins after the clip has ended, at {end / TICKS_PER_SECOND:g} s"
            lines.append(columns.finding(row, message))
        elif needs_lengths and onset == offset:
            lines.append(columns.finding(row, "has no length"))
    return lines


def late_rows(path: Location, truth: DatasetTruth) -> list[str]:
    """Return the rows of detections that go on long after their clip has ended, as ``file:line: message``.

    There are none if the file or folder holds scores.
    """
    ends = _clip_ends(truth)
    if not ends or not holds_events(path, None):
        return []
    columns = (
        read_event_table(path, problems=[]).usable_rows(partial(event_problem, points=True))[0].columns()
    )
    clip_ends = np.array([ends.get(clip_id(clip), np.inf) for clip in columns.clip])
    late = np.flatnonzero((columns.onset >= clip_ends) | (columns.offset > 1.1 * clip_ends)).tolist()
    return [
        columns.finding(
            row, f"goes on after the end of the clip, at {clip_ends[row] / TICKS_PER_SECOND:g} s"
        )
        for row in late
    ]


def _needs_lengths(dataset: Dataset) -> bool:
    """Return whether a metric cannot judge points in time."""
    return not all(criterion.judges_points for criterion in delta_requests(dataset.metrics.values()))


def _clip_ends(truth: DatasetTruth) -> dict[str, int]:
    """Return when each clip ends, in microseconds; nothing if that is unknown."""
    durations = truth.truth.durations
    if durations is None:
        return {}
    return dict(zip(truth.truth.clips, durations.tolist(), strict=True))


def refuse_changed_sets(path: Location, dataset: Dataset) -> None:
    """Refuse detections at thresholds where the task changes what a system outputs."""
    if depends_on_output(dataset):
        raise SedscopeError(
            f"{path} holds detections at thresholds, but the task needs scores or one list of detections, "
            "because it joins chunks, cuts regions, leaves out shots, or has no durations."
        )


def as_evaluated(scores: Scores, truth: DatasetTruth) -> tuple[Scores, GroundTruth]:
    """Return scores and references as the task evaluates them.

    Chunks are joined to recordings, regions are cut out, shots are left out, and clips end somewhere.
    """
    dataset, references, rule = truth.dataset, truth.truth, truth.dataset.chunks
    if rule is not None:
        scores, references = join_chunks(
            scores,
            references,
            unit=rule.unit,
            segment=rule.segment,
            durations=truth.recordings,
            uncovered=rule.uncovered,
            unreferenced=rule.unreferenced,
            classes=dataset.classes,
        )
    if dataset.regions is not None:
        regions = read_regions(truth.folder / dataset.regions)
        scores, references = cut_to_regions(scores, references, regions, crossing=dataset.crossing)
    if truth.shot_ends is not None:
        references = _without_shots(references, scores, truth.shot_ends)
    if dataset.clip_ends != "stated" and references.durations is None:
        references = _end_with_events(scores, references, dataset.missing)
    return scores, references


def _without_shots(truth: GroundTruth, scores: Scores, ends: Mapping[str, int]) -> GroundTruth:
    """Return the references that a system is evaluated on.

    ``ends``: when the last shot of each clip ends, in microseconds.
    """
    limits = [ends[clip] if clip in scores and _detects(clip, scores) else 0 for clip in truth.clips]
    rows = np.flatnonzero(truth.offsets > np.array(limits, np.int64)[truth.event_clips])
    rest = copy(truth)
    rest.event_clips, rest.event_labels = truth.event_clips[rows], truth.event_labels[rows]
    rest.onsets, rest.offsets, rest.ignored = (
        truth.onsets[rows],
        truth.offsets[rows],
        truth.ignored[rows],
    )
    return rest


def _detects(clip: str, scores: Scores) -> bool:
    events = scores.open(clip)
    if not isinstance(events, ClipEvents) or (events.confidences != 1).any():
        raise SedscopeError(
            f"Clip {clip} has scores, but which events are left out depends on what the system detects. Give "
            "a list of detections without confidences."
        )
    return len(events.times) > 0


def _end_with_events(scores: Scores, truth: GroundTruth, missing: Missing) -> GroundTruth:
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


def grouping(truth: DatasetTruth, references: GroundTruth, scored: Iterable[str]) -> By | None:
    """Return the groups that metrics are measured in, if there are any.

    ``references``: as they are evaluated. ``scored``: the clips of the system.
    """
    rule, folder = truth.dataset.groups, truth.folder
    if rule is None:
        return None
    if rule.lengths:
        return By(lengths=rule.lengths)
    if rule.classes is not None:
        return By(classes=Groups(read_groups(folder / rule.classes), rule.average, rule.floor))
    if rule.clips is not None:
        members = read_groups(folder / rule.clips)
    elif rule.pattern is not None:
        members = _groups_in_names(rule, references, scored)
    else:
        members = dict(truth.folder_of)
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
