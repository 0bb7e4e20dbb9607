"""Metrics of acoustic scene classification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import metric
from .class_metrics import ClassMetrics, Table, header, value_line, value_lines
from .event_lists import MetaDataContainer

_COUNTS = ("Ncorr", "Nref", "Nsys")
_TABLE = Table(
    [
        ("Scene label", 20, "", True),
        ("Ncorr", 12, "d", False),
        ("Nref", 12, "d", True),
        ("Accuracy", 12, ".1%", False),
    ]
)


class SceneClassificationMetrics(ClassMetrics):
    """Counts files whose scene is recognised.

    Parameters
    ----------
    scene_labels : list of str
        The scenes.

    Examples
    --------
    >>> metrics = SceneClassificationMetrics(["bus", "park"])
    >>> reference = [{"file": "a.wav", "scene_label": "bus"}, {"file": "b.wav", "scene_label": "park"}]
    >>> estimated = [{"file": "a.wav", "scene_label": "bus"}, {"file": "b.wav", "scene_label": "bus"}]
    >>> metrics.evaluate(reference, estimated).results_overall_metrics()["accuracy"]
    0.5
    """

    title: str = "Scene classification metrics"
    _report_parts = ("parameters", "class_wise_average", "class_wise")

    def __init__(self, scene_labels: list[str]) -> None:
        self.scene_label_list = scene_labels
        self.reset()

    def reset(self) -> None:
        """Forget everything that was evaluated."""
        self.overall = dict.fromkeys(_COUNTS, 0.0)
        self.scene_wise = {label: dict.fromkeys(_COUNTS, 0.0) for label in self.scene_label_list}

    def evaluate(
        self,
        reference_scene_list: Iterable[Mapping[str, Any]],
        estimated_scene_list: Iterable[Mapping[str, Any]] | None = None,
        estimated_scene_probabilities: Any = None,
    ) -> SceneClassificationMetrics:
        """Count files.

        Parameters
        ----------
        reference_scene_list, estimated_scene_list : list of dict
            The true and the recognised scenes: ``filename`` and ``scene_label``.
        estimated_scene_probabilities : optional
            It is ignored, as in the original.

        Returns
        -------
        SceneClassificationMetrics
            The object itself.
        """
        if estimated_scene_list is None:
            raise ValueError("Nothing to evaluate, give estimated_scene_list.")
        scenes: dict[str, Any] = {}
        for item in MetaDataContainer(reference_scene_list):
            scenes.setdefault(item["filename"], item["scene_label"])
        estimated = MetaDataContainer(estimated_scene_list)
        for item in estimated:
            if item["filename"] not in scenes:
                raise ValueError(f"Cannot find reference_item for estimated item [{item['filename']}]")
        pairs = [(scenes[item["filename"]], item["scene_label"]) for item in estimated]
        for label in self.scene_label_list:
            right = sum(true == label == recognised for true, recognised in pairs)
            counts = self.scene_wise[label]
            counts["Ncorr"] += right
            counts["Nref"] += sum(true == label for true, _ in pairs)
            counts["Nsys"] += sum(recognised == label for _, recognised in pairs)
            self.overall["Ncorr"] += right
        self.overall["Nref"] += len(pairs)
        self.overall["Nsys"] += len(pairs)
        return self

    # Results

    def results_overall_metrics(self) -> dict[str, Any]:
        """Return the counts and the accuracy of all scenes together (micro-average)."""
        files = self.overall["Nsys"]
        return {"count": self.overall, "accuracy": self.overall["Ncorr"] / files if files else None}

    def results_class_wise_metrics(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the counts and the accuracy of each scene."""
        return {
            label: {"count": dict(self.scene_wise[label]), "accuracy": self.class_wise_accuracy(label)}
            for label in self.scene_label_list
        }

    def results_class_wise_average_metrics(self) -> dict[str, dict[str, float]]:
        """Return the mean accuracy over scenes (macro-average)."""
        accuracies = [self.class_wise_accuracy(label)["accuracy"] for label in self.scene_wise]
        return {"accuracy": {"accuracy": float(np.mean(accuracies))}}

    def class_wise_accuracy(self, scene_label: str) -> dict[str, float]:
        """Return the accuracy of a scene."""
        counts = self.scene_wise[scene_label]
        return {"accuracy": metric.accuracy_corr(counts["Ncorr"], counts["Nref"])}

    # Reports

    def result_report_parameters(self) -> str:
        """Return a text with what was evaluated."""
        labels = value_line("Scene labels", len(self.scene_label_list))
        return labels + value_line("Evaluated units", int(self.overall["Nref"]))

    def result_report_class_wise_average(self) -> str:
        """Return a text with the mean over scenes."""
        accuracy = self.results_class_wise_average_metrics()["accuracy"]["accuracy"]
        title = header("Class-wise average metrics (macro-average)", 2)
        return title + value_lines("Accuracy", [("Accuracy", accuracy, "%")])

    def result_report_class_wise(self) -> str:
        """Return a text with a table of the metrics of each scene."""
        results = self.results_class_wise_metrics()
        rows = (
            (label, counts["Ncorr"], counts["Nref"], results[label]["accuracy"]["accuracy"])
            for label in self.scene_label_list
            if (counts := results[label]["count"])
        )
        return header("Class-wise metrics", 2) + _TABLE.text(rows)
