"""Events in memory as users write them: ``{clip: [(onset, offset, label), …]}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import SedscopeError, counted, listing, shortened
from .event_columns import EventColumns
from .times import Ticks, to_ticks


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
