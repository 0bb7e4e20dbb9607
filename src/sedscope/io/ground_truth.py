"""Ground truth, detected events and durations from files and frames of any format, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..data.event_table import EventTable
from ..data.ground_truth import GroundTruth, Invalid, Overlaps
from ..errors import SedscopeError, counted, listing
from .atomic_write import write_text
from .events import Choices, EventSet, known_event_format, read_event_table
from .events import dcase as _dcase
from .events.source import cells_of, events_by_role
from .locations import Address, Place, local_path, place
from .text_tables import decode, delimiter_of, numbers, quoted, read_bytes, read_text_table

_DURATION = ["filename", "duration"]


def read_ground_truth(
    path: str | Place,
    *,
    durations: str | Place | Mapping[str, float] | None = None,
    invalid: Invalid = "error",
    overlaps: Overlaps = "error",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
) -> GroundTruth:
    """Ground truth from a file of events, or a folder of such files, in seconds.

    The format is found from the content: a DCASE table ``filename onset offset event_label``, in which a
    row with only a file name stands for a clip without events, or another one of
    :data:`sedscope.io.events.EVENT_FORMATS`; ``format`` names it where that is not clear.
    ``columns``: names of columns by what they hold (``{"onset": "Begin Time (s)", …}``); ``label``: the
    label of events that have none. ``durations``: a file ``filename duration`` or a mapping; clips that
    only it lists have no events. ``invalid`` and ``overlaps``: see :class:`GroundTruth`.
    """
    table = read_event_table(path, format=format, choices=Choices(columns or {}, label))
    return table.ground_truth(_durations(durations), invalid, overlaps)


def read_durations(path: str | Place) -> dict[str, float]:
    """Clip durations in seconds from a file ``filename duration``, separated by tabs or commas."""
    file = place(path)
    first = decode(read_bytes(file).split(b"\n", 1)[0], file)
    table = read_text_table(path, delimiter_of(first))
    missing = [name for name in _DURATION if name not in table.header]
    if missing:
        raise SedscopeError(
            f"{path}: no column {listing([repr(name) for name in missing])}; found "
            f"{listing([repr(name) for name in table.header])}"
        )
    name, duration = (table.header.index(column) for column in _DURATION)
    return _unique([row[name].strip() for row in table.rows], numbers(table, [duration])[0], str(path))


def ground_truth_from_table(
    table: Any,
    *,
    durations: Mapping[str, float] | Any | None,
    invalid: Invalid,
    overlaps: Overlaps,
    where: str,
    columns: Mapping[str, str] | None = None,
) -> GroundTruth:
    """Ground truth from a frame, or a mapping of columns, with the columns of the file."""
    if durations is not None and not (isinstance(durations, Mapping) and not _is_columns(durations)):
        cells = cells_of(durations, "durations")
        cells.require(_DURATION)
        names, ends = (cells.column(name) for name in _DURATION)
        durations = _unique(names, ends, "durations")
    return _events_of(table, columns, where).ground_truth(durations, invalid, overlaps)


def _is_columns(mapping: Mapping[str, Any]) -> bool:
    return set(mapping) == set(_DURATION) and not isinstance(mapping["duration"], (int, float))


def _events_of(table: Any, columns: Mapping[str, str] | None, where: str) -> EventTable:
    cells = cells_of(table, where)
    chosen = Choices(columns or {}).columns
    roles = {**_dcase.EVENT, **chosen}
    if "duration" in chosen and "offset" not in chosen:
        del roles["offset"]
    if "confidence" in cells.header:
        roles.setdefault("confidence", "confidence")
    return events_by_role(cells, roles, clip=None)


def read_events(
    path: str | Path | Any,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    durations: str | Place | Mapping[str, float] | None = None,
) -> dict[str, list[tuple[Any, ...]]]:
    """Detected events from a file, or a folder of files, of any format of events, in seconds, with
    confidences or without; or from a frame ``filename onset offset event_label``.

    ``format``, ``columns`` and ``label``: see :func:`read_ground_truth`. ``durations`` are needed for
    labels of whole clips. Returns ``{clip: [(onset, offset, label[, confidence]), …]}``.
    """
    if isinstance(path, (str, Path, Address)):
        table = read_event_table(path, format=format, choices=Choices(columns or {}, label))
    else:
        table = _events_of(path, columns, "events")
    return table.events(_durations(durations))


def write_events(
    events: Mapping[str, Iterable[tuple[Any, ...]]],
    path: str | Path | None,
    *,
    format: str | None = None,
    durations: Mapping[str, float] | None = None,
    lossy: bool = False,
) -> str:
    """Write events as :func:`read_events` takes them; returns the text of the DCASE table.

    ``format``: a DCASE table unless given; what a format cannot hold is an error unless ``lossy``.
    Clips without events have a row of their own where there is one for them.
    """
    found = EventSet({clip: list(of_clip) for clip, of_clip in events.items()}, durations or {})
    if path is not None:
        write_event_set(found, local_path(path), format=format or "dcase", lossy=lossy)
    return _dcase.text(found)


def write_event_set(events: EventSet, path: Path, *, format: str, lossy: bool = False) -> None:
    """Write events in a format; what it cannot hold is an error unless ``lossy``."""
    chosen = known_event_format(format)
    losses = chosen.losses(events)
    if losses and not lossy:
        raise SedscopeError(
            f"{path}: the format {format} cannot hold {'; '.join(losses)}. Choose another format, "
            "or accept that with lossy=True (--lossy)"
        )
    chosen.write(events, path)


def write_ground_truth(
    truth: GroundTruth, path: str | Path, *, format: str = "dcase", lossy: bool = False
) -> None:
    """Write a file that :func:`read_ground_truth` reads back; clips without events have a row of their
    own. Durations are written where the format holds them: see also :func:`write_durations`."""
    order = np.argsort(truth.event_clips, kind="stable")
    starts = np.searchsorted(truth.event_clips[order], np.arange(len(truth.clips) + 1))
    events = {
        clip: [
            (truth.onsets[k] / 1e6, truth.offsets[k] / 1e6, truth.labels[truth.event_labels[k]])
            for k in order[starts[i] : starts[i + 1]]
        ]
        for i, clip in enumerate(truth.clips)
    }
    held = truth.durations is not None and "durations" in known_event_format(format).holds
    ends = _durations_of(truth) if held else {}
    write_event_set(EventSet(events, ends), local_path(path), format=format, lossy=lossy)


def write_durations(truth: GroundTruth | Mapping[str, float], path: str | Path) -> None:
    """Write the clips' durations as a tab-separated file ``filename duration``."""
    ends = _durations_of(truth) if isinstance(truth, GroundTruth) else truth
    rows = [f"{quoted(clip)}\t{end:.6f}" for clip, end in ends.items()]
    write_text(path, "\n".join(["\t".join(_DURATION), *rows]) + "\n")


def _durations_of(truth: GroundTruth) -> dict[str, float]:
    if truth.durations is None:
        raise SedscopeError("the ground truth has no durations to write")
    return dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))


def _durations(given: str | Place | Mapping[str, float] | None) -> Mapping[str, float] | None:
    return read_durations(given) if isinstance(given, (str, Path, Address)) else given


def _unique(names: Sequence[str], values: Sequence[Any], where: str) -> dict[str, Any]:
    result = dict(zip(names, values, strict=True))
    if len(result) < len(names):
        twice = sorted(str(name) for name, number in Counter(names).items() if number > 1)
        raise SedscopeError(f"{where}: {counted(len(twice), 'duplicate clip')}: {listing(twice)}")
    return result
