"""All formats of scores, and how the format of a file or folder is recognised.

A new format is one new module with ``FORMATS``, and its name in the list below.
"""

from __future__ import annotations

from ...errors import SedscopeError, listing
from ..locations import Address, Location, with_address
from . import hdf5, memmap_folder, npz, parquet, tsv
from .format import ScoreFormat

_MODULES = (tsv, memmap_folder, npz, hdf5, parquet)

SCORE_FORMATS: dict[str, ScoreFormat] = {
    format.name: format for module in _MODULES for format in module.FORMATS
}


def score_format(name: str) -> ScoreFormat:
    """Return the format of a name."""
    if name not in SCORE_FORMATS:
        raise SedscopeError(
            f"There is no score format {name!r}. Choose from {listing([*SCORE_FORMATS], limit=30)}."
        )
    return SCORE_FORMATS[name]


def recognise_score_format(path: Location) -> ScoreFormat | None:
    """Recognise the format of a file or folder from its content. Return None if it holds no scores."""
    source = readable_source(path)
    try:
        candidates = [format for format in SCORE_FORMATS.values() if format.recognise(source)]
    except SedscopeError as error:
        raise with_address(error, path) from None
    if len(candidates) > 1:
        names = [format.name for format in candidates]
        raise SedscopeError(
            f"{path} could be {' or '.join(names)}. Choose with format= (--scores-format {names[0]})."
        )
    return candidates[0] if candidates else None


def readable_source(source: Location) -> Location:
    """Return a location that the formats can read.

    A file at an address is copied to this machine, unless its format reads parts of files and the server
    sends them. Folders are read where they are.
    """
    if not isinstance(source, Address) or not source.is_file():
        return source
    in_parts = any(format.reads_parts and format.recognise(source) for format in SCORE_FORMATS.values())
    return source if in_parts and source.in_parts else source.copy
