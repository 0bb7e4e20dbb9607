"""Tables of scores in Spark. Their rows stay there: Spark brings those of a clip together on one of its
workers, and only there the clip can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ...data.clip_scores import ClipScores
from ...data.clips import clip_id
from ...data.scores import Scores
from ...errors import SedscopeError
from .arrow_tables import ArrowTable, as_frame
from .format import ScoreReadOptions
from .parquet_tables import ScoreTables, table_layout

if TYPE_CHECKING:
    import polars

_NAME = "the Spark table"
_KINDS = {
    **{"tinyint": "Int8", "smallint": "Int16", "int": "Int32", "bigint": "Int64", "boolean": "Boolean"},
    **{
        "float": "Float32",
        "double": "Float64",
        "string": "String",
        "date": "Date",
        "timestamp": "Datetime",
    },
}
"""The kinds of columns in Spark, and what polars calls them."""

_BYTES_TOGETHER = 2**25
_MOST_NAMES = 1000  # in a query


class SparkTable:
    """A table in Spark. A worker receives it without its rows."""

    clips_in_hand: ClassVar[ScoreTables | None] = None
    """The clips that this process has, if it is a worker of Spark."""

    def __init__(self, frame: Any, options: ScoreReadOptions) -> None:
        layout = table_layout({name: _kind(kind) for name, kind in frame.dtypes}, _NAME, options, {})
        self.rows: Any = frame.select(*map(_column, dict.fromkeys([layout.clip, *layout.columns])))
        self.clip = layout.clip
        self.clips = self._names(layout.clip)
        classes = layout.classes or tuple(self._names(str(layout.label)))
        self.options = replace(options, classes=classes)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "rows": None, "clips": []}

    def _names(self, column: str) -> list[str]:
        """Return what a column has, in order."""
        rows = self.rows.select(_column(column)).distinct().collect()
        if any(row[0] is None for row in rows):
            raise SedscopeError(f"{_NAME}: some rows have no {column}.")
        return sorted(str(row[0]) for row in rows)

    @property
    def scores(self) -> Scores:
        """The scores, which only workers of Spark can read."""
        scores = Scores(self.clips, self.load, classes=self.options.classes or ())
        return scores._replaced(table=self)

    def load(self, clip: str) -> ClipScores:
        """Return the scores of a clip that is in hand."""
        return self.require_rows().load(clip)

    def require_rows(self) -> ScoreTables:
        """Return the clips in hand, and refuse a process that has none."""
        if SparkTable.clips_in_hand is None:
            raise SedscopeError(
                "Only the workers of Spark can read a table in Spark. Give `Run(engine='spark')`. "
                f"{self._advice}"
            )
        return SparkTable.clips_in_hand

    @property
    def _advice(self) -> str:
        together = f"frame.repartition({self.clip!r}).sortWithinPartitions({self.clip!r})"
        return f"Otherwise, write it to Parquet files: `{together}.write.parquet(…)`."

    def by_clip(self, clips: Sequence[str]) -> Any:
        """Return the rows of some clips and perhaps others, with those of a clip together."""
        names = {clip_id(name): name for name in self.clips}
        if not names.keys() >= {*clips}:
            raise SedscopeError(
                f"The clips of a table in Spark cannot be joined or cut there. {self._advice}"
            )
        rows, clip = self.rows, _column(self.clip)
        if len(clips) <= min(_MOST_NAMES, len(names) - 1):
            rows = rows.where(clip.cast("string").isin([names[name] for name in clips]))
        return rows.repartition(clip).sortWithinPartitions(clip)

    def in_hand(self, batches: Iterable[Any]) -> Iterator[list[str]]:
        """Take rows that are sorted by clip in hand, those of whole clips at a time. Yield these clips."""
        import polars

        held: list[polars.DataFrame] = []
        for batch in batches:
            held.append(as_frame(batch))
            if sum(frame.estimated_size() for frame in held) > _BYTES_TOGETHER:
                frame = polars.concat(held)
                whole = int((frame[self.clip] == frame[self.clip][-1]).arg_max() or 0)
                if whole:
                    yield self._take(frame[:whole])
                held = [frame[whole:]]
        if held:
            yield self._take(polars.concat(held))

    def _take(self, frame: polars.DataFrame) -> list[str]:
        rows = frame.to_arrow()
        part = ArrowTable(
            _NAME, rows.schema, lambda names, _: (0, iter(rows.select(names).to_batches()))
        )
        SparkTable.clips_in_hand = ScoreTables([part], self.options)
        return [*SparkTable.clips_in_hand.clips]


def _kind(name: str) -> Any:
    """Return what polars calls a kind of columns."""
    import polars

    if name.startswith("array<"):
        return polars.List(_kind(name[6:-1]))
    kind = "Decimal" if name.startswith("decimal") else _KINDS.get(name, "Unknown")
    return getattr(polars, kind)()


def _column(name: str) -> Any:
    from pyspark.sql.functions import col

    return col(f"`{name.replace('`', '``')}`")
