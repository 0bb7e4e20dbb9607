"""How often intervals hold the value of a population, of which only a small set of clips is evaluated.

``python -m benchmarks.coverage`` prints a table for each number of clips. A population is a large simulated
set or a real one, and its values are the truth. Sets of clips are drawn from it with replacement. Each set is
evaluated and resampled, and the intervals that hold the truth are counted. The deltas of a population are
found once; sets choose clips from them.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.alignment.alignment import Alignment, align
from sedscope.alignment.cuts import cut_into_blocks
from sedscope.criteria import Criterion
from sedscope.engines.engine import Engine
from sedscope.engines.floor_search import find_deltas
from sedscope.metrics import Metric, MetricResult
from sedscope.metrics.metric import delta_requests
from sedscope.metrics.names import as_metric
from sedscope.resampling.draws import Draws
from sedscope.resampling.intervals import Bootstrap
from sedscope.resampling.resampling import INTERVALS
from sedscope.resampling.subsampling import Behaviour

from .sets import real

METRICS = (
    "psds1",
    "psds2",
    "best_collar_f1",
    "best_intersection_f1",
    "best_segment_f1",
    "BestFScore(Collar(), average='micro')",
    "RecallAtFalseAlarms(Collar(), 20)",
    "AveragePrecision(Collar())",
    "segment_map",
    "AUROC(Segment(1.0))",
    "collar_f1",
    "ErrorRate(Segment(1.0))",
    "BestErrorRate(Segment(1.0))",
    "BestDetectionCost(Segment(1.0))",
)
CONFIDENCES = (0.95, 0.8)


@dataclass(frozen=True, eq=False)
class Population:
    """Clips that sets are drawn from."""

    alignment: Alignment
    recordings: NDArray[np.intp]
    """The recording of each clip. Recordings are drawn as a whole."""


Source: TypeAlias = Callable[[], Population | None]
"""Makes a population; None if its data are absent."""


def simulated(
    clips: int = 5000, *, seed: int, quality: float, frame: float = 0.05, **options: Any
) -> Population:
    """Return simulated clips."""
    truth = sed.simulate.ground_truth(clips, seed=seed, **options)
    scores = sed.simulate.scores(truth, frame=frame, quality=quality, seed=seed)
    return Population(align(scores, truth), np.arange(clips))


def in_blocks(seconds: float = 240, block: float = 10) -> Population:
    """Return blocks of simulated recordings."""
    whole = simulated(200, seed=5, quality=0.7, seconds=seconds).alignment
    alignment = cut_into_blocks(whole, block)
    recording = {clip: number for number, clip in enumerate(whole.clips)}
    return Population(
        alignment, np.array([recording[clip.split(" at ")[0]] for clip in alignment.clips])
    )


def desed() -> Population | None:
    """Return the validation set of DESED with the detections of a baseline."""
    system = real()
    if system is None:
        return None
    alignment = align(*system)
    return Population(alignment, np.arange(len(alignment.clips)))


POPULATIONS: dict[str, Source] = {
    "good": partial(simulated, seed=1, quality=0.7),
    "good, fine frames": partial(simulated, 2500, seed=1, quality=0.7, frame=0.02),
    "poor": partial(simulated, seed=2, quality=0.35),
    "3 classes": partial(simulated, seed=3, quality=0.8, classes=3),
    "25 classes": partial(simulated, seed=4, quality=0.6, classes=25),
    "recordings in blocks": in_blocks,
    "DESED baseline": desed,
}


@dataclass(frozen=True)
class Coverage:
    """How intervals of sets from one population do."""

    population: str
    clips: int
    metric: str
    interval: str
    confidence: float
    sets: int
    """With a value and an interval."""
    held: float
    """The share of the sets whose interval holds the truth."""
    below: float
    """The share whose interval lies above the truth, which is below it."""
    above: float
    of_classes: float
    """As ``held``, for the classes alone, over all of them."""
    width: float
    """The mean width."""
    truth: float
    bias: float
    """The mean value of the sets, minus the truth."""
    deviation: float
    """The standard deviation of the values of the sets."""


def drawn(deltas: sed.Deltas, recordings: NDArray[np.intp], clips: int, seed: int) -> sed.Deltas:
    """Return the deltas of recordings with about this many clips. One that is drawn twice is two."""
    number = int(recordings.max()) + 1
    size = max(2, round(clips * number / len(recordings)))
    numbers = np.random.default_rng([seed, clips]).integers(number, size=size)
    times = np.bincount(numbers, minlength=number)[recordings]
    first, *others = (
        replace(part, clips=tuple(f"{clip} ({time})" for clip in part.clips))
        for time in range(int(times.max()))
        for part in [deltas.of_clips(times > time)]
    )
    return first.merge(*others)


def intervals_of(
    deltas: sed.Deltas, metric: Metric[Any], resampling: sed.Resampling
) -> Iterator[tuple[float, Bootstrap]]:
    """Yield the interval of each confidence, from the same resamples."""
    draws = Draws(resampling, deltas.clips)
    of_parts: dict[Criterion, sed.Deltas] = dict.fromkeys(
        [part.criterion for part in metric.parts], deltas
    )
    values = draws.measure(of_parts, metric, Engine(1))
    for confidence in CONFIDENCES:
        draws.resampling = replace(draws.resampling, confidence=confidence)
        yield confidence, draws.summary(deltas.classes, values, Behaviour.of(metric))


@dataclass(frozen=True)
class Study:
    """How each population is studied."""

    clips: Sequence[int]
    sets: int
    resamples: int
    intervals: Sequence[str]
    first: int = 0
    """The seed of the first set."""

    def metrics(self, name: str, metrics: Sequence[str]) -> Iterator[Coverage]:
        """Study metrics in a population, one after the other."""
        population = POPULATIONS[name]()
        if population is None:
            print(f"{name}: left out, because the data are absent", file=sys.stderr)
            return
        for text in metrics:
            start = time.perf_counter()
            metric = as_metric(text)
            requests = delta_requests([metric])
            every = {criterion: request.at_every_threshold() for criterion, request in requests.items()}
            (deltas,) = find_deltas(population.alignment, every, Engine(1)).values()
            for clips in self.clips:
                yield from self._sets(deltas, metric, population.recordings, (name, clips, text))
            print(f"{name}, {text}: {time.perf_counter() - start:.0f} s", file=sys.stderr)

    def _sets(
        self,
        deltas: sed.Deltas,
        metric: Metric[Any],
        recordings: NDArray[np.intp],
        name: tuple[str, int, str],
    ) -> Iterator[Coverage]:
        results: dict[tuple[str, float], list[Bootstrap]] = {}
        for number in range(self.first, self.first + self.sets):
            part = drawn(deltas, recordings, name[1], number)
            for interval in self.intervals:
                resampling = sed.Resampling(self.resamples, seed=number, interval=interval)
                for confidence, bootstrap in intervals_of(part, metric, resampling):
                    results.setdefault((interval, confidence), []).append(bootstrap)
        truth = metric.measure(deltas.counts())
        for kind, bootstraps in results.items():
            yield _coverage((*name, *kind), truth, bootstraps)


def _coverage(
    name: tuple[str, int, str, str, float], truth: MetricResult, bootstraps: Sequence[Bootstrap]
) -> Coverage:
    """``name``: population, number of clips, metric, interval, and confidence."""
    rows = np.array([(each.value, each.low, each.high) for each in bootstraps])
    value, low, high = rows[np.isfinite(rows).all(axis=1)].T
    of_classes = [
        interval.low <= truth.per_class[label].value <= interval.high
        for each in bootstraps
        for label, interval in each.per_class.items()
        if np.isfinite(interval.low) and np.isfinite(truth.per_class[label].value)
    ]
    below, above = float(np.mean(low > truth.value)), float(np.mean(high < truth.value))
    return Coverage(
        *name,
        sets=len(value),
        held=1 - below - above,
        below=below,
        above=above,
        of_classes=float(np.mean(of_classes)),
        width=float(np.mean(high - low)),
        truth=truth.value,
        bias=float(np.mean(value) - truth.value),
        deviation=float(np.std(value, ddof=1)),
    )


def table(results: Sequence[Coverage], clips: int) -> list[str]:
    """Return a Markdown table of sets of some size: a row per metric and interval, over all populations."""
    names = ["metric", "interval", "95 %", "worst", "truth below", "above", "classes", "80 %", "worst"]
    lines = ["| " + " | ".join([*names, "width", "bias"]) + " |", "|---|---|" + "---:|" * 9]
    rows = [row for row in results if row.clips == clips]
    for metric, interval in dict.fromkeys((row.metric, row.interval) for row in rows):
        part = [row for row in rows if (row.metric, row.interval) == (metric, interval)]
        wide, narrow = ([row for row in part if row.confidence == level] for level in CONFIDENCES)
        shares = [
            _mean(row.held for row in wide),
            min(row.held for row in wide),
            _mean(row.below for row in wide),
            _mean(row.above for row in wide),
            _mean(row.of_classes for row in wide),
            _mean(row.held for row in narrow),
            min(row.held for row in narrow),
        ]
        cells = [f"`{metric}`", interval, *(f"{100 * share:.1f}" for share in shares)]
        cells += [f"{_mean(row.width for row in wide):.3f}", f"{_mean(row.bias for row in wide):+.4f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--populations", nargs="+", choices=POPULATIONS, default=[*POPULATIONS])
    parser.add_argument("--metrics", nargs="+", default=METRICS)
    parser.add_argument("--clips", nargs="+", type=int, default=[100, 300, 1000])
    parser.add_argument("--sets", type=int, default=60, help="how many are drawn from each population")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first set")
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--intervals", nargs="+", choices=INTERVALS, default=INTERVALS)
    parser.add_argument(
        "--csv", type=Path, help="a file with a row per population, clips, metric and kind"
    )
    options = parser.parse_args(arguments)
    study = Study(options.clips, options.sets, options.resamples, options.intervals, options.first)
    results = [row for name in options.populations for row in study.metrics(name, options.metrics)]
    if options.csv:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([field.name for field in fields(Coverage)])
            writer.writerows(map(astuple, results))
    for clips in options.clips:
        print(f"\nSets of {clips} clips, {options.sets} of each population:\n")
        print("\n".join(table(results, clips)))


if __name__ == "__main__":
    main()
