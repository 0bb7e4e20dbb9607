"""Estimates from the answers of a review: precision at every threshold, true detections, density, recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.arrays import IntArray
from ..data.choices import check_choice
from ..data.probability_fits import isotonic_fit, logistic_fit
from ..data.scores import Scores
from ..errors import SedscopeError, counted, listing
from .population import ClassDetections, Windows, detections_to_review
from .result import ClassEstimate, Estimated, Hold, ReviewEstimate
from .stratified import (
    Strata,
    degrees_of_freedom,
    deviations_of,
    odds_limits,
    simultaneous_deviations,
    total_limits,
)
from .table import OPEN, RIGHT, SILENT, UNSURE, ClassReview, Review, class_review, refuse_others


def estimate(
    scores: Scores,
    review: Review,
    *,
    level: float = 0.95,
    hold: Hold = "pointwise",
    above: float | None = None,
    durations: Mapping[str, float] | None = None,
) -> ReviewEstimate:
    """Estimate from the answers of a review how precise all detections are.

    Parameters
    ----------
    scores : Scores
        The system, as for the plan.
    review : Review
        A plan with answers. Rows that the reviewer cannot tell are left out, as if they had not been drawn.
    level : float, default 0.95
        The level of the intervals.
    hold : {"pointwise", "simultaneous"}, default "pointwise"
        Whether an interval holds for one threshold that is fixed beforehand, or those of a class hold for all
        thresholds together, which makes them wider.
    above, durations
        As for the plan.

    Returns
    -------
    ReviewEstimate

    Examples
    --------
    >>> import sedscope as sed
    >>> system = sed.ScoredEvents.from_events(
    ...     {"a": [(0, 3, "Dog", 0.9), (3, 6, "Dog", 0.4), (9, 12, "Dog", 0.3)]}
    ... )
    >>> review = sed.review.plan(system).answered([True, True, False])
    >>> sed.review.estimate(system, review)["Dog"].at(0.4)
    Estimated(value=1.0, low=1.0, high=1.0)
    """
    check_choice(Hold, hold=hold)
    if not 0 < level < 1:
        raise SedscopeError(f"level={level} is not valid. Give a number between 0 and 1.")
    pending = int(np.count_nonzero(review.answers == OPEN))
    if pending or not len(review):
        raise SedscopeError(
            f"The review has {counted(pending, 'row')} without an answer. Give 1 or 0, or ? where you cannot "
            "tell: those who answered first may not be like the others."
            if pending
            else "The review has no rows."
        )
    labels = sorted({*review.labels})
    unknown = [label for label in labels if label not in scores.classes]
    if unknown:
        raise SedscopeError(f"The review has classes that the system lacks: {listing(unknown)}.")
    by_class = detections_to_review(scores, above)
    windows = None
    if SILENT in review.strata:
        silent_times = review.times[np.array(review.strata) == SILENT]
        length = float(np.median(silent_times[:, 1] - silent_times[:, 0])) / 1e6
        windows = Windows.of(scores, durations, length)
    per_class = {}
    for label in labels:
        answers = class_review(review, label, by_class[label])
        silent = None if windows is None else _silent(review, label, by_class[label], windows)
        if not len(by_class[label]):
            continue
        per_class[label] = _class_estimate(label, by_class[label], answers, silent, windows, level, hold)
    return ReviewEstimate(per_class, level, hold)


def _silent(review: Review, label: str, detections: ClassDetections, windows: Windows) -> ClassReview:
    """Return what was drawn of the windows of a class without a detection. Refuse other windows."""
    rows = [i for i, name in enumerate(review.labels) if name == label and review.strata[i] == SILENT]
    silent = windows.silent(detections)
    size = len(silent)
    if round(float(review.weights[rows].sum())) != size:
        raise SedscopeError(
            f"{label}: the review has been made for {review.weights[rows].sum():.0f} windows without a "
            f"detection, but there are {size}. Rows may have been removed from it (answer them with ? "
            "instead), or the durations are not those of the plan (`durations=`)."
        )
    keys = [(review.clips[i], *review.times[i].tolist()) for i in rows]
    numbers = np.array([windows.number(*key) for key in keys], np.int64)
    drawn = np.isin(numbers, silent).tolist()
    others = [key for key, is_silent in zip(keys, drawn, strict=True) if not is_silent]
    refuse_others(label, "window without a detection", others)
    return ClassReview(np.array([size]), np.searchsorted(silent, numbers), review.answers[rows])


def _class_estimate(
    label: str,
    detections: ClassDetections,
    answers: ClassReview,
    silent: ClassReview | None,
    windows: Windows | None,
    level: float,
    hold: Hold,
) -> ClassEstimate:
    sure = answers.answers != UNSURE
    if not sure.any():
        raise SedscopeError(
            f"{label}: the reviewer could not tell for any detection. Leave out its rows."
        )
    ranks, right = answers.ranks[sure], answers.answers[sure] == RIGHT
    stratum = answers.strata[sure]
    thresholds = np.unique(detections.scores)[::-1]
    numbers = detections.at_least(thresholds)
    strata = _above(numbers, answers.sizes, ranks, stratum, right)
    weights = (answers.sizes / np.maximum(np.bincount(stratum, minlength=len(answers.sizes)), 1))[
        stratum
    ]
    answered = detections.scores[ranks], right, weights
    logistic = logistic_fit(*answered)
    everything = Strata(answers.sizes, strata.reviewed[-1], strata.right[-1])
    for_one = deviations_of(level, degrees_of_freedom(everything))
    deviations = for_one
    if hold == "simultaneous":
        least = 1 / (2 * len(ranks) + 2)  # nothing is certain
        chances = np.clip(logistic(detections.scores), least, 1 - least)
        factor = simultaneous_deviations(answers.sizes, everything.reviewed, chances, level)
        deviations = for_one * factor / deviations_of(level)
    total = _totals(strata, deviations)
    recall = density = None
    heard = None if silent is None else _only_stratum(silent)
    if heard is not None and windows is not None and (heard.reviewed.any() or not heard.sizes.any()):
        below = _rest(everything, strata).joined(_repeated(heard, len(numbers)))
        recall = _recall(total, _totals(below, deviations))
        density = _density(everything, heard, len(windows), for_one)
    return ClassEstimate(
        thresholds,
        numbers,
        Estimated(*(part / numbers for part in total)),
        total,
        recall,
        density,
        len(ranks),
        None if heard is None else int(heard.reviewed[0]),
        answers.unsure + (0 if silent is None else silent.unsure),
        logistic,
        isotonic_fit(*answered),
        strata,
    )


def _only_stratum(drawn: ClassReview) -> Strata:
    right, sure = drawn.answers == RIGHT, drawn.answers != UNSURE
    return Strata(drawn.sizes, np.array([sure.sum()]), np.array([right.sum()]))


def _above(numbers: IntArray, sizes: IntArray, ranks: IntArray, stratum: IntArray, right: Any) -> Strata:
    """Return the parts of all strata above each threshold. ``numbers``: the detections above it."""
    order = np.argsort(ranks)
    seen = np.zeros((len(ranks) + 1, len(sizes), 2), np.int64)
    places = np.arange(1, len(ranks) + 1)
    seen[places, stratum[order], 0] = 1
    seen[places, stratum[order], 1] = right[order]
    reviewed = np.cumsum(seen, 0)[np.searchsorted(ranks[order], numbers, side="left")]
    starts = np.cumsum(sizes) - sizes
    parts = np.clip(numbers[:, None] - starts, 0, sizes)
    return Strata(parts, reviewed[..., 0], reviewed[..., 1])


def _rest(everything: Strata, above: Strata) -> Strata:
    """Return the parts of the strata below each threshold."""
    pairs = ("sizes", "reviewed", "right")
    return Strata(*(getattr(everything, name) - getattr(above, name) for name in pairs))


def _repeated(stratum: Strata, times: int) -> Strata:
    columns = (stratum.sizes, stratum.reviewed, stratum.right)
    return Strata(*(np.broadcast_to(column, (times, 1)) for column in columns))


def _totals(strata: Strata, deviations: float) -> Estimated:
    """Return how many detections are right. Where nothing was reviewed, the share of the others counts."""
    low, high = total_limits(strata, deviations)
    known = strata.known()
    totals = (known.shares * known.sizes).sum(-1)
    sizes = known.sizes.sum(-1)
    unknown = strata.sizes.sum(-1) - sizes
    share = np.divide(totals, sizes, out=np.full(totals.shape, 0.5), where=sizes > 0)
    return Estimated(np.clip(totals + unknown * share, low, high), low, high)


def _recall(above: Estimated, below: Estimated) -> Estimated:
    """Return the share of the calls above a threshold."""
    low, high = odds_limits(above, below)
    calls = above.value + below.value
    value = np.divide(above.value, calls, out=np.full(calls.shape, np.nan), where=calls > 0)
    return Estimated(value, 1 - 1 / (1 + low), 1 - 1 / (1 + high))


def _density(everything: Strata, silent: Strata, windows: int, deviations: float) -> Estimated:
    """Return the share of windows with a call: those with a detection have one as often as it is right."""
    loud = (windows - silent.sizes.sum()) / windows
    weights = np.r_[everything.sizes / everything.sizes.sum() * loud, silent.sizes / windows]
    strata = everything.joined(silent)
    low, high = total_limits(strata, deviations, weights)
    return Estimated(*map(float, (np.clip((weights * strata.shares).sum(), low, high), low, high)))
