"""Resamples: each has the values of a set in which the clips occur as often as they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np

import sedscope as sed

from ...support.passes import find_all_deltas
from ...support.resamples import all_values, measure_resampled
from ..case import Case
from ..drawing import Drawer
from .check import Check, require, require_equal
from .metrics import close


def draw(rng: Random, seed: str) -> Case:
    """A few clips, and two metrics."""
    drawer = Drawer(rng)
    metrics = [drawer.metric(drawer.criterion()) for _ in range(2)]
    clips = drawer.clips(rng.choice([2, 5, 12]))
    definitions = [*dict.fromkeys(map(repr, metrics))]
    return Case("resamples", seed, drawer.dtype, clips, definitions)


def judge(case: Case) -> Mapping[str, int]:
    """Random weights against repeated clips; and the bits of intervals on any number of threads."""
    rng = Random(case.seed)
    weights = np.array([rng.choices(range(4), k=len(case.clips)) for _ in range(9)], np.int32)
    compared = 0
    metrics = [sed.parse_metric(text) for text in case.definitions]
    for metric in metrics:
        found = find_all_deltas(case.scores, case.truth, [metric])
        deltas = found[metric.criterion]
        values, class_values = measure_resampled(deltas, metric, weights, rng.randint(1, 3))
        for row, of_all, of_classes in zip(weights.tolist(), values, class_values, strict=True):
            repeated = [clip for clip, n in zip(case.clips, row, strict=True) for _ in range(n)]
            if not repeated:
                continue
            drawn = replace(case, clips=repeated)
            expected = all_values(
                sed.evaluate(drawn.scores, drawn.truth, metric, run=sed.Run(threads=1))[metric]
            )
            for found, wanted in zip([of_all, *of_classes], expected, strict=True):
                text = f"{metric} {row}: {found!r}, not {wanted!r}"
                require(close(found, wanted), f"resample of {type(metric).__name__}", text)
                compared += 1
    if len(case.clips) > 1:
        one, three = (
            sed.evaluate(case.scores, case.truth, metrics, resampling=12, run=sed.Run(threads=n))
            for n in (1, 3)
        )
        for metric in metrics:
            bits = [result.intervals[metric].values.tobytes() for result in (one, three)]
            require_equal(bits[0], bits[1], "intervals on threads", metric)
    return {"resamples": compared}


CHECKS = (Check("resamples", 4, draw, judge),)
