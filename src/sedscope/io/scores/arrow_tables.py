"""Tables of scores that another library reads: Arrow and Ray datasets, Delta Lake and Iceberg tables.

Each consists of parts (files, or blocks in memory) that the library reads as a stream of Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import SedscopeError
from ..locations import explained
from ..parquet_files import reading_parquet
from .parquet import refuse_versions
from .parquet_tables import TableFile

if TYPE_CHECKING:
    import polars

_BATCH_ROWS = 2**14
Batches: TypeAlias = "Callable[[Sequence[str], int], tuple[int, Iterator[Any]]]"
"""Takes names of columns and a row. Returns the first row that it reads, which may be one before, and the
batches from there on."""


class ArrowTable(TableFile):
    """Some rows of a table, in the order in which its library always reads them."""

    kind = "table"

    def __init__(
        self,
        name: str,
        schema: Any,
        batches: Batches,
        partition: Iterable[str] = (),
        local: bool = False,
    ) -> None:
        """``partition``: columns by which a table is partitioned, which are no classes. ``local``: whether
        only this process can read it."""
        self.file, self.local = name, local
        self.constant = dict.fromkeys(partition, "")
        self._types, self._batches = schema, batches
        self._rows = 0
        self._stream: Iterator[Any] | None = None
        self._batch: polars.DataFrame | None = None  # the last one that was read ...
        self._first = 0  # ... and its first row

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        if self.local:
            raise SedscopeError(
                f"{self.file} is in memory or filtered, so that workers cannot read it. Write it to Parquet "
                "files, and give their dataset without a filter."
            )
        return ArrowTable, (self.file, self._types, self._batches, [*self.constant])

    def schema(self) -> dict[str, Any]:
        columns = as_frame(self._types.empty_table()).schema
        return {name: kind for name, kind in columns.items() if name not in self.constant}

    def texts(self, name: str) -> Iterator[polars.Series]:
        import polars

        self._rows = 0
        with reading_parquet(self.file, self.kind):
            for batch in self._batches([name], 0)[1]:
                self._rows += len(batch)
                yield as_frame(batch)[name].cast(polars.String)

    def rows(self, columns: Sequence[str], first: int, last: int) -> polars.DataFrame:
        """Read on from the rows that were read last, or begin again if these come later."""
        import polars

        with reading_parquet(self.file, self.kind):
            if self._stream is None or self._batch is None or first < self._first:
                self._first, self._stream = self._batches(columns, first)
                self._batch = polars.DataFrame()
            parts = []
            while True:
                start, end = max(0, first - self._first), last - self._first
                if start < len(self._batch):
                    parts.append(self._batch[start:end])
                if end <= len(self._batch):
                    return polars.concat(parts)
                batch = next(self._stream, None)
                if batch is None:
                    raise ValueError("it has fewer rows than before")
                self._first += len(self._batch)
                self._batch = as_frame(batch)

    def close(self) -> None:
        self._stream = self._batch = None

    def blocks(self, rows_together: int) -> NDArray[np.int64]:
        return np.append(np.arange(0, self._rows, rows_together), self._rows)


def as_frame(batch: Any) -> polars.DataFrame:
    """Return a batch or table of Arrow as a frame. Of tensors, as Ray has them, the numbers are kept."""
    import polars

    columns = {name: batch[name] for name in batch.schema.names}
    for name, column in columns.items():
        if hasattr(column.type, "storage_type"):
            columns[name] = column.cast(column.type.storage_type)
    return polars.DataFrame({name: polars.from_arrow(column) for name, column in columns.items()})


def table_parts(table: Any) -> list[TableFile]:
    """Return the parts of a table, as it is now: rows that were deleted or replaced are not among them."""
    where = table if isinstance(table, Path) else type(table).__module__.partition(".")[0]
    with explained(f"The table of {where} cannot be read", Exception):
        if isinstance(table, Path):
            from deltalake import DeltaTable

            table = DeltaTable(table)
        if hasattr(table, "current_snapshot"):
            table = table.scan()
        if hasattr(table, "to_pyarrow_dataset"):
            table = table.to_pyarrow_dataset()
        if hasattr(table, "to_arrow_refs"):
            parts = _parts_of_ray(table)
        elif hasattr(table, "plan_files"):
            parts = _parts_of_scan(table)
        else:
            parts = _parts_of_dataset(table)
    if not parts:
        raise SedscopeError("The table has no rows.")
    return parts


def _parts_of_dataset(dataset: Any) -> list[TableFile]:
    from pyarrow.dataset import get_partition_keys

    name = "the Arrow dataset"
    # paths in a table of Delta Lake itself are relative to it
    refuse_versions(path for path in map(Path, getattr(dataset, "files", ())) if path.is_absolute())
    try:
        fragments = [*dataset.get_fragments()]
    except ValueError:  # it is filtered, so that only the whole can be read
        of_parts = [
            getattr(part, "partitioning", None) for part in getattr(dataset, "children", [dataset])
        ]
        names = {name for partitioning in of_parts if partitioning for name in partitioning.schema.names}
        return [ArrowTable(name, dataset.schema, partial(_scan, dataset), names, local=True)]
    return [
        ArrowTable(
            getattr(fragment, "path", name),
            dataset.schema,
            partial(_scan, fragment, schema=dataset.schema),
            get_partition_keys(fragment.partition_expression),
            local=not hasattr(fragment, "path"),
        )
        for fragment in fragments
    ]


def _scan(source: Any, columns: Sequence[str], first: int, **options: Any) -> tuple[int, Iterator[Any]]:
    """Read an Arrow dataset or a fragment of one; a Parquet file from the row group of the first row on."""
    from pyarrow.dataset import field

    start, pieces = 0, [source]
    if hasattr(source, "row_groups"):  # one by one: a scan of several would keep all of them in memory
        ends = np.cumsum([group.num_rows for group in source.row_groups])
        group = int(np.searchsorted(ends, first, side="right"))
        start = int(ends[group - 1]) if group else 0
        pieces = [source.subset(row_group_ids=[number]) for number in range(group, len(ends))]
    chosen = {name: field(name) for name in columns}
    ahead = {"batch_size": _BATCH_ROWS, "batch_readahead": 1, "fragment_readahead": 1}
    scanners = (piece.scanner(columns=chosen, **ahead, **options) for piece in pieces)
    return start, (batch for scanner in scanners for batch in scanner.to_batches())


def _parts_of_scan(scan: Any) -> list[TableFile]:
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow

    if scan.limit is not None:
        raise SedscopeError("A scan with a limit is not read, because its rows may change.")
    schema = scan.projection()
    of_columns = partial(
        ArrowScan,
        scan.table_metadata,
        scan.io,
        row_filter=scan.row_filter,
        case_sensitive=scan.case_sensitive,
    )
    fields = [field for field in scan.table_metadata.spec().fields if str(field.transform) == "identity"]
    partition = {schema.find_column_name(field.source_id) or field.name for field in fields}
    types = schema_to_pyarrow(schema)
    return [
        ArrowTable(task.file.file_path, types, partial(_scan_file, of_columns, schema, task), partition)
        for task in scan.plan_files()
    ]


def _scan_file(
    of_columns: Callable[[Any], Any], schema: Any, task: Any, columns: Sequence[str], _: int
) -> tuple[int, Iterator[Any]]:
    """Read a file of an Iceberg table, without the rows that were deleted."""
    return 0, iter(of_columns(schema.select(*columns)).to_record_batches([task]))


def _parts_of_ray(dataset: Any) -> list[TableFile]:
    import ray

    refs = dataset.to_arrow_refs()
    facts = ray.get([ray.remote(_facts).remote(ref) for ref in refs])
    blocks = [(ref, rows) for ref, (_, rows) in zip(refs, facts, strict=True) if rows]
    types = [schema for schema, rows in facts if rows]
    return [ArrowTable("the Ray dataset", types[0], partial(_blocks_of_ray, blocks))] if blocks else []


def _facts(block: Any) -> tuple[Any, int]:
    return block.schema, block.num_rows


def _select(block: Any, columns: Sequence[str]) -> Any:
    return block.select(columns)


def _blocks_of_ray(
    blocks: Sequence[tuple[Any, int]], columns: Sequence[str], first: int
) -> tuple[int, Iterator[Any]]:
    """Read blocks. If only the names of clips are needed, only these leave the machine of a block."""
    import ray

    if not ray.is_initialized():
        raise SedscopeError("Only the workers of Ray can read a Ray dataset. Give `Run(engine='ray')`.")
    start, names = 0, [*columns]
    while start + blocks[0][1] <= first:
        start += blocks[0][1]
        blocks = blocks[1:]
    refs = (ref if names[1:] else ray.remote(_select).remote(ref, names) for ref, _ in blocks)
    return start, (batch for ref in refs for batch in ray.get(ref).select(names).to_batches())
