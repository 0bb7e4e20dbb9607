"""Segment-based metrics: which classes are active is compared in each segment of a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..dcase_util.containers import MetaDataContainer
from . import metric
from .report_text import value_line
from .sound_event_metrics import EventList, SoundEventMetrics, Values, events_of_one_file
from .util.event_roll import Roll, event_list_to_event_roll, match_event_roll_lengths, segments

_COUNTS = ("Ntp", "Ntn", "Nfp", "Nfn", "Nref", "Nsys")


class SegmentBasedMetrics(SoundEventMetrics):
    """Counts segments in which a class is active.

    Parameters
    ----------
    event_label_list : list of str
        The classes.
    time_resolution : float, default 1.0
        The length of a segment in seconds.

    Examples
    --------
    >>> metrics = SegmentBasedMetrics(["Dog"], time_resolution=1.0)
    >>> reference = [{"onset": 0.0, "offset": 3.0, "event_label": "Dog"}]
    >>> estimated = [{"onset": 1.5, "offset": 4.0, "event_label": "Dog"}]
    >>> metrics.evaluate(reference, estimated).results_overall_metrics()["accuracy"]["accuracy"]
    0.5
    """

    title = "Segment based metrics"
    error_counts = ("S", "D", "I")

    def __init__(self, event_label_list: list[str], time_resolution: float = 1.0) -> None:
        super().__init__(event_label_list)
        if not isinstance(time_resolution, float) or time_resolution <= 0.0:
            raise ValueError(f"time_resolution needs to be float > 0, not {time_resolution!r}")
        self.time_resolution = time_resolution
        self.reset()

    def reset(self) -> SegmentBasedMetrics:
        """Forget everything that was evaluated."""
        self.evaluated_length_seconds = 0.0
        self.evaluated_files = 0
        self.overall = dict.fromkeys((*_COUNTS, "ER", "S", "D", "I"), 0.0)
        self.class_wise = {label: dict.fromkeys(_COUNTS, 0.0) for label in self.event_label_list}
        return self

    def evaluate(
        self,
        reference_event_list: EventList,
        estimated_event_list: EventList,
        evaluated_length_seconds: float | None = None,
    ) -> SegmentBasedMetrics:
        """Count the segments of a file.

        Parameters
        ----------
        reference_event_list, estimated_event_list : list of dict
            References and detections: ``onset``, ``offset`` and ``event_label``, or the older names
            ``event_onset`` and ``event_offset``. Items without them are left out.
        evaluated_length_seconds : float, optional
            How much of the file is evaluated, up to the last offset of any event unless you say so.

        Returns
        -------
        SegmentBasedMetrics
            The object itself.
        """
        reference_events = events_of_one_file(reference_event_list, "reference_event_list")
        estimated_events = events_of_one_file(estimated_event_list, "estimated_event_list")
        if evaluated_length_seconds is None:
            evaluated_length_seconds = max(reference_events.max_offset, estimated_events.max_offset)
        length = segments(evaluated_length_seconds, self.time_resolution)
        reference_roll, estimated_roll = match_event_roll_lengths(
            self._roll(reference_events), self._roll(estimated_events), length
        )
        reference, estimated = reference_roll > 0, estimated_roll > 0
        self.evaluated_length_seconds += evaluated_length_seconds
        self.evaluated_files += 1

        counts = _counts_of_columns(reference, estimated)
        for column, label in enumerate(self.event_label_list):
            for name in _COUNTS:
                self.class_wise[label][name] += int(counts[name][column])
        for name in _COUNTS:
            self.overall[name] += int(counts[name].sum())
        # Within a segment, a false alarm and a miss are one substitution.
        active, detected = reference.sum(axis=1), estimated.sum(axis=1)
        right = (reference & estimated).sum(axis=1)
        self.overall["S"] += int((np.minimum(active, detected) - right).sum())
        self.overall["D"] += int(np.maximum(0, active - detected).sum())
        self.overall["I"] += int(np.maximum(0, detected - active).sum())
        return self

    def _roll(self, events: MetaDataContainer) -> Roll:
        return event_list_to_event_roll(events, self.event_label_list, self.time_resolution)

    def overall_accuracy(self, factor: float = 0.5) -> Values:
        """Return the accuracies of all classes together.

        Parameters
        ----------
        factor : float, default 0.5
            The weight of the specificity in the balanced accuracy.

        Returns
        -------
        dict
            ``accuracy``, ``balanced_accuracy``, ``sensitivity`` and ``specificity``.
        """
        return _accuracy(self.overall, factor)

    def class_wise_accuracy(self, event_label: str, factor: float = 0.5) -> Values:
        """Return the accuracies of a class.

        Parameters
        ----------
        event_label : str
            The class.
        factor : float, default 0.5
            The weight of the specificity in the balanced accuracy.

        Returns
        -------
        dict
            ``accuracy``, ``balanced_accuracy``, ``sensitivity`` and ``specificity``.
        """
        return _accuracy(self.class_wise[event_label], factor)

    def result_report_parameters(self) -> str:
        """Return a text with what was evaluated, and how."""
        seconds = self.time_resolution
        lines = (
            ("Evaluated length", self.evaluated_length_seconds, "sec"),
            ("Evaluated files", self.evaluated_files, ""),
            ("Segment length", *((seconds * 1000, "ms") if seconds < 1 else (seconds, "sec"))),
        )
        return "".join(value_line(*line) for line in lines)


def _counts_of_columns(
    reference: NDArray[np.bool_], estimated: NDArray[np.bool_]
) -> dict[str, NDArray[np.int64]]:
    """Return the counts of each class."""
    true = (reference & estimated).sum(axis=0)
    active, detected = reference.sum(axis=0), estimated.sum(axis=0)
    return {
        "Ntp": true,
        "Ntn": len(reference) - active - detected + true,
        "Nfp": detected - true,
        "Nfn": active - true,
        "Nref": active,
        "Nsys": detected,
    }


def _accuracy(counts: Values, factor: float) -> Values:
    """Return all accuracies from counts."""
    true, negative, false, missed = (counts[name] for name in ("Ntp", "Ntn", "Nfp", "Nfn"))
    sensitivity = metric.sensitivity(true, missed)
    specificity = metric.specificity(negative, false)
    return {
        "accuracy": metric.accuracy(true, negative, false, missed),
        "balanced_accuracy": metric.balanced_accuracy(sensitivity, specificity, factor),
        "sensitivity": sensitivity,
        "specificity": specificity,
    }
