"""Time of a call, and a table of times with the bars they are held to."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


def seconds(*calls: Callable[[], object], repeat: int = 7) -> list[float]:
    """The shortest time of each call; the calls take turns, so that noise meets all of them."""
    best = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Row:
    """A measured ratio. ``bar`` reads like '≤ 0.4' or '≥ 150'; None where there is none.

    ``median``: of several sets, of which the row shows the worst.
    """

    work: str
    time: float
    against: str
    ratio: float
    bar: str | None = None
    median: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the ratio keeps the bar."""
        if self.bar is None:
            return True
        sign, limit = self.bar.split()
        return self.ratio <= float(limit) if sign == "≤" else self.ratio >= float(limit)

    def cells(self) -> list[str]:
        """The row as text."""
        verdict = "" if self.bar is None else "yes" if self.reached else "NO"
        return [
            self.work,
            _duration(self.time),
            self.against,
            "" if self.median is None else f"{self.median:.3g} ×",
            f"{self.ratio:.3g} ×",
            self.bar or "",
            verdict,
        ]


def worst_of(sets: Sequence[Sequence[Row]]) -> list[Row]:
    """For the rows measured on each of several sets, those of the worst set, with the medians of all."""
    rows = []
    for of_sets in zip(*sets, strict=True):
        ratios = [row.ratio for row in of_sets]
        at_least = (of_sets[0].bar or "").startswith("≥")
        worst = ratios.index(min(ratios) if at_least else max(ratios))
        rows.append(replace(of_sets[worst], median=statistics.median(ratios)))
    return rows


def markdown(rows: list[Row]) -> str:
    """A table of rows."""
    head = ["work", "time", "against", "median", "worst", "bar", "reached"]
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _duration(time: float) -> str:
    return f"{time * 1e3:.3g} ms" if time < 1 else f"{time:.3g} s"


def grouped(number: int) -> str:
    """Write a whole number, with commas if it has five digits or more."""
    return f"{number:,}" if number >= 10_000 else str(number)
