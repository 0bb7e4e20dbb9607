"""JSON Lines of moment retrieval, as QVHighlights and CASTELLA have them: a line per query.

References have ``relevant_windows`` ``[[start, end], …]`` and perhaps the ``duration`` of the recording,
predictions have ``pred_relevant_windows`` ``[[start, end, score], …]``. Each query is a clip of its own, and
all windows are of one class, ``moment``. The clip is called ``VID_QID``. If the ``qid`` already begins with
the ``vid``, as ``dog_7`` does with ``dog``, the clip is called ``QID``. So an answer that names another
recording is an unknown query.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.choices import Side
from ...data.clips import clip_id
from ...data.event_table import EventTable
from ...data.tables import RowLocation
from ...errors import SedscopeError, SedscopeWarning, listing, shortened, subject
from ..atomic_write import write_text
from .format import EventFormat, EventSet, holding
from .source import EventReadOptions, Source, is_json_number

LABEL = "moment"
"""The class of all windows."""
_REFERENCES, _PREDICTIONS = "relevant_windows", "pred_relevant_windows"
_SHAPES = {_REFERENCES: "[start, end]", _PREDICTIONS: "[start, end, score]"}


_KINDS: dict[Side, str] = {"system": _PREDICTIONS, "truth": _REFERENCES}


@dataclass(frozen=True)
class _Query:
    """What a line says."""

    line: int
    qid: str
    clip: str
    kind: str
    """Which windows it has: references or predictions."""
    windows: list[tuple[int, list[Any]]]
    """Each with its number in the line, from 1."""
    duration: float | None


def recognise(source: Source) -> bool:
    """Look for lines that are queries, or for an array of them, which is refused."""
    return source.is_json_lines or source.is_json_array


def read(source: Source, options: EventReadOptions) -> EventTable:
    """Read the windows of all queries."""
    if source.is_json_array:
        raise SedscopeError(
            f"{source.path} is a JSON array; files of moment retrieval are JSON Lines, with one object per "
            "line."
        )
    queries: list[_Query] = []
    wrong: list[tuple[int, str]] = []
    for line, text in enumerate(source.text.split("\n"), start=1):
        if not text.strip():
            continue
        query, problems = _read_line(line, text)
        wrong += [(line, problem) for problem in problems]
        queries += [] if query is None else [query]
    usable, clashes = _without_clashes(queries)
    by_line = sorted([*wrong, *clashes], key=lambda problem: problem[0])
    source.refuse_all([(source.line_location(line), problem) for line, problem in by_line])
    if not usable:
        raise SedscopeError(f"{source.path}: there are no queries.")
    if options.side is not None and usable[0].kind != _KINDS[options.side]:
        _refuse_kind(source, options.side)
    if usable[0].kind == _PREDICTIONS:
        _warn_unsorted(source, usable)
    numbered = [(query, window) for query in usable for window in query.windows or [(0, [None] * 3)]]
    size = 5 if usable[0].kind == _PREDICTIONS else 4
    rows: list[Any] = [
        (query.clip, *window[:2], LABEL if number else "", *window[2:])[:size]
        for query, (number, window) in numbered
    ]
    return EventTable.of_rows(
        source.path,
        rows,
        lambda i: _location(source, numbered[i][0], numbered[i][1][0]),
        durations={query.clip: query.duration for query in usable if query.duration is not None},
    )


def _read_line(line: int, text: str) -> tuple[_Query | None, list[str]]:
    """Return the query of a line, with the windows that are usable, and what is wrong with it."""
    try:
        query = json.loads(text)
    except json.JSONDecodeError as error:
        return None, [f"this is not JSON ({error.msg}, column {error.colno})"]
    except (ValueError, RecursionError):
        return None, ["this is not JSON that can be read"]
    if not isinstance(query, dict):
        return None, ["this is not a JSON object"]
    names = {key: _name(query.get(key)) for key in ("qid", "vid")}
    wrong = [
        f"there is no {key}"
        if query.get(key) is None or isinstance(query[key], str)
        else f"the {key} {_shown(query[key])} is neither a text nor a whole number"
        for key, name in names.items()
        if name is None
    ]
    kinds = [kind for kind in _SHAPES if kind in query]
    if len(kinds) != 1:
        wrong.append(f"there must be either {_REFERENCES} or {_PREDICTIONS}")
    duration = query.get("duration")
    if duration is not None and not (is_json_number(duration) and duration > 0):
        wrong.append(f"the duration {_shown(duration)} is not a number above 0")
    windows, wrong_windows = _windows(query[kinds[0]], kinds[0]) if len(kinds) == 1 else ([], [])
    qid, vid = names["qid"], names["vid"]
    if wrong or qid is None or vid is None:
        return None, wrong + wrong_windows
    recording = clip_id(vid)
    rest = qid.removeprefix(recording)
    names_recording = qid.startswith(recording) and not rest[:1].isalnum()
    clip = qid if names_recording else f"{recording}_{qid}"
    return _Query(line, qid, clip, kinds[0], windows, duration), wrong_windows


def _name(value: object) -> str | None:
    """Return a qid or vid as text, or None if it is not one."""
    if isinstance(value, str):
        return value.strip() or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _windows(windows: Any, kind: str) -> tuple[list[tuple[int, list[Any]]], list[str]]:
    """Return the windows of a query with their numbers, and what is wrong with the others."""
    shape = _SHAPES[kind]
    if not isinstance(windows, list):
        return [], [f"{kind} must be a list of {shape}, not {_shown(windows)}"]
    length = shape.count(",") + 1
    usable, wrong = [], []
    for number, window in enumerate(windows, start=1):
        if isinstance(window, list) and len(window) == length and all(map(is_json_number, window)):
            usable.append((number, window))
        else:
            wrong.append(f"window {number} must be {shape} in numbers, not {_shown(window)}")
    return usable, wrong


def _shown(value: object) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), 60)


def _without_clashes(queries: list[_Query]) -> tuple[list[_Query], list[tuple[int, str]]]:
    """Return the queries of the first kind and with new names, and what is wrong with other lines."""
    usable: list[_Query] = []
    wrong: list[tuple[int, str]] = []
    line_of_qid: dict[str, int] = {}
    line_of_clip: dict[str, int] = {}
    for query in queries:
        earlier = min(
            line_of_qid.setdefault(query.qid, query.line),
            line_of_clip.setdefault(query.clip, query.line),
        )
        if earlier != query.line:
            wrong.append((query.line, f"the query {query.qid} is already in line {earlier}"))
        elif query.kind != queries[0].kind:
            first = queries[0]
            wrong.append(
                (query.line, f"this line has {query.kind}, but line {first.line} has {first.kind}")
            )
        else:
            usable.append(query)
    return usable, wrong


def _refuse_kind(source: Source, side: Side) -> None:
    """Refuse references as the output of a system, and predictions as the ground truth."""
    predictions, references = f"predictions ({_PREDICTIONS})", f"references ({_REFERENCES})"
    expected, held = (predictions, references) if side == "system" else (references, predictions)
    raise SedscopeError(f"{source.path} holds {held}, not {expected}. Are the two files swapped?")


def _warn_unsorted(source: Source, queries: list[_Query]) -> None:
    """Warn of windows that are not in order of their scores: other tools take the first ones."""
    unsorted = [
        str(source.line_location(query.line))
        for query in queries
        if any(
            first[2] < second[2]
            for (_, first), (_, second) in zip(query.windows, query.windows[1:], strict=False)
        )
    ]
    if unsorted:
        number = subject(len(unsorted), "line", "has")
        warnings.warn(
            f"{number} windows that are not sorted by falling score: {listing(unsorted)}. sedscope ranks "
            "windows by their scores; other tools take the first ones of the list.",
            SedscopeWarning,
            stacklevel=2,
        )


def _location(source: Source, query: _Query, number: int) -> RowLocation:
    where = source.line_location(query.line)
    return RowLocation(f"{where.text}, window {number}", where.origin) if number else where


def write(events: EventSet, path: Path) -> None:
    """Write a line per clip, which is ``qid`` and ``vid``. Events with confidences are predictions.

    Predictions are listed by falling score, as other tools expect them. Equal ones keep their order.
    """
    lines = []
    for clip in events.events:
        query: dict[str, Any] = {"qid": clip_id(clip), "query": "", "vid": clip_id(clip)}
        duration = events.duration(clip)
        if duration is not None:
            query["duration"] = duration
        windows = [[round(on, 6), round(off, 6), score] for on, off, _, score in events.of_clip(clip)]
        if events.scored:
            query[_PREDICTIONS] = sorted(windows, key=lambda window: -window[2])
        else:
            query[_REFERENCES] = [window[:2] for window in windows]
        lines.append(json.dumps(query, ensure_ascii=False) + "\n")
    write_text(path, "".join(lines))


FORMATS = (
    EventFormat(
        name="moments",
        about="moment retrieval (QVHighlights, CASTELLA), JSON Lines: qid, vid, and relevant_windows or "
        "pred_relevant_windows",
        recognise=recognise,
        read=read,
        write=write,
        holds=holding("times", "confidences", "clips without events", "durations", "any label"),
        label=LABEL,
        suffixes=(".jsonl",),
        file_suffixes=(".jsonl",),
        named_columns=False,
    ),
)
