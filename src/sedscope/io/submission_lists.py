"""Which systems are to be ranked: paths, patterns such as ``submissions/*``, and tables of teams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from ..errors import SedscopeError, by_kind, listing
from .archives import archive_stem
from .locations import Address, Location, location, shown_name
from .text_tables import TextTable, delimiter_of, read_text_table

COLUMNS = ("team", "name", "path")
_LONGEST_HEADER = 10_000  # bytes; that of a table of teams is short


@dataclass(frozen=True)
class ListedSystem:
    """A system and the paths of its runs."""

    team: str
    name: str
    paths: tuple[Location, ...]


def list_systems(texts: Sequence[str]) -> list[ListedSystem]:
    """Return the systems that paths, ``NAME=PATH``, patterns and tables ``team,name,path`` list.

    Paths in a table start from the folder of the table. Rows with the same team and name are runs of one
    system. Elsewhere, each path is a system and a team of its own. It is called after the last part of its
    path, or where two have the same, after the part of the path in which they differ.
    """
    runs: dict[tuple[str, str], list[Location]] = {}
    paths: list[Location] = []
    for text in texts:
        name, equals, named = text.partition("=")
        if _is_table(text):
            _add_table(read_text_table(text, delimiter=None), runs)
        # Path.exists raises for a name that is too long
        elif name and equals and os.path.exists(named) and not os.path.exists(text):  # noqa: PTH110
            _add_alone(name, location(named.rstrip("/\\")), runs)
        else:
            paths += _matching(text)
    unique = list({str(path): path for path in paths}.values())
    for name, path in zip(_names(unique), unique, strict=True):
        _add_alone(name, path, runs)
    return [
        ListedSystem(team, name, tuple(sorted(of_system, key=str)))
        for (team, name), of_system in runs.items()
    ]


def _add_alone(name: str, path: Location, runs: dict[tuple[str, str], list[Location]]) -> None:
    """Add a system that is a team of its own."""
    others = runs.setdefault((name, name), [])
    if others:
        raise SedscopeError(
            f"Two systems have the name {name}: {others[0]} and {path}. Name them apart with NAME=PATH; list "
            "runs of one system in a table team,name,path."
        )
    others.append(path)


def listed_paths(texts: Sequence[str]) -> list[Location]:
    """Return all paths that are read: of the tables and of the systems."""
    tables = [location(text) for text in texts if _is_table(text)]
    return [*tables, *(path for system in list_systems(texts) for path in system.paths)]


def refuse_outward_links(submissions: Sequence[Location]) -> None:
    """Refuse submissions with links that lead out of them: a team must not name files of this machine.

    A submission may itself be a link, which whoever collects them has made.
    """
    problems = []
    for submission in submissions:
        root = Path(os.path.realpath(str(submission)))
        parts = os.walk(root) if isinstance(submission, Path) else ()
        for folder, folders, files in parts:
            links = (
                path for path in map(Path(folder).joinpath, (*folders, *files)) if path.is_symlink()
            )
            problems += [
                f"{submission / str(link.relative_to(root))}: this is a link that leads out of the "
                "submission. Replace it with what it leads to"
                for link in links
                if not Path(os.path.realpath(link)).is_relative_to(root)
            ]
    if problems:
        raise SedscopeError(f"{listing(by_kind(problems))}.", lines=sorted(problems))


def _is_table(text: str) -> bool:
    """Return whether a text is the path of a table of teams."""
    path = location(text)
    if not isinstance(path, Path) or path.suffix.lower() not in (".csv", ".tsv"):
        return False
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            line = file.readline(_LONGEST_HEADER).decode("utf-8").lstrip("\ufeff")
    except (OSError, ValueError):
        return False  # reading says what is wrong
    line = line.rstrip("\r\n")
    cells = [cell.strip().strip('"').lower() for cell in line.split(delimiter_of(line))]
    return set(COLUMNS) <= set(cells)


def _add_table(table: TextTable, runs: dict[tuple[str, str], list[Location]]) -> None:
    """Add the rows of a table of teams."""
    columns = table.columns(COLUMNS, "A table of teams names its columns in small letters.")
    rows = [*zip(*columns, strict=True)]
    table.refuse(
        {i: "it needs all of them" for i, row in enumerate(rows) if not all(row)},
        "lacks a team, a name or a path",
    )
    for team, name, path in rows:
        target = location(path)
        if isinstance(target, Path) and isinstance(table.path, Path):
            target = table.path.parent / target
        runs.setdefault((team, name), []).append(target)
    if not table.rows:
        raise SedscopeError(f"{table.path} lists no systems.")


def _matching(text: str) -> list[Location]:
    """Return a path, or the paths that match a pattern."""
    path = location(text.rstrip("/\\") or text)
    if isinstance(path, Address) or not has_magic(text) or os.path.exists(text):  # noqa: PTH110
        return [path]
    matches = sorted(glob(text))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    if not matches:
        raise SedscopeError(f"No file or folder matches {text}.")
    return [location(match.rstrip("/\\")) for match in matches]


def _names(paths: Sequence[Location]) -> list[str]:
    """Return a name for each path: its last part, or with the folders in which paths differ."""
    texts = [str(path) for path in paths]
    last = [shown_name(archive_stem(path.name)) or text for path, text in zip(paths, texts, strict=True)]
    if len(set(last)) == len(last):
        return last
    if all(isinstance(path, Path) for path in paths):
        absolute = [os.path.abspath(text) for text in texts]  # noqa: PTH100 (links stay as they are)
        shared = os.path.commonpath([os.path.dirname(text) for text in absolute])  # noqa: PTH120
        texts = [Path(text).relative_to(shared).as_posix() for text in absolute]
    return [shown_name(text) for text in texts]
