"""The scores of a system: one number per clip, frame and class, higher is more confident.

What scores are made from in memory (arrays, pieces, functions and tables) is checked clip by clip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import (
    SedscopeError,
    counted,
    listing,
    located,
    raise_together,
    refuse,
    refuse_nul,
    subject,
)
from .arrays import ScoreArray
from .choices import Gaps, check_choice
from .clip_events import AnyClip, ClipEvents, kept_events_error
from .clip_scores import (
    ClipPieces,
    ClipScores,
    Grid,
    as_scores,
    check_shape,
    frame_grid,
    refuse_nans,
    whole_clip_error,
)
from .clips import clip_id, clip_ids
from .labels import stripped
from .tables import FrameLike, as_frame

if TYPE_CHECKING:
    from typing_extensions import Self

    from .chunks import Chunks, Unit
    from .detections import DetectionLike
    from .label_maps import AppliedMap, LabelMapLike


@dataclass(frozen=True, eq=False)
class ScoreSource:
    """Where the scores of clips come from, and what is known about them besides their values.

    The functions take the name of a clip as it was given, which may have a folder and a suffix.
    """

    load: Callable[[str], AnyClip]
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

    table: Any = None
    """The table in a cluster that has the rows, if only the workers of that cluster can read the scores."""

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


def whole_clip(clip: str, scores: AnyClip) -> ClipScores:
    """Refuse clips that have no scores as a whole: those in pieces, and events that are kept."""
    if isinstance(scores, ClipScores):
        return scores
    if isinstance(scores, ClipEvents):
        raise kept_events_error(clip_id(clip))
    raise whole_clip_error(clip_id(clip))


def frames_or_events(clip: str, scores: AnyClip) -> ClipScores | ClipEvents:
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


__all__ = ["ClipScores", "ScoreArray", "Scores", "as_scores", "frame_grid", "refuse_nans"]

CUT_TO_REGIONS = "cut_to_regions()"
"""The step of `Scores.processing` after which scores must not be post-processed any more."""


def _names_by_id(clips: Iterable[str]) -> dict[str, str]:
    return {clip: name for name, clip in clip_ids(clips, "scores").items()}


class Scores(Mapping[str, ClipScores]):
    """The scores of a system, a read-only mapping from clip id to :class:`ClipScores`.

    Clips may be in memory, or be loaded when they are needed. File names with a folder or an audio
    suffix refer to the clip, too: ``scores["audio/a.wav"]`` is ``scores["a"]``. Clips that come in
    pieces can be evaluated, but the mapping has no value for them.

    Most users call :func:`read_scores` or one of the ``from_…`` methods.

    Parameters
    ----------
    clips : iterable of str
        Names of the clips.
    load : callable
        Takes a name as it stands in `clips` and returns the scores of the clip, as
        :class:`ClipScores` or :class:`ClipPieces`.
    classes : iterable of str
        The classes, in the order of the columns. White space around their names is removed.
    in_memory : bool, default False
        Whether loading costs nothing. Then no clip may come in pieces.
    thread_safe : bool, default False
        Whether `load` may be called from several threads at once.
    identify : callable, optional
        Takes a name as it stands in `clips` and returns a text that changes whenever the scores of the
        clip do, or None if it cannot tell. A checkpoint then need not read the clip to recognise it.

    Examples
    --------
    >>> arrays = {"a.wav": [[0.1, 0.9], [0.2, 0.8]]}
    >>> scores = Scores.from_arrays(arrays, classes=["Cat", "Dog"], frame=0.5)
    >>> scores
    <Scores: 1 clip, 2 classes>
    >>> scores["a"].edges
    array([0. , 0.5, 1. ])
    """

    holds_events: bool = False
    """Whether clips have scored events that are kept as they are, in place of frames."""

    def __init__(
        self,
        clips: Iterable[str],
        load: Callable[[str], ClipScores | ClipPieces | ClipEvents],
        *,
        classes: Iterable[str],
        in_memory: bool = False,
        thread_safe: bool = False,
        identify: Callable[[str], str | None] | None = None,
    ) -> None:
        self._source = ScoreSource(
            load, check_classes(classes), in_memory, thread_safe, identify=identify
        )
        self._names = _names_by_id(clips)

    @classmethod
    def _of(cls, clips: Iterable[str], source: ScoreSource) -> Self:
        """Make the scores of clips from their source."""
        scores = cls.__new__(cls)
        scores._source, scores._names = source, _names_by_id(clips)
        return scores

    def _replaced(self, **changes: Any) -> Self:
        """Return the same clips, with some attributes of their source replaced."""
        return type(self)._of(self._names.values(), replace(self._source, **changes))

    def _derived(self, load: Callable[[str], AnyClip], **changes: Any) -> ScoreSource:
        """Return the source of scores that are made from these.

        ``load``, and functions among the ``changes``, take ids of clips, or the names of new clips. Whether
        the new scores can be cut again, only the caller knows: they cannot without ``recut``.
        """
        kept = {"in_memory": self.in_memory, "identify": self.identity, "locate": self._frame_locations}
        return replace(self._source, load=load, **{**kept, "recut": None, **changes})

    def _remade(self, clips: Iterable[str], load: Callable[[str], AnyClip], **changes: Any) -> Self:
        """Return other scores of the same kind that are made from these; see :meth:`_derived`."""
        return type(self)._of(clips, self._derived(load, **changes))

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, ArrayLike],
        *,
        classes: Iterable[str],
        frame: float | None = None,
        edges: ArrayLike | Mapping[str, ArrayLike] | None = None,
    ) -> Scores:
        """Make scores from arrays in memory. Give either `frame` or `edges`.

        Parameters
        ----------
        arrays : mapping from str to array_like, shape (frames, classes)
            The scores of each clip.
        classes : iterable of str
            The classes, in the order of the columns.
        frame : float, optional
            Length of all frames in seconds.
        edges : array_like or mapping from str to array_like, optional
            Frame boundaries in seconds: one array for all clips, or one per clip.

        Returns
        -------
        Scores

        Examples
        --------
        >>> Scores.from_arrays({"a": [[0.2], [0.9]], "b": [[0.1], [0.3]]}, classes=["Dog"], frame=0.5)
        <Scores: 2 clips, 1 class>
        """
        labels = check_classes(classes)
        grid = frame_grid(frame, edges)
        if not isinstance(arrays, Mapping):
            raise SedscopeError(f"Give a mapping from clips to arrays, not {type(arrays).__name__}.")
        clips: dict[str, ClipScores] = {}
        errors: list[SedscopeError] = []
        for name in arrays:
            try:
                clip = whole_clip(name, _checked_clip(name, arrays[name], grid, len(labels)))
                # a mapping that is not a dict may make its arrays one after the other in one place
                clips[name] = clip if isinstance(arrays, dict) else protected(clip)
            except SedscopeError as error:
                errors.append(error)
        raise_together(errors)
        return Scores(clips, clips.__getitem__, classes=labels, in_memory=True, thread_safe=True)

    @classmethod
    def from_pieces(cls, clips: Mapping[str, ClipPieces], *, classes: Iterable[str]) -> Scores:
        """Make scores from recordings that do not fit into memory.

        Parameters
        ----------
        clips : mapping from str to ClipPieces
            The scores of each clip, in pieces.
        classes : iterable of str
            The classes, in the order of the columns.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import numpy as np
        >>> from sedscope import ClipPieces
        >>> pieces = ClipPieces(lambda: iter([np.zeros((3, 1)), np.ones((2, 1))]), frame=1.0, frames=5)
        >>> Scores.from_pieces({"a": pieces}, classes=["Dog"])
        <Scores: 1 clip, 1 class>
        """
        if not isinstance(clips, Mapping):
            raise SedscopeError(f"Give a mapping from clips to ClipPieces, not {type(clips).__name__}.")
        wrong = [name for name, clip in clips.items() if not isinstance(clip, ClipPieces)]
        refuse(wrong, "clip", "is not ClipPieces")
        return Scores(clips, clips.__getitem__, classes=classes)

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
        """Make scores from a function that is called whenever a clip is needed.

        Parameters
        ----------
        clips : iterable of str
            Names of the clips.
        function : callable
            Takes the name of a clip and returns its (frames × classes) array. It may return
            :class:`ClipScores` or :class:`ClipPieces` instead, which need neither `frame` nor `edges`.
            It may use its arrays again for the next clip: sedscope copies them unless they are
            read-only.
        classes : iterable of str
            The classes, in the order of the columns.
        frame : float, optional
            Length of all frames in seconds.
        edges : array_like or mapping from str to array_like, optional
            Frame boundaries in seconds: one array for all clips, or one per clip.
        thread_safe : bool, default False
            Whether the function may be called from several threads at once.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import numpy as np
        >>> silence = lambda clip: np.zeros((3, 1))
        >>> scores = Scores.from_function(["a", "b"], silence, classes=["Dog"], frame=1.0)
        >>> scores["a"].values.ravel().tolist()
        [0.0, 0.0, 0.0]
        """
        labels = check_classes(classes)
        grid = None if frame is None and edges is None else frame_grid(frame, edges)

        def load(name: str) -> ClipScores | ClipPieces:
            clip = _checked_clip(name, function(name), grid, len(labels))
            return protected(clip) if isinstance(clip, ClipScores) else clip

        return Scores(clips, load, classes=labels, thread_safe=thread_safe)

    @classmethod
    def from_tables(cls, tables: Mapping[str, FrameLike], *, gaps: Gaps = "error") -> Scores:
        """Make scores from DCASE score tables.

        Parameters
        ----------
        tables : mapping from str to data frame
            A pandas, polars or pyarrow table per clip, with the columns ``onset``, ``offset`` and one per
            class, and a row per frame. Times that differ only by rounding errors are the same boundary, see
            :meth:`ClipScores.from_frames`.
        gaps : {'error', 'silent'}, default 'error'
            Whether a gap between two frames is an error or a frame in which nothing is active.

        Returns
        -------
        Scores

        Examples
        --------
        >>> import polars
        >>> table = polars.DataFrame({"onset": [0.0, 1.0], "offset": [1.0, 2.0], "Dog": [0.2, 0.9]})
        >>> Scores.from_tables({"a": table})
        <Scores: 1 clip, 1 class>
        """
        if tables is not None and not isinstance(tables, Mapping):
            raise SedscopeError(f"Give a mapping from clips to tables, not {type(tables).__name__}.")
        if not tables:
            raise SedscopeError("There are no score tables.")
        check_choice(Gaps, gaps=gaps)
        first, table = next(iter(tables.items()))
        classes = table_classes(table, where=f"clip {clip_id(first)}")

        def load(name: str) -> ClipScores:
            return clip_from_table(tables[name], classes, where=f"clip {clip_id(name)}", gaps=gaps)

        return Scores(tables, load, classes=classes, thread_safe=True)

    @classmethod
    def from_events(
        cls,
        events: Mapping[str, Iterable[DetectionLike]],
        *,
        classes: Iterable[str] | None = None,
        clips: Iterable[str] = (),
        overlaps: Literal["error", "merge", "average", "keep"] = "error",
    ) -> Scores:
        """Make scores from detected events. The threshold then applies to their confidences.

        Parameters
        ----------
        events : mapping from str to iterable of tuple
            ``{clip: [(onset, offset, label[, confidence]), …]}``, times in seconds. The confidence is
            1 if it is left out; a warning says so if others of the class have one.
        classes : iterable of str, optional
            The classes. By default the labels that occur, sorted. Name those of the ground truth that may
            never be detected; an evaluation warns about those that are not.
        clips : iterable of str, optional
            Further clips, in which nothing is detected; an evaluation warns about them. Clips that
            neither ``events`` nor ``clips`` name have no scores.
        overlaps : {'error', 'merge', 'average', 'keep'}, default 'error'
            What to do with overlapping events of one class. ``"merge"`` makes them one event with the
            highest confidence. ``"average"`` is for windows that slide over a recording: the score at
            each instant is the mean confidence of the windows that cover it. ``"keep"`` keeps them as they
            are, as :class:`ScoredEvents`.

        Returns
        -------
        Scores
            :class:`ScoredEvents` if they are kept as they are.

        Examples
        --------
        >>> scores = Scores.from_events({"a": [(0, 1, "Dog", 0.9), (1, 2, "Dog", 0.4)]})
        >>> scores["a"].values[:, 0].tolist(), scores["a"].edges.tolist()
        ([0.9, -inf, 0.4], [0.0, 1.0, 1.0, 2.0])
        """
        from .detections import scores_from_events

        return scores_from_events(events, classes=classes, clips=clips, overlaps=overlaps)

    def only(self, clips: Iterable[str]) -> Scores:
        """Return the scores of some clips.

        Parameters
        ----------
        clips : iterable of str
            Names of the clips to keep.

        Returns
        -------
        Scores

        Examples
        --------
        >>> scores = Scores.from_arrays({"a": [[0.2]], "b": [[0.9]]}, classes=["Dog"], frame=1.0)
        >>> list(scores.only(["b"]))
        ['b']
        """
        names = [self._names[clip_id(clip)] for clip in clips]
        return type(self)._of(names, self._source)

    def _frame_locations(self, clip: str) -> Sequence[str] | None:
        """Return ``file:line`` for each frame of a clip; None if the scores are not from tables of text."""
        locate = self._source.locate
        return None if locate is None else locate(self._names[clip_id(clip)])

    def stitch(self, chunks: Chunks = None, *, unit: Unit = "seconds", gaps: Gaps = "error") -> Scores:
        """Stitch the chunks of each recording to one timeline.

        Frames of the result lie between any two boundaries of the chunks. The score of a frame is the
        mean of the chunks that cover it. If the frames of a chunk end less than a frame before the
        next chunk begins, the last one lasts until then.

        Parameters
        ----------
        chunks : mapping or path, optional
            ``{chunk: (recording, start in seconds)}``, or a file with the columns ``filename recording
            start``. By default, the names of the chunks say where they start: ``RECORDING-START`` or
            ``RECORDING-START-END``, with ``-`` or ``_``. A chunk that is much longer or shorter than
            its name states is an error.
        unit : {'seconds', 'centiseconds', 'milliseconds'}, default 'seconds'
            Unit of the times in the names.
        gaps : {'error', 'silent'}, default 'error'
            Whether times that no chunk covers are an error. ``"silent"`` gives all of them, however
            short, the score ``-inf``.

        Returns
        -------
        Scores
            One clip per recording.

        Examples
        --------
        >>> chunks = {"a-0-2": [[0.2], [0.4]], "a-1-3": [[0.8], [0.6]]}
        >>> recordings = Scores.from_arrays(chunks, classes=["Dog"], frame=1.0).stitch()
        >>> recordings["a"].values.ravel().round(6).tolist(), recordings["a"].edges.tolist()
        ([0.2, 0.6, 0.6], [0.0, 1.0, 2.0, 3.0])
        """
        from .chunks import stitched_scores

        if chunks is not None and not isinstance(chunks, Mapping):
            from ..io.side_tables import read_chunk_table

            chunks = read_chunk_table(chunks)
        return stitched_scores(self, chunks, unit=unit, gaps=gaps)

    def relabelled(self, label_map: LabelMapLike) -> Scores:
        """Return the scores under new labels: renamed, merged or dropped.

        The score of a class that is made of several labels is the highest of theirs, or their mean, at
        each instant. In a list of detections, events that only touch stay apart. Clips that are read
        when they are needed still are.

        Parameters
        ----------
        label_map : LabelMap or mapping from str to str or None
            The new name of each label; None drops it. Labels that are not named stay.

        Returns
        -------
        Scores
            A class stands where the first of its labels was.

        Examples
        --------
        >>> scores = Scores.from_arrays({"a": [[0.2, 0.9]]}, classes=["car", "bus"], frame=1.0)
        >>> scores.relabelled({"bus": "Bus"}).classes
        ('car', 'Bus')
        >>> scores.relabelled({"car": "vehicle", "bus": "vehicle"})["a"].values.tolist()
        [[0.9]]
        """
        from .label_maps import relabelled_scores

        return relabelled_scores(self, label_map)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of the columns."""
        return self._source.classes

    @property
    def named_classes(self) -> tuple[str, ...]:
        """The classes that the output of the system names."""
        return tuple(c for c in self.classes if c not in self.assumed_classes)

    @property
    def assumed_classes(self) -> frozenset[str]:
        """The classes that the output of the system does not name; the ground truth does."""
        return self._source.assumed_classes

    @property
    def assumed_clips(self) -> frozenset[str]:
        """The clips that the output of the system does not name, and in which nothing is detected."""
        return self._source.assumed_clips

    @property
    def in_memory(self) -> bool:
        """Whether loading costs nothing."""
        known = self._source.in_memory
        return known() if callable(known) else known

    @property
    def thread_safe(self) -> bool:
        """Whether clips may be loaded by several threads at once."""
        return self._source.thread_safe

    @property
    def _table(self) -> Any:
        """The table in a cluster that has the rows; None if every process can read the scores."""
        return self._source.table

    @property
    def whole_clips(self) -> bool:
        """Whether the last frame boundary of a clip is the end of the clip."""
        return self._source.whole_clips

    @property
    def processing(self) -> tuple[str, ...]:
        """How the scores were post-processed, one definition per step."""
        return self._source.processing

    @property
    def label_maps(self) -> tuple[AppliedMap, ...]:
        """The label maps that gave the classes their names."""
        return self._source.label_maps

    def open(self, clip: str) -> ClipScores | ClipPieces | ClipEvents:
        """Load the scores of a clip, whole or in pieces, or its events if these are kept as they are.

        Parameters
        ----------
        clip : str
            Name of the clip.

        Returns
        -------
        ClipScores, ClipPieces or ClipEvents

        Examples
        --------
        >>> Scores.from_arrays({"a": [[0.2]]}, classes=["Dog"], frame=1.0).open("a")
        <ClipScores: 1 frame × 1 class>
        """
        name = self._names.get(clip)
        return self._source.load(self._name(clip) if name is None else name)

    def whole(self, clips: Sequence[str]) -> list[ClipScores]:
        """Load the scores of several clips. It is the same as loading one after the other, but faster.

        Parameters
        ----------
        clips : sequence of str
            Ids of the clips, as iteration gives them.

        Returns
        -------
        list of ClipScores

        Examples
        --------
        >>> Scores.from_arrays({"a": [[0.2]]}, classes=["Dog"], frame=1.0).whole(["a"])
        [<ClipScores: 1 frame × 1 class>]
        """
        loaded = [*map(self._source.load, map(self._names.__getitem__, clips))]
        return [*map(whole_clip, clips, loaded)]

    def identity(self, clip: str) -> str | None:
        """Return a text that changes whenever the scores of a clip do, without reading them.

        Ask before you read the clip: what changes in between then has another identity the next time.

        Parameters
        ----------
        clip : str
            Name of the clip.

        Returns
        -------
        str or None
            None if nothing but the scores themselves can tell.

        Examples
        --------
        >>> load = {"a": ClipScores([[0.2]], edges=[0, 1])}.__getitem__
        >>> Scores(["a"], load, classes=["Dog"], identify=lambda _: "model 7").identity("a")
        'model 7'
        """
        identify = self._source.identify
        return None if identify is None else identify(self._name(clip))

    def _identified_by(self, definition: str | None) -> Callable[[str], str | None]:
        """Return what identifies clips made of these. ``definition``: how; None if that is unknown."""

        def identify(clip: str) -> str | None:
            identity = self.identity(clip)
            return None if definition is None or identity is None else f"{definition} of {identity}"

        return identify

    def _name(self, clip: str) -> str:
        name = self._names.get(clip)
        return self._names[clip_id(clip)] if name is None else name

    def __getitem__(self, clip: str) -> ClipScores:
        return whole_clip(clip, self.open(clip))

    def __contains__(self, clip: object) -> bool:
        return isinstance(clip, str) and (clip in self._names or clip_id(clip) in self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Scores: {counted(len(self), 'clip')}, {counted(len(self.classes), 'class')}>"

    def _repr_html_(self) -> str:
        from ..results.frames import html_facts

        facts = {
            "clips": f"{len(self)}: {listing(self._names)}",
            "classes": f"{len(self.classes)}: {listing(self.classes)}",
            "kept": "in memory" if self.in_memory else "read clip by clip when needed",
        }
        if self.processing:
            facts["post-processed by"] = listing(self.processing)
        return html_facts("Scores", facts)
