"""What all metrics of sed_eval have: results overall, of each class and averaged, and a report of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

from .report_text import header

F_MEASURE = (("f_measure", "F-measure (F1)"), ("precision", "Precision"), ("recall", "Recall"))
"""The names of the F-measure and its parts in the results, and in reports."""


class ClassMetrics(ABC):
    """Base of the metrics."""

    title: str
    """The header of the report."""

    @abstractmethod
    def results_overall_metrics(self) -> dict[str, Any]:
        """Return the metrics of all classes together (micro-average)."""

    @abstractmethod
    def results_class_wise_metrics(self) -> dict[str, Any]:
        """Return the metrics of each class."""

    @abstractmethod
    def results_class_wise_average_metrics(self) -> dict[str, Any]:
        """Return the means over classes (macro-average)."""

    def results(self) -> dict[str, Any]:
        """Return all metrics: overall, of each class, and averaged over classes."""
        return {
            "overall": self.results_overall_metrics(),
            "class_wise": self.results_class_wise_metrics(),
            "class_wise_average": self.results_class_wise_average_metrics(),
        }

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> Literal[False]:
        """Leave the block. Errors in it are raised."""
        return False

    def __str__(self) -> str:
        return header(self.title) + "".join(f"{part}\n" for part in self._report_parts())

    @abstractmethod
    def _report_parts(self) -> Iterable[str]:
        """Return the parts of the report."""
