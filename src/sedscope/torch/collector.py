"""Finds deltas batch by batch, and merges them at the end of an epoch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..alignment.alignment import Alignment, align
from ..alignment.coverage import CoveredClips, extents_of, late_ends_note
from ..counting.checked_clips import clips_checked_before, whole_clips
from ..counting.clip_problems import refuse_point_references
from ..counting.clip_reader import thread_count
from ..counting.delta_files import unpack_deltas
from ..counting.deltas import Deltas
from ..counting.one_pass import deltas_of_batch, one_pass
from ..criteria import Criterion
from ..data.choices import Coverage, Missing, check_choice
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, Scores
from ..data.times import frame_ticks
from ..errors import SedscopeError, counted, listing, shortened, subject, without_options
from ..evaluation.notes import late_events_note, score_ranges, short_references_note, threshold_notes
from ..metrics import Metric
from ..metrics.metric import delta_requests
from ..postprocessing import PostProcessing
from .batch import Batch
from .epoch_clips import ClipDeltas, EpochClips, NewClips

Repeats: TypeAlias = Literal["error", "first"]


class BatchCollector:
    """Finds the deltas that metrics need, batch by batch, and merges them.

    The parameters are those of :class:`~sedscope.torch.SEDMetrics`.
    """

    def __init__(
        self,
        metrics: tuple[Metric[Any], ...],
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None,
        missing: Missing,
        coverage: Coverage,
        repeats: Repeats,
        postprocessing: PostProcessing | None,
        threads: int | None,
    ) -> None:
        if repeats not in ("error", "first"):
            raise SedscopeError(f"repeats={repeats!r} is not valid. Choose 'error' or 'first'.")
        check_choice(Coverage, coverage=coverage)
        if postprocessing is not None and not isinstance(postprocessing, PostProcessing):
            raise SedscopeError(
                f"postprocessing={shortened(repr(postprocessing), 40)} is not a post-processing. For that of "
                "operating points, give sed.postprocessing.PerClass(points.postprocessing)."
            )
        self.metrics = metrics
        self.requests = delta_requests(metrics)
        self.classes = Scores.from_arrays({}, classes=classes, frame=frame).classes
        self.frame = float(frame)
        self.missing = missing
        self.coverage = coverage
        self.repeats = repeats
        self.postprocessing = postprocessing
        self.threads = threads
        self.ground_truth = truth
        self.truth = None if truth is None else _align_truth(truth, self.classes, missing)
        if self.truth is not None:
            for criterion in self.requests:
                refuse_point_references(self.truth, criterion)
        self.truth_rows = (
            {} if self.truth is None else {clip: i for i, clip in enumerate(self.truth.clips[:-1])}
        )

    @cached_property
    def definition(self) -> NDArray[np.uint8]:
        """A digest of everything that the deltas depend on, apart from the batches."""
        digest = hashlib.blake2b(self.data_digest, digest_size=16)
        options = (
            "digests of 64 bits",
            self.missing,
            self.repeats,
            self.postprocessing,
            [
                (criterion, request.false_positive_limit, request.any_label, request.variants)
                for criterion, request in self.requests.items()
            ],
        )
        digest.update(repr(options).encode())
        return np.array([*digest.digest()], np.uint8)

    @cached_property
    def data_digest(self) -> bytes:
        """A digest of the ground truth, the classes and the frame, which metrics may share."""
        digest = hashlib.blake2b(repr((self.classes, self.frame)).encode(), digest_size=16)
        if self.truth is not None:
            digest.update(repr((self.truth.clips, self.truth.invalid)).encode())
            for array in (self.truth.events, self.truth.labels, self.truth.starts, self.truth.durations):
                digest.update(np.ascontiguousarray(array).tobytes())
            if self.truth.ignored.any():
                digest.update(self.truth.ignored.tobytes())
            if self.truth.uncut is not None:
                digest.update(self.truth.uncut.identity())
        return digest.digest()

    @cached_property
    def doubtful(self) -> NDArray[np.bool_]:
        """Which clips of the ground truth have events that may be refused: late or overlapping ones."""
        assert self.truth is not None
        late = self.truth.events[:, 0] >= self.truth.durations[self.truth.event_clips]
        doubtful = np.full(len(self.truth.clips), self.truth.has_overlapping_references())
        doubtful[self.truth.event_clips[late]] = True
        return doubtful

    def begin_epoch(self) -> EpochClips:
        """Return what is known before the first batch.

        A floor needs the durations of all clips, and every clip that raises a floor must be counted.
        """
        durations = None
        if self.truth is not None and self.missing == "error" and self.repeats == "error":
            durations = self.truth.durations[:-1]
        if durations is not None and (durations == 0).any():
            durations = None
        return EpochClips(self.requests, len(self.classes), durations, hold=self.postprocessing is None)

    def trimmed(self, batch: Batch) -> tuple[Batch, str]:
        """Leave out frames that begin after their clip ends; say so if clips lost more than a tenth."""
        if self.coverage != "trim" or self.truth is None:
            return batch, ""
        durations = self.truth.durations[self._rows_in_truth(batch.clips)]
        lasting = (1e6 * self.frame) * np.arange(1 + batch.lengths.max(initial=0))
        longest = int(self.truth.durations.max(initial=0))
        if (durations > 0).all() and lasting[-1] > 2 * longest:
            raise SedscopeError(
                f"The scores of a batch last {lasting[-1] / 1e6:g} s, so they go on far beyond their clips, "
                f"the longest of which lasts {longest / 1e6:g} s. Check frame=, which is in seconds, and "
                "pass lengths= for padded clips. To evaluate them as they are, use coverage='any'."
            )
        frames = np.searchsorted(np.rint(lasting), durations)
        lengths = np.where(durations > 0, np.minimum(batch.lengths, frames), batch.lengths)
        much = batch.lengths > 1.1 * lengths
        if not much.any():
            return replace(batch, lengths=lengths), ""
        note = f"The scores of {counted(int(much.sum()), 'clip')} go on more than 10 % beyond the end of the "
        note += "clip and are cut off there. Pass lengths= for padded clips. coverage='any' keeps them."
        if much.all():
            fitting = (durations / batch.lengths).max() / 1e6
            note += (
                f" If frame={self.frame:g} is wrong, frames of {fitting:.4g} s would fit the longest."
            )
        return replace(batch, lengths=lengths), note

    def select_new(self, batch: Batch, epoch: EpochClips) -> NewClips | None:
        """Return the clips of a batch that are new in this epoch; None if there are none."""
        self._check_references(batch)
        summary = batch.summarise(thread_count(self.threads))
        rows = self._new_rows(batch.clips, summary.digests.tolist(), epoch)
        if not len(rows):
            return None
        if len(rows) == len(batch.clips):
            return NewClips(batch, summary.maxima, summary.digests)
        return NewClips(batch.select(rows), summary.maxima[rows], summary.digests[rows])

    @without_options()
    def hold(self, clips: NewClips, epoch: EpochClips) -> None:
        """Hold clips for later. Invalid scores and events are refused now."""
        assert self.truth is not None
        rows = self._rows_in_truth(clips.batch.clips)
        if self.doubtful[rows].any() or np.isnan(clips.maxima).any():
            (_,) = whole_clips(self.align(clips.batch), 1, None)
        references = _references_of(self.truth, rows)
        epoch.hold(clips, rows, *references, thread_count(self.threads))

    @without_options()
    def find_held_deltas(self, epoch: EpochClips) -> ClipDeltas:
        """Find the deltas of all held clips, down to the floors of the epoch so far."""
        assert self.truth is not None
        epoch.raise_floors()
        held = epoch.held
        truth_rows, lengths, maxima, digests = held.arrays
        alignment = replace(self.truth.choose(truth_rows), clips=tuple(held.names))
        grids = [frame_ticks(length, self.frame) for length in lengths.tolist()]
        clips = clips_checked_before(alignment, _native.Clips(held.columns, grids), grids, maxima)
        deltas = deltas_of_batch(alignment, epoch.requests, clips, self.threads)
        return ClipDeltas(tuple(deltas.values()), digests)

    @without_options()
    def find_deltas(
        self, alignment: Alignment, digests: NDArray[np.uint64], epoch: EpochClips
    ) -> ClipDeltas:
        """Find the deltas of new clips, down to the floors of the epoch so far."""
        deltas = one_pass(alignment, epoch.requests, threads=self.threads)
        return ClipDeltas(tuple(deltas.values()), digests)

    def unpack(self, data: NDArray[np.uint8]) -> Iterator[ClipDeltas]:
        """Read deltas back that were packed one after the other."""
        values_by_text: dict[str, Any] = {repr(criterion): criterion for criterion in self.requests}
        for request in self.requests.values():
            values_by_text |= {repr(variant): variant for variant in request.variants}
        while len(data):
            try:
                deltas, digests, data = unpack_deltas(data, values_by_text)
            except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
                raise SedscopeError(f"The state of the metric is damaged: {error}") from None
            yield ClipDeltas(tuple(deltas), digests)

    def merge(self, parts: Iterable[ClipDeltas]) -> dict[Criterion, Deltas]:
        """Merge deltas. A clip that is in several parts counts once."""
        parts = [*parts]
        if len(parts) == 1:
            return {deltas.criterion: deltas for deltas in parts[0].deltas}
        digests: dict[str, int] = {}
        changed: list[str] = []
        distinct: list[ClipDeltas] = []
        for part in parts:
            part_digests = dict(zip(part.clips, part.digests.tolist(), strict=True))
            changed += [
                clip for clip, digest in part_digests.items() if digests.get(clip, digest) != digest
            ]
            new = part.of_clips(np.array([clip not in digests for clip in part.clips], bool))
            digests.update((clip, part_digests[clip]) for clip in new.clips)
            distinct.append(new)
        self._refuse_changed(changed)
        if not digests:
            raise SedscopeError("The metric has no clips to evaluate. Call update with a batch first.")
        merged = [
            first.merge(*rest) for first, *rest in zip(*(part.deltas for part in distinct), strict=True)
        ]
        return {deltas.criterion: deltas for deltas in merged}

    def notes(self, deltas: Mapping[Criterion, Deltas]) -> list[str]:
        """Return notes on the scores, the ground truth, and its clips that were in the batches."""
        about_scores = short_references_note(deltas)
        about_scores += threshold_notes(self.metrics, score_ranges(self.metrics, deltas))
        if self.truth is None or self.ground_truth is None:
            return about_scores
        clips = next(iter(deltas.values())).clips
        without = len(self.truth_rows) - len({clip for clip in clips if clip in self.truth_rows})
        about_all = self.ground_truth._warnings_about(self.truth_rows, self.classes)
        notes = [note for note in self.truth.warnings if note not in about_all]
        notes += self.ground_truth._warnings_about(set(clips), self.classes)
        if without:
            listed = counted(len(self.truth_rows), "clip")
            verbs = "has no scores and was" if without == 1 else "have no scores and were"
            notes.append(f"{without} of the {listed} in the ground truth {verbs} left out.")
        part = next(iter(deltas.values()))
        references = replace(self.truth.choose(self._rows_in_truth(clips)), clips=clips)
        notes += late_events_note(references, part.durations)
        if part.extents is not None:
            notes += references.unstated_ends_notes(part.durations, part.extents)
        covered = _covered_clips(deltas)
        notes += [] if covered is None else covered.notes()
        return notes + about_scores

    def target_notes(self, alignment: Alignment, epoch: EpochClips) -> list[str]:
        """Note events given as targets that end after the scores of their clip, or that all lie at the very
        beginning of the clips so far."""
        if self.truth is not None:
            return []
        extents = extents_of([alignment.scores[clip].ticks for clip in alignment.clips])
        offsets, event_clips = alignment.events[:, 1], alignment.event_clips
        return [
            *late_ends_note(alignment.clips, alignment.events, event_clips, extents),
            *epoch.first_targets.add(offsets, event_clips, extents[:, 2]),
        ]

    def require_coverage(self, deltas: Mapping[Criterion, Deltas]) -> None:
        """Refuse scores that end long before or after most of their clips, unless that is accepted."""
        covered = _covered_clips(deltas)
        if covered is not None and self.coverage != "any":
            covered.refuse()
            covered.refuse_frames()

    def _new_rows(
        self, clips: Sequence[str], digests: Sequence[int], epoch: EpochClips
    ) -> NDArray[np.intp]:
        """Return the rows of clips that are new in this epoch, each clip once."""
        batch_digests: dict[str, int] = {}
        changed: list[str] = []
        rows: list[int] = []
        for row, (clip, digest) in enumerate(zip(clips, digests, strict=True)):
            earlier = batch_digests.get(clip, epoch.digests.get(clip))
            if earlier is None:
                rows.append(row)
                batch_digests[clip] = digest
            elif earlier != digest:
                changed.append(clip)
        self._refuse_changed(changed)
        return np.array(rows, np.intp)

    def _refuse_changed(self, clips: Sequence[str]) -> None:
        if clips and self.repeats == "error":
            raise SedscopeError(
                f"{subject(len(clips), 'clip', 'occurs')} again with other scores or targets: "
                f"{listing(clips)}. Reset the metric after each epoch. If the scores of a clip depend "
                "on its batch, keep the first ones with repeats='first'."
            )

    def _rows_in_truth(self, clips: Sequence[str]) -> NDArray[np.intp]:
        """Return the row of each clip in the ground truth; that of no events for unlisted clips."""
        return np.array([self.truth_rows.get(clip, len(self.truth_rows)) for clip in clips], np.intp)

    @without_options()
    def align(self, batch: Batch) -> Alignment:
        """Align the scores of a batch with its reference events."""
        scores = batch.as_scores(self.classes, self.frame)
        if self.postprocessing is not None:
            scores = self.postprocessing(scores)
        if self.truth is None:
            return batch.align(scores, self.frame)
        references = self.truth.choose(self._rows_in_truth(batch.clips))
        return replace(references, scores=scores, clips=batch.clips)

    def _check_references(self, batch: Batch) -> None:
        """Refuse a batch without reference events, or with two kinds of them."""
        if self.truth is None and batch.targets is None:
            raise SedscopeError(
                "The metric has no ground truth. Pass truth= when you create it, or targets to update."
            )
        if self.truth is not None and batch.targets is not None:
            raise SedscopeError("The metric has a ground truth, so update must not get targets.")
        unlisted = [
            clip for clip in batch.clips if self.truth is not None and clip not in self.truth_rows
        ]
        if unlisted and self.missing == "error":
            raise SedscopeError(
                f"{subject(len(unlisted), 'clip', 'is')} not in the ground truth: {listing(unlisted)}. "
                "If clips that are not listed have no events, use missing='empty'."
            )


def _references_of(
    truth: Alignment, rows: NDArray[np.intp]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the references of clips in the ground truth: the clip of each among them, and its class."""
    numbers = truth.starts[rows + 1] - truth.starts[rows]
    event_clips = np.repeat(np.arange(len(rows), dtype=np.int32), numbers)
    before = np.cumsum(numbers) - numbers
    events = np.arange(len(event_clips)) + (truth.starts[rows] - before)[event_clips]
    return event_clips, truth.labels[events]


def _covered_clips(deltas: Mapping[Criterion, Deltas]) -> CoveredClips | None:
    """Return how much of each clip its frames cover; None if that is not known."""
    part = next(iter(deltas.values()))
    if part.extents is None:
        return None
    return CoveredClips(part.clips, part.durations, part.extents, whole_clips=True)


@without_options()
def _align_truth(truth: GroundTruth, classes: tuple[str, ...], missing: Missing) -> Alignment:
    """Align all clips of the ground truth, and append a clip without events for unlisted clips."""
    clips = truth.clips if isinstance(truth, GroundTruth) else ()
    alignment = align(Scores(clips, _no_scores, classes=classes), truth, missing=missing)
    return replace(
        alignment,
        clips=(*alignment.clips, ""),
        starts=np.append(alignment.starts, alignment.starts[-1]),
        durations=np.append(alignment.durations, np.int64(0)),
    )


def _no_scores(clip: str) -> ClipScores:
    raise SedscopeError(f"Clip {clip} has no scores yet.")
