"""All formats of scores, how one is recognised, and scores from files and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from ...data.choices import Gaps, check_choice
from ...data.clip_events import AnyClip
from ...data.clip_scores import ClipScores
from ...data.scores import Scores
from ...data.tables import FrameLike, is_table
from ...errors import SedscopeError, listing
from ...progress import ProgressChoice, as_progress
from .. import FormatTable
from ..locations import (
    Address,
    Location,
    check_input,
    folder_files,
    input_location,
    is_delta_table,
    is_pattern,
    local_path,
    with_address,
)
from .format import ScoreFormat, ScoreReadOptions, identity_before_reading

SCORE_FORMATS: FormatTable[ScoreFormat] = FormatTable(
    __package__,
    "score",
    {"tsv": "folder", "memmap_folder": "folder", "npz": "file", "hdf5": "file", "parquet": "any"},
)


def recognise_score_format(path: Location) -> ScoreFormat | None:
    """Recognise the format of a file or folder from its content. Return None if it holds no scores."""
    source = readable_source(path)
    try:
        formats = SCORE_FORMATS.of_kind("file" if source.is_file() else "folder", "any")
        candidates = [format for format in formats.values() if format.recognise(source)]
    except SedscopeError as error:
        raise with_address(error, path) from None
    if len(candidates) > 1:
        names = [format.name for format in candidates]
        raise SedscopeError(
            f"{path} could be {' or '.join(names)}. Choose with `read_scores(format={names[0]!r})`."
        )
    return candidates[0] if candidates else None


def readable_source(source: Location) -> Location:
    """Return a location that the formats can read.

    A file at an address is copied to this machine, unless its format reads parts of files and the server
    sends them. Folders are read where they are.
    """
    if not isinstance(source, Address) or not source.is_file():
        return source
    in_parts = any(format.reads_parts and format.recognise(source) for format in SCORE_FORMATS.values())
    return source if in_parts and source.in_parts else source.copy


def read_scores(
    path: str | Location | FrameLike,
    *,
    format: str | None = None,
    classes: Sequence[str] | None = None,
    frame: float | None = None,
    gaps: Gaps = "error",
    columns: Mapping[str, str] | None = None,
) -> Scores:
    """Read scores from a file or folder. Clips are read when they are needed.

    Parameters
    ----------
    path : path, address or table
        A folder of DCASE score tables, a store, an npz or HDF5 file, or a Parquet file, a folder of them in
        any partition, or a pattern such as ``"scores/site=*/*.parquet"``. ``sedscope formats`` lists the
        formats. Also the table of another library that is read like a folder of Parquet files: an Arrow
        dataset, a Delta Lake table, or an Iceberg table or scan; or a Ray dataset or a table in Spark, which
        are read on their workers.
    format : str, optional
        Name of the format. By default it is recognised from the content.
    classes : sequence of str, optional
        The classes, for npz and HDF5 files and lists of scores in Parquet files, which do not name them; of
        other Parquet files, those to read.
    frame : float, optional
        Length of frames in seconds, for npz, HDF5 and Parquet files that do not state it.
    gaps : {'error', 'silent'}, default 'error'
        Whether a gap between two frames of a table is an error or a frame in which nothing is active.
        Times that differ only by rounding errors are not gaps, see :meth:`ClipScores.from_frames`.
    columns : mapping from str to str, optional
        Names of columns of Parquet files by role: ``clip``, ``onset``, ``offset`` or ``frame`` (its number),
        and ``label`` and ``score`` of a row per frame and class, or ``scores`` with lists.

    Returns
    -------
    Scores
        float32 stays float32, and float64 stays float64. Numbers in text files become float64, unless
        :func:`write_scores` wrote them as float32.

    See Also
    --------
    Scores.from_arrays, Scores.from_tables : Scores in memory.
    Scores.stitch : Join the chunks of long recordings.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_scores(scores, Path(folder, "scores.npz"))
    ...     sed.read_scores(Path(folder, "scores.npz"))["a"].values.ravel().tolist()
    [0.2, 0.9, 0.4]
    """
    source: Any = path if is_table(path) else input_location(path)
    options = ScoreReadOptions(
        None if classes is None else tuple(classes), frame, gaps, tuple((columns or {}).items())
    )
    check_choice(Gaps, gaps=gaps)
    if is_table(source) or is_delta_table(source):
        from .arrow_tables import table_parts

        if format not in (None, "parquet"):
            raise SedscopeError(f"format={format!r} cannot be given for a table. Leave it out.")
        if hasattr(source, "mapInArrow"):
            from .spark_tables import SparkTable

            return SparkTable(source, options).scores
        source, format = tuple(table_parts(source)), "parquet"
    chosen = recognise_score_format(source) if format is None else SCORE_FORMATS.named(format)
    if chosen is None:
        if source.is_dir():
            _refuse_other_tables(source)
            raise SedscopeError(f"{source} holds no score tables (*.tsv).{_other_files_hint(source)}")
        if not source.exists():
            raise SedscopeError(f"Cannot read {source}: there is no such file or folder.")
        check_input(source)
        raise SedscopeError(
            f"{source} holds no scores in a known format. The formats are "
            f"{listing([*SCORE_FORMATS], limit=30)}."
        )
    if not chosen.needs_options and (classes is not None or frame is not None):
        raise SedscopeError(
            f"{source}: the format {chosen.name} states classes and times itself, so classes= and "
            "frame= cannot be given."
        )
    if columns and chosen.name != "parquet":
        raise SedscopeError(f"{source}: columns= names columns of Parquet files, not of {chosen.name}.")
    definition = f"{chosen.name} {options!r}"
    identity = identity_before_reading(definition, source, chosen.files_of_clip)
    scores = _open(chosen, source, options)
    if scores._source.identify is None:
        scores = scores._replaced(identify=identity)
    if chosen.load_pickles:
        return scores
    return scores._replaced(load=_Reader(chosen.name, source, options, scores))


def _open(chosen: ScoreFormat, source: Any, options: ScoreReadOptions) -> Scores:
    if isinstance(source, tuple):
        return chosen.read(source, options)
    try:
        readable = readable_source(source)
        if not (readable.is_dir() or is_pattern(readable)):
            check_input(readable)
        return chosen.read(readable, options)
    except SedscopeError as error:
        raise with_address(error, source) from None


class _Reader:
    """Loads clips. Another process receives the location and opens it there, once."""

    def __init__(self, format: str, source: Any, options: ScoreReadOptions, scores: Scores) -> None:
        self._key = (format, source, options, uuid4().hex)
        self._scores = scores

    def __call__(self, name: str) -> AnyClip:
        try:
            return self._scores.open(name)
        except SedscopeError as error:
            raise with_address(error, self._key[1]) from None

    def __reduce__(self) -> tuple[Callable[..., _Reader], tuple[Any, ...]]:
        return _reopen, self._key


def _reopen(format: str, source: Any, options: ScoreReadOptions, call: str) -> _Reader:
    """Open the scores in another process.

    ``call`` identifies the call of :func:`read_scores`, because the files may change until the next one.
    """
    opened = _opened(call)
    if not opened:
        scores = _open(SCORE_FORMATS.named(format), source, options)
        opened.append(_Reader(format, source, options, scores))
    return opened[0]


@lru_cache(maxsize=4)
def _opened(call: str) -> list[_Reader]:
    """Return the reader of a call of :func:`read_scores`, once there is one."""
    return []


def write_scores(
    scores: Scores,
    path: str | Path,
    *,
    format: str | None = None,
    lossy: bool = False,
    progress: ProgressChoice = None,
) -> None:
    """Write scores to a file or folder that :func:`read_scores` reads back exactly.

    Parameters
    ----------
    scores : Scores
        The scores.
    path : path
        The file, or a new or empty folder.
    format : str, optional
        Name of the format. By default the suffix of `path` selects it (``.npz``, ``.h5``, ``.parquet``,
        ``.store``), and any other path becomes a folder of tab-separated score tables.
    lossy : bool, default False
        Whether to leave out what the format cannot hold. By default that is an error.
    progress : bool or callable, optional
        True shows a bar in a notebook or terminal. A function is called with the number of clips written
        and the number of all clips.

    Examples
    --------
    >>> import sedscope as sed
    >>> scores = sed.Scores.from_arrays({"a": [[0.2], [0.9], [0.4]]}, classes=["Dog"], frame=1.0)
    >>> truth = sed.GroundTruth.from_dict({"a": [(1, 2, "Dog")]}, durations={"a": 3})
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sed.write_scores(scores, Path(folder, "scores.npz"))
    ...     sed.read_scores(Path(folder, "scores.npz"))["a"].values.ravel().tolist()
    [0.2, 0.9, 0.4]
    """
    target = local_path(path)
    by_suffix = {**SCORE_FORMATS.by_suffix(), "": "tsv"}
    chosen = SCORE_FORMATS.named(format or by_suffix.get(target.suffix.lower(), "tsv"))
    clips = chosen.clips_for(scores, target, lossy=lossy, progress=as_progress(progress, "Writing"))
    if lossy and "types that differ" not in chosen.holds:
        clips = _of_one_type(scores, clips)
    chosen.write(scores, target, clips)


def _of_one_type(
    scores: Scores, clips: Iterator[tuple[str, ClipScores]]
) -> Iterator[tuple[str, ClipScores]]:
    """Convert all clips to float64 if one of them is, since it holds every float32 exactly."""
    wide = any(clip_scores.values.dtype == np.float64 for clip_scores in scores.values())
    for clip, clip_scores in clips:
        values = clip_scores.values.astype(np.float64) if wide else clip_scores.values
        yield clip, ClipScores.unchecked(values, clip_scores.ticks)


def _refuse_other_tables(folder: Location) -> None:
    """Say which columns the Parquet files of a folder lack, if it has some."""
    from .parquet import table_files
    from .parquet_tables import TableFile

    for first in islice(table_files(folder), 1):
        TableFile(first).layout(ScoreReadOptions())


def _other_files_hint(folder: Location) -> str:
    """Say what to do about files that could be score tables but for their format."""
    if any(folder_files(folder, lambda name: name.endswith(".tsv.gz"))):
        return " Its files are compressed with gzip. Decompress them first."
    if any(folder_files(folder, lambda name: name.endswith(".csv"))):
        return " A score table is tab-separated, and its name ends with .tsv. There are .csv files."
    return ""
