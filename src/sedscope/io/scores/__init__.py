"""Formats of scores, one small module each, and how the format of a file or folder is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from ...data.scores import ClipScores, Scores
from ...errors import SedscopeError, listing
from ..locations import Address, Place, local_path, place, renamed
from . import hdf5, npz, parquet, tsv
from . import memmap_folder as store
from .format import Given, ScoreFormat

if TYPE_CHECKING:
    from ...data.recordings import ClipPieces

SCORE_FORMATS: dict[str, ScoreFormat] = {
    made.name: made for module in (tsv, store, npz, hdf5, parquet) for made in module.FORMATS
}

__all__ = ["SCORE_FORMATS", "Given", "ScoreFormat", "find_score_format", "read_scores", "write_scores"]


def known_score_format(name: str) -> ScoreFormat:
    """The format of that name."""
    if name not in SCORE_FORMATS:
        known = listing([*SCORE_FORMATS], limit=30)
        raise SedscopeError(f"no format of scores {name!r}; there are {known}")
    return SCORE_FORMATS[name]


def find_score_format(path: Place) -> ScoreFormat | None:
    """The format that a file or folder has by its content, if it is one of scores."""
    near = _near(path)
    try:
        found = [made for made in SCORE_FORMATS.values() if made.recognise(near)]
    except SedscopeError as error:
        raise renamed(error, path) from None
    if len(found) > 1:
        names = [made.name for made in found]
        raise SedscopeError(
            f"{path} could be {' or '.join(names)}: say which with format= (--scores-format {names[0]})"
        )
    return found[0] if found else None


def read_scores(
    path: str | Place,
    *,
    format: str | None = None,
    classes: Sequence[str] | None = None,
    frame: float | None = None,
) -> Scores:
    """Scores from a folder of score tables, a store, or an npz, HDF5 or Parquet file.

    The format is found from the content; ``format`` names it where that is not clear. ``classes`` and
    ``frame``, the length of frames in seconds, are for files that do not say so themselves. Clips are
    read when they are needed; float32 stays float32, numbers in text become float64.
    """
    source = place(path)
    chosen = find_score_format(source) if format is None else known_score_format(format)
    if chosen is None:
        if source.is_dir():
            raise SedscopeError(f"{source} holds no score tables (*.tsv)")
        if not source.exists():
            raise SedscopeError(f"cannot read {source}: there is no such file or folder")
        raise SedscopeError(
            f"{source} is not a folder of score tables, nor a store, npz, HDF5 or Parquet file of scores"
        )
    if not chosen.needs_words and (classes is not None or frame is not None):
        raise SedscopeError(f"{source}: the format {chosen.name} names classes and times itself")
    given = Given(None if classes is None else tuple(classes), frame)
    found = _open(chosen, source, given)
    return found if chosen.travels else found.loaded_by(_Reader(chosen.name, source, given, found))


def _open(chosen: ScoreFormat, source: Place, given: Given) -> Scores:
    try:
        return chosen.read(_near(source), given)
    except SedscopeError as error:
        raise renamed(error, source) from None


def _near(source: Place) -> Place:
    """What is read where it is; else a copy on this machine: of files elsewhere, but those of HDF5 where
    parts of them can be had."""
    if not isinstance(source, Address) or not source.is_file():
        return source
    return source if hdf5.recognise(source) and source.in_parts else source.copy


class _Reader:
    """Loads clips. To another process it travels as what is to be opened, which is done there once."""

    def __init__(self, format: str, source: Place, given: Given, found: Scores) -> None:
        self._key = (format, source, given, uuid4().hex)
        self._found = found

    def __call__(self, name: str) -> ClipScores | ClipPieces:
        try:
            return self._found.open(name)
        except SedscopeError as error:
            raise renamed(error, self._key[1]) from None

    def __reduce__(self) -> tuple[Callable[..., _Reader], tuple[Any, ...]]:
        return _reopened, self._key


@lru_cache(maxsize=4)
def _reopened(format: str, source: Place, given: Given, call: str) -> _Reader:
    """What reads as another process does; ``call``: which call of :func:`read_scores` it was for, as
    files may change until the next."""
    return _Reader(format, source, given, _open(known_score_format(format), source, given))


def write_scores(
    scores: Scores,
    path: str | Path,
    *,
    format: str | None = None,
    lossy: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write scores, which :func:`read_scores` reads back exactly.

    ``format``: by the name of the file (``.npz``, ``.h5``, ``.parquet``), else a folder of tab-separated
    score tables. What a format cannot hold is an error unless ``lossy``. A folder must be new or empty.
    ``progress`` is called with clips done and clips in all.
    """
    target = local_path(path)
    chosen = known_score_format(format or _format_by_name(target))
    clips = chosen.clips_for(scores, target, lossy=lossy, progress=progress)
    if lossy and "types that differ" not in chosen.holds:
        clips = _of_one_type(scores, clips)
    chosen.write(scores, target, clips)


def _format_by_name(path: Path) -> str:
    suffix = path.suffix.lower()
    return next(
        (made.name for made in SCORE_FORMATS.values() if suffix and suffix in made.suffixes), "tsv"
    )


def _of_one_type(
    scores: Scores, clips: Iterator[tuple[str, ClipScores]]
) -> Iterator[tuple[str, ClipScores]]:
    """Clips as float64 if any is: that holds every float32."""
    wide = any(of_clip.values.dtype == np.float64 for of_clip in scores.values())
    for clip, of_clip in clips:
        values = of_clip.values.astype(np.float64) if wide else of_clip.values
        yield clip, ClipScores.unchecked(values, of_clip.ticks)
