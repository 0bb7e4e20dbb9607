"""The compiled core. Arrays must have exactly the documented types: nothing is converted.

Times are whole microseconds. Results are objects whose attributes are numpy arrays; reading an
attribute does not copy it.
"""

from pathlib import Path
from typing import Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

_Scores = NDArray[np.float32 | np.float64]  # one of them, the same in all arguments
_Float64 = NDArray[np.float64]
_Int64 = NDArray[np.int64]
_Int32 = NDArray[np.int32]
_Int8 = NDArray[np.int8]
_UInt8 = NDArray[np.uint8]
_Fraction = tuple[int, int]  # numerator, denominator
_Changes = NDArray[np.int8 | np.int32 | np.int64]  # one of them, the same in all arguments

_Result = TypeVar("_Result", covariant=True)

# Clips and their references

class Events:
    """Events of some clips.

    ``events``: (onset, offset) ordered by clip, class and onset. ``labels``: the class of each event.
    ``starts``: the first event of each clip, and the end.
    """

    def __init__(self, events: _Int64, labels: _Int32, starts: _Int64) -> None: ...

class Truth:
    """References of some clips, and what limits the work on the clips.

    ``references``: those that count; those of one clip and class do not overlap. ``ignored``: those that
    need not be found, if there are any. ``maxima``: (clips × classes) the largest score. ``floors``: per
    class, the score at or below which nothing is detected.
    """

    def __init__(
        self,
        references: Events,
        ignored: Events | None,
        maxima: _Scores,
        floors: _Scores,
        threads: int,
    ) -> None: ...

class ClipDetections:
    """All detections of one clip and class.

    Detection i exists for thresholds from ``parents[i]`` (included) up to ``scores[i]`` (excluded).
    """

    @property
    def onsets(self) -> _Int64: ...
    @property
    def offsets(self) -> _Int64: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def parents(self) -> _Scores:
        """The score at which each becomes part of a larger detection; ``-inf`` if never."""

def summarise_clips(
    values: _Scores, lengths: _Int64, threads: int
) -> tuple[_Scores, NDArray[np.uint64]]:
    """Return the largest score per clip and class, NaN where a score is NaN, and a checksum of each clip.

    ``values``: (clips × frames × classes), contiguous. ``lengths``: how many frames of each clip count.
    """

class ColumnStore:
    """Columns of scores that are kept for later: one clip and class each."""

    def __init__(self, classes: int, is_double: bool) -> None: ...
    def add(self, values: _Scores, chosen: _Int64, largest: _Scores, threads: int) -> None:
        """Copy columns of (clips × frames × classes) scores with any strides.

        ``chosen``: per column its row and column in ``values``, its clip and class, and its frames.
        ``largest``: the largest score of each.
        """

    def drop(self, floors: _Scores) -> None:
        """Drop columns whose largest score does not lie above the floor of their class."""

    @property
    def bytes(self) -> int:
        """The size of the scores that are kept."""

class Clips:
    """Scores of several clips.

    ``values``: (frames × columns) arrays of one float type with any strides. ``edges``: the frames + 1
    boundaries of each clip. ``columns``: the column of each class.
    """

    @overload
    def __init__(self, values: list[_Scores], edges: list[_Int64], columns: _Int64) -> None: ...
    @overload
    def __init__(self, kept: ColumnStore, edges: list[_Int64]) -> None:
        """Clips of which only some columns are kept. The others are ``-inf`` throughout."""
    @overload
    def __init__(self, detected: DetectedEvents) -> None:
        """Clips with events as they come, for the diagnosis of errors. They have no scores of frames."""

    def maxima(self, threads: int) -> _Scores:
        """The largest score per clip and class; NaN where a score is NaN."""

    def detections(self, clip: int, class_number: int) -> ClipDetections:
        """All detections of a clip and class."""

class DetectedEvents:
    """Detected events of several clips, ordered by clip, class and onset; they may overlap.

    ``labels``: the class of each event. ``scores``: its confidence. ``starts``: the first event of each clip,
    and the end. ``places``: where the system lists each event. ``classes``: the number of classes.
    """

    def __init__(
        self,
        events: _Int64,
        labels: _Int32,
        scores: _Float64,
        starts: _Int64,
        places: _Int64,
        classes: int,
    ) -> None: ...

class Recording:
    """One clip whose scores arrive in pieces: the boundaries of all frames, the column of each class,
    and whether the scores are float64 (otherwise float32)."""

    def __init__(self, edges: _Int64, columns: _Int64, is_double: bool) -> None: ...

class OpenRecording(Generic[_Result]):
    """Work on a recording that waits for more frames."""

    def feed(self, values: _Scores) -> None:
        """Process the next frames: (frames × columns)."""

    def finish(self) -> _Result:
        """Return the result after all frames. It can be called once."""

# Deltas
#
# In all of them ``starts`` is (classes × (clips + 1)): the rows of class c and clip i are
# ``starts[c, i]:starts[c, i + 1]``. The other columns are changes of counts where the threshold falls
# below ``scores[k]``, so that frames with ``score >= scores[k]`` are active.

class DetectionDeltas:
    """Changes of true positives and false positives."""

    def __init__(self, *, starts: _Int64, scores: _Scores, tp: _Changes, fp: _Changes) -> None: ...
    @property
    def starts(self) -> _Int64: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def tp(self) -> _Changes: ...
    @property
    def fp(self) -> _Changes: ...

class CrossTriggerDeltas:
    """Changes ``ct`` of the cross-triggers on class ``labels``."""

    def __init__(self, *, starts: _Int64, scores: _Scores, labels: _Int32, ct: _Changes) -> None: ...
    @property
    def starts(self) -> _Int64: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def labels(self) -> _Int32: ...
    @property
    def ct(self) -> _Changes: ...

class ErrorDeltas:
    """Changes of the sums of signed onset and offset errors of the pairs, in microseconds."""

    @property
    def starts(self) -> _Int64: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def onset(self) -> _Int64: ...
    @property
    def offset(self) -> _Int64: ...

class PairDeltas:
    """Changes of the number of pairs if labels do not matter: all classes are one, so ``starts`` is
    (1 × (clips + 1))."""

    @property
    def starts(self) -> _Int64: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def pairs(self) -> _Int8: ...

class EventDeltas:
    """All deltas of a criterion about events, at scores above each class's floor."""

    @property
    def detections(self) -> DetectionDeltas: ...
    @property
    def cross_triggers(self) -> CrossTriggerDeltas: ...
    @property
    def errors(self) -> ErrorDeltas: ...

# Diagnosis

class ThresholdTable:
    """Thresholds of each class: ``values[starts[c]:starts[c + 1]]``, decreasing. None may be below the
    floor of its class."""

    def __init__(self, values: _Scores, starts: _Int64) -> None: ...

class ClipErrors:
    """(clips × classes) false positives and false negatives."""

    @property
    def fp(self) -> _Int32: ...
    @property
    def fn(self) -> _Int32: ...

class JudgedEvents:
    """Detections and references of one clip and class at one threshold, with their error types."""

    @property
    def detections(self) -> _Int64:
        """(detections × 2) onset and offset."""
    @property
    def detection_types(self) -> _UInt8: ...
    @property
    def reference_types(self) -> _UInt8: ...
    @property
    def pairs(self) -> _Int64:
        """Rows (detection, reference) of the pairs."""
    @property
    def overlaps(self) -> _Int64:
        """Rows (detection, reference) of those that share time."""
    @property
    def cross_triggers(self) -> _Int64:
        """Rows (detection, class) of the cross-triggers."""

# Criteria

class Criterion:
    """A criterion about events."""

    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

    def count_error_types(self, clips: Clips, truth: Truth, thresholds: ThresholdTable) -> _Int64:
        """Count references, then detections, of each error type, as changes from threshold to threshold:
        (thresholds × types of both)."""

    def count_clip_errors(self, clips: Clips, truth: Truth, thresholds: ThresholdTable) -> ClipErrors:
        """Count the errors of each clip and class at the first threshold of the class."""

    def judge_events(
        self, clips: Clips, truth: Truth, thresholds: ThresholdTable, clip: int, class_number: int
    ) -> JudgedEvents:
        """Judge the events of a clip and class at the first threshold of the class."""

class OverlapCriterion(Criterion):
    """A criterion that judges events as they come, even if they overlap."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """Find the deltas of events that are detected as they are, even if they overlap."""

class PairingCriterion(OverlapCriterion):
    """A criterion that makes pairs of a detection and a reference."""

    def find_label_free_pairs(self, clips: Clips, truth: Truth) -> PairDeltas:
        """Find how the number of pairs changes if labels do not matter."""

    def open_label_free_pairs(self, recording: Recording, truth: Truth) -> OpenRecording[PairDeltas]:
        """Start to find the same for a recording."""

class Intersection(OverlapCriterion):
    """``cttc=None``: cross-triggers are not counted."""

    def __init__(self, dtc: _Fraction, gtc: _Fraction, cttc: _Fraction | None) -> None: ...

class Collar(PairingCriterion):
    """Tolerances of the boundaries. None: the boundary is not judged."""

    def __init__(
        self,
        onset: int | None,
        offset: int | None,
        offset_rate: _Fraction,
        *,
        cross_triggers: bool,
        errors: bool,
    ) -> None: ...

class IoU(PairingCriterion):
    """The smallest intersection over union of a pair. ``strict``: that of a pair lies above it."""

    def __init__(self, threshold: _Fraction, *, strict: bool, cross_triggers: bool) -> None: ...

def find_greedy_pairs(
    detected: DetectedEvents, truth: Truth, threshold: _Fraction, *, strict: bool
) -> EventDeltas:
    """Let the events take references one after the other, by falling score; see :class:`IoU`."""

def find_query_overlaps(detected: DetectedEvents, truth: Truth) -> EventDeltas:
    """Find the largest intersection over union in each clip and class with references and events: the score
    of its only row."""

def keep_best(detected: DetectedEvents, top: int) -> DetectedEvents:
    """Keep the events with the highest scores of each clip and class; of equal scores, those listed first."""

def query_precisions(
    starts: _Int64,
    scores: _Float64,
    tp: _Int8,
    fp: _Int8,
    references: _Int64,
    interpolated: bool,
    ranked: bool,
) -> _Float64:
    """Return (classes × clips) the average precision of each clip, from its deltas; 0 without references.

    ``ranked``: of equal scores, rows come one after the other. Otherwise they come together.
    """

class AnyOverlap:
    """A negative ``longest_gap`` closes no gaps, a ``longest_piece`` of zero cuts no detections."""

    def __init__(self, *, before: int, after: int, longest_gap: int, longest_piece: int) -> None: ...
    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """Find the deltas of events that are detected as they are, even if they overlap."""

class Segmentation:
    """Segments of one length. Their score is the largest of the frames, or the mean."""

    def __init__(self, length: int, mean: bool) -> None: ...
    def find_scores(self, clips: Clips, starts: _Int64, durations: _Int64, threads: int) -> _Scores:
        """Score the segments of whole clips: (segments × classes). ``starts``: the first segment of each
        clip, and the end."""

    def find_scores_of_events(
        self, detected: DetectedEvents, starts: _Int64, durations: _Int64, threads: int
    ) -> _Float64:
        """Score the segments of clips with events: the highest score of those that share time with it."""

    def open_scores(self, recording: Recording, segments: int, duration: int) -> OpenRecording[_Scores]:
        """Start to score the segments of a recording."""

class ActiveTime:
    """The time in which classes are active, rightly or wrongly, in clips with these ``durations``.

    The references of a truth and its ignored ones, which are not judged, must not overlap. The columns of
    the deltas are ``int32`` microseconds.
    """

    def __init__(self, durations: _Int64) -> None: ...
    def find_deltas(self, clips: Clips, truth: Truth) -> EventDeltas:
        """Find the deltas of whole clips."""

    def find_deltas_of_events(self, detected: DetectedEvents, truth: Truth) -> EventDeltas:
        """Find the deltas of events as they come; where they overlap, the highest score counts."""

    def open_deltas(self, recording: Recording, truth: Truth) -> OpenRecording[EventDeltas]:
        """Start to find the deltas of a recording."""

# Counting

class ClassTotals:
    """Counts of one class at decreasing scores: frames with ``score >= scores[i]`` are active.

    At row ``cross_rows[k]`` the cross-triggers on class ``cross_labels[k]`` change by
    ``cross_changes[k]``. Totals made in Python have no cross-triggers.
    """

    def __init__(self, scores: _Scores, tp: _Int64, fp: _Int64) -> None: ...
    @property
    def scores(self) -> _Scores: ...
    @property
    def tp(self) -> _Int64: ...
    @property
    def fp(self) -> _Int64: ...
    @property
    def cross_rows(self) -> _Int64: ...
    @property
    def cross_labels(self) -> _Int32: ...
    @property
    def cross_changes(self) -> _Int64: ...

def accumulate(
    detections: DetectionDeltas, cross_triggers: CrossTriggerDeltas | None, threads: int
) -> list[ClassTotals]:
    """Add up the deltas of each class."""

def cross_rates(
    rows: _Int64, others: _Int64, changes: _Int64, times: _Float64, row_count: int
) -> _Float64:
    """For each row, the sum over the other classes of cross-triggers per time of that class. ``others``
    are indices into ``times``."""

def group_means(values: _Scores, starts: _Int64) -> _Float64:
    """The means over the rows of each group, rounded once. ``starts``: where groups begin, and the end."""

def first_minima_of_runs(runs: _Int64, costs: _Int64 | _Float64) -> _Int64:
    """For each run of consecutive equal values, the index of its first smallest cost."""

class ScoreRanges:
    """Ranges of the scores of each class, each with at least ``rows_per_range`` rows, by decreasing score."""

    def __init__(
        self,
        detections: DetectionDeltas,
        cross_triggers: CrossTriggerDeltas | None,
        rows_per_range: int,
        threads: int,
    ) -> None: ...
    def fewest(self, label: int) -> NDArray[np.float32]:
        """(clips × ranges) no more false positives than a clip has anywhere in a range."""

    def tp(self, label: int) -> _Int32:
        """(clips × ranges) true positives at the end of a range."""

    def fp(self, label: int) -> _Int32:
        """(clips × ranges) false positives at the end of a range."""

    def without(
        self, unread: list[NDArray[np.bool_]], threads: int
    ) -> tuple[DetectionDeltas, CrossTriggerDeltas]:
        """Merge the changes in unread ranges, per clip, at the lowest score of consecutive ones. Counts at
        all scores in other ranges stay the same. ``unread``: per class, of each range."""

class ResampledPSDS:
    """PSDS of each resample, and (resamples × classes) of each class alone."""

    @property
    def values(self) -> _Float64: ...
    @property
    def class_values(self) -> _Float64: ...

class WeightedSums:
    """Sums over clips, of whole numbers times the weights of many resamples.

    ``weights``: (resamples × clips), at most 2²⁴."""

    def __init__(self, weights: _Int32, threads: int) -> None: ...
    def of(self, values: _Float64) -> _Float64:
        """Return the (resamples × columns) sums of (clips × columns) values: exact, and rounded once."""

class Resampling:
    """Deltas of all classes, sorted by score once, to be added up with many sets of clip weights."""

    def __init__(
        self, detections: DetectionDeltas, cross_triggers: CrossTriggerDeltas | None, threads: int
    ) -> None: ...
    def counts(self, weights: _Int32, *, extremes_only: bool, threads: int) -> list[ClassTotals]:
        """Count true and false positives per class. With ``extremes_only``, keep of each run of equal
        true positives only the first row with the fewest false positives, and the last row."""

    def best_fscore(
        self, weights: _Int32, *, references: _Int64, weight: float, threads: int
    ) -> _Float64:
        """Best F-score over all thresholds, as (resamples × classes). ``weights``: (resamples × clips).
        ``references``: (resamples × classes); without any, the value means nothing. ``weight``: of recall,
        the square of beta."""

    @staticmethod
    def psds(
        variants: list[Resampling],
        *,
        weights: _Int32,
        durations: _Float64,
        references: _Int64,
        reference_times: _Float64,
        order: _Int64,
        alpha_ct: float,
        alpha_st: float,
        max_efpr: float,
        seconds_per_unit: float,
        threads: int,
    ) -> ResampledPSDS:
        """PSDS of each resample (a row of weights). Of several variants of the scores the best counts at
        each rate. ``durations``: per resample, in seconds. ``references`` and ``reference_times``:
        (resamples × classes). ``order``: the classes sorted by name."""

# Post-processing
#
# All functions take one clip: (frames × classes) scores with at least one frame and no NaN, and
# frames + 1 boundaries. The scores that they return are (classes × frames).

class FramedScores:
    """Scores with the boundaries of their frames."""

    @property
    def values(self) -> _Scores: ...
    @property
    def edges(self) -> _Int64: ...

def median_filter(values: _Scores, edges: _Int64, window: int) -> FramedScores:
    """The median in a window around each time."""

def moving_average(values: _Scores, edges: _Int64, window: int) -> _Float64:
    """The mean in a window around the middle of each frame."""

def minimum_duration(values: _Scores, edges: _Int64, length: int) -> _Scores:
    """Scores without detections shorter than ``length``, at every threshold."""

def maximum_gap(values: _Scores, edges: _Int64, length: int) -> _Scores:
    """Scores without gaps of at most ``length`` between detections, at every threshold."""

def hysteresis(values: _Scores, edges: _Int64, difference: float, ratio: float) -> _Float64:
    """Scores of which each detection extends over frames with ``score / ratio + difference`` above the
    threshold."""

def event_boxes(
    values: _Scores, edges: _Int64, window: int, absolute: float | None, relative: float | None
) -> FramedScores:
    """The mean score of each event box, ``-inf`` elsewhere. Scores must be finite, and no frame may have
    a length of 0."""

class ScoredPoints:
    """Points in time, ordered by column and time."""

    @property
    def times(self) -> _Int64: ...
    @property
    def columns(self) -> _Int32: ...
    @property
    def scores(self) -> _Float64: ...

def peaks(values: _Scores, edges: _Int64, distance: int) -> ScoredPoints:
    """The local maxima of each column that are at least ``distance`` from higher ones that stay."""

class ReadLimit:
    """Down to which score results are read: any lower score may take the place of a score that is not.

    ``lowest``: per class, the lowest score that is read. ``rank``: nothing is read below this many of the
    largest scores of the result in ``among``, which is (clips × classes).
    """

    def __init__(self, lowest: _Scores, rank: int, among: NDArray[np.bool_]) -> None: ...

class FilteredClips:
    """What a filter makes of some clips.

    ``values``: (frames × classes) scores. ``edges``: their boundaries; None where they are those of the clip.
    ``maxima``: (clips × classes) the largest scores.
    """

    @property
    def values(self) -> list[_Scores]: ...
    @property
    def edges(self) -> list[_Int64 | None]: ...
    @property
    def maxima(self) -> _Scores: ...

class RankedClips:
    """Clips with the ranks of their scores, for filters of several lengths. No score is NaN."""

    def __init__(self, clips: Clips, threads: int) -> None: ...
    def median_filter(self, window: int, limit: ReadLimit | None, threads: int) -> FilteredClips:
        """The median in a window around each time, as :func:`median_filter` finds it."""

# Text

def number_table(content: bytes, start: int, columns: int) -> _Float64 | None:
    """Read rows of numbers, separated by tabs, from byte ``start`` on. None if the text has any other
    form."""

def number_table_of_file(
    path: Path, first_line: bytes, columns: int, most_bytes: int
) -> tuple[_Float64, bool] | None:
    """Read the numbers of a file below its first line, and whether it ends with a line break.

    None if it is not a regular file of at most so many bytes, with this first line and such numbers."""
