"""How time grows with the length of a recording."""

from __future__ import annotations

from typing import Any

from sedscope.metrics import Metric

from .sets import COLLAR_F1, PSDS1, evaluation, simulated
from .timing import Row, seconds


def long_recordings(hours: float) -> list[Row]:
    """One class at 50 frames a second: how time grows with the length of the recording."""
    lengths = (hours / 24, hours)
    metrics: dict[str, Metric[Any]] = {"PSDS 1": PSDS1, "best collar F1": COLLAR_F1}
    times: dict[str, list[float]] = {name: [] for name in metrics}
    for length in lengths:
        scores, truth = simulated(1, seconds=3600 * length, classes=1, events_per_minute=4)
        for name, metric in metrics.items():
            times[name] += seconds(evaluation(scores, truth, metric))
    return [
        Row(
            f"{name}, one class, one recording of {hours:g} h, {len(truth)} references",
            long,
            f"{lengths[0]:g} h, per hour",
            long / short / (lengths[1] / lengths[0]),
            "≤ 1.1",
        )
        for name, (short, long) in times.items()
    ]
