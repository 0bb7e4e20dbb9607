"""Random scores and ground truth that are hard to count: ties, plateaus, neighbouring floats."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sedscope as sed

Event = tuple[float, float, str]


LABELS = ("Alarm", "Blender", "Cat", "Dog")


TIES = [-1.0, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0]


KINDS = ("ties", "plateaus", "float32", "neighbours", "walk")


def random_set(
    rng: np.random.Generator,
    kind: str,
    *,
    coarse: bool = False,
    with_references: int | None = None,
    never: bool = True,
) -> tuple[sed.Scores, sed.GroundTruth]:
    """A few short clips.

    Times are multiples of 4 µs or, often or if ``coarse``, of 10 ms, with which shares are met exactly.
    All classes, or as many as ``with_references`` says, have references. ``never``: some scores of the
    kind with ties may be ``-inf``.
    """
    labels = LABELS[: rng.integers(2, len(LABELS) + 1)]
    step = 10_000 if coarse or rng.random() < 0.75 else 4
    touching, even_frames = rng.random(2) < 0.5
    clips: dict[str, sed.ClipScores] = {}
    events: dict[str, list[Event]] = {}
    durations: dict[str, float] = {}
    for clip in [f"clip{i}" for i in range(rng.integers(1, 7))]:
        number_of_frames = rng.integers(20 if clip == "clip0" else 1, 40)
        shortest, longest = (1, 3) if step == 10_000 else (250, 20_000)
        frames = step * rng.integers(shortest, longest, number_of_frames, endpoint=True)
        if even_frames:
            frames[:] = frames[0]
        edges = np.cumsum([rng.choice([0, step]), *frames])
        events[clip] = _references(rng, labels, int(edges[-1]), step, touching=bool(touching))
        values = _values(rng, kind, edges, labels, events[clip], never=never)
        clips[clip] = sed.ClipScores.from_ticks(values, edges)
        durations[clip] = (edges[-1] + rng.choice([0, 7 * step])) / 1e6
    for label in labels[:with_references]:
        if not any(event[2] == label for of_clip in events.values() for event in of_clip):
            middle = clips["clip0"].ticks[len(clips["clip0"].values) // 2]
            events["clip0"].append((0, middle / 1e6, label))
    scores = sed.Scores(clips, clips.__getitem__, classes=labels, in_memory=True)
    return scores, sed.GroundTruth.from_dict(events, durations=durations)


def _references(
    rng: np.random.Generator, labels: Sequence[str], end: int, step: int, *, touching: bool
) -> list[Event]:
    """Events that begin before the end of the scores, and may end after it."""
    events: list[Event] = []
    for label in labels:
        bounds = step * np.unique(rng.integers(0, end // step + end // step // 5 + 2, rng.integers(8)))
        last = -1
        for onset, offset in pairwise(bounds.tolist()):
            valid = onset < end and offset - onset >= 1000
            if valid and (touching or onset > last) and rng.random() < 0.6:
                events.append((onset / 1e6, offset / 1e6, label))
                last = offset
    return events


def _values(
    rng: np.random.Generator,
    kind: str,
    edges: NDArray[np.int64],
    labels: Sequence[str],
    events: Sequence[Event],
    *,
    never: bool,
) -> NDArray[Any]:
    """Scores that are mostly higher in the references of their class than elsewhere."""
    shape = (len(edges) - 1, len(labels))

    def draw() -> NDArray[Any]:
        if kind == "ties":
            scores: NDArray[Any] = rng.choice([-np.inf, *TIES] if never else TIES, shape)
        elif kind == "plateaus":
            levels = rng.normal(size=(shape[0] // 3 + 1, shape[1])).astype(np.float32)
            scores = np.repeat(levels, 3, axis=0)[: shape[0]]
        elif kind == "float32":
            scores = rng.random(shape, dtype=np.float32)
        elif kind == "neighbours":  # adjacent float64 numbers: one and the same in float32
            scores = 0.5 + rng.integers(6, size=shape) * np.spacing(0.5)
        else:
            scores = np.cumsum(rng.normal(size=shape), axis=0)
        return scores

    middles = (edges[:-1] + edges[1:]) / 2e6
    high = rng.random(shape) < 0.1
    for onset, offset, label in events:
        high[:, labels.index(label)] ^= (onset <= middles) & (middles < offset)
    first, second = draw(), draw()
    scores: NDArray[Any] = np.where(high, np.maximum(first, second), np.minimum(first, second))
    return scores


def in_whole_segments(scores: sed.Scores, truth: sed.GroundTruth, length: float) -> sed.GroundTruth:
    """The same events, in clips that last until the end of the last segment that has scores."""
    events = {clip: truth.events(clip) for clip in scores}
    ends = {clip: float(np.ceil(scores[clip].edges[-1] / length) * length) for clip in scores}
    return sed.GroundTruth.from_dict(events, durations=ends)
