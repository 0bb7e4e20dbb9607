"""Scores of a system: per clip one number for each frame and class, higher is more confident."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SedscopeError, counted, listing, raise_together
from .chunks import Chunks, Unit
from .clip_ids import clip_id, clip_ids
from .times import Ticks, frame_ticks, to_seconds, to_ticks

if TYPE_CHECKING:
    from .recordings import ClipPieces

ScoreArray: TypeAlias = NDArray[np.float32 | np.float64]


class ClipScores:
    """The scores of one clip.

    ``values``: (frames × classes), float32 or float64 as given; ``-inf`` is never detected.
    ``ticks``: the frames + 1 frame boundaries in microseconds; ``edges``: the same in seconds.
    """

    __slots__ = ("ticks", "values")

    values: ScoreArray
    ticks: Ticks

    def __init__(self, values: ArrayLike, edges: ArrayLike) -> None:
        self.values = as_scores(values)
        self.ticks = _boundaries(edges)
        self._check()

    @classmethod
    def from_ticks(cls, values: ArrayLike, ticks: Ticks) -> ClipScores:
        """From boundaries that are microseconds already."""
        clip = cls.__new__(cls)
        clip.values = as_scores(values)
        clip.ticks = np.asarray(ticks)
        if clip.ticks.dtype.kind not in "iu":
            raise SedscopeError(f"ticks must be whole numbers of microseconds, not {clip.ticks.dtype}")
        clip.ticks = clip.ticks.astype(np.int64, copy=False)
        clip._check()
        return clip

    @classmethod
    def from_frames(cls, values: ArrayLike, onsets: ArrayLike, offsets: ArrayLike) -> ClipScores:
        """From the onset and offset of each frame, in seconds, in order.

        Where a frame does not begin at the end of the one before, a frame of ``-inf`` fills the gap.
        """
        scores = as_scores(values)
        starts, ends = _frame_times(onsets), _frame_times(offsets)
        if scores.ndim != 2 or not (starts.shape == ends.shape == scores.shape[:1]):
            raise SedscopeError("each frame needs one onset, one offset and one row of scores")
        if len(starts) == 0:
            return cls.from_ticks(scores, np.zeros(1, np.int64))
        _check_frames(starts, ends)
        gaps = np.flatnonzero(starts[1:] > ends[:-1]) + 1
        if len(gaps):
            scores = np.insert(scores, gaps, -np.inf, axis=0)
        return cls.from_ticks(scores, np.concatenate([starts[:1], np.insert(ends, gaps, starts[gaps])]))

    @classmethod
    def unchecked(cls, values: ScoreArray, ticks: Ticks) -> ClipScores:
        """From arrays that are known to be right. Frames of no length are possible this way: they keep
        detections apart."""
        clip = cls.__new__(cls)
        clip.values, clip.ticks = values, ticks
        return clip

    @property
    def edges(self) -> NDArray[np.float64]:
        """Frame boundaries in seconds."""
        return to_seconds(self.ticks)

    def __repr__(self) -> str:
        frames, classes = self.values.shape
        return f"<ClipScores: {counted(frames, 'frame')} × {counted(classes, 'class')}>"

    def _check(self) -> None:
        if self.values.ndim != 2:
            raise SedscopeError(_not_a_table(self.values))
        if self.ticks.shape != (len(self.values) + 1,):
            raise SedscopeError(
                f"{counted(len(self.values), 'frame')} need {len(self.values) + 1} boundaries, "
                f"not {self.ticks.size}"
            )
        if not np.all(self.ticks[1:] > self.ticks[:-1]):
            _check_frames(self.ticks[:-1], self.ticks[1:])


def refuse_nans(name: str, clip: ClipScores, classes: Sequence[str]) -> None:
    """Refuse scores of a clip that are not numbers; all are named."""
    wrong = np.isnan(clip.values)
    if wrong.any():
        places = [f"class {classes[c]}, frame {frame}" for frame, c in np.argwhere(wrong)]
        number = counted(len(places), "score")
        raise SedscopeError(f"clip {name}: {number} not a number (NaN): {listing(places)}")


def as_scores(values: ArrayLike) -> ScoreArray:
    """Floats as they are; what a float type holds exactly is widened, anything else refused."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise SedscopeError("scores are missing (masked): fill them first")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise SedscopeError(f"scores must be frames × classes: {error}") from None
    if array.dtype in (np.float32, np.float64):
        # the core steps by whole numbers
        odd = any(stride % array.itemsize for stride in array.strides) or not array.flags.aligned
        return array.copy() if odd else array
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind in "biu" and (
        array.dtype.itemsize < 8 or not array.size or max(-int(array.min()), int(array.max())) <= 2**53
    ):
        return array.astype(np.float64)
    raise SedscopeError(
        f"scores must be float32 or float64 numbers, not {array.dtype}: convert them first"
    )


def _not_a_table(values: ScoreArray) -> str:
    return f"scores must be frames × classes, not an array of shape {values.shape}"


def _boundaries(edges: ArrayLike) -> Ticks:
    try:
        return to_ticks(edges)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None


def _frame_times(seconds: ArrayLike) -> Ticks:
    """Onsets or offsets of frames; those that are no times are named."""
    try:
        values = np.asarray(seconds, np.float64)
    except (TypeError, ValueError) as error:
        raise SedscopeError(f"frame boundaries: {error}") from None
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        places = [f"frame {row} ({values.flat[row]:g} s)" for row in wrong]
        raise SedscopeError(f"{counted(len(wrong), 'frame')} without a finite time: {listing(places)}")
    return _boundaries(values)


def _check_frames(onsets: Ticks, offsets: Ticks) -> None:
    def refuse(frames: NDArray[np.bool_], what: str) -> None:
        rows = np.flatnonzero(frames)
        if len(rows):
            places = [f"frame {row} ({onsets[row] / 1e6:g}–{offsets[row] / 1e6:g} s)" for row in rows]
            raise SedscopeError(f"{counted(len(rows), 'frame')} {what}: {listing(places)}")

    refuse(offsets <= onsets, "end before they begin or have no length")
    refuse(np.concatenate([[False], onsets[1:] < onsets[:-1]]), "not in order of time")
    refuse(np.concatenate([[False], onsets[1:] < offsets[:-1]]), "overlapping the frame before")


class Scores(Mapping[str, ClipScores]):
    """A read-only mapping from clip id to the clip's scores.

    Clips may be in memory or be loaded when they are needed; those that come in pieces can be evaluated,
    but are not values of the mapping. File names with a folder or an audio suffix find their clip, too.

    >>> arrays = {"a.wav": [[0.1, 0.9], [0.2, 0.8]]}
    >>> scores = Scores.from_arrays(arrays, classes=["Cat", "Dog"], frame=0.5)
    >>> scores
    <Scores: 1 clip, 2 classes>
    >>> scores["a"].edges
    array([0. , 0.5, 1. ])
    """

    def __init__(
        self,
        clips: Iterable[str],
        load: Callable[[str], ClipScores | ClipPieces],
        *,
        classes: Iterable[str],
        in_memory: bool = False,
        thread_safe: bool = False,
        whole_clips: bool = True,
    ) -> None:
        """``load(name)`` gives the scores of a clip under the name it has in ``clips``.

        ``in_memory``: loading costs nothing, and no clip comes in pieces; ``thread_safe``: several clips
        may be loaded at once; ``whole_clips``: the last boundary of the scores can stand for the end of
        the clip.
        """
        self._classes = _check_classes(classes)
        self._names = {clip: name for name, clip in clip_ids(clips, "scores").items()}
        self._load = load
        self.in_memory = in_memory
        self.thread_safe = thread_safe
        self.whole_clips = whole_clips

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, ArrayLike],
        *,
        classes: Iterable[str],
        frame: float | None = None,
        edges: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> Scores:
        """From (frames × classes) arrays in memory.

        ``frame``: the length of all frames in seconds; or ``edges``: the frame boundaries in seconds,
        one array for all clips or one per clip.
        """
        names = _check_classes(classes)
        grid = frame_grid(frame, edges)
        if not isinstance(arrays, Mapping):
            raise SedscopeError(f"give a mapping from clips to arrays, not {type(arrays).__name__}")
        clips: dict[str, ClipScores] = {}
        errors: list[SedscopeError] = []
        for name in arrays:
            try:
                clips[name] = _whole(name, _clip_from(name, arrays[name], grid, len(names)))
            except SedscopeError as error:
                errors.append(error)
        raise_together(errors)
        return cls(clips, clips.__getitem__, classes=names, in_memory=True, thread_safe=True)

    @classmethod
    def from_pieces(cls, clips: Mapping[str, ClipPieces], *, classes: Iterable[str]) -> Scores:
        """From recordings too long for memory: see :class:`ClipPieces`."""
        from .recordings import ClipPieces

        if not isinstance(clips, Mapping):
            raise SedscopeError(f"give a mapping from clips to ClipPieces, not {type(clips).__name__}")
        wrong = [name for name, clip in clips.items() if not isinstance(clip, ClipPieces)]
        if wrong:
            raise SedscopeError(f"clips that are not ClipPieces: {listing(wrong)}")
        return cls(clips, clips.__getitem__, classes=classes)

    @classmethod
    def from_function(
        cls,
        clips: Iterable[str],
        function: Callable[[str], ArrayLike | ClipScores | ClipPieces],
        *,
        classes: Iterable[str],
        frame: float | None = None,
        edges: ArrayLike | Mapping[str, ArrayLike] | None = None,
        thread_safe: bool = False,
    ) -> Scores:
        """From a function that gives the (frames × classes) array of a clip when it is needed.

        The function may return :class:`ClipScores` or :class:`ClipPieces` instead; then neither
        ``frame`` nor ``edges`` is needed. It is called from several threads only if ``thread_safe``
        says that it may be.
        """
        names = _check_classes(classes)
        grid = None if frame is None and edges is None else frame_grid(frame, edges)

        def load(name: str) -> ClipScores | ClipPieces:
            return _clip_from(name, function(name), grid, len(names))

        return cls(clips, load, classes=names, thread_safe=thread_safe)

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any]) -> Scores:
        """From one DCASE score table per clip: a pandas or polars frame ``onset offset class…``."""
        from ..io.score_tables import clip_from_table, table_classes

        if tables is not None and not isinstance(tables, Mapping):
            raise SedscopeError(f"give a mapping from clips to tables, not {type(tables).__name__}")
        if not tables:
            raise SedscopeError("there is no score table")
        name, table = next(iter(tables.items()))
        classes = table_classes(table, where=f"clip {clip_id(name)}")

        def load(name: str) -> ClipScores:
            return clip_from_table(tables[name], classes, where=f"clip {clip_id(name)}")

        return cls(tables, load, classes=classes, thread_safe=True)

    @classmethod
    def from_events(
        cls,
        events: Mapping[str, Iterable[Any]],
        *,
        classes: Iterable[str] | None = None,
        clips: Iterable[str] = (),
        overlaps: Literal["error", "merge", "average"] = "error",
    ) -> Scores:
        """From detected events ``{clip: [(onset, offset, label[, confidence]), …]}``; the threshold acts
        on the confidence, which is 1 unless given."""
        from .detections import scores_from_events

        return scores_from_events(events, classes=classes, clips=clips, overlaps=overlaps)

    def only(self, clips: Iterable[str]) -> Scores:
        """The scores of some clips. What is known of the others is let go, where that is possible."""
        return self._changed([self._names[clip_id(clip)] for clip in clips], self._load)

    def loaded_by(self, load: Callable[[str], ClipScores | ClipPieces]) -> Scores:
        """The same clips, loaded by another function."""
        return self._changed(self._names.values(), load)

    def _changed(self, names: Iterable[str], load: Callable[[str], ClipScores | ClipPieces]) -> Scores:
        return Scores(
            names,
            load,
            classes=self.classes,
            in_memory=self.in_memory,
            thread_safe=self.thread_safe,
            whole_clips=self.whole_clips,
        )

    def stitch(self, chunks: Chunks = None, *, unit: Unit = "seconds") -> Scores:
        """The chunks of each recording joined to one timeline, averaged where they overlap.

        Chunks are named ``RECORDING-START`` or ``RECORDING-START-END`` (or with ``_``), with times in
        ``unit``; or ``chunks`` says ``{chunk: (recording, start in seconds)}``, or is a file ``filename
        recording start``. A frame of the result lies between any two boundaries; its score is the mean
        of the chunks that cover it, and ``-inf`` where none does.

        >>> chunks = {"a-0-2": [[0.2], [0.4]], "a-1-3": [[0.8], [0.6]]}
        >>> joined = Scores.from_arrays(chunks, classes=["Dog"], frame=1.0).stitch()
        >>> joined["a"].values.ravel().round(6).tolist(), joined["a"].edges.tolist()
        ([0.2, 0.6, 0.6], [0.0, 1.0, 2.0, 3.0])
        """
        from .chunks import stitch

        return stitch(self, chunks, unit)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of the columns."""
        return self._classes

    def open(self, clip: str) -> ClipScores | ClipPieces:
        """The scores of a clip, whole or in pieces."""
        name = self._names.get(clip)
        if name is None:
            name = self._names[clip_id(clip)]
        return self._load(name)

    def __getitem__(self, clip: str) -> ClipScores:
        return _whole(clip, self.open(clip))

    def __contains__(self, clip: object) -> bool:
        return isinstance(clip, str) and (clip in self._names or clip_id(clip) in self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Scores: {counted(len(self), 'clip')}, {counted(len(self.classes), 'class')}>"


Grid: TypeAlias = Callable[[str, int], Ticks]


def frame_grid(frame: float | None, edges: ArrayLike | Mapping[str, ArrayLike] | None) -> Grid:
    """A function that gives the frame boundaries of a clip with so many frames."""
    if (frame is None) == (edges is None):
        raise SedscopeError("give either frame=, the length of a frame, or edges=, their boundaries")
    if frame is not None:
        try:
            length = float(frame)
            to_ticks(length)
        except (TypeError, ValueError):
            length = 0
        if not length >= 1e-6:
            raise SedscopeError(f"frame={frame!r} must be a number of seconds, at least 1e-6")
        return lambda _, frames: frame_ticks(frames, length)
    if isinstance(edges, Mapping):
        per_clip = {clip: edges[name] for name, clip in clip_ids(edges, "edges").items()}

        def of_clip(name: str, _: int) -> Ticks:
            if clip_id(name) not in per_clip:
                raise SedscopeError("no edges are given for it")
            return _boundaries(per_clip[clip_id(name)])

        return of_clip
    assert edges is not None
    ticks = _boundaries(edges)
    return lambda _name, _frames: ticks


def _whole(clip: str, scores: ClipScores | ClipPieces) -> ClipScores:
    if isinstance(scores, ClipScores):
        return scores
    from .recordings import needs_whole

    raise needs_whole(clip_id(clip))


def _clip_from(
    name: str, values: ArrayLike | ClipScores | ClipPieces, grid: Grid | None, classes: int
) -> ClipScores | ClipPieces:
    from .recordings import ClipPieces

    try:
        if isinstance(values, ClipPieces):
            return values
        if isinstance(values, ClipScores):
            clip = values
        elif grid is None:
            raise SedscopeError("give frame= or edges=, or return ClipScores")
        else:
            array = as_scores(values)
            if array.ndim != 2:
                raise SedscopeError(_not_a_table(array))
            clip = ClipScores.from_ticks(array, grid(name, len(array)))
        if clip.values.shape[1] != classes:
            raise SedscopeError(
                f"{counted(clip.values.shape[1], 'column')} for {counted(classes, 'class')}"
            )
        return clip
    except (SedscopeError, OverflowError) as error:
        raise SedscopeError(f"clip {clip_id(name)}: {error}") from None


def _check_classes(classes: Iterable[str]) -> tuple[str, ...]:
    if isinstance(classes, str):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}")
    if not isinstance(classes, Iterable):
        raise SedscopeError(f"classes must be a list of names, not {classes!r}")
    names = tuple(classes)
    if not names:
        raise SedscopeError("there are no classes")
    wrong = [repr(name) for name in names if not (isinstance(name, str) and name)]
    if wrong:
        raise SedscopeError(f"class names must be non-empty strings, not {listing(wrong)}")
    repeated = sorted({name for name in names if names.count(name) > 1}) if _repeats(names) else []
    if repeated:
        raise SedscopeError(f"classes named twice: {listing(repeated)}")
    return names


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)
