"""Simulated data sets of any size, reproducible from a seed, realistic where it matters.

Reference events follow the class mix and durations of domestic recordings (DESED). For other numbers of
classes, they follow a long-tailed mix. Scores look like those of a trained network: mostly very low or
very high, soft at event boundaries, with misses, fragments, false alarms and confusions between classes.
The better the system, the rarer these errors are. Scores are made clip by clip when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .data.arrays import FloatArray, IntArray
from .data.choices import refuse_beyond_memory
from .data.events import EventColumns
from .data.ground_truth import GroundTruth
from .data.scores import Scores
from .data.times import to_ticks
from .errors import SedscopeError, listing

__all__ = ["ground_truth", "labels", "scores"]

# label: share of all events, median duration in seconds
DOMESTIC: dict[str, tuple[float, float]] = {
    "Alarm_bell_ringing": (0.10, 1.5),
    "Blender": (0.03, 4.0),
    "Cat": (0.08, 0.9),
    "Dishes": (0.15, 0.5),
    "Dog": (0.14, 0.8),
    "Electric_shaver_toothbrush": (0.02, 6.0),
    "Frying": (0.03, 7.0),
    "Running_water": (0.06, 5.0),
    "Speech": (0.36, 1.3),
    "Vacuum_cleaner": (0.03, 8.0),
}


def labels(classes: int) -> list[str]:
    """Return class names for a number of classes.

    Parameters
    ----------
    classes : int
        Number of classes. Ten classes are those of the domestic mix.

    Returns
    -------
    list of str

    Examples
    --------
    >>> labels(2)
    ['class_0', 'class_1']
    """
    if classes == len(DOMESTIC):
        return list(DOMESTIC)
    return [f"class_{c:0{len(str(classes - 1))}d}" for c in range(classes)]


def ground_truth(
    clips: int = 1168,
    *,
    seconds: float = 10.0,
    classes: int = 10,
    events_per_minute: float = 22.0,
    seed: int = 0,
) -> GroundTruth:
    """Simulate the reference events of a number of clips of equal length.

    Parameters
    ----------
    clips : int, default 1168
        Number of clips.
    seconds : float, default 10
        Duration of each clip.
    classes : int, default 10
        Number of classes. Ten classes are those of the domestic mix.
    events_per_minute : float, default 22
        Mean number of events per minute, before overlapping events of one class are removed.
    seed : int, default 0
        The same arguments give the same events.

    Returns
    -------
    GroundTruth

    Examples
    --------
    >>> ground_truth(clips=100, seed=1)
    <GroundTruth: 335 events, 100 clips, 10 classes>
    """
    _require_at_least(clips=(clips, 0), seconds=(seconds, 1e-6), classes=(classes, 1), seed=(seed, 0))
    _require_at_least(events_per_minute=(events_per_minute, 0))
    refuse_beyond_memory(
        200 * (clips * (1 + seconds / 60 * events_per_minute) + classes),
        "So many clips, events and classes need",
        "Simulate fewer.",
    )
    rng = np.random.default_rng([seed, 0])
    shares, medians = _class_mix(classes, rng)
    number = int(rng.poisson(clips * seconds / 60 * events_per_minute))
    clip = rng.integers(clips, size=number)
    label = rng.choice(classes, size=number, p=shares)
    length = np.clip(medians[label] * rng.lognormal(0, 0.8, number), 0.1, seconds)
    onset = rng.uniform(-0.1 * length, np.maximum(seconds - 0.2 * length, 0))
    offset = np.minimum(onset + length, seconds)
    onset = np.maximum(onset, 0)
    kept = _without_overlaps(clip, label, onset, offset)
    class_names = labels(classes)
    names = [f"clip_{i:0{len(str(clips - 1))}d}" for i in range(clips)]
    columns = EventColumns(
        clip=[names[i] for i in clip[kept]],
        onset=to_ticks(onset[kept]),
        offset=to_ticks(offset[kept]),
        label=[class_names[i] for i in label[kept]],
        where=lambda i: f"event {i}",
    )
    return GroundTruth(columns, durations=dict.fromkeys(names, seconds))


def scores(
    truth: GroundTruth,
    *,
    classes: Sequence[str] | None = None,
    frame: float = 0.02,
    quality: float = 0.7,
    seed: int = 0,
) -> Scores:
    """Simulate the scores of a system, float32 between 0 and 1.

    Parameters
    ----------
    truth : GroundTruth
        The reference events, with durations.
    classes : sequence of str, optional
        The classes of the system. By default the labels of the ground truth.
    frame : float, default 0.02
        Length of a frame in seconds.
    quality : float, default 0.7
        How good the system is, between 0 (poor) and 1 (good).
    seed : int, default 0
        The same arguments give the same scores.

    Returns
    -------
    Scores
        Clips are simulated when they are needed.

    Examples
    --------
    >>> truth = ground_truth(clips=2, seed=1)
    >>> scores(truth)["clip_0"]
    <ClipScores: 500 frames × 5 classes>
    """
    if not 0 <= quality <= 1:
        raise SedscopeError(f"quality={quality} must be between 0 and 1.")
    if truth.durations is None:
        raise SedscopeError("The ground truth needs durations.")
    columns = tuple(truth.labels if classes is None else classes)
    missing = [label for label in truth.labels if label not in columns]
    if missing:
        raise SedscopeError(
            f"Some labels of the ground truth are not among the classes: {listing(missing)}."
        )
    _require_at_least(frame=(frame, 1e-6), seed=(seed, 0))
    number = {clip: i for i, clip in enumerate(truth.clips)}
    durations = truth.durations
    bounds = np.searchsorted(truth.event_clips, np.arange(len(truth.clips) + 1))
    column = np.array([columns.index(label) for label in truth.labels], np.int64)
    flaws = 1 - quality
    # each class is confused with one other class, and has its own best threshold
    of_system = np.random.default_rng([seed, 1])
    confused = np.roll(of_system.permutation(len(columns)), 1)
    bias = of_system.normal(0, 1.2, len(columns)).astype(np.float32)

    def make(clip: str) -> NDArray[np.float32]:
        i = number[clip]
        rng = np.random.default_rng([seed, 2, i])
        frames = max(1, round(int(durations[i]) / 1e6 / frame))
        refuse_beyond_memory(
            12 * frames * len(columns),
            f"The scores of clip {clip} in {frames} frames need",
            "Use longer frames.",
        )
        events = bounds[i] + np.flatnonzero(~truth.ignored[bounds[i] : bounds[i + 1]])
        logits = _background(rng, frames, len(columns), frame)
        logits += bias
        for onset, offset, c in zip(
            truth.onsets[events] / 1e6,
            truth.offsets[events] / 1e6,
            column[truth.event_labels[events]],
            strict=True,
        ):
            if rng.random() < 0.4 * flaws:
                gain = rng.uniform(0, 3)  # missed
            else:
                gain = rng.normal(9 + 3 * quality, 1 + 2 * flaws)
            jitter = rng.normal(0, 0.04 + 0.3 * flaws, 2)
            _raise(logits[:, c], frame, onset + jitter[0], offset + jitter[1], gain, rng)
            for _ in range(rng.poisson(0.15 * flaws * (offset - onset))):
                centre, width = rng.uniform(onset, offset), rng.uniform(0.05, 0.5)
                _raise(logits[:, c], frame, centre - width, centre + width, -gain, rng)
            if rng.random() < 0.05 + 0.35 * flaws:
                gain *= rng.uniform(0.2, 0.9)
                _raise(logits[:, confused[c]], frame, onset, offset, gain, rng)
        seconds = frames * frame
        for _ in range(rng.poisson((0.01 + 0.02 * flaws) * len(columns) * seconds / 10)):
            c, centre = rng.integers(len(columns)), rng.uniform(0, seconds)
            width = rng.lognormal(-1, 0.8)
            _raise(logits[:, c], frame, centre - width, centre + width, rng.uniform(3, 10), rng)
        np.negative(logits, out=logits)
        np.exp(logits, out=logits)
        logits += 1
        return np.reciprocal(logits, out=logits)

    return Scores.from_function(truth.clips, make, classes=columns, frame=frame, thread_safe=True)


def _require_at_least(**parameters: tuple[float, float]) -> None:
    for name, (value, least) in parameters.items():
        if not least <= value < np.inf:
            raise SedscopeError(f"{name}={value!r} must be a number, at least {least:g}.")


def _class_mix(classes: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return each class's share of the events and its median duration."""
    if classes == len(DOMESTIC):
        shares, medians = np.array(list(DOMESTIC.values())).T
    else:
        shares = rng.permutation(1 / np.arange(3, classes + 3))
        medians = np.clip(rng.lognormal(0.4, 0.9, classes), 0.3, 8)
    return shares / shares.sum(), medians


def _without_overlaps(
    clip: IntArray, label: IntArray, onset: FloatArray, offset: FloatArray
) -> NDArray[np.intp]:
    """Sort the events, and leave out those that overlap the previous one of their clip and label."""
    order = np.lexsort((onset, label, clip))
    kept: list[int] = []
    for i in order:
        last = kept[-1] if kept else None
        same = last is not None and clip[i] == clip[last] and label[i] == label[last]
        if not same or onset[i] >= offset[last] + 0.05:
            kept.append(int(i))
    return np.array(kept, np.intp)


def _background(
    rng: np.random.Generator, frames: int, classes: int, frame: float
) -> NDArray[np.float32]:
    """Simulate logits where nothing happens: low, with fast and slow noise."""
    logits = rng.standard_normal((frames, classes), dtype=np.float32)
    logits *= 0.35
    span = max(1, round(0.4 / frame))
    slow = rng.standard_normal((-(-frames // span), classes), dtype=np.float32)
    logits += np.repeat(slow, span, axis=0)[:frames]
    logits -= 6
    return logits


def _raise(
    logits: NDArray[np.float32],
    frame: float,
    onset: float,
    offset: float,
    gain: float,
    rng: np.random.Generator,
) -> None:
    """Add a bump with soft flanks between onset and offset."""
    softness = rng.uniform(0.02, 0.12)
    first = max(0, int((onset - 8 * softness) / frame))
    last = min(len(logits), int((offset + 8 * softness) / frame) + 1)
    if last <= first:
        return
    times = (np.arange(first, last) + 0.5) * frame
    rise = np.clip((times - onset) / softness, -30, 30)
    fall = np.clip((offset - times) / softness, -30, 30)
    shape = gain / ((1 + np.exp(-rise)) * (1 + np.exp(-fall)))
    logits[first:last] += shape.astype(np.float32)
