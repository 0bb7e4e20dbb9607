"""Files of label maps: tables ``from,to`` or TOML, and the proposals that are written for editing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from ..data.choices import Side
from ..data.label_maps import Combine, LabelMap, ambiguous_names, joined_maps
from ..data.labels import shown_label, stripped
from ..errors import SedscopeError, counted, listing, located, shortened, with_guesses
from ..escaping import csv_cell
from .atomic_write import write_text
from .events.files import event_files, read_event_table
from .events.source import EventReadOptions, Source
from .locations import Location, input_location, local_path
from .scores.files import read_scores
from .systems import holds_detection_sets, holds_events, read_detection_sets
from .text_tables import read_text_table
from .toml_files import read_toml

_TOML = "a label map in TOML"


def read_label_map(path: str | Location, *, side: Side | None = None) -> LabelMap:
    """Read a label map from a file.

    Parameters
    ----------
    path : path or address
        A table with the columns ``from`` and ``to``, separated by commas, semicolons or tabs; other
        columns are not read. An empty ``to`` drops the label. Or a file ``.toml`` with a table
        ``[labels]``, in which an empty text drops a label, and perhaps the tables ``[system]`` and
        ``[truth]`` for one side only, and ``combine = "mean"``.
    side : {'system', 'truth'}, optional
        The side that the map is for. A file with tables for one side needs it.

    Returns
    -------
    LabelMap

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sedscope as sed
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "map.csv").write_text("from,to\\ndog,Dog\\nnoise,\\n")
    ...     sed.read_label_map(Path(folder, "map.csv"))
    LabelMap({'dog': 'Dog', 'noise': None}, combine='max')
    """
    if side is not None and side not in get_args(Side):
        raise SedscopeError(f"side={side!r} is not valid. Choose 'system' or 'truth'.")
    file = input_location(path)
    return _read_toml(file, side) if file.suffix == ".toml" else _read_table(file)


def read_side_map(path: Location, side: Side) -> LabelMap:
    """Read a label map for one side. Refuse a file that also has names for the other side."""
    other = "truth" if side == "system" else "system"
    if path.suffix == ".toml" and other in read_toml(path, _TOML):
        raise SedscopeError(
            f"{path} has a table [{other}], but `{side}_labels=` is for one side. Use `labels=`."
        )
    return read_label_map(path, side=side)


def _read_table(file: Location) -> LabelMap:
    table = read_text_table(file, delimiter=None)
    names: dict[str, str | None] = {}
    first: dict[str, int] = {}
    wrong: dict[int, str] = {}
    for row, (label, target) in enumerate(zip(*table.columns(("from", "to")), strict=True)):
        if not label:
            wrong[row] = "the row names no label in the column from"
        elif names.setdefault(label, target or None) != (target or None):
            line = table.lines[first[label]]
            wrong[row] = f"{shown_label(label)} has another new label in line {line}"
        first.setdefault(label, row)
    wrong |= {first[label]: problem for label, problem in ambiguous_names(names).items()}
    table.refuse(wrong, "is not clear in this label map")
    return LabelMap(names)


def _read_toml(file: Location, side: Side | None) -> LabelMap:
    content = read_toml(file, _TOML)
    tables = ("labels", *get_args(Side))
    unknown = [key for key in content if key not in (*tables, "combine")]
    if unknown:
        names = listing(with_guesses(unknown, [*tables, "combine"]))
        raise SedscopeError(
            f"{file}: a label map has no {names}. It has the tables [labels], [system] and [truth], and "
            "combine."
        )
    one_sided = [table for table in get_args(Side) if table in content]
    if one_sided and side is None:
        raise SedscopeError(
            f"{file} has a table [{one_sided[0]}], which is for one side only. Say which side the map is "
            "for: side='system' or side='truth'."
        )
    if not {*tables}.intersection(content):
        raise SedscopeError(f"{file} has no table [labels].")
    combine = content.get("combine", "max")
    if combine not in get_args(Combine):
        shown = shortened(repr(combine), 60)
        raise SedscopeError(f'{file}: combine = {shown} is not valid. Choose "max" or "mean".')
    chosen = ("labels",) if side is None else ("labels", side)
    label_map: LabelMap | None = None
    with located(file):
        for table in chosen:
            label_map = joined_maps(label_map, LabelMap(_texts(content, table), combine))
    assert label_map is not None
    return label_map


def _texts(content: Mapping[str, Any], table: str) -> dict[str, str | None]:
    """Return the names of a table of a TOML file, which must be texts."""
    names = content.get(table, {})
    if not isinstance(names, dict):
        raise SedscopeError(f"[{table}] must be a table of labels.")
    wrong = [
        f"{label} = {shortened(repr(name), 60)}"
        for label, name in names.items()
        if not isinstance(name, str)
    ]
    if wrong:
        raise SedscopeError(
            f'[{table}]: new labels must be texts, and "" drops a label: {listing(wrong)}. Quote labels that '
            "have a point in their names."
        )
    return names


def read_labels(
    path: Location,
    format: str | None = None,
    options: EventReadOptions | None = None,
    *,
    system: bool = False,
) -> list[str]:
    """Return the labels in a file, sorted.

    ``system``: whether it may hold scores, or detections by threshold.
    """
    named = options is not None and bool(options.columns)
    if system and format is None and not named and path.is_dir() and holds_detection_sets(path):
        events = read_detection_sets(path).values()
        return sorted(
            {event[2].strip() for of_set in events for rows in of_set.values() for event in rows}
        )
    if system and not named and not holds_events(path, format):
        return sorted(read_scores(path, format=format).classes)
    table = read_event_table(path, format=format, options=options or EventReadOptions())
    cells = (cell.split(",") if table.weak else [cell] for cell in table.label)
    return sorted({label for row in cells for label in stripped(row) if label})


_SPECIES_COLUMNS = (("Common name", "Scientific name"), ("common_name", "scientific_name"))
"""Columns of BirdNET's tables that name the same species."""


def scientific_names(path: Location) -> dict[str, str]:
    """Return ``Genus species_Common name`` for each name of a species in BirdNET's tables, by that name.

    A name that belongs to several species is left out, and so is everything from other files.
    """
    files = [file for file in event_files(path) if file.stat().st_size] if path.is_dir() else [path]
    full: dict[str, set[str]] = {}
    for file in files:
        source = Source(file)
        for columns in _SPECIES_COLUMNS:
            if (source.is_text or source.is_parquet) and {*columns} <= set(source.header):
                for pair in set(zip(*map(source.cells.text_column, columns), strict=True)):
                    common, scientific = (name.strip() for name in pair)
                    for name in (common, scientific):
                        full.setdefault(name, set()).add(f"{scientific}_{common}")
    return {name: next(iter(names)) for name, names in full.items() if len(names) == 1}


class LabelProposal:
    """All labels of a system and of the ground truth, and new names where they are spelled differently.

    ``full_names``: longer names of labels of the system, which may say what the ground truth calls them.
    """

    def __init__(
        self, system: Iterable[str], truth: Iterable[str], full_names: Mapping[str, str] | None = None
    ) -> None:
        self.system, self.truth = tuple(dict.fromkeys(system)), tuple(dict.fromkeys(truth))
        self.names = dict(LabelMap.propose(self.system, self.truth).names)
        known = {*self.names, *self.truth}
        longer = {full: label for label, full in (full_names or {}).items() if label in self.system}
        longer = {full: label for full, label in longer.items() if label not in known}
        left = {*self.truth}.difference(self.system, self.names.values())
        more = LabelMap.propose(longer, sorted(left)).names
        self.names |= {longer[full]: new for full, new in more.items()}
        ours, theirs = {*self.system}, {*self.truth}
        paired = {*self.names.values()}
        self.common = [label for label in self.system if label in theirs]
        self.only_system = [
            label for label in self.system if label not in theirs and label not in self.names
        ]
        self.only_truth = [label for label in self.truth if label not in ours and label not in paired]

    def rows(self) -> list[tuple[str, str, str]]:
        """Return for each label its name, its new name, and who has it. Only proposals change names."""
        rows = [(label, str(new), "system, proposed") for label, new in self.names.items()]
        rows += [(str(new), str(new), "ground truth") for new in self.names.values()]
        rows += [(label, label, "only the system") for label in self.only_system]
        rows += [(label, label, "only the ground truth") for label in self.only_truth]
        return rows + [(label, label, "both") for label in self.common]

    def save(self, path: str | Path) -> None:
        """Write the rows as a table that :func:`read_label_map` reads. Unedited, it renames as proposed."""
        file = local_path(path)
        if file.suffix == ".toml":
            raise SedscopeError(
                f"{path}: the proposal is a table. Choose a name that ends with .csv or .tsv."
            )
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if file.suffix == ".tsv" else ",", lineterminator="\n")
        rows = [("from", "to", "note"), *self.rows()]
        writer.writerows(rows if file.suffix == ".tsv" else [[*map(csv_cell, row)] for row in rows])
        write_text(file, text.getvalue())

    def __str__(self) -> str:
        lines = [f"{shown_label(label)} → {shown_label(str(new))}" for label, new in self.names.items()]
        lines = [f"proposed: {counted(len(lines), 'new label')}", *(f"  {line}" for line in lines)]
        for who, labels in (
            ("both sides", self.common),
            ("only the system", self.only_system),
            ("only the ground truth", self.only_truth),
        ):
            shown = f": {listing([shown_label(label) for label in labels], 30)}" if labels else ""
            lines.append(f"{who}: {counted(len(labels), 'label')}{shown}")
        return "\n".join(lines)
