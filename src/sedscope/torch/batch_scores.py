"""The scores of a batch, on the CPU or on a GPU: what a metric reads of all of them, and of some columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _native
from ..data.arrays import IntArray, ScoreArray
from ..data.score_arrays import as_scores
from ..errors import SedscopeError

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
    products: NDArray[np.uint64] = (numbers + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return products


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble the bits of numbers, as the generator SplitMix64 does."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: NDArray[np.uint64] = numbers ^ (numbers >> np.uint64(31))
    return scrambled
