"""The clips of an epoch so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import whole_clips
from ..counting.floors import Floor
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.arrays import IntArray, ScoreArray
from ..data.coverage import MANY_CLIPS, MANY_EVENTS, squeezed_references_note
from ..data.times import Ticks
from ..errors import without_options
from ..postprocessing import PostProcessing
from .clip_deltas import ClipDeltas
from .held_clips import HeldClips, NewClips


class EpochClips:
    """What a training metric knows of the clips so far when another batch comes.

    Parameters
    ----------
    requests : mapping of Criterion to DeltaRequest
        What the metrics need.
    classes : int
        The number of classes.
    durations : Ticks or None
        The durations of all clips that may come; None if they are not known. Without them there are
        no floors.
    hold : bool
        Whether clips may be held, which pays where every metric has a floor.
    """

    def __init__(self, requests: Requests, classes: int, durations: Ticks | None, *, hold: bool) -> None:
        self.digests: dict[str, int] = {}
        self.requests = {
            criterion: request.at_every_threshold() for criterion, request in requests.items()
        }
        self._durations = durations
        self._floors = {
            (criterion, variant): Floor(request.false_positive_limit, classes)
            for criterion, request in requests.items()
            for variant in (None, *request.variants)
            if request.false_positive_limit is not None and durations is not None
        }
        self.holds = hold and {*self._floors} == {(criterion, None) for criterion in requests}
        self.held = HeldClips()
        self.first_targets = FirstTargets()

    @without_options()
    def hold(self, clips: NewClips) -> None:
        """Hold clips for later. Invalid scores and events are refused now."""
        (checked,) = whole_clips(clips.alignment, 1, None)
        batch = checked.batch
        for criterion, variant in self._floors:
            self._raise_floor(criterion, variant, batch.maxima, *batch.with_any_event())
        self.digests.update(zip(clips.alignment.clips, clips.digests.tolist(), strict=True))
        self.held.add(clips)

    def add(self, clips: ClipDeltas) -> None:
        """Record clips whose deltas are found."""
        self.digests.update(zip(clips.clips, clips.digests.tolist(), strict=True))
        no_events = np.empty(0, np.int32)
        for deltas in clips.deltas:
            for variant, variant_deltas in ((None, deltas), *deltas.variants.items()):
                if (deltas.criterion, variant) in self._floors:
                    maxima: ScoreArray = variant_deltas.largest_without_references().T
                    self._raise_floor(deltas.criterion, variant, maxima, no_events, no_events)

    def _raise_floor(
        self,
        criterion: Criterion,
        variant: PostProcessing | None,
        maxima: ScoreArray,
        event_clips: NDArray[np.int32],
        labels: NDArray[np.int32],
    ) -> None:
        """Raise a floor to what the largest scores of some more clips allow."""
        floor = self._floors[criterion, variant]
        raised = floor.raise_to(maxima, event_clips, labels, self._durations).astype(np.float64)
        request = self.requests[criterion]
        self.requests[criterion] = replace(request, floors={**request.floors, variant: raised})


class FirstTargets:
    """The first events of an epoch that are given as targets, until there are enough to judge them."""

    def __init__(self) -> None:
        self._offsets: Ticks = np.empty(0, np.int64)
        self._event_clips: IntArray = np.empty(0, np.int64)
        self._ends: Ticks = np.empty(0, np.int64)
        self._judged = False

    def add(self, offsets: Ticks, event_clips: IntArray, ends: Ticks) -> list[str]:
        """Add the events of some more clips. Note, once, that all events lie at the very beginning.

        ``event_clips``: the clip of each event, as an index into ``ends``, where the scores of the clips end.
        """
        if self._judged:
            return []
        self._event_clips = np.concatenate([self._event_clips, event_clips + len(self._ends)])
        self._offsets = np.concatenate([self._offsets, offsets])
        self._ends = np.concatenate([self._ends, ends])
        enough = len(self._offsets) >= MANY_EVENTS
        self._judged = enough and len(np.unique(self._event_clips)) >= MANY_CLIPS
        return squeezed_references_note(self._offsets, self._event_clips, self._ends, stated=False)
