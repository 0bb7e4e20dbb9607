"""Thresholds applied to scores: whether they suit them, and the events that they detect."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..errors import SedscopeError, issue_warnings, listing, note, with_guesses
from .arrays import FloatArray, ScoreArray
from .clip_events import ClipEvents
from .clip_scores import ClipScores, refuse_nans
from .events import Events
from .scores import Scores, frames_or_events
from .times import to_seconds

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
        f"{label} ({threshold:g})": threshold
        for label, threshold in thresholds.items()
        if low <= high <= threshold < math.inf
    }
    phrase = f"is never detected at (its|their) threshold, because no score is above {high:.4g}"
    guess = _percentage_guess(low, high, min(above.values(), default=0))
    return note([*above], "class", phrase, guess.strip())


def _percentage_guess(low: float, high: float, threshold: float) -> str:
    if outside_of_probabilities(low, high) or not 1 < threshold <= 100:
        return ""
    return f" If thresholds are percentages, divide them by 100 ({threshold:g} becomes {threshold / 100:g})."


DetectedEvents: TypeAlias = Events[tuple[Any, ...]]
"""Per clip ``(onset, offset, label[, confidence])`` in order of time, times in seconds."""

_BINARY = "at_thresholds("
"""How the definition of scores at a single operating point begins."""


def detect(
    scores: Scores, thresholds: float | Mapping[str, float], *, confidences: bool = False
) -> DetectedEvents:
    """Detect events with one threshold per class.

    An event is a run of frames with ``score > threshold``. Of :class:`ScoredEvents`, those with
    ``confidence > threshold`` are detected as they are.

    Parameters
    ----------
    scores : Scores
        The scores of a system.
    thresholds : float or mapping from str to float
        One threshold for all classes, or one per class. A class without a threshold is not detected.
    confidences : bool, default False
        Whether to add the confidence of each event: its highest score.

    Warns
    -----
    SedscopeWarning
        If a threshold lies above all scores, or one threshold for all classes lies between 0 and 1 but
        the scores do not.

    Returns
    -------
    Events
        A dict: per clip the events ``(onset, offset, label)``, in order of time, times in seconds, or
        ``(onset, offset, label, confidence)``.

    Examples
    --------
    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9], [0.6], [0.1]]}, classes=["Dog"], frame=0.5)
    >>> detect(scores, 0.5)
    {'a': [(0.5, 1.5, 'Dog')]}
    >>> detect(scores, 0.5, confidences=True)
    {'a': [(0.5, 1.5, 'Dog', 0.9)]}
    """
    limits = class_thresholds(scores, thresholds)
    low, high = math.inf, -math.inf
    events: DetectedEvents = Events()
    for name in scores:
        clip = frames_or_events(name, scores.open(name))
        found = _clip_events(name, clip, scores.classes, limits)
        events[name] = found if confidences else [event[:3] for event in found]
        values = clip.confidences if isinstance(clip, ClipEvents) else clip.values
        clip_low, clip_high = score_range([values])
        low, high = min(low, clip_low), max(high, clip_high)
    issue_warnings(_threshold_notes(low, high, thresholds, "the detection"), stacklevel=2)
    return events


def _threshold_notes(
    low: float, high: float, thresholds: float | Mapping[str, float], user: str
) -> list[str]:
    """Note thresholds that do not suit scores of a range. ``user``: who applies them."""
    if isinstance(thresholds, Mapping):
        return class_thresholds_note(low, high, thresholds)
    return threshold_note(low, high, float(thresholds), user)


def at_thresholds(scores: Scores, thresholds: float | Mapping[str, float]) -> Scores:
    """Reduce scores to a single operating point.

    Parameters
    ----------
    scores : Scores
        The scores of a system.
    thresholds : float or mapping from str to float
        One threshold for all classes, or one per class. A class without a threshold is not detected.

    Warns
    -----
    SedscopeWarning
        If a threshold lies above all scores, or one threshold for all classes lies between 0 and 1 but
        the scores do not. Only scores in memory are looked at here.

    Returns
    -------
    Scores
        1 where ``score > threshold``, else ``-inf``, which is never detected. Of :class:`ScoredEvents`,
        those with ``confidence > threshold``, with a confidence of 1.

    Examples
    --------
    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9]]}, classes=["Dog"], frame=0.5)
    >>> at_thresholds(scores, 0.5)["a"].values.tolist()
    [[-inf], [1.0]]
    """
    single_point = binary_scores(scores, thresholds)
    issue_warnings(unsuitable_thresholds(scores, thresholds), stacklevel=2)
    return single_point


def unsuitable_thresholds(scores: Scores, thresholds: float | Mapping[str, float]) -> list[str]:
    """Note thresholds that do not suit the scores, as far as these are in memory."""
    if scores.holds_events:
        clips = map(scores.open, scores)
        confidences = (clip.confidences for clip in clips if isinstance(clip, ClipEvents))
        return _threshold_notes(*score_range(confidences), thresholds, "the operating point")
    if not scores.in_memory:
        return []
    low, high = score_range(clip.values for clip in scores.values())
    return _threshold_notes(low, high, thresholds, "the operating point")


def is_binary(scores: Scores) -> bool:
    """Return whether scores were reduced to a single operating point."""
    return bool(scores.processing) and scores.processing[-1].startswith(_BINARY)


def binary_scores(scores: Scores, thresholds: float | Mapping[str, float]) -> Scores:
    """Reduce scores to a single operating point, as :func:`at_thresholds` does, without any warning."""
    limits = class_thresholds(scores, thresholds)

    def binary(clip: str) -> ClipScores | ClipEvents:
        clip_scores = frames_or_events(clip, scores.open(clip))
        if isinstance(clip_scores, ClipEvents):
            return clip_scores.at_limits(limits)
        values = np.where(clip_scores.values > limits, 1.0, -np.inf)
        values[np.isnan(clip_scores.values)] = np.nan  # the evaluation refuses them
        return ClipScores.unchecked(values, clip_scores.ticks)

    definition = f"{_BINARY}{dict(zip(scores.classes, limits.tolist(), strict=True))})"
    identify = scores._identified_by(definition)
    processing = (*scores.processing, definition)
    return scores._remade(scores, binary, in_memory=False, identify=identify, processing=processing)


def approximate(scores: Scores, thresholds: Iterable[float]) -> dict[float, DetectedEvents]:
    """Detect events at some thresholds, as input for tools that do not evaluate all thresholds.

    Parameters
    ----------
    scores : Scores
        The scores of a system.
    thresholds : iterable of float
        Thresholds, each for all classes.

    Returns
    -------
    dict from float to dict
        The detections at each threshold, as :func:`detect` returns them.

    Examples
    --------
    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9]]}, classes=["Dog"], frame=0.5)
    >>> approximate(scores, [0.1, 0.5])
    {0.1: {'a': [(0.0, 1.0, 'Dog')]}, 0.5: {'a': [(0.5, 1.0, 'Dog')]}}
    """
    detected: dict[float, DetectedEvents] = {}
    for threshold in map(float, thresholds):
        limits, events = class_thresholds(scores, threshold), Events[tuple[Any, ...]]()
        for name in scores:
            clip = frames_or_events(name, scores.open(name))
            events[name] = [event[:3] for event in _clip_events(name, clip, scores.classes, limits)]
        detected[threshold] = events
    return detected


def class_thresholds(scores: Scores, thresholds: float | Mapping[str, float]) -> FloatArray:
    """Return one threshold per class of the scores, ``inf`` for classes without one."""
    if not isinstance(scores, Scores):
        raise SedscopeError(
            f"Give Scores, not {type(scores).__name__}: read files with read_scores, and make arrays into "
            "scores with Scores.from_arrays."
        )
    refuse_unread_points(thresholds)
    if hasattr(thresholds, "thresholds"):
        raise SedscopeError(f"Thresholds must be numbers, not {thresholds!r}: use its method detect.")
    if not isinstance(thresholds, Mapping):
        thresholds = dict.fromkeys(scores.classes, thresholds)
    known = {*scores.classes}
    unknown = [label for label in thresholds if label not in known]
    if unknown:
        guesses = with_guesses(unknown, scores.classes)
        raise SedscopeError(f"Some thresholds are for classes without scores: {listing(guesses)}.")
    try:
        limits = np.array([float(thresholds.get(label, np.inf)) for label in scores.classes])
    except (TypeError, ValueError):
        raise SedscopeError(f"Thresholds must be numbers, not {thresholds!r:.80}.") from None
    if np.isnan(limits).any():
        raise SedscopeError("Thresholds must be numbers, not NaN.")
    return limits


def refuse_unread_points(points: object) -> None:
    """Refuse the path of a file of operating points, and say how to read it."""
    if isinstance(points, (str, os.PathLike)):
        path = os.fspath(points)
        raise SedscopeError(
            f"Thresholds in a file must be read first: sed.OperatingPoints.load({path!r})."
        )


def _clip_events(
    name: str, clip: ClipScores | ClipEvents, classes: Sequence[str], limits: FloatArray
) -> list[tuple[float, float, str, float]]:
    """Return the events of a clip, with their highest score, in order of time."""
    if isinstance(clip, ClipEvents):
        return sorted(clip.above(limits).in_seconds(classes))
    refuse_nans(name, clip, classes)
    active = np.zeros((len(classes), len(clip.values) + 2), np.int8)
    active[:, 1:-1] = (clip.values > limits).T
    steps = np.diff(active)
    label, first = np.nonzero(steps == 1)
    _, last = np.nonzero(steps == -1)
    onsets, offsets = to_seconds(clip.ticks[first]), to_seconds(clip.ticks[last])
    peaks = [clip.values[a:b, c].max() for a, b, c in zip(first, last, label, strict=True)]
    events = zip(onsets.tolist(), offsets.tolist(), label.tolist(), map(float, peaks), strict=True)
    return [(onset, offset, classes[c], peak) for onset, offset, c, peak in sorted(events)]
