"""Scores, ground truth and durations as sed_scores_eval takes them, made sedscope's own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...clip_ids import clip_id
from ...errors import SedscopeError, counted, listing
from ...ground_truth import GroundTruth
from ...io import read_ground_truth, read_scores
from ...io.event_tables import read_durations
from ...io.score_tables import clip_from_table, table_classes
from ...scores import ClipScores, Scores
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
    header = ["onset", "offset", *classes]

    def load(name: str) -> ClipScores:
        return _clip_of_frame(frames[name], header, where=f"clip {name}")

    return Scores(names, load, classes=classes, thread_safe=isinstance(frames, dict))


def _clip_of_frame(frame: Any, header: list[str], where: str) -> ClipScores:
    """The scores of a clip; from a pandas frame of one float type without a copy."""
    import pandas

    if isinstance(frame, pandas.DataFrame) and frame.columns.tolist() == header:
        table = frame.to_numpy()
        if table.dtype in (np.float32, np.float64):
            try:
                return ClipScores.from_frames(table[:, 2:], table[:, 0], table[:, 1])
            except SedscopeError as error:
                raise SedscopeError(f"{where}: {error}") from None
    return clip_from_table(frame, header[2:], where)


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


def truth_of_events(
    events: Mapping[str, Iterable[Any]], durations: Mapping[str, float] | None
) -> GroundTruth:
    """Ground truth. Without durations a clip lasts as long as its events, which all count then."""
    if durations is None:
        durations = {clip: _last_offset(of_clip) for clip, of_clip in events.items()}
    return GroundTruth.from_dict(events, durations=durations)


def _last_offset(events: Any) -> float:
    """The end of the last event, or a moment; events that are none are told of elsewhere."""
    moment = 1e-6
    try:
        return max([moment, *(float(offset) for _, offset, _ in events)])
    except (TypeError, ValueError):
        return moment


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
