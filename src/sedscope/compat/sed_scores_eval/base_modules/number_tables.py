"""Tables of numbers as pandas frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....errors import SedscopeError
from ....io.locations import check_input
from ....io.polars_threads import require_polars_threads


def read_number_table(path: Path) -> Any:
    """Read a tab-separated table of numbers with a header, exactly as written."""
    import pandas
    import polars

    check_input(path)
    require_polars_threads(path)
    try:
        table = polars.read_csv(path, separator="\t", quote_char=None).cast(polars.Float64)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise SedscopeError(f"{path} is not a table of numbers: {error}") from None
    return pandas.DataFrame({name: table[name].to_numpy() for name in table.columns})
