"""Data frames of results, for polars and pandas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import SedscopeError

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame

Column: TypeAlias = "NDArray[Any] | Sequence[str | None]"
"""Numbers as an array, or texts."""


class Tabular(ABC):
    """Anything that can become a data frame."""

    @abstractmethod
    def to_polars(self) -> PolarsFrame:
        """Return a polars data frame. Values that are not defined are null.

        Returns
        -------
        polars.DataFrame
        """

    def to_pandas(self) -> PandasFrame:
        """Return what :meth:`to_polars` returns as a pandas data frame, with NaN in place of null.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import sedscope as sed
        >>> sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}).to_pandas()["event_label"].tolist()
        ['Dog']
        """
        try:
            import pandas
        except ImportError:
            raise SedscopeError(
                "to_pandas needs pandas. Install it with: pip install pandas. to_polars works without it."
            ) from None
        frame = self.to_polars()  # its own to_pandas would need pyarrow as well
        return pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})


def polars_frame(columns: Mapping[str, Column]) -> PolarsFrame:
    """Make a data frame. NaN becomes null, which averages leave out.

    >>> polars_frame({"class": ["Dog", None], "value": np.array([0.5, np.nan])}).rows()
    [('Dog', 0.5), (None, None)]
    """
    import polars

    return polars.DataFrame(
        [
            polars.Series(name, column, nan_to_null=True)
            if isinstance(column, np.ndarray)
            else polars.Series(name, column, dtype=polars.String)
            for name, column in columns.items()
        ]
    )


def frame_from_rows(
    header: Sequence[str],
    rows: Iterable[Sequence[str | float | None]],
    *,
    texts: Collection[str],
    whole_numbers: Collection[str],
) -> PolarsFrame:
    """Make a data frame from rows of cells. ``texts``, ``whole_numbers``: the columns that hold these.

    >>> rows = [("Dog", 2), (None, 3)]
    >>> frame_from_rows(["class", "events"], rows, texts=["class"], whole_numbers=["events"]).rows()
    [('Dog', 2), (None, 3)]
    """
    import polars

    columns: dict[str, Any] = dict(zip(header, zip(*rows, strict=True), strict=True))
    frame = polars_frame(
        {name: cells if name in texts else number_column(cells) for name, cells in columns.items()}
    )
    return frame.cast(dict.fromkeys(whole_numbers, polars.Int64))


def number_column(values: Sequence[float | None]) -> NDArray[np.float64]:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], np.float64)
