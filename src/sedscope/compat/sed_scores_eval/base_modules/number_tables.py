"""Tables of numbers as pandas frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....data.tables import TIME_COLUMNS
from ....errors import SedscopeError
from ....io.locations import check_input
from ....io.polars_threads import require_polars_threads
from ....io.scores.tsv import FLOAT32_START


def read_number_table(path: Path) -> Any:
    """Read a tab-separated table of numbers with a header, exactly as written.

    The scores of a table that sedscope wrote as float32 are rounded to float32 again.
    """
    import pandas
    import polars

    check_input(path)
    require_polars_threads(path)
    try:
        with path.open("rb") as file:
            is_float32 = file.read(len(FLOAT32_START)) == FLOAT32_START
        quotes = '"' if is_float32 else None
        table = polars.read_csv(path, separator="\t", quote_char=quotes).cast(polars.Float64)
        if is_float32:
            scores = polars.exclude(TIME_COLUMNS).cast(polars.Float32).cast(polars.Float64)
            table = table.with_columns(scores)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise SedscopeError(f"{path} is not a table of numbers: {error}") from None
    return pandas.DataFrame({name: table[name].to_numpy() for name in table.columns})
