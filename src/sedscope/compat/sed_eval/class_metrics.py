"""What all metrics of sed_eval have: results overall, of each class and averaged, and a report of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ...escaping import one_line
from . import metric
from .event_lists import MetaDataContainer

_LINE_LENGTH = 40  # of the line below a header
_VALUE_COLUMN = 35

F_MEASURE = (("f_measure", "F-measure (F1)"), ("precision", "Precision"), ("recall", "Recall"))
"""The names of the F-measure and its parts in the results, and in reports."""
Values = dict[str, float]
EventList = Iterable[Mapping[str, Any]]

_ERROR_RATE = (
    ("error_rate", "Error rate (ER)"),
    ("substitution_rate", "Substitution rate"),
    ("deletion_rate", "Deletion rate"),
    ("insertion_rate", "Insertion rate"),
)
_ACCURACY = (
    ("sensitivity", "Sensitivity"),
    ("specificity", "Specificity"),
    ("balanced_accuracy", "Balanced accuracy"),
    ("accuracy", "Accuracy"),
)
_GROUPS = (
    ("F-measure", "f_measure", F_MEASURE, "%"),
    ("Error rate", "error_rate", _ERROR_RATE, ""),
    ("Accuracy", "accuracy", _ACCURACY, "%"),
)
_COLUMNS = (
    ("Event label", 15, "", True),
    ("Nref", 8, "d", False),
    ("Nsys", 8, "d", True),
    ("F", 9, ".1%", False),
    ("Pre", 9, ".1%", False),
    ("Rec", 9, ".1%", True),
    ("ER", 9, ".2f", False),
    ("Del", 9, ".2f", False),
    ("Ins", 9, ".2f", True),
)
_ACCURACY_COLUMNS = tuple((name, 9, ".1%", False) for name in ("Sens", "Spec", "Bacc", "Acc"))


class ClassMetrics(ABC):
    """Base of the metrics."""

    title: str
    """The header of the report."""
    _report_parts: ClassVar[tuple[str, ...]] = (
        "parameters",
        "overall",
        "class_wise_average",
        "class_wise",
    )

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
        parts = (getattr(self, f"result_report_{part}")() for part in self._report_parts)
        return header(self.title) + "".join(f"{part}\n" for part in parts)


class SoundEventMetrics(ClassMetrics):
    """What is counted, and the results and reports from it.

    Parameters
    ----------
    event_label_list : list of str
        The classes.
    empty_system_output_handling : {None, "zero_score"}
        The precision of a class without detections: NaN, or 0 with ``"zero_score"``.
    """

    error_counts: tuple[str, str, str]
    """The names of the counts of substitutions, deletions and insertions."""

    def __init__(
        self, event_label_list: list[str], empty_system_output_handling: str | None = None
    ) -> None:
        if isinstance(event_label_list, np.ndarray) and event_label_list.ndim == 1:
            event_label_list = event_label_list.tolist()
        if not isinstance(event_label_list, list):
            raise ValueError(
                f"event_label_list needs to be list or numpy.array, not {type(event_label_list).__name__}"
            )
        self.event_label_list = event_label_list
        self.empty_system_output_handling = empty_system_output_handling
        self.overall: Values = {}
        self.class_wise: dict[str, Values] = {}
        self.evaluated_files = 0

    # Metrics

    def overall_f_measure(self) -> Values:
        """Return F-measure, precision and recall of all classes together."""
        return self._f_measure(self.overall)

    def overall_error_rate(self) -> Values:
        """Return the error rate of all classes together, and the rates that it is the sum of."""
        references = self.overall["Nref"]
        substitutions, deletions, insertions = (self.overall[name] for name in self.error_counts)
        rates = {
            "substitution_rate": metric.substitution_rate(references, substitutions),
            "deletion_rate": metric.deletion_rate(references, deletions),
            "insertion_rate": metric.insertion_rate(references, insertions),
        }
        return {"error_rate": metric.error_rate(*rates.values()), **rates}

    def overall_accuracy(self, factor: float = 0.5) -> Values:
        """Return the accuracies of all classes together. Events have none."""
        return {}

    def class_wise_count(self, event_label: str) -> Values:
        """Return the numbers of references and detections of a class."""
        counts = self.class_wise[event_label]
        return {"Nref": counts["Nref"], "Nsys": counts["Nsys"]}

    def class_wise_f_measure(self, event_label: str) -> Values:
        """Return F-measure, precision and recall of a class."""
        return self._f_measure(self.class_wise[event_label])

    def class_wise_error_rate(self, event_label: str) -> Values:
        """Return the error rate of a class, and the rates that it is the sum of."""
        counts = self.class_wise[event_label]
        deletion = metric.deletion_rate(counts["Nref"], counts["Nfn"])
        insertion = metric.insertion_rate(counts["Nref"], counts["Nfp"])
        error = metric.error_rate(deletion_rate_value=deletion, insertion_rate_value=insertion)
        return {"error_rate": error, "deletion_rate": deletion, "insertion_rate": insertion}

    def class_wise_accuracy(self, event_label: str, factor: float = 0.5) -> Values:
        """Return the accuracies of a class. Events have none."""
        return {}

    def _f_measure(self, counts: Mapping[str, float]) -> Values:
        precision = metric.precision(counts["Ntp"], counts["Nsys"])
        if counts["Nsys"] == 0 and self.empty_system_output_handling == "zero_score":
            precision = 0
        recall = metric.recall(counts["Ntp"], counts["Nref"])
        f_measure = metric.f_measure(precision, recall)
        return {"f_measure": f_measure, "precision": precision, "recall": recall}

    # Results

    def results_overall_metrics(self) -> dict[str, Values]:
        """Return the metrics of all classes together (micro-average)."""
        return {
            "f_measure": self.overall_f_measure(),
            "error_rate": self.overall_error_rate(),
            "accuracy": self.overall_accuracy(),
        }

    def results_class_wise_metrics(self) -> dict[str, dict[str, Values]]:
        """Return the metrics of each class."""
        return {
            label: {
                "f_measure": self.class_wise_f_measure(label),
                "accuracy": self.class_wise_accuracy(label),
                "error_rate": self.class_wise_error_rate(label),
                "count": self.class_wise_count(label),
            }
            for label in self.event_label_list
        }

    def results_class_wise_average_metrics(self) -> dict[str, Values]:
        """Return the means over classes (macro-average). NaN is left out of them."""
        of_classes = list(self.results_class_wise_metrics().values())
        return {
            group: {
                name: float(np.nanmean([of_class[group][name] for of_class in of_classes]))
                for name in (of_classes[0][group] if of_classes else ())
            }
            for group in ("f_measure", "error_rate", "accuracy")
        }

    # Reports

    @abstractmethod
    def result_report_parameters(self) -> str:
        """Return a text with what was evaluated, and how."""

    def result_report_overall(self) -> str:
        """Return a text with the metrics of all classes together."""
        return header("Overall metrics (micro-average)", 2) + value_groups(
            _GROUPS, self.results_overall_metrics()
        )

    def result_report_class_wise_average(self) -> str:
        """Return a text with the means over classes."""
        title = header("Class-wise average metrics (macro-average)", 2)
        return f"{title}{value_groups(_GROUPS, self.results_class_wise_average_metrics())}  \n"

    def result_report_class_wise(self) -> str:
        """Return a text with a table of the metrics of each class."""
        results = self.results_class_wise_metrics()
        with_accuracy = all(of_class["accuracy"] for of_class in results.values())
        rows = []
        for label in self.event_label_list:
            of_class = results[label]
            row: list[Any] = [label, of_class["count"]["Nref"], of_class["count"]["Nsys"]]
            row += [of_class["f_measure"][name] for name, _ in F_MEASURE]
            row += of_class["error_rate"].values()
            row += [of_class["accuracy"][name] for name, _ in _ACCURACY if with_accuracy]
            rows.append(row)
        table = Table([*_COLUMNS, *(_ACCURACY_COLUMNS if with_accuracy else ())])
        return header("Class-wise metrics", 2) + table.text(rows)


def events_of_one_file(events: EventList, argument: str) -> MetaDataContainer:
    """Return the items that are events. They must be from one file."""
    items = events if isinstance(events, MetaDataContainer) else MetaDataContainer(events)
    if len(files := items.unique_files) > 1:
        raise ValueError(
            f"{argument} contains events from multiple files ({files[0]}, {files[1]}, …). "
            "Evaluate only file by file."
        )
    return MetaDataContainer(
        item for item in items if "event_label" in item and "onset" in item and "offset" in item
    )


# The layout of text reports


def header(text: str, indent: int = 0) -> str:
    """Return a header and the line below it."""
    blank = " " * indent
    return f"{blank}{text}\n{blank}{'=' * (_LINE_LENGTH - indent)}\n"


def value_line(field: str, value: Any, unit: str = "", indent: int = 2) -> str:
    """Return a line with the name of a value, the value and its unit."""
    if isinstance(value, float):
        value = f"{value:.2f}"
    elif value is None:
        unit = ""
    return f"{' ' * indent}{field:<{_VALUE_COLUMN - indent}} : {value} {unit}\n"


def value_groups(
    groups: Iterable[tuple[str, str, Iterable[tuple[str, str]], str]],
    results: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the text of groups of values, as far as there are any.

    ``groups``: of each group its title, its name in the results, names and texts of values, and their unit.
    """
    return "".join(
        value_lines(title, [(text, values[name], unit) for name, text in names if name in values])
        for title, group, names, unit in groups
        if (values := results[group])
    )


def value_lines(title: str, values: Iterable[tuple[str, float | None, str]]) -> str:
    """Return a title, and below it lines with names, values and units. Percentages are given as shares."""
    lines = [f"  {title}\n"]
    for field, value, unit in values:
        if unit == "%" and value is not None:
            value *= 100.0  # 0, too, has two decimals
        lines.append(value_line(field, value, unit, indent=4))
    return "".join(lines)


class Table:
    """A table with columns of fixed widths.

    Parameters
    ----------
    columns : sequence of (str, int, str, bool)
        Of each column the header, the width, the format of its values and whether a vertical line follows.
    """

    def __init__(self, columns: Sequence[tuple[str, int, str, bool]]) -> None:
        self.columns = columns

    def text(self, rows: Iterable[Sequence[Any]]) -> str:
        """Return the header, a line and all rows."""
        formats = [column[2] for column in self.columns]
        cells = [
            [column[0] for column in self.columns],
            ["-"] * len(self.columns),
            *([_formatted(*value) for value in zip(row, formats, strict=True)] for row in rows),
        ]
        return "".join(f"    {self._line(row)}\n" for row in cells)

    def _line(self, cells: Sequence[str]) -> str:
        parts = []
        for cell, (_, width, _, separated) in zip(cells, self.columns, strict=True):
            room = width - 3
            if cell == "-":
                cell = "-" * room
            elif len(cell) > room:
                cell = f"{cell[: room - 2]}.."
            parts.append(f"{cell:<{room}} {'|' if separated else ' '}")
        return " ".join(parts)


def _formatted(value: Any, layout: str) -> str:
    """Return a value as text: ``d`` is a whole number, ``.1%`` and ``percent`` a share."""
    if value is None or not layout:
        return one_line(str(value))
    if layout == "d":
        return str(int(value))
    if layout in (".1%", "percent"):
        return f"{value * 100:.1f}{'%' if layout == '.1%' else ''}"
    return format(value, layout)
