"""Tables of scores that other libraries read: Arrow datasets, Delta Lake and Iceberg tables."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sedscope as sed
from sedscope.io.scores import arrow_tables, parquet_tables

from ..support.equality import assert_equal_scores
from .test_parquet_tables import CLASSES, CLIPS, LAYOUTS, in_folder, long, made, same_clips, wide

pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
dataset = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow")


def as_lists(fixed: bool) -> polars.DataFrame:
    table = wide().select("clip", "onset", "offset", polars.concat_list(CLASSES).alias("scores"))
    return table.with_columns(polars.col("scores").list.to_array(3)) if fixed else table


def truth_of(clips: dict[str, int]) -> sed.GroundTruth:
    events = {clip: [(0, 0.25, label) for label in CLASSES] for clip in clips}
    return sed.GroundTruth.from_dict(
        events, durations={clip: frames / 4 for clip, frames in clips.items()}
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, tmp_path: Path) -> None:
    table, dtype = LAYOUTS[layout](), np.float64 if layout == "float64" else np.float32
    files = dataset.dataset(in_folder(table, tmp_path / "scores"), partitioning="hive")
    assert {"day", "site"} < {*files.schema.names}  # which are no classes
    held = dataset.dataset(table.to_arrow())
    all_rows = dataset.field("offset") > 0
    for system in (files, files.filter(all_rows), held, held.filter(all_rows)):
        same_clips(sed.read_scores(system), dtype)
    same_clips(pickle.loads(pickle.dumps(sed.read_scores(files))), dtype)


@settings(max_examples=60)
@given(data=st.data())
def test_rows_lie_anywhere(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    tables: dict[str, Callable[[], polars.DataFrame]] = {
        "wide": wide,
        "long": long,
        "lists": lambda: as_lists(False),
        "arrays": lambda: as_lists(True),
    }
    layout = data.draw(st.sampled_from([*tables]))
    table = tables[layout]()
    if data.draw(st.booleans(), "shuffled"):
        table = table.sample(fraction=1, shuffle=True, seed=data.draw(st.integers(0, 99)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(table)), max_size=5)))
    folder = tmp_path_factory.mktemp("scores")
    kind = data.draw(st.sampled_from(["parquet", "feather"]))
    for number, (first, last) in enumerate(zip([0, *cuts], [*cuts, len(table)], strict=True)):
        rows = table[first:last].to_arrow()
        group = data.draw(st.integers(1, 20))
        options = {"max_rows_per_group": group} if kind == "parquet" else {}
        dataset.write_dataset(rows, folder / str(number), format=kind, min_rows_per_group=0, **options)
    system = dataset.dataset(folder, format=kind, partitioning=None)
    if data.draw(st.booleans(), "filtered"):
        system = system.filter(dataset.field("onset") >= 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_tables, "_BLOCK_BYTES", data.draw(st.integers(1, 400)))
        patch.setattr(parquet_tables, "_MOST_BLOCKS", 1000)
        patch.setattr(arrow_tables, "_BATCH_ROWS", data.draw(st.integers(1, 20)))
        scores = sed.read_scores(system, classes=CLASSES if layout in ("lists", "arrays") else None)
        same_clips(scores)
        for clip in data.draw(st.lists(st.sampled_from([*CLIPS]), max_size=6)):  # in any order
            np.testing.assert_array_equal(scores[clip].values, made()[clip].values)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (wide().drop("clip"), r"No column is known to be the clip. Its columns are onset \(Float64\)"),
        (wide().with_columns(Dog=polars.lit("x")), r"These columns are not scores: 'Dog'"),
        (wide().with_columns(clip=None), "row 0 names no clip"),
        (
            wide().with_columns(Dog=polars.col("Dog").replace(wide()["Dog"][2], None)),
            "clip b, class Dog, frame 2",
        ),
        (polars.concat([wide(), wide()[:1]]), "clip b: .*frame"),
        (long()[1:], "clip b: a frame lacks a class or has one twice"),
        (polars.concat([long(), long()[:1]]), "clip b: a frame lacks a class or has one twice"),
        (as_lists(False).with_columns(scores=polars.col("scores").list.head(2)), "not of 3"),
        (wide()[:0], "The table has no rows"),
    ],
)
def test_what_does_not_fit_is_refused(table: polars.DataFrame, problem: str, tmp_path: Path) -> None:
    dataset.write_dataset(table.to_arrow(), tmp_path, format="parquet")
    reading = sed.SystemReading(classes=CLASSES if "scores" in table.columns else None)
    with pytest.raises(sed.SedscopeError, match=problem):
        sed.evaluate(dataset.dataset(tmp_path), truth_of(CLIPS), "psds1", system_reading=reading)


def test_names_of_columns_and_everything_that_takes_a_system(tmp_path: Path) -> None:
    names = {"clip": "recording", "onset": "start", "offset": "end", "label": "species", "score": "p"}
    dataset.write_dataset(long().rename(names).to_arrow(), tmp_path, format="parquet")
    system, truth = dataset.dataset(tmp_path), truth_of(CLIPS)
    options: dict[str, Any] = {"system_reading": sed.SystemReading(columns=names)}
    metric = sed.AveragePrecision(sed.Segment(0.25))
    expected = sed.evaluate(made(), truth, metric).scalars()
    assert sed.evaluate(system, truth, metric, **options).scalars() == expected
    found = sed.deltas(system, truth, metric.criterion, **options)
    assert sed.evaluate_deltas(found, metric).scalars() == expected
    compared = sed.compare({"a": system, "b": made()}, truth, metric, **options, resampling=20)
    assert compared.evaluations["a"].scalars() == compared.evaluations["b"].scalars() == expected
    assert sed.validate(system, truth, **options).findings == ()
    with pytest.raises(sed.SedscopeError, match="cannot be given for a table"):
        sed.read_scores(system, format="tsv")


def test_batches_are_read_once_and_few_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_tables, "_BLOCK_BYTES", 40)
    monkeypatch.setattr(arrow_tables, "_BATCH_ROWS", 2)
    files = dataset.dataset(in_folder(wide(), tmp_path / "scores", 2))
    read, scan = list[tuple[list[str], int]](), arrow_tables._scan

    def counted(source: Any, columns: list[str], first: int, **options: Any) -> Any:
        start, batches = scan(source, columns, first, **options)

        def recorded() -> Iterator[Any]:
            for batch in batches:
                read.append(([*columns], len(batch)))
                yield batch

        return start, recorded()

    monkeypatch.setattr(arrow_tables, "_scan", counted)
    scores = sed.read_scores(files)
    assert sum(rows for _, rows in read) == len(wide())  # the names of clips
    assert {*map(tuple, (columns for columns, _ in read))} == {("clip",)}
    read.clear()
    same_clips(scores)
    assert sum(rows for _, rows in read) == len(wide())
    assert max(rows for _, rows in read) <= 2
    assert {*read[0][0]} == {"onset", "offset", *CLASSES}


def test_memory_does_not_grow_with_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table of 64 MB in four files, at most 8 MB are held outside the blocks."""
    monkeypatch.setattr(parquet_tables, "_BLOCK_BYTES", 2**18)
    frames, classes = 4000, [f"class {k}" for k in range(40)]
    rows: dict[str, Any] = {"onset": np.arange(frames) / 4, "offset": np.arange(1, frames + 1) / 4}
    for number in range(4):
        random = np.random.default_rng(number)
        rows |= {name: random.random(25 * frames, dtype=np.float32) for name in classes}
        table = {"clip": np.repeat([f"{number}-{k}" for k in range(25)], frames)} | rows
        table |= {name: np.tile(rows[name], 25) for name in ("onset", "offset")}
        made = polars.DataFrame({name: table[name] for name in ("clip", "onset", "offset", *classes)})
        made.write_parquet(
            tmp_path / f"{number}.parquet", compression="uncompressed", row_group_size=frames
        )
        rows = {name: rows[name] for name in ("onset", "offset")}
    before, most = pyarrow.total_allocated_bytes(), 0
    scores = sed.read_scores(dataset.dataset(tmp_path))
    for clip in scores:
        assert len(scores[clip].values) == frames
        most = max(most, pyarrow.total_allocated_bytes() - before)
    assert 0 < most < 2**23


def test_columns_of_partitions_are_no_classes(tmp_path: Path) -> None:
    year = pyarrow.array([2026] * len(wide()))
    by_year = dataset.partitioning(pyarrow.schema([("year", pyarrow.int64())]), flavor="hive")
    table = wide().to_arrow().append_column("year", year)
    dataset.write_dataset(table, tmp_path, format="parquet", partitioning=by_year)
    files = dataset.dataset(tmp_path, partitioning="hive")
    union = dataset.UnionDataset(files.schema, [files])
    for system in (files, union):
        for chosen in (system, system.filter(dataset.field("year") == 2026)):
            assert "year" not in sed.read_scores(chosen).classes


def test_workers_read_files_and_nothing_in_memory(tmp_path: Path) -> None:
    files = dataset.dataset(in_folder(wide(), tmp_path / "scores"))
    for system in (dataset.dataset(wide().to_arrow()), files.filter(dataset.field("onset") >= 0)):
        with pytest.raises(sed.SedscopeError, match="workers cannot read it"):
            pickle.dumps(sed.read_scores(system))


def in_versions(table: polars.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield what is written to a table one after the other. What is called z is deleted at the end."""
    other = table.with_columns(clip=polars.lit("z"))
    for rows in (table[:7], other, table[7:]):
        yield "append", rows.to_arrow()
    yield "delete", None


@pytest.mark.parametrize("layout", ["wide", "class by class", "shuffled"])
def test_delta_tables(layout: str, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake", reason="needs Delta Lake: pip install deltalake")
    path = tmp_path / "table"
    for action, rows in in_versions(LAYOUTS[layout]().with_columns(day=polars.lit(3))):
        if action == "delete":
            deltalake.DeltaTable(path).delete("clip = 'z'")
        else:
            deltalake.write_deltalake(path, rows, mode="append", partition_by=["day"])
    table = deltalake.DeltaTable(path)
    for system in (table, table.to_pyarrow_dataset(), path, str(path)):
        same_clips(sed.read_scores(system))
    scores = pickle.loads(pickle.dumps(sed.read_scores(path)))
    table.delete("clip = 'a'")
    same_clips(scores)  # of the version that was opened
    assert {*sed.read_scores(path)} == {*CLIPS} - {"a"}
    before = deltalake.DeltaTable(path, version=table.version() - 1)
    assert_equal_scores(sed.read_scores(before), sed.read_scores(before.to_pyarrow_dataset()))
    files = dataset.dataset([str(file) for file in path.rglob("*.parquet")])
    for mixed in (path / "day=3", files, files.filter(dataset.field("onset") >= 0)):
        with pytest.raises(sed.SedscopeError, match="is a Delta or Iceberg table"):
            sed.read_scores(mixed)  # which would read rows that were deleted


def test_delta_tables_with_features_that_arrow_lacks(tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake", reason="needs Delta Lake: pip install deltalake")
    deltalake.write_deltalake(tmp_path, wide().to_arrow())
    [log] = (tmp_path / "_delta_log").glob("*.json")
    features = (
        '{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],'
    )
    features += '"writerFeatures":["deletionVectors"]}}'
    lines = [features if "protocol" in line else line for line in log.read_text().splitlines()]
    log.write_text("\n".join(lines))
    with pytest.raises(sed.SedscopeError, match=r"table of .* cannot be read: .*deletionVectors"):
        sed.read_scores(tmp_path)


@pytest.mark.parametrize("layout", ["wide", "class by class", "shuffled"])
def test_iceberg_tables(layout: str, tmp_path: Path) -> None:
    memory = pytest.importorskip(
        "pyiceberg.catalog.memory", reason="needs Iceberg: pip install pyiceberg"
    )
    catalog = memory.InMemoryCatalog("catalog", warehouse=tmp_path.as_uri())
    catalog.create_namespace("space")
    written = LAYOUTS[layout]()
    table = catalog.create_table("space.scores", schema=written.to_arrow().schema)
    for action, rows in in_versions(written):
        if action == "delete":
            table.delete("clip = 'z'")
        else:
            table.append(rows)
    for system in (table, table.scan(), table.scan("onset >= 0")):
        same_clips(sed.read_scores(system))
    scores = pickle.loads(pickle.dumps(sed.read_scores(table)))
    table.delete("clip = 'a'")
    same_clips(scores)
    assert {*sed.read_scores(table)} == {*sed.read_scores(table.scan())} == {*CLIPS} - {"a"}
    with pytest.raises(sed.SedscopeError, match="scan with a limit"):
        sed.read_scores(table.scan(limit=3))
    with pytest.raises(sed.SedscopeError, match="is a Delta or Iceberg table"):
        sed.read_scores(tmp_path)
