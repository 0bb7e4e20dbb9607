"""What scores are made from in memory: arrays, pieces, functions and tables, checked clip by clip."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numpy.typing import ArrayLike

from ..errors import SedscopeError, listing, raise_together, subject
from .choices import Gaps, check_gaps
from .clip_ids import clip_id
from .frames import FrameLike, clip_from_table, table_classes
from .recordings import ClipPieces
from .score_arrays import ClipScores, Grid, as_scores, check_shape
from .score_checks import whole_clip
from .shared_arrays import protected


def clips_of_arrays(arrays: Mapping[str, ArrayLike], grid: Grid, classes: int) -> dict[str, ClipScores]:
    """Make clips from arrays. All problems are reported together."""
    if not isinstance(arrays, Mapping):
        raise SedscopeError(f"Give a mapping from clips to arrays, not {type(arrays).__name__}.")
    clips: dict[str, ClipScores] = {}
    errors: list[SedscopeError] = []
    for name in arrays:
        try:
            returned = arrays[name]
            clip = whole_clip(name, _checked_clip(name, returned, grid, classes))
            # a mapping that is not a dict may make its arrays one after the other in one place
            clips[name] = clip if isinstance(arrays, dict) else protected(clip, returned)
        except SedscopeError as error:
            errors.append(error)
    raise_together(errors)
    return clips


def check_pieces(clips: Mapping[str, ClipPieces]) -> None:
    """Refuse clips that are not in pieces."""
    if not isinstance(clips, Mapping):
        raise SedscopeError(f"Give a mapping from clips to ClipPieces, not {type(clips).__name__}.")
    wrong = [name for name, clip in clips.items() if not isinstance(clip, ClipPieces)]
    if wrong:
        raise SedscopeError(f"{subject(len(wrong), 'clip', 'is')} not ClipPieces: {listing(wrong)}.")


def loader_of_function(
    function: Callable[[str], ArrayLike | ClipScores | ClipPieces], grid: Grid | None, classes: int
) -> Callable[[str], ClipScores | ClipPieces]:
    """Return a function that calls a function of the user and checks what it returns."""

    def load(name: str) -> ClipScores | ClipPieces:
        returned = function(name)
        clip = _checked_clip(name, returned, grid, classes)
        return protected(clip, returned) if isinstance(clip, ClipScores) else clip

    return load


def loader_of_tables(
    tables: Mapping[str, FrameLike], gaps: Gaps
) -> tuple[tuple[str, ...], Callable[[str], ClipScores]]:
    """Return the classes of score tables, and a function that turns one of them into a clip."""
    if tables is not None and not isinstance(tables, Mapping):
        raise SedscopeError(f"Give a mapping from clips to tables, not {type(tables).__name__}.")
    if not tables:
        raise SedscopeError("There are no score tables.")
    check_gaps(gaps)
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
