"""Chunks of recordings, joined on both sides: their scores in segments, and their reference events.

A chunk counts from the start of the segment in which it begins. Its score of a segment is the mean over its
frames, weighted by how long they overlap the segment; where chunks overlap, the score is the mean of
theirs. Reference events of one class that overlap or touch once the chunks are joined are one event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..data.arrays import FloatArray, group_means
from ..data.choices import check_choice, refuse_beyond_memory
from ..data.chunks import (
    Chunk,
    ChunkTable,
    Unit,
    check_lengths,
    chunks_by_recording,
    scores_of_recordings,
)
from ..data.clip_scores import ClipScores
from ..data.clips import duration_ticks
from ..data.events import EventColumns
from ..data.ground_truth import GroundTruth
from ..data.labels import stripped
from ..data.scores import Scores
from ..data.times import TICKS_PER_SECOND, Ticks, to_ticks
from ..errors import SedscopeError, counted, listing, refuse

Unreferenced: TypeAlias = Literal["keep", "drop"]
"""Chunks without reference events: evaluate them like others, or leave them out."""


def join_chunks(
    scores: Scores,
    truth: GroundTruth,
    chunks: ChunkTable | None = None,
    *,
    unit: Unit = "seconds",
    segment: float = 1.0,
    durations: Mapping[str, float] | None = None,
    uncovered: float | None = None,
    unreferenced: Unreferenced = "keep",
    classes: Iterable[str] | None = None,
) -> tuple[Scores, GroundTruth]:
    """Join the chunks of each recording, in the scores and in the ground truth.

    A chunk counts from the start of the segment in which it begins. Its score of a segment is the mean
    over its frames, weighted by how long they overlap the segment. Where chunks overlap, the score of a
    segment is the mean of theirs. Reference events of one class that overlap or touch become one.

    DCASE 2024 Task 4 evaluates MAESTRO in this way, with ``unit="centiseconds"``, ``uncovered=0.0``,
    ``unreferenced="drop"`` and ``Segment(1.0)`` as criterion.

    Parameters
    ----------
    scores : Scores
        The scores of the chunks. They are joined when they are read.
    truth : GroundTruth
        The ground truth of the chunks, with times from the start of each chunk.
    chunks : mapping, optional
        ``{chunk: (recording, start in seconds)}``. By default, the names of the chunks say where they
        start: ``RECORDING-START`` or ``RECORDING-START-END``.
    unit : {'seconds', 'centiseconds', 'milliseconds'}, default 'seconds'
        Unit of the times in the names.
    segment : float, default 1.0
        Length of the segments in seconds. Evaluate with the criterion ``Segment`` of this length.
    durations : mapping from str to float, optional
        Durations of the recordings in seconds. By default, a recording ends with its last chunk.
    uncovered : float, optional
        The score of segments that no chunk covers, also of those that `unreferenced` leaves out. By
        default, such segments are an error.
    unreferenced : {'keep', 'drop'}, default 'keep'
        What to do with chunks without reference events. ``"drop"`` leaves them out: other chunks alone
        decide the scores of their time, and recordings with no other chunk are not evaluated.
    classes : iterable of str, optional
        Only events of these classes are references for `unreferenced`. By default, all are.

    Returns
    -------
    scores : Scores
        One clip per recording, with one frame per segment.
    truth : GroundTruth
        The reference events of the recordings.

    See Also
    --------
    Scores.stitch : Join the scores of chunks at their own frames.

    Examples
    --------
    >>> import sedscope as sed
    >>> frames = {"a-0-200": [[0.2], [0.4], [0.6], [0.8]], "a-100-300": [[0.1], [0.3], [0.5], [0.7]]}
    >>> scores = sed.Scores.from_arrays(frames, classes=["Dog"], frame=0.5)
    >>> truth = sed.GroundTruth.from_dict({"a-0-200": [(1, 2, "Dog")], "a-100-300": [(0, 1.5, "Dog")]})
    >>> joined, joined_truth = sed.join_chunks(scores, truth, unit="centiseconds")
    >>> joined["a"].values.ravel().round(2).tolist(), joined_truth.events("a")
    ([0.3, 0.45, 0.6], [(1.0, 2.5, 'Dog')])
    """
    check_choice(Unit, unit=unit)
    check_choice(Unreferenced, unreferenced=unreferenced)
    length = _segment_ticks(segment)
    if uncovered is not None and not (isinstance(uncovered, (int, float)) and uncovered == uncovered):
        raise SedscopeError(f"uncovered={uncovered!r} must be a number.")
    if not scores.whole_clips:
        raise SedscopeError("A list of detections has no scores of frames to join.")
    used = _used_chunks(scores, truth, unreferenced, classes)
    by_name = chunks_by_recording(used, chunks, unit)
    recordings = {
        recording: [replace(chunk, start=chunk.start // length * length) for chunk in parts]
        for recording, parts in by_name.items()
    }
    ends = _ends(recordings, truth, durations)
    remarks = truth._lasting_notes()
    every = {*truth.clips, *scores}
    left_out = len(every) - len(used)
    if left_out:
        verbs = "has no reference events and is" if left_out == 1 else "have no reference events and are"
        remarks.append(f"{left_out} of {counted(len(every), 'chunk')} {verbs} left out.")
    joined_truth = GroundTruth(
        _joined_events(truth, recordings),
        clips=recordings,
        durations=None if ends is None else {recording: end / 1e6 for recording, end in ends.items()},
        invalid=truth.invalid,
        ignored_labels=truth.ignored_labels,
        remarks=remarks,
    )
    joined_truth.label_maps = truth.label_maps
    end_of: Mapping[str, int] = {} if ends is None else ends
    joined_scores = scores_of_recordings(
        scores,
        recordings,
        lambda recording, parts: _join(parts, length, end_of.get(recording), uncovered),
        lambda recording: f"{length} {end_of.get(recording)} {uncovered!r}",
        f"join_chunks(segment={length / 1e6:g})",
    )
    return joined_scores, joined_truth


def _segment_ticks(seconds: float) -> int:
    try:
        ticks = int(to_ticks(float(seconds)))
    except (TypeError, ValueError):
        ticks = 0
    if ticks <= 0:
        raise SedscopeError(f"segment={seconds!r} must be a number of seconds, at least 1e-6.")
    return ticks


def _used_chunks(
    scores: Scores, truth: GroundTruth, unreferenced: Unreferenced, classes: Iterable[str] | None
) -> list[str]:
    """Return the chunks to join. Refuse those that one side lacks."""
    used = [*truth.clips]
    if unreferenced == "drop":
        evaluated = truth.labels if classes is None else stripped(classes)
        names = (*truth.labels, *truth.ignored_labels)
        referenced = np.array([label in evaluated for label in names], bool)[truth.event_labels]
        referenced &= ~truth.ignored
        with_events = set(truth.event_clips[referenced].tolist())
        used = [clip for number, clip in enumerate(truth.clips) if number in with_events]
        if not used:
            raise SedscopeError("No chunk has reference events.")
    else:
        listed = set(used)
        unlisted = [clip for clip in scores if clip not in listed]
        refuse(unlisted, "chunk", "has scores but no row in the ground truth")
    without_scores = [clip for clip in used if clip not in scores]
    refuse(without_scores, "chunk", "has no scores")
    return used


def _ends(
    recordings: Mapping[str, Sequence[Chunk]], truth: GroundTruth, durations: Mapping[str, float] | None
) -> dict[str, int] | None:
    """Return where recordings end: where they are said to, or with their last chunk. None if unknown."""
    if durations is not None:
        stated = duration_ticks(durations)
        missing = [recording for recording in recordings if recording not in stated]
        refuse(missing, "recording", "has no duration", "Add them to durations=.")
        return {recording: stated[recording] for recording in recordings}
    lengths: dict[str, int] = {}
    if truth.durations is not None:
        lengths = dict(zip(truth.clips, truth.durations.tolist(), strict=True))
    ends: dict[str, int] = {}
    for recording, parts in recordings.items():
        of_chunks = [chunk.length or lengths.get(chunk.clip) for chunk in parts]
        known = [
            chunk.start + extent
            for chunk, extent in zip(parts, of_chunks, strict=True)
            if extent is not None
        ]
        if len(known) < len(parts):
            return None
        ends[recording] = max(known)
    return ends


def _joined_events(truth: GroundTruth, recordings: Mapping[str, Sequence[Chunk]]) -> EventColumns:
    """Return the events of the recordings. Those of one class that overlap or touch are one."""
    number = {clip: i for i, clip in enumerate(truth.clips)}
    starts = np.searchsorted(truth.event_clips, np.arange(len(truth.clips) + 1))
    labels = truth.names_of(np.arange(len(truth)))
    rows: list[tuple[str, str, bool, int, int]] = []
    for recording, parts in recordings.items():
        by_label: dict[tuple[str, bool], list[tuple[int, int]]] = {}
        for chunk in parts:
            clip = number[chunk.clip]
            for event in range(starts[clip], starts[clip + 1]):
                times = (int(truth.onsets[event]) + chunk.start, int(truth.offsets[event]) + chunk.start)
                by_label.setdefault((labels[event], bool(truth.ignored[event])), []).append(times)
        for (label, ignored), spans in by_label.items():
            rows += [(recording, label, ignored, *span) for span in _merged(spans)]
    return EventColumns(
        clip=[row[0] for row in rows],
        onset=np.array([row[3] for row in rows], np.int64),
        offset=np.array([row[4] for row in rows], np.int64),
        label=[row[1] for row in rows],
        where="event {}".format,
        ignored=np.array([row[2] for row in rows], bool),
    )


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that overlap or touch.

    >>> _merged([(4, 5), (0, 2), (2, 3)])
    [(0, 3), (4, 5)]
    """
    merged: list[tuple[int, int]] = []
    for onset, offset in sorted(spans):
        if merged and onset <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], offset))
        else:
            merged.append((onset, offset))
    return merged


def _join(
    chunks: Sequence[tuple[Chunk, ClipScores]], length: int, end: int | None, uncovered: float | None
) -> ClipScores:
    """Return the scores of the segments of one recording. What lies after its end is left out."""
    check_lengths(chunks)
    if end is None:
        end = max(chunk.start + (chunk.length or int(clip.ticks[-1])) for chunk, clip in chunks)
    number = -(-end // length)
    refuse_beyond_memory(
        16.0 * number * (1 + chunks[0][1].values.shape[1]),
        f"{number} segments of {length / TICKS_PER_SECOND:g} s need",
        "Use longer segments, and check where the last chunk begins.",
    )
    rows, segments_of_rows = [], []
    for chunk, clip in chunks:
        segments = -(-(chunk.length or int(clip.ticks[-1])) // length)
        first = chunk.start // length
        segments = max(0, min(segments, number - first))
        means, covered = segment_means(clip, length, segments)
        rows.append(means[covered])
        segments_of_rows.append(first + np.flatnonzero(covered))
    ticks = np.minimum(np.arange(number + 1, dtype=np.int64) * length, end)
    segment = np.concatenate(segments_of_rows)
    scores = group_means(np.concatenate(rows), segment, number)
    empty = np.setdiff1d(np.arange(number), segment)
    if len(empty) and uncovered is not None:
        scores[empty] = uncovered
    elif len(empty):
        spans = [f"{ticks[i] / 1e6:.10g}–{ticks[i + 1] / 1e6:.10g} s" for i in empty.tolist()]
        raise SedscopeError(
            f"No chunk covers {listing(spans)}. If chunks are missing, add them. Give the score of such "
            "segments with uncovered=, e.g. uncovered=0.0 for probabilities."
        )
    return ClipScores.unchecked(scores, ticks)


def segment_means(clip: ClipScores, length: int, segments: int) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the mean scores of a clip in segments, weighted by time, and which segments have frames.

    >>> clip = ClipScores([[0.0], [1.0], [4.0]], edges=[0.0, 0.5, 1.5, 1.75])
    >>> means, covered = segment_means(clip, 1_000_000, 3)
    >>> means[covered].ravel().tolist(), covered.tolist()
    ([0.5, 2.0], [True, True, False])
    """
    begin: Ticks = np.arange(segments, dtype=np.int64) * length
    covered = (begin < clip.ticks[-1]) & (begin + length > clip.ticks[0])
    if not covered.any():
        return np.zeros((segments, clip.values.shape[1])), covered
    columns = np.arange(clip.values.shape[1], dtype=np.int64)
    clips = _native.Clips([clip.values], [clip.ticks], columns)
    starts, durations = np.array([0, segments]), np.array([segments * length])
    scores = _native.Segmentation(length, mean=True).find_scores(clips, starts, durations, 1)
    means: FloatArray = scores.astype(np.float64, copy=False)
    if not np.isfinite(clip.values).all():  # the core has -inf where a mean is not a number
        for i in np.flatnonzero(covered).tolist():
            frames = (clip.ticks[:-1] < begin[i] + length) & (clip.ticks[1:] > begin[i])
            with np.errstate(invalid="ignore"):
                means[i, np.isnan(clip.values[frames].sum(axis=0))] = np.nan
    return means, covered
