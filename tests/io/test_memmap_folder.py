"""The store: a folder of arrays that are mapped into memory."""

from __future__ import annotations

import json
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
    np.save(tmp_path / "scores-0.npy", np.concatenate([VALUES, VALUES[:1]]))
    index = {"format": "sedscope scores", "version": 3, "classes": CLASSES, "frame": 0.5}
    (tmp_path / "index.json").write_text(json.dumps({**index, "clips": ["a", "b"], "frames": [3, 1]}))
    scores = sed.read_scores(tmp_path)
    assert np.array_equal(scores["b"].values, VALUES[:1])
    assert scores["a"].edges.tolist() == [0, 0.5, 1, 1.5]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "its format is not 'sedscope scores'"),
        ({"version": 2}, "version is 2, but this sedscope reads version 3. Write the store again"),
        ({"clip": ["a", "b"]}, "it has unknown keys: clip"),
        ({"crc32": 1}, "its checksum is wrong, so it is damaged"),
        ({"checksums": [1]}, "'checksums' must be a list of whole numbers, one per clip"),
        ({"classes": None}, "'classes' must be a list of names"),
        ({"frames": [3, -1]}, "'frames' must be a list of whole numbers"),
        ({"frames": [3]}, "one per clip"),
        ({"frames": [3, 2]}, "the index describes 5 frames"),
        ({"shards": [0]}, "'shards' must be a list of whole numbers, one per clip"),
        (
            {"shards": [0, 1]},
            r"the array is float32 of shape \(4, 2\), but the index describes 3 frames",
        ),
        ({"shards": [0, 2**60]}, "'shards' has a number beyond that of the clips"),
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
    values, ticks = (tmp_path / "out" / name for name in ("scores-0.npy", "ticks.npy"))
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
            sed.SedscopeError, match=r"scores-0\.npy is damaged: .*of clip a is not the one"
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


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("scores-*.npy"), key=lambda file: int(file.stem.partition("-")[2]))


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_shards(backwards: bool, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"clip{i:02}": rng.random((500 - i, 100), np.float32) for i in range(20)}  # 200 kB each
    arrays["long"] = rng.random((3000, 100), np.float32)
    arrays["after"] = rng.random((10, 100), np.float32)
    scores = sed.Scores.from_arrays(arrays, classes=[f"class {i}" for i in range(100)], frame=0.02)
    monkeypatch.setattr(memmap_folder, "_SHARD_BYTES", 500_000)
    monkeypatch.setattr(memmap_folder, "_ALL_AT_ONCE", 0 if large else 2**28)
    opened: list[str] = []
    asked_for: list[str] = []
    mapped = npy_files.mapped_array

    def mapping(path: Path) -> Any:
        opened.append(path.name)
        return mapped(path)

    monkeypatch.setattr(memmap_folder, "mapped_array", mapping)
    monkeypatch.setattr(memmap_folder, "_ask_for", lambda file: asked_for.append(file.name))
    let_go: list[Any] = []

    def letting_go(array: Any) -> None:
        let_go.append(array)
        npy_files.let_go(array)

    monkeypatch.setattr(memmap_folder, "let_go", letting_go)
    got = write_and_read(scores, tmp_path, "store")
    files = [file.name for file in shards(tmp_path / "out")]
    assert len(files) == 12  # two clips each, the long one, and what comes after it
    assert opened == ["ticks.npy", *files]  # to look at them
    opened.clear()
    assert got.in_memory == (not large)
    held = {clip: got[clip] for clip in sorted(arrays, reverse=backwards)}
    for clip, values in arrays.items():  # also those whose shards were let go meanwhile
        np.testing.assert_array_equal(held[clip].values, values)
        assert not held[clip].values.flags.owndata
    if large and not backwards:  # "after" comes first
        assert opened == [files[-1], *files[:-1]]
        assert asked_for == files[2:]
        assert len(let_go) == len(files) - memmap_folder._MAPPED
    elif not large:
        assert [*opened, *asked_for, *let_go] == []


def test_shards_of_two_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap_folder, "_SHARD_BYTES", 60)
    types = [np.float32, np.float64]
    arrays = {f"clip{i}": VALUES[: 1 + i % 3].astype(types[i % 2]) for i in range(12)}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.5)
    assert_equal_scores(write_and_read(scores, tmp_path, "store"), scores)
    assert {np.load(file).dtype for file in shards(tmp_path / "out")} == {*map(np.dtype, types)}
    assert all(np.load(file).nbytes <= 60 for file in shards(tmp_path / "out"))


def test_a_missing_shard_is_reported_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap_folder, "_SHARD_BYTES", 30)
    scores = sed.Scores.from_arrays({"a": VALUES, "b": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "out", format="store")
    (tmp_path / "out" / "scores-1.npy").unlink()
    with pytest.raises(sed.SedscopeError, match=r"Cannot read .*scores-1\.npy"):
        sed.read_scores(tmp_path / "out")


def test_shards_that_changed_since_the_store_was_opened_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memmap_folder, "_SHARD_BYTES", 30)
    monkeypatch.setattr(memmap_folder, "_ALL_AT_ONCE", 0)
    arrays = {f"clip{i}": VALUES for i in range(6)}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.5)
    read = write_and_read(scores, tmp_path, "store")
    held = [read[clip] for clip in arrays]
    np.save(tmp_path / "other.npy", 1 - VALUES)
    (tmp_path / "other.npy").replace(shards(tmp_path / "out")[0])
    with pytest.raises(sed.SedscopeError, match=r"scores-0\.npy changed after the store was opened"):
        read["clip0"]
    np.testing.assert_array_equal(held[0].values, VALUES)
