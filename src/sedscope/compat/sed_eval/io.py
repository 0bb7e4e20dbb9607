"""Read event lists, scene lists and lists of file pairs."""

from __future__ import annotations

import csv
import os
from io import StringIO
from pathlib import Path
from typing import Any

from ..dcase_util.containers import MetaDataContainer

StrPath = str | os.PathLike[str]


def load_event_list(filename: StrPath, **kwargs: Any) -> MetaDataContainer:
    """Read an event list.

    Parameters
    ----------
    filename : path
        A text file (.txt, .ann) with rows of onset, offset and label, perhaps after the name of a file and a
        scene, or a table (.csv, .tsv) whose header names the columns.
    **kwargs
        See `MetaDataContainer.load`.

    Returns
    -------
    MetaDataContainer
        One item per row.
    """
    return MetaDataContainer().load(filename=filename, **kwargs)


def load_scene_list(filename: StrPath, **kwargs: Any) -> MetaDataContainer:
    """Read a scene list, with rows of the name of a file and its scene.

    Parameters
    ----------
    filename : path
        A text file (.txt, .ann), or a table (.csv, .tsv) whose header names the columns.
    **kwargs
        See `MetaDataContainer.load`.

    Returns
    -------
    MetaDataContainer
        One item per row.
    """
    return MetaDataContainer().load(filename=filename, **kwargs)


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
