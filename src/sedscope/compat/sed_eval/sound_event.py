"""Sound event detection: event-based and segment-based metrics.

By events, a reference is found if a detection has its label, onset and offset. By segments, which classes are
active is compared in each segment of a grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import metric, util
from .class_metrics import EventList, SoundEventMetrics, Values, events_of_one_file, value_line
from .event_lists import MetaDataContainer

__all__ = ["EventBasedMetrics", "SegmentBasedMetrics", "SoundEventMetrics", "metric", "util"]

_PAIRS = 1 << 20  # compared at once
_COUNTS = ("Ntp", "Ntn", "Nfp", "Nfn", "Nref", "Nsys")


class EventBasedMetrics(SoundEventMetrics):
    """Counts events whose onsets and offsets lie within a collar.

    Parameters
    ----------
    event_label_list : list of str
        The classes.
    evaluate_onset, evaluate_offset : bool, default True
        Whether onsets and offsets matter.
    t_collar : float, default 0.2
        How far boundaries may be off, in seconds.
    percentage_of_length : float, default 0.5
        How far an offset may be off, as a share of the reference's length, if that is more than ``t_collar``.
    event_matching_type : {"optimal", "greedy"}
        Whether as many pairs as possible are formed, or each reference takes the first detection that fits.
    empty_system_output_handling : {None, "zero_score"}
        The precision of a class without detections: NaN, or 0 with ``"zero_score"``.

    Examples
    --------
    >>> metrics = EventBasedMetrics(["Dog"], t_collar=0.25)
    >>> reference = [{"onset": 1.0, "offset": 2.0, "event_label": "Dog"}]
    >>> estimated = [{"onset": 1.2, "offset": 2.1, "event_label": "Dog"}]
    >>> metrics.evaluate(reference, estimated).results_overall_metrics()["f_measure"]["f_measure"]
    1.0
    """

    error_counts = ("Nsubs", "Nfn", "Nfp")

    def __init__(
        self,
        event_label_list: list[str],
        evaluate_onset: bool = True,
        evaluate_offset: bool = True,
        t_collar: float = 0.200,
        percentage_of_length: float = 0.5,
        event_matching_type: str = "optimal",
        empty_system_output_handling: str | None = None,
    ) -> None:
        super().__init__(event_label_list, empty_system_output_handling)
        if not isinstance(t_collar, float) or t_collar <= 0.0:
            raise ValueError(f"t_collar needs to be float > 0, not {t_collar!r}")
        if not isinstance(percentage_of_length, float) or not 0.0 <= percentage_of_length <= 1.0:
            raise ValueError(
                f"percentage_of_length needs to be float in [0, 1], not {percentage_of_length!r}"
            )
        if not evaluate_onset and not evaluate_offset:
            raise ValueError("Both evaluate_onset and evaluate_offset cannot be set to False")
        if event_matching_type not in ("optimal", "greedy"):
            raise ValueError(
                f"event_matching_type needs to be 'optimal' or 'greedy', not {event_matching_type!r}"
            )
        self.evaluate_onset = evaluate_onset
        self.evaluate_offset = evaluate_offset
        self.t_collar = t_collar
        self.percentage_of_length = percentage_of_length
        self.event_matching_type = event_matching_type
        single = "onset only" if evaluate_onset else "offset only"
        self.title = (
            f"Event based metrics ({'onset-offset' if evaluate_onset and evaluate_offset else single})"
        )
        self.reset()

    def reset(self) -> EventBasedMetrics:
        """Forget everything that was evaluated."""
        self.evaluated_length = 0.0
        self.evaluated_files = 0
        self.overall = dict.fromkeys(("Nref", "Nsys", "Nsubs", "Ntp", "Nfp", "Nfn"), 0.0)
        self.class_wise = {
            label: dict.fromkeys(("Nref", "Nsys", "Ntp", "Ntn", "Nfp", "Nfn"), 0.0)
            for label in self.event_label_list
        }
        return self

    def evaluate(
        self, reference_event_list: EventList, estimated_event_list: EventList
    ) -> EventBasedMetrics:
        """Count the events of a file.

        Parameters
        ----------
        reference_event_list, estimated_event_list : list of dict
            References and detections: ``onset``, ``offset`` and ``event_label``, or the older names
            ``event_onset`` and ``event_offset``. Items without them are left out.

        Returns
        -------
        EventBasedMetrics
            The object itself.
        """
        reference = events_of_one_file(reference_event_list, "reference_event_list")
        estimated = events_of_one_file(estimated_event_list, "estimated_event_list")
        self.evaluated_length += reference.max_offset
        self.evaluated_files += 1

        reference_labels = [event["event_label"] for event in reference]
        estimated_labels = [event["event_label"] for event in estimated]
        near = self._near(reference, estimated)
        correct = [
            [i for i in detections if estimated_labels[i] == label]
            for label, detections in zip(reference_labels, near, strict=True)
        ]
        pairs = util.first_fit(correct) if self.event_matching_type == "greedy" else _most_pairs(correct)
        detected = set(pairs.values())
        left = ([i for i in near[j] if i not in detected] for j in range(len(near)) if j not in pairs)
        substitutions = len(util.first_fit(left))

        self.overall["Nsubs"] += substitutions
        _count(self.overall, len(reference), len(estimated), len(pairs), substitutions)
        lists = (reference_labels, estimated_labels, [reference_labels[j] for j in pairs])
        for label in self.event_label_list:
            _count(self.class_wise[label], *(labels.count(label) for labels in lists))
        return self

    def _near(self, reference: MetaDataContainer, estimated: MetaDataContainer) -> list[list[int]]:
        """Return for each reference the detections with its onset and offset, whatever their labels."""
        names = _time_names([*reference, *estimated])
        if names is None:
            return [
                [i for i, detection in enumerate(estimated) if self._is_near(event, detection)]
                for event in reference
            ]
        onset, offset = (np.array([event[name] for event in reference], float) for name in names)
        other_onset, other_offset = (
            np.array([event[name] for event in estimated], float) for name in names
        )
        near = []
        rows = max(1, _PAIRS // max(1, len(estimated)))
        with np.errstate(invalid="ignore"):  # infinite times
            # A length of NaN leaves the collar, as Python's max does.
            tolerance = np.fmax(self.t_collar, self.percentage_of_length * (offset - onset))
            for first in range(0, len(reference), rows):
                part = slice(first, first + rows)
                fits = np.ones((len(onset[part]), len(estimated)), bool)
                if self.evaluate_onset:
                    fits &= np.abs(onset[part, None] - other_onset) <= self.t_collar
                if self.evaluate_offset:
                    fits &= np.abs(offset[part, None] - other_offset) <= tolerance[part, None]
                near += [np.flatnonzero(row).tolist() for row in fits]
        return near

    def _is_near(self, reference: Mapping[str, Any], estimated: Mapping[str, Any]) -> bool:
        onset = not self.evaluate_onset or self.validate_onset(reference, estimated, self.t_collar)
        return onset and (
            not self.evaluate_offset
            or self.validate_offset(reference, estimated, self.t_collar, self.percentage_of_length)
        )

    @staticmethod
    def validate_onset(
        reference_event: Mapping[str, Any], estimated_event: Mapping[str, Any], t_collar: float = 0.200
    ) -> bool:
        """Return whether the onset of a detection is that of a reference.

        Parameters
        ----------
        reference_event, estimated_event : mapping
            The two events.
        t_collar : float, default 0.2
            How far the onset may be off, in seconds.

        Returns
        -------
        bool
            Whether it is.
        """
        onset = (
            "event_onset"
            if "event_onset" in reference_event and "event_onset" in estimated_event
            else "onset"
        )
        return math.fabs(reference_event[onset] - estimated_event[onset]) <= t_collar

    @staticmethod
    def validate_offset(
        reference_event: Mapping[str, Any],
        estimated_event: Mapping[str, Any],
        t_collar: float = 0.200,
        percentage_of_length: float = 0.5,
    ) -> bool:
        """Return whether the offset of a detection is that of a reference.

        Parameters
        ----------
        reference_event, estimated_event : mapping
            The two events.
        t_collar : float, default 0.2
            How far the offset may be off, in seconds.
        percentage_of_length : float, default 0.5
            The same as a share of the reference's length. The larger of the two counts.

        Returns
        -------
        bool
            Whether it is.
        """
        older = "event_offset" in reference_event and "event_offset" in estimated_event
        onset, offset = ("event_onset", "event_offset") if older else ("onset", "offset")
        length = float(reference_event[offset] - reference_event[onset])
        tolerance = max(t_collar, percentage_of_length * length)
        return math.fabs(reference_event[offset] - estimated_event[offset]) <= tolerance

    def result_report_parameters(self) -> str:
        """Return a text with what was evaluated, and how."""
        seconds = self.t_collar
        lines = (
            ("Evaluated length", self.evaluated_length, "sec"),
            ("Evaluated files", self.evaluated_files, ""),
            ("Evaluate onset", self.evaluate_onset, ""),
            ("Evaluate offset", self.evaluate_offset, ""),
            ("T collar", *((seconds * 1000, "ms") if seconds < 1 else (seconds, "sec"))),
            ("Offset (length)", self.percentage_of_length * 100, "%"),
        )
        return "".join(value_line(*line) for line in lines)


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
        length = util.segments(evaluated_length_seconds, self.time_resolution)
        reference_roll, estimated_roll = util.match_event_roll_lengths(
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

    def _roll(self, events: MetaDataContainer) -> util.Roll:
        return util.event_list_to_event_roll(events, self.event_label_list, self.time_resolution)

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


def _most_pairs(candidates: list[list[int]]) -> dict[int, int]:
    """Return the detection of each reference that is found, for as many references as possible."""
    graph: dict[int, list[int]] = {}
    for j, detections in enumerate(candidates):
        for i in detections:
            graph.setdefault(i, []).append(j)
    return util.bipartite_match(graph)


def _time_names(events: list[Any]) -> tuple[str, str] | None:
    """Return the names of onset and offset, or None if events differ in them or times are not plain numbers.

    The original compares two events by the older names if both have them, with the precision of these times.
    """
    older = [name in event for event in events for name in ("event_onset", "event_offset")]
    if any(older) and not all(older):
        return None
    names = ("event_onset", "event_offset") if any(older) else ("onset", "offset")
    plain = all(isinstance(event[name], (float, int)) for event in events for name in names)
    return names if plain else None


def _count(counts: Values, references: int, detections: int, right: int, replaced: int = 0) -> None:
    """Add events to counts."""
    counts["Nref"] += references
    counts["Nsys"] += detections
    counts["Ntp"] += right
    counts["Nfp"] += detections - right - replaced
    counts["Nfn"] += references - right - replaced


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
