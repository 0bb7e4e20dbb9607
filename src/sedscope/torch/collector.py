"""Deltas batch by batch, for as long as batches come, and put together at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..counting.checked_clips import whole_clips
from ..counting.delta_bytes import pack_deltas, unpack_deltas
from ..counting.deltas import Deltas
from ..counting.floors import Floor
from ..counting.one_pass import one_pass
from ..counting.request import Requests
from ..criteria import Criterion
from ..data.alignment import Alignment, Missing, align
from ..data.ground_truth import GroundTruth
from ..data.scores import ClipScores, ScoreArray, Scores
from ..data.times import Ticks
from ..errors import SedscopeError, counted, listing
from ..evaluation.notes import late_events_note
from ..metrics import Metric
from ..metrics.requests import delta_requests
from ..postprocessing import PostProcessing
from .batch import Batch

_BLOCK = 16 * 2**20

Repeats: TypeAlias = Literal["error", "first"]


@dataclass(frozen=True, eq=False)
class Part:
    """The deltas of some clips, one for each criterion, and checksums of the clips."""

    deltas: tuple[Deltas, ...]
    digests: NDArray[np.uint64]

    @property
    def clips(self) -> tuple[str, ...]:
        """The clips, of all deltas the same."""
        return self.deltas[0].clips

    def of_clips(self, kept: NDArray[np.bool_]) -> Part:
        """Only some of the clips."""
        if kept.all():
            return self
        return Part(tuple(found.of_clips(kept) for found in self.deltas), self.digests[kept])

    def pack(self) -> NDArray[np.uint8]:
        """The part as bytes; those of several parts may follow one another."""
        packed: NDArray[np.uint8] = np.append(pack_deltas(self.deltas), self.digests.view(np.uint8))
        return packed


@dataclass(frozen=True, eq=False)
class Taken:
    """Clips that were not seen before, with their references and checksums."""

    alignment: Alignment
    digests: NDArray[np.uint64]
    bytes: int
    """That the scores take."""


class Seen:
    """What is to be known of the clips so far when another batch comes.

    Where metrics do not look below floors, clips are held for a while before their deltas are found: the
    more clips are known, the higher the floors are.
    """

    def __init__(self, wanted: Requests, classes: int, durations: Ticks | None, *, hold: bool) -> None:
        """``durations``: of all clips that may come, None if they are not known; ``hold``: whether clips
        may be held."""
        self.digests: dict[str, int] = {}
        self.durations = durations
        self.wanted = {
            criterion: replace(want, false_positive_limit=None) for criterion, want in wanted.items()
        }
        self.floors = {
            (criterion, variant): Floor(want.false_positive_limit, classes)
            for criterion, want in wanted.items()
            for variant in (None, *want.variants)
            if want.false_positive_limit is not None and durations is not None
        }
        self.holds = hold and {*self.floors} == {(criterion, None) for criterion in wanted}
        self.held: list[Taken] = []
        self.held_bytes = 0
        self._memory = np.empty(0, np.uint8)

    def kept(self, values: ScoreArray) -> ScoreArray:
        """A copy of scores that are to be held, in memory that is taken in large blocks: then the system
        hands it out many times faster."""
        if values.nbytes > len(self._memory):
            self._memory = np.empty(max(values.nbytes, _BLOCK), np.uint8)
        size = values.nbytes
        block, self._memory = self._memory[:size], self._memory[-(-size // 64) * 64 :]
        copy: ScoreArray = block.view(values.dtype).reshape(values.shape)
        copy[...] = values
        return copy

    def let_go(self) -> None:
        """Nothing is held any more."""
        self.held, self.held_bytes, self._memory = [], 0, np.empty(0, np.uint8)

    def hold(self, taken: Taken) -> None:
        """Keep clips for later; what is wrong with them is said now."""
        (checked,) = whole_clips(taken.alignment, 1, None)
        batch = checked.batch
        for criterion, variant in self.floors:
            self._raise_floor(criterion, variant, batch.maxima, batch.event_clips, batch.labels)
        self.digests.update(zip(taken.alignment.clips, taken.digests.tolist(), strict=True))
        self.held.append(taken)
        self.held_bytes += taken.bytes

    def add(self, part: Part) -> None:
        """Take note of clips whose deltas were found."""
        self.digests.update(zip(part.clips, part.digests.tolist(), strict=True))
        nothing = np.empty(0, np.int32)
        for deltas in part.deltas:
            for variant, found in ((None, deltas), *deltas.variants.items()):
                if (deltas.criterion, variant) in self.floors:
                    largest: Any = found.largest_without_references().T
                    self._raise_floor(deltas.criterion, variant, largest, nothing, nothing)

    def _raise_floor(
        self,
        criterion: Criterion,
        variant: PostProcessing | None,
        maxima: ScoreArray,
        event_clips: NDArray[np.int32],
        labels: NDArray[np.int32],
    ) -> None:
        floor = self.floors[criterion, variant]
        risen = floor.raise_to(maxima, event_clips, labels, self.durations).astype(np.float64)
        want = self.wanted[criterion]
        self.wanted[criterion] = replace(want, floors={**want.floors, variant: risen})


class BatchCollector:
    """Finds the deltas that metrics want, batch by batch, and puts them together."""

    def __init__(
        self,
        metrics: tuple[Metric[Any], ...],
        classes: Iterable[str],
        *,
        frame: float,
        truth: GroundTruth | None,
        missing: Missing,
        repeats: Repeats,
        postprocessing: PostProcessing | None,
        threads: int | None,
    ) -> None:
        if repeats not in ("error", "first"):
            raise SedscopeError(f"repeats={repeats!r}: choose 'error' or 'first'")
        if postprocessing is not None and not isinstance(postprocessing, PostProcessing):
            raise SedscopeError(f"not a post-processing: {postprocessing!r}")
        self.metrics = metrics
        self.wanted = delta_requests(metrics)
        self.classes = Scores.from_arrays({}, classes=classes, frame=frame).classes
        self.frame = float(frame)
        self.missing = missing
        self.repeats = repeats
        self.postprocessing = postprocessing
        self.threads = threads
        self.truth = None if truth is None else _prepared(truth, self.classes, missing)
        self.rows = (
            {} if self.truth is None else {clip: i for i, clip in enumerate(self.truth.clips[:-1])}
        )

    @cached_property
    def definition(self) -> NDArray[np.uint8]:
        """What the deltas depend on beside the batches, in short."""
        digest = hashlib.blake2b(digest_size=16)
        words = (self.classes, self.frame, self.missing, self.repeats, self.postprocessing, self.wanted)
        digest.update(repr(words).encode())
        if self.truth is not None:
            digest.update(repr((self.truth.clips, self.truth.invalid)).encode())
            for array in (self.truth.events, self.truth.labels, self.truth.starts, self.truth.durations):
                digest.update(np.ascontiguousarray(array).tobytes())
        return np.array([*digest.digest()], np.uint8)

    def nothing_seen(self) -> Seen:
        """Before the first batch.

        Floors need the duration of all clips, and that a clip that counts towards a floor is counted.
        """
        durations = None
        if self.truth is not None and self.missing == "error" and self.repeats == "error":
            durations = self.truth.durations[:-1]
        if durations is not None and (durations == 0).any():
            durations = None
        return Seen(self.wanted, len(self.classes), durations, hold=self.postprocessing is None)

    def take(self, batch: Batch, seen: Seen) -> Taken | None:
        """The clips that were not seen; None if there are none of these."""
        self._check(batch)
        digests = batch.digests()
        new = self._not_seen(batch.clips, digests.tolist(), seen)
        if not len(new):
            return None
        chosen = batch.choose(new)
        if seen.holds:
            chosen = replace(chosen, values=seen.kept(chosen.values))
        scores = chosen.scores(self.classes, self.frame)
        return Taken(self._aligned(chosen, scores), digests[new], chosen.values.nbytes)

    def find(self, taken: Sequence[Taken], seen: Seen) -> Part:
        """The deltas of clips, as far down as is wanted by now."""
        alignment = taken[0].alignment if len(taken) == 1 else self._together(taken)
        found = one_pass(alignment, seen.wanted, threads=self.threads)
        return Part(tuple(found.values()), np.concatenate([one.digests for one in taken]))

    def unpack(self, data: NDArray[np.uint8]) -> Iterator[Part]:
        """The parts that were packed one after the other."""
        named: dict[str, Any] = {repr(criterion): criterion for criterion in self.wanted}
        named |= {repr(variant): variant for want in self.wanted.values() for variant in want.variants}
        while len(data):
            try:
                several, data = unpack_deltas(data, named)
                size = 8 * len(several[0].clips)
                digests, data = data[:size].view(np.uint64), data[size:]
            except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
                raise SedscopeError(f"the state of the metric is damaged: {error}") from None
            yield Part(tuple(several), digests)

    def merge(self, parts: Iterable[Part]) -> dict[Criterion, Deltas]:
        """The deltas of all parts; a clip that is in several of them counts once."""
        digests: dict[str, int] = {}
        different: list[str] = []
        kept: list[Part] = []
        for part in parts:
            of_part = dict(zip(part.clips, part.digests.tolist(), strict=True))
            different += [
                clip for clip, digest in of_part.items() if digests.get(clip, digest) != digest
            ]
            kept.append(part.of_clips(np.array([clip not in digests for clip in part.clips], bool)))
            digests.update((clip, of_part[clip]) for clip in kept[-1].clips)
        self._refuse(different)
        if not digests:
            raise SedscopeError("there is no clip to evaluate: no batch was given to update")
        merged = [
            first.merge(*rest) for first, *rest in zip(*(part.deltas for part in kept), strict=True)
        ]
        return {deltas.criterion: deltas for deltas in merged}

    def notes(self, deltas: Mapping[Criterion, Deltas]) -> list[str]:
        """What is odd about the ground truth, and about the clips that were seen of it."""
        if self.truth is None:
            return []
        clips = next(iter(deltas.values())).clips
        rows = self._rows(clips)
        without = len(self.rows) - len({clip for clip in clips if clip in self.rows})
        left_out = (
            f"left out, without scores: {without} of the {counted(len(self.rows), 'clip')} in the "
            "ground truth"
        )
        notes = [*self.truth.warnings, *([left_out] if without else [])]
        return notes + late_events_note(self.truth.choose(rows), deltas)

    def _not_seen(self, clips: Sequence[str], digests: Sequence[int], seen: Seen) -> NDArray[np.intp]:
        """The numbers of the clips that were not seen before, also not in the same batch."""
        known: dict[str, int] = {}
        different, new = [], []
        for i, (clip, digest) in enumerate(zip(clips, digests, strict=True)):
            before = known.get(clip, seen.digests.get(clip))
            if before is None:
                new.append(i)
                known[clip] = digest
            elif before != digest:
                different.append(clip)
        self._refuse(different)
        return np.array(new, np.intp)

    def _refuse(self, different: Sequence[str]) -> None:
        if different and self.repeats == "error":
            raise SedscopeError(
                f"given again with other scores or targets: {counted(len(different), 'clip')}: "
                f"{listing(different)}. Reset the metric after each epoch; if scores of a clip "
                "depend on its batch, keep the first with repeats='first'"
            )

    def _rows(self, clips: Sequence[str]) -> NDArray[np.intp]:
        """The number of each clip in the ground truth; that of no events for clips that it lacks."""
        return np.array([self.rows.get(clip, len(self.rows)) for clip in clips], np.intp)

    def _together(self, taken: Sequence[Taken]) -> Alignment:
        """Clips that were held, which there are only with a ground truth."""
        assert self.truth is not None
        made = {clip: scores for one in taken for clip, scores in one.alignment.scores.items()}
        scores = Scores(made, made.__getitem__, classes=self.classes, in_memory=True, thread_safe=True)
        return replace(self.truth.choose(self._rows([*made])), scores=scores, clips=tuple(made))

    def _aligned(self, batch: Batch, scores: Scores) -> Alignment:
        if self.postprocessing is not None:
            scores = self.postprocessing(scores)
        if self.truth is None:
            return batch.aligned(scores, self.frame)
        chosen = self.truth.choose(self._rows(batch.clips))
        return replace(chosen, scores=scores, clips=batch.clips)

    def _check(self, batch: Batch) -> None:
        """Refuse a batch without references, or with two kinds of them."""
        if self.truth is None and batch.targets is None:
            raise SedscopeError(
                "there is no ground truth: give truth= when making the metric, or targets to update"
            )
        if self.truth is not None and batch.targets is not None:
            raise SedscopeError("the metric has a ground truth already: update takes no targets then")
        unlisted = [clip for clip in batch.clips if self.truth is not None and clip not in self.rows]
        if unlisted and self.missing == "error":
            raise SedscopeError(
                f"not in the ground truth: {counted(len(unlisted), 'clip')} with scores: "
                f"{listing(unlisted)}. If they have no events, say so with missing='empty'"
            )


def _prepared(truth: GroundTruth, classes: tuple[str, ...], missing: Missing) -> Alignment:
    """The ground truth of all clips, and at its end a clip without events for those that it lacks."""
    names = truth.clips if isinstance(truth, GroundTruth) else ()
    aligned = align(Scores(names, _no_scores, classes=classes), truth, missing=missing)
    return replace(
        aligned,
        clips=(*aligned.clips, ""),
        starts=np.append(aligned.starts, aligned.starts[-1]),
        durations=np.append(aligned.durations, np.int64(0)),
    )


def _no_scores(clip: str) -> ClipScores:
    raise SedscopeError(f"clip {clip} has no scores yet")
