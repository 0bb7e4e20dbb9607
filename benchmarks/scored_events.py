"""Many scored events that overlap: from a table, from lists by clip and from a file.

Each way runs in a process of its own, which says how long it took and how much memory it held at its peak,
that of its input included.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars

import sedscope as sed
from sedscope.io.systems import read_system
from sedscope.metrics import Metric

from .timing import Row, grouped

_PER_REFERENCE = 10  # events
_REFERENCES_PER_CLIP = 10
_CLASSES = 10
_SECONDS = 60.0
_METRICS: list[Metric[Any]] = [sed.PSDS(sed.Intersection(0.7, 0.7)), sed.AveragePrecision(sed.IoU(0.5))]


def scored_events(number: int = 1_000_000) -> list[Row]:
    """A million scored events against a tenth as many references."""
    rows = []
    for way in ("a data frame", "lists by clip", "a TSV file"):
        few, many = _measured(way, number // 10), _measured(way, number)
        references = grouped(number // _PER_REFERENCE)
        work = f"{grouped(number)} scored events from {way}, {references} references, PSDS and AP"
        rows += [
            Row(work, many[0], "10 s", many[0] / 10, "≤ 1"),
            Row("the same, memory", many[0], "1 GB", many[1], "≤ 1"),
            Row("the same, per event", many[0], "a tenth as many", many[0] / few[0] / 10, "≤ 1.5"),
        ]
    return rows


def _measured(way: str, number: int) -> tuple[float, float]:
    """Return seconds and gigabytes of a process."""
    with TemporaryDirectory() as folder:
        tables = _tables(number)
        for name, table in tables.items():
            table.write_csv(Path(folder, f"{name}.tsv"), separator="\t")
        command = [sys.executable, "-m", "benchmarks.scored_events", way, folder]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, gigabytes = map(float, output.split())
    return seconds, gigabytes


def _tables(number: int) -> dict[str, polars.DataFrame]:
    """References of one class that do not overlap, and events around each of them."""
    rng = np.random.default_rng(0)
    references = number // _PER_REFERENCE
    clip, slot = np.divmod(np.arange(references), _REFERENCES_PER_CLIP)
    room = _SECONDS / _REFERENCES_PER_CLIP
    times = slot[:, None] * room + np.sort(rng.uniform(0, room, (references, 2)), axis=1)
    times[:, 1] += 0.001
    label = rng.integers(0, _CLASSES, references)
    near = np.repeat(np.arange(references), _PER_REFERENCE)
    around = np.sort(np.maximum(times[near] + rng.normal(0, 0.2, (number, 2)), 0), axis=1)
    around[:, 1] += 0.001
    shuffled = rng.permutation(number)
    truth = _table(clip, times, label)
    events = _table(clip[near][shuffled], around[shuffled], label[near][shuffled])
    names = truth["filename"].unique(maintain_order=True)
    durations = polars.DataFrame({"filename": names}).with_columns(duration=polars.lit(_SECONDS))
    confidences = polars.Series("confidence", rng.uniform(0, 1, number))
    return {"truth": truth, "events": events.with_columns(confidences), "durations": durations}


def _table(clip: Any, times: Any, label: Any) -> polars.DataFrame:
    return polars.DataFrame(
        {
            "filename": polars.Series(clip).cast(polars.String) + ".wav",
            "onset": times[:, 0].round(3),
            "offset": times[:, 1].round(3),
            "event_label": "class " + polars.Series(label).cast(polars.String),
        }
    ).filter(polars.col("offset") > polars.col("onset"))


def _run(way: str, folder: Path) -> None:
    """Evaluate once, and print seconds and gigabytes. Needs Linux."""
    file, durations = folder / "events.tsv", folder / "durations.tsv"
    events: dict[str, list[tuple[Any, ...]]] = {}
    if way != "a TSV file":
        table = polars.read_csv(file, separator="\t")
        for clip, *event in table.iter_rows() if way == "lists by clip" else ():
            events.setdefault(clip, []).append(tuple(event))
    start = time.perf_counter()
    truth = sed.read_ground_truth(folder / "truth.tsv", durations=durations)
    if way == "a TSV file":
        system = read_system(file, truth, sed.SystemReading(overlaps="keep"))
        assert isinstance(system, sed.Scores)
    elif way == "a data frame":
        system = sed.ScoredEvents.from_table(table, clips=truth.clips)
    else:
        system = sed.Scores.from_events(events, clips=truth.clips, overlaps="keep")
    sed.evaluate(system, truth, _METRICS)
    seconds = time.perf_counter() - start
    print(seconds, _peak_gigabytes())


def _peak_gigabytes() -> float:
    """Return the most memory that this process held, without that of the one that started it."""
    status = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return kilobytes * 1024 / 1e9


if __name__ == "__main__":
    _run(sys.argv[1], Path(sys.argv[2]))
