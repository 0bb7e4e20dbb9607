"""Make a failing case small: fewer clips, classes, definitions, references, frames and levels."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .case import Case, SoakClip


def minimise(case: Case, fails: Callable[[Case], bool], seconds: float = 20) -> Case:
    """Take the first smaller case that still fails, again and again, until none does or time is over."""
    end = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for smaller in smaller_cases(case):
            if time.monotonic() > end:
                return case
            if fails(smaller):
                case, found = smaller, True
                break
    return case


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases that are a little smaller, those that are smallest first."""
    clips = list(case.clips)
    for some in _parts(clips):
        yield replace(case, clips=some)
    if len(case.definitions) > 1:
        for i in range(len(case.definitions)):
            yield replace(case, definitions=_without(case.definitions, i))
    if len(case.classes) > 1:
        for label in range(len(case.classes)):
            yield replace(case, clips=[_without_class(clip, label) for clip in clips])
    for i, clip in enumerate(clips):
        for smaller in _smaller_clips(clip):
            yield replace(case, clips=[*clips[:i], smaller, *clips[i + 1 :]])
    levels = sorted({level for clip in clips for scores in clip.scores for level in scores})
    for lower, higher in itertools.pairwise(levels):
        yield replace(case, clips=[_with_level(clip, higher, lower) for clip in clips])
    if case.dtype == "float32":
        yield replace(case, dtype="float64")


def _parts(clips: list[SoakClip]) -> Iterator[list[SoakClip]]:
    """Half of the clips, a quarter less, …, one less."""
    size = len(clips) // 2
    while size:
        for first in range(0, len(clips), size):
            rest = clips[:first] + clips[first + size :]
            if rest:
                yield rest
        size //= 2


def _smaller_clips(clip: SoakClip) -> Iterator[SoakClip]:
    for i in range(len(clip.references)):
        yield replace(clip, references=_without(clip.references, i))
    for i in range(len(clip.ignored)):
        yield replace(clip, ignored=_without(clip.ignored, i))
    frames = len(clip.edges) - 1
    if clip.duration != clip.edges[-1]:
        yield _ending(clip, clip.edges[-1])
    for frame in range(frames if frames > 1 else 0):
        scores = [_without(of_class, frame) for of_class in clip.scores]
        if frame == frames - 1:
            yield replace(_ending(clip, clip.edges[-2]), edges=clip.edges[:-1], scores=scores)
        else:
            yield replace(clip, edges=_without(clip.edges, frame + 1), scores=scores)


def _ending(clip: SoakClip, end: int) -> SoakClip:
    """The clip with an earlier end."""
    references, ignored = (
        [event for event in events if event[0] < end] for events in (clip.references, clip.ignored)
    )
    return replace(clip, duration=end, references=references, ignored=ignored)


def _without(items: Sequence[Any], i: int) -> list[Any]:
    return [*items[:i], *items[i + 1 :]]


def _without_class(clip: SoakClip, label: int) -> SoakClip:
    references, ignored = (
        [(onset, offset, other - (other > label)) for onset, offset, other in events if other != label]
        for events in (clip.references, clip.ignored)
    )
    return replace(clip, scores=_without(clip.scores, label), references=references, ignored=ignored)


def _with_level(clip: SoakClip, old: float, new: float) -> SoakClip:
    scores = [[new if score == old else score for score in of_class] for of_class in clip.scores]
    return replace(clip, scores=scores)
