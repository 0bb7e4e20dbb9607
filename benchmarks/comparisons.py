"""How often comparisons find differences that are none, and how often they find those that are.

``python -m benchmarks.comparisons`` prints three tables. Sets of clips are drawn from simulated populations,
whose deltas are found once. Systems that are equally good are made by exchanging the outputs of some systems
clip by clip at random.

1. Two systems: how often each test finds a difference where there is none, and where there is one.
2. Many systems: how often any pair that is equal is told apart, and how many of the pairs that differ are,
   with the correction by the largest difference (Westfall and Young) and with that of Holm.
3. How often the interval of a difference holds that of the population, and the interval of a rank the rank.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.counting.deltas import combine
from sedscope.counting.tally import differences
from sedscope.engines.engine import Engine
from sedscope.metrics import Metric
from sedscope.metrics.names import as_metric
from sedscope.ranking.ranking import MeasuredSystem, rank_systems
from sedscope.ranking.significance import draw_swaps, step_down, swapped_differences
from sedscope.resampling.draws import Draws, interval_of
from sedscope.resampling.intervals import Interval
from sedscope.resampling.subsampling import Behaviour

METRICS = ("psds1", "psds2", "best_collar_f1", "segment_map", "segment_f1", "collar_f1")
POPULATION, LEVEL = 2000, 0.05
Values: TypeAlias = NDArray[np.float64]


class Systems:
    """Simulated systems of some qualities, on the same clips."""

    def __init__(self, qualities: Sequence[float], metric: str) -> None:
        self.metric: Metric[Any] = as_metric(metric)
        truth = sed.simulate.ground_truth(POPULATION, seed=7)
        self.deltas = [
            sed.deltas(
                sed.simulate.scores(truth, frame=0.1, quality=quality, seed=100 + number),
                truth,
                self.metric.criterion,
            )
            for number, quality in enumerate(qualities)
        ]

    def sample(
        self, rng: np.random.Generator, clips: int, exchanged: Sequence[range] = ()
    ) -> list[sed.Deltas]:
        """Draw a set of clips. The outputs of the systems of each range are exchanged in each clip."""
        kept = np.zeros(POPULATION, bool)
        kept[rng.choice(POPULATION, clips, replace=False)] = True
        chosen = [deltas.of_clips(kept) for deltas in self.deltas]
        for systems in exchanged:
            part = [chosen[number] for number in systems]
            orders = rng.permuted(np.tile(np.arange(len(part)), (clips, 1)), axis=1).T
            mixed = [
                combine(part, np.tile(order, (len(part[0].classes), 1)).astype(np.int64))
                for order in orders
            ]
            for number, deltas in zip(systems, mixed, strict=True):
                chosen[number] = deltas
        return chosen

    def values(self, deltas: sed.Deltas, draws: Draws, engine: Engine) -> Values:
        """Measure the set as it is, then its resamples."""
        return draws.measure({self.metric.criterion: deltas}, self.metric, engine)[:, 0]


def two_systems(
    metric: str, qualities: tuple[float, float], equal: bool, trials: int, clips: int, draws: int
) -> tuple[float, float]:
    """Return how often the bootstrap and the randomisation test tell two systems apart."""
    systems = Systems(qualities, metric)
    rng = np.random.default_rng(11)
    found = np.zeros(2)
    with sed.Run(threads=1)._open_engine() as engine:
        for trial in range(trials):
            first, second = systems.sample(rng, clips, [range(2)] if equal else [])
            resampling = sed.Resampling(draws, seed=trial, interval="percentile")
            resamples = Draws(resampling, first.clips)
            difference = differences(
                *(systems.values(deltas, resamples, engine) for deltas in (second, first))
            )
            swapped = swapped_differences(
                {systems.metric.criterion: first},
                {systems.metric.criterion: second},
                systems.metric,
                draw_swaps(resampling, first.clips),
                engine,
            )[:, 0]
            for test, noise in enumerate((difference[1:] - difference[0], swapped)):
                (p,) = step_down([float(difference[0])], [noise].__getitem__)
                found[test] += p.alone <= LEVEL
    bootstrap, randomisation = (found / trials).tolist()
    return bootstrap, randomisation


def holm(p_values: Sequence[float]) -> Values:
    """Correct p values for their number (Holm, 1979)."""
    p = np.array(p_values)
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def many_systems(
    metric: str, qualities: Sequence[float], trials: int, clips: int, draws: int
) -> Iterator[tuple[str, float, float]]:
    """Yield for each correction how often an equal pair is told apart, and the share of others that are."""
    groups = [
        range(qualities.index(quality), qualities.index(quality) + qualities.count(quality))
        for quality in dict.fromkeys(qualities)
    ]
    systems = Systems(qualities, metric)
    pairs = [*combinations(range(len(qualities)), 2)]
    equal = np.array([qualities[a] == qualities[b] for a, b in pairs])
    rng = np.random.default_rng(12)
    errors, power = np.zeros(2), np.zeros(2)
    with sed.Run(threads=1)._open_engine() as engine:
        for trial in range(trials):
            sample = systems.sample(rng, clips, groups)
            resamples = Draws(sed.Resampling(draws, seed=trial, interval="percentile"), sample[0].clips)
            values = [systems.values(deltas, resamples, engine) for deltas in sample]
            gaps = [differences(values[a], values[b]) for a, b in pairs]
            noise = [gap[1:] - gap[0] for gap in gaps]
            p_values = step_down([float(gap[0]) for gap in gaps], noise.__getitem__)
            for k, corrected in enumerate(
                ([p.corrected for p in p_values], holm([p.alone for p in p_values]))
            ):
                told = np.array(corrected) <= LEVEL
                errors[k] += told[equal].any()
                power[k] += told[~equal].mean() if not equal.all() else np.nan
    for k, name in enumerate(("largest difference", "Holm")):
        yield name, errors[k] / trials, power[k] / trials


def coverage(
    metric: str, qualities: Sequence[float], trials: int, clips: int, draws: int
) -> tuple[float, float, float]:
    """Return how often the default and percentile intervals hold the difference of the first two systems, and
    intervals hold the ranks of all."""
    systems = Systems(qualities, metric)
    truths = [systems.metric.measure(deltas.counts()).value for deltas in systems.deltas]
    ranks = [1 + sum(other > truth for other in truths) for truth in truths]
    rng = np.random.default_rng(13)
    held, ranks_held = np.zeros(2), 0
    of_difference = Behaviour.of(systems.metric).difference()
    with sed.Run(threads=1)._open_engine() as engine:
        for trial in range(trials):
            sample = systems.sample(rng, clips)
            resamples = Draws(sed.Resampling(draws, seed=trial), sample[0].clips)
            values = [systems.values(deltas, resamples, engine) for deltas in sample]
            column = differences(values[0], values[1])
            percentile = replace(resamples.resampling, interval="percentile")
            for kind, resampling in enumerate((resamples.resampling, percentile)):
                gap = interval_of(column, resampling, of_difference)
                held[kind] += gap.low <= truths[0] - truths[1] <= gap.high
            measured = [
                MeasuredSystem(str(i), str(i), Interval(float(of[0]), 0.0, 0.0, of[1 : 1 + draws]), {})
                for i, of in enumerate(values)
            ]
            ranked, _ = rank_systems(measured, higher_is_better=True, confidence=0.95)
            ranks_held += sum(
                system.rank_low <= ranks[int(system.name)] <= system.rank_high for system in ranked
            )
    default, percentiles = (held / trials).tolist()
    return default, percentiles, ranks_held / (trials * len(qualities))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--clips", type=int, default=300)
    parser.add_argument("--metrics", nargs="*", default=METRICS)
    parser.add_argument("--tables", nargs="*", default=["two", "many", "coverage"])
    chosen = parser.parse_args(arguments)
    trials, clips = chosen.trials, chosen.clips
    if "two" in chosen.tables:
        print("| metric | equal: bootstrap | randomisation | different: bootstrap | randomisation |")
        print("| --- | --- | --- | --- | --- |")
        for metric in chosen.metrics:
            shares = [
                *two_systems(metric, (0.7, 0.7), True, trials, clips, 499),
                *two_systems(metric, (0.7, 0.73), False, trials // 4, clips, 499),
            ]
            print(f"| {metric} | {' | '.join(f'{share:.1%}' for share in shares)} |", flush=True)
    if "many" in chosen.tables:
        print("\n| systems | resamples | correction | any equal pair | pairs that differ |")
        print("| --- | --- | --- | --- | --- |")
        for qualities in ([0.7] * 8, [0.7] * 4 + [0.74] * 4):
            for draws in (999, 1999):
                rows = many_systems("psds1", qualities, trials // 2, clips, draws)
                for name, error, power in rows:
                    print(f"| {qualities} | {draws} | {name} | {error:.1%} | {power:.1%} |", flush=True)
    if "coverage" in chosen.tables:
        print("\n| metric | intervals of differences | percentile | intervals of ranks |")
        print("| --- | --- | --- | --- |")
        for metric in chosen.metrics:
            held = coverage(metric, [0.6, 0.64, 0.68, 0.7, 0.72, 0.76], trials // 4, clips, 499)
            print(f"| {metric} | {' | '.join(f'{share:.1%}' for share in held)} |", flush=True)


if __name__ == "__main__":
    main()
