"""What the columns of a table of scores are: wide, long, or with a column of lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...data.score_sources import CLIP_COLUMNS
from ...errors import SedscopeError, listing
from .format import ScoreReadOptions

_NAMES = {
    "clip": CLIP_COLUMNS,
    "onset": ("onset",),
    "offset": ("offset",),
    "frame": ("frame",),
    "label": ("label", "event_label", "class"),
    "score": ("score", "probability"),
}
"""What columns are called that have a role, unless the user names them."""


@dataclass(frozen=True)
class TableLayout:
    """Which columns of a table have which role."""

    clip: str
    onset: str | None
    """None if frames are numbered."""
    offset: str | None
    """None if the length of frames is given."""
    frame: str | None
    classes: tuple[str, ...]
    """Those of a wide table, in the order of its columns, or those that the user gave."""
    label: str | None = None
    score: str | None = None
    """Of a long table."""
    lists: str | None = None
    """The column with the scores of all classes."""

    @property
    def columns(self) -> list[str]:
        """The columns that clips are made of."""
        times = [self.onset or self.frame, self.offset]
        scores = [self.label, self.score, self.lists]
        named = [name for name in (*times, *scores) if name is not None]
        return named if self.label or self.lists else [*named, *self.classes]


def table_layout(
    schema: Mapping[str, Any], where: object, options: ScoreReadOptions, constant: Mapping[str, str]
) -> TableLayout:
    """Decide what the columns of a table are. Refuse others, and say how to name them.

    ``constant``: what the folders of a partitioned table say of all rows of a file.
    """
    import polars

    named = dict(options.columns)
    unknown = [repr(role) for role in named if role not in (*_NAMES, "scores")]
    absent = [repr(name) for name in named.values() if name not in schema and name not in constant]
    if unknown or absent:
        problem = f"no role {listing(unknown)}" if unknown else f"no column {listing(absent)}"
        raise _misfit(where, schema, f"There is {problem}.")

    def column(role: str) -> str | None:
        names = [named[role]] if role in named else _NAMES[role]
        return next((name for name in names if name in schema or name in constant), None)

    clip, onset, offset, frame = (column(role) for role in ("clip", "onset", "offset", "frame"))
    label, score = column("label"), column("score")
    lists = [name for name, kind in schema.items() if isinstance(kind, (polars.List, polars.Array))]
    lists = [named["scores"]] if "scores" in named else lists
    frame = frame if onset is None and options.frame is not None else None
    if clip is None:
        raise _misfit(where, schema, "No column is known to be the clip.")
    if offset is None and options.frame is None:
        raise _misfit(
            where, schema, "There is no offset of frames. Give frame=, their length in seconds."
        )
    if onset is None and frame is None:
        raise _misfit(where, schema, "No column is known to be the onset of frames.")
    if offset is not None and options.frame is not None:
        raise _misfit(where, schema, "The table has offsets, so frame= cannot be given.")
    layout = TableLayout(clip, onset, offset, frame, tuple(options.classes or ()))
    if len(lists) == 1:
        if not layout.classes:
            raise _misfit(where, schema, f"Give classes=, one for each score in {lists[0]!r}.")
        return replace(layout, lists=lists[0])
    if label is not None and score is not None and not schema[label].is_numeric():
        return replace(layout, label=label, score=score)
    roles = (clip, onset, offset, frame)
    others = layout.classes or tuple(name for name in schema if name not in roles)
    odd = [name for name in others if name not in schema or not schema[name].is_numeric()]
    if odd or not others:
        names = listing([repr(name) for name in odd])
        reason = f"These columns are not scores: {names}." if odd else "There are no scores."
        raise _misfit(where, schema, f"{reason} Give classes=, the columns that are.")
    return replace(layout, classes=others)


def _has_role(schema: Mapping[str, Any], role: str) -> bool:
    return any(name in schema for name in _NAMES[role])


def looks_like_scores(schema: Mapping[str, Any], constant: Mapping[str, str], *, alone: bool) -> bool:
    """Return whether columns look like scores of frames, not like events.

    ``constant``: as for :func:`table_layout`. ``alone``: whether it is the only file. Then labels are those
    of events, whose table has the same columns.
    """
    import polars

    labelled, scored = _has_role(schema, "label"), _has_role(schema, "score")
    if not _has_role({**schema, **constant}, "clip") or (labelled and (alone or not scored)):
        return False
    if labelled or any(isinstance(kind, (polars.List, polars.Array)) for kind in schema.values()):
        return True
    others = [
        kind for name, kind in schema.items() if name not in (*CLIP_COLUMNS, "onset", "offset", "frame")
    ]
    timed = _has_role(schema, "onset") or _has_role(schema, "frame")
    return timed and bool(others) and all(kind.is_numeric() for kind in others)


def _misfit(where: object, schema: Mapping[str, Any], problem: str) -> SedscopeError:
    """Return an error that shows the schema, and the option that names columns."""
    columns = listing([f"{name} ({kind})" for name, kind in schema.items()], limit=12)
    return SedscopeError(
        f"{where} is no table of scores. {problem} Its columns are {columns}. A wide table has the columns "
        "clip, onset, offset and one per class; a long one clip, onset, offset, label and score; or the "
        "scores of all classes are one column of lists. Name other columns with "
        "`columns={'clip': …, 'onset': …, 'offset': …, 'frame': …, 'label': …, 'score': …, 'scores': …}`."
    )
