"""Columns that are kept for later: clips of them are the whole clips, with silence in place of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sedscope import _native


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["frames first", "classes first"])
@pytest.mark.parametrize("threads", [1, 3])
def test_kept_columns(dtype: Any, layout: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    clips, frames, classes = 30, 70, 11
    batches = rng.normal(size=(4, clips, frames, classes)).astype(dtype)
    lengths = rng.integers(1, frames + 1, (4, clips))
    lengths[0] = frames
    store = _native.ColumnStore(classes, dtype == np.float64)
    floors = np.full(classes, -np.inf, dtype)
    expected: list[Any] = []
    for number, (batch, of_clips) in enumerate(zip(batches, lengths, strict=True)):
        maxima = np.stack([clip[:n].max(axis=0) for clip, n in zip(batch, of_clips, strict=True)])
        rows, labels = np.nonzero(maxima > floors)
        values = batch
        if layout == "classes first":
            values = np.ascontiguousarray(batch.transpose(0, 2, 1)).transpose(0, 2, 1)
        chosen = np.stack([rows, labels, rows + number * clips, labels, of_clips[rows]], axis=1)
        store.add(values, chosen, maxima[rows, labels], threads)
        expected += [clip[:n] for clip, n in zip(batch, of_clips, strict=True)]
        floors = (floors if number == 0 else np.quantile(maxima, number / 4, axis=0)).astype(dtype)
        store.drop(floors)
    for clip in expected:
        clip[:, ~(clip.max(axis=0) > floors)] = -np.inf
    assert store.bytes == sum(np.isfinite(clip).sum() for clip in expected) * np.dtype(dtype).itemsize
    edges = [np.arange(len(clip) + 1) for clip in expected]
    kept = _native.Clips(store, edges)
    whole = _native.Clips(expected, edges, np.arange(classes))
    np.testing.assert_array_equal(kept.maxima(2), whole.maxima(2))
    for i in range(0, len(expected), 7):
        for c in range(classes):
            of_kept, of_whole = kept.detections(i, c), whole.detections(i, c)
            np.testing.assert_array_equal(of_kept.scores, of_whole.scores)
            np.testing.assert_array_equal(of_kept.onsets, of_whole.onsets)


def test_what_does_not_fit_is_refused() -> None:
    store = _native.ColumnStore(2, False)
    values, largest = np.zeros((1, 3, 2), np.float32), np.zeros(1, np.float32)
    for wrong in ([1, 0, 0, 0, 3], [0, 2, 0, 0, 3], [0, 0, 0, 2, 3], [0, 0, -1, 0, 3], [0, 0, 0, 0, 4]):
        with pytest.raises(ValueError, match="out of range"):
            store.add(values, np.array([wrong]), largest, 1)
    with pytest.raises(TypeError, match="type of the scores"):
        store.add(values.astype(np.float64), np.array([[0, 0, 0, 0, 3]]), largest, 1)
    with pytest.raises(ValueError, match="whole clips"):
        _native.Segmentation(1, False).find_scores(
            _native.Clips(store, [np.arange(4)]), np.array([0, 1]), np.array([3]), 1
        )
    store.add(values, np.array([[0, 0, 5, 0, 3]]), largest, 1)
    with pytest.raises(IndexError):
        _native.Clips(store, [np.arange(4)])
