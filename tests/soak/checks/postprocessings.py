"""Post-processings of each clip, against their definitions at every microsecond and threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

import sedscope as sed
from sedscope.postprocessing import (
    EventBoxes,
    Hysteresis,
    MaximumGap,
    MedianFilter,
    MinimumDuration,
    MovingAverage,
    parse_postprocessing,
)

from ...support.oracle import postprocessing as oracle
from ...support.oracle import ticks
from ..case import Case
from ..drawing import INF, Drawer
from .check import Check, require, require_equal


def draw(rng: Random, seed: str) -> Case:
    """Clips of a few microseconds, and one post-processing."""
    drawer = Drawer(rng, scale="tiny")
    drawer.most_frames = min(drawer.most_frames, 12)
    window = rng.randint(1, 30) / 1e6
    chosen: list[Any] = [
        MedianFilter(window),
        MovingAverage(window),
        MinimumDuration(window),
        MaximumGap(window),
        Hysteresis(difference=rng.choice([0.0, 0.1, 0.25, 1.0])),
        Hysteresis(ratio=rng.choice([0.25, 0.5, 1.0])),
        EventBoxes(window, rng.choice([None, 0.25, 0.5]), rng.choice([None, 1.5, 2.0])),
    ]
    postprocessing = rng.choice(chosen)
    if isinstance(postprocessing, EventBoxes) or getattr(postprocessing, "ratio", None):
        # no negative scores, and for boxes none that are infinite
        drawer.levels = [level for level in drawer.levels if level >= 0] or [0.5]
    clips = drawer.clips(20)
    return Case("postprocessings", seed, drawer.dtype, clips, [repr(postprocessing)])


def judge(case: Case) -> Mapping[str, int]:
    """Each class of each clip alone."""
    postprocessing: Any = parse_postprocessing(case.definitions[0])
    name = type(postprocessing).__name__
    for clip in case.clips:
        for scores in clip.scores:
            values = np.array(scores, case.dtype)[:, None]
            made = sed.ClipScores.from_ticks(values, np.array(clip.edges, np.int64))
            processed = postprocessing.process(made, ["a"])
            got = (processed.values[:, 0].tolist(), processed.ticks.tolist())
            where = f"{scores} {list(clip.edges)}"
            if isinstance(postprocessing, MovingAverage):
                window = ticks(postprocessing.seconds)
                wanted = oracle.moving_average(scores, clip.edges, window)
                close = all(
                    a == b or math.isclose(a, b, rel_tol=1e-15, abs_tol=1e-29)
                    for a, b in zip(got[0], wanted, strict=True)
                )
                require(close, name, f"{got[0]} instead of {wanted}: {where}")
            elif isinstance(postprocessing, EventBoxes):
                _judge_boxes(postprocessing, got, scores, clip.edges)
            else:
                lifted = _lifted(postprocessing, scores)
                for threshold in oracle.thresholds(scores, lifted, got[0]):
                    wanted_runs = _runs(postprocessing, scores, lifted, clip.edges, threshold)
                    require_equal(
                        oracle.runs(got[0], got[1], threshold), wanted_runs, name, (threshold, where)
                    )
    return {"clips": len(case.clips), name: len(case.clips)}


def _lifted(postprocessing: Any, scores: Any) -> list[float]:
    """The scores that hysteresis compares with the threshold after an onset."""
    if not isinstance(postprocessing, Hysteresis):
        return []
    if postprocessing.ratio is not None:
        return [score / postprocessing.ratio for score in scores]
    return [score + (postprocessing.difference or 0) for score in scores]


def _runs(
    postprocessing: Any, scores: Any, lifted: list[float], edges: Any, threshold: float
) -> oracle.Runs:
    if isinstance(postprocessing, Hysteresis):
        return oracle.hysteresis(scores, lifted, edges, threshold)
    if isinstance(postprocessing, MedianFilter):
        return oracle.median(scores, edges, ticks(postprocessing.seconds), threshold)
    active = oracle.runs(scores, edges, threshold)
    if isinstance(postprocessing, MinimumDuration):
        return oracle.minimum_duration(active, ticks(postprocessing.seconds))
    return oracle.maximum_gap(active, ticks(postprocessing.seconds))


def _judge_boxes(postprocessing: Any, got: Any, scores: Any, edges: Any) -> None:
    window = ticks(postprocessing.step)
    wanted = oracle.event_boxes(scores, edges, window, postprocessing.absolute, postprocessing.relative)
    where = f"{scores} {list(edges)}"
    require_equal(oracle.runs(got[0], got[1], -INF), [box[:2] for box in wanted], "boxes", where)
    confidences = dict(zip(got[1][:-1], got[0], strict=True))
    for onset, _, confidence in wanted:
        found = confidences[onset]
        close = math.isclose(found, confidence, rel_tol=1e-15, abs_tol=1e-29)
        require(close, "confidence of a box", f"{found!r}, not {confidence!r}: {where}")


CHECKS = (Check("postprocessings", 4, draw, judge),)
