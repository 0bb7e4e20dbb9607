"""The slow, obviously right evaluation: threshold, list the detections, count, for every score.

Every function transcribes one definition; none shares an idea with the fast kernel.

Conventions
- Times are integer microseconds, intervals are half open: [onset, offset).
- The operating point "at score s" is the threshold just below s: frames with `score >= s` are
  active. A frame with score -inf is never active. No score is NaN.
- A requirement rho * length is the float product rounded to the nearest microsecond, at least 1.
- References have a positive length, and those of one label do not overlap within a clip.
- The "other labels" of a label are all others that occur in the scores or references of any clip.
- Rates and areas are exact fractions (a float parameter stands for its exact binary value). Only
  the square root of the standard deviation is rounded, and the results when they become floats.

Definitions: Bilen et al., "A framework for the robust evaluation of sound event detection",
ICASSP 2020; Ebbers et al., "Threshold independent evaluation of sound event detection scores",
ICASSP 2022.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from statistics import mean, pvariance

HOUR = 3_600_000_000


@dataclass(frozen=True)
class Clip:
    """One recording: frame i lasts from `edges[i]` to `edges[i + 1]`."""

    edges: Sequence[int]
    scores: Mapping[str, Sequence[float]]
    references: Sequence[tuple[int, int, str]]
    duration: int


@dataclass(frozen=True)
class Count:
    """Counts of one label at one operating point; `ct` has a key for each other label."""

    tp: int
    fp: int
    ct: Mapping[str, int]


def requirement(rho: float, length: int) -> int:
    """The overlap that the share `rho` of `length` asks for: nearest microsecond, at least one."""
    return max(1, math.floor(rho * length + 0.5))


def detections(scores: Sequence[float], edges: Sequence[int], score: float) -> list[tuple[int, int]]:
    """The maximal runs of frames that are active at `score`, as (onset, offset)."""
    active = [frame >= score and frame > -math.inf for frame in scores]
    runs = [
        (is_active, list(frames))
        for is_active, frames in groupby(range(len(active)), active.__getitem__)
    ]
    return [(edges[frames[0]], edges[frames[-1] + 1]) for is_active, frames in runs if is_active]


def overlap(event: tuple[int, int], others: Iterable[tuple[int, int]]) -> int:
    """The time that `event` shares with `others`, which do not overlap one another."""
    return sum(max(0, min(event[1], off) - max(event[0], on)) for on, off in others)


def references(clip: Clip, label: str) -> list[tuple[int, int]]:
    """The (onset, offset) of the clip's references of `label`."""
    return [(onset, offset) for onset, offset, name in clip.references if name == label]


def other_labels(clips: Sequence[Clip], label: str) -> list[str]:
    """All labels but `label` that occur in the scores or references of any clip, sorted."""
    scored = {name for clip in clips for name in clip.scores}
    referenced = {name for clip in clips for _, _, name in clip.references}
    return sorted((scored | referenced) - {label})


def intersection_count(
    clips: Sequence[Clip],
    label: str,
    score: float,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None = None,
) -> Count:
    """Counts of `label` over all clips where frames with a score >= `score` are active."""
    tp = fp = 0
    ct = dict.fromkeys(other_labels(clips, label), 0)
    for clip in clips:
        targets = references(clip, label)
        relevant = []
        for detection in detections(clip.scores[label], clip.edges, score):
            length = detection[1] - detection[0]
            if overlap(detection, targets) >= requirement(dtc, length):
                relevant.append(detection)
                continue
            fp += 1
            if cttc is not None:
                for other in ct:
                    shared = overlap(detection, references(clip, other))
                    ct[other] += shared >= requirement(cttc, length)
        for target in targets:
            tp += overlap(target, relevant) >= requirement(gtc, target[1] - target[0])
    return Count(tp, fp, ct)


def intersection_counts(
    clips: Sequence[Clip], label: str, *, dtc: float, gtc: float, cttc: float | None = None
) -> dict[float, Count]:
    """Score -> counts at that score, for every distinct score > -inf of `label`, decreasing."""
    distinct = {score for clip in clips for score in clip.scores[label] if score > -math.inf}
    return {
        score: intersection_count(clips, label, score, dtc=dtc, gtc=gtc, cttc=cttc)
        for score in sorted(distinct, reverse=True)
    }


def reference_count(clips: Sequence[Clip], label: str) -> int:
    """The number of references of `label` in all clips."""
    return sum(len(references(clip, label)) for clip in clips)


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
    return unit * (false_positives + Fraction(alpha_ct) * mean_cross_triggers)


def exact_psd_roc(
    clips: Sequence[Clip],
    label: str,
    *,
    dtc: float,
    gtc: float,
    cttc: float | None,
    alpha_ct: float,
    unit: int,
    oracle: bool,
) -> list[tuple[Fraction, Fraction]]:
    """`psd_roc` in fractions, of a label that has references."""
    points = [(Fraction(0), Fraction(0))]  # nothing detected
    for count in intersection_counts(clips, label, dtc=dtc, gtc=gtc, cttc=cttc).values():
        efpr = effective_fpr(clips, label, count, alpha_ct=alpha_ct, unit=unit)
        points.append((efpr, Fraction(count.tp, reference_count(clips, label))))

    vertices: list[tuple[Fraction, Fraction]] = []
    for x in sorted({efpr for efpr, _ in points}):
        if oracle:
            best = max(tpr for efpr, tpr in points if efpr <= x)
        else:
            best = max(tpr for efpr, tpr in points if efpr == x)
        if not vertices or best != vertices[-1][1]:
            vertices.append((x, best))
    return vertices


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
    vertices = exact_psd_roc(
        clips, label, dtc=dtc, gtc=gtc, cttc=cttc, alpha_ct=alpha_ct, unit=unit, oracle=oracle
    )
    return [(float(efpr), float(tpr)) for efpr, tpr in vertices]


def psds(
    clips: Sequence[Clip],
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
    """The area under max(0, mean - alpha_st * population std of TPR) up to max_efpr, / max_efpr.

    Mean and deviation are over those of `labels` that have references; nan if there are none.
    """
    rocs = [
        exact_psd_roc(
            clips, label, dtc=dtc, gtc=gtc, cttc=cttc, alpha_ct=alpha_ct, unit=unit, oracle=oracle
        )
        for label in labels
        if reference_count(clips, label) > 0
    ]
    if not rocs:
        return math.nan

    end = Fraction(max_efpr)
    steps = {efpr for roc in rocs for efpr, _ in roc if efpr < end}
    area = Fraction(0)
    for left, right in pairwise([*sorted(steps), end]):
        tprs = [[tpr for efpr, tpr in roc if efpr <= left][-1] for roc in rocs]
        deviation = Fraction(math.sqrt(pvariance(tprs)))
        area += (right - left) * max(Fraction(0), mean(tprs) - Fraction(alpha_st) * deviation)
    return float(area / end)
