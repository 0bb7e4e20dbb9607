"""Run a script or a module in which the old names import sedscope's drop-ins."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from .old_names import install

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
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    script = Path(sys.argv[0])
    if not script.is_file():
        print(f"There is no script {script}.", file=sys.stderr)
        sys.exit(2)
    install()
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
