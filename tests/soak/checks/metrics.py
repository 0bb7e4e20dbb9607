"""Values of metrics, from the counts of the brute force by the definition of each metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from statistics import NormalDist
from typing import Any

import sedscope as sed
from sedscope.criteria import Criterion

from ...support.oracle import psds as psds_oracle
from .. import brute_force
from ..case import Case
from ..drawing import Drawer
from .check import Check, kind_of, require

NAN = float("nan")
HOUR = 3_600_000_000


@dataclass(frozen=True)
class OperatingPoint:
    """Counts where frames with at least this score are active."""

    score: float
    tp: int
    fp: int
    pairs: int | None = None


@dataclass(frozen=True)
class Table:
    """All operating points of a class, or of all classes, by decreasing score; first nothing is detected."""

    points: Sequence[OperatingPoint]
    references: int
    negatives: int | None
    ticks: int
    """The duration of all clips."""

    def at(self, threshold: float) -> OperatingPoint:
        """The point where frames above the threshold are active."""
        return [point for point in self.points if point.score > threshold][-1]


def tables(case: Case, criterion: Criterion) -> tuple[list[Table], Table]:
    """The operating points of each class, and of all classes at a common threshold."""
    counted = [brute_force.count(clip, criterion) for clip in case.clips]
    ticks = sum(clip.duration for clip in case.clips)
    of_clips = [of_clip.trials[0] for of_clip in counted if of_clip.trials is not None]
    trials = sum(of_clips) if of_clips else None
    changes: list[dict[float, tuple[int, int, int]]] = []
    for c in range(len(case.classes)):
        of_class: dict[float, tuple[int, int, int]] = {}
        for of_clip in counted:
            for score, (tp, fp) in brute_force.changes(of_clip.points[c]).items():
                before = of_class.get(score, (0, 0, 0))
                of_class[score] = (before[0] + tp, before[1] + fp, 0)
        changes.append(of_class)
    together: dict[float, tuple[int, int, int]] = {}
    pairs: dict[float, tuple[int, int, int]] = {}
    if criterion.defines_substitutions:
        for clip in case.clips:
            earlier = 0
            for score, number in brute_force.pairs_of_any_label(clip, criterion):
                pairs[score] = (0, 0, pairs.get(score, (0, 0, 0))[2] + number - earlier)
                earlier = number
    for part in (*changes, pairs):
        for score, change in part.items():
            old = together.get(score, (0, 0, 0))
            together[score] = (old[0] + change[0], old[1] + change[1], old[2] + change[2])
    references = [sum(of_clip.references[c] for of_clip in counted) for c in range(len(changes))]
    of_classes = [
        Table(_points(of_class), n, None if trials is None else trials - n, ticks)
        for of_class, n in zip(changes, references, strict=True)
    ]
    all_references = sum(references)
    negatives = None if trials is None else trials * len(changes) - all_references
    return of_classes, Table(_points(together), all_references, negatives, ticks)


def _points(changes: Mapping[float, tuple[int, int, int]]) -> list[OperatingPoint]:
    points = [OperatingPoint(math.inf, 0, 0, 0)]
    for score in sorted(changes, reverse=True):
        tp, fp, pairs = changes[score]
        last = points[-1]
        points.append(OperatingPoint(score, last.tp + tp, last.fp + fp, (last.pairs or 0) + pairs))
    return points


def precision(point: OperatingPoint) -> Fraction:
    """1 without detections."""
    return Fraction(point.tp, point.tp + point.fp) if point.tp + point.fp else Fraction(1)


def fscore(point: OperatingPoint, references: int, beta: float) -> Fraction:
    """The weighted harmonic mean of precision and recall."""
    weight = Fraction(beta) ** 2
    whole = (1 + weight) * point.tp + weight * (references - point.tp) + point.fp
    return (1 + weight) * point.tp / whole if whole else Fraction(0)


def error_rate(point: OperatingPoint, references: int, *, substitutions: bool) -> Fraction:
    """Errors per reference; a substitution is one error instead of two."""
    replaced = (point.pairs or 0) - point.tp if substitutions else 0
    return Fraction(references - point.tp + point.fp - replaced, references)


def average_precision(table: Table) -> Fraction:
    """The best precision of each recall, times the step of recall up to it."""
    best: dict[int, Fraction] = {}
    for point in table.points:
        best[point.tp] = max(best.get(point.tp, Fraction(0)), precision(point))
    return sum(
        (best[tp] * Fraction(tp - before, table.references) for before, tp in pairwise(sorted(best))),
        Fraction(0),
    )


def roc_area(table: Table, end: Fraction) -> Fraction | None:
    """Under straight lines between operating points, up to a false positive rate."""
    if not table.negatives:
        return None
    area = Fraction(0)
    for left, right in pairwise(table.points):
        x0, x1 = (Fraction(point.fp, table.negatives) for point in (left, right))
        y0, y1 = (Fraction(point.tp, table.references) for point in (left, right))
        if x0 < end and x1 > x0:
            x = min(x1, end)
            y = y0 + (y1 - y0) * (x - x0) / (x1 - x0)
            area += (x - x0) * (y0 + y) / 2
    if Fraction(table.points[-1].fp, table.negatives) < end:
        # segments without frames are never active
        return None
    return area


def auroc(metric: sed.AUROC | sed.DPrime, table: Table) -> float | None:
    """The area as the metric defines it; None if the curve ends early."""
    limit = metric.max_fpr if isinstance(metric, sed.AUROC) else None
    if not table.negatives:
        return NAN
    end = Fraction(1 if limit is None else limit)
    area = roc_area(table, end)
    if area is None:
        return None
    if isinstance(metric, sed.AUROC) and metric.mcclish:
        chance = end * end / 2
        return float((1 + (area - chance) / (end - chance)) / 2)
    return float(area / end)


def d_prime(area: float) -> float:
    """From the area under the ROC."""
    if not 0 < area < 1:
        return math.inf if area == 1 else -math.inf if area == 0 else NAN
    return math.sqrt(2) * NormalDist().inv_cdf(area)


def _rates(metric: Any, table: Table, point: OperatingPoint, pooled: bool) -> float | None:
    """What metrics at one threshold are; None if not checked."""
    n = table.references
    recall = Fraction(point.tp, n)
    if isinstance(metric, sed.FScore):
        return float(fscore(point, n, metric.beta))
    if isinstance(metric, sed.ErrorRate):
        return float(error_rate(point, n, substitutions=pooled))
    if isinstance(metric, sed.Precision):
        return float(precision(point)) if point.tp + point.fp else None
    if isinstance(metric, sed.Recall):
        return float(recall)
    if isinstance(metric, sed.MissRate):
        return float(1 - recall)
    if table.negatives == 0:
        return NAN
    assert table.negatives is not None
    specificity = 1 - Fraction(point.fp, table.negatives)
    if isinstance(metric, sed.Specificity):
        return float(specificity)
    return float((recall + specificity) / 2)


def of_class(metric: Any, table: Table, *, pooled: bool = False) -> float | None:
    """The value of a metric of a class, or of all classes; None if it is not checked."""
    n, points = table.references, table.points
    if isinstance(metric, sed.FalseAlarmRate):
        assert not isinstance(metric.threshold, str)
        return float(Fraction(table.at(metric.threshold).fp * HOUR, table.ticks))
    if not n:
        return NAN
    if isinstance(metric, sed.BestFScore):
        return float(max(fscore(point, n, metric.beta) for point in points))
    if isinstance(metric, sed.BestErrorRate):
        return float(min(error_rate(point, n, substitutions=pooled) for point in points))
    if isinstance(metric, sed.AveragePrecision):
        return float(average_precision(table))
    if isinstance(metric, (sed.AUROC, sed.DPrime)):
        area = auroc(metric, table)
        return area if isinstance(metric, sed.AUROC) or area is None else d_prime(area)
    if isinstance(metric, sed.MissRateAtFalseAlarms):
        same = sed.RecallAtFalseAlarms(metric.criterion, metric.false_alarms, metric.per)
        found = of_class(same, table)
        assert found is not None
        return float(1 - Fraction(round(found * n), n))
    constrained: dict[type, Callable[[OperatingPoint], tuple[bool, Fraction]]] = {
        sed.PrecisionAtRecall: lambda p: (Fraction(p.tp, n) >= Fraction(metric.recall), precision(p)),
        sed.RecallAtPrecision: lambda p: (precision(p) >= Fraction(metric.precision), Fraction(p.tp, n)),
        sed.RecallAtFalseAlarms: lambda p: (
            Fraction(p.fp * HOUR, table.ticks)
            <= Fraction(metric.false_alarms) / (24 if metric.per == "day" else 1),
            Fraction(p.tp, n),
        ),
    }
    if type(metric) in constrained:
        judged = [constrained[type(metric)](point) for point in points]
        return float(max((value for meets, value in judged if meets), default=Fraction(0)))
    return _rates(metric, table, table.at(metric.threshold), pooled)


def expected_psds(metric: sed.PSDS, case: Case) -> float:
    """By the oracle of PSDS."""
    criterion = metric.criterion
    return psds_oracle.psds(
        case.for_oracle(),
        case.classes,
        dtc=criterion.dtc,
        gtc=criterion.gtc,
        cttc=criterion.cttc,
        alpha_ct=metric.alpha_ct,
        alpha_st=metric.alpha_st,
        max_efpr=metric.max_efpr,
        unit={"second": 10**6, "minute": 60 * 10**6, "hour": HOUR}[metric.unit],
        oracle=metric.oracle,
    )


def close(got: float, expected: float) -> bool:
    """Equal but for rounding."""
    return (got != got and expected != expected) or math.isclose(
        got, expected, rel_tol=1e-11, abs_tol=1e-12
    )


def limits_met_exactly(case: Case, criterion: Criterion) -> list[int]:
    """False alarms per hour that operating points of the first class have, where they are whole."""
    table = tables(case, criterion)[0][0]
    return [
        point.fp * HOUR // table.ticks for point in table.points if point.fp * HOUR % table.ticks == 0
    ]


def draw(rng: Random, seed: str) -> Case:
    """Some clips, and metrics of one criterion."""
    drawer = Drawer(rng)
    drawer.most_frames = min(drawer.most_frames, 12)
    criterion = drawer.criterion()
    metrics = dict.fromkeys(repr(drawer.metric(criterion)) for _ in range(4))
    clips = drawer.clips(rng.choice([3, 10, 30]))
    case = Case("metrics", seed, drawer.dtype, clips, [*metrics])
    limit = rng.choice(limits_met_exactly(case, criterion))
    metrics[repr(sed.RecallAtFalseAlarms(criterion, limit))] = None
    return replace(case, definitions=[*metrics])


def judge(case: Case) -> Mapping[str, int]:
    """Each metric of each class, and the averages."""
    metrics = [sed.parse_metric(text) for text in case.definitions]
    result = sed.evaluate(case.scores, case.truth, metrics, run=sed.Run(threads=1))
    by_criterion: dict[Criterion, tuple[list[Table], Table]] = {}
    compared = 0
    for metric in metrics:
        if isinstance(metric, sed.PSDS):
            expected = expected_psds(metric, case)
            got = result[metric].value
            require(close(got, expected), "PSDS", f"{metric}: {got!r}, not {expected!r}")
            compared += 1
            continue
        if metric.criterion not in by_criterion:
            by_criterion[metric.criterion] = tables(case, metric.criterion)
        of_classes, of_all = by_criterion[metric.criterion]
        measured = result[metric]
        values: dict[str, float | None] = {}
        for label, table in zip(case.classes, of_classes, strict=True):
            values[label] = of_class(metric, table)
            got, wanted = measured.per_class[label].value, values[label]
            if wanted is not None:
                kind = f"value of {type(metric).__name__}, {kind_of(metric.criterion)}"
                require(close(got, wanted), kind, f"{metric} {label}: {got!r}, not {wanted!r}")
                compared += 1
        average = _average(metric, values, of_classes, of_all)
        if average is not None:
            kind = f"average of {type(metric).__name__}, {kind_of(metric.criterion)}"
            got = measured.value
            require(close(got, average), kind, f"{metric}: {got!r}, not {average!r}")
            compared += 1
    return {"clips": len(case.clips), "values": compared}


def _average(
    metric: Any, values: Mapping[str, float | None], of_classes: Sequence[Table], of_all: Table
) -> float | None:
    """The average that the metric asks for; None if it is not checked."""
    if metric.average == "micro":
        return of_class(metric, of_all, pooled=True)
    if metric.average == "micro_tuned" or isinstance(metric, sed.DPrime):
        return None
    weighted = [
        (value, table.references if metric.average == "weighted" else 1)
        for value, table in zip(values.values(), of_classes, strict=True)
        if table.references or not metric.needs_references
    ]
    defined = [(value, weight) for value, weight in weighted if value is None or value == value]
    if any(value is None for value, _ in defined):
        return None
    if not defined:
        return NAN
    total = sum(value * weight for value, weight in defined if value is not None)
    return total / sum(weight for _, weight in defined)


CHECKS = (Check("metrics", 8, draw, judge),)
