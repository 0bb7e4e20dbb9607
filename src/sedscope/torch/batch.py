"""Batches of padded clips, as a training loop gives them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.alignment import Alignment, align
from ..data.clip_ids import clip_id
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, ScoreArray, Scores
from ..data.times import frame_ticks
from ..errors import SedscopeError, counted, listing

Targets: TypeAlias = "NDArray[np.bool_] | Sequence[Sequence[tuple[float, float, str]]] | None"
"""(clips × frames × classes) where each class is active; or the events of each clip; or nothing."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Clips of a batch: (clips × frames × classes) scores, of which each clip's first ``lengths``
    frames count."""

    values: ScoreArray
    clips: tuple[str, ...]
    lengths: NDArray[np.int64]
    targets: Targets = None

    @staticmethod
    def checked(
        values: ScoreArray, names: Sequence[str], lengths: Any, targets: Any, classes: Sequence[str]
    ) -> Batch:
        """A batch of which shapes, lengths and targets are right; what is not is named by its clip."""
        clips = tuple(clip_id(name) for name in names)
        if values.ndim != 3 or values.shape[2] != len(classes) or not values.shape[1]:
            raise SedscopeError(
                f"scores must be clips × frames × {counted(len(classes), 'class')}, not of shape "
                f"{values.shape}, in the batch of {listing(clips)}"
            )
        if len(clips) != len(values) or "" in clips:
            raise SedscopeError(
                f"{counted(len(clips), 'clip id')} for {counted(len(values), 'clip')}: {listing(clips)}"
                if len(clips) != len(values)
                else f"an empty text is not the name of a clip: {listing([*map(repr, names)])}"
            )
        batch = Batch(values, clips, _as_lengths(lengths, clips, values.shape[1]))
        return replace(batch, targets=_as_targets(targets, batch, classes))

    def digests(self) -> NDArray[np.uint64]:
        """Per clip a checksum of its scores and targets."""
        found = [
            zlib.crc32(np.ascontiguousarray(values[:length]).data, length)
            for values, length in zip(self.values, self.lengths.tolist(), strict=True)
        ]
        if self.targets is not None:
            bits = [
                target[:length].tobytes() if isinstance(target, np.ndarray) else repr(target).encode()
                for target, length in zip(self.targets, self.lengths.tolist(), strict=True)
            ]
            found = [zlib.crc32(data, digest) for data, digest in zip(bits, found, strict=True)]
        return np.array(found, np.uint64)

    def choose(self, rows: NDArray[np.intp]) -> Batch:
        """Only the clips of these numbers."""
        if len(rows) == len(self.clips):
            return self
        targets = self.targets
        if targets is not None:
            targets = targets[rows] if isinstance(targets, np.ndarray) else [targets[i] for i in rows]
        clips = tuple(self.clips[i] for i in rows)
        return Batch(self.values[rows], clips, self.lengths[rows], targets)

    def scores(self, classes: Sequence[str], frame: float) -> Scores:
        """The clips without what they are padded with."""
        made = {
            clip: ClipScores.unchecked(values[:length], frame_ticks(length, frame))
            for clip, values, length in zip(self.clips, self.values, self.lengths.tolist(), strict=True)
        }
        return Scores(made, made.__getitem__, classes=classes, in_memory=True, thread_safe=True)

    def aligned(self, scores: Scores, frame: float) -> Alignment:
        """The scores, made from this batch, with its targets as reference events."""
        if not isinstance(self.targets, np.ndarray):
            return align(
                scores, GroundTruth.from_dict(dict(zip(self.clips, self.targets or (), strict=True)))
            )
        clips, frames, classes = self.targets.shape
        active = np.zeros((clips, classes, frames + 2), bool)  # with a frame of silence at both ends
        active[:, :, 1:-1] = (self.targets & self._counting()).transpose(0, 2, 1)
        clip, label, boundary = np.nonzero(active[:, :, 1:] != active[:, :, :-1])
        starts = np.searchsorted(clip[::2], np.arange(clips + 1))
        return Alignment(
            scores=scores,
            clips=self.clips,
            classes=scores.classes,
            columns=np.arange(classes, dtype=np.int64),
            events=frame_ticks(frames, frame)[boundary].reshape(-1, 2),
            labels=label[::2].astype(np.int32),
            starts=starts.astype(np.int64),
            durations=np.zeros(clips, np.int64),
            invalid="error",
            warnings=(),
        )

    def _counting(self) -> NDArray[np.bool_]:
        """(clips × frames × 1) whether a frame belongs to its clip."""
        frames = np.arange(self.values.shape[1])
        counting: NDArray[np.bool_] = (frames < self.lengths[:, None])[:, :, None]
        return counting


def _as_lengths(lengths: Any, clips: Sequence[str], frames: int) -> NDArray[np.int64]:
    if lengths is None:
        return np.full(len(clips), frames, np.int64)
    given = np.asarray(lengths)
    if given.shape != (len(clips),) or given.dtype.kind not in "iu":
        raise SedscopeError(
            "lengths must be whole numbers of frames, one for each of the "
            f"{counted(len(clips), 'clip')}, in the batch of {listing(clips)}"
        )
    wrong = [
        f"{clip} ({n})" for clip, n in zip(clips, given.tolist(), strict=True) if not 1 <= n <= frames
    ]
    if wrong:
        raise SedscopeError(
            f"lengths must be from 1 to {counted(frames, 'frame')}: clip {listing(wrong)}"
        )
    return given.astype(np.int64)


def _as_targets(targets: Any, batch: Batch, classes: Sequence[str]) -> Targets:
    if targets is None:
        return None
    if isinstance(targets, np.ndarray):
        return _as_active(targets, batch, classes)
    if not isinstance(targets, Sequence) or len(targets) != len(batch.clips):
        raise SedscopeError(
            f"targets must be a tensor like the scores, or a list of events for each of the "
            f"{counted(len(batch.clips), 'clip')}, in the batch of {listing(batch.clips)}"
        )
    unknown = [
        f"{event[2]!r} in clip {clip}"
        for clip, events in zip(batch.clips, targets, strict=True)
        if isinstance(events, Iterable)
        for event in events
        if isinstance(event, Sequence) and len(event) == 3 and event[2] not in classes
    ]
    if unknown:
        raise SedscopeError(
            f"{counted(len(unknown), 'event')} with a label that is none of the classes: "
            f"{listing(unknown)}. The classes are {listing(classes, limit=30)}"
        )
    return targets


def _as_active(targets: NDArray[Any], batch: Batch, classes: Sequence[str]) -> NDArray[np.bool_]:
    if targets.shape != batch.values.shape:
        raise SedscopeError(
            f"targets of shape {targets.shape} for scores of shape {batch.values.shape}, in the batch "
            f"of {listing(batch.clips)}"
        )
    active: NDArray[np.bool_] = targets != 0
    if targets.dtype != np.bool_:
        wrong = active & (targets != 1) & batch._counting()
        if wrong.any():
            places = [
                f"clip {batch.clips[i]}, class {classes[c]}, frame {frame} ({targets[i, frame, c]:g})"
                for i, frame, c in np.argwhere(wrong)
            ]
            raise SedscopeError(
                f"targets must be 0 or 1: {counted(len(places), 'frame')} with others: {listing(places)}"
            )
    return active
