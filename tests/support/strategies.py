"""Hypothesis strategies for small sets of clips, and the same clips as sedscope's objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

import sedscope as sed
from sedscope import ClipScores, GroundTruth, Intersection, Scores

from . import oracle
from .oracle import diagnosis

EventCriterion = sed.Intersection | sed.Collar | sed.IoU

LABELS = ("a", "b", "c")
INF = float("inf")

# few distinct values, for ties and plateaus, or any
tied_scores = st.sampled_from([-INF, -1.0, -0.0, 0.0, 0.25, 0.5, 0.75, 1.0])
any_scores = st.floats(-10, 10, width=32)
collars = st.sampled_from([None, 0.0, 1e-6, 3e-6, 1e-5, 0.064, 0.2])
dtypes = st.sampled_from([np.float32, np.float64])
parts = st.sampled_from([0.1, 0.3, 0.5, 0.7, 1.0]) | st.floats(0.01, 1)


@st.composite
def references(draw: st.DrawFn, end: int, labels: Sequence[str] = LABELS) -> list[tuple[int, int, str]]:
    """Events that do not overlap within a label, may touch, and may reach beyond the clip."""
    events = []
    for label in labels:
        bounds = draw(st.lists(st.integers(0, end + end // 2 + 1), max_size=6).map(sorted))
        used = draw(st.lists(st.booleans(), min_size=len(bounds), max_size=len(bounds)))
        events += [
            (onset, offset, label)
            for onset, offset, use in zip(bounds, bounds[1:], used, strict=False)
            if use and onset < offset and onset < end
        ]
    return events


@st.composite
def clips(draw: st.DrawFn, max_frames: int = 10) -> oracle.Clip:
    """A clip of frames of very different lengths, with scores and references of all labels."""
    lengths = draw(st.lists(st.sampled_from([1, 2, 3, 10, 64_000]), min_size=1, max_size=max_frames))
    edges = np.concatenate([[draw(st.sampled_from([0, 0, 5]))], lengths]).cumsum().tolist()
    score = draw(st.sampled_from([tied_scores, any_scores]))
    return oracle.Clip(
        edges=edges,
        scores={
            label: draw(st.lists(score, min_size=len(lengths), max_size=len(lengths)))
            for label in LABELS
        },
        references=draw(references(edges[-1])),
        duration=edges[-1] + draw(st.sampled_from([0, 0, 7])),
    )


clip_lists = st.lists(clips(), min_size=1, max_size=4)


@st.composite
def criteria(draw: st.DrawFn, *, cross_triggers: bool | None = None) -> Intersection:
    """An intersection criterion, with cross-triggers or without."""
    if cross_triggers is None:
        cross_triggers = draw(st.booleans())
    return Intersection(draw(parts), draw(parts), draw(parts) if cross_triggers else None)


def name(i: int) -> str:
    """The id of the i-th clip."""
    return f"clip{i}"


def to_scores(case: Sequence[oracle.Clip], dtype: type = np.float64) -> Scores:
    """The oracle's clips as scores."""
    made = {
        name(i): ClipScores.from_ticks(
            np.array([clip.scores[label] for label in LABELS], dtype).T, np.array(clip.edges, np.int64)
        )
        for i, clip in enumerate(case)
    }
    return Scores(made, made.__getitem__, classes=LABELS, in_memory=True)


def to_truth(case: Sequence[oracle.Clip]) -> GroundTruth:
    """The oracle's clips as ground truth."""
    counted, ignored = (
        {
            name(i): [(on / 1e6, off / 1e6, label) for on, off, label in events]
            for i, events in enumerate(of_clips)
        }
        for of_clips in ([clip.references for clip in case], [clip.ignored for clip in case])
    )
    return GroundTruth.from_dict(
        counted,
        durations={name(i): clip.duration / 1e6 for i, clip in enumerate(case)},
        ignored=ignored,
        ignored_labels=[oracle.EVERY_LABEL],
    )


@st.composite
def crowded_clips(draw: st.DrawFn) -> oracle.Clip:
    """Many short frames and references, closer together than collars: many matchings are possible."""
    frames = draw(st.integers(1, 14))
    score = draw(st.sampled_from([tied_scores, any_scores]))
    bounds = draw(st.lists(st.integers(0, frames + 2), max_size=9).map(sorted))
    events = [(on, off, label) for label in LABELS[:2] for on, off in pairwise(bounds) if on < off]
    return oracle.Clip(
        edges=list(range(frames + 1)),
        scores={label: draw(st.lists(score, min_size=frames, max_size=frames)) for label in LABELS},
        references=[(on, off, label) for on, off, label in events if on < frames],
        duration=frames,
    )


@st.composite
def clips_with_ignored(draw: st.DrawFn) -> oracle.Clip:
    """A clip with ignored references, of labels and of every label, that may overlap all others."""
    clip = draw(crowded_clips() | clips(max_frames=8))
    ignored = draw(references(clip.edges[-1], (*LABELS[:2], oracle.EVERY_LABEL)))
    return replace(clip, ignored=ignored)


clip_lists_with_ignored = st.lists(clips_with_ignored(), min_size=1, max_size=3)
mixed_clip_lists = clip_lists | st.lists(crowded_clips(), min_size=1, max_size=3)


@st.composite
def collar_criteria(draw: st.DrawFn) -> sed.Collar:
    """A collar on onsets, offsets or both."""
    onset, offset = draw(collars), draw(collars)
    if onset is None and offset is None:
        onset = 2e-6
    rate = draw(st.sampled_from([0.0, 0.2, 0.5]))
    return sed.Collar(onset, offset, rate, cross_triggers=draw(st.booleans()))


def in_ticks(collar: sed.Collar) -> dict[str, Any]:
    """The parameters of a collar as the oracle takes them."""
    return {
        "onset": None if collar.onset is None else oracle.ticks(collar.onset),
        "offset": None if collar.offset is None else oracle.ticks(collar.offset),
        "offset_rate": collar.offset_rate,
    }


def for_oracle(criterion: EventCriterion) -> diagnosis.EventCriterion:
    """A criterion as the oracle of the diagnosis takes it."""
    if isinstance(criterion, sed.Intersection):
        return diagnosis.Intersection(criterion.dtc, criterion.gtc, criterion.cttc)
    if isinstance(criterion, sed.IoU):
        return diagnosis.IoU(criterion.threshold, criterion.strict, criterion.cross_triggers)
    return diagnosis.Collar(**in_ticks(criterion), cross_triggers=criterion.cross_triggers)
