"""The slow, obviously right PSD-ROC and PSDS, from the counts and conventions of `oracle`.

Rates and areas are exact fractions (a float parameter stands for its exact binary value,
except for `alpha_ct`, which is taken as it is written). Only the
square root of the standard deviation is rounded, and the results when they become floats.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import mean, pvariance
from typing import Any

from .clips import Clip, Count, other_labels, reference_count, references
from .intersection import intersection_counts

Point = tuple[Fraction, Fraction]
"""eFPR and TPR."""

HOUR = 3_600_000_000


def effective_fpr(
    clips: Sequence[Clip], label: str, count: Count, *, alpha_ct: float, unit: int
) -> Fraction:
    """FP / T + alpha_ct * mean of CT_m / T_m over other labels m with references, per `unit`."""
    false_positives = Fraction(count.fp, sum(clip.duration for clip in clips))
    cross_triggers = [
        Fraction(count.ct[other], sum(off - on for clip in clips for on, off in references(clip, other)))
        for other in other_labels(clips, label)
        if reference_count(clips, other) > 0
    ]
    mean_cross_triggers = mean(cross_triggers) if cross_triggers else Fraction(0)
    return unit * (false_positives + Fraction(str(alpha_ct)) * mean_cross_triggers)


def operating_points(
    clips: Sequence[Clip],
    label: str,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None,
    alpha_ct: float,
    unit: int,
) -> list[Point]:
    """All operating points of a label that has references; the first is that nothing is detected."""
    points = [(Fraction(0), Fraction(0))]
    for count in intersection_counts(clips, label, dtc=dtc, gtc=gtc, cttc=cttc).values():
        efpr = effective_fpr(clips, label, count, alpha_ct=alpha_ct, unit=unit)
        points.append((efpr, Fraction(count.tp, reference_count(clips, label))))
    return points


def steps(points: Sequence[Point], *, oracle: bool) -> list[Point]:
    """The curve through operating points, see `psd_roc`."""
    vertices: list[Point] = []
    for x in sorted({efpr for efpr, _ in points}):
        if oracle:
            best = max(tpr for efpr, tpr in points if efpr <= x)
        else:
            best = max(tpr for efpr, tpr in points if efpr == x)
        if not vertices or best != vertices[-1][1]:
            vertices.append((x, best))
    return vertices


def area(rocs: Sequence[Sequence[Point]], *, alpha_st: float, max_efpr: float) -> float:
    """Under max(0, mean - alpha_st * population std of TPR) up to max_efpr, / max_efpr; nan if there is
    no curve."""
    if not rocs:
        return math.nan
    end = Fraction(max_efpr)
    rates = {efpr for roc in rocs for efpr, _ in roc if efpr < end}
    total = Fraction(0)
    for left, right in pairwise([*sorted(rates), end]):
        tprs = [[tpr for efpr, tpr in roc if efpr <= left][-1] for roc in rocs]
        deviation = Fraction(math.sqrt(pvariance(tprs)))
        total += (right - left) * max(Fraction(0), mean(tprs) - Fraction(alpha_st) * deviation)
    return float(total / end)


def psd_roc(
    clips: Sequence[Clip],
    label: str,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None = None,
    alpha_ct: float = 0.0,
    unit: int = HOUR,
    oracle: bool = True,
) -> list[tuple[float, float]]:
    """The steps of TPR over eFPR: (efpr, tpr from there on), the first at 0, by rising efpr.

    At x the TPR is the largest of all operating points with eFPR <= x if `oracle`; otherwise that
    of the operating point with the largest eFPR <= x (of several, the highest). "Nothing detected"
    (0, 0) is an operating point. Only changes of TPR are listed. Without references: [(0, nan)].
    """
    if reference_count(clips, label) == 0:
        return [(0.0, math.nan)]
    points = operating_points(clips, label, dtc=dtc, gtc=gtc, cttc=cttc, alpha_ct=alpha_ct, unit=unit)
    return [(float(efpr), float(tpr)) for efpr, tpr in steps(points, oracle=oracle)]


def psds(clips: Sequence[Clip], labels: Sequence[str], **definition: Any) -> float:
    """The area under the curves up to max_efpr, see `area`.

    Mean and deviation are over those of `labels` that have references; nan if there are none.
    """
    return pipsds([clips], labels, **definition)


def pipsds(
    versions: Sequence[Sequence[Clip]],
    labels: Sequence[str],
    *,
    dtc: float,
    gtc: float,
    cttc: float | None = None,
    alpha_ct: float = 0.0,
    alpha_st: float = 0.0,
    max_efpr: float = 100.0,
    unit: int = HOUR,
    oracle: bool = True,
) -> float:
    """The same of clips with scores in several versions: the operating points of all of them are those
    of a label."""
    rocs = []
    for label in labels:
        if reference_count(versions[0], label) > 0:
            points = [
                point
                for clips in versions
                for point in operating_points(
                    clips, label, dtc=dtc, gtc=gtc, cttc=cttc, alpha_ct=alpha_ct, unit=unit
                )
            ]
            rocs.append(steps(points, oracle=oracle))
    return area(rocs, alpha_st=alpha_st, max_efpr=max_efpr)
