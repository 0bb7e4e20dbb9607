"""sedscope: exact evaluation of sound event detection, at every decision threshold at once.

Public names are loaded when they are first used. ``__init__.pyi`` lists them, with where they are defined.
"""

import os as _os
import sys as _sys

from .lazy_names import lazy_names as _lazy_names

__version__ = "0.1.0"

__getattr__, __dir__ = _lazy_names(__name__)


def _import_path() -> list[str]:
    """Return ``sys.path`` without the current folder, where data of others may lie beside a ``json.py``.

    The current folder stays if this package or Python itself lies there.
    """
    folder_of, files = _os.path.dirname, (*__path__, _os.path.abspath(_os.__file__))  # noqa: PTH100
    try:
        here = _os.getcwd()  # noqa: PTH109 (pathlib might be one of the current folder)
    except OSError:  # it was deleted
        here = ""
    trusted = here in map(folder_of, files)
    return [entry for entry in _sys.path if trusted or entry not in ("", here)]
