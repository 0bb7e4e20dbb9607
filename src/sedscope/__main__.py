"""The program ``sedscope``, also started by ``python -m sedscope``."""

import atexit
import os
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line. Ctrl-C ends it with one line, even while it is loading."""
    try:
        from .cli import main as run

        run()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != _INTERRUPTED:
            raise
        sys.stdout.flush()
        print("interrupted", file=sys.stderr, flush=True)
        atexit._run_exitfuncs()
        os._exit(_INTERRUPTED)  # without waiting for threads that are still working


if __name__ == "__main__":
    main()
