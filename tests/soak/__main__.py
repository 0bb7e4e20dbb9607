"""The command: ``python -m tests.soak --minutes 5``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from .case import FOLDER
from .run import Soak


def main() -> int:
    """Run the soak, and return the exit status: 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", default=str(int(time.time())), help="default: the time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="default: one per core")
    parser.add_argument(
        "--cases", type=Path, default=FOLDER, help="where failures are saved; tests replay them"
    )
    options = parser.parse_args()
    return Soak(options.minutes, options.seed, options.workers, options.cases).run()


if __name__ == "__main__":
    sys.exit(main())
