"""Thresholds that a metric reports: the system, really thresholded there, has the value that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import sedscope as sed

from ..case import Case
from ..drawing import Drawer
from .check import Check, require, require_equal, same_number


def at_a_threshold(metric: Any, threshold: float) -> Any:
    """The metric that measures at one threshold what a metric measures at the best."""
    criterion, average = metric.criterion, metric.average
    average = "micro" if average == "micro_tuned" else average
    if isinstance(metric, (sed.BestFScore, sed.FScore)):
        return sed.FScore(criterion, threshold, metric.beta, average)
    if isinstance(metric, (sed.BestErrorRate, sed.ErrorRate)):
        return sed.ErrorRate(criterion, threshold, average)
    if isinstance(metric, (sed.PrecisionAtRecall, sed.Precision)):
        return sed.Precision(criterion, threshold, average)
    if isinstance(metric, (sed.Specificity, sed.BalancedAccuracy)):
        return type(metric)(criterion, threshold, average)
    return sed.Recall(criterion, threshold, average)


def draw(rng: Random, seed: str) -> Case:
    """Some clips, and metrics that choose thresholds."""
    drawer = Drawer(rng)
    drawer.most_frames = min(drawer.most_frames, 12)
    metrics: dict[str, None] = {}
    while len(metrics) < 3:
        metric = drawer.metric(drawer.criterion())
        if getattr(metric, "has_thresholds", False) and metric.criterion.thresholds_frames:
            metrics[repr(metric)] = None
    clips = drawer.clips(rng.choice([1, 5, 20, 60]))
    return Case("operating_points", seed, drawer.dtype, clips, [*metrics])


def judge(case: Case) -> Mapping[str, int]:
    """Detect at the thresholds of each metric, and evaluate what is detected."""
    metrics: list[Any] = [sed.parse_metric(text) for text in case.definitions]
    result = sed.evaluate(case.scores, case.truth, metrics, threads=1)
    compared = 0
    for metric in metrics:
        measured = result[metric]
        pooled = metric.average == "micro"
        chosen: Any = measured.thresholds
        if pooled:
            all_classes = measured.pooled()
            if all_classes.threshold is None:  # no references, or nothing meets the constraint
                continue
            chosen = dict.fromkeys(case.classes, all_classes.threshold)
        detected = sed.detect(case.scores, chosen)
        systems = {
            "detect": sed.Scores.from_events(detected, classes=case.classes, clips=case.names),
            "at_thresholds": sed.at_thresholds(case.scores, chosen),
        }
        fixed = at_a_threshold(metric, 0.5)
        for way, system in systems.items():
            again = sed.evaluate(system, case.truth, fixed, threads=1)[fixed]
            if pooled or metric.average == "micro_tuned":
                got, wanted = again.average("micro"), measured.value
                if metric.average != "micro_tuned" or len(chosen) == len(case.classes):
                    require(
                        same_number(got, wanted), f"value by {way}", f"{metric}: {got}, not {wanted}"
                    )
                    compared += 1
                if pooled:
                    continue
            for label in chosen:
                got = again.per_class[label].value
                wanted = measured.per_class[label].value
                text = f"{metric} {label} at {chosen[label]!r}: {got!r}, not {wanted!r}"
                require(same_number(got, wanted), f"value by {way}", text)
                found, tally = again.per_class[label].tally, measured.per_class[label].tally
                require_equal((found.tp, found.fp), (tally.tp, tally.fp), f"counts by {way}", text)
                compared += 1
    return {"operating points": compared}


CHECKS = (Check("operating_points", 8, draw, judge),)
