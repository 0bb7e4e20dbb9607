"""Clips that a training metric holds for a while before it finds their deltas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.alignment import Alignment
from ..data.arrays import ScoreArray

_BLOCK_BYTES = 16 * 2**20
_ALIGNMENT = 64  # bytes


@dataclass(frozen=True, eq=False)
class NewClips:
    """The clips of a batch that were not in an earlier batch."""

    alignment: Alignment
    """Their scores with their reference events."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores and targets."""
    score_bytes: int
    """The size of the scores."""


class HeldClips:
    """Clips whose deltas are still to be found.

    The more clips are known, the higher the floors are, and the fewer deltas a clip has.
    """

    def __init__(self) -> None:
        self.batches: list[NewClips] = []
        self.score_bytes = 0
        self._block = np.empty(0, np.uint8)

    def copy(self, values: ScoreArray) -> ScoreArray:
        """Copy scores that are to be held.

        The memory is allocated in large blocks, which the operating system provides many times faster
        than small ones.
        """
        size = values.nbytes
        if size > len(self._block):
            self._block = np.empty(max(size, _BLOCK_BYTES), np.uint8)
        memory, self._block = self._block[:size], self._block[-(-size // _ALIGNMENT) * _ALIGNMENT :]
        copy: ScoreArray = memory.view(values.dtype).reshape(values.shape)
        copy[...] = values
        return copy

    def add(self, clips: NewClips) -> None:
        """Hold clips. Their scores must be a :meth:`copy`."""
        self.batches.append(clips)
        self.score_bytes += clips.score_bytes

    def clear(self) -> None:
        """Release all clips."""
        self.batches, self.score_bytes, self._block = [], 0, np.empty(0, np.uint8)
