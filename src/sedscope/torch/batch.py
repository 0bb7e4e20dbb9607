"""Batches of padded clips, as a training loop provides them, on the CPU or on a GPU."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _native
from ..alignment.alignment import Alignment, align
from ..data.arrays import IntArray, ScoreArray
from ..data.clip_scores import as_scores
from ..data.clips import clip_id
from ..data.ground_truth import GroundTruth
from ..data.labels import likely_pairs
from ..data.scores import ClipScores, Scores
from ..data.times import frame_ticks
from ..errors import SedscopeError, counted, listing, subject, without_options

_BLOCK = 1024  # words of a digest
_BYTES_OF_A_THREAD = 2 * 2**20


def dense_tensor(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """Return a tensor that numpy can read once it is on the CPU, and refuse tensors without such values.

    Half types and smaller ones, of which numpy lacks some, become float32 without loss.
    """
    try:
        dense = tensor.detach().resolve_conj().resolve_neg()
        if dense.is_floating_point() and dense.element_size() < 4:
            dense = dense.float()
        if type(dense) is not torch.Tensor or not dense.is_cuda:
            dense.reshape(-1)[:0].to("cpu").numpy()
        return dense
    except (TypeError, RuntimeError, AttributeError) as error:
        raise SedscopeError(
            f"{name} must be a dense tensor that holds values, but this one cannot be read "
            f"({str(error).partition(chr(10))[0]}). Give tensor.to_dense() of a sparse tensor, "
            "tensor.dequantize() of a quantized one, and torch.nested.to_padded_tensor(…) with lengths= of a "
            "nested one. Tensors on the device 'meta' and fake tensors hold no values."
        ) from None


@dataclass(frozen=True, eq=False)
class Summary:
    """What a metric must know of every clip of a batch."""

    maxima: ScoreArray
    """(clips × classes) the largest score; NaN where a score is NaN."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores."""


@dataclass(frozen=True, eq=False)
class BatchScores:
    """(clips × frames × classes) float32 or float64. Scores on a GPU stay there until they are needed."""

    tensor: Any

    @staticmethod
    def from_tensor(tensor: torch.Tensor) -> BatchScores:
        """Take the scores of a batch, and refuse types that are not scores."""
        tensor = dense_tensor(tensor, "scores")
        if tensor.dtype not in (torch.float32, torch.float64):
            tensor = torch.from_numpy(as_scores(tensor.to("cpu").numpy()))
        return BatchScores(tensor if tensor.is_cuda else tensor.to("cpu"))

    @property
    def shape(self) -> tuple[int, ...]:
        """The clips, frames and classes."""
        return tuple(self.tensor.shape)

    @property
    def on_gpu(self) -> bool:
        """Whether the scores are on a GPU, so that copying them takes time."""
        return bool(self.tensor.is_cuda)

    @property
    def is_double(self) -> bool:
        """Whether the scores are float64."""
        return bool(self.tensor.dtype == torch.float64)

    @cached_property
    def array(self) -> ScoreArray:
        """The scores on the CPU."""
        return as_scores(self.tensor.to("cpu").numpy())

    def select(self, rows: NDArray[np.intp]) -> BatchScores:
        """Keep only some of the clips."""
        return BatchScores(self.tensor[torch.from_numpy(rows).to(self.tensor.device)])

    def threads(self, most: int) -> int:
        """Return how many threads pay for a look at all scores."""
        size = int(self.tensor.numel() * self.tensor.element_size())
        return max(1, min(most, size // _BYTES_OF_A_THREAD))

    def summarise(self, lengths: IntArray, threads: int) -> Summary:
        """Look at all scores once. ``lengths``: how many frames of each clip count."""
        if self.on_gpu:
            return summarise_tensor(self.tensor, lengths)
        array = np.ascontiguousarray(self.array)
        return Summary(*_native.summarise_clips(array, lengths, self.threads(threads)))

    def keep_columns(
        self,
        store: _native.ColumnStore,
        rows: IntArray,
        labels: IntArray,
        clips: IntArray,
        frames: IntArray,
        largest: ScoreArray,
        threads: int,
    ) -> None:
        """Copy some columns, and only these if the scores are on a GPU.

        Column i has the class ``labels[i]`` of the clip in ``rows[i]``, which is clip ``clips[i]`` of the
        store.
        """
        if self.on_gpu:
            values = columns_of_tensor(self.tensor, rows, labels)
            chosen = [np.arange(len(rows)), np.zeros_like(rows)]
        else:
            values, chosen = self.array, [rows, labels]
        numbers = np.stack([*chosen, clips, labels, frames], axis=1)
        store.add(values, numbers, largest, self.threads(threads))


def columns_of_tensor(tensor: torch.Tensor, rows: IntArray, labels: IntArray) -> ScoreArray:
    """Return (columns × frames × 1) some columns of a tensor on any device, on the CPU."""
    of_columns = tuple(torch.from_numpy(numbers).to(tensor.device) for numbers in (rows, labels))
    chosen = tensor.transpose(1, 2)[of_columns]
    # a GPU copies into pinned memory several times faster, and torch keeps that memory for the next batch
    columns = torch.empty(chosen.shape, dtype=chosen.dtype, device="cpu", pin_memory=chosen.is_cuda)
    array: ScoreArray = columns.copy_(chosen).numpy()
    return array[:, :, None]


def summarise_tensor(tensor: torch.Tensor, lengths: IntArray) -> Summary:
    """Do on any device what the core does on the CPU (``native/clips/clip_digest.hpp``)."""
    clips, frames, classes = tensor.shape
    tensor, words = tensor.contiguous(), tensor.element_size() // 4 * classes
    blocks = -(-frames * words // _BLOCK)
    numbers = torch.zeros(clips, blocks * _BLOCK, dtype=torch.int64, device=tensor.device)
    numbers[:, : frames * words] = tensor.view(torch.int32).reshape(clips, frames * words)
    numbers &= 0xFFFFFFFF
    if (lengths < frames).any():
        ends = torch.from_numpy(lengths).to(tensor.device)[:, None]
        numbers.masked_fill_(torch.arange(numbers.shape[1], device=tensor.device) >= ends * words, 0)
        padding = torch.arange(frames, device=tensor.device) >= ends
        tensor = tensor.masked_fill(padding[:, :, None], -torch.inf)
    products = numbers.view(clips, blocks, _BLOCK) * _weights(tensor.device)
    sums = products.sum(2).to("cpu").numpy().view(np.uint64)
    scrambled = _scrambled(sums + _numbered(np.arange(blocks)))
    scrambled[np.arange(blocks) >= -(-lengths[:, None] * words // _BLOCK)] = 0
    digests = _scrambled(scrambled.sum(axis=1, dtype=np.uint64) + lengths.astype(np.uint64))
    return Summary(tensor.amax(1).to("cpu").numpy(), digests)


@cache
def _weights(device: torch.device) -> torch.Tensor:
    """Return the weight of each word of a block, of 32 bits."""
    weights = (_scrambled(_numbered(np.arange(_BLOCK))) >> np.uint64(32)).astype(np.int64)
    return torch.from_numpy(weights).to(device)


def _numbered(numbers: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
    return (numbers + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble the bits of numbers, as the generator SplitMix64 does."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


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
        return (frames < self.lengths[:, None])[:, :, None]


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
