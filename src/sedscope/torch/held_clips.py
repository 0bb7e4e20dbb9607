"""Clips that a training metric holds for a while before it finds their deltas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..counting.request import rounded_down
from ..data.arrays import FloatArray, IntArray, ScoreArray
from .batch import Batch


@dataclass(frozen=True, eq=False)
class NewClips:
    """The clips of a batch that were not in an earlier batch."""

    batch: Batch
    maxima: ScoreArray
    """(clips × classes) the largest scores."""
    digests: NDArray[np.uint64]
    """Per clip the checksum of its scores and targets."""


class HeldClips:
    """Clips whose deltas are still to be found, all of them with scores of one type.

    The more clips are known, the higher the floors are, and the fewer deltas a clip has. Of a clip, only the
    classes with scores above the floor are held.
    """

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self.clear()

    def clear(self) -> None:
        """Release all clips."""
        self.names: list[str] = []
        self._truth_rows: list[NDArray[np.intp]] = []
        self._lengths: list[IntArray] = []
        self._maxima: list[ScoreArray] = []
        self._digests: list[NDArray[np.uint64]] = []
        self._columns: _native.ColumnStore | None = None

    @property
    def score_bytes(self) -> int:
        """The size of the scores."""
        return 0 if self._columns is None else self._columns.bytes

    @property
    def truth_rows(self) -> NDArray[np.intp]:
        """The row of each clip in the ground truth."""
        return np.concatenate(self._truth_rows)

    @property
    def lengths(self) -> IntArray:
        """How many frames each clip has."""
        return np.concatenate(self._lengths)

    @property
    def maxima(self) -> ScoreArray:
        """(clips × classes) the largest scores, also of classes that are not held."""
        return np.concatenate(self._maxima)

    @property
    def digests(self) -> NDArray[np.uint64]:
        """The checksum of each clip."""
        return np.concatenate(self._digests)

    @property
    def columns(self) -> _native.ColumnStore:
        """The scores."""
        assert self._columns is not None
        return self._columns

    def fits(self, clips: NewClips) -> bool:
        """Return whether some clips can be held together with those that are."""
        return not self.names or self._maxima[0].dtype == clips.maxima.dtype

    def add(
        self, clips: NewClips, truth_rows: NDArray[np.intp], floors: FloatArray, threads: int
    ) -> None:
        """Hold clips, as far as their scores lie above some floors."""
        if self._columns is None:
            self._columns = _native.ColumnStore(self._classes, clips.batch.scores.is_double)
        rows, labels = np.nonzero(clips.maxima > floors)
        clips.batch.scores.keep_columns(
            self._columns,
            rows,
            labels,
            rows + len(self.names),
            clips.batch.lengths[rows],
            clips.maxima[rows, labels],
            threads,
        )
        self.names += clips.batch.clips
        self._truth_rows.append(truth_rows)
        self._lengths.append(clips.batch.lengths)
        self._maxima.append(clips.maxima)
        self._digests.append(clips.digests)

    def drop(self, floors: FloatArray) -> None:
        """Release the scores of classes that do not reach above some floors."""
        if self._columns is not None:
            self._columns.drop(rounded_down(floors, self._maxima[0].dtype))
