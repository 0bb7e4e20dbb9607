"""How much too good metrics are that choose thresholds, and how well held-out clips say so.

``python -m benchmarks.optimism``: sets of clips are drawn from a population. The value of each set, and the
value to expect on new clips with its interval, are held against the value of the population at the thresholds
of the set.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.counting.deltas import Deltas
from sedscope.counting.request import DeltaRequest
from sedscope.engines.engine import Engine
from sedscope.engines.floor_search import find_deltas
from sedscope.metrics import Metric
from sedscope.metrics.names import as_metric
from sedscope.resampling.held_out import best_thresholds, counts_of_clips, on_new_clips, value_at

from .coverage import POPULATIONS

METRICS = (
    "best_collar_f1",
    "best_intersection_f1",
    "best_segment_f1",
    "BestFScore(Collar(), average='micro')",
    "BestErrorRate(Segment(1.0))",
    "BestErrorRate(Segment(1.0), average='micro')",
    "BestDetectionCost(Segment(1.0))",
    "RecallAtFalseAlarms(Collar(), 20)",
)


def value_on_population(metric: Metric[Any], thresholds: Any, population: Deltas) -> float:
    """Return the value of the population at the threshold of each class."""
    sums = {name: column.sum(axis=1) for name, column in counts_of_clips(population, thresholds).items()}
    return value_at(metric, population, np.ones(len(population.clips), np.int32), sums)[0]


def sets_of(
    deltas: Deltas,
    metric: Metric[Any],
    recordings: NDArray[np.intp],
    part: float,
    options: argparse.Namespace,
) -> Iterator[Mapping[str, float]]:
    """Yield, per set, by how much its value and the value to expect exceed that of its thresholds.

    ``part``: of the recordings, which is drawn without replacement.
    """
    rng, number_of_recordings = np.random.default_rng(options.seed), int(recordings.max()) + 1
    for number in range(options.sets):
        chosen = rng.permutation(number_of_recordings) < part * number_of_recordings
        drawn = deltas.of_clips(chosen[recordings])
        counts = drawn.counts()
        true = value_on_population(metric, best_thresholds(metric, counts), deltas)
        resampling = sed.Resampling(options.resamples, seed=number)
        expected = on_new_clips([metric], {metric.criterion: drawn}, resampling, 1)[metric]
        yield {
            "gain": metric.measure(counts).value - true,
            "error": expected.value - true,
            "held": expected.low <= true <= expected.high,
            "width": expected.high - expected.low,
            "below": true < expected.low,
        }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--populations", nargs="+", default=[*POPULATIONS], choices=POPULATIONS)
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--clips", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--sets", type=int, default=60)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows: dict[tuple[str, int], list[Mapping[str, float]]] = {}
    for name in options.populations:
        population = POPULATIONS[name]()
        if population is None:
            print(f"{name}: left out, because the data are absent", file=sys.stderr)
            continue
        for text in options.metrics:
            metric = as_metric(text)
            requests = {metric.criterion: DeltaRequest(any_label=metric.any_label)}
            (deltas,) = find_deltas(population.alignment, requests, Engine(1)).values()
            for clips in options.clips:
                part = clips / len(deltas.clips)
                of_sets = [*sets_of(deltas, metric, population.recordings, part, options)]
                mean = {key: float(np.mean([of[key] for of in of_sets])) for key in of_sets[0]}
                rows.setdefault((text, clips), []).append(mean)
                print(name, text, clips, mean, file=sys.stderr, flush=True)
    print(
        "| metric | clips | too good by | on held-out clips | within a fifth | held | worst | below | width |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (text, clips), of_populations in rows.items():
        gain, error, held, below, width = (
            np.array([of[key] for of in of_populations])
            for key in ("gain", "error", "held", "below", "width")
        )
        within = f"{np.sum(abs(error) <= abs(gain) / 5)} of {len(error)}"
        print(
            f"| `{text}` | {clips} | {gain.mean():+.4f} | {abs(error).mean():.4f} | {within} "
            f"| {held.mean():.1%} | {held.min():.1%} | {below.mean():.1%} | {width.mean():.3f} |"
        )


if __name__ == "__main__":
    main()
