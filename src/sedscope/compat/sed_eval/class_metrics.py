"""What all metrics of sed_eval have: results overall, of each class and averaged, and a report of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from .report_text import header


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

    def __str__(self) -> str:
        return header(self.title) + "".join(f"{part}\n" for part in self._report_parts())

    @abstractmethod
    def _report_parts(self) -> Iterable[str]:
        """Return the parts of the report."""
