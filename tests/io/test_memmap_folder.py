"""The store: a folder of arrays that are mapped into memory."""

from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sedscope as sed
from sedscope.io.scores import memmap_folder, npy_files

from ..support.equality import assert_equal_scores
from ..support.score_files import CLASSES, VALUES, write_and_read


def test_clips_of_one_grid_share_it(tmp_path: Path) -> None:
    arrays = {f"clip{i}": np.zeros((500 - i % 3, 2), np.float32) for i in range(50)}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.02)
    got = write_and_read(scores, tmp_path, "store")
    assert_equal_scores(got, scores)
    assert np.load(tmp_path / "out" / "ticks.npy").tolist() == [20_000 * i for i in range(501)]
    assert not got["clip7"].values.flags.owndata  # a view of the file


def test_a_store_made_by_hand(tmp_path: Path) -> None:
    np.save(tmp_path / "float32.npy", np.concatenate([VALUES, VALUES[:1]]))
    index = {"format": "sedscope scores", "version": 2, "classes": CLASSES, "frame": 0.5}
    (tmp_path / "index.json").write_text(json.dumps({**index, "clips": ["a", "b"], "frames": [3, 1]}))
    scores = sed.read_scores(tmp_path)
    assert np.array_equal(scores["b"].values, VALUES[:1])
    assert scores["a"].edges.tolist() == [0, 0.5, 1, 1.5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "its format is not 'sedscope scores'"),
        ({"version": 1}, "version is 1, but this sedscope reads version 2. Write the store again"),
        ({"clip": ["a", "b"]}, "it has unknown keys: clip"),
        ({"crc32": 1}, "its checksum is wrong, so it is damaged"),
        ({"checksums": [1]}, "'checksums' must be a list of whole numbers, one per clip"),
        ({"classes": None}, "'classes' must be a list of names"),
        ({"frames": [3, -1]}, "'frames' must be a list of whole numbers"),
        ({"frames": [3]}, "one per clip"),
        ({"frames": [3, 2]}, "the index describes 5 frames"),
        ({"type": "float16"}, "'type' must be float32 or float64"),
        ({"type": "float64"}, r"Cannot read .*float64\.npy"),
        ({"ticks": [0, 99]}, r"clip b: ticks\.npy does not have its boundaries"),
        ({"clips": ["a", "a"]}, "clips are named twice"),
        ({"frame": "long"}, "is not a length in seconds"),
    ],
)
def test_broken_indexes(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES, "b": VALUES[:1]}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "out", format="store")
    index = tmp_path / "out" / "index.json"
    content = json.loads(index.read_text())
    del content["crc32"]  # as in an index made by hand
    index.write_text(json.dumps({**content, **changes}))
    with pytest.raises(sed.SedscopeError, match=message):
        sed.read_scores(tmp_path / "out")


def test_broken_files_of_a_store(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "out", format="store")
    values, ticks = (tmp_path / "out" / name for name in ("float32.npy", "ticks.npy"))
    whole = values.read_bytes()
    values.write_bytes(whole[:-1])
    with pytest.raises(sed.SedscopeError, match="cut short"):
        sed.read_scores(tmp_path / "out")
    damaged = bytearray(whole)
    damaged[-1] ^= 1
    values.write_bytes(damaged)
    opened = sed.read_scores(tmp_path / "out")
    for _ in range(2):
        with pytest.raises(
            sed.SedscopeError, match=r"float32\.npy is damaged: .*of clip a is not the one"
        ):
            opened["a"]
    values.write_bytes(whole)
    damaged = bytearray(ticks.read_bytes())
    damaged[-16] ^= 4  # 1 s becomes 1.000004 s
    ticks.write_bytes(damaged)
    with pytest.raises(sed.SedscopeError, match=r"ticks\.npy is damaged: its checksum"):
        sed.read_scores(tmp_path / "out")
    index = tmp_path / "out" / "index.json"
    content = json.loads(index.read_text())
    del content["crc32"], content["ticks_crc32"]  # as in an index made by hand
    index.write_text(json.dumps(content))
    np.save(ticks, np.array([0, 1, 2, 2**62]))
    with pytest.raises(sed.SedscopeError, match=r"ticks\.npy: 1 time is more than ten years from 0"):
        sed.read_scores(tmp_path / "out")
    np.save(ticks, np.array([0, 2, 1, 3]))
    with pytest.raises(sed.SedscopeError, match="clip a: some frames end before they begin"):
        sed.read_scores(tmp_path / "out")
    np.save(ticks, np.array([0.0, 1, 2, 3]))
    with pytest.raises(sed.SedscopeError, match=r"ticks\.npy must be a one-dimensional int64 array"):
        sed.read_scores(tmp_path / "out")


@pytest.mark.parametrize("backwards", [False, True])
def test_a_large_store_keeps_only_a_window_in_memory(
    backwards: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"clip{i:02}": rng.random((500, 100), np.float32) for i in range(20)}  # 200 kB each
    scores = sed.Scores.from_arrays(arrays, classes=[f"class {i}" for i in range(100)], frame=0.02)
    part = 2**16 * max(1, mmap.ALLOCATIONGRANULARITY // 2**16)
    monkeypatch.setattr(npy_files, "_PART", part)
    monkeypatch.setattr(memmap_folder, "_ALL_AT_ONCE", 0)
    advice: list[tuple[int, int]] = []
    told = npy_files._advise

    def advise(mapped: mmap.mmap, kind: int, number: int) -> None:
        advice.append((kind, number))
        told(mapped, kind, number)

    monkeypatch.setattr(npy_files, "_advise", advise)
    got = write_and_read(scores, tmp_path, "store")
    assert not got.in_memory
    held = {clip: got[clip] for clip in sorted(arrays, reverse=backwards)}
    for clip, values in arrays.items():  # also those whose pages were let go meanwhile
        np.testing.assert_array_equal(held[clip].values, values)
    if hasattr(mmap.mmap, "madvise") and not backwards:
        parts = -(-(128 + 20 * 200_000) // part)
        let_go = [number for kind, number in advice if kind == mmap.MADV_DONTNEED]
        asked_for = [number for kind, number in advice if kind == mmap.MADV_WILLNEED]
        assert let_go == [*range(parts - npy_files._PARTS_USED)]
        assert asked_for == [*range(2, parts + 1)]
