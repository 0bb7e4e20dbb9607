"""Plans of reviews: which detections to listen to, drawn by chance from strata of class and score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heapreplace
from typing import Literal, TypeAlias
from zlib import crc32

import numpy as np

from ..data.arrays import FloatArray, IntArray
from ..data.choices import check_choice
from ..data.scores import Scores
from ..errors import SedscopeError, counted, listing, with_guesses
from .population import ClassDetections, Windows, detections_to_review
from .table import OPEN, RIGHT, SILENT, WRONG, ClassReview, Review, Row, class_review

Per: TypeAlias = Literal["class", "total"]
"""Whether a number of reviews is that of each class, or of all classes together."""

_MOST_HALVINGS = 6
_FEWEST_REVIEWS = 6
"""In a stratum on average, before there is one more."""
_FEWEST_DETECTIONS = 8
_SPLIT_REVIEWS = 8
"""In each part of a stratum that is split, because there are many."""
_MOST_PARTS = 4
_ALL_DETECTIONS = 0.1
"""What the precision of all detections counts beside that at the threshold in question."""


def plan(
    scores: Scores,
    *,
    reviews: int = 100,
    per: Per = "class",
    above: float | None = None,
    classes: Iterable[str] | None = None,
    silent_windows: int = 0,
    window: float | None = None,
    durations: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Review:
    """Draw detections to review.

    The detections of a class are ordered by score and divided into strata: the lower half, the lower half of
    the others, and so on. High scores, on which the precision at every threshold depends, are drawn more
    often. In a stratum, all detections have the same probability to be drawn.

    Parameters
    ----------
    scores : Scores
        The system. A detection is a run of frames above `above`, and its score the highest one in it.
        Events of :class:`~sedscope.ScoredEvents` are taken as they are.
    reviews : int, default 100
        How many detections to draw. If there are fewer, all of them are.
    per : {"class", "total"}, default "class"
        Whether that many are drawn of each class or of all classes together.
    above : float, optional
        Only detections with higher scores. By default, 0.1 for scores of frames.
    classes : iterable of str, optional
        Only these classes.
    silent_windows : int, default 0
        How many windows without a detection of the class to draw for each class, to estimate how many calls
        the system misses.
    window : float, optional
        Their length in seconds. By default that of the detections if they all have the same, else 3.
    durations : mapping of str to float, optional
        Durations of the clips in seconds. Windows of a system without scores of frames need them.
    seed : int, default 0
        The same arguments give the same plan.

    Returns
    -------
    Review
        In the order in which one listens to the clips, without answers.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> review = sed.review.plan(sed.simulate.scores(truth), reviews=20, classes=["Dog", "Cat"])
    >>> review
    <Review: 40 rows, 0 answered>
    """
    check_choice(Per, per=per)
    least = {"reviews": (reviews, 1), "silent_windows": (silent_windows, 0), "seed": (seed, 0)}
    for name, (number, fewest) in least.items():
        if number < fewest:
            raise SedscopeError(f"{name}={number} is not valid. Give a number of at least {fewest}.")
    by_class = reviewed_classes(scores, above, classes)
    if not by_class:
        raise SedscopeError("The system detects nothing, so there is nothing to review.")
    numbers = _shares([*map(len, by_class.values())], reviews, per)
    if not all(numbers):
        raise SedscopeError(
            f"{counted(reviews, 'review')} cannot be shared among {counted(len(by_class), 'class')}. Draw "
            "more, or choose fewer classes."
        )
    windows = Windows.of(scores, durations, window) if silent_windows else None
    rows: list[Row] = []
    for (label, detections), number in zip(by_class.items(), numbers, strict=True):
        rng = np.random.default_rng([seed, crc32(label.encode())])
        sizes, drawn = strata_of(len(detections), number)
        ends = np.cumsum(sizes)
        for k, (end, size, of_stratum) in enumerate(zip(ends.tolist(), sizes, drawn, strict=True)):
            ranks = end - size + rng.permutation(size)[:of_stratum]
            rows += _rows(label, detections, ranks, str(k + 1), size / max(of_stratum, 1))
        if windows is not None:
            silent = windows.silent(detections)
            chosen = rng.permutation(silent)[:silent_windows]
            for number_of_window in chosen.tolist():
                clip, onset, offset = windows.place(number_of_window)
                weight = len(silent) / len(chosen)
                rows.append((clip, label, onset, offset, np.nan, SILENT, weight, OPEN))
    return Review.of_rows(rows).ordered("listening")


def extend(
    scores: Scores,
    review: Review,
    more: int,
    *,
    per: Per = "class",
    min_precision: float = 0.9,
    above: float | None = None,
    seed: int = 0,
) -> Review:
    """Draw more detections for a review that has answers, where they tell most.

    They go to the strata that make the interval of the precision widest at the threshold in question: the
    lowest one with an estimated precision of at least `min_precision`.

    Parameters
    ----------
    scores : Scores
        The system, as for the plan.
    review : Review
        With answers.
    more : int
        How many detections to draw besides.
    per : {"class", "total"}, default "class"
        Whether that many are drawn of each class, or of all classes together. Then those with the widest
        intervals get the most.
    min_precision : float, default 0.9
        The precision that a threshold is sought for.
    above : float, optional
        As for the plan.
    seed : int, default 0
        The same arguments give the same rows.

    Returns
    -------
    Review
        All rows, the new ones without answers. The weights of all of them are new.

    Examples
    --------
    >>> import sedscope as sed
    >>> truth = sed.simulate.ground_truth(100)
    >>> scores = sed.simulate.scores(truth)
    >>> review = sed.review.plan(scores, reviews=20, classes=["Dog"]).answered([True] * 20)
    >>> sed.review.extend(scores, review, 10)
    <Review: 30 rows, 20 answered>
    """
    check_choice(Per, per=per)
    if more < 1 or not 0 < min_precision < 1:
        raise SedscopeError("Draw at least one more detection, and give a precision between 0 and 1.")
    labels = [*dict.fromkeys(review.labels)]
    by_class = reviewed_classes(scores, above, labels)
    known = {label: class_review(review, label, by_class[label]) for label in labels}
    sizes = [of_class.sizes for of_class in known.values()]
    drawn = [np.bincount(c.strata, minlength=len(c.sizes)) for c in known.values()]
    weights = [_wanted(by_class[label], c, min_precision) for label, c in known.items()]
    if per == "class":
        totals = [greedy(*of_class, more) for of_class in zip(sizes, drawn, weights, strict=True)]
    else:
        ends = np.cumsum([*map(len, sizes)])[:-1]
        all_strata = np.concatenate(sizes), np.concatenate(drawn), np.concatenate(weights)
        totals = np.split(greedy(*all_strata, more), ends)
    rows = [row for row in review.rows() if row[5] == SILENT]
    answers = {row[:4]: row[7] for row in review.rows()}
    for (label, of_class), total in zip(known.items(), totals, strict=True):
        rng = np.random.default_rng([seed, len(of_class.ranks), crc32(label.encode())])
        for row in _extended_class(label, by_class[label], of_class, total, rng):
            rows.append((*row[:7], answers.get(row[:4], OPEN)))
    return Review.of_rows(rows).ordered("listening")


def _extended_class(
    label: str,
    detections: ClassDetections,
    drawn: ClassReview,
    totals: IntArray,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the drawn detections of a class, with so many of each stratum."""
    rows: list[Row] = []
    ends = np.cumsum(drawn.sizes)
    for k, (end, size) in enumerate(zip(ends.tolist(), drawn.sizes.tolist(), strict=True)):
        old = drawn.ranks[drawn.strata == k]
        free = np.setdiff1d(np.arange(end - size, end), old)
        ranks = np.append(old, rng.permutation(free)[: int(totals[k]) - len(old)])
        rows += _rows(label, detections, ranks, str(k + 1), size / max(len(ranks), 1))
    return rows


def reviewed_classes(
    scores: Scores, above: float | None, classes: Iterable[str] | None
) -> dict[str, ClassDetections]:
    """Return the detections of some classes, or of all that have some."""
    chosen = None if classes is None else [*classes]
    unknown = [label for label in chosen or () if label not in scores.classes]
    if unknown:
        named = listing(with_guesses(unknown, scores.classes))
        raise SedscopeError(f"The system has no class {named}.")
    by_class = detections_to_review(scores, above)
    empty = [label for label in chosen or () if not len(by_class[label])]
    if empty:
        raise SedscopeError(f"The system detects nothing of {listing(empty)}.")
    return {
        label: detections
        for label, detections in by_class.items()
        if (len(detections) if chosen is None else label in chosen)
    }


def strata_of(number: int, reviews: int) -> tuple[list[int], list[int]]:
    """Return the sizes of the strata of a class, highest scores first, and how many to draw of each.

    >>> strata_of(1000, 40)
    ([31, 31, 63, 125, 250, 500], [5, 4, 5, 7, 9, 10])
    """
    sizes, left = [], number
    for _ in range(min(_MOST_HALVINGS, reviews // _FEWEST_REVIEWS) - 1):
        if left // 2 < _FEWEST_DETECTIONS:
            break
        sizes.append(left - left // 2)
        left //= 2
    sizes = [*([left] if left else []), *reversed(sizes)]
    totals = np.cumsum(sizes)
    # its share of the sum, over the thresholds below it, of the variance beside that of a simple random draw
    weights = np.array([(size**2 / (totals[k:] * number)).sum() for k, size in enumerate(sizes)])
    drawn = greedy(np.array(sizes, np.int64), np.zeros(len(sizes), np.int64), weights, reviews)
    parts: list[tuple[int, int]] = []
    for size, of_stratum in zip(sizes, drawn.tolist(), strict=True):
        pieces = min(_MOST_PARTS, of_stratum // _SPLIT_REVIEWS) if of_stratum < size else 1
        pieces = max(1, pieces)
        cuts = np.arange(pieces + 1)
        split = zip(np.diff(cuts * size // pieces), np.diff(cuts * of_stratum // pieces), strict=True)
        parts += [(int(a), int(b)) for a, b in split]
    return [a for a, _ in parts], [b for _, b in parts]


def greedy(sizes: IntArray, drawn: IntArray, weights: FloatArray, more: int) -> IntArray:
    """Return how many to draw of each stratum, such that Σ weight / number is least.

    ``drawn``: how many there are already. Each stratum gets at least 2, if it has as many.
    """
    numbers = drawn.copy()
    left = min(more, int((sizes - drawn).sum()))
    for k in np.argsort(-weights, kind="stable").tolist():
        extra = min(max(0, min(2, int(sizes[k])) - int(numbers[k])), left)
        numbers[k] += extra
        left -= extra

    def gain(k: int) -> float:
        number = int(numbers[k])
        return (
            1.0 if number >= sizes[k] else -weights[k] / (number * (number + 1)) if number else -np.inf
        )

    heap = [(gain(k), k) for k in range(len(sizes))]
    heapify(heap)
    for _ in range(left):
        k = heap[0][1]
        numbers[k] += 1
        heapreplace(heap, (gain(k), k))
    return numbers


def _shares(detections: Sequence[int], reviews: int, per: Per) -> list[int]:
    """Return how many detections of each class to review. What a class lacks goes to the others."""
    if per == "class":
        return [min(reviews, number) for number in detections]
    shares = [0] * len(detections)
    left = reviews
    for place, k in enumerate(sorted(range(len(detections)), key=detections.__getitem__)):
        shares[k] = min(detections[k], left // (len(detections) - place))
        left -= shares[k]
    return shares


def _wanted(detections: ClassDetections, drawn: ClassReview, min_precision: float) -> FloatArray:
    """Return how much the precision in question varies, for each stratum, if one were reviewed of each."""
    strata = drawn.strata
    yes, no = (
        np.bincount(strata[drawn.answers == answer], minlength=len(drawn.sizes))
        for answer in (RIGHT, WRONG)
    )
    shares = (yes + 0.5) / (yes + no + 1)
    totals = np.cumsum(drawn.sizes)
    precise = np.flatnonzero(np.cumsum(shares * drawn.sizes) >= min_precision * totals)
    last = int(precise[-1]) if len(precise) else 0
    pieces = np.where(np.arange(len(totals)) <= last, drawn.sizes, 0) / totals[last]
    everything = drawn.sizes / len(detections)
    weights: FloatArray = (pieces**2 + _ALL_DETECTIONS * everything**2) * shares * (1 - shares)
    return weights


def _rows(
    label: str, detections: ClassDetections, ranks: IntArray, stratum: str, weight: float
) -> list[Row]:
    return [
        (
            *(detections.clips[rank], label, *map(int, detections.times[rank])),
            *(float(detections.scores[rank]), stratum, float(weight), OPEN),
        )
        for rank in ranks.tolist()
    ]
