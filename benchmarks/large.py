"""``python -m benchmarks.large``: sizes beyond which other tools do not go; time and peak memory.

Each scenario runs in a process of its own, at a tenth of the size and at the full one. Its memory is
measured from outside: all that it and the processes that it starts hold, looked at many times a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
from numpy.typing import NDArray

import sedscope as sed
from sedscope.counting.clip_reader import read_each, thread_count

from .timing import grouped

PSDS = [sed.presets.PSDS1, sed.presets.PSDS2]
CLASSES = 407
_STORES = "SEDSCOPE_BENCH_STORES"  # the folder of the stores, for the measured processes


@dataclass(frozen=True)
class Measured:
    """How long a scenario took and how much memory it needed at its peak."""

    seconds: float
    gigabytes: float


def audioset(clips: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """Scores and events as of AudioSet-Strong: 10 s, 25 frames a second, a long tail of classes."""
    truth = sed.simulate.ground_truth(clips, classes=CLASSES, events_per_minute=36)
    scores = sed.simulate.scores(truth, classes=sed.simulate.labels(CLASSES), frame=0.04)
    return scores, truth


def make_scores(clips: int) -> None:
    """Only make the scores: what reading them costs here."""
    scores, _ = audioset(clips)
    for loaded in read_each(scores, list(scores), thread_count(None)):
        if isinstance(loaded, Exception):
            raise loaded


def evaluate_audioset(clips: int) -> None:
    """PSDS 1 and 2, streamed."""
    scores, truth = audioset(clips)
    sed.evaluate(scores, truth, PSDS)


def evaluate_with_dask(clips: int) -> None:
    """The same on a cluster of processes on this machine."""
    scores, truth = audioset(clips)
    sed.evaluate(scores, truth, PSDS, run=sed.Run(engine="dask"))


def evaluate_every_threshold(clips: int) -> None:
    """Best collar F1, which looks at every threshold, within 4 GB: the deltas go to disk."""
    scores, truth = audioset(clips)
    sed.evaluate(scores, truth, sed.BestFScore(sed.Collar()), run=sed.Run(memory="4GB"))


def write_store(clips: int, folder: Path) -> None:
    """Write the scores to a store, unless it is there; nothing is measured."""
    if not folder.exists():
        sed.write_scores(audioset(clips)[0], folder, format="store")


def read_store(clips: int) -> None:
    """Only read a store once with numpy, 64 MB at a time."""
    for shard in store_of(clips).glob("scores-*.npy"):
        np.load(shard)


def evaluate_store(clips: int) -> None:
    """PSDS 1 and 2, streamed from the store."""
    _, truth = audioset(clips)
    sed.evaluate(sed.read_scores(store_of(clips)), truth, PSDS)


def tagged(clips: int) -> tuple[sed.Scores, sed.GroundTruth]:
    """Scores and events of 50 classes: 10 s, 25 frames a second."""
    truth = sed.simulate.ground_truth(clips, classes=50, events_per_minute=12)
    return sed.simulate.scores(truth, classes=sed.simulate.labels(50), frame=0.04), truth


def write_tables(clips: int, folder: Path, *, long: bool) -> None:
    """Write the scores as Parquet files of 500 clips each, unless they are there; nothing is measured."""
    import polars

    if folder.exists():
        return
    scores, _ = tagged(clips)
    times = ["clip", "onset", "offset"]
    for number, names in enumerate(np.array_split(np.array([*scores]), -(-clips // 500))):
        tables = []
        for clip in names.tolist():
            edges, values = scores[clip].edges, scores[clip].values
            columns = {"clip": clip, "onset": edges[:-1], "offset": edges[1:]}
            tables.append(
                polars.DataFrame({**columns, **dict(zip(scores.classes, values.T, strict=True))})
            )
        table = polars.concat(tables)
        if long:
            table = table.unpivot(index=times, variable_name="label", value_name="score").sort(times)
        (folder / f"part={number}").mkdir(parents=True)
        table.write_parquet(folder / f"part={number}" / "0.parquet")


def _read_tables(folder: Path) -> None:
    import polars

    for file in sorted(folder.rglob("*.parquet")):
        polars.read_parquet(file)


def read_wide(clips: int) -> None:
    """Only read a wide table in partitioned Parquet files with polars."""
    _read_tables(tables_of(clips, "wide"))


def evaluate_wide(clips: int) -> None:
    """PSDS 1 and 2 of these files."""
    sed.evaluate(tables_of(clips, "wide"), tagged(clips)[1], PSDS)


def read_long(clips: int) -> None:
    """Only read a long table in partitioned Parquet files with polars."""
    _read_tables(tables_of(clips, "long"))


def evaluate_long(clips: int) -> None:
    """PSDS 1 and 2 of these files, a row per frame and class."""
    sed.evaluate(tables_of(clips, "long"), tagged(clips)[1], PSDS)


def tables_of(clips: int, layout: str) -> Path:
    """The folder of the files of a table, which the measuring process has written."""
    return Path(os.environ[_STORES]) / f"{layout}-{clips}"


def store_of(clips: int) -> Path:
    """The folder of a store, which the measuring process has written."""
    return Path(os.environ[_STORES]) / str(clips)


def evaluate_day(hours: int) -> None:
    """PSDS 1 of one recording at 50 frames a second, 10 classes, in memory."""
    truth = sed.simulate.ground_truth(1, seconds=3600.0 * hours, events_per_minute=4)
    values = np.concatenate([slow_noise(180_000, 10, hour) for hour in range(hours)])
    labels = sed.simulate.labels(10)
    scores = sed.Scores.from_arrays({truth.clips[0]: values}, classes=labels, frame=0.02)
    sed.evaluate(scores, truth, PSDS[0])


def slow_noise(frames: int, classes: int, seed: int) -> NDArray[np.float32]:
    """Scores that know nothing of the references, with more ups and downs than those of a system."""
    noise = np.random.default_rng(seed).standard_normal((frames, classes), dtype=np.float32)
    slow: NDArray[np.float32] = np.repeat(noise[::10], 10, axis=0) + noise * np.float32(0.125)
    return slow


def evaluate_week(hours: int) -> None:
    """PSDS 1 of one recording at 10 frames a second, 50 classes, in pieces of an hour."""
    frames, labels = 36_000 * hours, sed.simulate.labels(50)
    truth = sed.simulate.ground_truth(1, seconds=3600.0 * hours, classes=50, events_per_minute=4)

    def pieces() -> Iterator[NDArray[np.float32]]:
        for hour in range(hours):
            yield slow_noise(36_000, 50, hour)

    recording = sed.ClipPieces(pieces, frames=frames, frame=0.1)
    scores = sed.Scores.from_pieces({truth.clips[0]: recording}, classes=labels)
    sed.evaluate(scores, truth, PSDS[0])


@dataclass(frozen=True)
class Bar:
    """How long a scenario may take beside one that only reads the scores, and how much memory."""

    reading: str
    """The name of the other scenario."""
    times: float
    seconds: float
    gigabytes: float

    def judge(self, measured: Measured, reading: Measured) -> str:
        """Say what the bar is, and whether the scenario reaches it."""
        allowed = self.times * reading.seconds + self.seconds
        reached = measured.seconds <= allowed and measured.gigabytes <= self.gigabytes
        more = f" + {self.seconds:g} s" if self.seconds else ""
        return (
            f"{measured.seconds / reading.seconds:.2f} × reading; ≤ {self.times:g} × {reading.seconds:.1f} s"
            f"{more}, ≤ {self.gigabytes:g} GB: {'yes' if reached else 'no'}"
        )


@dataclass(frozen=True)
class Scenario:
    """Something to be measured."""

    run: Callable[[int], None]
    size: int
    unit: str
    bar: Bar | None = None
    prepare: Callable[[int], None] | None = None
    """Writes the files that it reads."""

    @property
    def work(self) -> str:
        """What it does, in a line."""
        return str(self.run.__doc__).rstrip(".")


def _store(clips: int) -> None:
    write_store(clips, store_of(clips))


def _wide(clips: int) -> None:
    write_tables(clips, tables_of(clips, "wide"), long=False)


def _long(clips: int) -> None:
    write_tables(clips, tables_of(clips, "long"), long=True)


SCENARIOS = {
    scenario.run.__name__: scenario
    for scenario in (
        Scenario(make_scores, 17_000, "clips"),
        Scenario(evaluate_audioset, 17_000, "clips", Bar("make_scores", 2, 60, 2)),
        Scenario(evaluate_with_dask, 17_000, "clips"),
        Scenario(evaluate_every_threshold, 17_000, "clips", Bar("make_scores", 2, 30, 4)),
        Scenario(read_store, 17_000, "clips", prepare=_store),
        Scenario(evaluate_store, 17_000, "clips", Bar("read_store", 3, 0, 1.5), prepare=_store),
        Scenario(read_wide, 20_000, "clips", prepare=_wide),
        Scenario(evaluate_wide, 20_000, "clips", Bar("read_wide", 1.5, 0, 1.5), prepare=_wide),
        Scenario(read_long, 20_000, "clips", prepare=_long),
        Scenario(evaluate_long, 20_000, "clips", Bar("read_long", 3, 0, 1.5), prepare=_long),
        Scenario(evaluate_day, 24, "hours"),
        Scenario(evaluate_week, 168, "hours"),
    )
}


@cache
def measure(name: str, size: int) -> Measured:
    """Run a scenario in its own process."""
    prepare = SCENARIOS[name].prepare
    if prepare is not None:
        prepare(size)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.large", "--run", name, str(size)]
    start, most = time.perf_counter(), 0
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, _memory_in_use(process))
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{name} {size} failed")
    return Measured(time.perf_counter() - start, most / 1e9)


def _memory_in_use(process: psutil.Process) -> int:
    """Bytes held by a process and those that it started; pages that they share count once in each."""
    used = 0
    try:
        for running in (process, *process.children(recursive=True)):
            used += running.memory_info().rss
    except psutil.NoSuchProcess:  # ended meanwhile
        pass
    return used


def print_rows(name: str, part: float) -> None:
    """Measure a scenario at a tenth of its size and at the full one, and print both."""
    scenario = SCENARIOS[name]
    full = max(10, round(scenario.size * part))
    tenth = full // 10
    small, large = measure(name, tenth), measure(name, full)
    growth = (large.seconds / full) / (small.seconds / tenth)
    bar = scenario.bar and scenario.bar.judge(large, measure(scenario.bar.reading, full))
    for size, measured, *remarks in (
        (tenth, small, "", ""),
        (full, large, f"{growth:.2f} per unit", bar or ""),
    ):
        print(
            f"| {scenario.work} | {grouped(size)} {scenario.unit} | {measured.seconds:.1f} s "
            f"| {measured.gigabytes:.2f} GB | {' | '.join(remarks)} |",
            flush=True,
        )


def main() -> None:
    """Measure all scenarios, or run one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--run", nargs=2, metavar=("SCENARIO", "SIZE"), help="run one, measure nothing")
    parser.add_argument("--part", type=float, default=1.0, help="of the sizes, to try it out")
    parser.add_argument("scenarios", nargs="*", help="all unless given")
    options = parser.parse_args()
    if options.run:
        name, size = options.run
        SCENARIOS[name].run(int(size))
        return
    print("| work | size | time | peak memory | growth of the time from a tenth | bar |")
    print("| --- | --- | --- | --- | --- | --- |")
    with TemporaryDirectory(prefix="sedscope-bench-") as stores:
        os.environ[_STORES] = stores
        for name in options.scenarios or SCENARIOS:
            print_rows(name, options.part)
    print(f"\nsedscope {sed.__version__}, numpy {np.__version__}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
