"""The compiled core: arrays in, arrays out, types as given, no conversion."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_Scores = NDArray[np.float32 | np.float64]  # one of them, the same in all arguments
_Float64 = NDArray[np.float64]
_Int64 = NDArray[np.int64]
_Int32 = NDArray[np.int32]
_Int8 = NDArray[np.int8]
_UInt8 = NDArray[np.uint8]

_Changes = NDArray[np.int8 | np.int32]  # one of them, the same in all arguments
_Columns = tuple[
    _Int64, _Scores, _Int8, _Int8, _Int64, _Scores, _Int32, _Int8, _Int64, _Scores, _Int64, _Int64
]

class Collar:
    """Both boundaries near, in microseconds; None: not judged."""

    def __init__(self, onset: int | None, offset: int | None, offset_rate: float) -> None: ...

class Overlap:
    """Intersection over union."""

    def __init__(self, iou: float) -> None: ...

class Judge:
    """How single detections and references are judged: by intersection, or by pairs."""

    @overload
    def __init__(self, dtc: float, gtc: float, cttc: float | None) -> None: ...
    @overload
    def __init__(self, pairing: Collar | Overlap, cross_triggers: bool) -> None: ...

class Truth:
    """References of some clips, and what bounds the work on them.

    ``events``: (onset, offset) by clip, class and onset, ``labels`` their class, ``starts`` the
    first event of each clip and the end; ``maxima``: the largest score per clip and class;
    ``floors``: per class the score at or below which nothing is detected.
    """

    def __init__(
        self,
        events: _Int64,
        labels: _Int32,
        starts: _Int64,
        maxima: _Scores,
        floors: _Scores,
        threads: int,
    ) -> None: ...

class Clips:
    """Scores of several clips: (frames × classes) arrays of one float type with any strides, the
    frames + 1 boundaries of each in microseconds, and which columns are the classes."""

    def __init__(
        self,
        values: list[_Scores],
        edges: list[_Int64],
        columns: _Int64,
    ) -> None: ...
    def maxima(self, threads: int) -> _Scores:
        """The largest score per clip and class; NaN where a score is NaN."""

    def intersection_deltas(self, truth: Truth, dtc: float, gtc: float, cttc: float | None) -> _Columns:
        """Changes of counts at scores above each class's floor: starts (classes × (clips + 1)),
        scores, tp, fp; for cross-triggers starts, scores, labels, changes; for errors of pairs
        starts, scores, onset, offset."""

    def collar_deltas(
        self, truth: Truth, collar: Collar, cross_triggers: bool, errors: bool
    ) -> _Columns:
        """The same for pairs by collars."""

    def overlap_deltas(self, truth: Truth, overlap: Overlap, cross_triggers: bool) -> _Columns:
        """The same for pairs by intersection over union."""

    def any_label_pairs(self, truth: Truth, pairing: Collar | Overlap) -> tuple[_Int64, _Scores, _Int8]:
        """Changes of the number of pairs regardless of label: starts (clips + 1), scores, changes."""

    def segment_scores(
        self, starts: _Int64, durations: _Int64, length: int, mean: bool, threads: int
    ) -> _Scores:
        """(segments × classes); ``starts``: the first segment of each clip, and the end."""

    def detections(self, clip: int, class_number: int) -> tuple[_Int64, _Int64, _Scores, _Scores]:
        """All detections of a clip and class: onset, offset (microseconds), score,
        parent's score."""

    def error_bins(self, truth: Truth, judge: Judge, stops: _Scores, starts: _Int64) -> _Int64:
        """Numbers of references, then of detections, in each bin, as changes from stop to stop: (stops ×
        bins of both). ``stops``: thresholds by class, decreasing, none below the class's floor;
        ``starts``: the first of each class, and the end."""

    def error_costs(
        self, truth: Truth, judge: Judge, stops: _Scores, starts: _Int64
    ) -> tuple[_Int32, _Int32]:
        """False positives and false negatives at the first stop of each class: (clips × classes)."""

    def judged_events(
        self,
        truth: Truth,
        judge: Judge,
        stops: _Scores,
        starts: _Int64,
        clip: int,
        class_number: int,
    ) -> tuple[_Int64, _UInt8, _UInt8, _Int64, _Int64, _Int64]:
        """At the first stop of a class in a clip: the detections' times (microseconds), their bins, the
        references' bins; rows (detection, reference) of pairs, and of those that share time; rows
        (detection, class) of cross-triggers."""

class OpenRecording:
    """Something that is found in a recording piece by piece."""

    def feed(self, values: _Scores) -> None:
        """The next frames: (frames × classes)."""

    def finish(self) -> Any:
        """What was found, after all frames; once."""

class Recording:
    """One clip whose scores come in pieces: the boundaries of all frames, which columns are the
    classes, and the type of the scores. Each method gives what :class:`Clips` gives, in the end."""

    def __init__(self, edges: _Int64, columns: _Int64, is_double: bool) -> None: ...
    def intersection_deltas(
        self, truth: Truth, dtc: float, gtc: float, cttc: float | None
    ) -> OpenRecording: ...
    def collar_deltas(
        self, truth: Truth, collar: Collar, cross_triggers: bool, errors: bool
    ) -> OpenRecording: ...
    def overlap_deltas(self, truth: Truth, overlap: Overlap, cross_triggers: bool) -> OpenRecording: ...
    def any_label_pairs(self, truth: Truth, pairing: Collar | Overlap) -> OpenRecording: ...
    def segment_scores(self, segments: int, duration: int, length: int, mean: bool) -> OpenRecording: ...

def accumulate(
    starts: _Int64,
    scores: _Scores,
    tp: _Changes,
    fp: _Changes,
    cross_starts: _Int64,
    cross_scores: _Scores,
    cross_labels: _Int32,
    ct: _Changes,
    threads: int,
) -> list[tuple[_Scores, _Int64, _Int64, _Int64, _Int32, _Int64]]:
    """Adds up the changes of each class: scores (decreasing), tp, fp, and where (row), on which
    class and by how much cross-triggers change."""

def cross_rates(
    rows: _Int64, others: _Int64, changes: _Int64, times: _Float64, row_count: int
) -> _Float64:
    """For each row the sum over the other classes of cross-triggers per time of the class; ``others``:
    places in ``times``."""

class Resampling:
    """Deltas of all classes by decreasing score, to be added up with the weights of their clips."""

    def __init__(
        self,
        starts: _Int64,
        scores: _Scores,
        clips: _Int32,
        tp: _Int8,
        fp: _Int8,
        cross_starts: _Int64,
        cross_scores: _Scores,
        cross_clips: _Int32,
        cross_labels: _Int32,
        ct: _Int8,
        clip_count: int,
        threads: int,
    ) -> None: ...
    def counts(
        self, weights: _Int32, extremes_only: bool, threads: int
    ) -> list[tuple[_Scores, _Int64, _Int64]]:
        """Per class scores (decreasing), tp, fp; with ``extremes_only``, of each run of equal tp only
        the first row with the fewest fp, and the last."""

    @staticmethod
    def psds(
        variants: list[Resampling],
        weights: _Int32,
        durations: NDArray[np.float64],
        references: _Int64,
        reference_times: NDArray[np.float64],
        order: _Int64,
        alpha_ct: float,
        alpha_st: float,
        max_efpr: float,
        seconds_per_unit: float,
        threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """PSDS of each resample (a row of weights), and of each class alone; of several variants of the
        scores the best counts at each rate. ``order``: the classes by name."""

# All of these take one clip, with at least one frame and no NaN: (frames × classes) scores, frames + 1
# boundaries. Times are microseconds. The scores that they give are (classes × frames).

def median_filter(values: _Scores, edges: _Int64, window: int) -> tuple[_Scores, _Int64]:
    """The median in a window around each time: scores, boundaries."""

def moving_average(values: _Scores, edges: _Int64, window: int) -> _Float64:
    """The mean in a window around the middle of each frame."""

def minimum_duration(values: _Scores, edges: _Int64, length: int) -> _Scores:
    """Scores without detections shorter than that, at every threshold."""

def maximum_gap(values: _Scores, edges: _Int64, length: int) -> _Scores:
    """Scores without gaps between detections up to that length, at every threshold."""

def hysteresis(values: _Scores, edges: _Int64, difference: float, ratio: float) -> _Float64:
    """Scores of which each detection extends over frames with score / ratio + difference above the
    threshold."""

def event_boxes(
    values: _Scores, edges: _Int64, window: int, absolute: float | None, relative: float | None
) -> tuple[_Float64, _Int64]:
    """The mean score of each box, -inf elsewhere: scores, boundaries. Finite scores, no frames of no
    length."""

def number_table(content: bytes, start: int, columns: int) -> NDArray[np.float64] | None:
    """Rows of numbers, separated by tabs, from byte ``start`` on; None if anything is out of the
    ordinary."""
