"""The names of file formats."""

from __future__ import annotations

from .missing_names import refusing

__getattr__ = refusing(__name__)


class FileFormat:
    """The formats of event lists: rows without a header (TXT, ANN), or a table with one (CSV)."""

    TXT = "TXT"
    ANN = "ANN"
    CSV = "CSV"
