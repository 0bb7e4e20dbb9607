"""Fit the maps of a score transform to scores and ground truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..counting.clip_reader import EventsRead, RecordingOpened, read_clips, thread_count
from ..data.alignment import align
from ..data.arrays import IntArray, ScoreArray
from ..data.choices import ClipChoice, Missing
from ..data.clip_events import kept_events_error
from ..data.clip_scores import whole_clip_error
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, Scores, refuse_nans
from ..errors import raise_together
from ..postprocessing.score_transform import ScoreMap


def fit_score_maps(
    scores: Scores, truth: GroundTruth, *, clips: ClipChoice, missing: Missing
) -> dict[str, ScoreMap]:
    """Fit one map per class, which makes the scores during its reference events uniform on [0, 1].

    The map of a class without reference events has no knots.
    """
    alignment = align(scores, truth, clips=clips, missing=missing).counted()
    values: list[ScoreArray] = []
    weights: list[IntArray] = []
    for loaded in read_clips(scores, alignment.clips, thread_count(None)):
        if isinstance(loaded, RecordingOpened):
            raise whole_clip_error(alignment.clips[loaded.number])
        if isinstance(loaded, EventsRead):
            raise kept_events_error(alignment.clips[loaded.first])
        raise_together(loaded.failures)
        for number, clip in enumerate(loaded.scores, loaded.first):
            refuse_nans(alignment.clips[number], clip, scores.classes)
            events = slice(*alignment.starts[number : number + 2])
            values.append(clip.values)
            weights.append(_reference_time(clip, alignment.events[events], alignment.labels[events]))
    maps: dict[str, ScoreMap] = {}
    for column, label in enumerate(scores.classes):
        class_scores = np.concatenate([array[:, column].astype(np.float64) for array in values])
        maps[label] = ScoreMap.fit(class_scores, np.concatenate([array[:, column] for array in weights]))
    return maps


def _reference_time(clip: ClipScores, events: IntArray, labels: NDArray[np.int32]) -> IntArray:
    """Return (frames × classes) the time that each frame shares with reference events."""
    shared = np.zeros(clip.values.shape, np.int64)
    for (onset, offset), label in zip(events.tolist(), labels.tolist(), strict=True):
        ends = np.clip(clip.ticks, onset, offset)
        shared[:, label] += ends[1:] - ends[:-1]
    return shared
