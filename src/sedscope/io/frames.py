"""Tables given as frames of pandas, polars or pyarrow."""

from __future__ import annotations

from typing import Any

from ..errors import SedscopeError


def as_frame(table: Any, where: str) -> Any:
    """A frame through narwhals, or a word on why it is none."""
    import narwhals

    try:
        frame = narwhals.from_native(table, eager_only=True)
        frame.columns  # noqa: B018  # names that occur twice are found here
        return frame
    except (TypeError, narwhals.exceptions.NarwhalsError) as error:
        raise SedscopeError(
            f"{where}: expected a pandas, polars or pyarrow table, not {type(table).__name__}: {error}"
        ) from None
