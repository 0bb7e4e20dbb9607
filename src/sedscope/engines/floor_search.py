"""From scores and ground truth to deltas, as far down as they are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import Progress
from ..counting.deltas import Deltas, combine
from ..counting.floors import Floor, rounded_down
from ..counting.one_pass import Wanted, collect_once, largest_false_alarms, with_variants
from ..counting.threads import thread_count
from ..criteria.criterion import Criterion
from ..data.alignment import Alignment, ClipChoice, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..errors import SedscopeError
from ..postprocessing import PostProcessing, as_postprocessings

_SAMPLE = 512  # clips from which floors are guessed ...
_BYTES_IN_VAIN = 2**27  # ... where more scores than this would be looked at before the floors rise


def deltas(
    scores: Scores,
    truth: GroundTruth,
    criterion: Criterion,
    *,
    classes: Iterable[str] | None = None,
    clips: ClipChoice = None,
    missing: Missing = "error",
    postprocessing: PostProcessing | Iterable[PostProcessing] | str = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Deltas:
    """How the counts of ``criterion`` change at every threshold.

    ``postprocessing``: variants of the scores that are to be counted, too: a list, or the text of a
    sweep; see ``variants``.

    >>> scores = Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from sedscope import Intersection
    >>> deltas(scores, truth, Intersection(0.7, 0.7)).counts()["Dog"].tp.tolist()
    [1, 0]
    """
    if not hasattr(criterion, "find_deltas"):
        raise SedscopeError(f"not a criterion: {criterion!r}")
    wanted = Wanted(variants=as_postprocessings(postprocessing))
    alignment = align(scores, truth, classes=classes, clips=clips, missing=missing)
    return collect(alignment, {criterion: wanted}, threads=threads, progress=progress)[criterion]


def collect(
    alignment: Alignment,
    wanted: Mapping[Criterion, Wanted],
    *,
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """The deltas of several criteria.

    ``engine``: how clips are gone through, :func:`collect_once` unless given. Where much would be found
    in vain, floors are guessed from some clips first. Whether a guess holds is known at the end; for
    classes for which it does not, clips are gone through again.
    """
    go = engine or collect_once
    guessed = _with_guesses(alignment, wanted, thread_count(threads), engine)
    found = go(alignment, guessed, threads=threads, progress=progress)
    settled = {criterion: _settle(found[criterion], guessed[criterion]) for criterion in wanted}
    again = {
        criterion: replace(
            guessed[criterion],
            false_positive_limit=None,
            floors={},
            classes={variant: short for variant, (_, short) in parts.items()},
        )
        for criterion, parts in settled.items()
        if any(short.any() for _, short in parts.values())
    }
    if again:
        repeated = go(alignment, again, threads=threads, progress=progress)
        for criterion, want in again.items():
            limited = replace(want, false_positive_limit=wanted[criterion].false_positive_limit)
            for variant, (complete, _) in _settle(repeated[criterion], limited).items():
                pruned, short = settled[criterion][variant]
                choice = np.repeat(short[:, None].astype(np.intp), len(complete.clips), axis=1)
                settled[criterion][variant] = (combine([pruned, complete], choice), short)
    return {criterion: with_variants(parts) for criterion, parts in settled.items()}


class Engine(Protocol):
    """A way to go through all clips once."""

    def __call__(
        self,
        alignment: Alignment,
        wanted: Mapping[Criterion, Wanted],
        *,
        threads: int | None,
        progress: Progress | None,
    ) -> dict[Criterion, Deltas]:
        """The deltas above the wanted floors."""

    def largest_false_alarms(
        self, alignment: Alignment, variant: PostProcessing | None, threads: int
    ) -> NDArray[np.float64] | None:
        """See :func:`~sedscope.counting.one_pass.largest_false_alarms`."""


def _with_guesses(
    alignment: Alignment, wanted: Mapping[Criterion, Wanted], workers: int, engine: Engine | None
) -> dict[Criterion, Wanted]:
    """Where much would be found in vain before the floors rise, begin with a guess from some clips; with
    an engine always, since the floors of its parts do not rise."""
    limited = {
        criterion: Floor(want.false_positive_limit, len(alignment.classes))
        for criterion, want in wanted.items()
        if want.false_positive_limit is not None
    }
    clips, durations = alignment.clips, alignment.durations
    if not limited or (durations == 0).any():
        return {**wanted}
    if engine is None:
        if alignment.scores.in_memory or len(clips) < 2 * _SAMPLE:
            return {**wanted}
        clips_in_vain = max(floor.needed(durations) for floor in limited.values())
        if clips_in_vain * _bytes_of_a_clip(alignment) < _BYTES_IN_VAIN:
            return {**wanted}
    find = largest_false_alarms if engine is None else engine.largest_false_alarms
    number = min(_SAMPLE, len(clips))
    sample = alignment.choose(np.linspace(0, len(clips) - 1, number).astype(np.intp))
    guessed = {**wanted}
    variants = {variant for criterion in limited for variant in (None, *wanted[criterion].variants)}
    maxima = {variant: find(sample, variant, workers) for variant in variants}
    for criterion, floor in limited.items():
        floors = {
            variant: floor.guess(found, len(clips), durations)
            for variant in (None, *wanted[criterion].variants)
            if (found := maxima[variant]) is not None
        }
        guessed[criterion] = replace(wanted[criterion], floors=floors)
    return guessed


def _bytes_of_a_clip(alignment: Alignment) -> int:
    """About how much the scores of a clip take; 0 if the one in the middle cannot be read, which is said
    where all clips are."""
    try:
        clip = alignment.scores.open(alignment.clips[len(alignment.clips) // 2])
    except SedscopeError:
        return 0
    return 4 * (len(clip.ticks) - 1) * len(alignment.scores.classes)


_Settled: TypeAlias = "dict[PostProcessing | None, tuple[Deltas, NDArray[np.bool_]]]"


def _settle(deltas: Deltas, want: Wanted) -> _Settled:
    """The deltas above the floors that surely hold, and the classes whose guessed floor was too high."""
    settled: _Settled = {}
    for variant, found in ((None, deltas), *deltas.variants.items()):
        everything = np.ones(len(found.classes), bool)
        guess = want.floors.get(variant, np.full(len(found.classes), -np.inf))
        short = np.zeros(len(found.classes), bool)
        if want.false_positive_limit is not None and (found.durations > 0).all():
            floor = Floor(want.false_positive_limit, len(found.classes))
            holds, lowest = floor.of(found.largest_without_references(), found.durations)
            risen = found.floors.astype(np.float64) > guess
            short = want.classes.get(variant, everything) & ~(holds | risen | np.isneginf(guess))
            if (lowest > found.floors).any():
                found = found.above(rounded_down(lowest, found.floors.dtype))
        settled[variant] = (replace(found, variants={}), short)
    return settled
