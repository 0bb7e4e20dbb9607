"""Files of named arrays (npz, HDF5): which array holds what. Clips are cut out of them when needed.

There are three layouts: one array of frames × classes per clip; one array of clips × frames × classes
with the ids of the clips; one array with the frames of all clips, one after the other, with ids and
numbers of frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.clip_scores import ClipScores, as_scores
from ...data.clips import clip_id
from ...data.scores import Scores, ScoreSource
from ...data.times import Ticks, check_ticks, frame_ticks, to_ticks, warn_of_milliseconds
from ...errors import SedscopeError, counted, listing, located
from .format import ScoreReadOptions

CLASSES = ("classes", "class_names", "labels", "event_labels")
CLIPS = ("clips", "clip_ids", "ids", "filenames", "names")
SCORES = ("scores", "predictions", "probabilities")
FRAME = ("frame", "frame_seconds", "frame_length")
EDGES = ("edges", "timestamps")
FRAMES, TICKS, WHOLE = "frames", "ticks", "whole_clips"
_RESERVED = {*CLASSES, *CLIPS, *SCORES, *FRAME, *EDGES, FRAMES, TICKS, WHOLE}


@dataclass(frozen=True)
class ArrayFile:
    """The arrays of a file by name, read completely or in part."""

    where: str
    shapes: Mapping[str, tuple[int, ...]]
    types: Mapping[str, np.dtype[Any]]
    read: Callable[[str, slice | int], NDArray[Any]]
    attributes: Mapping[str, Any]
    thread_safe: bool

    def read_whole(self, name: str) -> NDArray[Any]:
        """Read all of an array."""
        with located(self.where):
            return self.read(name, slice(None))


def scores_from(file: ArrayFile, options: ScoreReadOptions) -> Scores:
    """Read the scores of a file, whatever its layout."""
    classes = _classes(file, options)
    name = _first(file.shapes, SCORES)
    entries = _stacked(file, name) if name is not None else _per_clip(file)
    wrong = [
        f"{clip} ({entry.columns})" for clip, entry in entries.items() if entry.columns != len(classes)
    ]
    if wrong:
        verb = "is" if len(classes) == 1 else "are"
        raise SedscopeError(
            f"{file.where}: there {verb} {counted(len(classes), 'class')}, but some arrays have another "
            f"number of columns: {listing(wrong)}."
        )
    boundaries = _boundaries(file, options, entries)

    def load(clip: str) -> ClipScores:
        entry = entries[clip]
        where = f"{file.where}, clip {clip_id(clip)}"
        with located(where):
            values = file.read(entry.array, entry.rows)[: entry.frames]
            native = values.astype(values.dtype.newbyteorder("="), copy=False)
            ticks = boundaries(entry)
            if np.any(ticks[1:] < ticks[:-1]):
                raise SedscopeError("Some frames end before they begin.")
            scores = as_scores(native)
            if scores.shape != (len(ticks) - 1, len(classes)):
                raise SedscopeError(
                    f"There are {len(ticks)} boundaries for an array of shape {scores.shape}."
                )
            return ClipScores.unchecked(scores, ticks)

    whole_clips = _scalar(file, (WHOLE,))
    source = ScoreSource(
        load,
        tuple(classes),
        thread_safe=file.thread_safe,
        whole_clips=True if whole_clips is None else bool(whole_clips),
    )
    return Scores._of(entries, source)


@dataclass(frozen=True)
class _ClipEntry:
    """Where the scores of a clip are in the file."""

    array: str
    rows: slice | int
    frames: int
    columns: int
    first_tick: int
    """The index of its first boundary among those of all clips."""


def _stacked(file: ArrayFile, name: str) -> dict[str, _ClipEntry]:
    """Find the clips in one array for all of them: clips × frames × classes, or frames × classes."""
    shape = file.shapes[name]
    ids = _first(file.shapes, CLIPS)
    if ids is None:
        raise SedscopeError(
            f"{file.where}: {name!r} needs the ids of the clips in an array {CLIPS[0]!r}."
        )
    clips = _texts(file, ids)
    lengths = _lengths(file) if FRAMES in file.shapes else None
    if len(shape) == 3:
        fits = shape[0] == len(clips) and (lengths is None or len(lengths) == len(clips))
        lengths = lengths if lengths is not None else [shape[1]] * len(clips)
        if not fits or not all(0 <= frames <= shape[1] for frames in lengths):
            raise SedscopeError(
                f"{file.where}: {name!r} has the shape {shape}, which does not fit "
                f"{counted(len(clips), 'clip')} and {FRAMES!r}."
            )
    elif len(shape) == 2 and lengths is not None and len(lengths) == len(clips):
        if sum(lengths) != shape[0] or min(lengths, default=0) < 0:
            raise SedscopeError(
                f"{file.where}: {FRAMES!r} does not add up to the {shape[0]} rows of {name!r}."
            )
    elif len(shape) == 2 and len(clips) == 1:
        lengths = [shape[0]]
    else:
        raise SedscopeError(
            f"{file.where}: {name!r} has the shape {shape}, but must be clips × frames × classes, or "
            f"frames × classes with the number of frames of each clip in {FRAMES!r}."
        )
    firsts = [0, *accumulate(lengths)]
    return {
        clip: _ClipEntry(
            array=name,
            rows=k if len(shape) == 3 else slice(firsts[k], firsts[k + 1]),
            frames=lengths[k],
            columns=shape[-1],
            first_tick=firsts[k] + k,
        )
        for k, clip in enumerate(_unique(clips, file.where))
    }


def _lengths(file: ArrayFile) -> list[int]:
    """Read the number of frames of each clip."""
    lengths = file.read_whole(FRAMES).ravel()
    is_whole = lengths.dtype.kind in "iu" or (
        lengths.dtype.kind == "f" and bool(np.all(np.isfinite(lengths) & (lengths == np.rint(lengths))))
    )
    if not is_whole:
        raise SedscopeError(f"{file.where}: {FRAMES!r} must be whole numbers, one per clip.")
    return [int(length) for length in lengths.tolist()]


def _per_clip(file: ArrayFile) -> dict[str, _ClipEntry]:
    """Find one array per clip, named after it, or in a group that is."""
    arrays = [name for name, shape in file.shapes.items() if len(shape) == 2 and name not in _RESERVED]
    if not arrays:
        present = [f"{name} {shape}" for name, shape in file.shapes.items()]
        raise SedscopeError(
            f"{file.where}: there are no scores, neither an array {SCORES[0]!r} nor an array of frames "
            f"× classes per clip. The file has {listing(present) or 'no arrays'}."
        )
    frames = [file.shapes[name][0] for name in arrays]
    firsts = [0, *accumulate(frames)]
    clips = [_named_clip(name) for name in arrays]
    return {
        clip: _ClipEntry(name, slice(None), frames[k], file.shapes[name][1], firsts[k] + k)
        for k, (clip, name) in enumerate(zip(_unique(clips, file.where), arrays, strict=True))
    }


def _named_clip(array: str) -> str:
    """Return ``clip`` for ``clip`` and ``clip/scores``."""
    group, _, name = array.rpartition("/")
    return group if group and name in SCORES else array


def _boundaries(
    file: ArrayFile, options: ScoreReadOptions, entries: Mapping[str, _ClipEntry]
) -> Callable[[_ClipEntry], Ticks]:
    """Find the frame boundaries: per clip, common to all clips, or from the frame length."""
    frame = options.frame if options.frame is not None else _scalar(file, FRAME)
    edges = _first(file.shapes, EDGES)
    if TICKS in file.shapes:
        expected = sum(entry.frames + 1 for entry in entries.values())
        if file.shapes[TICKS] != (expected,) or file.types[TICKS].kind not in "iu":
            raise SedscopeError(f"{file.where}: {TICKS!r} must be {expected} whole numbers.")
        ticks = file.read_whole(TICKS)
        with located(f"{file.where}, {TICKS!r}"):
            check_ticks(ticks)
        ticks = ticks.astype(np.int64)
        return lambda entry: ticks[entry.first_tick : entry.first_tick + entry.frames + 1]
    if edges is not None and options.frame is None:
        try:
            common = to_ticks(file.read_whole(edges).ravel())
        except (TypeError, ValueError) as error:
            raise SedscopeError(f"{file.where}, {edges!r}: {error}") from None
        longest = max(entry.frames for entry in entries.values())
        if len(common) > longest + 1:
            raise SedscopeError(
                f"{file.where}: {edges!r} has {len(common)} boundaries, but the longest clip has "
                f"{counted(longest, 'frame')} and needs {longest + 1}. Give the boundaries of these frames."
            )
        warn_of_milliseconds(common, f"{file.where}, {edges!r}")
        return lambda entry: common[: entry.frames + 1]
    try:
        if isinstance(frame, complex):
            raise ValueError(f"{frame}")
        length = float(frame) if frame is not None else None
        if length is not None and not 1e-6 <= length < 1e9:
            raise ValueError(f"{length:g} s")
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"{file.where}: the frame length is not valid: {error}.") from None
    if length is None:
        raise SedscopeError(
            f"{file.where} does not say how long frames are. Give `read_scores(frame=…)`, or an "
            f"array {FRAME[0]!r} or {EDGES[0]!r} in seconds."
        )
    return lambda entry: frame_ticks(entry.frames, length)


def _classes(file: ArrayFile, options: ScoreReadOptions) -> Sequence[str]:
    if options.classes is not None:
        return list(options.classes)
    name = _first(file.shapes, CLASSES)
    if name is not None:
        return _texts(file, name)
    name = _first(file.attributes, CLASSES)
    if name is not None:
        return [_text(value) for value in np.asarray(file.attributes[name]).ravel().tolist()]
    raise SedscopeError(
        f"{file.where} does not name its classes. Give `read_scores(classes=…)`, or an array "
        f"{CLASSES[0]!r}."
    )


def _texts(file: ArrayFile, name: str) -> list[str]:
    values = file.read_whole(name)
    if values.dtype.kind not in "USTO":
        raise SedscopeError(f"{file.where}: {name!r} must be text, not {values.dtype}.")
    return [_text(value) for value in values.ravel().tolist()]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _unique(clips: Sequence[str], where: str) -> Sequence[str]:
    if len(set(clips)) < len(clips):
        twice = sorted(clip for clip, number in Counter(clips).items() if number > 1)
        raise SedscopeError(f"{where}: {counted(len(twice), 'duplicate clip')}: {listing(twice)}.")
    return clips


def _scalar(file: ArrayFile, names: Sequence[str]) -> Any:
    name = _first(file.shapes, names)
    if name is not None and int(np.prod(file.shapes[name])) == 1:
        return file.read_whole(name).ravel()[0]
    name = _first(file.attributes, names)
    return None if name is None else file.attributes[name]


def _first(present: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in present), None)


def index_arrays(scores: Scores, clips: Sequence[str], frames: Sequence[int]) -> dict[str, NDArray[Any]]:
    """Make the small arrays that go with the scores."""
    return {
        CLASSES[0]: np.array(scores.classes, dtype=np.str_),
        CLIPS[0]: np.array(clips, dtype=np.str_),
        FRAMES: np.array(frames, dtype=np.int64),
        WHOLE: np.array(scores.whole_clips),
    }
