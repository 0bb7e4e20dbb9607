"""How much too good metrics are that choose thresholds, and how well held-out clips say so.

``python -m benchmarks.optimism``: sets of clips are drawn from a population. The value of each set, and the
value to expect on new clips, are held against the value of the population at the thresholds of the set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.counting.deltas import Deltas
from sedscope.metrics import Metric
from sedscope.resampling.held_out import FOLDS, fold_masks, held_out_result

CHOSEN: dict[str, Metric[Any]] = {
    "best collar F1": sed.BestFScore(sed.Collar()),
    "best intersection F1": sed.BestFScore(sed.Intersection(0.5, 0.5)),
    "best segment F1": sed.BestFScore(sed.Segment(1.0)),
    "best segment error rate": sed.BestErrorRate(sed.Segment(1.0)),
}
SYSTEMS = {"good": (0.8, 10), "poor": (0.4, 10), "25 classes": (0.6, 25)}
"""The quality of each simulated system, and its number of classes."""


def populations(clips: int) -> Iterator[tuple[str, sed.Scores, sed.GroundTruth]]:
    """Yield simulated populations."""
    for number, (name, (quality, classes)) in enumerate(SYSTEMS.items()):
        truth = sed.simulate.ground_truth(clips, classes=classes, seed=number)
        yield name, sed.simulate.scores(truth, quality=quality, seed=100 + number), truth


def errors_of(deltas: Deltas, metric: Metric[Any], clips: int, sets: int) -> np.ndarray[Any, Any]:
    """Return, per set, by how much its value and the value to expect exceed that of its thresholds."""
    population, rng = deltas.counts(), np.random.default_rng(1)
    errors = []
    for number in range(sets):
        drawn = deltas.of_clips(rng.permutation(len(deltas.clips)) < clips)
        result = metric.measure(drawn.counts())
        tallies = {
            label: population[label].tally_at(result.thresholds.get(label, np.inf))
            for label in deltas.classes
        }
        true = metric.of_tallies(tallies, population).value
        inside = fold_masks(np.arange(clips), FOLDS, number)
        expected = held_out_result(metric, [drawn] * FOLDS, inside, 1).value
        errors.append((result.value - true, expected - true))
    return np.array(errors)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--population", type=int, default=3000)
    parser.add_argument("--clips", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--sets", type=int, default=60)
    options = parser.parse_args()
    print("| system | metric | clips | too good by | on held-out clips | share |")
    print("|---|---|---:|---:|---:|---:|")
    for name, scores, truth in populations(options.population):
        for title, metric in CHOSEN.items():
            deltas = sed.deltas(scores, truth, metric.criterion)
            for clips in options.clips:
                own, held_out = errors_of(deltas, metric, clips, options.sets).mean(axis=0)
                share = abs(held_out / own)
                print(
                    f"| {name} | {title} | {clips} | {own:+.4f} | {held_out:+.4f} | {share:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
