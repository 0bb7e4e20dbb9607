"""Ground truth as DCASE event tables ``filename onset offset event_label``, and clip durations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SedscopeError, counted, listing
from ..ground_truth import EventColumns, GroundTruth, Invalid, Overlaps
from ..times import to_ticks
from .files import write_text
from .frames import as_frame
from .text_tables import number, numbers, read_text_table

_EVENT = ["filename", "onset", "offset", "event_label"]
_DURATION = ["filename", "duration"]
_EMPTY = ("", "nan", "NaN", "None", "null")


def read_ground_truth(
    path: str | Path,
    *,
    durations: str | Path | Mapping[str, float] | None = None,
    invalid: Invalid = "error",
    overlaps: Overlaps = "error",
) -> GroundTruth:
    """Ground truth from a tab-separated file ``filename onset offset event_label``, in seconds.

    A row with only a file name stands for a clip without events. ``durations``: a tab-separated file
    ``filename duration`` or a mapping; clips that only it lists have no events. ``invalid`` and
    ``overlaps``: see :class:`GroundTruth`.
    """
    table = read_text_table(path)
    columns = _columns(table.header, _EVENT, str(path))
    rows = [[row[k].strip() for k in columns] for row in table.rows]
    if isinstance(durations, (str, Path)):
        durations = read_durations(durations)
    return _ground_truth(
        rows, table.place, str(path), durations=durations, invalid=invalid, overlaps=overlaps
    )


def read_durations(path: str | Path) -> dict[str, float]:
    """Clip durations in seconds from a tab-separated file ``filename duration``."""
    table = read_text_table(path)
    name, duration = _columns(table.header, _DURATION, str(path))
    return _unique([row[name].strip() for row in table.rows], numbers(table, [duration])[0], str(path))


def ground_truth_from_table(
    table: Any,
    *,
    durations: Mapping[str, float] | Any | None,
    invalid: Invalid,
    overlaps: Overlaps,
    where: str,
) -> GroundTruth:
    """Ground truth from a pandas or polars frame with the columns of the file."""

    def cells(frame: Any, names: Sequence[str], where: str) -> list[list[str]]:
        eager = as_frame(frame, where)
        _columns(eager.columns, names, where)
        return [[_text(cell) for cell in row] for row in eager.select(*names).iter_rows()]

    if durations is not None and not isinstance(durations, Mapping):
        rows = cells(durations, _DURATION, "durations")
        durations = _unique([row[0] for row in rows], [row[1] for row in rows], "durations")
    return _ground_truth(
        cells(table, _EVENT, where),
        lambda i: f"row {i}",
        where,
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
    )


def read_events(path: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """Detected events from a tab-separated file ``filename onset offset event_label``, in seconds, with
    a column ``confidence`` or without. A row with only a file name is a clip without detections.

    Returns ``{clip: [(onset, offset, label[, confidence]), …]}``.
    """
    table = read_text_table(path)
    columns = _columns(table.header, _EVENT, str(path))
    scored = "confidence" in table.header
    events: dict[str, list[tuple[Any, ...]]] = {}
    problems: list[str] = []
    for i, row in enumerate(table.rows):
        name, onset, offset, label = (row[k].strip() for k in columns)
        if not name:
            problems.append(f"{table.place(i)}: no file name")
            continue
        of_clip = events.setdefault(name, [])
        if all(cell in _EMPTY for cell in (onset, offset, label)):
            continue
        rest = [row[table.header.index("confidence")]] if scored else []
        try:
            of_clip.append((number(onset), number(offset), label, *map(number, rest)))
        except ValueError:
            problems.append(f"{table.place(i)}: {', '.join([onset, offset, *rest])}")
    if problems:
        said = f"{counted(len(problems), 'row')} not a detection"
        raise SedscopeError(f"{path}: {said}: {listing(problems)}")
    return events


def write_events(events: Mapping[str, Iterable[tuple[Any, ...]]], path: str | Path | None) -> str:
    """Write detected events as :func:`read_events` takes them; returns the text. Clips without
    detections have a row of their own."""
    found = {clip: list(of_clip) for clip, of_clip in events.items()}
    scored = any(len(event) == 4 for of_clip in found.values() for event in of_clip)
    rows = ["\t".join([*_EVENT, "confidence"] if scored else _EVENT)]
    for clip, of_clip in found.items():
        for onset, offset, label, *confidence in of_clip:
            cells = [_quoted(clip), f"{onset:.6f}", f"{offset:.6f}", _quoted(label)]
            if scored:
                cells.append(repr(float(*confidence or (1.0,))))
            rows.append("\t".join(cells))
        if not of_clip:
            rows.append(_quoted(clip) + "\t" * (len(_EVENT) - 1 + scored))
    text = "\n".join(rows) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def write_ground_truth(truth: GroundTruth, path: str | Path) -> None:
    """Write a tab-separated file that :func:`read_ground_truth` reads back; clips without events
    have a row of their own."""
    rows = ["\t".join(_EVENT)]
    for i, clip in enumerate(truth.clips):
        events = np.flatnonzero(truth.event_clips == i)
        rows += [
            f"{_quoted(clip)}\t{truth.onsets[k] / 1e6:.6f}\t{truth.offsets[k] / 1e6:.6f}\t"
            f"{_quoted(truth.labels[truth.event_labels[k]])}"
            for k in events
        ] or [f"{_quoted(clip)}\t\t\t"]
    write_text(path, "\n".join(rows) + "\n")


def write_durations(truth: GroundTruth, path: str | Path) -> None:
    """Write the clips' durations as a tab-separated file ``filename duration``."""
    if truth.durations is None:
        raise SedscopeError("the ground truth has no durations to write")
    rows = [
        f"{_quoted(clip)}\t{ticks / 1e6:.6f}"
        for clip, ticks in zip(truth.clips, truth.durations, strict=True)
    ]
    write_text(path, "\n".join(["\t".join(_DURATION), *rows]) + "\n")


def _ground_truth(
    rows: Sequence[Sequence[str]],
    place: Callable[[int], str],
    where: str,
    *,
    durations: Mapping[str, float] | None,
    invalid: Invalid,
    overlaps: Overlaps,
) -> GroundTruth:
    """Rows of text, in the order of the columns of an event table."""
    events: list[int] = []
    problems: list[str] = []
    times: list[tuple[float, float]] = []
    for i, (name, onset, offset, label) in enumerate(rows):
        if not name:
            problems.append(f"{place(i)}: no file name")
        elif all(cell in _EMPTY for cell in (onset, offset, label)):
            continue
        else:
            try:
                times.append((number(onset), number(offset)))
                to_ticks(times[-1])
                events.append(i)
            except ValueError:
                problems.append(f"{place(i)}: onset {onset!r}, offset {offset!r}")
                continue
            if not label:
                problems.append(f"{place(i)}: no label")
    if problems:
        raise SedscopeError(
            f"{where}: {counted(len(problems), 'row')} not an event: {listing(problems)}"
        )
    ticks = to_ticks(np.array(times, np.float64).reshape(-1, 2))
    columns = EventColumns(
        clip=[rows[i][0] for i in events],
        onset=ticks[:, 0],
        offset=ticks[:, 1],
        label=[rows[i][3] for i in events],
        where=lambda k: place(events[k]),
    )
    return GroundTruth(
        columns,
        clips=[row[0] for row in rows],
        durations=durations,
        invalid=invalid,
        overlaps=overlaps,
        where=where,
    )


def _columns(header: Sequence[str], wanted: Iterable[str], where: str) -> list[int]:
    missing = [name for name in wanted if name not in header]
    if missing:
        raise SedscopeError(
            f"{where}: no column {listing([repr(name) for name in missing])}; found "
            f"{listing([repr(name) for name in header])}"
        )
    return [list(header).index(name) for name in wanted]


def _text(cell: Any) -> str:
    """A cell of a frame; the libraries' marks for a missing value are empty."""
    missing = cell is None or (not isinstance(cell, str) and str(cell) in ("nan", "<NA>", "NaT"))
    return "" if missing else str(cell)


def _unique(names: Sequence[str], values: Sequence[Any], where: str) -> dict[str, Any]:
    result = dict(zip(names, values, strict=True))
    if len(result) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SedscopeError(f"{where}: {counted(len(twice), 'duplicate clip')}: {listing(twice)}")
    return result


def _quoted(label: str) -> str:
    special = any(mark in label for mark in '"\t\r\n')
    return '"' + label.replace('"', '""') + '"' if special else label
