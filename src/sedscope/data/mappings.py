"""Events and durations in memory as users write them: mappings from clips, or data frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import SedscopeError, counted, listing, shortened, subject
from .clip_ids import clip_ids
from .events import EventColumns
from .tables import FrameLike, cells_from_frame
from .times import Ticks, to_ticks

DURATION_COLUMNS = ("filename", "duration")


def duration_ticks(durations: Mapping[str, float]) -> dict[str, int]:
    """Check durations and convert them to microseconds, by clip id."""
    if not isinstance(durations, Mapping):
        raise SedscopeError(
            f"durations must be a mapping from clips to seconds, not {type(durations).__name__}."
        )
    names = clip_ids(durations, "durations")
    try:
        values = to_ticks([float(durations[name]) for name in names])
        if (values > 0).all():
            return dict(zip(names.values(), values.tolist(), strict=True))
    except (TypeError, ValueError):
        pass  # the loop says which ones are wrong
    ticks: dict[str, int] = {}
    wrong: list[str] = []
    for name, clip in names.items():
        duration = durations[name]
        try:
            ticks[clip] = int(to_ticks(float(duration)))
        except (TypeError, ValueError):
            ticks[clip] = 0
        if ticks[clip] <= 0:
            shown = f"{duration:g}" if isinstance(duration, float) else f"{duration}"
            wrong.append(f"{name} ({shown} s)")
    if wrong:
        raise SedscopeError(f"durations must be numbers of seconds above zero: {listing(wrong)}.")
    return ticks


def require_durations(clips: Iterable[str], ticks: Mapping[str, int], where: str) -> None:
    """Refuse clips without a duration."""
    missing = [clip for clip in clips if clip not in ticks]
    if missing:
        raise SedscopeError(
            f"{where}: {subject(len(missing), 'clip', 'has')} no duration: {listing(missing)}. "
            "Add them to durations= (--durations)."
        )


def is_duration(seconds: float) -> bool:
    """Return whether a number is one of seconds above zero."""
    try:
        return int(to_ticks(seconds)) > 0
    except ValueError:
        return False


def as_durations(durations: Mapping[str, float] | FrameLike | None) -> Mapping[str, float] | None:
    """Accept a mapping from clips to seconds, or a frame or mapping of the columns ``filename
    duration``."""
    if durations is None or (isinstance(durations, Mapping) and not _is_columns(durations)):
        return durations
    cells = cells_from_frame(durations, "durations")
    cells.require(DURATION_COLUMNS)
    names, seconds = (cells.column(name) for name in DURATION_COLUMNS)
    return unique_durations(names, seconds, "durations")


def _is_columns(mapping: Mapping[str, Any]) -> bool:
    return set(mapping) == set(DURATION_COLUMNS) and not isinstance(mapping["duration"], (int, float))


def unique_durations(names: Sequence[Any], seconds: Sequence[Any], where: str) -> dict[str, Any]:
    """Map names to durations. A name that occurs twice is an error."""
    durations = dict(zip(names, seconds, strict=True))
    if len(durations) < len(names):
        twice = sorted(str(name) for name, number in Counter(names).items() if number > 1)
        raise SedscopeError(f"{where}: {counted(len(twice), 'duplicate clip')}: {listing(twice)}.")
    return durations


def columns_of_mapping(
    events: Mapping[str, Iterable[tuple[float, float, str]]], where: str = "ground truth"
) -> EventColumns:
    """Check events in memory and return them as columns. ``where``: what messages call them."""
    if not isinstance(events, Mapping):
        raise SedscopeError(
            f"{where}: give a mapping from clips to events, not {type(events).__name__}."
        )
    rows: list[tuple[str, Any]] = []
    times: list[Ticks] = []
    problems: list[str] = []
    for clip, clip_events in events.items():
        if isinstance(clip_events, str) or not isinstance(clip_events, Iterable):
            problems.append(
                f"{clip}: {shortened(repr(clip_events))} is not a list of (onset, offset, label)"
            )
            continue
        for event in clip_events:
            try:
                onset, offset, label = event
                ticks = to_ticks([onset, offset])
            except (TypeError, ValueError):
                problems.append(f"{clip}: {shortened(repr(event))} is not (onset, offset, label)")
                continue
            if not isinstance(label, str) or not label.strip():
                problems.append(f"{clip}: {shortened(repr(event))} has no label")
            rows.append((clip, label))
            times.append(ticks)
    if problems:
        raise SedscopeError(f"{where}: {counted(len(problems), 'problem')}: {listing(problems)}.")
    table = np.array(times, np.int64).reshape(-1, 2)
    name = "event" if where == "ground truth" else "ignored event"
    return EventColumns(
        clip=[clip for clip, _ in rows],
        onset=table[:, 0],
        offset=table[:, 1],
        label=[label for _, label in rows],
        where=lambda i: f"{name} {i}",
    )
