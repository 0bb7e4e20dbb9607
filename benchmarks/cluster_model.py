"""``python -m benchmarks.cluster_model``: what large sets would take on a cluster, simulated task by task.

The costs of one part, of a merge and of a finished block are measured on this machine, in processor time,
with the recordings of ``benchmarks.clusters``. Then tasks are given to the first free worker: bundles of
parts, some of them stragglers, and the tree of merges. The states that a merge needs travel over its
worker's network.
"""

from __future__ import annotations

import argparse
import heapq
import time
from dataclasses import dataclass, replace

import numpy as np

from sedscope.alignment.alignment import align
from sedscope.data.arrays import FloatArray
from sedscope.engines.cluster import _BUNDLES_PER_WORKER, _MERGED_AT_ONCE, _MOST_PARTS
from sedscope.engines.engine import part_of
from sedscope.engines.run import Run
from sedscope.engines.states import Block, StatePlan, finish, merge, partial
from sedscope.evaluation.cluster_blocks import _blocks, _measure
from sedscope.metrics.metric import delta_requests

from .clusters import CLASSES, PSDS, SECONDS, recordings
from .timing import grouped

PART_HOURS = 8


@dataclass(frozen=True)
class Costs:
    """What tasks cost, for a set with this many classes and scores per second."""

    part: float
    """Seconds for a part of eight hours."""
    sizes: tuple[float, ...]
    """Bytes of the state of a block of eight classes after 1, 4, 16 … parts."""
    merge: float
    """Seconds for a byte that is merged."""
    finish: float
    """Seconds for a byte that is finished."""
    network: float = 5e8
    """Bytes a second that a worker receives."""
    overhead: float = 1e-3
    """Seconds that the scheduler needs for a task."""

    def size(self, parts: int) -> float:
        """Return the bytes of a state that so many parts were merged to; it hardly grows in the end."""
        level = round(np.log(max(parts, 1)) / np.log(_MERGED_AT_ONCE))
        growth = self.sizes[-1] / self.sizes[-2]
        beyond = max(0, level - len(self.sizes) + 1)
        return float(self.sizes[min(level, len(self.sizes) - 1)] * growth ** min(beyond, 2))


def measured(parts: int = 16) -> Costs:
    """Measure the costs on this machine."""
    per_part = PART_HOURS * 3600 // SECONDS
    alignment = align(*recordings(PART_HOURS * parts))
    requests = delta_requests(PSDS)
    first, *_ = _blocks(alignment, PSDS, requests, Run())
    plan = StatePlan(requests, (Block((next(iter(requests)),), None), first))
    everything = StatePlan(requests, _blocks(alignment, PSDS, requests, Run()))
    begin = time.process_time()
    partial(part_of(alignment, range(per_part)), everything)
    of_part = time.process_time() - begin
    states = [
        partial(part_of(alignment, range(k, k + per_part)), plan)[1]
        for k in range(0, parts * per_part, per_part)
    ]
    sizes, merged_bytes, begin = [len(states[0])], 0, time.process_time()
    while len(states) > 1:
        groups = [states[k : k + _MERGED_AT_ONCE] for k in range(0, len(states), _MERGED_AT_ONCE)]
        merged_bytes += sum(map(len, states))
        states = [merge(group, plan) for group in groups]
        sizes.append(len(states[0]))
    of_merges = time.process_time() - begin
    begin = time.process_time()
    finish(states[0], 1, plan, _measure(plan, PSDS))
    of_finish = time.process_time() - begin
    return Costs(of_part, tuple(sizes), of_merges / merged_bytes, of_finish / len(states[0]))


@dataclass(frozen=True)
class Simulated:
    """What a simulated run took."""

    hours: float
    work: float
    """Hours of all processors."""
    shuffled: float
    """Bytes that travelled."""
    worker: float
    """Bytes of the states that the busiest merge holds."""
    idle: float
    """Share of the workers' time without work."""


def simulate(
    costs: Costs, hours: int, classes: int, workers: int, stragglers: float = 0.01
) -> Simulated:
    """Simulate a run. ``stragglers``: the share of parts that take five times as long."""
    rng = np.random.default_rng(0)
    parts, blocks = -(-hours // PART_HOURS), -(-classes // 8)
    seconds = costs.part * classes / CLASSES * rng.lognormal(0, 0.2, parts)
    seconds[rng.random(parts) < stragglers] *= 5
    of_bundle = min(_MOST_PARTS, -(-parts // (_BUNDLES_PER_WORKER * workers)))
    merging = (costs.size(1) + costs.size(of_bundle) / (_MERGED_AT_ONCE - 1)) * blocks * costs.merge
    seconds += merging * (of_bundle > 1)
    bundles = np.add.reduceat(seconds, np.arange(0, parts, of_bundle))
    free = [0.0] * workers
    tasks = len(bundles) * (1 + blocks)
    ends = _run(free, np.zeros(len(bundles)), bundles)
    busy, shuffled, ready, merged = float(bundles.sum()), 0.0, ends, of_bundle
    while len(ready) > 1:
        groups = [ready[k : k + _MERGED_AT_ONCE] for k in range(0, len(ready), _MERGED_AT_ONCE)]
        size, merged = costs.size(merged), merged * _MERGED_AT_ONCE
        moved = [len(group) * size * blocks * (1 - 1 / workers) for group in groups]
        work = [len(group) * size * blocks * costs.merge for group in groups]
        taken = np.array([of / costs.network for of in moved]) + work
        ready = _run(free, np.array([group.max() for group in groups]), taken)
        busy, shuffled, tasks = (
            busy + float(taken.sum()),
            shuffled + sum(moved),
            tasks + len(groups) * blocks,
        )
    last = costs.size(merged)
    end = float(ready[0]) + costs.finish * last * -(-blocks // workers)
    end = max(end, tasks * costs.overhead)
    held = (_MERGED_AT_ONCE + 1) * last
    return Simulated(end / 3600, busy / 3600, shuffled, held, 1 - min(1.0, busy / (end * workers)))


def _run(free: list[float], ready: FloatArray, seconds: FloatArray) -> FloatArray:
    """Give tasks to the first free worker each, and return when they end."""
    ends = []
    for begin, length in zip(ready, seconds, strict=True):
        end = max(heapq.heappop(free), begin) + length
        heapq.heappush(free, end)
        ends.append(end)
    return np.array(ends)


def main() -> None:
    """Measure the costs, and print what some sets would take."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_model", description=__doc__)
    parser.parse_args()
    costs = measured()
    sizes = ", ".join(f"{size / 1e6:.2f}" for size in costs.sizes)
    print(f"a part of {PART_HOURS} hours: {costs.part:.2f} s; a block after 1, 4, 16 parts: {sizes} MB")
    print(f"merging: {1e9 * costs.merge:.1f} ns a byte; finishing: {1e9 * costs.finish:.1f} ns a byte\n")
    print(
        "| hours | classes | scores a second | workers | time | work | shuffled | states of a merge | idle |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for hours, classes, rate, workers in (
        (200, 16, 1, 2),
        (2000, 16, 1, 2),
        (200, 100, 1, 2),
        (2000, 100, 1, 2),
        (20_000, 100, 1, 20),
        (1_000_000, 500, 1, 100),
        (1_000_000, 500, 25, 100),
    ):
        run = simulate(replace(costs, part=costs.part * rate), hours, classes, workers)
        print(
            f"| {grouped(hours)} | {classes} | {rate} | {workers} | {_time(run.hours)} | {_time(run.work)} "
            f"| {run.shuffled / 1e9:,.1f} GB | {run.worker / 1e6:.0f} MB | {100 * run.idle:.0f} % |"
        )


def _time(hours: float) -> str:
    return f"{3600 * hours:.0f} s" if hours < 0.1 else f"{hours:.1f} h"


if __name__ == "__main__":
    main()
