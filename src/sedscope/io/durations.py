"""Durations of clips in files: a table ``filename duration``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..data.cells import RowLocation, check_columns
from ..data.clip_ids import clip_ids
from ..data.durations import DURATION_COLUMNS, is_duration
from ..data.ground_truth import GroundTruth
from ..errors import SedscopeError, counted, listing
from .atomic_write import write_text
from .locations import Address, Location
from .text_tables import numbers, quoted, read_text_table

_HEADER_ADVICE = "A table of durations has the columns filename and duration, named in its first line."


def read_durations(path: str | Location) -> dict[str, float]:
    """Read durations in seconds from a table ``filename duration``, separated by tabs or commas."""
    table = read_text_table(path, delimiter=None)
    check_columns(DURATION_COLUMNS, table.header, str(path), _HEADER_ADVICE)
    name, duration = (table.header.index(column) for column in DURATION_COLUMNS)
    names = [row[name].strip() for row in table.rows]
    seconds = numbers(table, [duration])[0]
    line_of = dict(zip(reversed(names), reversed(table.lines), strict=True))
    twice = [i for i, clip in enumerate(names) if line_of[clip] != table.lines[i]]
    if twice:
        clips = sorted({names[i] for i in twice})
        shown = [f"{names[i]} (lines {line_of[names[i]]} and {table.lines[i]})" for i in twice]
        raise SedscopeError(
            f"{path}: {counted(len(clips), 'duplicate clip')}: {listing(shown)}.",
            lines=[
                f"{path}:{table.lines[i]}: {names[i]} is in line {line_of[names[i]]} as well"
                for i in twice
            ],
        )

    def locate(clip: str) -> RowLocation:
        return RowLocation(f"line {line_of[clip]}", f"{path}:{line_of[clip]}")

    clip_ids(names, str(path), locate)
    wrong = [i for i, value in enumerate(seconds) if not is_duration(value)]
    if wrong:
        shown = [f"line {table.lines[i]}: {names[i]} ({seconds[i]:g} s)" for i in wrong]
        raise SedscopeError(
            f"{path}: durations must be numbers of seconds above zero: {listing(shown)}.",
            lines=[
                f"{path}:{table.lines[i]}: {names[i]}: a duration must be a number of seconds above zero, "
                f"not {seconds[i]:g}"
                for i in wrong
            ],
        )
    return dict(zip(names, seconds, strict=True))


def load_durations(
    durations: str | Location | Mapping[str, float] | None,
) -> Mapping[str, float] | None:
    """Return durations that are given as a mapping, or read them from a file."""
    return read_durations(durations) if isinstance(durations, (str, Path, Address)) else durations


def write_durations(truth: GroundTruth | Mapping[str, float], path: str | Path) -> None:
    """Write the durations of clips as a tab-separated table ``filename duration``, in seconds."""
    seconds = clip_seconds(truth) if isinstance(truth, GroundTruth) else truth
    rows = [f"{quoted(clip)}\t{end:.6f}" for clip, end in seconds.items()]
    write_text(path, "\n".join(["\t".join(DURATION_COLUMNS), *rows]) + "\n")


def clip_seconds(truth: GroundTruth) -> dict[str, float]:
    """Return the duration of each clip in seconds."""
    if truth.durations is None:
        raise SedscopeError("The ground truth has no durations to write.")
    return dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
