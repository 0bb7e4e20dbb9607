"""``python -m benchmarks.clusters``: hours on clusters of two processes; time and memory of each process.

The set has recordings of ten minutes, a frame a second, 100 classes, and scores of 16 bits, which are made on
the workers. PSDS 1 and 2 are measured. Each run is a process of its own, looked at ten times a second from
outside: what the client holds, and the largest of the processes that it starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import psutil

import sedscope as sed
from sedscope.data.events import EventColumns

from .timing import grouped

CLASSES = 100
PSDS = [sed.presets.PSDS1, sed.presets.PSDS2]
SECONDS = 600


CLIPS = 1200
"""Of a piece of the set, which a process makes at once: 200 hours."""


@dataclass(frozen=True)
class Rounded:
    """Scores with 16 bits, as float32. Only this number travels to the workers."""

    classes: int

    def __call__(self, clip: str) -> sed.ClipScores:
        """Return the scores of a clip."""
        number, _, name = clip.partition("-")
        made = piece(int(number), self.classes)[0][name]
        values = made.values.astype(np.float16).astype(np.float32)
        return sed.ClipScores.from_ticks(values, made.ticks)


@lru_cache(maxsize=1)
def piece(number: int, classes: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """Return a piece of the set. A worker holds one at a time, as it holds the files that it reads."""
    truth = sed.simulate.ground_truth(
        CLIPS, seconds=SECONDS, classes=classes, events_per_minute=0.5, seed=number
    )
    labels = sed.simulate.labels(classes)
    return sed.simulate.scores(truth, classes=labels, frame=1.0, seed=number), truth


def recordings(hours: int, classes: int = CLASSES) -> tuple[sed.Scores, sed.GroundTruth]:
    """Scores and reference events of as many hours."""
    clips = hours * 3600 // SECONDS
    names = [f"{k // CLIPS}-clip_{k % CLIPS:04}" for k in range(clips)]
    labels = sed.simulate.labels(classes)
    events: dict[str, list[Any]] = {"clip": [], "onset": [], "offset": [], "label": []}
    for number in range(-(-clips // CLIPS)):
        _, truth = piece(number, classes)
        at = [int(clip.partition("_")[2]) for clip in truth.clips]
        places = number * CLIPS + np.array(at)[truth.event_clips]
        kept = places < clips
        events["clip"] += [names[place] for place in places[kept]]
        events["label"] += [truth.labels[i] for i in truth.event_labels[kept]]
        events["onset"].append(truth.onsets[kept])
        events["offset"].append(truth.offsets[kept])
    piece.cache_clear()
    columns = EventColumns(
        clip=events["clip"],
        onset=np.concatenate(events["onset"]),
        offset=np.concatenate(events["offset"]),
        label=events["label"],
        where=lambda i: f"event {i}",
    )
    truth = sed.GroundTruth(columns, durations=dict.fromkeys(names, SECONDS))
    return sed.Scores.from_function(names, Rounded(classes), classes=labels), truth


def evaluate(engine: str, hours: int, classes: int) -> None:
    """Evaluate as many hours on a cluster of two processes, or on threads."""
    scores, truth = recordings(hours, classes)
    start = time.perf_counter()
    result = sed.evaluate(scores, truth, PSDS, run=sed.Run(engine=engine, threads=2))  # type: ignore[arg-type]
    values = " ".join(f"{result[metric].value:.17g}" for metric in PSDS)
    print(f"{time.perf_counter() - start:.3f} {values}")


@dataclass(frozen=True)
class Measured:
    """What a run took: seconds from the call to the result and of all processors, and bytes at most."""

    seconds: float
    cpu: float
    client: int
    worker: int
    values: str


def measure(engine: str, hours: int, classes: int) -> Measured:
    """Run an evaluation in its own process, and look at the memory of all processes."""
    run = [engine, str(hours), str(classes)]
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.clusters", "--run", *run]
    process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    client = worker = 0
    used: dict[int, float] = {}
    while process.poll() is None:
        client = max(client, _held(process, used))
        for child in _children(process):
            worker = max(worker, _held(child, used))
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{engine} {hours} failed")
    seconds, _, values = process.stdout.read().strip().splitlines()[-1].partition(" ")
    return Measured(float(seconds), sum(used.values()), client, worker, values)


def _held(process: psutil.Process, used: dict[int, float]) -> int:
    """Return how many bytes a process holds, and note the seconds that it has used."""
    try:
        times = process.cpu_times()
        used[process.pid] = times.user + times.system
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _children(process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that run Python on behalf of a process; Spark's own is not a worker."""
    try:
        children = process.children(recursive=True)
        return [child for child in children if "java" not in child.name()]
    except psutil.NoSuchProcess:
        return []


def main() -> None:
    """Measure all engines at a tenth of the hours and at all of them, or run one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__)
    parser.add_argument(
        "--run", nargs=3, metavar=("ENGINE", "HOURS", "CLASSES"), help="run one, measure nothing"
    )
    parser.add_argument("--hours", type=int, default=2000)
    parser.add_argument("--classes", type=int, default=CLASSES)
    parser.add_argument("engines", nargs="*", help="dask, ray and spark unless given")
    options = parser.parse_args()
    if options.run:
        evaluate(options.run[0], int(options.run[1]), int(options.run[2]))
        return
    print("| engine | hours | time | of all processors | client | largest worker |")
    print("| --- | --- | --- | --- | --- | --- |")
    values = set()
    for engine in options.engines or ["dask", "ray", "spark"]:
        for hours in (options.hours // 10, options.hours):
            found = measure(engine, hours, options.classes)
            values.add((hours, found.values))
            print(
                f"| {engine} | {grouped(hours)} | {found.seconds:.1f} s | {found.cpu:.1f} s "
                f"| {found.client / 1e6:.0f} MB "
                f"| {found.worker / 1e6:.0f} MB |",
                flush=True,
            )
    if len(values) > 2:
        raise SystemExit(f"The engines differ: {sorted(values)}")
    print(f"\nsedscope {sed.__version__}, numpy {np.__version__}, {os.cpu_count()} cores")


if __name__ == "__main__":
    from benchmarks import clusters  # by this name, workers find what they need

    clusters.main()
