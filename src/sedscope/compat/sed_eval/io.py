"""Read event lists, scene lists and lists of file pairs."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from .event_lists import MetaDataContainer

StrPath = str | os.PathLike[str]

_FORMATS = {".txt": "TXT", ".ann": "ANN", ".csv": "CSV"}
_DELIMITERS = ("\t", ",", ";", " ")
_SNIFFED = 1024  # characters of a file that tell its delimiter
_AUDIO = (".wav", ".flac", ".mp3", ".aac", ".aiff", ".ogg", ".raw")
_FILE_SUFFIXES = (*_AUDIO, ".cpickle", ".pickle", ".pkl", ".npy")
_SPLIT_TAGS = re.compile(r'[;|:#"]')

# What the columns of a row hold, as `_kind` says it, and what they then mean.
_LAYOUTS = {
    kinds: names.split()
    for alternatives, names in (
        ("F F- F-- F---", "filename"),
        ("NN", "onset offset"),
        ("NNS NN2", "onset offset event_label"),
        ("FNN", "filename onset offset"),
        ("FNNS SNNS", "filename onset offset event_label"),
        ("FNNSS", "filename onset offset event_label identifier"),
        ("FSNN", "filename scene_label onset offset"),
        ("FSNNS", "filename scene_label onset offset event_label"),
        ("FSNNS1 FSNNSS", "filename scene_label onset offset event_label source_label"),
        ("FSNNS1S FSNNSSS", "filename scene_label onset offset event_label source_label identifier"),
        ("FSNNL", "filename scene_label onset offset tags"),
        ("FS", "filename scene_label"),
        ("FSS", "filename scene_label identifier"),
        ("FSF", "filename scene_label filename_original"),
        ("FSL", "filename scene_label tags"),
        ("FSLS", "filename scene_label tags identifier"),
        ("FL", "filename tags"),
        ("FLS", "filename tags identifier"),
    )
    for kinds in alternatives.split()
}
_COLUMNS = {"file", "event_onset", "event_offset"}.union(*_LAYOUTS.values())
"""The names by which the first row of a table is recognised."""


def load_event_list(filename: StrPath, **kwargs: Any) -> MetaDataContainer:
    """Read an event list.

    Parameters
    ----------
    filename : path
        A text file (.txt, .ann) with rows of onset, offset and label, perhaps after the name of a file and a
        scene, or a table (.csv, .tsv) whose header names the columns.
    **kwargs
        ``file_format``: "TXT", "ANN" or "CSV", whatever the file's name says. ``fields``: the names of the
        columns of a table, instead of those in its header. ``csv_header``: False for a table without one.
        ``delimiter``: what separates the columns, which is recognised otherwise. ``decimal``: "comma" for
        numbers such as 0,5.

    Returns
    -------
    MetaDataContainer
        One item per row.
    """
    return _read(filename, **kwargs)


def load_scene_list(filename: StrPath, **kwargs: Any) -> MetaDataContainer:
    """Read a scene list, with rows of the name of a file and its scene.

    Parameters
    ----------
    filename : path
        A text file (.txt, .ann), or a table (.csv, .tsv) whose header names the columns.
    **kwargs
        See `load_event_list`.

    Returns
    -------
    MetaDataContainer
        One item per row.
    """
    return _read(filename, **kwargs)


def load_file_pair_list(filename: StrPath) -> list[dict[str, str]]:
    """Read a list of pairs of files, with rows of a reference file and an estimated file.

    Parameters
    ----------
    filename : path
        A text file with commas, semicolons or tabs.

    Returns
    -------
    list of dict
        The keys are ``reference_file`` and ``estimated_file``.
    """
    text = Path(filename).read_text(encoding="utf-8")
    try:
        dialect = csv.Sniffer().sniff(text.partition("\n")[0] + "\n", ",;\t")
    except csv.Error:
        raise ValueError(
            f"Unknown delimiter in file [{filename}]. Use a comma, semicolon or tab."
        ) from None
    pairs = []
    for row in csv.reader(StringIO(text), dialect):
        if len(row) != 2:
            raise ValueError(
                f"Unknown file pair list format in file [{filename}]: {row} is not a pair of files."
            )
        pairs.append({"reference_file": row[0], "estimated_file": row[1]})
    return pairs


def _read(
    filename: StrPath,
    *,
    fields: list[str] | None = None,
    csv_header: bool | None = True,
    file_format: str | None = None,
    delimiter: str | None = None,
    decimal: str = "point",
) -> MetaDataContainer:
    """Read the rows of a file; see `load_event_list`."""
    decimal_comma = decimal == "comma"
    path = Path(filename)
    if not path.is_file():
        raise FileNotFoundError(f"File not found [{filename}]")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise OSError(f"Unknown format of file [{filename}]: it is not text in UTF-8.") from None
    delimiter = delimiter or _delimiter(text[:_SNIFFED], decimal_comma)
    layout = file_format or _FORMATS.get(path.suffix.lower())
    if layout is None and (fields is not None or _has_header(text, delimiter)):
        layout = "CSV"
    if layout not in _FORMATS.values():
        raise OSError(
            f"Unknown format [{layout or path.suffix}] of file [{filename}]. Use a .txt, .ann or .csv file, "
            "or say file_format='CSV' for a table with a header and file_format='TXT' for one without."
        )
    rows = csv.reader(StringIO(text), delimiter=delimiter)
    if layout != "CSV":
        return MetaDataContainer(_row_by_content(row, filename) for row in rows if row)
    if fields is None and csv_header is None:
        raise ValueError(f"Parameters fields or csv_header has to be set for the CSV file [{filename}].")
    return MetaDataContainer(_table(rows, fields, bool(csv_header), decimal_comma))


def _delimiter(sample: str, decimal_comma: bool) -> str:
    """Guess what separates the columns; a tab where there is nothing to tell from."""
    try:
        delimiter = csv.Sniffer().sniff(sample).delimiter
    except csv.Error:
        return "\t"
    possible = delimiter in _DELIMITERS and not (decimal_comma and delimiter == ",")
    return delimiter if possible else "\t"


def _has_header(text: str, delimiter: str) -> bool:
    """Return whether the first row names columns of an event list, a scene list or a tag list."""
    return not _COLUMNS.isdisjoint(next(csv.reader(StringIO(text), delimiter=delimiter), []))


def _table(
    rows: Iterator[list[str]], fields: list[str] | None, header: bool, decimal_comma: bool
) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of a table with named columns."""
    if header:
        names = next(rows, [])
        fields = names if fields is None else fields
    for row in rows:
        if row:
            yield dict(zip(fields or (), (_cell(cell, decimal_comma) for cell in row), strict=False))


def _cell(text: str, decimal_comma: bool) -> int | float | str:
    """Return a number where a cell holds one, else its text."""
    written = text.replace(",", ".") if decimal_comma else text
    for number in (int, float):
        try:
            return number(written)
        except ValueError:
            pass
    return text


def _row_by_content(row: list[str], filename: StrPath) -> dict[str, Any]:
    """Return the fields of a row, whose meaning follows from what the columns hold."""
    cells = [cell.strip() for cell in row]
    kinds = "".join(map(_kind, cells))
    if kinds not in _LAYOUTS:
        raise OSError(
            f"Unknown row format {cells} in file [{filename}]. Write onset, offset and label, with or "
            "without the filename before them, or use a .csv file whose header names the columns. If the "
            "columns are not separated, name their delimiter, such as delimiter=';'."
        )
    values = (
        float(cell.replace(",", ".")) if kind == "N" else cell
        for cell, kind in zip(cells, kinds, strict=True)
    )
    return dict(zip(_LAYOUTS[kinds], values, strict=False))


def _kind(cell: str) -> str:
    """Return what a cell holds: file (F), number (N), list of tags (L), one or two letters (1, 2), nothing
    (-) or other text (S)."""
    if cell.lower().endswith(_FILE_SUFFIXES):
        return "F"
    try:
        float(cell.replace(",", "."))
    except ValueError:
        pass
    else:
        return "N"
    if _SPLIT_TAGS.search(cell):
        return "L"
    if not cell:
        return "-"
    return str(len(cell)) if cell.isalpha() and len(cell) <= 2 else "S"
