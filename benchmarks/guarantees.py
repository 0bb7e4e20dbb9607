"""How often promises are broken: thresholds from a fifth of the DESED validation clips, judged on the others.

``python -m benchmarks.guarantees [DRAWS]`` prints a table. The data are those of the tests. Another table is
about simulated clips, of which fewer and fewer hold most of the false alarms.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.counting.deltas import Deltas
from tests.support.real_data import desed_scores, desed_truth

PROMISES: dict[str, dict[str, Any]] = {
    "at most 40 false alarms/h": {"objective": "recall", "max_false_alarms": 40},
    "precision >= 0.5": {"objective": "recall", "min_precision": 0.5},
    "recall >= 0.3": {"objective": "precision", "min_recall": 0.3},
    "precision >= 0.4, at most 80/h": {
        "objective": "recall",
        "min_precision": 0.4,
        "max_false_alarms": 80,
    },
    "at most 300/h together": {"max_false_alarms": 300, "total": True},
}


def broken(
    thresholds: Mapping[str, float], counts: sed.Counts, promise: Mapping[str, Any]
) -> list[bool]:
    """Return which promises of some classes are broken on other clips."""
    tallies = [counts[label].tally_at(threshold) for label, threshold in thresholds.items()]
    limit = promise.get("max_false_alarms", np.inf) * counts.hours
    if promise.get("total"):
        return [sum(tally.fp for tally in tallies) > limit] if tallies else []
    return [
        bool(
            tally.precision < promise.get("min_precision", 0)
            or tally.recall < promise.get("min_recall", 0)
            or tally.fp > limit
        )
        for tally in tallies
    ]


def study(deltas: Deltas, draws: int, seed: int = 0) -> list[str]:
    """Return a line per promise: how often it is made and broken, and what it costs."""
    rng = np.random.default_rng(seed)
    results: dict[str, list[tuple[float, ...]]] = {name: [] for name in PROMISES}
    for _ in range(draws):
        drawn = rng.permutation(len(deltas.clips)) < len(deltas.clips) // 5
        part, rest = deltas.of_clips(drawn), deltas.of_clips(~drawn).counts()
        for name, promise in PROMISES.items():
            unguarded = sed.choose(part, **promise)
            sure = sed.choose(part, **promise, confidence=0.95)
            unsure = broken(unguarded.thresholds, rest, promise)
            labels = [label for label in sure.thresholds if label not in sure.unmet]
            kept = broken({label: sure.thresholds[label] for label in labels}, rest, promise)
            recalls = [
                sum(rest[label].tally_at(points.thresholds[label]).recall for label in labels)
                for points in (unguarded, sure)
            ]
            results[name].append((len(unsure), sum(unsure), len(kept), sum(kept), len(labels), *recalls))
    lines = ["promise; broken unguarded; made; broken; recall unguarded; recall of the same classes"]
    for name, rows in results.items():
        choices, wrong, made, wrong_made, classes, recall, sure_recall = np.sum(rows, axis=0)
        lines.append(
            f"{name}; {wrong / choices:.1%}; {made / choices:.0%}; {wrong_made / max(made, 1):.1%}; "
            f"{recall / max(classes, 1):.3f}; {sure_recall / max(classes, 1):.3f}"
        )
    return lines


def broken_with_bursts(clips: int, shape: float, draws: int) -> float:
    """Return the share of promises that are broken where few clips hold most of the false alarms.

    A clip has a minute and 1 false alarm on average. How many are expected in it has a gamma distribution
    of this shape. All scores are uniform, so a share of 1 - θ of the false alarms lies above a threshold θ.
    """
    rng, allowed, wrong = np.random.default_rng(0), 0.3, 0
    for _ in range(draws):
        events = {f"{i}": [(59.0, 59.5, "A")] for i in range(clips)}
        detected: dict[str, list[tuple[float, float, str, float]]] = {}
        for clip, number in zip(events, rng.poisson(rng.gamma(shape, 1 / shape, clips)), strict=True):
            times = [*np.linspace(0, 58, number, endpoint=False).tolist(), 59.0]
            detected[clip] = [(time, time + 0.01, "A", float(rng.random())) for time in times]
        truth = sed.GroundTruth.from_dict(events, durations=dict.fromkeys(events, 60.0))
        deltas = sed.deltas(sed.Scores.from_events(detected), truth, sed.Alarm(cooldown=0))
        points = sed.choose(deltas, "recall", max_false_alarms=60 * allowed, confidence=0.95)
        wrong += 1 - min(points.thresholds["A"], 1.0) > allowed
    return wrong / draws


if __name__ == "__main__":
    data = Path(os.environ.get("SEDSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    of_baseline = sed.deltas(desed_scores(data), desed_truth(data), sed.IoU(0.1))
    print("\n".join(study(of_baseline, int(sys.argv[1]) if len(sys.argv) > 1 else 1000)))
    for number, few in ((200, 1), (200, 0.1), (200, 0.03), (50, 1), (50, 0.1), (50, 0.03)):
        share = broken_with_bursts(number, few, 500)
        print(f"{number} clips, gamma distribution of shape {few}: {share:.1%} broken")
