"""What is evaluated, in any form: a system and its reference events, from files or from memory.

Functions with a pass take what this module takes, and so does the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ..data.choices import Coverage
from ..data.ground_truth import GroundTruth
from ..data.scores import Scores
from ..data.tables import FrameLike
from ..errors import SedscopeError, listing

if TYPE_CHECKING:
    from ..alignment.regions import RegionTruth
    from ..io.event_files import TruthReading
    from ..io.locations import Location
    from ..io.systems import DetectionSets, SystemReading

SystemLike: TypeAlias = "Scores | str | Location | Mapping[str, Any] | FrameLike"
"""A system: its scores; a path; a table that :func:`read_scores` reads; a mapping from clips to arrays, data
frames or lists of events; or one data frame, of frames or of events."""

TruthLike: TypeAlias = "GroundTruth | str | Location | Mapping[str, Any] | FrameLike"
"""Reference events: a path, a mapping from clips to lists of events, or a data frame."""


class Reading(TypedDict, total=False):
    """How a function reads what is not in memory yet."""

    durations: str | Location | Mapping[str, float] | FrameLike
    """Durations of the clips in seconds."""
    frame: float
    """Length of frames in seconds, for arrays and files that do not state it."""
    system_reading: SystemReading
    truth_reading: TruthReading


def as_inputs(
    system: SystemLike,
    truth: TruthLike,
    classes: Iterable[str] | None,
    coverage: Coverage,
    reading: Reading,
) -> tuple[Scores | DetectionSets, GroundTruth]:
    """Return a system and its reference events. ``classes``: the columns of arrays."""
    if isinstance(system, Scores):
        _refuse(reading, "frame", "scores", "Scores.from_arrays, or give arrays or a path")
    references = as_truth(truth, reading)
    return as_system(system, references, reading, classes, coverage), references


def as_scores(
    system: SystemLike,
    truth: TruthLike,
    classes: Iterable[str] | None,
    coverage: Coverage,
    reading: Reading,
) -> tuple[Scores, GroundTruth]:
    """Return scores and reference events. Refuse detections by threshold."""
    scores, references = as_inputs(system, truth, classes, coverage, reading)
    return require_scores(scores, system, "this evaluation"), references


def as_truth(truth: TruthLike, reading: Reading) -> GroundTruth:
    """Return reference events, read them, or make them of what is in memory."""
    refuse_unknown(reading)
    if isinstance(truth, GroundTruth):
        for word in ("durations", "truth_reading"):
            _refuse(reading, word, "ground truth", "GroundTruth.from_dict or read_ground_truth")
        return truth
    from ..io.event_files import TruthReading, read_truth

    of_truth = reading.get("truth_reading") or TruthReading()
    if reading.get("durations") is not None:
        of_truth = replace(of_truth, durations=reading["durations"])
    return read_truth(truth, of_truth)


def refuse_unknown(reading: Reading) -> None:
    """Refuse keyword arguments that say nothing about reading."""
    unknown = sorted({*reading} - {*Reading.__annotations__})
    if unknown:
        from ..io.event_files import TruthReading
        from ..io.systems import SystemReading

        word = unknown[0]
        places = {"system_reading": SystemReading, "truth_reading": TruthReading}
        known = [
            f"{place}=sed.{kind.__name__}({word}=…)"
            for place, kind in places.items()
            if word in {of_reading.name for of_reading in fields(kind)}
        ]
        raise TypeError(
            f"unexpected keyword argument {word!r}; inputs are read with "
            f"{' or '.join(known) or listing([*Reading.__annotations__])}"
        )


def as_system(
    system: SystemLike,
    truth: GroundTruth,
    reading: Reading,
    classes: Iterable[str] | None = None,
    coverage: Coverage = "error",
) -> Scores | DetectionSets:
    """Return the scores of a system, or detections by threshold; read them, or make them.

    Detections by threshold keep their labels, which change when they are evaluated. If the truth is cut to
    regions, what is read or made is as well. ``coverage="trim"`` cuts scores to their clips.
    """
    scores = _read_or_made(system, truth, reading, classes)
    if coverage != "trim":
        return scores
    from ..alignment.regions import trimmed

    return trimmed(require_scores(scores, system, "`coverage='trim'`"), truth)


def _read_or_made(
    system: SystemLike, truth: GroundTruth, reading: Reading, classes: Iterable[str] | None
) -> Scores | DetectionSets:
    """Return the scores of a system as they are, or detections by threshold."""
    of_system = reading.get("system_reading")
    if isinstance(system, Scores):
        return system if of_system is None else of_system._as_read(system)
    from ..io.systems import SystemReading, read_system, refuse_other_speakers

    of_system = of_system or SystemReading()
    if reading.get("frame") is not None:
        of_system = replace(of_system, frame=reading["frame"])
    regions: RegionTruth | None = None
    if type(truth) is not GroundTruth:
        from ..alignment.regions import RegionTruth

        regions = truth if isinstance(truth, RegionTruth) else None
    recordings = truth if regions is None else regions.recordings
    read = read_system(system, recordings, of_system, classes=classes)
    if isinstance(read, Scores):
        refuse_other_speakers(read, truth, system, of_system)
    return (
        read
        if regions is None
        else regions.cut_scores(require_scores(read, system, "the cut to regions"))
    )


def require_scores(system: Scores | DetectionSets, where: object, user: str) -> Scores:
    """Refuse detections by threshold. ``user``: what needs scores."""
    if isinstance(system, Scores):
        return system
    thresholds = listing([f"{threshold:g}" for threshold in system])
    name = "The system" if isinstance(where, Mapping) else where
    raise SedscopeError(
        f"{name} holds detections at the thresholds {thresholds}, but {user} needs scores."
    )


def _refuse(reading: Reading, word: str, what: str, where: str) -> None:
    """Refuse an option of reading for something that is in memory already."""
    if reading.get(word) is not None:
        verb = "are" if what == "scores" else "is"
        raise SedscopeError(
            f"The {what} {verb} in memory, so {word}= cannot be used. Give it to {where}."
        )
