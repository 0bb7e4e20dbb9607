"""How often the intervals of reviews hold, promised thresholds break, and how wide intervals are.

``python -m benchmarks.reviews [PLANS [CLASS …]]`` prints a table. The data are the DESED validation set of
the tests, and simulated windows of birds; the annotations answer instead of a reviewer.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sedscope as sed
from sedscope.review.stratified import Strata, deviations_of, total_limits
from tests.support.real_data import desed_scores, desed_truth

REVIEWS = ((30, 0), (100, 0), (50, 50))
"""How many detections are drawn at first, and how many are added."""
BANDS = 5
"""Simultaneous intervals are judged in one of so many plans, because they take longest."""
SILENT_WINDOWS = 100
MISSED = 0.02
"""The share of a bird's windows without a detection that have a call. They are five times as many."""
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)
"""Fixed thresholds are those with this share of the detections."""
PROMISES = (0.5, 0.7, 0.9)
BIRDS = {
    "tit": (1500, 0.35, 8.0),
    "owl": (300, 0.2, 10.0),
    "bittern": (4000, 0.03, 9.0),
    "nightjar": (800, 0.6, 6.0),
    "wryneck": (600, 0.1, 8.0),
    "finch": (3000, 0.85, 5.0),
}
"""Number of windows, share that is right, and how steeply that rises with the confidence."""


class Detections(NamedTuple):
    """The detections of a class, the highest score first, and which are right."""

    scores: NDArray[np.float64]
    right: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    """Whether each window without a detection has a call."""

    def system(self) -> sed.ScoredEvents:
        """Return them as events of one recording; the windows without a detection follow."""
        events = [(3 * i, 3 * i + 3, "x", s) for i, s in enumerate(self.scores.tolist())]
        return sed.ScoredEvents.from_events({"a": events})


def desed(data: Path) -> dict[str, Detections]:
    """Return runs of frames above 0.1; they are right if they overlap a reference of their class."""
    truth = desed_truth(data)
    rows: dict[str, list[tuple[float, bool]]] = {}
    for clip, events in sed.detect(desed_scores(data), 0.1, confidences=True).items():
        references = truth.events(clip) if clip in truth.clips else []
        for onset, offset, label, score in events:
            right = any(
                name == label and begin < offset and onset < end for begin, end, name in references
            )
            rows.setdefault(label, []).append((score, right))
    return {
        label: _ranked(*map(np.array, zip(*of_class, strict=True))) for label, of_class in rows.items()
    }


def birds(seed: int = 0) -> dict[str, Detections]:
    """Return windows with confidences from 0.1 to 1, mostly low ones, and a logistic chance to be right."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, (number, share, slope) in BIRDS.items():
        scores = np.round(0.1 + 0.9 * rng.beta(0.6, 1.4, number), 2)
        low, high = -50.0, 50.0
        for _ in range(60):
            middle = (low + high) / 2
            above = np.mean(1 / (1 + np.exp(-slope * scores - middle))) > share
            low, high = (low, middle) if above else (middle, high)
        chances = 1 / (1 + np.exp(-slope * scores - low))
        detections = _ranked(scores, rng.random(number) < chances)
        made[name] = detections._replace(silent=rng.random(5 * number) < MISSED)
    return made


def _ranked(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> Detections:
    order = np.argsort(-scores, kind="stable")
    return Detections(scores[order], right[order].astype(bool), np.zeros(0, bool))


class Outcome(NamedTuple):
    """What one plan led to."""

    covers: list[bool]
    """At each fixed threshold whose precision is not known exactly."""
    covers_all: list[bool]
    """With simultaneous intervals, at every threshold."""
    covers_recall: list[bool]
    """At each fixed threshold, and the density of calls."""
    widths: list[float]
    simple_widths: list[float]
    """Of a simple random draw of as many detections."""
    promised: list[bool]
    broken: list[bool]


def reviewed(
    system: sed.ScoredEvents, detections: Detections, reviews: tuple[int, int], seed: int
) -> tuple[sed.review.Review, dict[str, float] | None]:
    """Make a plan, answer it, perhaps add to it, and return it with the durations that it needs."""
    truth = np.r_[detections.right, detections.silent]
    windows = SILENT_WINDOWS if len(detections.silent) else 0
    durations = {"a": 3.0 * len(truth)} if windows else None

    def answer(review: sed.review.Review) -> sed.review.Review:
        return review.answered(truth[review.times[:, 0] // 3_000_000].tolist())

    drawn = sed.review.plan(
        system, reviews=reviews[0], silent_windows=windows, durations=durations, seed=seed
    )
    review = answer(drawn)
    if reviews[1]:
        review = answer(sed.review.extend(system, review, reviews[1], min_precision=0.7, seed=seed))
    return review, durations


def outcome(detections: Detections, reviews: tuple[int, int], seed: int) -> Outcome:
    """Make a plan, answer it and judge what is estimated from it."""
    system = detections.system()
    review, durations = reviewed(system, detections, reviews, seed)
    estimate = sed.review.estimate(system, review, durations=durations)["x"]
    covers_all = []
    if seed % BANDS == 0:
        band = sed.review.estimate(system, review, hold="simultaneous", durations=durations)["x"]
        true = np.cumsum(detections.right)[band.detections - 1] / band.detections
        covers_all = [bool(holds(band.precision, true).all())]
    right = np.cumsum(detections.right)[estimate.detections - 1]
    true = right / estimate.detections
    widths = estimate.precision.high - estimate.precision.low
    fixed = fixed_thresholds(estimate.detections)
    covers_recall: list[bool] = []
    if estimate.recall is not None and estimate.density is not None:
        calls = detections.right.sum() + detections.silent.sum()
        windows = len(detections.right) + len(detections.silent)
        covers_recall = [
            *holds(estimate.recall, right / calls)[fixed],
            *holds(estimate.density, calls / windows),
        ]
    fixed = fixed[widths[fixed] > 0]
    promised, broken = [], []
    points = sed.review.ReviewEstimate({"x": estimate}, 0.95, "pointwise")
    for precision in PROMISES:
        chosen = points.choose(precision)
        above = detections.scores > chosen.thresholds["x"]
        promised.append("x" not in chosen.unmet)
        broken.append(promised[-1] and bool(detections.right[above].mean() < precision))
    return Outcome(
        holds(estimate.precision, true)[fixed].tolist(),
        covers_all,
        covers_recall,
        widths[fixed].tolist(),
        simple_widths(detections, estimate.detections[fixed], sum(reviews), seed),
        promised,
        broken,
    )


def holds(interval: sed.review.Estimated, true: float | NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where an interval holds the true value."""
    return np.atleast_1d((interval.low <= true + 1e-9) & (true <= interval.high + 1e-9))


def fixed_thresholds(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of the fixed thresholds, of those with at least 8 detections."""
    rows = np.searchsorted(numbers, np.array(SHARES) * numbers[-1])
    rows = np.unique(rows)
    return rows[numbers[rows] >= 8]


def simple_widths(
    detections: Detections, numbers: NDArray[np.int64], reviews: int, seed: int
) -> list[float]:
    """Return the widths of the same intervals from a simple random draw; 1 where none lies above."""
    size = len(detections.scores)
    drawn = np.random.default_rng([seed, 1]).permutation(size)[:reviews]
    inside = drawn[None] < numbers[:, None]
    counts = (numbers, inside.sum(1), (inside & detections.right[drawn]).sum(1))
    strata = Strata(*(np.asarray(column, np.int64)[:, None] for column in counts))
    low, high = total_limits(strata, deviations_of(0.95, reviews - 1))
    widths: list[float] = ((high - low) / numbers).tolist()
    return widths


def study(classes: Mapping[str, Detections], plans: int) -> None:
    """Print a line per class and number of reviews."""
    print(
        "class; detections; right; reviews; precision; all thresholds; recall; width; promised; broken"
    )
    for reviews in REVIEWS:
        for name, detections in classes.items():
            outcomes = [outcome(detections, reviews, seed) for seed in range(plans)]
            columns = {
                field: [value for one_plan in outcomes for value in getattr(one_plan, field)]
                for field in Outcome._fields
            }
            covers, covers_all, covers_recall = (
                f"{np.mean(columns[field]):.3f}" if columns[field] else "–"
                for field in ("covers", "covers_all", "covers_recall")
            )
            ratio = sum(columns["widths"]) / max(sum(columns["simple_widths"]), 1e-9)
            promised, broken = (
                np.reshape(columns[field], (plans, len(PROMISES))).mean(0)
                for field in ("promised", "broken")
            )
            print(
                f"{name}; {len(detections.scores)}; {detections.right.mean():.2f}; "
                f"{' + '.join(str(number) for number in reviews if number)}; {covers}; {covers_all}; "
                f"{covers_recall}; {ratio:.2f}; {' '.join(f'{share:.2f}' for share in promised)}; "
                f"{' '.join(f'{share:.3f}' for share in broken)}",
                flush=True,
            )


if __name__ == "__main__":
    data = Path(os.environ.get("SEDSCOPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    classes = {**desed(data), **birds()}
    study({name: classes[name] for name in sys.argv[2:] or classes}, number)
