"""From one format to another: what the target can hold arrives whole, and all else is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..data.chunks import Chunks, Unit
from ..data.event_table import EventTable
from ..data.scores import Scores
from ..errors import SedscopeError, counted, listing
from .events import EVENT_FORMATS, Choices, EventSet, Source, find_event_format, read_event_table
from .ground_truth import read_durations, write_durations, write_event_set
from .locations import Address, Place, local_path, place
from .scores import SCORE_FORMATS, find_score_format, read_scores, write_scores


@dataclass(frozen=True)
class Converted:
    """What was converted."""

    kind: Literal["scores", "events"]
    """What the source holds."""
    source: str
    """The format that was read."""
    target: str
    """The format that was written."""
    clips: int

    def __str__(self) -> str:
        return f"{counted(self.clips, 'clip')} of {self.kind}, from {self.source} to {self.target}"


def convert(
    source: str | Place,
    target: str | Path,
    *,
    format: str | None = None,
    to: str | None = None,
    columns: Mapping[str, str] | None = None,
    label: str | None = None,
    durations: str | Place | Mapping[str, float] | None = None,
    durations_output: str | Path | None = None,
    classes: Sequence[str] | None = None,
    frame: float | None = None,
    stitch: Chunks | Literal[False] = False,
    unit: Unit = "seconds",
    lossy: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Converted:
    """Write the scores or events of ``source`` to ``target`` in another format.

    ``format`` and ``to`` name the formats where content and file names do not tell. What the target
    cannot hold is an error that says so, unless ``lossy``. ``columns`` and ``label``: see
    :func:`read_ground_truth`; ``classes`` and ``frame``: see :func:`read_scores`. ``durations``: the
    clips' durations, for labels of whole clips and for formats that hold them; ``durations_output``: a
    file for those of the source. ``stitch`` and ``unit``: join chunks of recordings (None: by their
    names), see :meth:`Scores.stitch`.
    """
    here, there = place(source), local_path(target)
    if isinstance(here, Path) and here.exists() and there.exists() and here.samefile(there):
        raise SedscopeError(f"{there}: source and target are the same")
    if _holds_scores(here, format):
        _refuse(here, "scores", columns=columns, label=label, durations=durations)
        _refuse(here, "scores", durations_output=durations_output)
        scores = read_scores(here, format=format, classes=classes, frame=frame)
        if stitch is not False:
            scores = scores.stitch(stitch, unit=unit)
        found = format or _name(find_score_format(here))
        chosen = to or _target(there, "scores")
        if chosen in EVENT_FORMATS:
            raise SedscopeError(
                f"{here} holds scores, and {chosen} events: which are there at a threshold, see detect "
                "(sedscope detect)"
            )
        write_scores(scores, there, format=chosen, lossy=lossy, progress=progress)
        return Converted("scores", found, chosen, len(scores))
    table, found = _events(here, format, Choices(columns or {}, label))
    given = read_durations(durations) if isinstance(durations, (str, Path, Address)) else durations
    ends = table.durations if given is None else given
    events = table.events(ends)
    chosen = to or _target(there, "events")
    if chosen in SCORE_FORMATS:
        average: Literal["average", "error"] = "average" if stitch is not False else "error"
        scores = Scores.from_events(events, classes=classes, overlaps=average)
        write_scores(scores, there, format=chosen, lossy=lossy, progress=progress)
        return Converted("events", found, chosen, len(scores))
    _refuse(here, "events", classes=classes, frame=frame, stitch=None if stitch is False else True)
    kept = ends if given is None or "durations" in EVENT_FORMATS[chosen].holds else {}
    if durations_output is not None:
        write_durations(ends, durations_output)
        kept = kept if "durations" in EVENT_FORMATS[chosen].holds else {}
    write_event_set(EventSet(events, kept), there, format=chosen, lossy=lossy)
    return Converted("events", found, chosen, len(events))


def _refuse(path: Place, kind: str, **options: object) -> None:
    """Refuse options that mean nothing for what is converted."""
    given = [f"{name}=" for name, value in options.items() if value is not None]
    if given:
        raise SedscopeError(f"{path} holds {kind}: {listing(given)} cannot be used with them here")


def _holds_scores(path: Place, format: str | None) -> bool:
    if format is not None and format not in {**SCORE_FORMATS, **EVENT_FORMATS}:
        known = listing([*SCORE_FORMATS, *EVENT_FORMATS], limit=30)
        raise SedscopeError(f"no format {format!r}; there are {known}")
    return format in SCORE_FORMATS if format is not None else find_score_format(path) is not None


def _events(path: Place, format: str | None, choices: Choices) -> tuple[EventTable, str]:
    table = read_event_table(path, format=format, choices=choices)
    if format is not None or path.is_dir():
        return table, format or "events"
    return table, find_event_format(Source(path), choices).name


def _name(found: object) -> str:
    return str(getattr(found, "name", ""))


def _target(path: Path, kind: Literal["scores", "events"]) -> str:
    """The format that a file name means; several candidates are an error that names them."""
    name = path.name.lower()
    formats = {**SCORE_FORMATS} if kind == "scores" else {**EVENT_FORMATS}
    by_suffix = {suffix: made.name for made in formats.values() for suffix in made.suffixes}
    if not path.suffix and "" in by_suffix:
        return by_suffix[""]
    fitting = [suffix for suffix in by_suffix if suffix and name.endswith(suffix)]
    if fitting:
        return by_suffix[max(fitting, key=len)]
    raise SedscopeError(
        f"{path}: its name does not say which format of {kind} to write: choose with to= (--to) from "
        f"{listing([*formats], limit=30)}"
    )
