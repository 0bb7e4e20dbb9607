"""Batches of padded clips, as a training loop provides them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.alignment import Alignment, align
from ..data.arrays import IntArray
from ..data.clip_ids import clip_id
from ..data.ground_truth import GroundTruth
from ..data.labels import likely_pairs
from ..data.scores import ClipScores, Scores
from ..data.times import frame_ticks
from ..errors import SedscopeError, counted, listing, subject, without_options
from .batch_scores import BatchScores, Summary

Targets: TypeAlias = "NDArray[np.bool_] | Sequence[Sequence[tuple[float, float, str]]] | None"
"""(clips × frames × classes) whether each class is active; or the events of each clip; or None."""


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of padded clips."""

    scores: BatchScores
    clips: tuple[str, ...]
    lengths: IntArray
    """How many frames of each clip count; the others are padding."""
    targets: Targets = None

    @staticmethod
    def from_arrays(
        scores: BatchScores, names: Sequence[str], lengths: Any, targets: Any, classes: Sequence[str]
    ) -> Batch:
        """Make a batch, and refuse shapes, lengths and targets that do not fit."""
        clips, shape = tuple(map(clip_id, names)), scores.shape
        if len(shape) != 3 or shape[2] != len(classes) or not shape[1]:
            turned = len(shape) == 3 and shape[1] == len(classes)
            raise SedscopeError(
                f"Scores must have the shape clips × frames × {counted(len(classes), 'class')}, not "
                f"{shape} (batch of {listing(clips)})."
                + (" Turn them with scores.transpose(1, 2)." if turned else "")
            )
        if len(clips) != shape[0]:
            raise SedscopeError(
                f"The batch has {counted(len(clips), 'clip id')} for {counted(shape[0], 'clip')}: "
                f"{listing(clips)}."
            )
        if "" in clips:
            raise SedscopeError(f"A clip id must not be empty: {listing([*map(repr, names)])}.")
        batch = Batch(scores, clips, _as_lengths(lengths, clips, shape[1]))
        return replace(batch, targets=_as_targets(targets, batch, classes))

    def summarise(self, threads: int) -> Summary:
        """Return the largest scores of each clip, and a checksum of its scores and targets."""
        summary = self.scores.summarise(self.lengths, threads)
        if self.targets is None:
            return summary
        digests = [
            zlib.crc32(
                target[:length].tobytes() if isinstance(target, np.ndarray) else repr(target).encode()
            )
            for target, length in zip(self.targets, self.lengths.tolist(), strict=True)
        ]
        return Summary(summary.maxima, summary.digests ^ np.array(digests, np.uint64))

    def select(self, rows: NDArray[np.intp]) -> Batch:
        """Keep only some of the clips, by their rows."""
        if len(rows) == len(self.clips):
            return self
        targets = self.targets
        if targets is not None:
            targets = targets[rows] if isinstance(targets, np.ndarray) else [targets[i] for i in rows]
        clips = tuple(self.clips[i] for i in rows)
        return Batch(self.scores.select(rows), clips, self.lengths[rows], targets)

    def as_scores(self, classes: Sequence[str], frame: float) -> Scores:
        """Return the scores of the clips, without the padding."""
        clips = {
            clip: ClipScores.unchecked(values[:length], frame_ticks(length, frame))
            for clip, values, length in zip(
                self.clips, self.scores.array, self.lengths.tolist(), strict=True
            )
        }
        return Scores(clips, clips.__getitem__, classes=classes, in_memory=True, thread_safe=True)

    def align(self, scores: Scores, frame: float) -> Alignment:
        """Align scores that were made from this batch with its targets as reference events."""
        if not isinstance(self.targets, np.ndarray):
            events = dict(zip(self.clips, self.targets or (), strict=True))
            with without_options():
                return align(scores, GroundTruth.from_dict(events))
        clips, frames, classes = self.targets.shape
        active = np.zeros((clips, classes, frames + 2), bool)  # with a frame of silence at both ends
        active[:, :, 1:-1] = (self.targets & self.inside()).transpose(0, 2, 1)
        clip, label, boundary = np.nonzero(active[:, :, 1:] != active[:, :, :-1])
        starts = np.searchsorted(clip[::2], np.arange(clips + 1))
        return Alignment(
            scores=scores,
            clips=self.clips,
            classes=scores.classes,
            columns=np.arange(classes, dtype=np.int64),
            events=frame_ticks(frames, frame)[boundary].reshape(-1, 2),
            labels=label[::2].astype(np.int32),
            ignored=np.zeros(len(label) // 2, bool),
            starts=starts.astype(np.int64),
            durations=np.zeros(clips, np.int64),
            coverage="error",
            invalid="error",
            warnings=(),
        )

    def inside(self) -> NDArray[np.bool_]:
        """Return (clips × frames × 1) whether each frame belongs to its clip and is not padding."""
        frames = np.arange(self.scores.shape[1])
        inside: NDArray[np.bool_] = (frames < self.lengths[:, None])[:, :, None]
        return inside


def _as_lengths(lengths: Any, clips: Sequence[str], frames: int) -> IntArray:
    if lengths is None:
        return np.full(len(clips), frames, np.int64)
    array = np.asarray(lengths)
    if array.shape != (len(clips),) or array.dtype.kind not in "iu":
        raise SedscopeError(
            f"lengths must be {counted(len(clips), 'whole number')} of frames, one for each clip "
            f"(batch of {listing(clips)})."
        )
    wrong = [
        f"{clip} ({length})"
        for clip, length in zip(clips, array.tolist(), strict=True)
        if not 1 <= length <= frames
    ]
    if wrong:
        raise SedscopeError(
            f"lengths must be from 1 to {counted(frames, 'frame')}: clip {listing(wrong)}."
        )
    return array.astype(np.int64)


def _as_targets(targets: Any, batch: Batch, classes: Sequence[str]) -> Targets:
    if targets is None:
        return None
    if isinstance(targets, np.ndarray):
        return _as_active(targets, batch, classes)
    if not isinstance(targets, Sequence) or len(targets) != len(batch.clips):
        raise SedscopeError(
            "targets must be a tensor with the shape of the scores, or a list of events for each of the "
            f"{counted(len(batch.clips), 'clip')} (batch of {listing(batch.clips)})."
        )
    unknown = [
        (event[2], clip)
        for clip, events in zip(batch.clips, targets, strict=True)
        if isinstance(events, Iterable)
        for event in events
        if isinstance(event, Sequence) and len(event) == 3 and str(event[2]).strip() not in classes
    ]
    if unknown:
        likely = dict(likely_pairs([str(label) for label, _ in unknown], classes))
        shown = [
            f"{label!r} in clip {clip}"
            + (f" (did you mean {likely[label]}?)" if label in likely else "")
            for label, clip in unknown
        ]
        raise SedscopeError(
            f"{subject(len(unknown), 'event', 'has')} a label that is none of the classes: "
            f"{listing(shown)}. The classes are {listing(classes, limit=30)}."
        )
    return targets


def _as_active(targets: NDArray[Any], batch: Batch, classes: Sequence[str]) -> NDArray[np.bool_]:
    """Convert a tensor of 0 and 1 to booleans."""
    if targets.shape != batch.scores.shape:
        raise SedscopeError(
            f"targets of shape {targets.shape} do not fit scores of shape {batch.scores.shape} "
            f"(batch of {listing(batch.clips)})."
        )
    active: NDArray[np.bool_] = targets != 0
    if targets.dtype != np.bool_:
        wrong = active & (targets != 1) & batch.inside()
        if wrong.any():
            locations = [
                f"clip {batch.clips[i]}, class {classes[c]}, frame {frame} ({targets[i, frame, c]:g})"
                for i, frame, c in np.argwhere(wrong)
            ]
            raise SedscopeError(
                f"targets must be 0 or 1. Found {counted(len(locations), 'other value')}: "
                f"{listing(locations)}."
            )
    return active
