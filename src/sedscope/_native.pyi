"""
The compiled core. Arrays must have exactly the documented types: nothing is converted.

Times are whole microseconds. Results are objects whose attributes are numpy arrays; reading an
attribute does not copy it.
"""

from collections.abc import Sequence
import os
from typing import Generic, TypeVar, overload

import numpy
import numpy.typing


def summarise_clips(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], lengths: numpy.typing.NDArray[numpy.int64], threads: int) -> tuple[numpy.typing.NDArray[numpy.float32 | numpy.float64], numpy.typing.NDArray[numpy.uint64]]:
    """
    Return the largest score per clip and class, and a checksum of each clip.

    The largest score is NaN where a score is NaN. ``values``: (clips x frames x classes), contiguous.
    ``lengths``: how many frames of each clip count.
    """

def checksum(values: numpy.typing.NDArray[numpy.float32 | numpy.float64]) -> int:
    """Return the checksum of a clip: (frames x classes), contiguous."""

class ColumnStore:
    """Columns of scores that are kept for later: one clip and class each."""

    def __init__(self, classes: int, is_double: bool) -> None: ...

    def add(self, values: numpy.typing.NDArray[numpy.float32 | numpy.float64], chosen: numpy.typing.NDArray[numpy.int64], largest: numpy.typing.NDArray[numpy.float32 | numpy.float64], threads: int) -> None:
        """
        Copy columns of (clips x frames x classes) scores with any strides.

        ``chosen``: per column its row and column in ``values``, its clip and class, and its frames.
        ``largest``: the largest score of each.
        """

    def drop(self, floors: numpy.typing.NDArray[numpy.float32 | numpy.float64]) -> None:
        """
        Drop columns whose largest score does not lie above the floor of their class.
        """

    @property
    def bytes(self) -> int:
        """The size of the scores that are kept."""

class Events:
    """
    Events of some clips.

    ``events``: (onset, offset) ordered by clip, class and onset. ``labels``: the class of each event.
    ``starts``: the first event of each clip, and the end.
    """

    def __init__(self, events: numpy.typing.NDArray[numpy.int64], labels: numpy.typing.NDArray[numpy.int32], starts: numpy.typing.NDArray[numpy.int64]) -> None: ...

class Truth:
    """
    References of some clips, and what limits the work on the clips.

    ``references``: those that count; those of one clip and class do not overlap. ``ignored``: those
    that need not be found, if there are any. ``maxima``: (clips x classes) the largest score.
    ``floors``: per class, the score at or below which nothing is detected.
    """

    def __init__(self, references: Events, ignored: Events | None, maxima: numpy.typing.NDArray[numpy.float32 | numpy.float64], floors: numpy.typing.NDArray[numpy.float32 | numpy.float64], threads: int) -> None: ...

class ClipDetections:
    """
    All detections of one clip and class.

    Detection i exists for thresholds from ``parents[i]`` (included) up to ``scores[i]`` (excluded).
    """

    @property
    def onsets(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def offsets(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def parents(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
        """
        The score at which each becomes part of a larger detection; ``-inf`` if never.
        """

class Clips:
    """
    Scores of several clips.

    ``values``: (frames x columns) arrays of one float type with any strides. ``edges``: the
    frames + 1 boundaries of each clip. ``columns``: the column of each class.
    """

    @overload
    def __init__(self, values: list[numpy.typing.NDArray[numpy.float32 | numpy.float64]], edges: list[numpy.typing.NDArray[numpy.int64]], columns: numpy.typing.NDArray[numpy.int64]) -> None: ...

    @overload
    def __init__(self, kept: ColumnStore, edges: list[numpy.typing.NDArray[numpy.int64]]) -> None:
        """
        Clips of which only some columns are kept. The others are ``-inf`` throughout.
        """

    @overload
    def __init__(self, detected: DetectedEvents) -> None:
        """
        Clips with events as they come, for the diagnosis of errors. They have no scores of frames.
        """

    def maxima(self, threads: int) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
        """Return the largest score per clip and class; NaN where a score is NaN."""

    def maxima_outside(self, spans: numpy.typing.NDArray[numpy.int64], starts: numpy.typing.NDArray[numpy.int64], clips: numpy.typing.NDArray[numpy.int32], classes: numpy.typing.NDArray[numpy.int32], shortest: int, threads: int) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
        """
        Return for each pair of clip and class the largest score outside of its spans of time.

        Frames that a span touches, or shorter than ``shortest``, are left out. ``starts``: of the spans of
        each pair, ordered by onset, and the end.
        """

    def detections(self, clip: int, class_number: int) -> ClipDetections:
        """Return all detections of a clip and class."""

Result = TypeVar("Result", covariant=True)

class OpenRecording(Generic[Result]):
    """Work on a recording that waits for more frames."""

    def feed(self, values: numpy.typing.NDArray[numpy.float32 | numpy.float64]) -> None:
        """Process the next frames: (frames x columns)."""

    def finish(self) -> Result:
        """Return the result after all frames. It can be called once."""

class Recording:
    """
    One clip whose scores arrive in pieces.

    ``edges``: the boundaries of all frames. ``columns``: the column of each class. ``is_double``:
    whether the scores are float64, otherwise float32.
    """

    def __init__(self, edges: numpy.typing.NDArray[numpy.int64], columns: numpy.typing.NDArray[numpy.int64], is_double: bool) -> None: ...

class FramedScores:
    """(classes x frames) scores with the boundaries of their frames."""

    @property
    def values(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def edges(self) -> numpy.typing.NDArray[numpy.int64]: ...

class ScoredPoints:
    """Points in time, ordered by column and time."""

    @property
    def times(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def columns(self) -> numpy.typing.NDArray[numpy.int32]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float64]: ...

def median_filter(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], window: int) -> FramedScores:
    """The median in a window around each time."""

def moving_average(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], window: int) -> numpy.typing.NDArray[numpy.float64]:
    """The mean in a window around the middle of each frame."""

def minimum_duration(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], length: int) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
    """Scores without detections shorter than ``length``, at every threshold."""

def maximum_gap(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], length: int) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
    """
    Scores without gaps of at most ``length`` between detections, at every threshold.
    """

def hysteresis(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], difference: float, ratio: float) -> numpy.typing.NDArray[numpy.float64]:
    """
    Scores of which each detection extends over further frames.

    These have ``score / ratio + difference`` above the threshold.
    """

def event_boxes(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], window: int, absolute: float | None, relative: float | None) -> FramedScores:
    """
    The mean score of each event box, ``-inf`` elsewhere.

    Scores must be finite, and no frame may have a length of 0.
    """

def peaks(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], edges: numpy.typing.NDArray[numpy.int64], distance: int) -> ScoredPoints:
    """
    The local maxima of each column that are at least ``distance`` from higher ones that stay.
    """

class ReadLimit:
    """
    Down to which score results are read.

    Any lower score may take the place of a score that is not. ``lowest``: per class, the lowest score
    that is read. ``rank``: nothing is read below this many of the largest scores of the result in
    ``among``, which is (clips x classes).
    """

    def __init__(self, lowest: numpy.typing.NDArray[numpy.float32 | numpy.float64], rank: int, among: numpy.typing.NDArray[numpy.bool_]) -> None: ...

class FilteredClips:
    """
    What a filter makes of some clips.

    ``values``: (frames x classes) scores. ``edges``: their boundaries; None where they are those of the
    clip. ``maxima``: (clips x classes) the largest scores.
    """

    @property
    def values(self) -> list[numpy.typing.NDArray[numpy.float32 | numpy.float64]]: ...

    @property
    def edges(self) -> list[numpy.typing.NDArray[numpy.int64] | None]: ...

    @property
    def maxima(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

class RankedClips:
    """
    Clips with the ranks of their scores, for filters of several lengths. No score is NaN.
    """

    def __init__(self, clips: Clips, threads: int) -> None: ...

    def median_filter(self, window: int, limit: ReadLimit | None, threads: int) -> FilteredClips:
        """
        The median in a window around each time, as :func:`median_filter` finds it.
        """

class DetectionDeltas:
    """
    Changes of true positives and false positives.

    In all deltas ``starts`` is (classes x (clips + 1)): the rows of class c and clip i are
    ``starts[c, i]:starts[c, i + 1]``. The other columns are changes of counts where the threshold falls
    below ``scores[k]``, so that frames with ``score >= scores[k]`` are active.
    """

    def __init__(self, *, starts: numpy.typing.NDArray[numpy.int64], scores: numpy.typing.NDArray[numpy.float32 | numpy.float64], tp: numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64], fp: numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64]) -> None: ...

    @property
    def starts(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def tp(self) -> numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64]: ...

    @property
    def fp(self) -> numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64]: ...

class CrossTriggerDeltas:
    """Changes ``ct`` of the cross-triggers on class ``labels``."""

    def __init__(self, *, starts: numpy.typing.NDArray[numpy.int64], scores: numpy.typing.NDArray[numpy.float32 | numpy.float64], labels: numpy.typing.NDArray[numpy.int32], ct: numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64]) -> None: ...

    @property
    def starts(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def labels(self) -> numpy.typing.NDArray[numpy.int32]: ...

    @property
    def ct(self) -> numpy.typing.NDArray[numpy.int8 | numpy.int32 | numpy.int64]: ...

class ErrorDeltas:
    """
    Changes of the sums of signed onset and offset errors of the pairs, in microseconds.
    """

    @property
    def starts(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def onset(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def offset(self) -> numpy.typing.NDArray[numpy.int64]: ...

class PairDeltas:
    """
    Changes of the number of pairs if labels do not matter.

    All classes are one, so ``starts`` is (1 x (clips + 1)).
    """

    @property
    def starts(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def pairs(self) -> numpy.typing.NDArray[numpy.int8]: ...

class EventDeltas:
    """
    All deltas of a criterion about events, at scores above each class's floor.
    """

    @property
    def detections(self) -> DetectionDeltas: ...

    @property
    def cross_triggers(self) -> CrossTriggerDeltas: ...

    @property
    def errors(self) -> ErrorDeltas: ...

class ThresholdTable:
    """
    Thresholds of each class.

    Those of class c are ``values[starts[c]:starts[c + 1]]``, decreasing. None may be below the floor of
    its class.
    """

    def __init__(self, values: numpy.typing.NDArray[numpy.float32 | numpy.float64], starts: numpy.typing.NDArray[numpy.int64]) -> None: ...

class ClipErrors:
    """(clips x classes) false positives and false negatives."""

    @property
    def fp(self) -> numpy.typing.NDArray[numpy.int32]: ...

    @property
    def fn(self) -> numpy.typing.NDArray[numpy.int32]: ...

class JudgedEvents:
    """
    Detections and references of one clip and class at one threshold, with their error types.
    """

    @property
    def detections(self) -> numpy.typing.NDArray[numpy.int64]:
        """(detections x 2) onset and offset."""

    @property
    def detection_types(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def reference_types(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def pairs(self) -> numpy.typing.NDArray[numpy.int64]:
        """Rows (detection, reference) of the pairs."""

    @property
    def overlaps(self) -> numpy.typing.NDArray[numpy.int64]:
        """Rows (detection, reference) of those that share time."""

    @property
    def cross_triggers(self) -> numpy.typing.NDArray[numpy.int64]:
        """Rows (detection, class) of the cross-triggers."""

class Criterion:
    """A criterion about events."""

    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

    def count_error_types(self, clips: Clips, truth: Truth, thresholds: ThresholdTable) -> numpy.typing.NDArray[numpy.int64]:
        """
        Count references, then detections, of each error type.

        Returns changes from threshold to threshold: (thresholds x types of both).
        """

    def count_clip_errors(self, clips: Clips, truth: Truth, thresholds: ThresholdTable) -> ClipErrors:
        """
        Count the errors of each clip and class at the first threshold of the class.
        """

    def judge_events(self, clips: Clips, truth: Truth, thresholds: ThresholdTable, clip: int, class_number: int) -> JudgedEvents:
        """
        Judge the events of a clip and class at the first threshold of the class.
        """

class DetectedEvents:
    """
    Detected events of several clips, ordered by clip, class and onset; they may overlap.

    ``labels``: the class of each event. ``scores``: its confidence. ``starts``: the first event of each
    clip, and the end. ``places``: where the system lists each event. ``classes``: the number of
    classes.
    """

    def __init__(self, events: numpy.typing.NDArray[numpy.int64], labels: numpy.typing.NDArray[numpy.int32], scores: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64], places: numpy.typing.NDArray[numpy.int64], classes: int) -> None: ...

class OverlapCriterion(Criterion):
    """A criterion that judges events as they come, even if they overlap."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """Find the deltas of events that are detected as they are."""

class PairingCriterion(OverlapCriterion):
    """A criterion that makes pairs of a detection and a reference."""

    def find_label_free_pairs(self, clips: Clips, truth: Truth) -> PairDeltas:
        """Find how the number of pairs changes if labels do not matter."""

    def open_label_free_pairs(self, recording: Recording, truth: Truth) -> OpenRecording[PairDeltas]:
        """Start to find the same for a recording."""

class Intersection(OverlapCriterion):
    """
    ``cttc=None``: cross-triggers are not counted.

    ``decimals``: of seconds, to which overlaps are rounded.
    """

    def __init__(self, dtc: tuple[int, int], gtc: tuple[int, int], cttc: tuple[int, int] | None, *, decimals: int = 6) -> None: ...

class Collar(PairingCriterion):
    """
    Tolerances of the boundaries. None: the boundary is not judged.

    ``decimals``: of seconds, to which the excess over a tolerance is rounded. From 10 on, seconds are
    floats.
    """

    def __init__(self, onset: int | None, offset: int | None, offset_rate: tuple[int, int], *, cross_triggers: bool, errors: bool, decimals: int = 6) -> None: ...

class IoU(PairingCriterion):
    """
    The smallest intersection over union of a pair.

    ``strict``: that of a pair lies above it.
    """

    def __init__(self, threshold: tuple[int, int], *, strict: bool, cross_triggers: bool) -> None: ...

class AnyOverlap:
    """
    A reference is found by any detection that overlaps its window.

    A negative ``longest_gap`` closes no gaps, a ``longest_piece`` of zero cuts no detections.
    """

    def __init__(self, *, before: int, after: int, longest_gap: int, longest_piece: int) -> None: ...

    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """
        Find the deltas of events that are detected as they are, even if they overlap.
        """

class Alarm(OverlapCriterion):
    """
    An alarm at each onset that is not too early after the last.

    With ``within``, windows of references do not depend on their offsets.
    """

    def __init__(self, *, cooldown: int, before: int, after: int, within: int | None) -> None: ...

class ActiveTime:
    """
    The time in which classes are active, rightly or wrongly, in clips of some ``durations``.

    The references of a truth and its ignored ones, which are not judged, must not overlap. The columns
    of the deltas are ``int32`` microseconds.
    """

    def __init__(self, durations: numpy.typing.NDArray[numpy.int64]) -> None: ...

    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """
        Find the deltas of events as they come; where they overlap, the highest score counts.
        """

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

class Segmentation:
    """
    Segments of one length. Their score is the largest of the frames, or the mean.
    """

    def __init__(self, length: int, mean: bool) -> None: ...

    def find_scores(self, clips: Clips, starts: numpy.typing.NDArray[numpy.int64], durations: numpy.typing.NDArray[numpy.int64], threads: int) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]:
        """
        Score the segments of whole clips: (segments x classes).

        ``starts``: the first segment of each clip, and the end.
        """

    def find_scores_of_events(self, detected: DetectedEvents, starts: numpy.typing.NDArray[numpy.int64], durations: numpy.typing.NDArray[numpy.int64], threads: int) -> numpy.typing.NDArray[numpy.float64]:
        """
        Score the segments of clips with events: the highest score of those that share time with it.
        """

    def open_scores(self, recording: Recording, segments: int, duration: int) -> OpenRecording[numpy.typing.NDArray[numpy.float32 | numpy.float64]]:
        """Start to score the segments of a recording."""

def find_greedy_pairs(detected: DetectedEvents, truth: Truth, threshold: tuple[int, int], *, strict: bool) -> EventDeltas:
    """
    Let the events take references one after the other, by falling score; see :class:`IoU`.
    """

def find_query_overlaps(detected: DetectedEvents, truth: Truth) -> EventDeltas:
    """
    Find the largest intersection over union in each clip and class with references and events.

    It is the score of the only row of the clip and class.
    """

def keep_best(detected: DetectedEvents, top: int) -> DetectedEvents:
    """
    Keep the events with the highest scores of each clip and class.

    Of equal scores, keep those that are listed first.
    """

def query_precisions(starts: numpy.typing.NDArray[numpy.int64], scores: numpy.typing.NDArray[numpy.float64], tp: numpy.typing.NDArray[numpy.int8], fp: numpy.typing.NDArray[numpy.int8], references: numpy.typing.NDArray[numpy.int64], interpolated: bool, ranked: bool) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the average precision of each clip, from its deltas; 0 without references.

    ``starts`` is (classes x (clips + 1)), ``references`` (classes x clips), and so is the result.
    ``ranked``: of equal scores, rows come one after the other. Otherwise they come together.
    """

class ClassTotals:
    """
    Counts of one class at decreasing scores: frames with ``score >= scores[i]`` are active.

    At row ``cross_rows[k]`` the cross-triggers on class ``cross_labels[k]`` change by
    ``cross_changes[k]``. Totals made in Python have no cross-triggers.
    """

    def __init__(self, scores: numpy.typing.NDArray[numpy.float32 | numpy.float64], tp: numpy.typing.NDArray[numpy.int64], fp: numpy.typing.NDArray[numpy.int64]) -> None: ...

    @property
    def scores(self) -> numpy.typing.NDArray[numpy.float32 | numpy.float64]: ...

    @property
    def tp(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def fp(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def cross_rows(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def cross_labels(self) -> numpy.typing.NDArray[numpy.int32]: ...

    @property
    def cross_changes(self) -> numpy.typing.NDArray[numpy.int64]: ...

def accumulate(detections: DetectionDeltas, cross_triggers: CrossTriggerDeltas | None, threads: int) -> list[ClassTotals]:
    """Add up the deltas of each class."""

def merge_rows(starts: Sequence[numpy.typing.NDArray[numpy.int64]], columns: Sequence[Sequence[numpy.typing.NDArray[numpy.int8 | numpy.int16 | numpy.int32 | numpy.int64 | numpy.float32 | numpy.float64]]], floors: numpy.typing.NDArray[numpy.float32 | numpy.float64] | None, threads: int) -> list[numpy.typing.NDArray[numpy.int8 | numpy.int16 | numpy.int32 | numpy.int64 | numpy.float32 | numpy.float64]] | None:
    """
    Put the rows of several tables into one. Return its starts and columns.

    ``starts``: (classes x (clips + 1)) of each table. ``columns``: of each table, the scores first.
    ``floors``: rows of a class at or below its floor are left out. Returns None if that leaves a single
    table as it is.
    """

def cross_rates(rows: numpy.typing.NDArray[numpy.int64], others: numpy.typing.NDArray[numpy.int64], changes: numpy.typing.NDArray[numpy.int64], times: numpy.typing.NDArray[numpy.float64], row_count: int) -> numpy.typing.NDArray[numpy.float64]:
    """
    For each row, the sum over the other classes of cross-triggers per time of that class.

    ``others`` are indices into ``times``.
    """

def first_minima_of_runs(runs: numpy.typing.NDArray[numpy.int64], costs: numpy.typing.NDArray[numpy.int64 | numpy.float64]) -> numpy.typing.NDArray[numpy.int64]:
    """
    For each run of consecutive equal values, the index of its first smallest cost.
    """

def best_of_rates(tp: numpy.typing.NDArray[numpy.int64], rates: numpy.typing.NDArray[numpy.float64], highest: float) -> numpy.typing.NDArray[numpy.int64]:
    """
    Return the rows with more true positives than all of lower rates, by rising rate.

    Those with a rate above ``highest`` are left out.
    """

def step_area(x: numpy.typing.NDArray[numpy.float64], y: numpy.typing.NDArray[numpy.float64], end: float) -> float:
    """
    Return the area under a step function from 0 to ``end``.

    ``x`` rises from 0; ``y[i]`` holds from ``x[i]`` on.
    """

def mean_of_curves(x: Sequence[numpy.typing.NDArray[numpy.float64]], y: Sequence[numpy.typing.NDArray[numpy.float64]], rates: numpy.typing.NDArray[numpy.float64], weight: float, threads: int) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the mean of step functions less ``weight`` times their deviation, or 0.

    ``y`` holds from ``x`` on. ``rates``: where, rising.
    """

class WeightedSums:
    """
    Sums over clips, of whole numbers times the weights of many resamples.

    ``weights``: (resamples x clips), at most 2**24.
    """

    def __init__(self, weights: numpy.typing.NDArray[numpy.int32], threads: int) -> None: ...

    def of(self, values: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
        """
        Return the (resamples x columns) sums of (clips x columns) values: exact, and rounded once.
        """

class ResampledPSDS:
    """PSDS of each resample, and (resamples x classes) of each class alone."""

    @property
    def values(self) -> numpy.typing.NDArray[numpy.float64]: ...

    @property
    def class_values(self) -> numpy.typing.NDArray[numpy.float64]: ...

class Resampling:
    """
    Deltas of all classes, sorted by score once.

    They are added up with many sets of clip weights.
    """

    def __init__(self, detections: DetectionDeltas, cross_triggers: CrossTriggerDeltas | None, threads: int) -> None: ...

    def counts(self, weights: numpy.typing.NDArray[numpy.int32], *, extremes_only: bool, threads: int) -> list[ClassTotals]:
        """
        Count true and false positives per class.

        With ``extremes_only``, keep of each run of equal true positives only the first row with the fewest
        false positives, and the last row.
        """

    def best_fscore(self, weights: numpy.typing.NDArray[numpy.int32], *, references: numpy.typing.NDArray[numpy.int64], weight: float, threads: int) -> numpy.typing.NDArray[numpy.float64]:
        """
        Best F-score over all thresholds, as (resamples x classes).

        ``weights``: (resamples x clips). ``references``: (resamples x classes); without any, the value means
        nothing. ``weight``: of recall, the square of beta.
        """

    def fewest_false_positives(self, weights: numpy.typing.NDArray[numpy.int32], *, references: numpy.typing.NDArray[numpy.int64], threads: int) -> numpy.typing.NDArray[numpy.int64]:
        """
        Fewest false positives at 0, 1, ... true positives, as one array.

        It has those of a resample and class after the other, for as many true positives as there are
        references, and -1 for numbers that no threshold finds. ``weights``: (resamples x clips).
        ``references``: (resamples x classes), at least as many as are ever found.
        """

    @staticmethod
    def psds(variants: list[Resampling], *, weights: numpy.typing.NDArray[numpy.int32], durations: numpy.typing.NDArray[numpy.float64], references: numpy.typing.NDArray[numpy.int64], reference_times: numpy.typing.NDArray[numpy.float64], order: numpy.typing.NDArray[numpy.int64], alpha_ct: float, alpha_st: float, max_efpr: float, seconds_per_unit: float, threads: int) -> ResampledPSDS:
        """
        PSDS of each resample (a row of weights).

        Of several variants of the scores the best counts at each rate. ``durations``: per resample, in
        seconds. ``references`` and ``reference_times``: (resamples x classes). ``order``: the classes sorted
        by name.
        """

class ScoreRanges:
    """
    Ranges of the scores of each class, by decreasing score.

    Each has at least ``rows_per_range`` rows.
    """

    def __init__(self, detections: DetectionDeltas, cross_triggers: CrossTriggerDeltas | None, rows_per_range: int, threads: int) -> None: ...

    def fewest(self, label: int) -> numpy.typing.NDArray[numpy.float32]:
        """
        (clips x ranges) no more false positives than a clip has anywhere in a range.
        """

    def tp(self, label: int) -> numpy.typing.NDArray[numpy.int32]:
        """(clips x ranges) true positives at the end of a range."""

    def fp(self, label: int) -> numpy.typing.NDArray[numpy.int32]:
        """(clips x ranges) false positives at the end of a range."""

    def without(self, unread: Sequence[numpy.typing.NDArray[numpy.bool_]], threads: int) -> tuple[DetectionDeltas, CrossTriggerDeltas]:
        """
        Merge the changes in unread ranges, per clip, at the lowest score of consecutive ones.

        Counts at all scores in other ranges stay the same. ``unread``: per class, of each range.
        """

def group_means(values: numpy.typing.NDArray[numpy.float32 | numpy.float64], starts: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.float64]:
    """
    Return the means over the rows of each group, rounded once.

    ``starts``: where groups begin, and the end.
    """

def number_table(content: bytes, start: int, columns: int) -> numpy.typing.NDArray[numpy.float64] | None:
    """
    Read rows of numbers, separated by tabs, from byte ``start`` on.

    None if the text has any other form.
    """

def number_table_of_file(path: str | os.PathLike, first_line: bytes, columns: int, most_bytes: int) -> tuple[numpy.typing.NDArray[numpy.float64], bool] | None:
    """
    Read the numbers of a file below its first line, and whether it ends with a line break.

    None if it is not a regular file of at most so many bytes, with this first line and such numbers.
    """
