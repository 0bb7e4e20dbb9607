"""Stores of scores: what goes in comes out, bit by bit, whatever the format; and chunks are joined."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io.scores import SCORE_FORMATS, find_score_format

from ..support.equality import assert_equal_scores
from ..support.score_files import CLASSES, TARGETS, VALUES, score_sets, write_and_read
from ..support.strategies import clip_lists, to_scores, to_truth

formats = pytest.mark.parametrize("name", SCORE_FORMATS)


@formats
@settings(max_examples=30)
@given(scores=score_sets())
def test_scores_are_read_back_bit_by_bit(
    name: str, scores: sed.Scores, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if name in ("tsv", "parquet") and {"onset", "offset", "clip"} & set(scores.classes):
        return
    got = write_and_read(scores, tmp_path_factory.mktemp("write_and_read"), name)
    if name == "tsv":  # text has no type: what is float32 reads back as such
        clips = {
            clip: sed.ClipScores.from_ticks(
                got[clip].values.astype(scores[clip].values.dtype), got[clip].ticks
            )
            for clip in got
        }
        got = sed.Scores(clips, clips.__getitem__, classes=got.classes, in_memory=True)
    assert_equal_scores(got, scores)
    assert [got[clip].values.dtype for clip in got] == [scores[clip].values.dtype for clip in scores]


@formats
def test_names_of_classes_are_no_patterns(name: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": [[0.1, 0.2, 0.3]]}, classes=["*", "^0$", "0"], frame=1.0)
    assert_equal_scores(write_and_read(scores, tmp_path, name), scores)


@formats
@settings(max_examples=20)
@given(case=clip_lists)
def test_every_format_evaluates_alike(
    name: str, case: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scores, truth = to_scores(case), to_truth(case)
    metric = sed.PSDS(sed.Intersection(0.5, 0.5), max_efpr=10, unit="second")
    got = write_and_read(scores, tmp_path_factory.mktemp("write_and_read"), name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        expected = sed.evaluate(scores, truth, metric).to_json()
        assert sed.evaluate(got, truth, metric, threads=2).to_json() == expected


@settings(max_examples=30)
@given(scores=score_sets(mixed=True))
def test_the_store_keeps_the_type_of_each_clip(
    scores: sed.Scores, tmp_path_factory: pytest.TempPathFactory
) -> None:
    got = write_and_read(scores, tmp_path_factory.mktemp("write_and_read"), "store")
    assert_equal_scores(got, scores)
    assert [got[clip].values.dtype for clip in got] == [scores[clip].values.dtype for clip in scores]


@formats
def test_types_that_differ_are_kept_or_refused(name: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"a": VALUES, "b": VALUES.astype(np.float64) + 1e-12}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.5)
    if "types that differ" in SCORE_FORMATS[name].holds:
        write_and_read(scores, tmp_path, name)
        return
    with pytest.raises(
        sed.SedscopeError, match=r"clip b: .* cannot hold that some clips are float32.*--lossy"
    ):
        write_and_read(scores, tmp_path, name)
    assert not list(tmp_path.iterdir())
    got = write_and_read(scores, tmp_path, name, lossy=True)
    assert_equal_scores(got, scores)
    assert got["a"].values.dtype == np.float64


@formats
def test_scored_events_are_kept_or_refused(name: str, tmp_path: Path) -> None:
    #      0   1   2 s
    #      [.9 )[.4)     two detections that touch
    scores = sed.Scores.from_events({"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4)], "b": []})
    if SCORE_FORMATS[name].holds >= {"frames of no length", "unknown ends"}:
        got = write_and_read(scores, tmp_path, name)
        assert_equal_scores(got, scores)
        assert not got.whole_clips
        return
    with pytest.raises(sed.SedscopeError, match=r"cannot hold .*--lossy"):
        write_and_read(scores, tmp_path, name)
    got = write_and_read(scores, tmp_path, name, lossy=True)
    assert got["a"].values.ravel().tolist() == [0.9, 0.4]
    assert got["a"].edges.tolist() == [0, 1, 2]
    assert len(got["b"].values) == 0


@formats
def test_writing_is_whole_or_not_at_all(name: str, tmp_path: Path) -> None:
    def load(clip: str) -> Any:
        return [[0.1]] if clip < "c" else [[0.1, 0.2]]

    scores = sed.Scores.from_function("abcd", load, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match="clip c"):
        sed.write_scores(scores, tmp_path / TARGETS[name], format=name)
    assert not list(tmp_path.iterdir())


# Layouts that people use


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
    ("changes", "said"),
    [
        ({"clips": ["a"]}, r"of shape \(2, 3, 2\) for 1 clip"),
        ({"clips": ["a", "a"]}, "1 duplicate clip: a"),
        ({"clips": [1, 2]}, "'clips' must be text"),
        ({"classes": ["Dog"]}, r"1 class, but another number of columns in a \(2\)"),
        ({"classes": None}, "does not name its classes"),
        ({"frame": None}, "does not say how long frames are"),
        ({"frame": -1.0}, "no length of frames"),
        ({"frames": [3, 4]}, "of shape"),
        ({"scores": np.zeros((6, 2))}, "must be clips × frames × classes"),
        ({"scores": np.zeros((2, 3, 2), complex)}, "must be float32 or float64"),
        ({"scores": None}, "no scores: neither an array 'scores'"),
        ({"edges": [0, 1], "frame": None}, "2 boundaries"),
    ],
)
def test_arrays_that_do_not_fit(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"scores": np.stack([VALUES, VALUES]), "clips": ["a", "b"]}
    arrays |= {"classes": CLASSES, "frame": 0.5, **changes}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    for path in array_files(tmp_path, **arrays):
        with pytest.raises(sed.SedscopeError, match=said):
            dict(sed.read_scores(path))


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", scores=np.array([{"a": 1}], object))
    with pytest.raises(sed.SedscopeError, match="Python objects, which are never loaded"):
        sed.read_scores(tmp_path / "x.npz")


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
        assert find_score_format(tmp_path / name) is SCORE_FORMATS[format]
    moved = (tmp_path / "x.npz").rename(tmp_path / "x.h5")  # the content counts
    assert_equal_scores(sed.read_scores(moved), scores)
    with pytest.raises(sed.SedscopeError, match="no format of scores 'wav'; there are tsv, store, npz"):
        sed.read_scores(moved, format="wav")
    with pytest.raises(sed.SedscopeError, match="not an HDF5 file"):
        sed.read_scores(moved, format="hdf5")


def test_a_long_table(tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {
            "filename": ["a", "a", "b"],
            "onset": [0.0, 2.0, 0.0],
            "offset": [1.0, 3.0, 1.0],
            "Dog": polars.Series([0.1, 0.2, 0.3], dtype=polars.Float32),
        }
    )
    frame.write_parquet(tmp_path / "x.parquet")
    scores = sed.read_scores(tmp_path / "x.parquet")
    assert scores["a"].values.ravel().tolist() == pytest.approx([0.1, -np.inf, 0.2])
    assert scores["a"].values.dtype == np.float32
    frame[[0, 2, 1]].write_parquet(tmp_path / "x.parquet")
    with pytest.raises(sed.SedscopeError, match="must stand together: a"):
        sed.read_scores(tmp_path / "x.parquet")
    frame.with_columns(Dog=polars.lit(None, polars.Float32)).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(sed.SedscopeError, match="clip a: no values in 1 column: Dog"):
        sed.read_scores(tmp_path / "x.parquet")["a"]


# The store


def test_clips_of_one_grid_share_it(tmp_path: Path) -> None:
    arrays = {f"clip{i}": np.zeros((500 - i % 3, 2), np.float32) for i in range(50)}
    scores = sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.02)
    got = write_and_read(scores, tmp_path, "store")
    assert_equal_scores(got, scores)
    assert np.load(tmp_path / "out" / "ticks.npy").tolist() == [20_000 * i for i in range(501)]
    assert not got["clip7"].values.flags.owndata  # a view of the file


def test_a_store_made_by_hand(tmp_path: Path) -> None:
    np.save(tmp_path / "float32.npy", np.concatenate([VALUES, VALUES[:1]]))
    index = {"format": "sedscope scores", "version": 1, "classes": CLASSES, "frame": 0.5}
    (tmp_path / "index.json").write_text(json.dumps({**index, "clips": ["a", "b"], "frames": [3, 1]}))
    scores = sed.read_scores(tmp_path)
    assert np.array_equal(scores["b"].values, VALUES[:1])
    assert scores["a"].edges.tolist() == [0, 0.5, 1, 1.5]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": "other"}, "does not say that its format is"),
        ({"version": 2}, "version 2, where 1 is known"),
        ({"classes": None}, "'classes' must be a list of names"),
        ({"frames": [3, -1]}, "'frames' must be a list of whole numbers"),
        ({"frames": [3]}, "one a clip"),
        ({"frames": [3, 2]}, "the index speaks of 5 frames"),
        ({"type": "float16"}, "'type' must be float32 or float64"),
        ({"type": "float64"}, r"cannot read .*float64\.npy"),
        ({"ticks": [0, 99]}, r"clip b: ticks\.npy has no such boundaries"),
        ({"clips": ["a", "a"]}, "clips named twice"),
        ({"frame": "long"}, "no length in seconds"),
    ],
)
def test_broken_indexes(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES, "b": VALUES[:1]}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "out", format="store")
    index = tmp_path / "out" / "index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), **changes}))
    with pytest.raises(sed.SedscopeError, match=said):
        sed.read_scores(tmp_path / "out")


def test_broken_files_of_a_store(tmp_path: Path) -> None:
    scores = sed.Scores.from_arrays({"a": VALUES}, classes=CLASSES, frame=0.5)
    sed.write_scores(scores, tmp_path / "out", format="store")
    values, ticks = (tmp_path / "out" / name for name in ("float32.npy", "ticks.npy"))
    whole = values.read_bytes()
    values.write_bytes(whole[:-1])
    with pytest.raises(sed.SedscopeError, match="cut short"):
        sed.read_scores(tmp_path / "out")
    values.write_bytes(whole)
    np.save(ticks, np.array([0, 2, 1, 3]))
    with pytest.raises(sed.SedscopeError, match="clip a: frames that end before they begin"):
        sed.read_scores(tmp_path / "out")
    np.save(ticks, np.array([0.0, 1, 2, 3]))
    with pytest.raises(sed.SedscopeError, match=r"ticks\.npy must be int64"):
        sed.read_scores(tmp_path / "out")


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


# Chunks


def at(clip: sed.ClipScores, tick: int) -> np.ndarray[Any, Any] | None:
    """The scores of the frame that holds an instant."""
    row = int(np.searchsorted(clip.ticks, tick, side="right")) - 1
    return clip.values[row].astype(np.float64) if 0 <= row < len(clip.values) else None


@st.composite
def chunk_lists(draw: st.DrawFn) -> list[tuple[int, list[int], list[float]]]:
    """Where chunks begin, the lengths of their frames, and their scores."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
        values = draw(st.lists(st.floats(-5, 5), min_size=len(lengths), max_size=len(lengths)))
        found.append((draw(st.integers(0, 12)), lengths, values))
    return found


@given(chunk_lists())
def test_stitching_is_the_mean_of_all_chunks_at_each_instant(
    chunks: Sequence[tuple[int, list[int], list[float]]],
) -> None:
    made = {
        f"chunk{i}": sed.ClipScores.from_ticks(np.array(values)[:, None], np.cumsum([0, *lengths]))
        for i, (_, lengths, values) in enumerate(chunks)
    }
    places = {f"chunk{i}": ("rec", start / 1e6) for i, (start, _, _) in enumerate(chunks)}
    joined = sed.Scores(made, made.__getitem__, classes=["Dog"]).stitch(places)
    assert list(joined) == ["rec"]
    clip = joined["rec"]
    first = min(start for start, _, _ in chunks)
    last = max(start + sum(lengths) for start, lengths, _ in chunks)
    assert (clip.ticks[0], clip.ticks[-1]) == (first, last)
    for tick in range(first, last):
        there = [at(made[f"chunk{i}"], tick - start) for i, (start, _, _) in enumerate(chunks)]
        covering = [values for values in there if values is not None]
        expected = np.mean(covering, axis=0) if covering else np.array([-np.inf])
        got = at(clip, tick)
        assert got is not None
        assert got == pytest.approx(expected)


def test_chunks_as_maestro_names_them(tmp_path: Path) -> None:
    #  cafe_00   0    1    2    3 s
    #            [.2  |.4  )
    #                 [.8  |.6  )
    arrays = {
        "cafe_00-0-200": [[0.2], [0.4]],
        "cafe_00-100-300": [[0.8], [0.6]],
        "park-0-200": [[1], [0]],
    }
    scores = sed.Scores.from_arrays(
        {name: np.array(array, np.float32) for name, array in arrays.items()}, classes=["Dog"], frame=1.0
    )
    joined = scores.stitch(unit="centiseconds")
    assert joined["cafe_00"].values.ravel() == pytest.approx([0.2, 0.6, 0.6])
    assert joined["cafe_00"].values.dtype == np.float64
    assert joined["park"].values.dtype == np.float32  # nothing to average
    table = "filename\trecording\tstart\n" + "".join(
        f"{name}.wav\t{name.split('-')[0]}\t{int(name.split('-')[1]) / 100}\n" for name in arrays
    )
    (tmp_path / "chunks.tsv").write_text(table)
    assert_equal_scores(scores.stitch(tmp_path / "chunks.tsv"), joined)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a-10", ("a", 10)),
        ("a_10", ("a", 10)),
        ("a_10_20", ("a", 10)),
        ("a_10.500_20.500", ("a", 10.5)),
        ("a_20_10", ("a_20", 10)),
        ("cafe_00-1000", ("cafe_00", 1000)),
        ("park-1-1200-2200", ("park-1", 1200)),
    ],
)
def test_names_of_chunks(name: str, place: tuple[str, float]) -> None:
    scores = sed.Scores.from_arrays({name: [[0.5]]}, classes=["Dog"], frame=1.0)
    joined = scores.stitch()
    assert (list(joined), joined[place[0]].edges[0]) == ([place[0]], place[1])


def test_chunks_without_a_place() -> None:
    scores = sed.Scores.from_arrays({"a": [[0.5]], "b": [[0.5]]}, classes=["Dog"], frame=1.0)
    with pytest.raises(sed.SedscopeError, match=r"2 chunks not named RECORDING-START.*a, b"):
        scores.stitch()
    with pytest.raises(sed.SedscopeError, match="no place is given for 1 chunk with scores: b"):
        scores.stitch({"a.wav": ("rec", 0)})
    with pytest.raises(sed.SedscopeError, match="1 chunk without recording and start"):
        scores.stitch({"a": ("rec", float("nan"))})
    bad: Any = "hours"
    with pytest.raises(sed.SedscopeError, match="unit='hours'"):
        scores.stitch(unit=bad)
