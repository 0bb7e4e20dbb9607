"""Tables given as frames of pandas, polars or pyarrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import SedscopeError


def as_frame(table: Any, where: str) -> Any:
    """A frame through narwhals, a mapping of columns too, or a word on why it is none."""
    import narwhals

    try:
        if isinstance(table, Mapping):
            import polars

            table = polars.DataFrame(dict(table), strict=False)
        frame = narwhals.from_native(table, eager_only=True)
        frame.columns  # noqa: B018  # names that occur twice are found here
        return frame
    except (TypeError, ValueError, narwhals.exceptions.NarwhalsError) as error:
        raise SedscopeError(
            f"{where}: expected a pandas, polars or pyarrow table, not {type(table).__name__}: {error}"
        ) from None
