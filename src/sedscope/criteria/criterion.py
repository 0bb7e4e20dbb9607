"""The contract of a criterion: when a reference counts as found and a detection as false.

:class:`EventCriterion` is the base of the criteria about events that the core computes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, TypeAlias

from .. import _native
from ..data.clip_events import needs_events_error
from ..data.scores import ScoreArray
from ..definitions import Defined, Registry
from ..errors import SedscopeError
from .clip_batch import AnyBatch, AnyReferences, ClipReferences, DeltaSearch, EventBatch, Recording
from .delta_tables import DeltaRows, DeltaTables, FalseAlarmRows

Share: TypeAlias = tuple[int, int]
"""Numerator and denominator."""

_SMALLEST, _LARGEST = 2.0**-62, 2**53  # smaller and larger shares act as 0 and as this


@lru_cache(maxsize=256)
def as_share(number: float) -> Share:
    """Return the simplest fraction that is the same number in double precision.

    It is what a person means who writes the number as a decimal or computes it as a quotient. A product
    with a whole number is then exact.

    >>> as_share(0.7), as_share(1 / 6), as_share(2)
    ((7, 10), (1, 6), (2, 1))
    """
    value = min(float(number), float(_LARGEST))
    if value < _SMALLEST:
        return 0, 1
    if value.is_integer():
        return int(value), 1
    below, above = (Fraction(math.nextafter(value, end)) for end in (0.0, math.inf))
    simplest = _simplest_between((below + Fraction(value)) / 2, (Fraction(value) + above) / 2)
    return simplest.numerator, simplest.denominator


def optional_share(number: float | None) -> Share | None:
    """Return :func:`as_share` of a number, and None for None."""
    return None if number is None else as_share(number)


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the smallest denominator between two others."""
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:
        return whole + Fraction(1, math.floor(1 / (high - whole)) + 1)
    return whole + 1 / _simplest_between(1 / (high - whole), 1 / (low - whole))


MatchingRule: TypeAlias = "dict[str, str | float | bool | Share | None]"
"""How a report page matches the events of one clip: the ``kind`` of rule and its parameters."""


@dataclass(frozen=True, eq=False)
class OpenDeltas:
    """The deltas of a recording whose pieces are still arriving."""

    parts: Sequence[_native.OpenRecording[Any]]
    """What the core looks for in the pieces."""
    tables: Callable[..., DeltaTables]
    """Makes the deltas of what each part has found."""

    def feed(self, piece: ScoreArray) -> None:
        """Process the next frames: (frames × classes)."""
        for part in self.parts:
            part.feed(piece)

    def finish(self) -> DeltaTables:
        """Return the deltas after the last piece."""
        return self.tables(*(part.finish() for part in self.parts))


class Criterion(Defined, ABC):
    """Base of all criteria. A criterion is a frozen dataclass whose ``repr`` is its full definition.

    It finds, for some clips, how its counts change as the threshold falls. Everything else that other
    packages need to know about it is an attribute or a method here, with a default that fits most criteria.
    """

    counts_negatives: ClassVar[bool] = False
    """Whether it judges a fixed number of segments, or all time, so that true negatives exist."""
    measures_time: ClassVar[bool] = False
    """Whether its counts are durations in microseconds, not numbers of events or segments."""
    defines_substitutions: ClassVar[bool] = False
    """Whether a missed reference and a false detection can be one error: a substitution."""
    judges_whole_clips: ClassVar[bool] = False
    """Whether parts of a clip are another matter: it gives one judgement per clip and class, or it looks far
    around each event."""
    judges_classes_alone: ClassVar[bool] = False
    """Whether the true and false positives of a class do not depend on which other classes there are."""
    skips_low_columns: ClassVar[bool] = False
    """Whether it never reads the scores of a clip and class of which none lies above the floor."""
    counts_all_references: ClassVar[bool] = True
    """Whether all references count, except those that the ground truth ignores."""
    judges_overlapping_references: ClassVar[bool] = False
    """Whether it judges each reference by itself, so that references of one class may overlap."""
    values_queries: ClassVar[bool] = False
    """Whether it gives each query, a clip and class with references, one value. The scores of its deltas
    are these values, and its true positives are the queries that reach them."""
    ranks_events: ClassVar[bool] = False
    """Whether it judges scored events one after the other, the best first. Its deltas then have a row for
    each event, in this order."""
    segment_ticks: ClassVar[int | None] = None
    """The length of the segments that it judges, in microseconds; None if it judges none, or whole clips."""
    counts_right: ClassVar[bool] = False
    """Whether it counts right detections apart from the references found, so that precision is the share of
    detections that are right."""
    judges_windows: ClassVar[bool] = False
    """Whether it judges each window that the system gives by itself, with ``judge_windows``."""
    value_name: ClassVar[str] = "value of a query"
    """What the value of a query is."""
    reads_pieces: ClassVar[bool] = False
    """Whether it can read a recording piece by piece, with ``open_deltas``."""

    def seen(self, references: AnyReferences) -> AnyReferences:
        """Return references as the criterion sees them: it may ignore more than the ground truth does.

        Parameters
        ----------
        references : ClipReferences
            The references of some clips.

        Returns
        -------
        ClipReferences
        """
        return references

    @property
    def unwrapped(self) -> Criterion:
        """The criterion itself, or the one inside that it passes some of the references to."""
        return self

    @abstractmethod
    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        """Find the deltas of some clips at scores above each class's floor.

        Parameters
        ----------
        batch : ClipBatch or EventBatch
            The clips, with their scores, or with detected events that are kept as they are and may overlap.
        search : DeltaSearch
            The floors, the number of threads, and what else is found.

        Returns
        -------
        DeltaTables
        """

    def certain_false_alarms(self, batch: AnyBatch, threads: int) -> FalseAlarmRows:
        """Find out where clips with references of a class have a false positive for certain.

        Thresholds at which too many clips have one are not counted, so a bound saves time. It must hold at
        every threshold below its score. By default, nothing is certain.

        Parameters
        ----------
        batch : ClipBatch or EventBatch
            The clips.
        threads : int
            The number of threads.

        Returns
        -------
        FalseAlarmRows
        """
        return FalseAlarmRows.none()

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        """Start finding the deltas of a recording; the result is that of :meth:`find_deltas`, bit by bit,
        wherever the recording is cut.

        Parameters
        ----------
        recording : Recording
            The recording.
        search : DeltaSearch
            The floors, the number of threads, and what else is found.

        Returns
        -------
        OpenDeltas
            It takes the pieces, one after the other.
        """
        raise NotImplementedError(f"{self} needs whole clips")

    def counting_all(self, tiou: float) -> Criterion:
        """Return the criterion by which a report counts all answers to queries at thresholds.

        Parameters
        ----------
        tiou : float
            The smallest intersection over union of a hit, unless the criterion says what a hit is.

        Returns
        -------
        Criterion
        """
        return self

    @property
    def thresholds_frames(self) -> bool:
        """Whether a threshold acts on the scores of frames, not on means over segments."""
        return True

    @property
    def latency_threshold(self) -> float | None:
        """The threshold at which it values references by their latency; None if it does not."""
        return None

    @property
    def judges_points(self) -> bool:
        """Whether it judges references and detections of no length, which are points in time."""
        return False

    @property
    def counts_cross_triggers(self) -> bool:
        """Whether false positives in events of other classes are counted by class."""
        return False

    def native(self) -> _native.OverlapCriterion | None:
        """Return the criterion of the core that judges single events; None if there is none.

        Returns
        -------
        object of the core, or None
        """
        return None

    def matching_rule(self) -> MatchingRule | None:
        """Return the rule by which a report page matches the events of a clip; None if there is none.

        Returns
        -------
        dict or None
        """
        return None


CRITERIA: Registry[Criterion] = Registry("criterion", Criterion, package=__package__)


def parse_criterion(text: str) -> Criterion:
    """Read a criterion from its definition. Parameters that are left out take their defaults.

    Parameters
    ----------
    text : str
        The definition, as ``repr`` spells it.

    Returns
    -------
    Criterion

    Examples
    --------
    >>> from sedscope.criteria import parse_criterion
    >>> parse_criterion("Collar(onset=0.5, offset=None)")
    Collar(onset=0.5, offset=None, offset_rate=0.2)
    """
    return CRITERIA.parse(text)


class EventCriterion(Criterion):
    """Base of the criteria about events that the core computes."""

    judges_classes_alone: ClassVar[bool] = True
    skips_low_columns: ClassVar[bool] = True
    reads_pieces: ClassVar[bool] = True

    @property
    def sums_errors(self) -> bool:
        """Whether the deltas include the boundary errors of the pairs."""
        return False

    def find_deltas(self, batch: AnyBatch, search: DeltaSearch) -> DeltaTables:
        core, batch = self._core(), self.seen(batch)
        pairs = None
        if search.any_label:
            pairing = self._pairing(core, batch)
            if isinstance(batch, EventBatch):
                raise SedscopeError(
                    f"Substitutions by {self} are not defined for overlapping events that are kept as they "
                    "are. Merge them with `overlaps='merge'`."
                )
            pairs = pairing.find_label_free_pairs(batch.clips, batch.truth(search))
        return event_tables(batch, batch.find_deltas(core, search), pairs, errors=self.sums_errors)

    def open_deltas(self, recording: Recording, search: DeltaSearch) -> OpenDeltas:
        core, recording = self._core(), self.seen(recording)
        truth = recording.truth(search)
        parts: list[_native.OpenRecording[Any]] = [core.open_deltas(recording.clip, truth)]
        if search.any_label:
            pairing = self._pairing(core, recording)
            parts.append(pairing.open_label_free_pairs(recording.clip, truth))
        return OpenDeltas(parts, partial(event_tables, recording, errors=self.sums_errors))

    def _core(self) -> _native.OverlapCriterion | _native.AnyOverlap:
        """Return the criterion of the core that finds deltas; usually it is the one that judges events."""
        criterion = self.native()
        if criterion is None:
            raise needs_events_error(self)
        return criterion

    def _pairing(
        self, core: _native.OverlapCriterion | _native.AnyOverlap, references: ClipReferences
    ) -> _native.PairingCriterion:
        if not isinstance(core, _native.PairingCriterion):
            raise SedscopeError(
                f"Substitutions are not defined for {self}: it does not pair detections with references."
            )
        if len(references.ignored.labels):
            raise SedscopeError(
                f"Substitutions are not defined for {self} with ignored references: a detection could be a "
                "substitution or match an ignored reference. Use a segment-based criterion, or a metric "
                "without substitutions."
            )
        return core


def event_tables(
    batch: ClipReferences,
    deltas: _native.EventDeltas,
    pairs: _native.PairDeltas | None = None,
    *,
    errors: bool = False,
) -> DeltaTables:
    """Arrange the deltas that the core finds as tables."""
    detections, cross_triggers, of_pairs = deltas.detections, deltas.cross_triggers, deltas.errors
    return DeltaTables(
        detections=DeltaRows(detections.starts, detections.scores, (detections.tp, detections.fp)),
        cross_triggers=DeltaRows(
            cross_triggers.starts, cross_triggers.scores, (cross_triggers.labels, cross_triggers.ct)
        ),
        references=batch.reference_rows(),
        errors=DeltaRows(of_pairs.starts, of_pairs.scores, (of_pairs.onset, of_pairs.offset))
        if errors
        else None,
        any_label=None if pairs is None else DeltaRows(pairs.starts, pairs.scores, (pairs.pairs,)),
        ignored=batch.ignored_rows(),
    )
