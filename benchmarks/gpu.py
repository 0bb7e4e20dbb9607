"""``python -m benchmarks.gpu``: what needs many cores or a GPU, in one run of some minutes.

Rows for which the machine lacks something are left out, and the reason is printed.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.counting.clip_reader import read_each, thread_count
from sedscope.data.scores import ClipScores

from .sets import PSDS1, PSDS2, simulated
from .timing import Row, grouped, markdown, seconds

CORES = 16
CLIPS, CLASSES, FRAMES, FRAME = 17_000, 407, 250, 0.04
BATCH = 64
PSDS = [PSDS1, PSDS2]


def more_threads(clips: int, threads: int) -> Row:
    """PSDS 1 of a DESED-sized set: how much faster it is on many threads than on one."""
    scores, truth = simulated(clips)
    alone, together = seconds(
        lambda: sed.evaluate(scores, truth, PSDS1, run=sed.Run(threads=1)),
        lambda: sed.evaluate(scores, truth, PSDS1, run=sed.Run(threads=threads)),
        repeat=30,
    )
    work = f"PSDS 1, {clips} × 500 × 10 float32, {threads} threads"
    return Row(work, together, "1 thread, over the time", alone / together, "≥ 9")


class LargeSet:
    """Scores as of AudioSet-Strong in memory: 10 s, 25 frames a second, a long tail of classes."""

    def __init__(self, clips: int, threads: int) -> None:
        import torch

        self.truth = sed.simulate.ground_truth(clips, classes=CLASSES, events_per_minute=36)
        simulated_scores = sed.simulate.scores(
            self.truth, classes=sed.simulate.labels(CLASSES), frame=FRAME
        )
        self.clips = list(simulated_scores)
        self.tensor = torch.empty(clips, FRAMES, CLASSES)
        arrays = dict(zip(self.clips, self.tensor.numpy(), strict=True))
        for clip, loaded in zip(
            self.clips, read_each(simulated_scores, self.clips, threads), strict=True
        ):
            assert isinstance(loaded, ClipScores)
            arrays[clip][...] = loaded.values
        self.scores = sed.Scores.from_arrays(arrays, classes=simulated_scores.classes, frame=FRAME)
        self.size = f"{grouped(clips)} × {FRAMES} × {CLASSES} float32"

    def evaluate(self, threads: int) -> sed.Evaluation:
        """PSDS 1 and 2 of all clips."""
        return sed.evaluate(self.scores, self.truth, PSDS, run=sed.Run(threads=threads))


def in_memory(large: LargeSet, threads: int) -> list[Row]:
    """PSDS 1 and 2 of a large set against one pass over its scores, and on few threads."""
    import torch

    torch.set_num_threads(threads)
    amax, together = seconds(
        lambda: torch.amax(large.tensor, dim=1), lambda: large.evaluate(threads), repeat=3
    )
    (few,) = seconds(lambda: large.evaluate(2), repeat=1)
    work = f"PSDS 1 and 2, {large.size}, {threads} threads"
    return [
        Row(work, together, "torch.amax of the scores", together / amax, "≤ 5"),
        Row(work, together, "2 threads, over the time", few / together, "≥ 5"),
    ]


def training(large: LargeSet, threads: int, device: str) -> list[Row]:
    """An epoch of the training loop with batches on a device; first its memory, then its time."""
    import torch

    from sedscope.torch import SEDMetrics

    on_device = large.tensor.to(device)
    firsts = range(0, len(large.clips), BATCH)
    metrics = SEDMetrics(PSDS, large.scores.classes, frame=FRAME, truth=large.truth, threads=threads)

    def update() -> None:
        metrics.reset()
        for first in firsts:
            metrics.update(on_device[first : first + BATCH], large.clips[first : first + BATCH])

    def copy() -> None:
        for first in firsts:
            on_device[first : first + BATCH].to("cpu", copy=True)

    torch.set_num_threads(threads)
    metrics.update(on_device[:BATCH], large.clips[:BATCH])  # loads what the device needs
    update_time, compute_time = float("inf"), float("inf")
    before = _most_memory()
    for repeat in range(3):
        start = time.perf_counter()
        update()
        updated = time.perf_counter()
        metrics.compute()
        update_time = min(update_time, updated - start)
        compute_time = min(compute_time, time.perf_counter() - updated)
        if repeat == 0:
            gigabytes = (_most_memory() - before) / 1e9
    expected = large.evaluate(threads)
    if repr(metrics.result().scalars()) != repr(
        expected.scalars()
    ):  # NaN where a class has no references
        raise SystemExit("the training loop and one evaluation differ")
    once, copied = seconds(lambda: large.evaluate(threads), copy, repeat=3)
    epoch = update_time + compute_time
    work = f"an epoch of PSDS 1 and 2, {large.size}, batches of {BATCH} on {device}"
    return [
        Row(work, epoch, "one evaluation in memory", epoch / once, "≤ 2"),
        Row("of it: all updates", update_time, "copying the batches alone", update_time / copied),
        Row("of it: compute", compute_time, "one evaluation in memory", compute_time / once),
        Row("memory of the epoch beside the scores", epoch, "1 GB", gigabytes, "≤ 3"),
    ]


def _most_memory() -> int:
    """The most bytes that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Measure what the machine allows, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--part", type=float, default=1.0, help="of the sizes, to try it out")
    parser.add_argument("--cores", type=int, default=CORES, help="how many threads, to try it out")
    parser.add_argument("--device", default="cuda", help="where the batches are, 'cpu' to try it out")
    options = parser.parse_args()
    warnings.simplefilter("ignore", sed.SedscopeWarning)  # of classes without references
    start = time.perf_counter()
    cores, available = options.cores, thread_count(None)
    too_few = f"needs {cores} cores, there are {available}" if available < cores else ""
    no_torch, no_device = _missing_torch(options.device)
    large: list[LargeSet] = []

    def large_set() -> LargeSet:
        if not large:
            large.append(LargeSet(round(CLIPS * options.part), available))
        return large[0]

    # the training loop first: its memory is what the process holds more than before
    topics: dict[str, tuple[str, Callable[[], list[Row]]]] = {
        "the epoch of the training loop on a GPU": (
            "; ".join(filter(None, [too_few, no_torch, no_device])),
            lambda: training(large_set(), cores, options.device),
        ),
        "the large set in memory": (
            "; ".join(filter(None, [too_few, no_torch])),
            lambda: in_memory(large_set(), cores),
        ),
        "PSDS 1 on many threads": (too_few, lambda: [more_threads(round(1168 * options.part), cores)]),
    }
    rows: list[Row] = []
    for topic, (missing, measure) in topics.items():
        if missing:
            print(f"left out: {topic} ({missing})")
        else:
            rows += measure()
    if rows:
        print(markdown(rows))
    print(
        f"\nsedscope {sed.__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"{available} cores, {_device_name(options.device)}; measured in {time.perf_counter() - start:.0f} s"
    )


def _missing_torch(device: str) -> tuple[str, str]:
    """Say why there is no torch, and why torch has no such device; nothing if there is."""
    try:
        import torch
        import torchmetrics  # noqa: F401 (only whether it is there)
    except ImportError as error:
        return f"needs {error.name}", ""
    no_device = device.startswith("cuda") and not torch.cuda.is_available()
    return "", "needs a GPU that torch can use" if no_device else ""


def _device_name(device: str) -> str:
    """What the device is called, and the version of torch."""
    try:
        import torch
    except ImportError:
        return "no torch"
    usable = device.startswith("cuda") and torch.cuda.is_available()
    name: Any = torch.cuda.get_device_name() if usable else "no GPU"
    return f"{name}, torch {torch.__version__}"


if __name__ == "__main__":
    main()
