"""Convert scores, ground truth and durations from the forms of sed_scores_eval to sedscope's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...data.clips import clip_id
from ...data.events import EventColumns
from ...data.ground_truth import GroundTruth
from ...data.scores import ClipScores, Scores, clip_from_table, header_classes, protected, table_classes
from ...data.times import Ticks, to_ticks
from ...errors import SedscopeError, counted, listing, raise_together, subject, without_options
from ...io.event_files import read_ground_truth
from ...io.locations import location
from ...io.scores.files import read_scores
from ...io.side_tables import read_durations

EventsInput: TypeAlias = Mapping[str, Iterable[Any]] | str | Path
"""``{clip: [(onset, offset, label), …]}``, or a file."""
DurationsInput: TypeAlias = Mapping[str, float] | str | Path
"""``{clip: seconds}``, or a file."""


class MissingFileError(SedscopeError, FileNotFoundError):
    """A file or folder to read does not exist."""


def require_file(path: str | Path) -> None:
    """Refuse a path on this machine at which there is no file or folder."""
    source = location(path)
    if isinstance(source, Path) and not source.exists():
        raise MissingFileError(f"Cannot read {path}: there is no such file or folder.")


class LazyScores(Mapping[str, Any]):
    """A read-only mapping from clip to score table, which loads a table at each access.

    ``folder``: the folder of the tables, unless they are processed after loading.
    """

    def __init__(self, names: list[str], load: Callable[[str], Any], folder: Path | None = None) -> None:
        self._names = dict.fromkeys(names)
        self._load = load
        self.folder = folder

    def map(self, process: Callable[[Any], Any]) -> LazyScores:
        """Return the same clips, with each table processed after it is loaded."""
        return LazyScores(list(self), lambda name: process(self[name]))

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class NamedScores:
    """Scores, and the names of the clips as the caller spells them."""

    scores: Scores
    names: Mapping[str, str]
    """By clip id."""


@without_options()
def named_scores(scores: Any) -> NamedScores:
    """Convert scores from tables by clip, from a lazy loader, or from a folder of tables."""
    if isinstance(scores, NamedScores):
        return scores
    if isinstance(scores, LazyScores) and scores.folder is not None:
        scores = scores.folder
    if isinstance(scores, (str, Path)):
        require_file(scores)
        scores = read_scores(scores)
    if isinstance(scores, Scores):
        return NamedScores(scores, {clip: clip for clip in scores})
    if not (hasattr(scores, "keys") and callable(scores.keys)):
        raise SedscopeError(
            "scores must be a mapping from clips to score tables, or a folder of them, "
            f"not {type(scores).__name__}."
        )
    names = list(scores.keys())
    if not names:
        raise SedscopeError("There are no score tables.")
    return NamedScores(_scores_of_frames(scores, names), {clip_id(name): name for name in names})


def _scores_of_frames(frames: Any, names: Collection[str]) -> Scores:
    first = next(iter(names))
    classes = _classes(frames[first], f"clip {first}")
    read = _Reader(["onset", "offset", *classes])
    if not isinstance(frames, dict):  # perhaps more than fits into the memory

        def load(name: str) -> ClipScores:
            frame = frames[name]
            return protected(read.clip(frame, name))

        return Scores(names, load, classes=classes)
    clips: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for name, frame in frames.items():
        try:
            clips[name] = read.clip(frame, name)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    return Scores(clips, clips.__getitem__, classes=classes, in_memory=True, thread_safe=True)


def _classes(table: Any, where: str) -> tuple[str, ...]:
    import pandas

    if isinstance(table, pandas.DataFrame) and table.columns.is_unique:
        return header_classes(table.columns.tolist(), where)  # without loading narwhals
    return table_classes(table, where)


class _Reader:
    """Converts score tables to scores.

    A pandas frame of one float type is not copied. Frame boundaries that equal those of the clip before
    are shared.
    """

    def __init__(self, header: list[str]) -> None:
        import pandas

        self.header = header
        self.pandas_frame = pandas.DataFrame
        self.last_times: NDArray[Any] = np.empty((0, 2))
        self.last_ticks: Ticks = np.empty(0, np.int64)

    def clip(self, frame: Any, name: str) -> ClipScores:
        """Convert the table of one clip."""
        where = f"clip {name}"
        if isinstance(frame, self.pandas_frame) and frame.columns.tolist() == self.header:
            table = frame.to_numpy()
            if table.dtype in (np.float32, np.float64) and len(table):
                return self._from_array(table, where)
        return clip_from_table(frame, self.header[2:], where)

    def _from_array(self, table: NDArray[Any], where: str) -> ClipScores:
        times, values = table[:, :2], table[:, 2:]
        if np.array_equal(times, self.last_times):
            return ClipScores.unchecked(values, self.last_ticks)
        try:
            clip = ClipScores.from_frames(values, times[:, 0], times[:, 1])
        except SedscopeError as error:
            raise SedscopeError(f"{where}: {error}", advice=error.advice) from None
        if len(clip.values) == len(values):  # no gaps were filled
            self.last_times, self.last_ticks = times.copy(), clip.ticks
        return clip


def events_by_name(events: EventsInput) -> Mapping[str, Iterable[Any]]:
    """Return the reference events of each clip."""
    if isinstance(events, (str, Path)):
        require_file(events)
        truth = read_ground_truth(events)
        return {clip: truth.events(clip) for clip in truth.clips}
    return _mapping(events, "The ground truth must be a mapping from clips to events")


def durations_by_name(durations: DurationsInput) -> Mapping[str, float]:
    """Return the duration of each clip in seconds."""
    if isinstance(durations, (str, Path)):
        require_file(durations)
        return read_durations(durations)
    return _mapping(durations, "Durations must be a mapping from clips to seconds")


def _mapping(values: Any, requirement: str) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise SedscopeError(f"{requirement}, or a file, not {type(values).__name__}.")
    return values


def of_clips(values: Mapping[str, Any], clips: Collection[str], where: str) -> dict[str, Any]:
    """Select the values of some clips, all of which must be present."""
    by_clip = {clip_id(name): value for name, value in values.items()}
    missing = [clip for clip in clips if clip not in by_clip]
    if missing:
        raise SedscopeError(f"{where}: none for {counted(len(missing), 'clip')}: {listing(missing)}.")
    return {clip: by_clip[clip] for clip in clips}


def require_same_clips(present: Iterable[str], clips: Iterable[str], where: str) -> None:
    """Require values for each of the clips with scores, and for no others."""
    present_clips, scored = set(present), set(clips)
    problems = [
        f"{what} {counted(len(names), 'clip')}: {listing(sorted(names))}"
        for what, names in (
            ("none for", scored - present_clips),
            ("without scores:", present_clips - scored),
        )
        if names
    ]
    if problems:
        raise SedscopeError(
            f"{where}: {'; '.join(problems)}. There must be one for each clip with scores, and for no "
            "others."
        )


@without_options()
def truth_of_events(
    events: Mapping[str, Iterable[Any]], durations: Mapping[str, float] | None
) -> GroundTruth:
    """Make a ground truth. Without durations, a clip ends with its last event, so that all count."""
    lists: dict[str, Any] = {name: _as_list(clip_events) for name, clip_events in events.items()}
    try:
        rows = [(name, *event) for name, clip_events in lists.items() for event in clip_events]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        names, onsets, offsets, labels = columns
        times = to_ticks([onsets, offsets])
    except (TypeError, ValueError):
        labels = ("",)
    if not all(isinstance(label, str) and label.strip() for label in labels):
        return GroundTruth.from_dict(
            lists, durations=durations
        )  # raises an error that says what is wrong
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


def _as_list(events: Any) -> Any:
    """Make a list, so that it can be read twice. Other values are refused elsewhere."""
    return list(events) if isinstance(events, Iterable) and not isinstance(events, str) else events


def truth_of_tags(tags: Mapping[str, Iterable[str]]) -> GroundTruth:
    """Make a ground truth from the labels of each clip."""
    wrong = [name for name, labels in tags.items() if not _are_labels(labels)]
    if wrong:
        raise SedscopeError(
            f"Tags must be lists of labels, not events or text. {subject(len(wrong), 'clip', 'has')} "
            f"something else: {listing(wrong)}."
        )
    moment = 1e-6  # at the beginning, where every clip has scores
    events = {
        name: [(0.0, moment, label) for label in dict.fromkeys(map(str.strip, tags[name]))]
        for name in tags
    }
    return GroundTruth.from_dict(events)


def _are_labels(labels: Any) -> bool:
    return not isinstance(labels, str) and all(isinstance(label, str) for label in labels)
