"""Time of a call, and a table of times with the bars they are held to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


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
    """A measured ratio. ``bar`` reads like '≤ 0.4' or '≥ 150'; None where there is none."""

    work: str
    time: float
    against: str
    ratio: float
    bar: str | None = None

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
            f"{self.ratio:.3g} ×",
            self.bar or "",
            verdict,
        ]


def markdown(rows: list[Row]) -> str:
    """A table of rows."""
    head = ["work", "time", "against", "ratio", "bar", "reached"]
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _duration(time: float) -> str:
    return f"{time * 1e3:.3g} ms" if time < 1 else f"{time:.3g} s"
