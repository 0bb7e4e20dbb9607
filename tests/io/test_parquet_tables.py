"""Tables of scores in Parquet files as other programs write them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io.scores import parquet_tables
from sedscope.io.scores.parquet_tables import TableFile

from ..support.equality import assert_equal_scores

CLASSES = ["Cat", "Dog", "Frying"]
CLIPS = {"b": 5, "a": 1, "d": 9, "c": 2}  # frames


def made(dtype: type = np.float32) -> sed.Scores:
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        clip: rng.random((frames, 3)).astype(dtype) for clip, frames in CLIPS.items()
    }
    return sed.Scores.from_arrays(arrays, classes=CLASSES, frame=0.25)


def wide(dtype: type = np.float32) -> polars.DataFrame:
    scores = made(dtype)
    return polars.concat(
        polars.DataFrame(
            {
                "clip": [clip] * len(scores[clip].values),
                "onset": scores[clip].edges[:-1],
                "offset": scores[clip].edges[1:],
                **dict(zip(CLASSES, scores[clip].values.T, strict=True)),
            }
        )
        for clip in scores
    )


def long() -> polars.DataFrame:
    times = ["clip", "onset", "offset"]
    return wide().unpivot(CLASSES, index=times, variable_name="label", value_name="score")


LAYOUTS: dict[str, Callable[[], polars.DataFrame]] = {
    "wide": wide,
    "float64": lambda: wide(np.float64),
    "columns in another order": lambda: wide().select("Cat", "offset", "Dog", "clip", "Frying", "onset"),
    "filename": lambda: wide().rename({"clip": "filename"}),
    "class by class": long,
    "clip by clip": lambda: long().sort("clip", maintain_order=True),
    "frame by frame": lambda: long().sort("clip", "onset", "label", descending=[True, False, True]),
    "labels in any order": lambda: (
        long().sample(fraction=1, shuffle=True, seed=2).sort("clip", "onset", maintain_order=True)
    ),
    "shuffled": lambda: long().sample(fraction=1, shuffle=True, seed=1),
    "categories": lambda: long().with_columns(polars.col("label").cast(polars.Categorical)),
}


def in_folder(table: polars.DataFrame, folder: Path, files: int = 3, group: int = 4) -> Path:
    """Write a table in as many files as are asked for, whatever the clips of their rows."""
    for k, rows in enumerate(np.array_split(np.arange(len(table)), files)):
        part = folder / f"site={k % 2}" / f"day={k}"
        part.mkdir(parents=True)
        table[rows].write_parquet(part / "part-0.parquet", row_group_size=group)
    (folder / "_SUCCESS").write_text("")
    return folder


def same_clips(scores: sed.Scores, dtype: type = np.float32) -> None:
    expected = made(dtype)
    assert scores.classes == expected.classes
    assert {*scores} == {*expected}
    for clip in expected:
        np.testing.assert_array_equal(scores[clip].values, expected[clip].values)
        assert scores[clip].values.dtype == dtype
        np.testing.assert_array_equal(scores[clip].ticks, expected[clip].ticks)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, tmp_path: Path) -> None:
    folder = in_folder(LAYOUTS[layout](), tmp_path / "scores")
    dtype = np.float64 if layout == "float64" else np.float32
    if layout == "columns in another order":
        assert_equal_scores(sed.read_scores(folder), made())
    same_clips(sed.read_scores(folder), dtype)
    same_clips(sed.read_scores(f"{folder}/site=*/**/*.parquet"), dtype)
    same_clips(sed.read_scores(str(folder / "site=*")), dtype)


@settings(max_examples=30)
@given(
    files=st.integers(1, 6), group=st.integers(1, 20), block=st.integers(1, 100), is_long=st.booleans()
)
def test_clips_begin_and_end_anywhere(
    files: int, group: int, block: int, is_long: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = in_folder(long() if is_long else wide(), tmp_path_factory.mktemp("scores"), files, group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_tables, "_BLOCK_BYTES", block)
        patch.setattr(parquet_tables, "_MOST_BLOCKS", 1000)
        same_clips(sed.read_scores(folder))


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("numbered", [False, True])
def test_lists_of_scores(fixed: bool, numbered: bool, tmp_path: Path) -> None:
    table = wide().select("clip", "onset", polars.concat_list(CLASSES).alias("scores"))
    if fixed:
        table = table.with_columns(polars.col("scores").list.to_array(3))
    if numbered:
        number = (polars.col("onset") / 0.25).round().cast(polars.Int32)
        table = table.with_columns(number.alias("frame")).drop("onset")
    in_folder(table, tmp_path / "scores")
    same_clips(sed.read_scores(tmp_path / "scores", classes=CLASSES, frame=0.25))
    table.write_parquet(tmp_path / "x.parquet")
    same_clips(sed.read_scores(tmp_path / "x.parquet", classes=CLASSES, frame=0.25))
    with pytest.raises(sed.SedscopeError, match=r"not of 2"):
        sed.read_scores(tmp_path / "x.parquet", classes=CLASSES[:2], frame=0.25)["a"]
    with pytest.raises(sed.SedscopeError, match="Give classes=, one for each score in 'scores'"):
        sed.read_scores(tmp_path / "x.parquet", frame=0.25)
    with pytest.raises(sed.SedscopeError, match=r"Give frame=.*scores \((List|Array)\(Float32"):
        sed.read_scores(tmp_path / "x.parquet", classes=CLASSES)


def test_a_long_table_alone_is_a_list_of_events(tmp_path: Path) -> None:
    long().write_parquet(tmp_path / "x.parquet")
    same_clips(sed.read_scores(tmp_path / "x.parquet", format="parquet"))
    with pytest.raises(sed.SedscopeError, match="holds no scores"):
        sed.read_scores(tmp_path / "x.parquet")


def test_names_of_columns(tmp_path: Path) -> None:
    names = {"clip": "recording", "onset": "start", "offset": "end", "label": "species", "score": "p"}
    folder = in_folder(long().rename(names), tmp_path / "scores")
    with pytest.raises(
        sed.SedscopeError, match=r"No column is known to be the clip.*species \(String\)"
    ):
        sed.read_scores(folder)
    same_clips(sed.read_scores(folder, format="parquet", columns=names))
    truth = sed.GroundTruth.from_dict(
        {clip: [(0, 0.25, "Cat")] for clip in CLIPS},
        durations={clip: frames / 4 for clip, frames in CLIPS.items()},
    )
    reading = sed.SystemReading(format="parquet", columns=names)
    metric = sed.AveragePrecision(sed.Segment(0.25))
    with pytest.warns(sed.SedscopeWarning, match="no reference events"):
        values = [
            sed.evaluate(system, truth, metric, system_reading=options).scalars()
            for system, options in ((str(folder), reading), (made(), sed.SystemReading()))
        ]
    assert repr(values[0]) == repr(values[1])
    for columns, problem in (
        ({"clip": "file"}, "no column 'file'"),
        ({"time": "start"}, "no role 'time'"),
    ):
        with pytest.raises(sed.SedscopeError, match=problem):
            sed.read_scores(folder, format="parquet", columns=columns)


def test_folders_name_clips(tmp_path: Path) -> None:
    for (clip,), rows in wide().group_by("clip"):
        (tmp_path / f"clip={clip}").mkdir()
        rows.drop("clip").write_parquet(tmp_path / f"clip={clip}" / "0.parquet")
    same_clips(sed.read_scores(tmp_path))


def test_the_first_file_decides(tmp_path: Path) -> None:
    folder = in_folder(wide().drop("offset"), tmp_path / "scores")
    for damaged in sorted(folder.rglob("*.parquet"))[1:]:
        damaged.write_bytes(b"PAR1")
    with pytest.raises(sed.SedscopeError, match=r"Give frame=.*Cat \(Float32\)"):
        sed.read_scores(folder)
    other = in_folder(wide(), tmp_path / "others")
    last = sorted(other.rglob("*.parquet"))[-1]
    polars.read_parquet(last).rename({"Dog": "Wolf"}).write_parquet(last)
    with pytest.raises(sed.SedscopeError, match=r"other columns than .*: Dog, Wolf"):
        sed.read_scores(other)


def test_every_frame_of_a_long_table_needs_every_class(tmp_path: Path) -> None:
    folder = in_folder(long()[1:], tmp_path / "scores")
    with pytest.raises(sed.SedscopeError, match="clip b: a frame lacks a class or has one twice"):
        sed.read_scores(folder)["b"]
    twice = in_folder(polars.concat([long(), long()[:1]]), tmp_path / "twice")
    with pytest.raises(sed.SedscopeError, match="clip b: a frame lacks a class or has one twice"):
        sed.read_scores(twice)["b"]


@pytest.mark.parametrize("order", [["onset", "label"], ["label", "onset"], ["score"]])
def test_long_tables_may_have_as_many_frames_as_classes(order: list[str], tmp_path: Path) -> None:
    cells = [(onset, label) for onset in (0.0, 1.0, 2.0) for label in CLASSES]
    table = polars.DataFrame(
        [("a", onset, onset + 1, label, (7 * k % 9) / 9) for k, (onset, label) in enumerate(cells)],
        schema=["filename", "onset", "offset", "label", "score"],
        orient="row",
    )
    clip = sed.read_scores(in_folder(table.sort(order), tmp_path / "scores"))["a"]
    assert clip.values.tolist() == table["score"].to_numpy().reshape(3, 3).tolist()
    assert clip.ticks.tolist() == [0, 1_000_000, 2_000_000, 3_000_000]


@pytest.mark.parametrize("column", ["onset", "offset"])
def test_the_rows_of_a_frame_have_the_same_times(column: str, tmp_path: Path) -> None:
    last_of_first = polars.arange(polars.len()) == 2
    table = long().sort("clip", "onset", "label")
    moved = table.with_columns(polars.when(last_of_first).then(0.125).otherwise(column).alias(column))
    folder = in_folder(moved, tmp_path / "scores")
    with pytest.raises(sed.SedscopeError, match="clip a: the rows of a frame have different times"):
        sed.read_scores(folder)["a"]


def test_rows_without_clip_or_time(tmp_path: Path) -> None:
    for column, problem in (("clip", "row 0 names no clip"), ("onset", "clip b: 1 row has no time")):
        first = polars.int_range(polars.len()) == 0
        table = wide().with_columns(polars.when(~first).then(polars.col(column)).alias(column))
        table.write_parquet(tmp_path / "x.parquet")
        with pytest.raises(sed.SedscopeError, match=problem):
            sed.read_scores(tmp_path / "x.parquet")["b"]


def test_blocks_are_read_once_and_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_tables, "_BLOCK_BYTES", 1)
    folder = in_folder(wide(), tmp_path / "scores")
    read: list[tuple[str, int]] = []
    rows = TableFile.rows

    def counted(self: TableFile, columns: list[str], first: int, last: int) -> polars.DataFrame:
        if len(columns) > 1:  # not the names of clips alone
            read.append((str(self.file), first))
        return rows(self, columns, first, last)

    monkeypatch.setattr(TableFile, "rows", counted)
    scores = sed.read_scores(folder)
    assert not read
    same_clips(scores)
    assert len(read) == len({*read}) == 6
    arrays = [scores[clip].values for clip in scores]
    assert all(array.base is None or array.base.nbytes == array.nbytes for array in arrays)
    monkeypatch.setattr(parquet_tables, "_MOST_BLOCKS", 1)
    with pytest.raises(sed.SedscopeError, match="Sort the table by clip"):
        sed.read_scores(folder)["d"]


def test_a_folder_at_an_address(tmp_path: Path) -> None:
    files = fsspec.filesystem("memory")
    files.put(str(in_folder(wide(), tmp_path / "scores")), "/parquet-tables", recursive=True)
    shutil.rmtree(tmp_path / "scores")
    try:
        for address in ("", "/*/day=*", "/**/*.parquet", "/site=[01]/day=?/part-*"):
            same_clips(sed.read_scores(f"memory://parquet-tables{address}"))
        with pytest.raises(sed.SedscopeError, match="no such file or folder"):
            sed.read_scores("memory://parquet-tables/site=2*")
    finally:
        files.rm("/parquet-tables", recursive=True)


@pytest.mark.parametrize("entry", ["_delta_log/0.json", "metadata/v1.metadata.json"])
def test_tables_with_versions_are_refused(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sedscope.io.locations.find_spec", lambda _: None)  # deltalake is not installed
    folder = in_folder(wide(), tmp_path / "table")
    (folder / entry).parent.mkdir()
    (folder / entry).write_text("{}")
    for path in (tmp_path, folder, folder / "site=0", f"{folder}/*/*", f"{tmp_path}/*/*/*/*.parquet"):
        with pytest.raises(sed.SedscopeError, match=r"table is a Delta or Iceberg table"):
            sed.read_scores(path)
