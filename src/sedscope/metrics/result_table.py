"""Results of a metric as tables: data frames, and what notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.short_numbers import number_or_blank
from ..errors import counted
from ..notebook.data_frame import Tabular, number_column, polars_frame
from ..notebook.html_table import html_table

if TYPE_CHECKING:
    from polars import DataFrame as PolarsFrame

    from .metric import MetricResult


class ResultTable(Tabular):
    """Base of the results of metrics. Each has a row per class, and one over all classes."""

    def to_polars(self: MetricResult) -> PolarsFrame:
        """Return a polars data frame: the value over all classes, without a class, then that of each."""
        labels = list(self.per_class)
        values = [result.value for result in self.per_class.values()]
        return polars_frame(
            {
                "class": [None, *labels],
                "value": number_column([self.value, *values]),
                "threshold": number_column([None, *map(self.thresholds.get, labels)]),
            }
        )

    def __repr__(self: MetricResult) -> str:
        return f"<{type(self).__name__}: {self.value:.4f}, {counted(len(self.per_class), 'class')}>"

    def _repr_html_(self: MetricResult) -> str:
        thresholds = self.thresholds
        columns = 3 if thresholds else 2
        header = ["class", "value", "threshold"][:columns]
        rows = (
            [label, f"{result.value:.4f}", number_or_blank(thresholds.get(label), ".4g")][:columns]
            for label, result in self.per_class.items()
        )
        last = ["overall", f"{self.value:.4f}", ""][:columns]
        return html_table(header, rows, len(self.per_class), "class", title=repr(self), last=last)
