"""Arrays of scores that users saved themselves, in npz and HDF5 files."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import sedscope as sed
from sedscope.io.scores.files import SCORE_FORMATS, recognise_score_format

from ..support.equality import assert_equal_scores
from ..support.score_files import CLASSES, VALUES


def array_files(folder: Path, **arrays: Any) -> list[Path]:
    """The same arrays as npz, compressed npz and HDF5."""
    np.savez(folder / "plain.npz", **arrays)
    np.savez_compressed(folder / "small.npz", **arrays)
    with h5py.File(folder / "all.h5", "w") as file:
        for name, array in arrays.items():
            is_text = np.asarray(array).dtype.kind == "U"
            file[name] = np.asarray(array).astype(object) if is_text else array
    return [folder / "plain.npz", folder / "small.npz", folder / "all.h5"]


def test_clips_by_frames_by_classes(tmp_path: Path) -> None:
    stacked = np.stack([VALUES, VALUES[::-1]])
    for path in array_files(
        tmp_path, scores=stacked, clips=["a.wav", "b.wav"], classes=CLASSES, frame_seconds=0.5
    ):
        scores = sed.read_scores(path)
        assert (list(scores), scores.classes) == (["a", "b"], ("Dog", "Cat"))
        assert np.array_equal(scores["b"].values, VALUES[::-1])
        assert scores["b"].values.dtype == np.float32
        assert scores["b"].edges.tolist() == [0, 0.5, 1, 1.5]


def test_clips_of_fewer_frames(tmp_path: Path) -> None:
    arrays = {"scores": np.stack([VALUES, VALUES]), "ids": ["a", "b"], "frames": [3, 2]}
    for path in array_files(tmp_path, **arrays, labels=CLASSES, timestamps=[0, 1, 2, 4]):
        scores = sed.read_scores(path)
        assert scores["a"].edges.tolist() == [0, 1, 2, 4]
        assert scores["b"].edges.tolist() == [0, 1, 2]
        assert np.array_equal(scores["b"].values, VALUES[:2])


def test_an_array_a_clip(tmp_path: Path) -> None:
    arrays = {"a": VALUES, "b": VALUES[:1]}
    for path in array_files(tmp_path, **arrays, classes=CLASSES, frame=0.5):
        scores = sed.read_scores(path)
        assert list(scores) == ["a", "b"]
        assert np.array_equal(scores["b"].values, VALUES[:1])
    other = tmp_path / "other"
    other.mkdir()
    for path in array_files(other, **arrays):
        with pytest.raises(sed.SedscopeError, match="does not name its classes"):
            sed.read_scores(path)
        with pytest.raises(sed.SedscopeError, match="does not say how long frames are"):
            sed.read_scores(path, classes=CLASSES)
        scores = sed.read_scores(path, classes=CLASSES, frame=0.25)
        assert scores["a"].edges.tolist() == [0, 0.25, 0.5, 0.75]


def test_groups_and_attributes_of_hdf5(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["classes"] = CLASSES
        file.attrs["frame"] = 0.5
        file["scores_of/eval/a.wav"] = VALUES
        file["scores_of/eval/b.wav"] = VALUES.astype(">f8")
    scores = sed.read_scores(tmp_path / "x.h5")
    assert list(scores) == ["a", "b"]
    assert scores["b"].values.dtype == np.float64
    assert np.array_equal(scores["b"].values, VALUES)
    with h5py.File(tmp_path / "y.h5", "w") as file:
        file.attrs["classes"] = CLASSES
        file.attrs["frame"] = 0.5
        file["a/scores"] = VALUES
        file["b/scores"] = VALUES[:1]
    assert {clip: len(of.values) for clip, of in sed.read_scores(tmp_path / "y.h5").items()} == {
        "a": 3,
        "b": 1,
    }


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clips": ["a"]}, r"the shape \(2, 3, 2\), which does not fit 1 clip"),
        ({"clips": ["a", "a"]}, "1 duplicate clip: a"),
        ({"clips": [1, 2]}, "'clips' must be text"),
        ({"classes": ["Dog"]}, r"1 class, but some arrays have another number of columns: a \(2\)"),
        ({"classes": None}, "does not name its classes"),
        ({"frame": None}, "does not say how long frames are"),
        ({"frame": -1.0}, "the frame length is not valid"),
        ({"frames": [3, 4]}, "which does not fit 2 clips"),
        ({"scores": np.zeros((6, 2))}, "must be clips × frames × classes"),
        ({"scores": np.zeros((2, 3, 2), complex)}, "must be float32 or float64"),
        ({"scores": None}, "no scores, neither an array 'scores'"),
        ({"edges": [0, 1], "frame": None}, "2 boundaries"),
        ({"edges": np.arange(7) / 2, "frame": None}, "7 boundaries, but the longest clip has 3 frames"),
        ({"edges": [0, 1, 2, 1e12], "frame": None}, "'edges': .*within ten years"),
        ({"frame": 2e8}, "3 frames of 2e.08 s take more than ten years"),
        ({"frame": 1j}, "the frame length is not valid"),
        ({"frames": [1.5, 2]}, "'frames' must be whole numbers"),
        ({"frames": [np.nan, 2]}, "'frames' must be whole numbers"),
        ({"frames": [2**62, 2**62]}, "which does not fit 2 clips"),
        ({"ticks": [0, 1, 2, 3, 0, 1, 2, 2**62]}, "'ticks': 1 time is more than ten years from 0"),
        ({"ticks": np.full(8, 2**64 - 1, np.uint64)}, "'ticks': 8 times are more than ten years from 0"),
        ({"ticks": [0, 1, 3, 2, 0, 1, 2, 3]}, "Some frames end before they begin"),
    ],
)
def test_arrays_that_do_not_fit(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"scores": np.stack([VALUES, VALUES]), "clips": ["a", "b"]}
    arrays |= {"classes": CLASSES, "frame": 0.5, **changes}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    for path in array_files(tmp_path, **arrays):
        with pytest.raises(sed.SedscopeError, match=message):
            dict(sed.read_scores(path))


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", scores=np.array([{"a": 1}], object))
    with pytest.raises(sed.SedscopeError, match="Python objects, which are never loaded"):
        sed.read_scores(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", scores=np.zeros(3, [("Dog", "f8"), ("Cat", "f8")]))
    with pytest.raises(sed.SedscopeError, match="holds records of several fields"):
        sed.read_scores(tmp_path / "y.npz")


def test_a_missing_h5py_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "x.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(sed.SedscopeError, match=r"pip install 'sedscope\[hdf5\]'"):
        sed.read_scores(tmp_path / "x.h5")


def test_files_by_name(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    for name, format in (("x.npz", "npz"), ("x.hdf5", "hdf5"), ("x.parquet", "parquet"), ("x", "tsv")):
        sed.write_scores(scores, tmp_path / name)
        assert recognise_score_format(tmp_path / name) is SCORE_FORMATS[format]
    moved = (tmp_path / "x.npz").rename(tmp_path / "x.h5")  # the content counts
    assert_equal_scores(sed.read_scores(moved), scores)
    with pytest.raises(sed.SedscopeError, match=r"no score format 'wav'\. Choose from tsv, store, npz"):
        sed.read_scores(moved, format="wav")
    with pytest.raises(sed.SedscopeError, match="not an HDF5 file"):
        sed.read_scores(moved, format="hdf5")


def test_archives_that_are_cut_or_lie(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    np.savez(file, scores=np.stack([VALUES]), clips=["a"], classes=CLASSES, frame=0.5)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(sed.SedscopeError, match="not an npz file"):
        sed.read_scores(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("scores.npy", b"no array")
    with pytest.raises(sed.SedscopeError, match="array 'scores': not an array"):
        sed.read_scores(file)


@pytest.mark.parametrize("type_text", ["|V0", "<U0", "<c16", "<M8[s]", "<i99", "|O"])
@pytest.mark.parametrize("shape", ["(-1,)", "(2,)", "(4611686018427387904, 4)", "()", "('a',)"])
@pytest.mark.parametrize("name", ["scores", "ticks", "frames", "clips"])
def test_headers_that_lie(name: str, type_text: str, shape: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    header = f"{{'descr': {type_text!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    members[f"{name}.npy"] = (
        b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    )
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with pytest.raises(sed.SedscopeError, match=r"x\.npz"):
        dict(sed.read_scores(tmp_path / "x.npz"))


def test_a_changed_bit_in_the_small_arrays_is_noticed(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        content = archive.read("ticks.npy")
    data = (tmp_path / "x.npz").read_bytes()
    place = data.index(content) + len(content) - 8  # the last boundary
    (tmp_path / "x.npz").write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
    with pytest.raises(sed.SedscopeError, match=r"array 'ticks': .*CRC-32"):
        sed.read_scores(tmp_path / "x.npz")


def test_the_members_of_an_archive_are_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays: dict[str, Any] = {f"clip{i}": VALUES for i in range(20)}
    np.savez_compressed(tmp_path / "x.npz", **arrays, classes=CLASSES, frame=0.5)
    opened: list[Any] = []
    open_archive = zipfile.ZipFile.__init__

    def count(self: Any, *arguments: Any, **options: Any) -> None:
        opened.append(arguments)
        open_archive(self, *arguments, **options)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", count)
    scores = sed.read_scores(tmp_path / "x.npz")
    assert all(np.array_equal(clip.values, VALUES) for clip in scores.values())
    assert len(opened) == 1


def test_boundaries_in_milliseconds_give_a_warning(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"scores": np.zeros((1, 20, 2)), "clips": ["a"], "classes": CLASSES}
    np.savez(tmp_path / "x.npz", **arrays, timestamps=np.arange(21) * 20)
    with pytest.warns(
        sed.SedscopeWarning, match="'timestamps': frames are 20 s long.*divide them by 1000"
    ):
        sed.read_scores(tmp_path / "x.npz")
