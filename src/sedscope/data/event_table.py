"""Events as a file has them, whatever its format: columns of cells, and where each row stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, counted, listing
from ..io.text_tables import number, quoted_cell
from .clip_ids import clip_id
from .ground_truth import EventColumns, GroundTruth, Invalid, Overlaps
from .times import Ticks, to_ticks

Cell: TypeAlias = "str | float | None"
_EMPTY = ("", "nan", "NaN", "None", "null")


@dataclass(frozen=True)
class EventTable:
    """Events that are not checked yet. A row without times and label names a clip without events."""

    where: str
    clip: Sequence[str]
    onset: Sequence[Cell]
    offset: Sequence[Cell]
    label: Sequence[str]
    place: Callable[[int], str]
    confidence: Sequence[Cell] | None = None
    durations: Mapping[str, float] = field(default_factory=dict)
    """How long clips are, where the file says so."""
    weak: bool = False
    """Whether labels are of whole clips: then there are no times."""

    def __len__(self) -> int:
        return len(self.clip)

    def ground_truth(
        self, durations: Mapping[str, float] | None, invalid: Invalid, overlaps: Overlaps
    ) -> GroundTruth:
        """The events as ground truth; ``durations`` go before those of the file."""
        known = self.durations or None if durations is None else durations
        table = self.spread(known)
        rows, times, _ = table._checked()
        ticks = to_ticks(np.array(times, np.float64).reshape(-1, 2))
        columns = EventColumns(
            clip=[table.clip[i] for i in rows],
            onset=ticks[:, 0],
            offset=ticks[:, 1],
            label=[table.label[i] for i in rows],
            where=lambda k: table.place(rows[k]),
        )
        return GroundTruth(
            columns,
            clips=table.clip,
            durations=known,
            invalid=invalid,
            overlaps=overlaps,
            where=self.where,
        )

    def events(self, durations: Mapping[str, float] | None = None) -> dict[str, list[tuple[Any, ...]]]:
        """``{clip: [(onset, offset, label[, confidence]), …]}``, in seconds."""
        table = self.spread(durations if durations is not None else self.durations)
        rows, times, confidences = table._checked()
        events: dict[str, list[tuple[Any, ...]]] = {clip: [] for clip in table.clip}
        for k, i in enumerate(rows):
            rest = () if confidences is None else (confidences[k],)
            events[table.clip[i]].append((*times[k], table.label[i], *rest))
        return events

    def spread(self, durations: Mapping[str, float] | None) -> EventTable:
        """Labels of whole clips as events from the beginning to the end of the clip."""
        if not self.weak:
            return self
        ends = {clip_id(name): float(end) for name, end in (durations or {}).items()}
        unknown = list(dict.fromkeys(clip for clip in self.clip if clip_id(clip) not in ends))
        if unknown:
            raise SedscopeError(
                f"{self.where}: labels of whole clips need the clips' durations (--durations); none for "
                f"{counted(len(unknown), 'clip')}: {listing(unknown)}"
            )
        rows = [
            (i, clip, label.strip())
            for i, (clip, labels) in enumerate(zip(self.clip, self.label, strict=True))
            for label in dict.fromkeys(labels.split(","))
        ]
        return EventTable(
            where=self.where,
            clip=[clip for _, clip, _ in rows],
            onset=[0.0 if label else None for _, _, label in rows],
            offset=[ends[clip_id(clip)] if label else None for _, clip, label in rows],
            label=[label for _, _, label in rows],
            place=lambda k: self.place(rows[k][0]),
        )

    def ticks(self) -> tuple[list[str], Ticks]:
        """The clips and the (onset, offset) of all events in microseconds."""
        rows, times, _ = self._checked()
        return [self.clip[i] for i in rows], to_ticks(np.array(times, np.float64).reshape(-1, 2))

    def sound(self) -> tuple[EventTable, list[str]]:
        """The rows that can be used, and what is wrong with the others."""
        rows, _, _, problems = self._parsed()
        named = [i for i, clip in enumerate(self.clip) if clip and self._is_empty(i)]
        kept = sorted({*rows, *named})
        table = EventTable(
            where=self.where,
            clip=[self.clip[i] for i in kept],
            onset=[self.onset[i] for i in kept],
            offset=[self.offset[i] for i in kept],
            label=[self.label[i] for i in kept],
            confidence=None if self.confidence is None else [self.confidence[i] for i in kept],
            place=lambda k: self.place(kept[k]),
            durations=self.durations,
        )
        return table, problems

    def _is_empty(self, i: int) -> bool:
        return _empty(self.onset[i]) and _empty(self.offset[i]) and _empty(self.label[i])

    def _checked(self) -> tuple[list[int], list[tuple[float, float]], list[float] | None]:
        """The rows that are events, with their times and confidences; all that are none are named."""
        rows, times, confidences, problems = self._parsed()
        if problems:
            raise SedscopeError(
                f"{self.where}: {counted(len(problems), 'row')} not an event: {listing(problems)}"
            )
        return rows, times, confidences

    def _parsed(
        self,
    ) -> tuple[list[int], list[tuple[float, float]], list[float] | None, list[str]]:
        rows: list[int] = []
        times: list[tuple[float, float]] = []
        confidences: list[float] | None = None if self.confidence is None else []
        problems: list[str] = []
        for i, (clip, onset, offset, label) in enumerate(
            zip(self.clip, self.onset, self.offset, self.label, strict=True)
        ):
            if not clip:
                problems.append(f"{self.place(i)}: no file name")
                continue
            if self._is_empty(i):
                continue
            try:
                event = (cell_number(onset), cell_number(offset))
                to_ticks(event)
            except ValueError:
                problems.append(f"{self.place(i)}: onset {_shown(onset)}, offset {_shown(offset)}")
                continue
            if not label:
                problems.append(f"{self.place(i)}: no label")
                continue
            if self.confidence is not None and confidences is not None:
                try:
                    confidences.append(cell_number(self.confidence[i]))
                except ValueError:
                    problems.append(f"{self.place(i)}: confidence {_shown(self.confidence[i])}")
                    continue
            rows.append(i)
            times.append(event)
        return rows, times, confidences, problems


def joined(tables: Sequence[EventTable], where: str) -> EventTable:
    """The events of several files; the confidence is 1 in those that have none."""
    starts = np.cumsum([0, *(len(table) for table in tables)])
    scored = any(table.confidence is not None for table in tables)

    def place(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[k].place(row - int(starts[k]))

    def column(of: Callable[[EventTable], Sequence[Any]]) -> list[Any]:
        return [cell for table in tables for cell in of(table)]

    return EventTable(
        where=where,
        clip=column(lambda table: table.clip),
        onset=column(lambda table: table.onset),
        offset=column(lambda table: table.offset),
        label=column(lambda table: table.label),
        confidence=column(lambda table: table.confidence or [1.0] * len(table)) if scored else None,
        place=place,
        durations={name: end for table in tables for name, end in table.durations.items()},
        weak=any(table.weak for table in tables),
    )


def _empty(cell: Cell) -> bool:
    return cell is None or cell in _EMPTY or cell != cell


def cell_number(cell: Cell) -> float:
    """A cell as a number."""
    if isinstance(cell, str):
        return number(cell)
    try:
        return float(cell if cell is not None else "")
    except (TypeError, OverflowError):
        raise ValueError(f"{cell!r} is not a number") from None


def _shown(cell: Cell) -> str:
    return quoted_cell("" if cell is None else str(cell))
