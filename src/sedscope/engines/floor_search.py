"""From requests to deltas: floors are estimated, an engine passes through the clips, floors are verified.

A metric with a limit on false alarms reads nothing below a floor. The floor of a class depends on all
clips, so it is known only at the end. For large sets, sedscope estimates the floors from a sample of
clips first, and verifies them afterwards. If an estimate was too high for some classes, the engine
passes through the clips again for these classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..alignment.alignment import Alignment
from ..counting.deltas import Deltas
from ..counting.one_pass import with_variants
from ..counting.request import DeltaRequest, Floor, Requests, just_below
from ..counting.units import nth_alarms
from ..criteria import Criterion
from ..errors import SedscopeError
from ..postprocessing import PostProcessing
from ..progress import Progress
from .engine import Engine

_SAMPLE = 512  # clips from which floors are estimated ...
_BYTES_BEFORE_FLOORS = 2**27  # ... where more scores than this would be read before the floors rise


def find_deltas(
    alignment: Alignment, requests: Requests, engine: Engine, progress: Progress | None = None
) -> dict[Criterion, Deltas]:
    """Find the deltas of several criteria with an engine."""
    estimated = with_estimated_floors(alignment, requests, engine)
    deltas = engine.run_pass(alignment, estimated, progress)
    return above_floors_that_hold(deltas, alignment, estimated, engine, progress)


def above_floors_that_hold(
    deltas: Mapping[Criterion, Deltas],
    alignment: Alignment,
    estimated: Requests,
    engine: Engine,
    progress: Progress | None = None,
) -> dict[Criterion, Deltas]:
    """Verify the estimated floors of what a pass found, and find again what they hid."""
    some = next(iter(deltas.values()))
    if some.extents is not None:
        alignment.require_coverage(some.durations, some.extents)
    if all(request.false_positive_limit is None for request in estimated.values()):
        return {**deltas}
    verified = {
        criterion: verify(deltas[criterion], request, all_clips=not engine.splits_clips)
        for criterion, request in estimated.items()
    }
    missed = {
        criterion: replace(
            estimated[criterion].at_every_threshold(),
            floors={},
            classes={variant: part.missed for variant, part in parts.items()},
        )
        for criterion, parts in verified.items()
        if any(part.missed.any() for part in parts.values())
    }
    if missed:
        repeated = engine.run_pass(alignment, missed, progress)
        for criterion, request in missed.items():
            limit = estimated[criterion].false_positive_limit
            complete = verify(repeated[criterion], replace(request, false_positive_limit=limit))
            for variant, part in verified[criterion].items():
                verified[criterion][variant] = part.completed_by(complete[variant].deltas)
    return {
        criterion: with_variants({variant: part.deltas for variant, part in parts.items()})
        for criterion, parts in verified.items()
    }


def cut_at_floors(deltas: Deltas, request: DeltaRequest) -> Deltas:
    """Return the deltas above the floors that a request has for these clips, if they reach further down."""
    parts = verify(deltas, request)
    return with_variants({variant: part.deltas for variant, part in parts.items()})


def with_estimated_floors(
    alignment: Alignment, requests: Requests, engine: Engine
) -> dict[Criterion, DeltaRequest]:
    """Add estimated floors to the requests, if that avoids many deltas that no metric reads."""
    limited = {
        criterion: Floor(request.false_positive_limit, len(alignment.classes))
        for criterion, request in requests.items()
        if request.false_positive_limit is not None
    }
    if not limited or not _worth_estimating(alignment, limited, engine):
        return {**requests}
    clips, durations = alignment.clips, alignment.durations
    number = min(_SAMPLE, len(clips))
    sample = alignment.choose(np.linspace(0, len(clips) - 1, number).astype(np.intp))
    variants = {variant for criterion in limited for variant in (None, *requests[criterion].variants)}
    maxima = {variant: engine.largest_false_alarms(sample, variant) for variant in variants}
    estimated = {**requests}
    for criterion, floor in limited.items():
        floors = {
            variant: floor.estimate(of_sample, len(clips), durations)
            for variant in (None, *requests[criterion].variants)
            if (of_sample := maxima[variant]) is not None
        }
        estimated[criterion] = replace(requests[criterion], floors=floors)
    return estimated


def _worth_estimating(alignment: Alignment, limited: Mapping[Criterion, Floor], engine: Engine) -> bool:
    if (alignment.durations == 0).any():
        return False  # without the total duration there are no floors
    if engine.splits_clips:
        return True
    if alignment.scores.in_memory or len(alignment.clips) < 2 * _SAMPLE:
        return False
    clips_before_floors = max(floor.needed(alignment.durations) for floor in limited.values())
    return clips_before_floors * _bytes_of_a_clip(alignment) >= _BYTES_BEFORE_FLOORS


def _bytes_of_a_clip(alignment: Alignment) -> int:
    """Return about how much memory the scores of a clip take.

    The result is 0 if the clip in the middle cannot be read: the pass over all clips reports that.
    """
    try:
        clip = alignment.scores.open(alignment.clips[len(alignment.clips) // 2])
    except SedscopeError:
        return 0
    return 4 * (len(clip.ticks) - 1) * len(alignment.scores.classes)


@dataclass(frozen=True, eq=False)
class Verified:
    """The deltas of one variant above floors that hold."""

    deltas: Deltas
    missed: NDArray[np.bool_]
    """The classes whose estimated floor was too high, so that deltas are missing."""

    def completed_by(self, complete: Deltas) -> Verified:
        """Take the missed classes from deltas that are complete."""
        from ..counting.deltas import combine

        choice = np.repeat(self.missed[:, None].astype(np.intp), len(complete.clips), axis=1)
        return replace(self, deltas=combine([self.deltas, complete], choice))


ByVariant: TypeAlias = "dict[PostProcessing | None, Verified]"


def verify(deltas: Deltas, request: DeltaRequest, *, all_clips: bool = False) -> ByVariant:
    """Cut the deltas at the floors that hold, and find the classes whose estimated floor does not.

    ``all_clips``: whether one pass went through all clips. Where no floors were estimated, those of its last
    clips then hold.
    """
    by_variant: ByVariant = {}
    for variant, part in ((None, deltas), *deltas.variants.items()):
        classes = len(part.classes)
        missed = np.zeros(classes, bool)
        settled = all_clips and variant not in request.floors and np.isfinite(part.floors).all()
        limited = request.false_positive_limit is not None
        if limited and not settled and (part.durations > 0).all():
            estimate = request.floors.get(variant, np.full(classes, -np.inf))
            floor = Floor(request.false_positive_limit, classes)
            above = nth_alarms(part, floor.needed(part.durations))
            holds = above > -np.inf
            lowest = just_below(above, part.floors.dtype)
            risen = part.floors.astype(np.float64) > estimate
            requested = request.classes.get(variant, np.ones(classes, bool))
            missed = requested & ~(holds | risen | np.isneginf(estimate))
            if (lowest > part.floors).any():
                part = part.above(lowest)
        by_variant[variant] = Verified(replace(part, variants={}), missed)
    return by_variant
