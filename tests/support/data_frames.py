"""Tables of the data frame libraries that sedscope accepts."""

from __future__ import annotations

from typing import Any

import pandas
import polars

FRAME_KINDS = ["pandas", "polars", "pyarrow"]


def frame_of(kind: str, data: dict[str, Any]) -> Any:
    """A table of one of these kinds."""
    if kind == "pandas":
        return pandas.DataFrame(data)
    return polars.DataFrame(data) if kind == "polars" else polars.DataFrame(data).to_arrow()
