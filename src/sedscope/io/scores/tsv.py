"""A folder of DCASE score tables: tabs, ``onset offset class…``, a row a frame, one file a clip."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from ...data.scores import ClipScores, Scores
from ...errors import SedscopeError, listing, raise_together
from ..atomic_write import filling, replacing
from ..locations import Place, folder_content
from ..score_tables import TIMES, header_classes, read_clip
from ..text_tables import read_bytes, split_header
from .format import Given, ScoreFormat


def recognise(path: Place) -> bool:
    """A folder with tables of tabs that do not begin like a list of events."""
    first = next(iter(_tables(path)), None)
    if first is None:
        return False
    try:
        return "event_label" not in split_header(read_bytes(first), first)[0]
    except SedscopeError:
        return True  # reading says what is wrong


def read(path: Place, _: Given) -> Scores:
    """Scores from a folder of tab-separated score tables, one a clip, named after the clip."""
    if not path.is_dir():
        raise SedscopeError(f"{path} is not a folder of score tables")
    files = [*_tables(path)]
    if not files:
        raise SedscopeError(f"{path} holds no score tables (*.tsv)")
    classes = _first_classes(files)
    load = partial(_load, path, classes)
    return Scores([file.stem for file in files], load, classes=classes, thread_safe=True)


def _tables(folder: Place) -> Iterator[Place]:
    return (file for file in folder_content(folder, "*.tsv") if file.is_file())


def _load(folder: Place, classes: Sequence[str], name: str) -> ClipScores:
    return read_clip(folder / f"{name}.tsv", classes)


def write(scores: Scores, path: Path, clips: Iterator[tuple[str, ClipScores]]) -> None:
    """Write a folder of tab-separated score tables; numbers are as short as reads back exactly."""
    import polars

    unfit = [repr(name) for name in scores.classes if name in TIMES or "\n" in name]
    if unfit:
        raise SedscopeError(f"a score table has no place for classes named {listing(unfit)}")
    with filling(path) as place:
        for clip, of_clip in clips:
            edges = of_clip.edges
            columns = {"onset": edges[:-1], "offset": edges[1:]}
            columns |= dict(zip(scores.classes, of_clip.values.T, strict=True))
            with replacing(place / f"{clip}.tsv") as temporary, temporary.open("wb") as file:
                polars.DataFrame(columns).write_csv(file, separator="\t")


def _first_classes(files: Collection[Place]) -> tuple[str, ...]:
    """The classes of the first table; if it cannot be read, what is wrong with all that cannot."""
    errors = []
    for file in files:
        try:
            classes = header_classes(split_header(read_bytes(file), file)[0], str(file))
        except SedscopeError as error:
            errors.append(error)
        else:
            if not errors:
                return classes
        if len(errors) >= 20:
            break
    raise_together(errors)
    raise AssertionError


FORMATS = (
    ScoreFormat(
        name="tsv",
        about="a folder of tab-separated DCASE score tables onset offset class…, one a clip",
        recognise=recognise,
        read=read,
        write=write,
        holds=frozenset({"types that differ"}),
        travels=True,
    ),
)
