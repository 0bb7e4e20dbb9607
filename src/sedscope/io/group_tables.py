"""Groups of clips or classes in files: a table with a name and a group in each row."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import SedscopeError, listing, shortened, subject
from .locations import Location
from .text_tables import TextTable, read_text_table

CLIP_COLUMNS = ("filename", "clip")
CLASS_COLUMNS = ("label", "class", "event_label")
_GROUP = "group"


def read_clip_groups(path: str | Location) -> dict[str, str]:
    """Read the group of each clip from a table ``filename group``, with tabs, semicolons or commas."""
    return _read_groups(path, CLIP_COLUMNS)


def read_class_groups(path: str | Location) -> dict[str, str]:
    """Read the group of each class from a table ``label group``, with tabs, semicolons or commas."""
    return _read_groups(path, CLASS_COLUMNS)


def _read_groups(path: str | Location, names: Sequence[str]) -> dict[str, str]:
    table = read_text_table(path, delimiter=None)
    named = next((name for name in names if name in table.header), None)
    if named is None or _GROUP not in table.header:
        columns = listing([repr(shortened(name, 60)) for name in table.header])
        raise SedscopeError(
            f"{path}: the first line must name the columns {names[0]!r} and {_GROUP!r}. It has {columns}."
        )
    groups: dict[str, str] = {}
    wrong: dict[int, str] = {}
    column, group_column = table.header.index(named), table.header.index(_GROUP)
    for row, cells in enumerate(table.rows):
        name, group = cells[column].strip(), cells[group_column].strip()
        if not name or not group:
            wrong[row] = f"there is no {_GROUP if name else named}"
        elif groups.setdefault(name, group) != group:
            wrong[row] = (
                f"{shortened(name, 60)!r} is in the group {shortened(groups[name], 60)!r} as well"
            )
    if wrong:
        raise _refusal(table, wrong)
    return groups


def _refusal(table: TextTable, wrong: dict[int, str]) -> SedscopeError:
    shown = [f"line {table.lines[row]}: {problem}" for row, problem in wrong.items()]
    return SedscopeError(
        f"{table.path}: {subject(len(wrong), 'row', 'does')} not name one group: {listing(shown)}.",
        lines=[f"{table.path}:{table.lines[row]}: {problem}" for row, problem in wrong.items()],
    )
