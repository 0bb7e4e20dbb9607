"""What scores are made from in memory: arrays, pieces, functions and tables, checked clip by clip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, listing, located, raise_together, refuse, refuse_nul, subject
from .choices import Gaps, check_choice
from .clip_events import ClipEvents, kept_events_error
from .clip_scores import ClipPieces, ClipScores, Grid, as_scores, check_shape, whole_clip_error
from .clips import clip_id
from .labels import stripped
from .tables import FrameLike, as_frame

if TYPE_CHECKING:
    from .label_maps import AppliedMap
    from .scores import Scores


@dataclass(frozen=True, eq=False)
class ScoreSource:
    """Where the scores of clips come from, and what is known about them besides their values.

    The functions take the name of a clip as it was given, which may have a folder and a suffix.
    """

    load: Callable[[str], ClipScores | ClipPieces | ClipEvents]
    classes: tuple[str, ...]
    """In the order of the columns. White space around their names is removed."""
    in_memory: bool | Callable[[], bool] = False
    """Whether loading costs nothing, now. Then no clip may come in pieces."""
    thread_safe: bool = False
    """Whether `load` may be called from several threads at once."""
    whole_clips: bool = True
    """Whether the last frame boundary of a clip is the end of the clip."""
    identify: Callable[[str], str | None] | None = None
    """Returns a text that changes whenever the scores of a clip do, or None if it cannot tell."""
    processing: tuple[str, ...] = ()
    """How the scores were post-processed, one definition per step."""
    assumed_classes: frozenset[str] = frozenset()
    """The classes that are known from the ground truth only. A list of detections does not say which classes
    it never detects."""
    assumed_clips: frozenset[str] = frozenset()
    """The clips that the output of the system does not name, and in which nothing is detected."""
    locate: Callable[[str], Sequence[str] | None] | None = None
    """Returns where the scores of each frame of a clip are, as ``file:line``, for messages."""
    label_maps: tuple[AppliedMap, ...] = ()
    """The label maps that gave the classes their names."""
    recut: Callable[[Callable[[Scores], Scores]], Scores] | None = None
    """For scores that were cut out of recordings: applies a function to the whole recordings, and cuts the
    result in the same way."""

    shifted_windows: int | None = None
    """For windows of one length, their length in microseconds, if some do not begin at a multiple of it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", check_classes(self.classes))
        for name, kind in (
            ("processing", tuple),
            ("assumed_classes", frozenset),
            ("assumed_clips", frozenset),
            ("label_maps", tuple),
        ):
            object.__setattr__(self, name, kind(getattr(self, name)))


def whole_clip(clip: str, scores: ClipScores | ClipPieces | ClipEvents) -> ClipScores:
    """Refuse clips that have no scores as a whole: those in pieces, and events that are kept."""
    if isinstance(scores, ClipScores):
        return scores
    if isinstance(scores, ClipEvents):
        raise kept_events_error(clip_id(clip))
    raise whole_clip_error(clip_id(clip))


def frames_or_events(clip: str, scores: ClipScores | ClipPieces | ClipEvents) -> ClipScores | ClipEvents:
    """Refuse clips in pieces."""
    if isinstance(scores, ClipPieces):
        raise whole_clip_error(clip_id(clip))
    return scores


def check_classes(classes: Iterable[str]) -> tuple[str, ...]:
    """Check the names of classes, and remove white space around them."""
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}.")
    labels = stripped(classes)
    if not labels:
        raise SedscopeError("There are no classes.")
    wrong = [repr(label) for label in labels if not (isinstance(label, str) and label)]
    if wrong:
        raise SedscopeError(f"Class names must be non-empty strings, not {listing(wrong)}.")
    refuse_nul(labels, "class")
    if len(set(labels)) < len(labels):
        refuse(sorted({label for label in labels if labels.count(label) > 1}), "class", "is named twice")
    return labels


def protected(clip: ClipScores) -> ClipScores:
    """Return the scores of a clip in arrays that only sedscope can change: others than read-only ones are
    copied."""
    values, ticks = clip.values, clip.ticks
    return ClipScores.unchecked(
        values if _is_read_only(values) else values.copy(order="K"),
        ticks if _is_read_only(ticks) else ticks.copy(),
    )


def _is_read_only(array: NDArray[Any]) -> bool:
    """Return whether an array and all arrays that it is a view of are read-only."""
    memory: object = array
    while isinstance(memory, np.ndarray):
        if memory.flags.writeable:
            return False
        memory = memory.base
    # whatever an array lies in has a buffer, which its type does not say
    return memory is None or memoryview(memory).readonly  # type: ignore[arg-type]


def clips_of_arrays(arrays: Mapping[str, ArrayLike], grid: Grid, classes: int) -> dict[str, ClipScores]:
    """Make clips from arrays. All problems are reported together."""
    if not isinstance(arrays, Mapping):
        raise SedscopeError(f"Give a mapping from clips to arrays, not {type(arrays).__name__}.")
    clips: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for name in arrays:
        try:
            clip = whole_clip(name, _checked_clip(name, arrays[name], grid, classes))
            # a mapping that is not a dict may make its arrays one after the other in one place
            clips[name] = clip if isinstance(arrays, dict) else protected(clip)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    return clips


def check_pieces(clips: Mapping[str, ClipPieces]) -> None:
    """Refuse clips that are not in pieces."""
    if not isinstance(clips, Mapping):
        raise SedscopeError(f"Give a mapping from clips to ClipPieces, not {type(clips).__name__}.")
    wrong = [name for name, clip in clips.items() if not isinstance(clip, ClipPieces)]
    refuse(wrong, "clip", "is not ClipPieces")


def loader_of_function(
    function: Callable[[str], ArrayLike | ClipScores | ClipPieces], grid: Grid | None, classes: int
) -> Callable[[str], ClipScores | ClipPieces]:
    """Return a function that calls a function of the user and checks what it returns."""

    def load(name: str) -> ClipScores | ClipPieces:
        clip = _checked_clip(name, function(name), grid, classes)
        return protected(clip) if isinstance(clip, ClipScores) else clip

    return load


def loader_of_tables(
    tables: Mapping[str, FrameLike], gaps: Gaps
) -> tuple[tuple[str, ...], Callable[[str], ClipScores]]:
    """Return the classes of score tables, and a function that turns one of them into a clip."""
    if tables is not None and not isinstance(tables, Mapping):
        raise SedscopeError(f"Give a mapping from clips to tables, not {type(tables).__name__}.")
    if not tables:
        raise SedscopeError("There are no score tables.")
    check_choice(Gaps, gaps=gaps)
    name, table = next(iter(tables.items()))
    classes = table_classes(table, where=f"clip {clip_id(name)}")

    def load(name: str) -> ClipScores:
        return clip_from_table(tables[name], classes, where=f"clip {clip_id(name)}", gaps=gaps)

    return classes, load


def _checked_clip(
    name: str, values: ArrayLike | ClipScores | ClipPieces, grid: Grid | None, classes: int
) -> ClipScores | ClipPieces:
    """Check what a user gives as the scores of a clip."""
    try:
        if isinstance(values, ClipPieces):
            return values
        if isinstance(values, ClipScores):
            clip = values
        elif grid is None:
            raise SedscopeError("Give frame= or edges=, or return ClipScores.")
        else:
            array = as_scores(values)
            check_shape(array)
            clip = ClipScores.from_ticks(array, grid(name, len(array)))
        check_shape(clip.values, classes)
        return clip
    except (SedscopeError, OverflowError) as error:
        raise SedscopeError(f"clip {clip_id(name)}: {error}") from None


TIME_COLUMNS = ["onset", "offset"]


def table_classes(table: FrameLike, where: str) -> tuple[str, ...]:
    """Return the classes of a score table ``onset offset class…``."""
    return header_classes(_times_first(as_frame(table, where).columns), where)


def _times_first(columns: Sequence[str]) -> list[str]:
    """Put the times of a data frame first, where they stand in a file."""
    if not {*TIME_COLUMNS} <= {*columns}:
        return [*columns]
    return [*TIME_COLUMNS, *(name for name in columns if name not in TIME_COLUMNS)]


def clip_from_table(
    table: FrameLike, classes: Sequence[str], where: str, gaps: Gaps = "error"
) -> ClipScores:
    """Make the scores of a clip from a score table, with the columns in the order of the classes."""
    frame = as_frame(table, where)
    check_same_classes(header_classes(_times_first(frame.columns), where), classes, where)
    if len(frame) == 0:
        raise SedscopeError(f"{where}: the score table has no rows. It needs a row for each frame.")
    with located(where):
        values = [frame[label].to_numpy() for label in classes]
        floats = [column if column.dtype == np.float32 else as_scores(column) for column in values]
        dtype = np.result_type(*(column.dtype for column in floats))
        array = np.stack([column.astype(dtype, copy=False) for column in floats], axis=1)
        onsets, offsets = (frame[name].to_numpy() for name in TIME_COLUMNS)
        return ClipScores.from_frames(array, onsets, offsets, gaps=gaps)


CLIP_COLUMNS = ("clip", "filename", "clip_id")


def tables_by_clip(table: FrameLike) -> dict[str, Any] | None:
    """Split a long table of frames by its clips; None if it is a table of events, which has labels."""
    frame = as_frame(table, "scores")
    names = [column for column in frame.columns if column in CLIP_COLUMNS]
    classes = [column for column in frame.columns if column not in (*names, *TIME_COLUMNS)]
    numeric = all(frame.schema[label].is_numeric() for label in classes)
    if len(names) != 1 or not {*TIME_COLUMNS} <= {*frame.columns} or not classes or not numeric:
        return None
    (name,) = names
    if frame[name].null_count():
        raise SedscopeError(f"scores: {subject(frame[name].null_count(), 'row', 'has')} no {name}.")
    parts = frame.group_by(name)
    return {str(key[0]): part.select(*TIME_COLUMNS, *classes).to_native() for key, part in parts}


def header_classes(header: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the classes that the header of a score table names."""
    if list(header[:2]) != TIME_COLUMNS or len(header) < 3:
        raise SedscopeError(
            f"{where}: a score table has the columns onset, offset and one per class, but this one has "
            f"{listing([repr(name) for name in header])}.{_separator_hint(header)}"
        )
    if "" in header:
        raise SedscopeError(
            f"{where}: a column has no name. The columns are {listing([repr(name) for name in header])}."
        )
    return tuple(header[2:])


def _separator_hint(header: Sequence[str]) -> str:
    """Say that the columns must be separated by tabs, if the only name looks like several."""
    names = {",": "commas", ";": "semicolons", " ": "spaces"}
    for separator, name in names.items():
        if len(header) == 1 and header[0].startswith(f"onset{separator}"):
            return f" Separate the columns by tabs, not by {name}."
    return ""


def check_same_classes(classes: Sequence[str], expected: Sequence[str], where: str) -> None:
    """Refuse a score table whose classes differ from those of the first one."""
    actual_set, expected_set = set(classes), set(expected)
    missing = [label for label in expected if label not in actual_set]
    unknown = [name or repr(name) for name in classes if name not in expected_set]
    if missing or unknown:
        differences = [f"it lacks {listing(missing)}"] if missing else []
        differences += [f"it adds {listing(unknown)}"] if unknown else []
        raise SedscopeError(
            f"{where}: the classes differ from those of the first clip: {' and '.join(differences)}."
        )
