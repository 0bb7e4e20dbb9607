"""Scores, ground truth and durations as sed_scores_eval takes them, made sedscope's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.clip_ids import clip_id
from ...data.ground_truth import EventColumns, GroundTruth
from ...data.scores import ClipScores, Scores
from ...data.times import Ticks, to_ticks
from ...errors import SedscopeError, counted, listing, raise_together
from ...io import read_ground_truth, read_scores
from ...io.ground_truth import read_durations
from ...io.score_tables import clip_from_table, table_classes
from .lazy import LazyScores

GivenEvents: TypeAlias = Mapping[str, Iterable[Any]] | str | Path
"""``{clip: [(onset, offset, label), …]}``, or a file of them."""
GivenDurations: TypeAlias = Mapping[str, float] | str | Path
"""``{clip: seconds}``, or a file of them."""


@dataclass(frozen=True, eq=False)
class NamedScores:
    """Scores, and how the caller spells the names of the clips."""

    scores: Scores
    names: Mapping[str, str]
    """By clip id."""


def named_scores(given: Any) -> NamedScores:
    """Scores from frames by clip, from what loads them, or from a folder of tables."""
    if isinstance(given, LazyScores) and given.folder is not None:
        given = given.folder
    if isinstance(given, (str, Path)):
        given = read_scores(given)
    if isinstance(given, Scores):
        return NamedScores(given, {clip: clip for clip in given})
    if not (hasattr(given, "keys") and callable(given.keys)):
        raise SedscopeError(
            "scores must be a mapping from clips to score tables or a folder of them, "
            f"not {type(given).__name__}"
        )
    names = list(given.keys())
    if not names:
        raise SedscopeError("there is no score table")
    scores = _scores_of_frames(given, names)
    return NamedScores(scores, {clip_id(name): name for name in names})


def _scores_of_frames(frames: Any, names: Collection[str]) -> Scores:
    first = next(iter(names))
    classes = table_classes(frames[first], where=f"clip {first}")
    read = _Reader(["onset", "offset", *classes])
    if not isinstance(frames, dict):  # perhaps more than fits into the memory
        return Scores(names, lambda name: read.clip(frames[name], name), classes=classes)
    clips: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for name, frame in frames.items():
        try:
            clips[name] = read.clip(frame, name)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    return Scores(clips, clips.__getitem__, classes=classes, in_memory=True, thread_safe=True)


class _Reader:
    """Makes the scores of a clip from a table; from a pandas frame of one float type without a copy, and
    with the boundaries of the clip before if they are the same."""

    def __init__(self, header: list[str]) -> None:
        import pandas

        self.header = header
        self.pandas_frame = pandas.DataFrame
        self.last_times: NDArray[Any] = np.empty((0, 2))
        self.last_ticks: Ticks = np.empty(0, np.int64)

    def clip(self, frame: Any, name: str) -> ClipScores:
        """The scores of one clip."""
        where = f"clip {name}"
        if isinstance(frame, self.pandas_frame) and frame.columns.tolist() == self.header:
            table = frame.to_numpy()
            if table.dtype in (np.float32, np.float64):
                return self._from_array(table, where)
        return clip_from_table(frame, self.header[2:], where)

    def _from_array(self, table: NDArray[Any], where: str) -> ClipScores:
        times, values = table[:, :2], table[:, 2:]
        if np.array_equal(times, self.last_times):
            return ClipScores.unchecked(values, self.last_ticks)
        try:
            clip = ClipScores.from_frames(values, times[:, 0], times[:, 1])
        except SedscopeError as error:
            raise SedscopeError(f"{where}: {error}") from None
        if len(clip.values) == len(values):  # no gaps were filled
            self.last_times, self.last_ticks = times.copy(), clip.ticks
        return clip


def events_by_name(given: GivenEvents) -> Mapping[str, Iterable[Any]]:
    """Reference events of each clip."""
    if isinstance(given, (str, Path)):
        truth = read_ground_truth(given)
        return {clip: truth.events(clip) for clip in truth.clips}
    if not isinstance(given, Mapping):
        raise SedscopeError(
            f"ground truth: give a mapping from clips to events or a file, not {type(given).__name__}"
        )
    return given


def durations_by_name(given: GivenDurations) -> Mapping[str, float]:
    """The duration of each clip in seconds."""
    if isinstance(given, (str, Path)):
        return read_durations(given)
    if not isinstance(given, Mapping):
        raise SedscopeError(
            f"durations: give a mapping from clips to seconds or a file, not {type(given).__name__}"
        )
    return given


def of_clips(given: Mapping[str, Any], clips: Collection[str], where: str) -> dict[str, Any]:
    """Only what is about some clips; all of them must be there."""
    known = {clip_id(name): value for name, value in given.items()}
    missing = [clip for clip in clips if clip not in known]
    if missing:
        raise SedscopeError(f"{where}: none for {counted(len(missing), 'clip')}: {listing(missing)}")
    return {clip: known[clip] for clip in clips}


def require_same_clips(given: Iterable[str], clips: Iterable[str], where: str) -> None:
    """Refuse what is not given for each of the clips, or is given for others."""
    known, wanted = set(given), set(clips)
    problems = [
        f"{what} {counted(len(names), 'clip')}: {listing(sorted(names))}"
        for what, names in (("none for", wanted - known), ("without scores:", known - wanted))
        if names
    ]
    if problems:
        raise SedscopeError(
            f"{where}: {'; '.join(problems)}. Give one for each clip with scores, and for no others"
        )


def truth_of_events(
    events: Mapping[str, Iterable[Any]], durations: Mapping[str, float] | None
) -> GroundTruth:
    """Ground truth. Without durations a clip lasts as long as its events, which all count then."""
    lists: dict[str, Any] = {name: _listed(of_clip) for name, of_clip in events.items()}
    try:
        rows = [(name, *event) for name, of_clip in lists.items() for event in of_clip]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        names, onsets, offsets, labels = columns
        times = to_ticks([onsets, offsets])
    except (TypeError, ValueError):
        labels = ("",)
    if not all(isinstance(label, str) and label for label in labels):
        return GroundTruth.from_dict(lists, durations=durations)  # which says what is wrong
    if durations is None:
        moment = 1e-6
        durations = dict.fromkeys(lists, moment)
        for name, offset in zip(names, offsets, strict=True):
            durations[name] = max(durations[name], float(offset))
    return GroundTruth(
        EventColumns(names, times[0], times[1], labels, where=lambda i: f"event {i}"),
        clips=lists,
        durations=durations,
    )


def _listed(events: Any) -> Any:
    """What can be gone through more than once; what is no list is told of elsewhere."""
    return list(events) if isinstance(events, Iterable) and not isinstance(events, str) else events


def truth_of_tags(tags: Mapping[str, Iterable[str]]) -> GroundTruth:
    """Ground truth of which only the labels of each clip are known."""
    wrong = [name for name, labels in tags.items() if not _are_labels(labels)]
    if wrong:
        raise SedscopeError(
            f"tags must be lists of labels, not events or text: {counted(len(wrong), 'clip')}: "
            f"{listing(wrong)}"
        )
    moment = 1e-6  # at the beginning, where every clip has scores
    events = {name: [(0.0, moment, label) for label in dict.fromkeys(tags[name])] for name in tags}
    return GroundTruth.from_dict(events)


def _are_labels(labels: Any) -> bool:
    return not isinstance(labels, str) and all(isinstance(label, str) for label in labels)


def require_microseconds(time_decimals: int) -> None:
    """Refuse another precision: times are whole microseconds."""
    if time_decimals != 6:
        raise SedscopeError(f"time_decimals={time_decimals!r}: times are exact to 6 decimals")
