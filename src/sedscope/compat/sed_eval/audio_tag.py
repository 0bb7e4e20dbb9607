"""Metrics of audio tagging."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from . import metric
from .class_metrics import F_MEASURE, ClassMetrics, Table, header, value_groups, value_line
from .event_lists import MetaDataContainer, MetaDataItem

Items = Iterable[Mapping[str, Any]]
Values = dict[str, float | None]

_COUNTS = ("Nref", "Nsys", "Ntp", "Ntn", "Nfp", "Nfn")
_GROUPS = (
    ("F-measure", "f_measure", F_MEASURE, "%"),
    ("Equal error rate", "eer", (("eer", "Equal error rate (EER)"),), "%"),
)
_TABLE = Table(
    [
        ("Tag", 20, "", True),
        ("Nref", 12, "d", False),
        ("Nsys", 12, "d", True),
        ("F-score", 12, ".1%", False),
        ("Pre", 12, "percent", False),
        ("Rec", 12, "percent", True),
        ("EER", 12, ".1%", False),
    ]
)


class AudioTaggingMetrics(ClassMetrics):
    """Counts tags of files, and keeps probabilities for equal error rates.

    Parameters
    ----------
    tags : list of str
        The tags.

    Examples
    --------
    >>> metrics = AudioTaggingMetrics(["cat", "dog"])
    >>> reference = [{"filename": "a.wav", "tags": "cat,dog"}]
    >>> estimated = [{"filename": "a.wav", "tags": "dog"}]
    >>> metrics.evaluate(reference, estimated).results_overall_metrics()["f_measure"]["recall"]
    0.5
    """

    title: str = "Audio tagging metrics"

    def __init__(self, tags: list[str]) -> None:
        self.tag_label_list = tags
        self.reset()

    def reset(self) -> AudioTaggingMetrics:
        """Forget everything that was evaluated."""
        self.overall = dict.fromkeys(_COUNTS, 0.0)
        self.tag_wise = {tag: dict.fromkeys(_COUNTS, 0.0) for tag in self.tag_label_list}
        self.y_true: dict[str, list[int]] = {tag: [] for tag in self.tag_label_list}
        self.y_pred: dict[str, list[int]] = {tag: [] for tag in self.tag_label_list}
        self.y_pred_score: dict[str, list[float]] = {tag: [] for tag in self.tag_label_list}
        return self

    def evaluate(
        self,
        reference_tag_list: Items,
        estimated_tag_list: Items | None = None,
        estimated_tag_probabilities: Items | None = None,
    ) -> AudioTaggingMetrics:
        """Count tags, keep probabilities, or both.

        Parameters
        ----------
        reference_tag_list, estimated_tag_list : list of dict
            The true and the recognised tags: ``filename`` and ``tags``.
        estimated_tag_probabilities : list of dict
            The probabilities: ``filename``, ``label`` and ``probability``.

        Returns
        -------
        AudioTaggingMetrics
            The object itself.
        """
        if estimated_tag_list is None and estimated_tag_probabilities is None:
            raise ValueError(
                "Nothing to evaluate, give at least estimated_tag_list or estimated_tag_probabilities"
            )
        reference = _tags_of_files(reference_tag_list)
        files = sorted(reference)
        if estimated_tag_probabilities is not None:
            self._keep_scores(files, estimated_tag_probabilities)
        if estimated_tag_list is not None:
            self._count(files, reference, _tags_of_files(estimated_tag_list))
        for tag in self.tag_label_list:
            self.y_true[tag] += [int(tag in reference[file]) for file in files]
        return self

    def _keep_scores(self, files: list[str], probabilities: Items) -> None:
        scores: dict[tuple[str, str], float] = {}
        for item in probabilities:
            name = str(MetaDataItem(item).filename), item["label"].strip()
            scores.setdefault(name, float(item["probability"]))
        for file, tag in product(files, self.tag_label_list):
            if (file, tag) not in scores:
                raise ValueError(f"There is no probability of tag [{tag}] in file [{file}].")
        for tag in self.tag_label_list:
            self.y_pred_score[tag] += [scores[file, tag] for file in files]

    def _count(
        self, files: list[str], reference: Mapping[str, list[str]], estimated: Mapping[str, list[str]]
    ) -> None:
        missing = [file for file in files if file not in estimated]
        if missing:
            raise ValueError(f"Not all reference files estimated, please check [{missing[0]}]")
        for tag in self.tag_label_list:
            true = np.array([tag in reference[file] for file in files], bool)
            recognised = np.array([tag in estimated[file] for file in files], bool)
            self.y_pred[tag] += recognised.astype(int).tolist()
            counts = {
                "Nref": true,
                "Nsys": recognised,
                "Ntp": true & recognised,
                "Ntn": ~true & ~recognised,
                "Nfp": ~true & recognised,
                "Nfn": true & ~recognised,
            }
            for name, counted in counts.items():
                self.tag_wise[tag][name] += int(counted.sum())
                self.overall[name] += int(counted.sum())

    # Results

    def results_overall_metrics(self) -> dict[str, Values]:
        """Return the metrics of all tags together (micro-average)."""
        true = [value for tag in self.tag_label_list for value in self.y_true[tag]]
        scores = [score for tag in self.tag_label_list for score in self.y_pred_score[tag]]
        return {
            "count": {name: self.overall[name] for name in ("Nref", "Nsys")},
            "f_measure": _f_measure(self.overall),
            "eer": _equal_error_rate(true, scores),
        }

    def results_class_wise_metrics(self) -> dict[str, dict[str, Values]]:
        """Return the metrics of each tag."""
        return {
            tag: {
                "count": {**self.tag_wise[tag]},
                "eer": _equal_error_rate(self.y_true[tag], self.y_pred_score[tag]),
                "f_measure": _f_measure(self.tag_wise[tag]),
            }
            for tag in self.tag_label_list
        }

    def results_class_wise_average_metrics(self) -> dict[str, Values]:
        """Return the means over tags (macro-average). None and NaN are left out of them."""
        of_tags = self.results_class_wise_metrics().values()

        def mean(group: str, name: str) -> float | None:
            values = [value for of_tag in of_tags if (value := of_tag[group][name]) is not None]
            return float(np.nanmean(values)) if values else None

        return {
            "eer": {"eer": mean("eer", "eer")},
            "f_measure": {name: mean("f_measure", name) for name, _ in F_MEASURE},
        }

    # Reports

    def result_report_parameters(self) -> str:
        """Return a text with what was evaluated."""
        tags = value_line("Tags", len(self.tag_label_list))
        return tags + value_line("Evaluated units", int(self.overall["Nref"]))

    def result_report_overall(self) -> str:
        """Return a text with the metrics of all tags together."""
        return header("Overall metrics (micro-average)", 2) + value_groups(
            _GROUPS, self.results_overall_metrics()
        )

    def result_report_class_wise_average(self) -> str:
        """Return a text with the means over tags."""
        title = header("Class-wise average metrics (macro-average)", 2)
        return title + value_groups(_GROUPS, self.results_class_wise_average_metrics())

    def result_report_class_wise(self) -> str:
        """Return a text with a table of the metrics of each tag."""
        results = self.results_class_wise_metrics()
        rows = []
        for tag, groups in results.items():
            counts = [groups["count"][name] for name in ("Nref", "Nsys")]
            rows.append([tag, *counts, *groups["f_measure"].values(), *groups["eer"].values()])
        return header("Class-wise metrics", 2) + _TABLE.text(rows)


def _tags_of_files(items: Items) -> dict[str, list[str]]:
    """Return the tags of each file; of files that occur twice those of the first item."""
    tags: dict[str, list[str]] = {}
    for item in items if isinstance(items, MetaDataContainer) else MetaDataContainer(items):
        tags.setdefault(str(item.filename), item.tags or [])
    return tags


def _f_measure(counts: Mapping[str, float]) -> Values:
    """Return F-measure, precision and recall, None without references."""
    if counts["Nref"] == 0:
        return dict.fromkeys((name for name, _ in F_MEASURE), None)
    precision = metric.precision(counts["Ntp"], counts["Nsys"])
    recall = metric.recall(counts["Ntp"], counts["Nref"])
    return {"f_measure": metric.f_measure(precision, recall), "precision": precision, "recall": recall}


def _equal_error_rate(true: list[int], scores: list[float]) -> Values:
    """Return the equal error rate, None without probabilities."""
    return {"eer": metric.equal_error_rate(true, scores) if scores else None}
