"""Thresholds that a metric reports: the system, really thresholded there, has the value that it reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import takewhile
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import sedscope as sed
from sedscope.criteria import parse_criterion

from ..case import Case
from ..drawing import Drawer
from .check import Check, require, require_equal, same_number
from .metrics import (
    HOUR,
    OperatingPoint,
    Table,
    error_rate,
    fscore,
    limits_met_exactly,
    precision,
    tables,
)


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
    if isinstance(metric, (sed.MissRate, sed.MissRateAtFalseAlarms)):
        return sed.MissRate(criterion, threshold, average)
    if isinstance(metric, (sed.Specificity, sed.BalancedAccuracy, sed.FalseAlarmRate)):
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
    result = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))
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
            again = sed.evaluate(system, case.truth, fixed, run=sed.Run(threads=1))[fixed]
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


def draw_choice(rng: Random, seed: str) -> Case:
    """Some clips, a criterion, an objective, and a constraint that may be met exactly."""
    drawer = Drawer(rng)
    drawer.most_frames = min(drawer.most_frames, 12)
    criterion = drawer.criterion()
    while not criterion.thresholds_frames:
        criterion = drawer.criterion()
    clips = drawer.clips(rng.choice([1, 5, 20]))
    options: dict[str, Any] = {"objective": rng.choice(["fscore", "error_rate", "precision", "recall"])}
    constraint = rng.choice(["none", "min_precision", "min_recall", "max_false_alarms"])
    case = Case("choices", seed, drawer.dtype, clips, [repr(criterion)], options)
    if constraint in ("min_precision", "min_recall"):
        options[constraint] = rng.choice([0.25, 0.5, 1.0])
    elif constraint != "none":
        options[constraint] = rng.choice(limits_met_exactly(case, criterion))
        if options[constraint] and rng.random() < 0.5:
            options["confidence"] = rng.choice([0.5, 0.75, 0.95])
    return case


def judge_choice(case: Case) -> Mapping[str, int]:
    """The chosen thresholds, saved and loaded, give the best of the points that meet the constraint."""
    criterion = parse_criterion(case.definitions[0])
    objective = case.options["objective"]
    constraints = {name: value for name, value in case.options.items() if name != "objective"}
    counts = sed.deltas(case.scores, case.truth, criterion, run=sed.Run(threads=1)).counts(threads=1)
    chosen = sed.choose(counts, objective, **constraints)
    with TemporaryDirectory() as folder:
        chosen.save(Path(folder, "points.toml"))
        loaded = sed.OperatingPoints.load(Path(folder, "points.toml"))
    require_equal(dict(loaded.thresholds), dict(chosen.thresholds), "thresholds in a file")
    system = sed.Scores.from_events(loaded.detect(case.scores), classes=case.classes, clips=case.names)
    detected = sed.deltas(system, case.truth, criterion, run=sed.Run(threads=1)).counts(threads=1)
    for label, table in zip(case.classes, tables(case, criterion)[0], strict=True):
        if not table.references:
            require_equal(label in chosen.thresholds, False, "threshold without references", label)
            continue
        met = [point for point in table.points if _meets(point, table, constraints)]
        if "confidence" in constraints:  # tested from high to low thresholds, up to the first that fails
            met = [*takewhile(partial(_meets, table=table, needs=constraints), table.points)]
        in_clips = {name: value for name, value in constraints.items() if name != "confidence"}
        second_best = [point for point in table.points if _meets(point, table, in_clips)]
        require_equal(label in chosen.unmet, not met, "unmet constraint", (label, constraints))
        tally = detected[label].tally_at(0.5)
        got = OperatingPoint(0.0, int(tally.tp), int(tally.fp))
        if met:
            require_equal(_meets(got, table, constraints), True, "constraint", (label, got, constraints))
        candidates = met or ("confidence" in constraints and second_best) or table.points
        best = max(_goodness(point, table, objective) for point in candidates)
        require_equal(_goodness(got, table, objective), best, f"choice by {objective}", label)
    return {"choices": len(chosen.thresholds)}


def _meets(point: OperatingPoint, table: Table, needs: Mapping[str, float]) -> bool:
    """Whether an operating point meets all constraints, in exact arithmetic."""
    limit = Fraction(needs.get("max_false_alarms", 10**30))
    return (
        precision(point) >= Fraction(needs.get("min_precision", 0))
        and Fraction(point.tp, table.references) >= Fraction(needs.get("min_recall", 0))
        and Fraction(point.fp * HOUR, table.ticks) <= limit
        and (
            "confidence" not in needs
            or _at_most(point.fp, limit * table.ticks / HOUR) <= 1 - Decimal(needs["confidence"])
        )
    )


def _at_most(number: int, mean: Fraction) -> Decimal:
    """The probability of at most so many events where ``mean`` are expected, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        expected = Decimal(mean.numerator) / Decimal(mean.denominator)
        terms = (expected**i / math.factorial(i) if i else Decimal(1) for i in range(number + 1))
        return sum(terms, Decimal(0)) * (-expected).exp()


def _goodness(point: OperatingPoint, table: Table, objective: str) -> Fraction:
    """What should be largest."""
    if objective == "fscore":
        return fscore(point, table.references, 1)
    if objective == "error_rate":
        return -error_rate(point, table.references, substitutions=False)
    return precision(point) if objective == "precision" else Fraction(point.tp, table.references)


CHECKS = (Check("operating_points", 8, draw, judge), Check("choices", 3, draw_choice, judge_choice))
