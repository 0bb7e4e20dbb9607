"""Submissions: where the output of a system for each data set is, read as the task wants it."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from ..data.clip_events import ClipEvents
from ..data.clips import clip_id
from ..data.detections import event_problem
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.times import TICKS_PER_SECOND
from ..errors import SedscopeError, listing, subject
from ..io.events.files import read_event_table
from ..io.locations import Location, folder_files
from ..io.systems import DetectionSets, SystemReading, holds_events, read_system
from ..metrics.metric import delta_requests
from .dataset_parts import cut, depends_on_output, end, join
from .reference_tables import without_shots
from .task import Dataset, Task
from .task_data import DatasetTruth, absent_parts, part_of


def find_outputs(task: Task, submission: Location) -> tuple[dict[str, Location], list[str]]:
    """Return where the output for each data set is, and a message for each that is missing."""
    alone = len(task.datasets) == 1
    outputs: dict[str, Location] = {}
    missing: list[str] = []
    for name, dataset in task.datasets.items():
        part = dataset.submission or name
        files = [] if (submission / part).exists() else _files_named(submission, part)
        output = files[0] if len(files) == 1 else part_of(submission, part, alone and not files)
        if len(files) > 1:
            which = listing([file.name for file in files])
            missing.append(f"{submission / part}: there are several files of this name: {which}")
        elif output is None:
            missing += absent_parts(submission, [part], f"the output for the data set {name}")
        else:
            outputs[name] = output
    return outputs, [*dict.fromkeys(missing)]


def _files_named(folder: Location, name: str) -> list[Location]:
    """Return the files in a folder that have a name and any suffix, such as ``desed.npz``."""
    if not folder.is_dir():
        return []
    return [*folder_files(folder, lambda file: file.startswith(f"{name}.") and file != f"{name}.")]


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
    system = read_system(
        path,
        truth.truth,
        SystemReading(gaps=dataset.gaps, overlaps=dataset.overlaps, label_map=truth.system_map),
    )
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
    if truth.dataset.overlaps != "keep":
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
    if truth.dataset.overlaps != "keep" or not holds_events(path, None):
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
    """Return scores and references as the task evaluates them: recordings, regions, no shots."""
    dataset = truth.dataset
    scores, references = join(scores, truth.truth, dataset, truth.recordings)
    scores, references = cut(scores, references, dataset, truth.folder)
    if truth.shot_ends is not None:
        references = without_shots(references, scores, truth.shot_ends)
    return scores, end(scores, references, dataset)
