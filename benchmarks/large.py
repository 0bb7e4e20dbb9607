"""``python -m benchmarks.large``: sizes beyond which other tools do not go; time and peak memory.

Each scenario runs in a process of its own, whose peak memory the parent learns when it ends.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.loading import read_each
from sedscope.threads import thread_count

PSDS = [sed.presets.PSDS1, sed.presets.PSDS2]
CLASSES = 407


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
    sed.evaluate(scores, truth, PSDS, engine="dask")


def evaluate_day(hours: int) -> None:
    """One recording at 50 frames a second, 10 classes, in memory."""
    truth = sed.simulate.ground_truth(1, seconds=3600.0 * hours, events_per_minute=4)
    scores = sed.simulate.scores(truth)
    held = sed.Scores.from_arrays(
        {clip: scores[clip].values for clip in scores}, classes=scores.classes, frame=0.02
    )
    sed.evaluate(held, truth, [PSDS[0], sed.BestFScore(sed.Collar())])


def evaluate_week(hours: int) -> None:
    """One recording at 10 frames a second, 50 classes, in pieces of an hour."""
    frames, labels = 36_000 * hours, sed.simulate.labels(50)
    truth = sed.simulate.ground_truth(1, seconds=3600.0 * hours, classes=50, events_per_minute=4)

    def pieces() -> Iterator[NDArray[np.float32]]:
        for hour in range(hours):
            rng = np.random.default_rng([1, hour])
            noise = rng.standard_normal((36_000, 50), dtype=np.float32)
            yield np.round(np.repeat(noise[::10], 10, axis=0) + noise / 8, 2)  # slow, and of two digits

    recording = sed.ClipPieces(pieces, frames=frames, frame=0.1)
    scores = sed.Scores.from_pieces({truth.clips[0]: recording}, classes=labels)
    sed.evaluate(scores, truth, PSDS[0])


SCENARIOS: dict[str, Callable[[int], None]] = {
    "make_scores": make_scores,
    "evaluate_audioset": evaluate_audioset,
    "evaluate_with_dask": evaluate_with_dask,
    "evaluate_day": evaluate_day,
    "evaluate_week": evaluate_week,
}


def measure(scenario: str, size: int) -> Measured:
    """Run a scenario in its own process."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.large", "--run", scenario, str(size)]
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{scenario} {size} failed")
    return Measured(time.perf_counter() - start, usage.ru_maxrss / 1e6)


def main() -> None:
    """Measure all scenarios, or run one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--run", nargs=2, metavar=("SCENARIO", "SIZE"), help="run one, measure nothing")
    parser.add_argument("--clips", type=int, default=17_000)
    parser.add_argument("--hours", type=int, default=24)
    options = parser.parse_args()
    if options.run:
        scenario, size = options.run
        SCENARIOS[scenario](int(size))
        return
    print("| work | size | time | peak memory |\n| --- | --- | --- | --- |")
    sizes: dict[str, Any] = {
        "make_scores": (options.clips // 10, options.clips),
        "evaluate_audioset": (options.clips // 10, options.clips),
        "evaluate_with_dask": (options.clips // 10,),
        "evaluate_day": (options.hours // 10, options.hours),
        "evaluate_week": (7 * options.hours // 10, 7 * options.hours),
    }
    for scenario, of_scenario in sizes.items():
        for size in of_scenario:
            found = measure(scenario, size)
            print(
                f"| {scenario} | {size} | {found.seconds:.1f} s | {found.gigabytes:.2f} GB |", flush=True
            )
    print(f"\nsedscope {sed.__version__}, numpy {np.__version__}, {thread_count(None)} cores")


if __name__ == "__main__":
    main()
