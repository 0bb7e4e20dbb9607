"""The gallery: its order, as one learns, from a first value to errors in single clips; and its colours."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from cycler import cycler

from sedscope.plots.axes import line_style

ORDER = (
    "evaluate_a_system",
    "few_thresholds",
    "precision_recall",
    "choose_a_threshold",
    "tune_a_median_filter",
    "confidence_intervals",
    "compare_two_systems",
    "values_by_site",
    "where_errors_come_from",
    "cross_triggers",
    "look_at_a_clip",
    "how_late_detections_begin",
    "false_alarms_per_hour",
)


class LearningOrder:
    """The key by which sphinx-gallery sorts the examples. ``folder``: the one that holds them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        return ORDER.index(Path(file).stem)

    def __repr__(self) -> str:
        return f"LearningOrder({self.folder!r})"


def use_colours(settings: object, file: str) -> None:
    """Let what an example draws itself have the colours of the plots. Called before each example."""
    matplotlib.rcdefaults()
    matplotlib.rcParams["axes.prop_cycle"] = cycler(color=[line_style(i)["color"] for i in range(10)])
