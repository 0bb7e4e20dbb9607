"""The deltas of some clips, as a training metric keeps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..counting.delta_bytes import pack_deltas
from ..counting.deltas import Deltas


@dataclass(frozen=True, eq=False)
class ClipDeltas:
    """The deltas of some clips for each criterion, and a checksum of each clip."""

    deltas: tuple[Deltas, ...]
    """One for each criterion, all of the same clips."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores and targets."""

    @property
    def clips(self) -> tuple[str, ...]:
        """The clips, in order."""
        return self.deltas[0].clips

    def of_clips(self, kept: NDArray[np.bool_]) -> ClipDeltas:
        """Keep only some of the clips."""
        if kept.all():
            return self
        return ClipDeltas(tuple(deltas.of_clips(kept) for deltas in self.deltas), self.digests[kept])

    def pack(self) -> NDArray[np.uint8]:
        """Return the deltas as bytes. The bytes of several of these can be concatenated."""
        return pack_deltas(self.deltas, self.digests)
