"""Corrections of reference events: the answers in an edited list of errors, and the truth after them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

import numpy as np

from ..data.clips import clip_id
from ..data.events import EventColumns
from ..data.ground_truth import GroundTruth
from ..data.tables import Cell, cell_number, is_empty
from ..data.times import to_ticks
from ..errors import SedscopeError, counted, listing, shortened, subject
from ..io.events.files import read_event_table
from ..io.events.source import Source
from ..io.locations import Location, input_location
from ..results.text import Form, Part, Records, Table
from ..tabular import TabularResult
from .error_list import Reference

Answer: TypeAlias = Literal["add", "replace", "remove"]

_LABEL = re.compile(
    r"(?P<label>.*\S)\s*\[(?P<answer>[^\[\]]*)\] (?P<type>\w+)"
    r"(?: of (?P<reference>.+) (?P<onset>\d+(?:\.\d+)?)-(?P<offset>\d+(?:\.\d+)?))?"
)
_NOTHING = ("", "?", "no")
_COLUMNS = ("answer", "reference_label", "reference_onset", "reference_offset")


@dataclass(frozen=True)
class Correction:
    """What happens to the reference events of a clip.

    Parameters
    ----------
    answer : {"add", "replace", "remove"}
        Whether to add the event, to put it in the place of the reference, or to remove the reference.
    clip : str
        The clip.
    event : tuple
        Onset, offset and label of the event.
    reference : tuple, optional
        Onset, offset and label of the reference. Without one, nothing can be replaced or removed.
    where : str
        Where it was read, for messages.
    """

    answer: Answer
    clip: str
    event: Reference
    reference: Reference | None = None
    where: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedTruth(TabularResult):
    """Ground truth after corrections. Tables have a row per change.

    Attributes
    ----------
    truth : GroundTruth
        The reference events, corrected.
    changes : tuple of Correction
        What changed, each change once.
    """

    truth: GroundTruth
    changes: tuple[Correction, ...]

    def __repr__(self) -> str:
        return f"<CorrectedTruth: {counted(len(self.changes), 'change')}, {self.truth!r}>"

    def _parts(self, form: Form, digits: int = 4) -> list[Part]:
        rows = [
            [
                change.clip,
                change.answer,
                "" if change.reference is None else _shown(change.reference),
                "" if change.answer == "remove" else _shown(change.event),
            ]
            for change in self.changes
        ]
        header = ["clip", "change", "before", "after"]
        number = f"{counted(len(rows), 'change')} of the reference events"
        return [Table(header, rows, names=4, title=number, noun="change")]

    def _records(self) -> Records:
        names = ("label", "onset", "offset")
        columns: dict[str, type] = {"filename": str, "change": str}
        for side in ("before", "after"):
            columns |= {f"{side}_{name}": str if name == "label" else float for name in names}
        rows = []
        for change in self.changes:
            before = (None,) * 3 if change.reference is None else _label_first(change.reference)
            after = (None,) * 3 if change.answer == "remove" else _label_first(change.event)
            rows.append((change.clip, change.answer, *before, *after))
        return columns, rows


def _label_first(event: Reference) -> tuple[str, float, float]:
    onset, offset, label = event
    return label, onset, offset


def _shown(event: Reference) -> str:
    return f"{event[2]} {event[0]:g}–{event[1]:g} s"


def read_corrections(path: str | Location) -> list[Correction]:
    """Read the answers in an edited list of errors.

    Parameters
    ----------
    path : str or Path
        A table with the columns of :class:`ErrorList`, its column ``answer`` filled; or a file or folder of
        events whose labels are those of :meth:`ErrorList.events`, with an answer instead of the question
        mark. ``add`` adds the event to the references, ``replace`` puts it in the place of the reference
        that it names, ``remove`` removes that reference. No answer, ``?`` and ``no`` change nothing.

    Returns
    -------
    list of Correction

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     track = Path(folder, "a.txt")
    ...     _ = track.write_text("0.0\\t1.5\\tDog [add] background\\n1.0\\t2.0\\tCat [?] background\\n")
    ...     [(edit.answer, edit.clip, edit.event) for edit in read_corrections(track)]
    [('add', 'a', (0.0, 1.5, 'Dog'))]
    """
    file = input_location(path)
    columns = None if file.is_dir() else _answer_columns(Source(file))
    table = read_event_table(file, format=None if columns is None else "dcase")
    rows, times, _ = table.checked_rows()
    if columns is None and rows and not any(_LABEL.fullmatch(table.label[i]) for i in rows):
        raise SedscopeError(
            f"{path} is not a list of errors: it has no columns 'event_label' and 'answer', and no label has "
            "an answer in brackets."
        )
    corrections: list[Correction] = []
    problems: list[str] = []
    for i, (onset, offset) in zip(rows, times.tolist(), strict=True):
        where = table.row_location(i)
        if columns is None:
            label, answer, reference = _parts_of_label(table.label[i])
        else:
            label, (answer, reference) = table.label[i], _answered(columns, i)
        if answer.lower() in _NOTHING:
            continue
        if answer.lower() not in get_args(Answer):
            problems.append(f"{where}: the answer is {shortened(repr(answer))}")
        elif reference is None and answer.lower() != "add":
            problems.append(f"{where}: there is no reference to {answer.lower()}")
        else:
            event = (onset, offset, label)
            chosen = cast(Answer, answer.lower())
            named = None if chosen == "add" else reference
            corrections.append(Correction(chosen, clip_id(table.clip[i]), event, named, str(where)))
    if problems:
        raise SedscopeError(
            f"{path}: {subject(len(problems), 'answer', 'is')} not usable: {listing(problems)}. Answer add, "
            "replace, remove or no."
        )
    return corrections


def _answer_columns(source: Source) -> list[Sequence[Cell]] | None:
    """Return the columns of answers and references of a table; None for other files."""
    if not {"event_label", "answer"} <= set(source.header):
        return None
    source.cells.require(_COLUMNS)
    return [source.cells.column(name) for name in _COLUMNS]


def _answered(columns: Sequence[Sequence[Cell]], i: int) -> tuple[str, Reference | None]:
    answer, label, onset, offset = (column[i] for column in columns)
    text = "" if is_empty(answer) else str(answer).strip()
    if any(map(is_empty, (label, onset, offset))):
        return text, None
    return text, (cell_number(onset), cell_number(offset), str(label).strip())


def _parts_of_label(text: str) -> tuple[str, str, Reference | None]:
    """Return class, answer and reference of a label that another program shows. Others have no answer."""
    parts = _LABEL.fullmatch(text)
    if parts is None:
        return text, "", None
    reference = None
    if parts["reference"] is not None:
        reference = (float(parts["onset"]), float(parts["offset"]), parts["reference"])
    return parts["label"], parts["answer"].strip(), reference


def apply_corrections(truth: GroundTruth, corrections: Iterable[Correction]) -> CorrectedTruth:
    """Change reference events as an edited list of errors says.

    Parameters
    ----------
    truth : GroundTruth
        The reference events that the errors were listed by.
    corrections : iterable of Correction
        What changes, as :func:`read_corrections` returns it. The same change may be listed twice.

    Returns
    -------
    CorrectedTruth

    Examples
    --------
    >>> truth = GroundTruth.from_dict({"a": [(0, 2, "Dog")]}, durations={"a": 9})
    >>> swap = Correction("replace", "a", (0, 2, "Cat"), (0, 2, "Dog"))
    >>> corrected = apply_corrections(truth, [swap, Correction("add", "a", (4, 5, "Dog"))])
    >>> corrected.truth.events("a")
    [(0.0, 2.0, 'Cat'), (4.0, 5.0, 'Dog')]
    """
    labels = truth.names_of(np.arange(len(truth)))
    times = zip(truth.event_clips.tolist(), truth.onsets.tolist(), truth.offsets.tolist(), strict=True)
    row_of = {
        (truth.clips[clip], onset, offset, label): i
        for i, ((clip, onset, offset), label) in enumerate(zip(times, labels, strict=True))
    }
    changes: dict[tuple[str, str, Reference | None, Reference | None], Correction] = {}
    changed: dict[int, Correction] = {}
    problems: list[str] = []
    for change in corrections:
        where = change.where or f"{change.clip} {_shown(change.event)}"
        after = None if change.answer == "remove" else change.event
        key = (change.clip, change.answer, change.reference, after)
        if change.clip not in truth.clips:
            problems.append(f"{where}: the ground truth has no clip {change.clip!r}")
        elif key in changes:
            continue
        elif change.reference is not None:
            row = row_of.get(_key(change.clip, change.reference))
            if row is None:
                problems.append(f"{where}: there is no reference {_shown(change.reference)}")
            elif row in changed:
                problems.append(
                    f"{where}: {_shown(change.reference)} is changed otherwise by {changed[row].where}"
                )
            else:
                changed[row] = change
        elif _key(change.clip, change.event) in row_of:
            problems.append(f"{where}: {_shown(change.event)} is a reference already")
        changes[key] = change
    if problems:
        raise SedscopeError(
            f"{subject(len(problems), 'correction', 'does')} not fit the ground truth: {listing(problems)}."
        )
    made = tuple(changes.values())
    return CorrectedTruth(_corrected(truth, labels, changed, made), made)


def _key(clip: str, event: Reference) -> tuple[str, int, int, str]:
    onset, offset = to_ticks(event[:2]).tolist()
    return clip, onset, offset, event[2]


def _corrected(
    truth: GroundTruth,
    labels: Sequence[str],
    changed: Mapping[int, Correction],
    changes: Sequence[Correction],
) -> GroundTruth:
    """Return the references that stay, followed by the new ones."""
    stays = np.array([i for i in range(len(truth)) if i not in changed], np.intp)
    new = [change for change in changes if change.answer != "remove"]
    ticks = to_ticks([change.event[:2] for change in new]).reshape(-1, 2)
    number = len(stays)
    columns = EventColumns(
        clip=[
            *(truth.clips[clip] for clip in truth.event_clips[stays]),
            *(change.clip for change in new),
        ],
        onset=np.concatenate([truth.onsets[stays], ticks[:, 0]]),
        offset=np.concatenate([truth.offsets[stays], ticks[:, 1]]),
        label=[*(labels[i] for i in stays.tolist()), *(change.event[2] for change in new)],
        where=lambda i: new[i - number].where or "a new event" if i >= number else "a reference",
        ignored=np.concatenate([truth.ignored[stays], np.zeros(len(new), bool)]),
    )
    durations = None
    if truth.durations is not None:
        durations = dict(zip(truth.clips, (truth.durations / 1e6).tolist(), strict=True))
    return GroundTruth(
        columns,
        clips=truth.clips,
        durations=durations,
        invalid=truth.invalid,
        overlaps=truth.overlaps,
        ignored_labels=truth.ignored_labels,
        where="the corrected ground truth",
    )
