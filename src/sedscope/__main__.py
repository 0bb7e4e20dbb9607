"""The program ``sedscope``, also started by ``python -m sedscope``."""

import sys

from . import _import_path

sys.path[:] = _import_path()  # before anything is imported that the current folder might hold, too

# Imports stand below the change of the path, so that none comes from the current folder.
import atexit  # noqa: E402
import os  # noqa: E402
from contextlib import suppress  # noqa: E402

_INTERRUPTED = 130


def main() -> None:
    """Run the command line. Ctrl-C ends it with one line, even while it is loading."""
    try:
        from .cli import main as run

        run()
        return
    except KeyboardInterrupt:
        pass
    except SystemExit as end:
        if end.code != _INTERRUPTED:
            raise
    # Here the exception is gone, and with it the frames that it kept: their temporary files are removed.
    with suppress(OSError):
        sys.stdout.flush()
    print("interrupted", file=sys.stderr, flush=True)
    atexit._run_exitfuncs()
    os._exit(_INTERRUPTED)  # without waiting for threads that are still working


if __name__ == "__main__":
    main()
