"""The range of scores: whether a fixed threshold suits them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from ..errors import listing, subject
from .arrays import ScoreArray

_TOLERANCE = 1e-3  # of scores that are probabilities but for rounding


def score_range(arrays: Iterable[ScoreArray]) -> tuple[float, float]:
    """Return the lowest and the highest finite score; ``inf`` and ``-inf`` if there is none."""
    low, high = math.inf, -math.inf
    for values in arrays:
        if not values.size:
            continue
        lowest, highest = float(values.min()), float(values.max())
        if not (math.isfinite(lowest) and math.isfinite(highest)):
            finite = values[np.isfinite(values)]
            if not finite.size:
                continue
            lowest, highest = float(finite.min()), float(finite.max())
        low, high = min(low, lowest), max(high, highest)
    return low, high


def outside_of_probabilities(low: float, high: float) -> bool:
    """Return whether scores in a range cannot be probabilities."""
    return low <= high and (low < -_TOLERANCE or high > 1 + _TOLERANCE)


def threshold_note(low: float, high: float, threshold: float, user: str) -> list[str]:
    """Note that a threshold does not suit scores of a range. ``user``: who applies it.

    It may lie above all of them, or between 0 and 1 where they do not.
    """
    suspicious = 0 < threshold < 1 and outside_of_probabilities(low, high)
    if low <= high <= threshold < math.inf and not suspicious:
        return [
            f"{user[:1].upper()}{user[1:]} has a threshold of {threshold:g}, but no score is above "
            f"{high:.4g}, so nothing is detected.{_percentage_guess(low, high, threshold)}"
        ]
    if not suspicious:
        return []
    note = (
        f"The scores lie between {low:.4g} and {high:.4g}, but {user} has a threshold of {threshold:g}."
    )
    if low < -_TOLERANCE:
        logit = 1 / (1 + math.exp(-threshold))
        note += (
            f" If they are logits, that is a probability of {logit:.2g}: apply the sigmoid function to "
            f"them, or use a threshold of {math.log(threshold / (1 - threshold)):.3g}."
        )
    elif high <= 100:
        note += (
            f" If they are percentages, divide them by 100, or use a threshold of {100 * threshold:g}."
        )
    else:
        note += " Scale them, or choose a threshold in their range."
    return [note]


def class_thresholds_note(low: float, high: float, thresholds: Mapping[str, float]) -> list[str]:
    """Note classes whose threshold lies above all scores, although it is a number."""
    above = {
        label: threshold
        for label, threshold in thresholds.items()
        if low <= high <= threshold < math.inf
    }
    if not above:
        return []
    named = listing([f"{label} ({threshold:g})" for label, threshold in above.items()])
    of_it = "its" if len(above) == 1 else "their"
    return [
        f"{subject(len(above), 'class', 'is')} never detected at {of_it} threshold, because no score is "
        f"above {high:.4g}: {named}.{_percentage_guess(low, high, min(above.values()))}"
    ]


def _percentage_guess(low: float, high: float, threshold: float) -> str:
    if outside_of_probabilities(low, high) or not 1 < threshold <= 100:
        return ""
    return f" If thresholds are percentages, divide them by 100 ({threshold:g} becomes {threshold / 100:g})."
