"""Run a script or a module in which the old names import sedscope's drop-ins."""

from __future__ import annotations

import sys

from .. import _import_path

_path_of_modules = sys.path[:]
sys.path[:] = _import_path()  # before anything is imported that the current folder might hold, too

# Imports stand below the change of the path, so that none comes from the current folder.
import runpy  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from pathlib import Path  # noqa: E402

from ..escaping import printable  # noqa: E402
from .old_names import install  # noqa: E402

USAGE = """\
usage: python -m sedscope.compat SCRIPT [ARGUMENTS]
       python -m sedscope.compat -m MODULE [ARGUMENTS]

Runs a script or a module in which sed_scores_eval, psds_eval and sed_eval are sedscope's drop-ins.
"""


def main(arguments: list[str]) -> None:
    """Run a script or a module as ``python`` would, after `install`."""
    as_module = arguments[:1] == ["-m"]
    sys.argv[:] = arguments[1:] if as_module else arguments
    if not sys.argv or sys.argv[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if sys.argv else sys.stderr)
        sys.exit(0 if sys.argv else 2)
    if as_module:
        install()
        sys.path[:] = _path_of_modules  # as for ``python -m``
        if not _is_there(sys.argv[0]):
            print(f"There is no module {printable(sys.argv[0])}.", file=sys.stderr)
            sys.exit(2)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    script = Path(sys.argv[0])
    if not script.is_file():
        print(f"There is no script {printable(str(script))}.", file=sys.stderr)
        sys.exit(2)
    install()
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script.absolute()), run_name="__main__")  # __file__ stays right in another folder


def _is_there(module: str) -> bool:
    """Return whether there is a module. Errors while its package is imported are raised."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            return False
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
